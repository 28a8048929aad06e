/* Eight elements at a time, as sums of half words, so that carries wait until all shares are in. */
#include "math/kernels128.h"
#include "math/lanes128_ifma.h"

enum { LANES = SOTTO_F128_LANES };

#define HALF_MASK INT64_C(0xffffffff)

/* Moves carries up; the last limb keeps its own. Limbs may be negative, the whole not. */
static inline void carry_halves(sotto_v8 limb[4])
{
    for (unsigned k = 0; k < 3; k++) {
        limb[k + 1] = _mm512_add_epi64(limb[k + 1], _mm512_srai_epi64(limb[k], 32));
        limb[k] = _mm512_and_si512(limb[k], sotto_v8_of(HALF_MASK));
    }
}

/* Adds 2^128 - p = 28 * 2^64 - 1, `times` times. */
static inline void add_complement(sotto_v8 limb[4], sotto_v8 times)
{
    limb[0] = _mm512_sub_epi64(limb[0], times);
    limb[2] = _mm512_add_epi64(limb[2], _mm512_mul_epu32(times, sotto_v8_of(28)));
    carry_halves(limb);
}

/* Below p: the bits above 2^128, h of them, are folded, which leaves less than 2p since h < 2^17; then p goes
 * away once more if that reaches past 2^128. */
static inline void reduce_halves(sotto_v8 limb[4])
{
    sotto_v8 less[4];

    carry_halves(limb);
    sotto_v8 h = _mm512_srli_epi64(limb[3], 32);
    limb[3] = _mm512_and_si512(limb[3], sotto_v8_of(HALF_MASK));
    add_complement(limb, h);
    for (unsigned k = 0; k < 4; k++)
        less[k] = limb[k];
    add_complement(less, sotto_v8_of(1));
    __mmask8 reached = _mm512_cmpgt_epi64_mask(less[3], sotto_v8_of(HALF_MASK));
    for (unsigned k = 0; k < 4; k++)
        limb[k] = _mm512_mask_mov_epi64(limb[k], reached, less[k]);
}

/* sums[0], sums[1]: the low halves of the words at `at`; sums[2], sums[3]: the high halves. */
static inline void add_words(sotto_v8 sums[4], const uint8_t *at, __mmask16 words)
{
    sotto_v8 first = _mm512_maskz_loadu_epi64((__mmask8)words, at);
    sotto_v8 second = _mm512_maskz_loadu_epi64((__mmask8)(words >> 8), at + 64);

    sums[0] = _mm512_add_epi64(sums[0], _mm512_and_si512(first, sotto_v8_of(HALF_MASK)));
    sums[1] = _mm512_add_epi64(sums[1], _mm512_and_si512(second, sotto_v8_of(HALF_MASK)));
    sums[2] = _mm512_add_epi64(sums[2], _mm512_srli_epi64(first, 32));
    sums[3] = _mm512_add_epi64(sums[3], _mm512_srli_epi64(second, 32));
}

static inline void add_eight(uint8_t *total, size_t at, __mmask16 words,
                             const uint8_t *const *others, size_t count)
{
    const sotto_v8 evens = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const sotto_v8 odds = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const sotto_v8 first_half = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    const sotto_v8 second_half = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    sotto_v8 zero = _mm512_setzero_si512(), sums[4] = {zero, zero, zero, zero};

    add_words(sums, total + at, words);
    for (size_t s = 0; s < count; s++)
        add_words(sums, others[s] + at, words);

    sotto_v8 limb[4] = {_mm512_permutex2var_epi64(sums[0], evens, sums[1]),
                        _mm512_permutex2var_epi64(sums[2], evens, sums[3]),
                        _mm512_permutex2var_epi64(sums[0], odds, sums[1]),
                        _mm512_permutex2var_epi64(sums[2], odds, sums[3])};

    reduce_halves(limb);
    sotto_v8 low = _mm512_or_si512(limb[0], _mm512_slli_epi64(limb[1], 32));
    sotto_v8 high = _mm512_or_si512(limb[2], _mm512_slli_epi64(limb[3], 32));
    _mm512_mask_storeu_epi64(total + at, (__mmask8)words,
                             _mm512_permutex2var_epi64(low, first_half, high));
    _mm512_mask_storeu_epi64(total + at + 64, (__mmask8)(words >> 8),
                             _mm512_permutex2var_epi64(low, second_half, high));
}

void sotto_f128_vectors_add_ifma(uint8_t *total, size_t len, const uint8_t *const *others,
                                 size_t count)
{
    size_t i = 0;

    for (; i + LANES <= len; i += LANES)
        add_eight(total, i * SOTTO_F128_SIZE, 0xffff, others, count);
    if (i < len)
        add_eight(total, i * SOTTO_F128_SIZE, (__mmask16)((1U << 2 * (len - i)) - 1), others, count);
}
