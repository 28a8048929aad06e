#include "privacy/sgm_sines.h"

#include <math.h>

/* One build of this file runs on any machine of its kind; the wide loop is chosen when it starts. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#else
#define WIDE
#endif

#define LANES SOTTO_SGM_LANES

/* pi in three parts; the first two have 32 bits, so that their multiples up to 2^20 are exact. */
#define PI_1 3.1415926534682512
#define PI_2 1.2154201012607932e-10
#define PI_3 4.044532497591901e-21

/* Adding it rounds to an integer in the low bits. */
#define ROUNDER 6755399441055744.0

/* sin^2 and sin*cos have period pi: reduced to [-pi/2, pi/2] they need no quadrant. Taylor to 1e-18. */
static inline void sine_terms(double angle, double *square, double *product)
{
    double n = (angle * 0.31830988618379067154 + ROUNDER) - ROUNDER;
    double x = ((angle - n * PI_1) - n * PI_2) - n * PI_3;
    double z = x * x;
    double s = 1.0 / 51090942171709440000.0;
    s = s * z - 1.0 / 121645100408832000.0;
    s = s * z + 1.0 / 355687428096000.0;
    s = s * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    double sine = x + x * (z * s);
    double c = 1.0 / 1124000727777607680000.0;
    c = 1.0 / 2432902008176640000.0 - c * z;
    c = c * z - 1.0 / 6402373705728000.0;
    c = c * z + 1.0 / 20922789888000.0;
    c = c * z - 1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    double cosine = 1 - z * (0.5 - z * c);
    *square = 2 * sine * sine;
    *product = 2 * sine * cosine;
}

/* Neumaier's: the rest gathers what each addition drops. */
static void gather(double *sum, double *rest, double x)
{
    double next = *sum + x;

    *rest += fabs(*sum) >= fabs(x) ? (*sum - next) + x : (x - next) + *sum;
    *sum = next;
}

WIDE static sotto_sgm_sums sines_over(double t, const double *half, const double *weight,
                                      const double *linear, size_t count)
{
    double re = 0, re_rest = 0, im = 0, im_rest = 0;

    for (size_t from = 0; from < count; from += 16 * LANES) {
        size_t to = from + 16 * LANES < count ? from + 16 * LANES : count;
        double lane_re[LANES] = {0}, lane_im[LANES] = {0};
        for (size_t j = from; j < to; j += LANES) {
            for (size_t k = 0; k < LANES; k++) {
                double square, product;
                sine_terms(t * half[j + k], &square, &product);
                lane_re[k] -= weight[j + k] * square;
                lane_im[k] += weight[j + k] * product - t * linear[j + k];
            }
        }
        for (size_t k = 0; k < LANES; k++) {
            gather(&re, &re_rest, lane_re[k]);
            gather(&im, &im_rest, lane_im[k]);
        }
    }
    sotto_sgm_sums out = {re + re_rest, im + im_rest};
    return out;
}

/* The clones stay inside this file: a resolver is a symbol that nobody else should see. */
sotto_sgm_sums sotto_sgm_sines(double t, const double *half, const double *weight,
                               const double *linear, size_t count)
{
    return sines_over(t, half, weight, linear, count);
}

/* With y = e^{ia} - 1 and w = e^{-ib} - 1 the next y is y + w + y w: no digits are lost at small angles. */
WIDE static void run_over(sotto_sgm_sums *out, double t, double step, const double *half,
                          const double *weight, const double *linear, size_t count)
{
    double sum[SOTTO_SGM_RUN][4] = {{0}};

    for (size_t from = 0; from < count; from += 16 * LANES) {
        size_t to = from + 16 * LANES < count ? from + 16 * LANES : count;
        double lane_re[SOTTO_SGM_RUN][LANES] = {{0}}, lane_im[SOTTO_SGM_RUN][LANES] = {{0}};
        for (size_t j = from; j < to; j += LANES) {
            double re[LANES], im[LANES], turn_re[LANES], turn_im[LANES];
            for (size_t k = 0; k < LANES; k++) {
                double square, product;
                sine_terms(t * half[j + k], &square, &product);
                re[k] = -square;
                im[k] = product;
                sine_terms(step * half[j + k], &square, &product);
                turn_re[k] = -square;
                turn_im[k] = -product;
            }
            for (size_t i = 0; i < SOTTO_SGM_RUN; i++) {
                double at = t - (double)i * step;
                for (size_t k = 0; k < LANES; k++) {
                    lane_re[i][k] += weight[j + k] * re[k];
                    lane_im[i][k] += weight[j + k] * im[k] - at * linear[j + k];
                    double next = re[k] + turn_re[k] + (re[k] * turn_re[k] - im[k] * turn_im[k]);
                    im[k] += turn_im[k] + (re[k] * turn_im[k] + im[k] * turn_re[k]);
                    re[k] = next;
                }
            }
        }
        for (size_t i = 0; i < SOTTO_SGM_RUN; i++) {
            for (size_t k = 0; k < LANES; k++) {
                gather(&sum[i][0], &sum[i][1], lane_re[i][k]);
                gather(&sum[i][2], &sum[i][3], lane_im[i][k]);
            }
        }
    }
    for (size_t i = 0; i < SOTTO_SGM_RUN; i++)
        out[i] = (sotto_sgm_sums){sum[i][0] + sum[i][1], sum[i][2] + sum[i][3]};
}

void sotto_sgm_sines_run(sotto_sgm_sums *out, double t, double step, const double *half,
                         const double *weight, const double *linear, size_t count)
{
    run_over(out, t, step, half, weight, linear, count);
}
