/* Field64 four at a time. Between stages an element is any 64-bit number that is right modulo p, with its highest bit flipped.
 * AVX2 compares signed numbers only, and so compares these as if they were unsigned.
 *
 * 2^64 = 2^32 - 1 modulo p, so a carry out of 64 bits is paid back by adding 2^32 - 1. One such step is enough where
 * one of two summands is at most p. */
#include "math/ntt64.h"

#include <immintrin.h>

typedef __m256i lanes;

static inline lanes flip(lanes x)
{
    return _mm256_xor_si256(x, _mm256_set1_epi64x(INT64_MIN));
}

/* 2^32 - 1 where the mask is set. */
static inline lanes owed(lanes mask)
{
    return _mm256_srli_epi64(mask, 32);
}

/* Flipped in and out: below p. */
static inline lanes reduce(lanes x)
{
    const lanes last = _mm256_set1_epi64x((int64_t)((SOTTO_F64_P - 1) ^ (uint64_t)INT64_MIN));

    return _mm256_add_epi64(x, owed(_mm256_cmpgt_epi64(x, last)));
}

/* x flipped, y plain and at most p: flipped out. */
static inline lanes add(lanes x, lanes y)
{
    lanes sum = _mm256_add_epi64(x, y);

    return _mm256_add_epi64(sum, owed(_mm256_cmpgt_epi64(x, sum)));
}

static inline lanes sub(lanes x, lanes y)
{
    lanes difference = _mm256_sub_epi64(x, y);

    return _mm256_sub_epi64(difference, owed(_mm256_cmpgt_epi64(difference, x)));
}

static inline lanes high_half(lanes x)
{
    return _mm256_srli_epi64(x, 32);
}

/* Plain in, flipped out, any 64-bit number. */
static inline lanes mul(lanes a, lanes b)
{
    const lanes low32 = _mm256_set1_epi64x(0xffffffff);
    lanes a1 = high_half(a), b1 = high_half(b);
    lanes p00 = _mm256_mul_epu32(a, b), p01 = _mm256_mul_epu32(a, b1);
    lanes p10 = _mm256_mul_epu32(a1, b), p11 = _mm256_mul_epu32(a1, b1);
    lanes mid = _mm256_add_epi64(p10, high_half(p00));
    lanes mid2 = _mm256_add_epi64(p01, _mm256_and_si256(mid, low32));
    lanes high = _mm256_add_epi64(p11, _mm256_add_epi64(high_half(mid), high_half(mid2)));
    lanes low = _mm256_blend_epi32(p00, _mm256_slli_epi64(mid2, 32), 0xaa);

    /* 2^96 = -1, and 2^64 = 2^32 - 1. */
    lanes r = sub(flip(low), high_half(high));
    return add(r, _mm256_mul_epu32(high, low32));
}

static inline void forward_pair(lanes *a, lanes *b, lanes z)
{
    lanes product = flip(reduce(mul(flip(*b), z))), first = *a;

    *a = add(first, product);
    *b = sub(first, product);
}

static inline void inverse_pair(lanes *a, lanes *b, lanes z)
{
    lanes second = flip(reduce(*b)), first = *a;

    *a = add(first, second);
    *b = mul(flip(sub(first, second)), z);
}

static inline lanes load(const sotto_f64 *v)
{
    return _mm256_loadu_si256((const lanes *)(const void *)v);
}

static inline void store(sotto_f64 *v, lanes x)
{
    _mm256_storeu_si256((lanes *)(void *)v, x);
}

typedef void pair(lanes *a, lanes *b, lanes z);

/* t is 2: two blocks in two vectors. */
static inline __attribute__((always_inline)) void by_twos(sotto_f64 *v, const sotto_f64 *z,
                                                          size_t count, pair *run)
{
    for (size_t i = 0; i < count; i += 2, v += 8) {
        lanes x = load(v), y = load(v + 4);
        lanes a = _mm256_permute2x128_si256(x, y, 0x20), b = _mm256_permute2x128_si256(x, y, 0x31);
        lanes f = _mm256_set_epi64x((int64_t)z[i + 1].v, (int64_t)z[i + 1].v, (int64_t)z[i].v,
                                    (int64_t)z[i].v);

        run(&a, &b, f);
        store(v, _mm256_permute2x128_si256(a, b, 0x20));
        store(v + 4, _mm256_permute2x128_si256(a, b, 0x31));
    }
}

/* t is 1: four blocks in two vectors. */
static inline __attribute__((always_inline)) void by_ones(sotto_f64 *v, const sotto_f64 *z,
                                                          size_t count, pair *run)
{
    for (size_t i = 0; i < count; i += 4, v += 8) {
        lanes x = load(v), y = load(v + 4);
        lanes a = _mm256_unpacklo_epi64(x, y), b = _mm256_unpackhi_epi64(x, y);

        run(&a, &b, _mm256_permute4x64_epi64(load(z + i), 0xd8));
        store(v, _mm256_unpacklo_epi64(a, b));
        store(v + 4, _mm256_unpackhi_epi64(a, b));
    }
}

/* Counts are multiples of 2 where t is 2, and of 4 where it is 1: a transform has at least eight points. */
static inline __attribute__((always_inline)) void blocks(sotto_f64 *v, size_t t, const sotto_f64 *z,
                                                         size_t count, pair *run)
{
    if (t == 1) {
        by_ones(v, z, count, run);
        return;
    }
    if (t == 2) {
        by_twos(v, z, count, run);
        return;
    }
    for (size_t i = 0; i < count; i++, v += 2 * t) {
        lanes f = _mm256_set1_epi64x((int64_t)z[i].v);

        for (size_t k = 0; k < t; k += 4) {
            lanes a = load(v + k), b = load(v + k + t);

            run(&a, &b, f);
            store(v + k, a);
            store(v + k + t, b);
        }
    }
}

static void forward(sotto_f64 *v, size_t t, const sotto_f64 *z, size_t count)
{
    blocks(v, t, z, count, forward_pair);
}

static void inverse(sotto_f64 *v, size_t t, const sotto_f64 *z, size_t count)
{
    blocks(v, t, z, count, inverse_pair);
}

static void begin(sotto_f64 *v, size_t n)
{
    for (size_t k = 0; k < n; k += 4)
        store(v + k, flip(load(v + k)));
}

static void finish(sotto_f64 *v, size_t n)
{
    for (size_t k = 0; k < n; k += 4)
        store(v + k, flip(reduce(load(v + k))));
}

static void multiply(sotto_f64 *out, const sotto_f64 *a, const sotto_f64 *b, size_t n)
{
    for (size_t k = 0; k < n; k += 4)
        store(out + k, flip(reduce(mul(load(a + k), load(b + k)))));
}

const sotto_ntt64 sotto_ntt64_avx2 = {"avx2", begin, forward, inverse, finish, multiply};
