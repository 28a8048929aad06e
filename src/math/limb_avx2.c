/* Primes below 2^26, four residues at a time in 64-bit lanes whose upper halves are 0. */
#include "math/limb.h"

#include <immintrin.h>

typedef __m256i lanes;

static inline lanes load(const uint64_t *v)
{
    return _mm256_loadu_si256((const lanes *)(const void *)v);
}

static inline void store(uint64_t *v, lanes x)
{
    _mm256_storeu_si256((lanes *)(void *)v, x);
}

/* b w modulo p, below 2p. */
static inline lanes product(lanes b, lanes w, lanes over, lanes p)
{
    lanes quotient = _mm256_srli_epi64(_mm256_mul_epu32(b, over), 32);

    return _mm256_sub_epi64(_mm256_mul_epu32(b, w), _mm256_mul_epu32(quotient, p));
}

static inline lanes below(lanes x, lanes p)
{
    return _mm256_min_epu32(x, _mm256_sub_epi32(x, p));
}

typedef void pair(lanes *a, lanes *b, lanes w, lanes over, lanes p);

static inline void forward_pair(lanes *a, lanes *b, lanes w, lanes over, lanes p)
{
    lanes x = product(*b, w, over, p), first = *a;

    *a = _mm256_add_epi64(first, x);
    *b = _mm256_add_epi64(_mm256_sub_epi64(first, x), _mm256_add_epi64(p, p));
}

static inline void inverse_pair(lanes *a, lanes *b, lanes w, lanes over, lanes p)
{
    lanes twice = _mm256_add_epi64(p, p), first = *a, second = *b;

    *a = below(_mm256_add_epi64(first, second), twice);
    *b = product(_mm256_add_epi64(_mm256_sub_epi64(first, second), twice), w, over, p);
}

static inline lanes doubled(const uint64_t *z)
{
    return _mm256_set_epi64x((int64_t)z[1], (int64_t)z[1], (int64_t)z[0], (int64_t)z[0]);
}

static inline __attribute__((always_inline)) void
by_twos(uint64_t *v, const uint64_t *z, const uint64_t *over, size_t count, lanes p, pair *run)
{
    for (size_t i = 0; i < count; i += 2, v += 8) {
        lanes x = load(v), y = load(v + 4);
        lanes a = _mm256_permute2x128_si256(x, y, 0x20), b = _mm256_permute2x128_si256(x, y, 0x31);

        run(&a, &b, doubled(z + i), doubled(over + i), p);
        store(v, _mm256_permute2x128_si256(a, b, 0x20));
        store(v + 4, _mm256_permute2x128_si256(a, b, 0x31));
    }
}

static inline __attribute__((always_inline)) void
by_ones(uint64_t *v, const uint64_t *z, const uint64_t *over, size_t count, lanes p, pair *run)
{
    for (size_t i = 0; i < count; i += 4, v += 8) {
        lanes x = load(v), y = load(v + 4);
        lanes a = _mm256_unpacklo_epi64(x, y), b = _mm256_unpackhi_epi64(x, y);

        run(&a, &b, _mm256_permute4x64_epi64(load(z + i), 0xd8),
            _mm256_permute4x64_epi64(load(over + i), 0xd8), p);
        store(v, _mm256_unpacklo_epi64(a, b));
        store(v + 4, _mm256_unpackhi_epi64(a, b));
    }
}

static inline __attribute__((always_inline)) void blocks(uint64_t *v, size_t t, const uint64_t *z,
                                                         const uint64_t *over, size_t count,
                                                         uint64_t modulus, pair *run)
{
    lanes p = _mm256_set1_epi64x((int64_t)modulus);

    if (t == 1) {
        by_ones(v, z, over, count, p, run);
        return;
    }
    if (t == 2) {
        by_twos(v, z, over, count, p, run);
        return;
    }
    for (size_t i = 0; i < count; i++, v += 2 * t) {
        lanes w = _mm256_set1_epi64x((int64_t)z[i]), o = _mm256_set1_epi64x((int64_t)over[i]);

        for (size_t k = 0; k < t; k += 4) {
            lanes a = load(v + k), b = load(v + k + t);

            run(&a, &b, w, o, p);
            store(v + k, a);
            store(v + k + t, b);
        }
    }
}

static void forward(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                    uint64_t p)
{
    blocks(v, t, z, over, count, p, forward_pair);
}

static void inverse(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                    uint64_t p)
{
    blocks(v, t, z, over, count, p, inverse_pair);
}

static void finish(uint64_t *v, size_t n, uint64_t one, uint64_t modulus)
{
    lanes p = _mm256_set1_epi64x((int64_t)modulus), over = _mm256_set1_epi64x((int64_t)one);

    for (size_t k = 0; k < n; k += 4)
        store(v + k, below(product(load(v + k), _mm256_set1_epi64x(1), over, p), p));
}

const sotto_limb_kernels sotto_limb_avx2 = {"avx2", forward, inverse, finish};
