/* account/local/compose_pure.h - many releases, each pure (or nearly pure) epsilon-DP.
 *
 * Callers:  the accountant; check-ins and donation times, which reduce to it.
 * Adjacency: that of the single release.
 *
 * sotto_compose_optimal is what no analysis can beat for T equal epsilons fixed beforehand. For epsilons chosen as
 * one goes, see filter.h.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_COMPOSE_PURE_H
#define SOTTO_ACCOUNT_LOCAL_COMPOSE_PURE_H

#include "account/numeric/bound.h"

#define SOTTO_COMPOSE_T_MAX 1e9

/* The error terms of log delta, for tests that inflate them one by one. */
enum {
    SOTTO_COMPOSE_MASS, /* the binomial mass at the edge        */
    SOTTO_COMPOSE_SUM,  /* the sum of the masses beyond it      */
    SOTTO_COMPOSE_EDGE, /* epsilon minus the loss at the edge   */
    SOTTO_COMPOSE_TAIL, /* what is left when the sum stops      */
    SOTTO_COMPOSE_TERMS
};

/* log delta of T-fold randomized response at eps_total, the worst T-fold eps-DP (Kairouz, Oh and Viswanath 2015,
 * theorem 3.3, at every real eps_total): eps 1e-9..100, T 1..1e9, eps_total 0..T eps. -INFINITY at T eps. */
SOTTO_MUST_USE sotto_status sotto_compose_optimal_log_delta(sotto_bound *out, double eps, double T,
                                                            double eps_total, const double *scale,
                                                            sotto_err *err);

/* The smallest eps_total for delta; exactly 0 where delta(0) <= delta, never above T eps. */
SOTTO_MUST_USE sotto_status sotto_compose_optimal_epsilon(sotto_bound *out, double eps, double T,
                                                          double log_delta, sotto_err *err);

typedef enum sotto_advanced {
    SOTTO_ADVANCED_DRV,  /* eps sqrt(2 T L) + T eps (e^eps - 1) (Dwork, Rothblum and Vadhan 2010) */
    SOTTO_ADVANCED_ZCDP, /* eps sqrt(2 T L) + T eps^2 / 2, L = log(1/delta) (Bun and Steinke 2016) */
} sotto_advanced;

/* T-fold composition of (eps, delta_each), for delta = *total_delta = T delta_each + e^log_delta (rounded up; NULL is
 * fine). The theorem's own value, not capped at T eps; low is 0. eps 0..700, T 1..1e18, delta_each 0..1.
 *   SOTTO_DENIED  the total delta reaches 1: nothing is promised */
SOTTO_MUST_USE sotto_status sotto_compose_advanced(sotto_bound *out, double *total_delta,
                                                   sotto_advanced form, double eps,
                                                   double delta_each, double T, double log_delta,
                                                   sotto_err *err);

/* Randomised donation time: (eps, delta)-DP rounds, each joined with probability 1/m, by the second form above over
 * m rounds of log(1 + (e^eps - 1)/m); total delta (m + 1) delta. The formula's own value: for small m it exceeds eps.
 * Valid only for a device that takes part once, and an aggregator that releases no round longer than a slot. */
SOTTO_MUST_USE sotto_status sotto_donation_formula(sotto_bound *out, double *total_delta,
                                                   double eps, double m, double log_delta,
                                                   sotto_err *err);

/* What may be claimed: the smaller of the above and eps itself. */
SOTTO_MUST_USE sotto_status sotto_donation_epsilon(sotto_bound *out, double *total_delta,
                                                   double eps, double m, double log_delta,
                                                   sotto_err *err);

#endif
