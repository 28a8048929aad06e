/* aggregate/shared/mask.h - masks: a seed, stretched to the length of a vector and added to it or taken away.
 *
 * Callers:  both ends of a pair and the server, all by the same functions: a sign convention that stands in two places is
 *           two conventions.
 * Secrets:  seeds, masks, vectors. Time depends on lengths only.
 */
#ifndef SOTTO_AGGREGATE_SHARED_MASK_H
#define SOTTO_AGGREGATE_SHARED_MASK_H

#include "aggregate/round.h"
#include "crypto/keystream.h"

/* What `mine` does with the mask it shares with `other`: +1 adds it, -1 takes it away. They differ. */
static inline int sotto_pair_sign(uint32_t mine, uint32_t other)
{
    return mine < other ? 1 : -1;
}

/* HKDF-SHA256: label as salt, then the round's id and two numbers. */
SOTTO_MUST_USE sotto_status sotto_round_kdf(uint8_t out[32], const char *label, sotto_bytes secret,
                                            const uint8_t id[SOTTO_ROUND_ID], uint32_t a,
                                            uint32_t b, sotto_err *err);

/* The seed of a pair's mask, the same from both sides: `agreed` is their X25519 secret. */
SOTTO_MUST_USE sotto_status sotto_pair_seed(uint8_t out[32], const uint8_t agreed[32],
                                            const uint8_t id[SOTTO_ROUND_ID], uint32_t mine,
                                            uint32_t other, sotto_err *err);

/* v += sign * stretched seed, modulo 2^32 or 2^64. */
SOTTO_MUST_USE sotto_status sotto_mask_apply(sotto_vector *v, sotto_keystream *stream,
                                             const uint8_t seed[32], int sign, sotto_err *err);

#endif
