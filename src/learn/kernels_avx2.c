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

/* Lanes 0 to 3, or 4 to 7. */
INLINE void v_store_half(float *p, v8 x, size_t half)
{
    _mm_storeu_ps(p, half ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x));
}

/* The same, of whole numbers. */
INLINE void v_store_integers(int32_t *p, v8 x, size_t half)
{
    const __m256i whole = _mm256_cvttps_epi32(x);

    _mm_storeu_si128((__m128i *)(void *)p,
                     half ? _mm256_extracti128_si256(whole, 1) : _mm256_castsi256_si128(whole));
}

/* 0, 1, ... */
INLINE v8 v_ramp(void)
{
    return _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
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

/* Four such sums, and a number for each. */
INLINE void v_sum_four(float *out, const v8 x[4], const float *more)
{
    __m128 a[4];

    for (int i = 0; i < 4; i++)
        a[i] = _mm_add_ps(_mm256_castps256_ps128(x[i]), _mm256_extractf128_ps(x[i], 1));
    const __m128 first = _mm_add_ps(_mm_unpacklo_ps(a[0], a[1]), _mm_unpackhi_ps(a[0], a[1]));
    const __m128 second = _mm_add_ps(_mm_unpacklo_ps(a[2], a[3]), _mm_unpackhi_ps(a[2], a[3]));

    a[0] = _mm_add_ps(_mm_movelh_ps(first, second), _mm_movehl_ps(second, first));
    _mm_storeu_ps(out, _mm_add_ps(a[0], _mm_loadu_ps(more)));
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

INLINE m8 m_above(v8 a, v8 b)
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

/* a where the mask says so, else b. */
INLINE v8 v_select(m8 mask, v8 a, v8 b)
{
    return _mm256_blendv_ps(b, a, mask);
}

#define KERNELS      sotto_kernels_avx2
#define KERNELS_NAME "avx2"
#include "learn/kernels_template.h"
