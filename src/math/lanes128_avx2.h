/* math/lanes128_avx2.h - four elements of Field128 side by side, for machines with AVX2.
 *
 * Callers:  the *_avx2.c files of this room, which are compiled for that instruction set.
 *
 * A number is five limbs of 26 bits, the top one of 24, since the machine multiplies numbers of 32 bits
 * and products need room to add up. In these limbs p = 1 - K * 2^52 + 2^24 * 2^104. So a Montgomery
 * step, which takes away q = t0 times p, clears the lowest limb for nothing and costs one small product
 * and one shift. Four such steps divide by 2^104; what then stands above 2^128 is folded down
 * (2^128 = K * 2^52 - 1). Hence weights carry the factor 2^104 here, not 2^128.
 *
 * A *loose* number has limbs of 26 bits and a top limb below 2^25. All results here are loose; every
 * number of 128 bits, reduced or not, is.
 *
 * Lane l holds element sotto_v4_order[l] of four, as unpacking leaves them.
 */
#ifndef SOTTO_MATH_LANES128_AVX2_H
#define SOTTO_MATH_LANES128_AVX2_H

#include "math/field128.h"

#include <immintrin.h>

enum { SOTTO_V4_LANES = 4, SOTTO_V4_LIMBS = 5 };

typedef __m256i sotto_v4;

typedef struct sotto_f128x4 {
    sotto_v4 limb[5];
} sotto_f128x4;

/* A sum of products, limb by limb. */
typedef struct sotto_f128x4_acc {
    sotto_v4 limb[9];
} sotto_f128x4_acc;

static const unsigned sotto_v4_order[4] = {0, 2, 1, 3};

#define SOTTO_V4_MASK     ((INT64_C(1) << 26) - 1)
#define SOTTO_V4_TOP_MASK ((INT64_C(1) << 24) - 1)
#define SOTTO_V4_K        (INT64_C(28) << 12)

static inline sotto_v4 sotto_v4_of(int64_t x)
{
    return _mm256_set1_epi64x(x);
}

static inline sotto_v4 sotto_v4_madd(sotto_v4 t, sotto_v4 x, sotto_v4 y)
{
    return _mm256_add_epi64(t, _mm256_mul_epu32(x, y));
}

/* *to += *from >> 26, and *from keeps the rest. */
static inline void sotto_v4_carry(sotto_v4 *to, sotto_v4 *from)
{
    *to = _mm256_add_epi64(*to, _mm256_srli_epi64(*from, 26));
    *from = _mm256_and_si256(*from, sotto_v4_of(SOTTO_V4_MASK));
}

static inline sotto_f128x4 sotto_f128x4_split(sotto_v4 first, sotto_v4 second)
{
    const sotto_v4 mask = sotto_v4_of(SOTTO_V4_MASK);
    sotto_v4 low = _mm256_unpacklo_epi64(first, second);
    sotto_v4 high = _mm256_unpackhi_epi64(first, second);
    sotto_v4 middle = _mm256_or_si256(_mm256_srli_epi64(low, 52), _mm256_slli_epi64(high, 12));

    return (sotto_f128x4){
        {_mm256_and_si256(low, mask), _mm256_and_si256(_mm256_srli_epi64(low, 26), mask),
         _mm256_and_si256(middle, mask), _mm256_and_si256(_mm256_srli_epi64(high, 14), mask),
         _mm256_srli_epi64(high, 40)}};
}

/* The first `count` elements, if there are not four; zeros in the other lanes. Reads nothing else. */
static inline sotto_f128x4 sotto_f128x4_load(const void *at, size_t count)
{
    uint64_t words[8] = {0};

    if (count < SOTTO_V4_LANES) {
        memcpy(words, at, count * SOTTO_F128_SIZE);
        at = words;
    }
    return sotto_f128x4_split(_mm256_loadu_si256(at), _mm256_loadu_si256((const __m256i *)at + 1));
}

static inline sotto_f128x4 sotto_f128x4_all(sotto_f128 a)
{
    return sotto_f128x4_split(
        _mm256_set_epi64x((int64_t)a.high, (int64_t)a.low, (int64_t)a.high, (int64_t)a.low),
        _mm256_set_epi64x((int64_t)a.high, (int64_t)a.low, (int64_t)a.high, (int64_t)a.low));
}

/* Nine sums and five limbs fill the registers there are. gcc 12 takes products before it adds them, and spills: without
 * this, power sums take a tenth longer. */
#if defined(__clang__)
#define SOTTO_V4_IN_REGISTERS(t) ((void)(t))
#else
#define SOTTO_V4_IN_REGISTERS(t)                                                                   \
    __asm__(""                                                                                     \
            : "+x"((t)[0]), "+x"((t)[1]), "+x"((t)[2]), "+x"((t)[3]), "+x"((t)[4]), "+x"((t)[5]),  \
              "+x"((t)[6]), "+x"((t)[7]), "+x"((t)[8]))
#endif

/* acc += a * b, for loose a and b. At most five products of 52 bits go to a limb. */
static inline void sotto_f128x4_acc_mul(sotto_f128x4_acc *acc, const sotto_f128x4 *a,
                                        const sotto_f128x4 *b)
{
    const sotto_v4 *x = a->limb, *y = b->limb;
    sotto_v4 *t = acc->limb;

    t[0] = sotto_v4_madd(t[0], x[0], y[0]);
    t[1] = sotto_v4_madd(t[1], x[0], y[1]);
    t[2] = sotto_v4_madd(t[2], x[0], y[2]);
    t[3] = sotto_v4_madd(t[3], x[0], y[3]);
    t[4] = sotto_v4_madd(t[4], x[0], y[4]);
    SOTTO_V4_IN_REGISTERS(t);
    t[1] = sotto_v4_madd(t[1], x[1], y[0]);
    t[2] = sotto_v4_madd(t[2], x[1], y[1]);
    t[3] = sotto_v4_madd(t[3], x[1], y[2]);
    t[4] = sotto_v4_madd(t[4], x[1], y[3]);
    t[5] = sotto_v4_madd(t[5], x[1], y[4]);
    SOTTO_V4_IN_REGISTERS(t);
    t[2] = sotto_v4_madd(t[2], x[2], y[0]);
    t[3] = sotto_v4_madd(t[3], x[2], y[1]);
    t[4] = sotto_v4_madd(t[4], x[2], y[2]);
    t[5] = sotto_v4_madd(t[5], x[2], y[3]);
    t[6] = sotto_v4_madd(t[6], x[2], y[4]);
    SOTTO_V4_IN_REGISTERS(t);
    t[3] = sotto_v4_madd(t[3], x[3], y[0]);
    t[4] = sotto_v4_madd(t[4], x[3], y[1]);
    t[5] = sotto_v4_madd(t[5], x[3], y[2]);
    t[6] = sotto_v4_madd(t[6], x[3], y[3]);
    t[7] = sotto_v4_madd(t[7], x[3], y[4]);
    SOTTO_V4_IN_REGISTERS(t);
    t[4] = sotto_v4_madd(t[4], x[4], y[0]);
    t[5] = sotto_v4_madd(t[5], x[4], y[1]);
    t[6] = sotto_v4_madd(t[6], x[4], y[2]);
    t[7] = sotto_v4_madd(t[7], x[4], y[3]);
    t[8] = sotto_v4_madd(t[8], x[4], y[4]);
    SOTTO_V4_IN_REGISTERS(t);
}

/* Takes q * p away, where q is the lowest limb of the five that start at t, and leaves that limb behind. */
static inline void sotto_v4_step(sotto_v4 t[5])
{
    sotto_v4 q = t[0];

    sotto_v4_carry(&t[1], &q);
    t[2] = sotto_v4_madd(t[2], q, sotto_v4_of(SOTTO_V4_K));
    t[4] = _mm256_sub_epi64(t[4], _mm256_slli_epi64(q, 24));
}

/* t / 2^104 modulo p, loose. Wants the start that acc_zero gives, limbs below 2^61, t / 2^104 below 2^159.
 *
 * The machine has no arithmetic shift of 64 bits, so no limb may be negative when it is carried. acc_zero
 * starts the limbs 4 to 7 above all that the steps take from them (2^50), and the top one with 8p. h, the
 * bits from 2^128 on but for carries of the lower limbs that are still out, is below 2^32. Folding adds
 * h * (K * 2^52 - 1), written without a negative limb; then every carry fits, the last, up to 2^10, into
 * the top limb's 25 bits. */
static inline sotto_f128x4 sotto_f128x4_reduce(const sotto_f128x4_acc *acc)
{
    sotto_f128x4_acc t = *acc;
    sotto_v4 *u = t.limb + 4;

    for (unsigned k = 0; k < 4; k++)
        sotto_v4_step(t.limb + k);
    sotto_v4_carry(&u[4], &u[3]);
    sotto_v4 h = _mm256_srli_epi64(u[4], 24);
    sotto_v4 borrowed = _mm256_sub_epi64(_mm256_slli_epi64(h, 26), h);
    u[4] = _mm256_and_si256(u[4], sotto_v4_of(SOTTO_V4_TOP_MASK));
    u[0] = _mm256_add_epi64(u[0], borrowed);
    u[1] = _mm256_add_epi64(u[1], borrowed);
    u[2] = sotto_v4_madd(u[2], h, sotto_v4_of(SOTTO_V4_K - 1));
    for (unsigned k = 0; k < 4; k++)
        sotto_v4_carry(&u[k + 1], &u[k]);
    return (sotto_f128x4){{u[0], u[1], u[2], u[3], u[4]}};
}

/* 8p for what reduce leaves, with limbs that lend 2^25 to the one below (2^51 there). */
static inline sotto_f128x4_acc sotto_f128x4_acc_zero(void)
{
    const int64_t lend = INT64_C(1) << 25, held = INT64_C(1) << 51;
    sotto_v4 zero = _mm256_setzero_si256();

    return (sotto_f128x4_acc){{zero, zero, zero, zero, sotto_v4_of(held + 8),
                               sotto_v4_of(held - lend), sotto_v4_of(held - lend - 8 * SOTTO_V4_K),
                               sotto_v4_of(held - lend), sotto_v4_of((1 << 27) - lend)}};
}

/* a * weight / 2^104. */
static inline sotto_f128x4 sotto_f128x4_mul(const sotto_f128x4 *a, const sotto_f128x4 *weight)
{
    sotto_f128x4_acc acc = sotto_f128x4_acc_zero();

    sotto_f128x4_acc_mul(&acc, a, weight);
    return sotto_f128x4_reduce(&acc);
}

/* What weights of the scalar code must be multiplied by to be weights here: 2^128 * 2^80 / 2^104 = 2^104. */
static inline sotto_f128 sotto_f128x4_adapter(void)
{
    return (sotto_f128){0, UINT64_C(1) << 16};
}

#endif
