/* account/gauss/sgm_law.h - the privacy loss of one round of the Poisson-subsampled Gaussian.
 *
 * A record takes part with probability q; the sum of norm <= 1 gets noise of deviation sigma. With
 * r(x) = 1 + q (exp((2x-1)/(2 sigma^2)) - 1) the loss is log r under the mixture (a record is removed)
 * or -log r under the plain Gaussian (added). Its moment generating function is
 *     M(s) = E r(X)^(s+1)  or  E r(X)^-s,   X ~ N(0, sigma^2),
 * taken over low <= x <= high only: what lies outside has probability `lost`, which the caller adds to
 * delta. The cut keeps rare huge losses, which delta will never see, from drowning the transform.
 * A capped law (remove only) keeps what lies right of `high` as far as it can: as a point at the loss of
 * `high`. The point has the same probability under the plain Gaussian. Only what is above that is lost.
 * Every error is bounded (docs/decisions/0012).
 *
 * Callers:  privacy/sgm*.c, account/gauss/pld.c.
 * Memory:   the caller's arrays.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_LAW_H
#define SOTTO_ACCOUNT_GAUSS_SGM_LAW_H

#include "account/numeric/bound.h"
#include "account/numeric/scratch.h"

typedef struct sotto_sgm_law {
    double q;
    double sigma;
    bool add;
    double low;
    double high;
    double lost; /* from above */
    bool capped;
    double beyond; /* what the cap makes infinite, from below    */
    double above;  /* probability right of the cap, from above   */
} sotto_sgm_law;

/* level: log of about the probability that may be lost. */
sotto_sgm_law sotto_sgm_law_cut(double q, double sigma, bool add, double level);

/* Gathers all losses above `loss` >= 0 in the losses `loss` and infinity. Nothing changes where the law ends
 * before. */
void sotto_sgm_law_cap(sotto_sgm_law *law, double loss);
/* Weight of the point at `high` under the plain Gaussian, and its relative error. */
double sotto_sgm_cap_weight(const sotto_sgm_law *law, double *error);
/* The integral of r - r(high) right of `high` and its absolute error. */
double sotto_sgm_cap_excess(const sotto_sgm_law *law, double *error);

/* (2x-1)/(2 sigma^2) and log r at x. */
double sotto_sgm_tilt(const sotto_sgm_law *law, double x);
double sotto_sgm_log_ratio(const sotto_sgm_law *law, double x);
/* Log of the density of N(0, sigma^2). */
double sotto_sgm_log_density(const sotto_sgm_law *law, double x);
/* Of r on the real axis: c + 1, or -c. */
static inline double sotto_sgm_power(const sotto_sgm_law *law, double c)
{
    return law->add ? -c : c + 1;
}

/* log M(c), c > 0, within *error (absolute). */
double sotto_sgm_cumulant(const sotto_sgm_law *law, double c, double *error);

/* The same for many c, on one set of points: best near the c it was made for, true for all.
 * NULL without memory or where too many points are needed. */
typedef struct sotto_sgm_real sotto_sgm_real;
SOTTO_MUST_USE sotto_sgm_real *sotto_sgm_real_new(const sotto_sgm_law *law, double c);
void sotto_sgm_real_free(sotto_sgm_real *real);
double sotto_sgm_real_cumulant(sotto_sgm_real *real, const sotto_sgm_law *law, double c,
                               double *error);

/* The same of the whole law, nothing lost: for Renyi divergences. INFINITY where that takes too long. */
double sotto_sgm_whole_cumulant(const sotto_sgm_law *law, double c, double *error);

/* M(c + i k step) for k < nodes as log-modulus, phase and relative error. False without memory,
 * or where that takes too long. */
SOTTO_MUST_USE bool sotto_sgm_line(const sotto_sgm_law *law, double c, double step, size_t nodes,
                                   double *log_modulus, double *phase, double *error,
                                   sotto_scratch *work);

/* About how many points the quadrature of frequency t takes. */
double sotto_sgm_line_points(const sotto_sgm_law *law, double t);

#endif
