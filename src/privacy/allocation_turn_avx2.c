/* sotto_turn_sum for machines with AVX2 and fused multiply-add. */
#include "privacy/allocation_turn.h"

#include <immintrin.h>

static double gather(__m256d x)
{
    double lanes[SOTTO_TURN_LANES];

    _mm256_storeu_pd(lanes, x);
    return lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
}

void sotto_turn_sum_avx2(const sotto_turns *w, double *down, double *side)
{
    __m256d downs = _mm256_setzero_pd(), sides = _mm256_setzero_pd();

    for (size_t j = 0; j < w->points; j += SOTTO_TURN_LANES) {
        __m256d at_re = _mm256_loadu_pd(w->re + j), at_im = _mm256_loadu_pd(w->im + j);
        __m256d by_re = _mm256_loadu_pd(w->by_re + j), by_im = _mm256_loadu_pd(w->by_im + j);
        __m256d re = _mm256_fmsub_pd(at_re, by_re, _mm256_mul_pd(at_im, by_im));
        __m256d im = _mm256_fmadd_pd(at_re, by_im, _mm256_mul_pd(at_im, by_re));
        __m256d weighed = _mm256_mul_pd(_mm256_loadu_pd(w->weight + j), im);

        downs = _mm256_fmadd_pd(weighed, im, downs);
        sides = _mm256_fmadd_pd(weighed, re, sides);
        _mm256_storeu_pd(w->re + j, re);
        _mm256_storeu_pd(w->im + j, im);
    }
    *down = gather(downs);
    *side = gather(sides);
}
