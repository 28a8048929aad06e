/* sotto_line_points for machines with AVX2 and fused multiply-add: four chains of points side by side, in the same
 * arithmetic as allocation_dd.h. */
#include "privacy/allocation_line.h"

#include <immintrin.h>

typedef struct dd4 {
    __m256d hi, lo;
} dd4;

typedef struct cdd4 {
    dd4 re, im;
} cdd4;

static inline dd4 renorm(__m256d a, __m256d b)
{
    __m256d s = _mm256_add_pd(a, b);

    return (dd4){s, _mm256_sub_pd(b, _mm256_sub_pd(s, a))};
}

static inline __m256d rest_of_sum(__m256d a, __m256d b, __m256d s)
{
    __m256d v = _mm256_sub_pd(s, a);

    return _mm256_add_pd(_mm256_sub_pd(a, _mm256_sub_pd(s, v)), _mm256_sub_pd(b, v));
}

static inline dd4 add(dd4 a, dd4 b)
{
    __m256d s = _mm256_add_pd(a.hi, b.hi), e = rest_of_sum(a.hi, b.hi, s);
    __m256d t = _mm256_add_pd(a.lo, b.lo), f = rest_of_sum(a.lo, b.lo, t);
    dd4 r = renorm(s, _mm256_add_pd(e, t));

    return renorm(r.hi, _mm256_add_pd(r.lo, f));
}

static inline dd4 sub(dd4 a, dd4 b)
{
    __m256d zero = _mm256_setzero_pd();

    return add(a, (dd4){_mm256_sub_pd(zero, b.hi), _mm256_sub_pd(zero, b.lo)});
}

static inline dd4 mul(dd4 a, dd4 b)
{
    __m256d p = _mm256_mul_pd(a.hi, b.hi), e = _mm256_fmsub_pd(a.hi, b.hi, p);
    __m256d cross = _mm256_fmadd_pd(a.hi, b.lo, _mm256_mul_pd(a.lo, b.hi));

    return renorm(p, _mm256_add_pd(e, cross));
}

static inline cdd4 cmul(cdd4 a, cdd4 b)
{
    return (cdd4){sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re))};
}

/* Four complex numbers in a row, turned into four of each part. */
static inline cdd4 load(const cdd *at)
{
    __m256d a = _mm256_loadu_pd(&at[0].re.hi), b = _mm256_loadu_pd(&at[1].re.hi);
    __m256d c = _mm256_loadu_pd(&at[2].re.hi), d = _mm256_loadu_pd(&at[3].re.hi);
    __m256d ab_hi = _mm256_unpacklo_pd(a, b), ab_lo = _mm256_unpackhi_pd(a, b);
    __m256d cd_hi = _mm256_unpacklo_pd(c, d), cd_lo = _mm256_unpackhi_pd(c, d);

    return (cdd4){
        {_mm256_permute2f128_pd(ab_hi, cd_hi, 0x20), _mm256_permute2f128_pd(ab_lo, cd_lo, 0x20)},
        {_mm256_permute2f128_pd(ab_hi, cd_hi, 0x31), _mm256_permute2f128_pd(ab_lo, cd_lo, 0x31)}};
}

static inline dd4 spread(dd x)
{
    return (dd4){_mm256_set1_pd(x.hi), _mm256_set1_pd(x.lo)};
}

/* e^x - 1 to e^2x - 1 */
static inline cdd4 doubled(cdd4 e)
{
    return cmul(e, (cdd4){add(e.re, spread(dd_of(2))), e.im});
}

/* cdd_expm1 of z times four values, |z values| at most `size`. */
static inline cdd4 expm1_of(cdd z, const dd *values, double size)
{
    int halvings = dd_halvings(size);
    dd scale = dd_of(ldexp(1, -halvings));
    dd4 value = {_mm256_set_pd(values[3].hi, values[2].hi, values[1].hi, values[0].hi),
                 _mm256_set_pd(values[3].lo, values[2].lo, values[1].lo, values[0].lo)};
    cdd4 x = {mul(spread(dd_scale(z.re, scale.hi)), value),
              mul(spread(dd_scale(z.im, scale.hi)), value)};
    cdd4 sum = {spread(dd_of(1)), spread(dd_of(0))};

    for (int n = SOTTO_DD_TERMS; n >= 2; n--) {
        dd4 inverse = spread(dd_inverse[n - 2]);

        sum = cmul(x, sum);
        sum = (cdd4){add(mul(sum.re, inverse), spread(dd_of(1))), mul(sum.im, inverse)};
    }
    sum = cmul(x, sum);
    for (int i = 0; i < halvings; i++)
        sum = doubled(sum);
    return sum;
}

/* Whether the exponential is 0 in all four. */
static inline bool all_gone(const cdd4 *e)
{
    __m256d sign = _mm256_set1_pd(-0.0), tiny = _mm256_set1_pd(1e-33);
    __m256d one = _mm256_cmp_pd(e->re.hi, _mm256_set1_pd(-1), _CMP_EQ_OQ);
    __m256d low = _mm256_cmp_pd(_mm256_andnot_pd(sign, e->re.lo), tiny, _CMP_LT_OQ);
    __m256d side = _mm256_cmp_pd(_mm256_andnot_pd(sign, e->im.hi), tiny, _CMP_LT_OQ);

    return _mm256_movemask_pd(_mm256_and_pd(one, _mm256_and_pd(low, side))) == 15;
}

static dd gather(dd4 x)
{
    double hi[4], lo[4];
    dd sum = {0, 0};

    _mm256_storeu_pd(hi, x.hi);
    _mm256_storeu_pd(lo, x.lo);
    for (int i = 0; i < 4; i++)
        sum = dd_add(sum, (dd){hi[i], lo[i]});
    return sum;
}

cdd sotto_line_points_avx2(const sotto_lognormal *y, int which, cdd z)
{
    const dd4 none = spread(dd_of(0));
    double size = fmax(fabs(z.re.hi), fabs(z.im.hi));
    const cdd *weights = y->weights[which == 0 ? 0 : 1];
    cdd4 sum = {none, none};

    for (size_t first = 0; first < y->stride && first < y->points; first += 4) {
        cdd4 e = expm1_of(z, &y->values[first], size * y->values[first + 3].hi); /* they rise */

        for (size_t j = first; j < y->points; j += y->stride) {
            if (all_gone(&e)) {
                cdd4 rest = load(&y->rest[which][j]);

                sum = (cdd4){sub(sum.re, rest.re), sub(sum.im, rest.im)};
                break;
            }
            cdd4 term = cmul(load(&weights[j]), e);

            sum = (cdd4){add(sum.re, term.re), add(sum.im, term.im)};
            e = doubled(e);
        }
    }
    return (cdd){gather(sum.re), gather(sum.im)};
}
