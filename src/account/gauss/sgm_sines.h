/* account/gauss/sgm_sines.h - the inner loop of the quadrature: sines of many angles at once.
 *
 * Callers:  account/gauss/sgm_law.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_SINES_H
#define SOTTO_ACCOUNT_GAUSS_SGM_SINES_H

#include <stddef.h>

/* Arrays are padded with zeros to a multiple of this. */
#define SOTTO_SGM_LANES 16

typedef struct sotto_sgm_sums {
    double re; /* -sum of weight * 2 sin(t half)^2                  */
    double im; /*  sum of weight * sin(2 t half) - t * linear       */
} sotto_sgm_sums;

/* |t half[j]| must stay below 2^20. Each term is within 4 units in the last place, a sum of n terms within
 * 31 + n / 2^20 roundings of the sum of their sizes. */
sotto_sgm_sums sotto_sgm_sines(double t, const double *half, const double *weight,
                               const double *linear, size_t count);

/* The same at SOTTO_SGM_RUN neighbours; t is the middle one and the first of `out` the highest. It takes one sine a
 * point, then sums of products with the turns by 1, 2, ... steps that sotto_sgm_turns made. A term's angle errs by at
 * most 250 roundings of (|t| + SOTTO_SGM_REACH step) |2 half|, or of 4 where that is more; the sum's own are among
 * them. */
#define SOTTO_SGM_REACH 12
#define SOTTO_SGM_RUN   (2 * SOTTO_SGM_REACH + 1)
/* turns: 2 SOTTO_SGM_REACH arrays of `count`: cos - 1 and sin of one step's angle, of two steps', ... */
void sotto_sgm_turns(double *turns, double step, const double *half, size_t count);
typedef struct sotto_sgm_points {
    const double *half, *weight, *linear;
    const double *turns; /* of these points; the arrays lie `stride` apart */
    size_t stride;
    size_t count;
} sotto_sgm_points;
void sotto_sgm_sines_run(sotto_sgm_sums *out, double t, double step, const sotto_sgm_points *at);

#endif
