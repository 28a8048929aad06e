/* account/gauss/rdp.h - from Renyi and zero-concentrated DP to (epsilon, delta).
 *
 * Callers:  filters, and mechanisms whose Renyi divergence is all that is known.
 * Theorem:  D_alpha <= r implies epsilon = r + log((alpha-1)/alpha) - (log delta + log alpha) / (alpha-1), for every
 *            order alpha > 1 (Canonne, Kamath and Steinke 2020, proposition 12). The smallest over the orders looked
 *            at is taken; any order's is true, so a search that stops early is loose, not wrong.
 *
 * Answers are upper bounds: low is 0.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_RDP_H
#define SOTTO_ACCOUNT_GAUSS_RDP_H

#include "account/numeric/bound.h"

#define SOTTO_ORDER_MIN (1 + 1e-6)
#define SOTTO_ORDER_MAX 1e9

/* One order: the theorem above, rounded up, at least 0. alpha within SOTTO_ORDER_*; r 0..1e15 or INFINITY. */
SOTTO_MUST_USE sotto_status sotto_rdp_convert(double *eps, double alpha, double r, double log_delta,
                                              sotto_err *err);

/* The largest r with which order alpha still gives eps, rounded down; negative where there is none. */
SOTTO_MUST_USE sotto_status sotto_rdp_allowance(double *r, double alpha, double eps,
                                                double log_delta, sotto_err *err);

/* A table of orders; *best (NULL is fine) is the one that gave the answer. */
SOTTO_MUST_USE sotto_status sotto_rdp_epsilon(sotto_bound *out, double *best, const double *orders,
                                              const double *r, size_t count, double log_delta,
                                              sotto_err *err);

/* A divergence known at every real order in [from, to], as an upper bound. By golden section over log(alpha - 1), at
 * most 120 evaluations. */
typedef double (*sotto_divergence)(const void *self, double alpha);
SOTTO_MUST_USE sotto_status sotto_rdp_minimise(sotto_bound *out, double *best,
                                               sotto_divergence divergence, const void *self,
                                               double from, double to, double log_delta,
                                               sotto_err *err);

/* rho-zCDP: D_alpha <= rho alpha for every order. rho 0..1e12. */
SOTTO_MUST_USE sotto_status sotto_zcdp_epsilon(sotto_bound *out, double rho, double log_delta,
                                               sotto_err *err);
/* log delta at eps, minimised over orders; at most 0. */
SOTTO_MUST_USE sotto_status sotto_zcdp_log_delta(sotto_bound *out, double rho, double eps,
                                                 sotto_err *err);
/* A rho whose epsilon is at most eps: the largest found, less the pad of a root. high is INFINITY: unknown. */
SOTTO_MUST_USE sotto_status sotto_zcdp_rho(sotto_bound *out, double eps, double log_delta,
                                           sotto_err *err);
/* rho of one pure eps-DP release: eps^2/2 (Bun and Steinke 2016), and of a Gaussian: (sensitivity/sigma)^2/2; both
 * rounded up. */
SOTTO_MUST_USE sotto_status sotto_zcdp_of_pure(double *rho, double eps, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_zcdp_of_gaussian(double *rho, double sigma, double sensitivity,
                                                   sotto_err *err);

#endif
