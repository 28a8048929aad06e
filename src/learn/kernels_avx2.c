/* The kernels for processors with AVX2 and FMA. */
#include "learn/kernels.h"

#include <immintrin.h>

typedef __m256 v8;
typedef __m256 m8; /* a lane is all ones, or all zeros */

#define INLINE static inline __attribute__((always_inline))

INLINE v8 v_all(float x)
{
    return _mm256_set1_ps(x);
}

INLINE v8 v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

INLINE void v_store(float *p, v8 x)
{
    _mm256_storeu_ps(p, x);
}

INLINE __m256i first_lanes(size_t count)
{
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), index);
}

/* The first `count` lanes, and zeros. */
INLINE v8 v_load_part(const float *p, size_t count)
{
    return _mm256_maskload_ps(p, first_lanes(count));
}

INLINE void v_store_part(float *p, size_t count, v8 x)
{
    _mm256_maskstore_ps(p, first_lanes(count), x);
}

INLINE v8 v_add(v8 a, v8 b)
{
    return _mm256_add_ps(a, b);
}

INLINE v8 v_fma(v8 a, v8 b, v8 c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* a where a > b, else b: also where one is NaN. */
INLINE v8 v_max(v8 a, v8 b)
{
    return _mm256_max_ps(a, b);
}

/* ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)) */
INLINE float v_sum(v8 x)
{
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));

    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_shuffle_ps(a, a, 1)));
}

/* Lanes 0, 2, 4, ... of a and then of b. */
INLINE v8 v_even(v8 a, v8 b)
{
    const __m256 mixed = _mm256_shuffle_ps(a, b, 0x88);

    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xd8));
}

INLINE v8 v_odd(v8 a, v8 b)
{
    const __m256 mixed = _mm256_shuffle_ps(a, b, 0xdd);

    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xd8));
}

/* a0, b0, a1, b1, ... up to lane 3, or from lane 4 on. */
INLINE v8 v_zip_low(v8 a, v8 b)
{
    const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);

    return _mm256_permute2f128_ps(low, high, 0x20);
}

INLINE v8 v_zip_high(v8 a, v8 b)
{
    const __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);

    return _mm256_permute2f128_ps(low, high, 0x31);
}

INLINE m8 m_equal(v8 a, v8 b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}

INLINE m8 m_above(v8 a, v8 b)
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

INLINE m8 m_and(m8 a, m8 b)
{
    return _mm256_and_ps(a, b);
}

/* b, but not where a. */
INLINE m8 m_without(m8 a, m8 b)
{
    return _mm256_andnot_ps(a, b);
}

/* x where the mask says so, else 0. */
INLINE v8 v_where(m8 mask, v8 x)
{
    return _mm256_and_ps(mask, x);
}

#define KERNELS      sotto_kernels_avx2
#define KERNELS_NAME "avx2"
#include "learn/kernels_template.h"
