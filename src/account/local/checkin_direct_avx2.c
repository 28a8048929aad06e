/* sotto_checkin_direct_rotate for machines with AVX2 and fused multiply-add. */
#include "account/local/checkin_direct.h"

#include <immintrin.h>

void sotto_checkin_direct_rotate_avx2(sotto_checkin_direct *f, sotto_checkin_direct_products *out)
{
    __m256d all_re = _mm256_set1_pd(1), all_im = _mm256_setzero_pd();

    for (size_t i = 0; i < f->count; i += SOTTO_CHECKIN_DIRECT_LANES) {
        __m256d at_re = _mm256_loadu_pd(f->re + i), at_im = _mm256_loadu_pd(f->im + i);
        __m256d by_re = _mm256_loadu_pd(f->by_re + i), by_im = _mm256_loadu_pd(f->by_im + i);
        __m256d re = _mm256_fmsub_pd(at_re, by_re, _mm256_mul_pd(at_im, by_im));
        __m256d im = _mm256_fmadd_pd(at_re, by_im, _mm256_mul_pd(at_im, by_re));
        __m256d thin = _mm256_mul_pd(_mm256_loadu_pd(f->thin + i), im);
        __m256d next = _mm256_fmsub_pd(all_re, re, _mm256_mul_pd(all_im, thin));

        all_im = _mm256_fmadd_pd(all_re, thin, _mm256_mul_pd(all_im, re));
        all_re = next;
        _mm256_storeu_pd(f->re + i, re);
        _mm256_storeu_pd(f->im + i, im);
    }
    _mm256_storeu_pd(out->re, all_re);
    _mm256_storeu_pd(out->im, all_im);
}
