/* dap/arc_admission.h - admission by ARC: one presentation to each server, and what they are made for.
 *
 *     public report extension 0xff02    type 2 (0xe5ac) | one-time key 32 (X25519) | leader's part | helper's part
 *     a part                            key id 32 | presentation 260 (seal/token/arc.h, limit 1)
 *     private report extension 0xff03   MAC 32, one in each share, as for tokens of type 2 (dap/admission.h)
 *
 * Leader and helper each have a key for an epoch. Each issues credentials under its own key and verifies its own presentation; it
 * can't verify the other's. Both presentations are bound to the one-time key, by their proofs, and the MACs bind the one-time key to the
 * report. So nobody moves a presentation to another report.
 *
 *     request context        SHA-256("sotto arc epoch 1" | key id 32 | opens 8 | closes 8), times of the epoch
 *     presentation context   SHA-256("sotto arc collection 1" | subject 32 | opens 8 | closes 8 | round 8)
 *     what is spent          SHA-256("sotto arc tag 1" | tag 33)
 *
 * The subject is the recipe's hash; of a task without a recipe it is the task's id. The times are the recipe's schedule. The round is 0
 * for statistics. One holder has one tag for each context, however often it is shown.
 *
 * Callers:  the device makes; leader and helper check.
 * Memory:   what is made lies in the arena.
 * Threads:  a verifier serves one thread at a time.
 * Secrets:  credentials and the seed of the one-time key.
 */
#ifndef SOTTO_DAP_ARC_ADMISSION_H
#define SOTTO_DAP_ARC_ADMISSION_H

#include "dap/admission.h"
#include "seal/token/arc.h"

enum { SOTTO_ARC_CONTEXT = 32 };

/* Of the three points that an aggregator publishes. */
void sotto_arc_key_id(uint8_t out[SOTTO_TOKEN_KEY_ID], const uint8_t public_key[SOTTO_ARC_PUBLIC]);

typedef struct sotto_arc_epoch {
    uint8_t key_id[SOTTO_TOKEN_KEY_ID];
    uint64_t opens, closes; /* seconds since 1970 */
} sotto_arc_epoch;
void sotto_arc_request_context(uint8_t out[SOTTO_ARC_CONTEXT], const sotto_arc_epoch *epoch);

typedef struct sotto_arc_collection {
    uint8_t subject[32];
    uint64_t opens, closes, round;
} sotto_arc_collection;
void sotto_arc_presentation_context(uint8_t out[SOTTO_ARC_CONTEXT],
                                    const sotto_arc_collection *collection);

/* ---- the device ---------------------------------------------------------------------------------------------- */

/* A credential that one server issued. */
typedef struct sotto_arc_holding {
    uint8_t key_id[SOTTO_TOKEN_KEY_ID];
    sotto_arc_credential credential;
} sotto_arc_holding;

/* Puts presentations on a draft, as sotto_admission_attach does a token.
 *   held           the leader's and the helper's
 *   seed           random bytes for this report alone; sotto_admission_bind needs them again
 *   SOTTO_DENIED   a server's key is of another group than X25519
 *   SOTTO_BUG      the draft has extensions already */
SOTTO_MUST_USE sotto_status sotto_arc_attach(sotto_report_draft *draft,
                                             const sotto_arc_holding held[SOTTO_REPORT_SHARES],
                                             const sotto_arc_collection *collection,
                                             const uint8_t seed[SOTTO_ONCE_SEED],
                                             const sotto_hpke_config to[SOTTO_REPORT_SHARES],
                                             sotto_arena *arena, sotto_err *err);

/* ---- servers ------------------------------------------------------------------------------------------------- */

/* That the presentation to this server holds, in the verifier's context and for this one-time key.
 *   who     SOTTO_REPORT_LEADER or _HELPER
 *   key_id  of the verifier's key
 *   nonce   what is spent
 *   SOTTO_REJECTED   it does not, or is for another key
 *   SOTTO_NO_MEMORY  nothing was found out */
SOTTO_MUST_USE sotto_status sotto_arc_admission_check(const sotto_admission *admission,
                                                      unsigned who, sotto_arc_verifier *v,
                                                      const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                                                      uint8_t nonce[SOTTO_TOKEN_NONCE],
                                                      sotto_err *err);

#endif
