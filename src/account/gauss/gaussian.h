/* account/gauss/gaussian.h - the Gaussian mechanism, exactly: epsilon, delta and sigma of one another.
 *
 * Callers:  the accountant's questions without amplification; bounds that mix Gaussians.
 * Adjacency: whatever `sensitivity` is the L2 sensitivity of. For one-hot data that is 1 for add/remove and
 *            sqrt(2) for replacement.
 * Theorem:  delta(eps) = Q(eps/mu - mu/2) - e^eps Q(eps/mu + mu/2), mu = sensitivity sqrt(releases) / sigma
 *            (Balle and Wang 2018, theorem 8); it is attained, so low and high enclose the optimum.
 *
 * Deltas are logarithms. Every refusal is SOTTO_MALFORMED and names the parameter.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_GAUSSIAN_H
#define SOTTO_ACCOUNT_GAUSS_GAUSSIAN_H

#include "account/numeric/bound.h"

/* The error terms of log delta, for tests that inflate them one by one. */
enum {
    SOTTO_GAUSSIAN_DROP,     /* the difference of two Mills ratios     */
    SOTTO_GAUSSIAN_EXPONENT, /* the square in the density              */
    SOTTO_GAUSSIAN_QUOTIENT, /* eps / mu is rounded before it is used  */
    SOTTO_GAUSSIAN_LOG,      /* logarithms and their sum               */
    SOTTO_GAUSSIAN_TERMS
};

/* log delta at epsilon for one release with sensitivity / sigma = mu, both taken as exact. eps >= 0 and mu > 0 are
 * the caller's to check. scale multiplies each error term; NULL is 1 each. */
sotto_bound sotto_gaussian_curve(double eps, double mu, const double *scale);
/* Derivatives of the above in eps and in log mu, to steer searches by. */
double sotto_gaussian_slope_eps(double eps, double mu, double log_delta);
double sotto_gaussian_slope_mu(double eps, double mu, double log_delta);

/* mu for so many releases, enclosed. sigma and sensitivity 1e-100..1e100, releases 1..1e18, mu 1e-150..1e7. */
SOTTO_MUST_USE sotto_status sotto_gaussian_mu(sotto_bound *out, double sigma, double sensitivity,
                                              double releases, sotto_err *err);

/* The smallest epsilon; exactly 0 where delta(0) <= delta. */
SOTTO_MUST_USE sotto_status sotto_gaussian_epsilon(sotto_bound *out, double sigma,
                                                   double sensitivity, double releases,
                                                   double log_delta, sotto_err *err);

/* log delta; epsilon 0..1e15. */
SOTTO_MUST_USE sotto_status sotto_gaussian_log_delta(sotto_bound *out, double sigma,
                                                     double sensitivity, double releases,
                                                     double eps, sotto_err *err);

/* The smallest sigma. */
SOTTO_MUST_USE sotto_status sotto_gaussian_sigma(sotto_bound *out, double eps, double log_delta,
                                                 double sensitivity, double releases,
                                                 sotto_err *err);

/* sqrt(2 log(1.25/delta)) sensitivity / sigma, the textbook's form. Only an upper bound: low is 0.
 *   SOTTO_DENIED  it exceeds 1, where its proof ends */
SOTTO_MUST_USE sotto_status sotto_gaussian_classical_epsilon(sotto_bound *out, double sigma,
                                                             double sensitivity, double log_delta,
                                                             sotto_err *err);

/* A device that takes part in each of `rounds` rounds with probability rate, where everybody sees in which:
 * delta(eps) is the mean of the Gaussian's over Bin(rounds, rate) releases.
 *   SOTTO_DENIED  the count's standard deviation is above 1000 */
SOTTO_MUST_USE sotto_status sotto_gaussian_counted_epsilon(sotto_bound *out, double sigma,
                                                           double sensitivity, double rate,
                                                           double rounds, double log_delta,
                                                           sotto_err *err);

/* What the evaluation may be wrong by, multiplied; all 1 in use. Tests move each and see `high` move. */
typedef struct sotto_counted_inflate {
    double term;     /* the masses and deltas of single counts */
    double rest;     /* counts beyond the last that is looked at */
    double rounding; /* of the sum */
} sotto_counted_inflate;

SOTTO_MUST_USE sotto_status sotto_gaussian_counted_epsilon_inflated(
    sotto_bound *out, double sigma, double sensitivity, double rate, double rounds,
    double log_delta, const sotto_counted_inflate *inflate, sotto_err *err);

/* log(1 + rate (e^eps - 1)): epsilon of an (eps, delta) release of a secret Poisson sample, whose delta becomes
 * rate delta. eps 0..1e15 comes with its own bounds; only claimed by trust models that hide who takes part. */
SOTTO_MUST_USE sotto_status sotto_sampled_epsilon(sotto_bound *out, sotto_bound eps, double rate,
                                                  sotto_err *err);

#endif
