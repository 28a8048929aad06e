/* account/gauss/discrete_gaussian.h - integer noise with mass proportional to exp(-x^2 / (2 sigma^2)), and sums of it.
 *
 * Callers:  the accountant, for noise that exact samplers draw; aggregate/, for noise that devices share.
 * Theorems: one integer query: delta(eps) = P(X >= j) - e^eps P(X >= j + sensitivity) with the best j, exact
 *            (Canonne, Kamath and Steinke 2020, theorem 7). Vectors: sensitivity^2 / (2 sigma^2) zCDP (theorem 4).
 *            Sums of n: Kairouz, Liu and Steinke 2021, proposition 14.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_DISCRETE_GAUSSIAN_H
#define SOTTO_ACCOUNT_GAUSS_DISCRETE_GAUSSIAN_H

#include "account/numeric/bound.h"

/* Up to here the lattice is summed term by term. Beyond it the sum is enclosed by the integral and its largest
 * term, which is within a / (2.7 sigma) of it (a: deviations into the tail). */
#define SOTTO_LATTICE_SIGMA 16384.0

/* The error terms of log delta, for tests that inflate them one by one. */
enum {
    SOTTO_LATTICE_TERM,     /* each mass and factor of the sum           */
    SOTTO_LATTICE_EXPONENT, /* x^2 / (2 sigma^2)                         */
    SOTTO_LATTICE_EDGE,     /* where terms become positive is rounded    */
    SOTTO_LATTICE_TAIL,     /* what is left when the sum stops           */
    SOTTO_LATTICE_NORM,     /* the normalising sum, and logarithms       */
    SOTTO_LATTICE_TERMS
};

/* log delta at eps: sigma 0.05..1e9, sensitivity an integer 1..1e9 up to 1000 sigma, eps 0..1e6. scale multiplies
 * each error term; NULL is 1 each. */
SOTTO_MUST_USE sotto_status sotto_discrete_gaussian_log_delta(sotto_bound *out, double sigma,
                                                              double sensitivity, double eps,
                                                              const double *scale, sotto_err *err);

/* The smallest epsilon; exactly 0 where delta(0) <= delta. Summed term by term up to sigma 4096. */
SOTTO_MUST_USE sotto_status sotto_discrete_gaussian_epsilon(sotto_bound *out, double sigma,
                                                            double sensitivity, double log_delta,
                                                            sotto_err *err);

/* tau = 10 sum over 0 < k < n of exp(-2 pi^2 sigma^2 k / (k+1)): how far a sum of n discrete Gaussians of sigma
 * each is from a discrete Gaussian. n counts the honest ones. sigma 0.5..1e9 grid units, n 1..2^53. */
SOTTO_MUST_USE sotto_status sotto_discrete_gaussian_sum_tau(sotto_bound *out, double sigma,
                                                            double n, sotto_err *err);

/* What the divergence of a sum of n such vectors depends on, tau (the slow part) within: it is the smaller of
 * alpha square + shift and alpha linear. */
typedef struct sotto_discrete_sum {
    double square, shift, linear;
} sotto_discrete_sum;

SOTTO_MUST_USE sotto_status sotto_discrete_sum_open(sotto_discrete_sum *out, double sigma, double n,
                                                    double dimension, double l1, double l2,
                                                    sotto_err *err);
/* At order alpha >= 1, rounded up. */
double sotto_discrete_sum_divergence(const sotto_discrete_sum *sum, double alpha);

/* Renyi divergence at order alpha > 1 of a sum of n such vectors of `dimension` integers, for queries of the given
 * L1 and L2 sensitivity in grid units after rounding. It is the smallest of the proposition's three forms. low is
 * 0. */
SOTTO_MUST_USE sotto_status sotto_discrete_gaussian_sum_rdp(sotto_bound *out, double sigma,
                                                            double n, double dimension, double l1,
                                                            double l2, double alpha,
                                                            sotto_err *err);

/* sigma that each of n devices must bring so that the honest ones alone reach a total of sigma:
 * sqrt(sigma^2 / floor(honest_fraction n)), rounded up.
 *   SOTTO_DENIED  no honest device is left */
SOTTO_MUST_USE sotto_status sotto_noise_share(double *out, double sigma, double n,
                                              double honest_fraction, sotto_err *err);

#endif
