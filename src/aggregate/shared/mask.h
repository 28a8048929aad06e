/* aggregate/shared/mask.h - masks: a seed, stretched to the length of a vector and added to it or taken away. The stream is that
 * of sotto_keystream_init_long: AES-128 in counter mode, key and nonce from the seed (decision 253).
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
SOTTO_MUST_USE sotto_status sotto_mask_apply(sotto_vector *v, const uint8_t seed[32], int sign,
                                             sotto_err *err);

/* Many masks at once: rows of a sign (0: take away, 1: add) and a seed. A piece of the vector stays in the cache while all
 * masks pass over it. On as many threads as the process asked for (aggregate/shared/crew.h). */
enum { SOTTO_MASK_ROW = 1 + 32 };
/* Appends a row; there must be room for it. */
void sotto_mask_row_add(sotto_buf *rows, int sign, const uint8_t seed[32]);
SOTTO_MUST_USE sotto_status sotto_mask_apply_rows(sotto_vector *v, const uint8_t *rows,
                                                  size_t count, sotto_err *err);

/* ---- how a mask is stretched and added ------------------------------------------------------------------ */

/* "vaes512", "vaes" (AES on 512 or 256 bits at a time) or "evp" (the crypto library, which is the reference); NULL returns to
 * the best. False: not on this machine. For programs that run nothing else meanwhile. */
SOTTO_MUST_USE bool sotto_mask_use(const char *name);
const char *sotto_mask_name(void);

enum { SOTTO_MASK_MOST_STEP = 512 };
typedef struct sotto_mask_set {
    const char *name;
    size_t step; /* bytes that are made at a time, at most SOTTO_MASK_MOST_STEP */
    /* piece += sign * stream of this seed from `block` on. Whole steps, in entries of `width` bytes. NULL: the crypto library. */
    void (*add)(uint8_t *piece, size_t len, size_t width, const uint8_t seed[32], uint64_t block,
                int sign);
} sotto_mask_set;
extern const sotto_mask_set sotto_mask_vaes, sotto_mask_vaes512;

#endif
