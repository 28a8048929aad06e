/* aggregate/shared/beacon.h - public randomness that nobody can foresee or choose: a threshold verifiable random function among
 * witnesses who share a key (aggregate/shared/dkg.h).
 *
 * Callers:  whoever opens an epoch; serve/witness gives parts; devices check a value before they join a round that names it.
 * Secrets:  a witness's share. Its part takes the same time for every share.
 *
 * The value of an input is SHA-256 of k H(input), H a hash to the curve. A part is s_i H(input) with a proof that its exponent is
 * that of the witness's public value. Any threshold of parts gives the same value: whoever withholds its part changes nothing.
 * The input names the registry's root, so the registry was closed before anybody knew the value.
 */
#ifndef SOTTO_AGGREGATE_SHARED_BEACON_H
#define SOTTO_AGGREGATE_SHARED_BEACON_H

#include "aggregate/shared/tdh2.h"

enum {
    SOTTO_BEACON_PART = SOTTO_P256_WIDE + SOTTO_DLEQ,
    SOTTO_BEACON_INPUT = 72, /* bytes on the wire, and of a part with its place: */
    SOTTO_BEACON_PLACED = 4 + SOTTO_BEACON_PART,
};

typedef struct sotto_beacon_input {
    uint8_t session[32], registry[32];
    uint64_t epoch;
} sotto_beacon_input;

typedef struct sotto_beacon_part {
    uint32_t place; /* of the witness */
    uint8_t bytes[SOTTO_BEACON_PART];
} sotto_beacon_part;

SOTTO_MUST_USE sotto_status sotto_beacon_input_encode(sotto_buf *out,
                                                      const sotto_beacon_input *input,
                                                      sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_beacon_input_decode(sotto_beacon_input *input, sotto_bytes wire,
                                                      sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_beacon_part_encode(sotto_buf *out, const sotto_beacon_part *part,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_beacon_part_decode(sotto_beacon_part *part, sotto_bytes wire,
                                                     sotto_err *err);

/* nonce: 32 fresh random bytes. The proof's own randomness depends on the share and the input besides. */
SOTTO_MUST_USE sotto_status sotto_beacon_give(sotto_tdh2 *t, uint8_t out[SOTTO_BEACON_PART],
                                              const sotto_beacon_input *input,
                                              const sotto_scalar *share, const uint8_t nonce[32],
                                              sotto_err *err);
/* The value, from `count` parts of different places: as many as the threshold.
 *   verify          the public value of each place
 *   SOTTO_REJECTED  one of them is not its witness's part; *wrong is its index */
SOTTO_MUST_USE sotto_status sotto_beacon_value_vartime(
    sotto_tdh2 *t, uint8_t out[32], const sotto_beacon_input *input,
    const uint8_t (*verify)[SOTTO_P256_WIDE], uint32_t witnesses, const sotto_beacon_part *parts,
    uint32_t count, uint32_t *wrong, sotto_err *err);

#endif
