/* crypto/keccak_x4.h - four states in lockstep, a row of four words to a 256-bit register.
 *
 * Included by keccak_avx2.c and keccak_avx512vl.c, which differ in XOR3, ROL, CHI and SETTLE alone and
 * are compiled each with its own instruction set.
 */
#ifndef SOTTO_CRYPTO_KECCAK_X4_H
#define SOTTO_CRYPTO_KECCAK_X4_H

#include "crypto/keccak.h"

#include <immintrin.h>

#define V           __m256i
#define XOR(a, b)   _mm256_xor_si256(a, b)
#define CONSTANT(k) _mm256_set1_epi64x((long long)sotto_keccak_round_constants[k])

#include "crypto/keccak_rounds.h"

/* In place: copies of the state in and out would cost a tenth of the whole. */
static void permute_four(sotto_keccak_row *words)
{
    __m256i *a = (__m256i *)words;

    KECCAK_PERMUTE(a);
}

/* One state alone is cheaper in general registers. */
static void permute(sotto_keccak_row *words, unsigned lanes)
{
    if (lanes == 1)
        sotto_keccak_bmi.permute(words, 1);
    else
        permute_four(words);
}

/* Four words of each of four streams into four rows, and the other way: its own inverse. */
static inline void transpose(__m256i r[4])
{
    __m256i low01 = _mm256_unpacklo_epi64(r[0], r[1]), high01 = _mm256_unpackhi_epi64(r[0], r[1]);
    __m256i low23 = _mm256_unpacklo_epi64(r[2], r[3]), high23 = _mm256_unpackhi_epi64(r[2], r[3]);

    r[0] = _mm256_permute2x128_si256(low01, low23, 0x20);
    r[1] = _mm256_permute2x128_si256(high01, high23, 0x20);
    r[2] = _mm256_permute2x128_si256(low01, low23, 0x31);
    r[3] = _mm256_permute2x128_si256(high01, high23, 0x31);
}

static inline void take_block(sotto_keccak_row *words, unsigned rate,
                              const uint8_t *const in[SOTTO_LANES], size_t at)
{
    unsigned w = 0;

    for (; w + 4 <= rate / 8; w += 4, at += 32) {
        __m256i r[4];

        for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
            r[lane] = _mm256_loadu_si256((const __m256i *)(const void *)(in[lane] + at));
        transpose(r);
        for (unsigned i = 0; i < 4; i++) {
            __m256i *row = (__m256i *)words[w + i];

            _mm256_store_si256(row, _mm256_xor_si256(_mm256_load_si256(row), r[i]));
        }
    }
    for (; w < rate / 8; w++, at += 8)
        for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
            words[w][lane] ^= sotto_keccak_load(in[lane] + at);
}

static inline void give_block(sotto_keccak_row *words, unsigned rate,
                              uint8_t *const out[SOTTO_LANES], size_t at)
{
    unsigned w = 0;

    for (; w + 4 <= rate / 8; w += 4, at += 32) {
        __m256i r[4];

        for (unsigned i = 0; i < 4; i++)
            r[i] = _mm256_load_si256((const __m256i *)words[w + i]);
        transpose(r);
        for (unsigned lane = SOTTO_LANES; lane-- > 0;)
            _mm256_storeu_si256((__m256i *)(void *)(out[lane] + at), r[lane]);
    }
    for (; w < rate / 8; w++, at += 8)
        for (unsigned lane = SOTTO_LANES; lane-- > 0;)
            sotto_keccak_store(out[lane] + at, words[w][lane]);
}

static void absorb(sotto_keccak_row *words, unsigned rate, const uint8_t *const in[SOTTO_LANES],
                   size_t blocks)
{
    for (size_t at = 0; blocks > 0; blocks--, at += rate) {
        take_block(words, rate, in, at);
        permute_four(words);
    }
}

static void squeeze(sotto_keccak_row *words, unsigned rate, uint8_t *const out[SOTTO_LANES],
                    size_t blocks)
{
    for (size_t at = 0; blocks > 0; blocks--, at += rate) {
        permute_four(words);
        give_block(words, rate, out, at);
    }
}

#endif
