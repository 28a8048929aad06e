/* privacy/sgm_sines.h - the inner loop of the quadrature: sines of many angles at once.
 *
 * Callers:  privacy/sgm_law.c.
 */
#ifndef SOTTO_PRIVACY_SGM_SINES_H
#define SOTTO_PRIVACY_SGM_SINES_H

#include <stddef.h>

/* Arrays are padded with zeros to a multiple of this. */
#define SOTTO_SGM_LANES 8

typedef struct sotto_sgm_sums {
    double re; /* -sum of weight * 2 sin(t half)^2                  */
    double im; /*  sum of weight * sin(2 t half) - t * linear       */
} sotto_sgm_sums;

/* |t half[j]| must stay below 2^20. Each term is within 4 units in the last place, a sum of n terms within
 * 24 + n / 2^20 roundings of the sum of their sizes. */
sotto_sgm_sums sotto_sgm_sines(double t, const double *half, const double *weight,
                               const double *linear, size_t count);

/* The same at t, t - step, ..., into SOTTO_SGM_RUN sums: two sines a point, then rotations. A term's angle errs by at
 * most 116 roundings of (t + step) |2 half|, or of 4 where that is more. */
#define SOTTO_SGM_RUN 8
void sotto_sgm_sines_run(sotto_sgm_sums *out, double t, double step, const double *half,
                         const double *weight, const double *linear, size_t count);

#endif
