/* account/local/compose_mixed.h - pure releases of any epsilons, Laplace noise and a Gaussian release, composed optimally.
 *
 * Callers:  the accountant, for mechanisms of different kinds on the same people.
 * Theorem:  an eps-DP release is dominated by randomized response (Kairouz, Oh and Viswanath 2015), a Gaussian one by the
 *           shift of a normal law. A fixed sequence of such releases is dominated by the product of those pairs. An (eps,
 *           delta)-DP release is one that is eps-DP but for an event of probability delta, which adds to delta.
 * Method:   that of checkin_compose.c: docs/decisions/0013, "optimum of the proof".
 */
#ifndef SOTTO_ACCOUNT_LOCAL_COMPOSE_MIXED_H
#define SOTTO_ACCOUNT_LOCAL_COMPOSE_MIXED_H

#include "account/numeric/bound.h"

/* `count` releases, each eps-DP; eps 1e-9..100, count a whole number up to 1e12. steps: 0 for any release, otherwise one by
 * Laplace or geometric noise (laplace.h), and count up to 1e9. */
typedef struct sotto_binary_part {
    double eps, count;
    double steps;
} sotto_binary_part;

#define SOTTO_MIXED_MOST 64

/* The smallest epsilon of all of them together, with a Gaussian release of sensitivity / sigma = mu (0: none), mu^2 up to
 * 1e12. 1 to SOTTO_MIXED_MOST parts. */
SOTTO_MUST_USE sotto_status sotto_compose_mixed_epsilon(sotto_bound *out,
                                                        const sotto_binary_part *parts,
                                                        size_t kinds, double mu_squared,
                                                        double log_delta, sotto_err *err);

#endif
