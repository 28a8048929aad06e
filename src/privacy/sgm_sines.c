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
        double lane_re[8] = {0}, lane_im[8] = {0};
        for (size_t j = from; j < to; j += 8) {
            for (size_t k = 0; k < 8; k++) {
                double square, product;
                sine_terms(t * half[j + k], &square, &product);
                lane_re[k] -= weight[j + k] * square;
                lane_im[k] += weight[j + k] * product - t * linear[j + k];
            }
        }
        for (size_t k = 0; k < 8; k++) {
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

void sotto_sgm_turns(double *turn_re, double *turn_im, double step, const double *half,
                     size_t count)
{
    for (size_t j = 0; j < count; j++) {
        double square, product;
        sine_terms(step * half[j], &square, &product);
        turn_re[j] = -square;
        turn_im[j] = -product;
    }
}

/* Eight points on their way down from t: y = e^{ia} - 1 and the turn w = e^{-ib} - 1. The next y is
 * y + w + y w: no digits are lost at small angles. */
typedef struct eight {
    double re[8], im[8];
} eight;

static inline void begin(eight *y, double t, const double *half)
{
    for (size_t k = 0; k < 8; k++) {
        double square, product;
        sine_terms(t * half[k], &square, &product);
        y->re[k] = -square;
        y->im[k] = product;
    }
}

/* Adds y into the sums and turns it. */
static inline void advance(eight *y, eight *sum, double t, const sotto_sgm_points *at, size_t j)
{
    for (size_t k = 0; k < 8; k++) {
        double w_re = at->turn_re[j + k], w_im = at->turn_im[j + k], re = y->re[k], im = y->im[k];
        sum->re[k] += at->weight[j + k] * re;
        sum->im[k] += at->weight[j + k] * im - t * at->linear[j + k];
        y->re[k] = (re + w_re) + (re * w_re - im * w_im);
        y->im[k] = (im + w_im) + (re * w_im + im * w_re);
    }
}

WIDE static void run_over(sotto_sgm_sums *out, double t, double step, const sotto_sgm_points *at)
{
    double sum[SOTTO_SGM_RUN][4] = {{0}};

    for (size_t from = 0; from < at->count; from += 16 * LANES) {
        size_t to = from + 16 * LANES < at->count ? from + 16 * LANES : at->count;
        eight lanes[SOTTO_SGM_RUN] = {0};
        /* Two at a time: a turn must wait for the one before, another group's need not. */
        for (size_t j = from; j < to; j += LANES) {
            eight a, b;
            begin(&a, t, at->half + j);
            begin(&b, t, at->half + j + 8);
            for (size_t i = 0; i < SOTTO_SGM_RUN; i++) {
                advance(&a, &lanes[i], t - (double)i * step, at, j);
                advance(&b, &lanes[i], t - (double)i * step, at, j + 8);
            }
        }
        for (size_t i = 0; i < SOTTO_SGM_RUN; i++) {
            for (size_t k = 0; k < 8; k++) {
                gather(&sum[i][0], &sum[i][1], lanes[i].re[k]);
                gather(&sum[i][2], &sum[i][3], lanes[i].im[k]);
            }
        }
    }
    for (size_t i = 0; i < SOTTO_SGM_RUN; i++)
        out[i] = (sotto_sgm_sums){sum[i][0] + sum[i][1], sum[i][2] + sum[i][3]};
}

void sotto_sgm_sines_run(sotto_sgm_sums *out, double t, double step, const sotto_sgm_points *at)
{
    run_over(out, t, step, at);
}
