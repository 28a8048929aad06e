/* aggregate/shared/mask_aes.h - the round keys of AES-128 (FIPS 197, 5.2) for the files that stretch masks with wide registers.
 *
 * Callers:  mask_vaes.c, mask_vaes512.c: x86-64 with AES instructions.
 * Secrets:  seed and keys; wipe them. No time depends on them.
 */
#ifndef SOTTO_AGGREGATE_SHARED_MASK_AES_H
#define SOTTO_AGGREGATE_SHARED_MASK_AES_H

#include "aggregate/shared/mask.h"

#include <immintrin.h>

/* Without it the compiler keeps the blocks in memory between rounds. */
#define UNROLLED _Pragma("GCC unroll 16")

enum { SOTTO_MASK_ROUNDS = 10 };

typedef struct sotto_mask_keys {
    __m128i key[SOTTO_MASK_ROUNDS + 1];
} sotto_mask_keys;

/* Spreads each word over those after it (FIPS 197, 5.2) and adds the word that the key before it ends with. */
static inline __m128i sotto_mask_next_key(__m128i key, __m128i word)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
    return _mm_xor_si128(key, word);
}

#define EXPAND(i, constant)                                                                        \
    (s->key[i] = sotto_mask_next_key(                                                              \
         s->key[(i)-1],                                                                            \
         _mm_shuffle_epi32(_mm_aeskeygenassist_si128(s->key[(i)-1], constant), 0xff)))

/* Every block begins with the same nonce, so the first key, which is added to each block, has it. */
static inline void sotto_mask_expand(sotto_mask_keys *s, const uint8_t seed[32])
{
    s->key[0] = _mm_loadu_si128((const __m128i *)(const void *)seed);
    EXPAND(1, 0x01);
    EXPAND(2, 0x02);
    EXPAND(3, 0x04);
    EXPAND(4, 0x08);
    EXPAND(5, 0x10);
    EXPAND(6, 0x20);
    EXPAND(7, 0x40);
    EXPAND(8, 0x80);
    EXPAND(9, 0x1b);
    EXPAND(10, 0x36);
    s->key[0] =
        _mm_xor_si128(s->key[0], _mm_loadl_epi64((const __m128i *)(const void *)(seed + 16)));
}

/* Inlined for each width and sign, which are then no longer asked for in the loop. */
#define SOTTO_MASK_STEPS(steps, piece, len, keys, block, width, sign)                              \
    do {                                                                                           \
        if ((width) == 4 && (sign) > 0)                                                            \
            steps(piece, len, keys, block, 4, 1);                                                  \
        else if ((width) == 4)                                                                     \
            steps(piece, len, keys, block, 4, -1);                                                 \
        else if ((sign) > 0)                                                                       \
            steps(piece, len, keys, block, 8, 1);                                                  \
        else                                                                                       \
            steps(piece, len, keys, block, 8, -1);                                                 \
    } while (0)

#undef EXPAND

#endif
