/* account/local/laplace.h - Laplace noise, and geometric noise (Laplace on the integers), on a sum.
 *
 * Callers:  the accountant; checkin_groups.c, which composes releases.
 * Theorem:  noise of density e^(-|x|/b)/2b on every entry hides a move of the sum by D in the L1 norm with epsilon D/b (Dwork,
 *           McSherry, Nissim and Smith 2006). The pair that dominates is the move of a single entry by D, for vectors too
 *           (docs/decisions/0066). So its law is exact: losses in [-eps, eps], eps itself with probability 1/2. Integer noise
 *           of weights e^(-|x|/b) (Ghosh, Roughgarden and Sundararajan 2009) has d + 1 losses (d - 2j)/b for a move by d.
 *
 * A law is given by eps and `steps`: the integer d, or SOTTO_LAPLACE_STEPS for noise on the real line. One step is
 * randomized response.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_LAPLACE_H
#define SOTTO_ACCOUNT_LOCAL_LAPLACE_H

#include "account/numeric/bound.h"

#define SOTTO_LAPLACE_STEPS INFINITY

/* delta of one release at eps_total, from 0 to eps: log delta, -INFINITY at eps. eps 1e-9..100, steps whole, 1..1e9. */
SOTTO_MUST_USE sotto_status sotto_laplace_log_delta(sotto_bound *out, double eps, double steps,
                                                    double eps_total, sotto_err *err);

/* The smallest epsilon of one release for delta; exactly 0 where delta(0) <= delta. */
SOTTO_MUST_USE sotto_status sotto_laplace_epsilon(sotto_bound *out, double eps, double steps,
                                                  double log_delta, sotto_err *err);

/* E e^(sL) of one release is N(w)/N(1/2), w = s + 1/2, where N(w) is cosh(eps w) + sinh(eps w)/2w. For d steps of size u,
 * eps = d u, N(w) is 2 cosh(eps w) + (1 - e^-u) sinh((eps - u) w)/sinh(u w). Here its logarithm for w > 0, and what that may
 * be wrong by. */
double sotto_laplace_log_transform(double eps, double steps, double w, double *off);

/* N(w + it)/N(w): logarithm of the size, and the angle; either may be wrong by *off. */
void sotto_laplace_turn(double *size, double *angle, double *off, double eps, double steps,
                        double w, double t);

#endif
