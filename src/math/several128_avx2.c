/* Four transforms over Field128 side by side: lane l of every number belongs to vector l.
 *
 * Both directions take b by its factor first, and then a + b and a - b. So b comes fresh from a product, and only a grows, by
 * one limb's worth a stage: nothing is carried between stages. Limbs stay below 2^31 for up to 14 stages, which the product
 * takes (factors are below p).
 *
 * From values to coefficients, x^2t - z^2 is split into x^t - z and x^t + z until t is 1. Block i has factor z = w^-rev(i),
 * whatever the stage. The way back is decimation in time. The last stage of the first, the shift to the odd points and the
 * first stage of the second touch the same pairs, and are one pass. */
#include "math/several128.h"

#include "math/lanes128_avx2.h"

enum { LEAST_LOG = 2, MOST_LOG = 14, ALIGN = 32 };

/* A factor, the same in every lane. Only 32 of a lane's 64 bits are multiplied. */
typedef struct factor {
    uint32_t limb[SOTTO_V4_LIMBS];
} factor;

typedef struct tables {
    factor *blocks;     /* n/2, w^-rev(i)           */
    factor *roots;      /* n/2, w^k                 */
    factor *shift;      /* n, to the odd points     */
    sotto_f128x4 *work; /* n                        */
} tables;

static bool fits(unsigned log)
{
    return log >= LEAST_LOG && log <= MOST_LOG;
}

static size_t room_for(unsigned log)
{
    size_t n = (size_t)1 << log;

    if (!fits(log))
        return 0;
    return (ALIGN + n * sizeof(sotto_f128x4) + 2 * n * sizeof(factor) + SOTTO_F128_SIZE - 1) /
           SOTTO_F128_SIZE;
}

static tables tables_in(sotto_f128 *room, size_t n)
{
    uintptr_t at = ((uintptr_t)room + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    sotto_f128x4 *work = (sotto_f128x4 *)at;
    factor *factors = (factor *)(work + n);

    return (tables){factors, factors + n / 2, factors + n, work};
}

/* Factors carry 2^104 where weights carry 2^128, so a product of the scalar code with 2^104 makes one of the other. */
static factor factor_of(sotto_f128 weight)
{
    const uint64_t mask = SOTTO_V4_MASK;
    sotto_f128 a = sotto_f128_mul(weight, (sotto_f128){0, UINT64_C(1) << 40});

    return (factor){{(uint32_t)(a.low & mask), (uint32_t)(a.low >> 26 & mask),
                     (uint32_t)((a.low >> 52 | a.high << 12) & mask),
                     (uint32_t)(a.high >> 14 & mask), (uint32_t)(a.high >> 40)}};
}

static void prepare(sotto_f128 *room, unsigned log, const sotto_f128 *roots,
                    const sotto_f128 *shift)
{
    size_t n = (size_t)1 << log, reversed = 0;

    if (!fits(log))
        return;
    tables t = tables_in(room, n);
    for (size_t i = 0; i < n / 2; i++) {
        t.blocks[i] = factor_of(roots[(n - reversed) & (n - 1)]);
        t.roots[i] = factor_of(roots[i]);
        /* Counts with its bits reversed, of n/2. */
        size_t bit = n / 4;
        while (bit & reversed) {
            reversed ^= bit;
            bit /= 2;
        }
        reversed |= bit;
    }
    for (size_t i = 0; i < n; i++)
        t.shift[i] = factor_of(shift[i]);
}

/* ---- numbers whose limbs may have grown ---------------------------------------------------------- */

static inline sotto_f128x4 times(const sotto_f128x4 *a, const factor *z)
{
    sotto_f128x4 wide;

    for (unsigned k = 0; k < SOTTO_V4_LIMBS; k++)
        wide.limb[k] = _mm256_set1_epi32((int)z->limb[k]);
    return sotto_f128x4_mul(a, &wide);
}

static inline sotto_f128x4 plus(const sotto_f128x4 *a, const sotto_f128x4 *b)
{
    sotto_f128x4 sum;

    for (unsigned k = 0; k < SOTTO_V4_LIMBS; k++)
        sum.limb[k] = _mm256_add_epi64(a->limb[k], b->limb[k]);
    return sum;
}

/* a + 4p - b for loose b. 4p is written with limbs that lend 2 to the one below, so that each is above b's. */
static inline sotto_f128x4 minus(const sotto_f128x4 *a, const sotto_f128x4 *b)
{
    const int64_t held = INT64_C(2) << 26,
                  four_p[SOTTO_V4_LIMBS] = {held + 4, held - 2, held - 2 - 4 * SOTTO_V4_K, held - 2,
                                            (INT64_C(4) << 24) - 2};
    sotto_f128x4 difference;

    for (unsigned k = 0; k < SOTTO_V4_LIMBS; k++)
        difference.limb[k] =
            _mm256_add_epi64(a->limb[k], _mm256_sub_epi64(sotto_v4_of(four_p[k]), b->limb[k]));
    return difference;
}

static inline void butterfly(sotto_f128x4 *a, sotto_f128x4 *b, sotto_f128x4 product)
{
    sotto_f128x4 first = *a;

    *a = plus(&first, &product);
    *b = minus(&first, &product);
}

/* Adds `times` * (2^128 - p) = times * (K * 2^52 - 1), written without a negative limb, and carries. */
static inline void add_complement(sotto_v4 u[SOTTO_V4_LIMBS], sotto_v4 times)
{
    sotto_v4 borrowed = _mm256_sub_epi64(_mm256_slli_epi64(times, 26), times);

    u[0] = _mm256_add_epi64(u[0], borrowed);
    u[1] = _mm256_add_epi64(u[1], borrowed);
    u[2] = sotto_v4_madd(u[2], times, sotto_v4_of(SOTTO_V4_K - 1));
    for (unsigned k = 0; k + 1 < SOTTO_V4_LIMBS; k++)
        sotto_v4_carry(&u[k + 1], &u[k]);
}

/* Loose again, and less than 2p: what stands above 2^128, less than 2^8, is folded. */
static inline sotto_f128x4 loosened(sotto_f128x4 a)
{
    sotto_v4 *u = a.limb;

    for (unsigned k = 0; k + 1 < SOTTO_V4_LIMBS; k++)
        sotto_v4_carry(&u[k + 1], &u[k]);
    sotto_v4 above = _mm256_srli_epi64(u[4], 24);
    u[4] = _mm256_and_si256(u[4], sotto_v4_of(SOTTO_V4_TOP_MASK));
    add_complement(u, above);
    return a;
}

/* Below p, which goes away once more if adding 2^128 - p reaches 2^128. */
static inline sotto_f128x4 reduced(sotto_f128x4 a)
{
    sotto_v4 *u = a.limb, less[SOTTO_V4_LIMBS];

    a = loosened(a);
    for (unsigned k = 0; k < SOTTO_V4_LIMBS; k++)
        less[k] = u[k];
    add_complement(less, sotto_v4_of(1));
    sotto_v4 reached = _mm256_srli_epi64(less[4], 24);
    sotto_v4 mask = _mm256_sub_epi64(_mm256_setzero_si256(), reached);
    less[4] = _mm256_and_si256(less[4], sotto_v4_of(SOTTO_V4_TOP_MASK));
    for (unsigned k = 0; k < SOTTO_V4_LIMBS; k++)
        u[k] = _mm256_blendv_epi8(u[k], less[k], mask);
    return a;
}

/* ---- vectors in memory --------------------------------------------------------------------------- */

/* Where element 0 of each vector is. Fewer than four: the last stands for those that are missing. */
typedef struct four {
    sotto_f128 *v[SOTTO_V4_LANES];
} four;

static four four_of(sotto_f128 *v, size_t count, size_t n)
{
    four f;

    for (size_t l = 0; l < SOTTO_V4_LANES; l++)
        f.v[l] = v + (l < count ? l : count - 1) * n;
    return f;
}

static inline __m256i pair_at(const sotto_f128 *low, const sotto_f128 *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)low)),
                                   _mm_loadu_si128((const void *)high), 1);
}

static inline sotto_f128x4 load(const four *f, size_t k)
{
    return sotto_f128x4_split(pair_at(f->v[0] + k, f->v[1] + k), pair_at(f->v[2] + k, f->v[3] + k));
}

static inline void store(const four *f, size_t k, sotto_f128x4 a)
{
    const sotto_f128x4 r = reduced(a);
    const sotto_v4 *u = r.limb;
    sotto_v4 low = _mm256_or_si256(_mm256_or_si256(u[0], _mm256_slli_epi64(u[1], 26)),
                                   _mm256_slli_epi64(u[2], 52));
    sotto_v4 high =
        _mm256_or_si256(_mm256_or_si256(_mm256_srli_epi64(u[2], 12), _mm256_slli_epi64(u[3], 14)),
                        _mm256_slli_epi64(u[4], 40));
    sotto_v4 first = _mm256_unpacklo_epi64(low, high), second = _mm256_unpackhi_epi64(low, high);

    _mm_storeu_si128((void *)(f->v[0] + k), _mm256_castsi256_si128(first));
    _mm_storeu_si128((void *)(f->v[1] + k), _mm256_extracti128_si256(first, 1));
    _mm_storeu_si128((void *)(f->v[2] + k), _mm256_castsi256_si128(second));
    _mm_storeu_si128((void *)(f->v[3] + k), _mm256_extracti128_si256(second, 1));
}

/* ---- the passes ---------------------------------------------------------------------------------- */

static void first_stage(const four *f, sotto_f128x4 *work, size_t n)
{
    for (size_t k = 0; k < n / 2; k++) {
        work[k] = load(f, k);
        butterfly(&work[k], &work[k + n / 2], load(f, k + n / 2));
    }
}

static void split_blocks(sotto_f128x4 *work, size_t n, size_t t, const factor *z)
{
    /* Block 0 has the factor one. */
    for (size_t k = 0; k < t; k++)
        butterfly(&work[k], &work[k + t], loosened(work[k + t]));
    for (size_t i = 1; i < n / (2 * t); i++)
        for (size_t k = 2 * t * i; k < 2 * t * i + t; k++)
            butterfly(&work[k], &work[k + t], times(&work[k + t], &z[i]));
}

static void turn_around(sotto_f128x4 *work, size_t n, const factor *z, const factor *shift)
{
    for (size_t k = 0; k < n; k += 2) {
        sotto_f128x4 a = work[k], b;

        butterfly(&a, &b, times(&work[k + 1], &z[k / 2]));
        work[k] = times(&a, &shift[k]);
        butterfly(&work[k], &work[k + 1], times(&b, &shift[k + 1]));
    }
}

static void join_blocks(sotto_f128x4 *work, size_t n, size_t half, const factor *roots)
{
    size_t stride = n / (2 * half);

    for (size_t start = 0; start < n; start += 2 * half) {
        sotto_f128x4 *a = work + start, *b = a + half;

        butterfly(a, b, loosened(*b)); /* the root is one */
        for (size_t k = 1; k < half; k++)
            butterfly(a + k, b + k, times(b + k, &roots[k * stride]));
    }
}

static void last_stage(const four *f, sotto_f128x4 *work, size_t n, const factor *roots)
{
    for (size_t k = 0; k < n / 2; k++) {
        sotto_f128x4 a = work[k], b;

        butterfly(&a, &b, times(&work[k + n / 2], &roots[k]));
        store(f, k, a);
        store(f, k + n / 2, b);
    }
}

static void to_odd_values(sotto_f128 *v, size_t count, unsigned log, const sotto_f128 *roots,
                          const sotto_f128 *shift, sotto_f128 *room)
{
    size_t n = (size_t)1 << log;

    if (!fits(log)) {
        sotto_several128_portable.to_odd_values(v, count, log, roots, shift, room);
        return;
    }
    tables t = tables_in(room, n);
    four f = four_of(v, count, n);

    first_stage(&f, t.work, n);
    for (size_t half = n / 4; half > 1; half /= 2)
        split_blocks(t.work, n, half, t.blocks);
    turn_around(t.work, n, t.blocks, t.shift);
    for (size_t half = 2; half < n / 2; half *= 2)
        join_blocks(t.work, n, half, t.roots);
    last_stage(&f, t.work, n, t.roots);
}

const sotto_several128 sotto_several128_avx2 = {"avx2", room_for, prepare, to_odd_values};
