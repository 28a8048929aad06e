/* crypto/turboshake.h - TurboSHAKE (RFC 9861), one message or up to four of equal length in lockstep.
 *
 * Callers:  crypto/xof, and through it every share and proof.
 * Memory:   the state is the caller's.
 * Secrets:  the state; wipe it. Time depends on lengths and on the number of lanes only.
 *
 * The four-lane form is the main one: a batch of reports runs it over four reports at a time. A lane's
 * bytes do not depend on how many other lanes are in use, nor on the backend.
 */
#ifndef SOTTO_CRYPTO_TURBOSHAKE_H
#define SOTTO_CRYPTO_TURBOSHAKE_H

#include "crypto/keccak.h"

enum {
    SOTTO_TURBOSHAKE128_RATE = 168,
    SOTTO_TURBOSHAKE256_RATE = 136,
};

/* Word w of lane l stands at words[w][l]. */
typedef struct sotto_turboshake {
    _Alignas(64) sotto_keccak_row words[SOTTO_KECCAK_WORDS];
    unsigned lanes; /* in use: 1 to 4, the first ones                */
    unsigned rate;  /* bytes a permutation takes or gives            */
    unsigned at;    /* bytes of this block already taken or given    */
} sotto_turboshake;

/* Absorbs, for each lane, head || body, and turns to squeezing. Heads share one length, bodies another;
 * body may be NULL when body_len is 0. domain: 0x01 to 0x7f. */
void sotto_turboshake_absorb(sotto_turboshake *x, unsigned rate, uint8_t domain, unsigned lanes,
                             const uint8_t *const *head, size_t head_len,
                             const uint8_t *const *body, size_t body_len);

/* The same in steps, for messages in more pieces: start, add as often as needed, finish.
 * Nothing is copied aside: every piece goes from where it lies into the state. */
void sotto_turboshake_start(sotto_turboshake *x, unsigned rate, unsigned lanes);
/* in may be NULL when len is 0. */
void sotto_turboshake_add(sotto_turboshake *x, const uint8_t *const *in, size_t len);
/* The same bytes in every lane. */
void sotto_turboshake_add_common(sotto_turboshake *x, const void *in, size_t len);
void sotto_turboshake_finish(sotto_turboshake *x, uint8_t domain);

/* The next len bytes of each lane's stream. */
void sotto_turboshake_squeeze(sotto_turboshake *x, uint8_t *const *out, size_t len);

/* One lane that gives beside others that take, in the same permutations. What is built for size has none of this. */
#ifndef __OPTIMIZE_SIZE__

/* `giver`, of one lane and between two blocks, becomes the last lane of x, which has at most three and takes. */
void sotto_turboshake_join(sotto_turboshake *x, const sotto_turboshake *giver);
/* So many blocks go into each lane but the last, as sotto_turboshake_add takes them, and as many come out of the last. */
void sotto_turboshake_exchange(sotto_turboshake *x, const uint8_t *const *in, uint8_t *out,
                               size_t blocks);
/* As many blocks of `giver` as squeeze would give, while `x` takes as many as add would: two states, with as many lanes, side by side.
 * Both are between two blocks, and `in` does not overlap `out`. */
void sotto_turboshake_squeeze_beside(sotto_turboshake *giver, uint8_t *const *out,
                                     sotto_turboshake *x, const uint8_t *const *in, size_t blocks);
/* The last lane is `giver` again, and the others go on without it. */
void sotto_turboshake_part(sotto_turboshake *x, sotto_turboshake *giver);

#endif

#endif
