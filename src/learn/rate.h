/* learn/rate.h - steps for convex losses as theorems have them: their length, a model that stays in a ball, and the mean of all models.
 *
 * Callers:  the simulator; tests.
 * Memory:   the caller's.
 * Secrets:  none: all of it is computed from what was released.
 *
 * Balle et al. 2020, Theorems 3.5 and 4.2, for a loss that is convex and L-Lipschitz on a space of diameter R and dimension p. Where a
 * step averages several reports, their noise has the variance of the mean: as Theorem 4.2 has it, and for the batches of A_fix too.
 */
#ifndef SOTTO_LEARN_RATE_H
#define SOTTO_LEARN_RATE_H

#include "sotto/base.h"

typedef enum sotto_rate_law {
    SOTTO_RATE_FIX = 1, /* Theorem 3.5: R (1 - 2 e^(-n p0 / m)) / sqrt((p v + L^2) i)         */
    SOTTO_RATE_AVG,     /* Theorem 4.2: R sqrt(n) / sqrt((m p s^2 + n L^2) i), as v = m s^2 / n */
    SOTTO_RATE_AVG_SMOOTH /* Theorem 4.2 for a smooth loss: R sqrt(n) / (b R sqrt(n) + m sqrt(L^2 + p s^2)) */
} sotto_rate_law;

typedef struct sotto_rate {
    sotto_rate_law law;
    double diameter;  /* R                                                   */
    double lipschitz; /* L                                                   */
    double dimension; /* p                                                   */
    double variance;  /* v: of the noise on each number of a step's mean     */
    double devices;   /* n                                                   */
    double slots;     /* m                                                   */
    double chance;    /* p0, Theorem 3.5                                     */
    double smooth;    /* b: of a smooth loss                                 */
} sotto_rate;

/* SOTTO_DENIED names a number out of its range; or so few check in that Theorem 3.5 has no rate above 0. */
SOTTO_MUST_USE sotto_status sotto_rate_check(const sotto_rate *rate, sotto_err *err);
/* Of step i, from 1 on. */
double sotto_rate_of(const sotto_rate *rate, uint64_t step);

/* The nearest model of the ball of this diameter around 0. */
void sotto_rate_project(float *weights, size_t count, double diameter);
/* mean, of the first step - 1 models, becomes that of the first `step`. */
void sotto_rate_average(double *mean, const float *weights, size_t count, uint64_t step);

#endif
