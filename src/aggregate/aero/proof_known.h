/* aggregate/aero/proof_known.h - proofs that this process has verified before, for whoever plays many devices in one process.
 *
 * Callers:  machines, where their account has such a list: `sotto demo`, simulations. A device of its own has none.
 * Memory:   in the arena.
 * Threads:  one at a time.
 */
#ifndef SOTTO_AGGREGATE_AERO_PROOF_KNOWN_H
#define SOTTO_AGGREGATE_AERO_PROOF_KNOWN_H

#include "aggregate/aero/proof.h"

typedef struct sotto_aero_known {
    uint8_t (*digests)[32]; /* of statement and proof; a table with gaps, by the first bytes */
    size_t room, count;
    uint64_t verified, looked_up; /* how often */
} sotto_aero_known;

SOTTO_MUST_USE sotto_status sotto_aero_known_init(sotto_aero_known *known, size_t most,
                                                  sotto_arena *arena, sotto_err *err);
/* As sotto_aero_verify_vartime. Only proofs that were found right are remembered, by their whole statement.
 *   known  NULL: verifies always */
SOTTO_MUST_USE sotto_status sotto_aero_verify_known(sotto_aero_known *known,
                                                    const sotto_aero_statement *statement,
                                                    sotto_bytes proof, sotto_arena *scratch,
                                                    sotto_err *err);

#endif
