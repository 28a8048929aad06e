/* seal/token/arc.h - anonymous rate-limited credentials (draft-ietf-privacypass-arc-crypto-01, ARCV1-P256).
 *
 * Callers:  dap/arc_admission*.c shows and verifies; serve/tasks/arc_issue.c issues; the device asks.
 * Memory:   keys, credentials and messages are plain values of fixed size.
 * Threads:  a group, and a verifier, belong to one thread at a time.
 * Secrets:  private keys, pending requests, credentials; wipe them. Time does not depend on them, nor on the nonce of a
 *           presentation.
 *
 * One credential is shown up to `limit` times for each presentation context. Each showing has a tag that only the holder can
 * compute. The tag is the same whenever the same nonce below the limit is used in the same context; nothing else links two
 * showings. Randomness comes in from the caller, as scalars (sotto_scalar_random).
 *
 * With a limit of 1 the draft's range proof does not exist: its only base would be zero. Sotto's form for it leaves out the
 * nonce, which can only be 0: no commitment to it, no range proof, and T = m1 * tag (docs/decisions/0083).
 */
#ifndef SOTTO_SEAL_TOKEN_ARC_H
#define SOTTO_SEAL_TOKEN_ARC_H

#include "crypto/group.h"

enum {
    SOTTO_ARC_LIMIT = 65536,
    SOTTO_ARC_BITS = 16,
    SOTTO_ARC_POINT = SOTTO_P256_POINT,
    SOTTO_ARC_SCALAR = SOTTO_P256_SCALAR,
    SOTTO_ARC_PRIVATE = 4 * SOTTO_ARC_SCALAR,
    SOTTO_ARC_PUBLIC = 3 * SOTTO_ARC_POINT,
    SOTTO_ARC_REQUEST = 2 * SOTTO_ARC_POINT + 5 * SOTTO_ARC_SCALAR,
    SOTTO_ARC_RESPONSE = 6 * SOTTO_ARC_POINT + 8 * SOTTO_ARC_SCALAR,
    SOTTO_ARC_ONCE = 4 * SOTTO_ARC_POINT + 4 * SOTTO_ARC_SCALAR, /* a presentation of limit 1 */
    SOTTO_ARC_MAX =
        (5 + SOTTO_ARC_BITS) * SOTTO_ARC_POINT + (6 + 3 * SOTTO_ARC_BITS) * SOTTO_ARC_SCALAR,

    SOTTO_ARC_REQUEST_RANDOM = 3 + 4,
    SOTTO_ARC_RESPONSE_RANDOM = 1 + 7,
    SOTTO_ARC_ONCE_RANDOM = 3 + 3,
    SOTTO_ARC_RANDOM_MAX = 3 + SOTTO_ARC_BITS + 5 + 3 * SOTTO_ARC_BITS
};

/* ---- the client ------------------------------------------------------------------------------------------------ */

/* Between request and response. */
typedef struct sotto_arc_pending {
    sotto_scalar m1, r1, r2;
    uint8_t request[2 * SOTTO_ARC_POINT];
} sotto_arc_pending;

typedef struct sotto_arc_credential {
    sotto_scalar m1;
    uint8_t u[SOTTO_ARC_POINT], u_prime[SOTTO_ARC_POINT], x1[SOTTO_ARC_POINT];
} sotto_arc_credential;

/* random: m1, r1, r2 and four nonces. */
SOTTO_MUST_USE sotto_status sotto_arc_request(sotto_group *g, sotto_arc_pending *pending,
                                              uint8_t request[SOTTO_ARC_REQUEST],
                                              sotto_bytes context,
                                              const sotto_scalar random[SOTTO_ARC_REQUEST_RANDOM],
                                              sotto_err *err);
/* SOTTO_REJECTED: the issuer did not use the keys that it published. credential is wiped after a failure. */
SOTTO_MUST_USE sotto_status sotto_arc_finish(sotto_group *g, sotto_arc_credential *credential,
                                             const sotto_arc_pending *pending,
                                             const uint8_t public_key[SOTTO_ARC_PUBLIC],
                                             const uint8_t response[SOTTO_ARC_RESPONSE],
                                             sotto_err *err);

/* Bytes of a presentation; 0 where limit is 0 or more than SOTTO_ARC_LIMIT. */
size_t sotto_arc_presentation_size(uint32_t limit);
/* Scalars that a presentation needs. */
size_t sotto_arc_presentation_random(uint32_t limit);
/* Appends a presentation. random: a, r, z; with a limit above 1 the nonce's blinding and those of all bits but the last; then
 * the proof's nonces.
 *   SOTTO_DENIED  nonce is not below limit: the credential is used up in this context */
SOTTO_MUST_USE sotto_status sotto_arc_present(sotto_group *g, sotto_buf *out,
                                              const sotto_arc_credential *credential,
                                              sotto_bytes context, uint32_t limit, uint32_t nonce,
                                              const sotto_scalar *random, sotto_err *err);
/* The same with a limit of 1, whose proof is bound to these bytes: who verifies it must have the same. At most 1,024 bytes. */
SOTTO_MUST_USE sotto_status sotto_arc_present_bound(
    sotto_group *g, sotto_buf *out, const sotto_arc_credential *credential, sotto_bytes context,
    sotto_bytes bound, const sotto_scalar random[SOTTO_ARC_ONCE_RANDOM], sotto_err *err);

/* ---- the issuer, who is the verifier too ----------------------------------------------------------------------- */

typedef struct sotto_arc_private {
    sotto_scalar x0, x1, x2, blinding;
} sotto_arc_private;

/* SOTTO_MALFORMED: not four scalars below the order; key is then wiped. */
SOTTO_MUST_USE sotto_status sotto_arc_private_decode(sotto_group *g, sotto_arc_private *key,
                                                     const uint8_t bytes[SOTTO_ARC_PRIVATE],
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_arc_public(sotto_group *g, uint8_t out[SOTTO_ARC_PUBLIC],
                                             const sotto_arc_private *key, sotto_err *err);
/* random: b and seven nonces. SOTTO_REJECTED: the request's proof does not hold. */
SOTTO_MUST_USE sotto_status sotto_arc_issue(sotto_group *g, uint8_t response[SOTTO_ARC_RESPONSE],
                                            const sotto_arc_private *key,
                                            const uint8_t public_key[SOTTO_ARC_PUBLIC],
                                            const uint8_t request[SOTTO_ARC_REQUEST],
                                            const sotto_scalar random[SOTTO_ARC_RESPONSE_RANDOM],
                                            sotto_err *err);

/* All that does not change from one presentation of a context to the next. */
typedef struct sotto_arc_verifier {
    sotto_group group;
    uint32_t limit;
    sotto_scalar x1, x02; /* x02 = x0 + x2 m2 */
    uint8_t x1_public[SOTTO_ARC_POINT], tag_base[SOTTO_ARC_POINT];
} sotto_arc_verifier;

/* request_context: what the credential was asked for with. Clear it always.
 *   SOTTO_MALFORMED  a limit of 0 or more than SOTTO_ARC_LIMIT */
SOTTO_MUST_USE sotto_status sotto_arc_verifier_init(
    sotto_arc_verifier *v, const sotto_arc_private *key, const uint8_t public_key[SOTTO_ARC_PUBLIC],
    sotto_bytes request_context, sotto_bytes presentation_context, uint32_t limit, sotto_err *err);
void sotto_arc_verifier_clear(sotto_arc_verifier *v);
/* Everything but whether the tag was seen before: that is what a spent set holds.
 *   SOTTO_MALFORMED  another length
 *   SOTTO_REJECTED   it does not hold */
SOTTO_MUST_USE sotto_status sotto_arc_verify(sotto_arc_verifier *v, uint8_t tag[SOTTO_ARC_POINT],
                                             sotto_bytes presentation, sotto_err *err);
/* Of a presentation that is bound to these bytes. */
SOTTO_MUST_USE sotto_status sotto_arc_verify_bound(sotto_arc_verifier *v,
                                                   uint8_t tag[SOTTO_ARC_POINT],
                                                   sotto_bytes presentation, sotto_bytes bound,
                                                   sotto_err *err);

#endif
