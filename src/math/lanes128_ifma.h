/* math/lanes128_ifma.h - eight elements of Field128 side by side, for machines with AVX-512 IFMA.
 *
 * Callers:  the *_ifma.c files of this room, which are compiled for that instruction set.
 *
 * A number is three limbs of 52, 52 and 24 bits, since the machine multiplies numbers of 52 bits. In these
 * limbs p = 1 - K * 2^52 + 2^24 * 2^104. So a Montgomery step, which takes away q = t0 times p, clears the
 * lowest limb for nothing and costs one small product and one shift. Two such steps divide by 2^104; what
 * then stands above 2^128 is folded down (2^128 = K * 2^52 - 1). Hence weights carry the factor 2^104 here,
 * not 2^128.
 *
 * A *loose* number is below 2^129, and its two lower limbs may have anything above their 52 bits: the
 * multiplier does not look there. Its top limb is below 2^25 and exact. All results here are loose; every
 * number of 128 bits, reduced or not, is.
 */
#ifndef SOTTO_MATH_LANES128_IFMA_H
#define SOTTO_MATH_LANES128_IFMA_H

#include "math/field128.h"

#include <immintrin.h>

enum { SOTTO_F128_LANES = 8 };

typedef __m512i sotto_v8;

typedef struct sotto_f128x8 {
    sotto_v8 limb[3];
} sotto_f128x8;

/* A sum of products, limb by limb, each below 2^64. */
typedef struct sotto_f128x8_acc {
    sotto_v8 limb[5];
} sotto_f128x8_acc;

#define SOTTO_LIMB_MASK ((INT64_C(1) << 52) - 1)
#define SOTTO_LIMB_K    (INT64_C(28) << 12)

static inline sotto_v8 sotto_v8_of(int64_t x)
{
    return _mm512_set1_epi64(x);
}

/* Word i of vector j and word j of vector i change places. */
static inline void sotto_v8_transpose(sotto_v8 v[SOTTO_F128_LANES])
{
    sotto_v8 pairs[SOTTO_F128_LANES];

    for (unsigned i = 0; i < SOTTO_F128_LANES; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(v[i], v[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
    }
    for (unsigned odd = 0; odd < 2; odd++) {
        sotto_v8 *p = pairs + odd;
        sotto_v8 a = _mm512_shuffle_i64x2(p[0], p[2], 0x88),
                 b = _mm512_shuffle_i64x2(p[4], p[6], 0x88);
        sotto_v8 c = _mm512_shuffle_i64x2(p[0], p[2], 0xdd),
                 d = _mm512_shuffle_i64x2(p[4], p[6], 0xdd);

        v[odd] = _mm512_shuffle_i64x2(a, b, 0x88);
        v[odd + 2] = _mm512_shuffle_i64x2(c, d, 0x88);
        v[odd + 4] = _mm512_shuffle_i64x2(a, b, 0xdd);
        v[odd + 6] = _mm512_shuffle_i64x2(c, d, 0xdd);
    }
}

static inline sotto_f128x8 sotto_f128x8_of_words(sotto_v8 low, sotto_v8 high)
{
    return (sotto_f128x8){{low,
                           _mm512_or_si512(_mm512_srli_epi64(low, 52), _mm512_slli_epi64(high, 12)),
                           _mm512_srli_epi64(high, 40)}};
}

/* Elements in wire encoding, from two halves of words (low, high, low, high, ...). */
static inline sotto_f128x8 sotto_f128x8_split(sotto_v8 first, sotto_v8 second)
{
    const sotto_v8 evens = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const sotto_v8 odds = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);

    return sotto_f128x8_of_words(_mm512_permutex2var_epi64(first, evens, second),
                                 _mm512_permutex2var_epi64(first, odds, second));
}

/* The first `count` elements, if there are not eight; zeros in the other lanes. Reads nothing else. */
static inline sotto_f128x8 sotto_f128x8_load(const void *at, size_t count)
{
    unsigned words = count < SOTTO_F128_LANES ? (1U << 2 * count) - 1 : 0xffff;

    return sotto_f128x8_split(
        _mm512_maskz_loadu_epi64((__mmask8)words, at),
        _mm512_maskz_loadu_epi64((__mmask8)(words >> 8), (const uint8_t *)at + 64));
}

static inline sotto_f128x8 sotto_f128x8_all(sotto_f128 a)
{
    return (sotto_f128x8){{sotto_v8_of((int64_t)a.low),
                           sotto_v8_of((int64_t)(a.low >> 52 | a.high << 12)),
                           sotto_v8_of((int64_t)(a.high >> 40))}};
}

/* The products of 52 bits in a product of two numbers, as STEP(half, limb of the sum, limb of a, limb of b). At most five go to a
 * limb. The high half of the top limbs' product is zero: 25 + 25 bits. Neighbours add to different limbs as far as that goes: a
 * product takes four cycles, and its sum waits for it. */
#define SOTTO_F128X8_PRODUCTS(STEP)                                                                \
    STEP(lo, 0, 0, 0)                                                                              \
    STEP(hi, 1, 0, 0)                                                                              \
    STEP(lo, 2, 0, 2)                                                                              \
    STEP(lo, 1, 0, 1)                                                                              \
    STEP(hi, 2, 0, 1)                                                                              \
    STEP(hi, 3, 0, 2)                                                                              \
    STEP(lo, 1, 1, 0)                                                                              \
    STEP(hi, 2, 1, 0)                                                                              \
    STEP(lo, 3, 1, 2)                                                                              \
    STEP(hi, 4, 1, 2)                                                                              \
    STEP(lo, 2, 1, 1)                                                                              \
    STEP(hi, 3, 1, 1)                                                                              \
    STEP(lo, 4, 2, 2)                                                                              \
    STEP(lo, 2, 2, 0)                                                                              \
    STEP(hi, 3, 2, 0)                                                                              \
    STEP(hi, 4, 2, 1)                                                                              \
    STEP(lo, 3, 2, 1)

#define SOTTO_F128X8_STEP(half, sum, i, a, j, b)                                                   \
    (sum) = _mm512_madd52##half##_epu64(sum, (a).limb[i], (b).limb[j]);

/* acc += a * b, for loose a and b. */
static inline void sotto_f128x8_acc_mul(sotto_f128x8_acc *acc, const sotto_f128x8 *a,
                                        const sotto_f128x8 *b)
{
#define STEP(half, at, i, j) SOTTO_F128X8_STEP(half, acc->limb[at], i, *a, j, *b)
    SOTTO_F128X8_PRODUCTS(STEP)
#undef STEP
}

/* t / 2^104 modulo p, loose.
 *
 * Wants t0 < 2^52, t1 < 2^56, t2 and t3 below 2^56 in size, 0 <= t4 < 2^58, and 4p in the upper three
 * limbs (see acc_zero). t2, t3 and t4 are signed from here on. The steps take less than p from t / 2^104,
 * so at least 3p is left. h, its bits from 2^128 on, is then at least 1 even though the carry of t2 is
 * still out. It is below 2^35, so that h * K fits 52 bits. As h * K is more than what t2 can borrow, t3
 * isn't negative, and its carry is 2 at most: the top limb ends below 2^25. */
static inline sotto_f128x8 sotto_f128x8_reduce(const sotto_f128x8_acc *acc)
{
    const sotto_v8 mask = sotto_v8_of(SOTTO_LIMB_MASK), k = sotto_v8_of(SOTTO_LIMB_K);
    sotto_v8 q0 = acc->limb[0];
    sotto_v8 t1 = _mm512_madd52lo_epu64(acc->limb[1], q0, k);
    sotto_v8 t2 = _mm512_madd52hi_epu64(acc->limb[2], q0, k);
    sotto_v8 t3 = _mm512_sub_epi64(acc->limb[3], _mm512_srli_epi64(q0, 28));
    sotto_v8 t4 = acc->limb[4];

    sotto_v8 q1 = _mm512_and_si512(t1, mask);
    t2 = _mm512_sub_epi64(t2, _mm512_and_si512(_mm512_slli_epi64(q0, 24), mask));
    t2 = _mm512_add_epi64(t2, _mm512_srli_epi64(t1, 52));
    t2 = _mm512_madd52lo_epu64(t2, q1, k);
    t3 = _mm512_madd52hi_epu64(t3, q1, k);
    t3 = _mm512_sub_epi64(t3, _mm512_and_si512(_mm512_slli_epi64(q1, 24), mask));
    t4 = _mm512_sub_epi64(t4, _mm512_srli_epi64(q1, 28));

    t4 = _mm512_add_epi64(t4, _mm512_srai_epi64(t3, 52));
    t3 = _mm512_and_si512(t3, mask);
    sotto_v8 h = _mm512_srli_epi64(t4, 24);
    t4 = _mm512_and_si512(t4, sotto_v8_of((1 << 24) - 1));
    t2 = _mm512_sub_epi64(t2, h);
    t3 = _mm512_madd52lo_epu64(t3, h, k);

    t3 = _mm512_add_epi64(t3, _mm512_srai_epi64(t2, 52));
    t4 = _mm512_add_epi64(t4, _mm512_srli_epi64(t3, 52));
    return (sotto_f128x8){{t2, t3, t4}};
}

/* reduce for a sum of up to 128 products, or 384 if one factor of each is below 2^128. Its limbs are carried first: 384 * 5 * 2^52 is
 * below 2^63, and the top one stays below 2^58. */
static inline sotto_f128x8 sotto_f128x8_reduce_sum(sotto_f128x8_acc acc)
{
    const sotto_v8 mask = sotto_v8_of(SOTTO_LIMB_MASK);

    for (unsigned k = 0; k < 4; k++) {
        acc.limb[k + 1] = _mm512_add_epi64(acc.limb[k + 1], _mm512_srai_epi64(acc.limb[k], 52));
        acc.limb[k] = _mm512_and_si512(acc.limb[k], mask);
    }
    return sotto_f128x8_reduce(&acc);
}

/* Zero, with the 4p that reduce wants. */
static inline sotto_f128x8_acc sotto_f128x8_acc_zero(void)
{
    sotto_v8 zero = _mm512_setzero_si512();

    return (sotto_f128x8_acc){
        {zero, zero, sotto_v8_of(4), sotto_v8_of(-4 * SOTTO_LIMB_K), sotto_v8_of(1 << 26)}};
}

/* a * weight / 2^104. */
static inline sotto_f128x8 sotto_f128x8_mul(const sotto_f128x8 *a, const sotto_f128x8 *weight)
{
    sotto_f128x8_acc acc = sotto_f128x8_acc_zero();

    sotto_f128x8_acc_mul(&acc, a, weight);
    return sotto_f128x8_reduce(&acc);
}

/* A loose number without what its lower limbs have above their 52 bits. */
static inline sotto_f128x8 sotto_f128x8_exact(sotto_f128x8 x)
{
    const sotto_v8 mask = sotto_v8_of(SOTTO_LIMB_MASK);

    return (sotto_f128x8){
        {_mm512_and_si512(x.limb[0], mask), _mm512_and_si512(x.limb[1], mask), x.limb[2]}};
}

/* Moves carries up; the top limb keeps its own. Limbs may be negative. */
static inline sotto_f128x8 sotto_f128x8_carry(sotto_f128x8 x)
{
    const sotto_v8 mask = sotto_v8_of(SOTTO_LIMB_MASK);

    x.limb[1] = _mm512_add_epi64(x.limb[1], _mm512_srai_epi64(x.limb[0], 52));
    x.limb[2] = _mm512_add_epi64(x.limb[2], _mm512_srai_epi64(x.limb[1], 52));
    x.limb[0] = _mm512_and_si512(x.limb[0], mask);
    x.limb[1] = _mm512_and_si512(x.limb[1], mask);
    return x;
}

/* x modulo p, exact and below 2^128 + 2^82, for 0 <= x < 2^140 with exact limbs of any sign: what is above 2^128 is folded. */
static inline sotto_f128x8 sotto_f128x8_settle(sotto_f128x8 x)
{
    x = sotto_f128x8_carry(x);
    sotto_v8 h = _mm512_srli_epi64(x.limb[2], 24);
    x.limb[0] = _mm512_sub_epi64(x.limb[0], h);
    x.limb[1] = _mm512_madd52lo_epu64(x.limb[1], h, sotto_v8_of(SOTTO_LIMB_K));
    x.limb[2] = _mm512_and_si512(x.limb[2], sotto_v8_of((1 << 24) - 1));
    return sotto_f128x8_carry(x);
}

/* Adds up to 4,096 loose numbers, limb by limb; settle ends it. */
static inline void sotto_f128x8_grow(sotto_f128x8 *sum, sotto_f128x8 x)
{
    x = sotto_f128x8_exact(x);
    for (unsigned i = 0; i < 3; i++)
        sum->limb[i] = _mm512_add_epi64(sum->limb[i], x.limb[i]);
}

/* Stores x modulo p in wire encoding, for what settle takes; p goes away if adding 2^128 - p reaches 2^128. */
static inline void sotto_f128x8_store(void *at, sotto_f128x8 x)
{
    const sotto_v8 first_half = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    const sotto_v8 second_half = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    const sotto_v8 k = sotto_v8_of(SOTTO_LIMB_K), top = sotto_v8_of((1 << 24) - 1);

    x = sotto_f128x8_settle(x);
    sotto_f128x8 less = {
        {_mm512_sub_epi64(x.limb[0], sotto_v8_of(1)), _mm512_add_epi64(x.limb[1], k), x.limb[2]}};
    less = sotto_f128x8_carry(less);
    __mmask8 reached = _mm512_cmpgt_epi64_mask(less.limb[2], top);
    for (unsigned i = 0; i < 3; i++)
        x.limb[i] = _mm512_mask_mov_epi64(x.limb[i], reached, less.limb[i]);

    /* The bit at 2^128 falls off the end here. */
    sotto_v8 low = _mm512_or_si512(x.limb[0], _mm512_slli_epi64(x.limb[1], 52));
    sotto_v8 high =
        _mm512_or_si512(_mm512_srli_epi64(x.limb[1], 12), _mm512_slli_epi64(x.limb[2], 40));
    _mm512_storeu_si512(at, _mm512_permutex2var_epi64(low, first_half, high));
    _mm512_storeu_si512((uint8_t *)at + 64, _mm512_permutex2var_epi64(low, second_half, high));
}

/* What weights of the scalar code must be multiplied by to be weights here: 2^80, for 2^128 * 2^80 /
 * 2^104 = 2^104. Plain numbers become weights with 2^208. */
static inline sotto_f128 sotto_f128x8_adapter(void)
{
    return (sotto_f128){0, UINT64_C(1) << 16};
}

#endif
