/* account/gauss/allocation_convolution.h - one slot of t where no line ends in time: few slots, or little noise.
 *
 * The sum of t lognormals, each replaced by a law on a grid that is larger in the convex order. Masses are split between
 * neighbours so that means are kept, again after every addition. E (S - K)+ can only grow by that, and all terms are
 * positive. docs/decisions/0013, "grid".
 *
 * Callers:  allocation.c alone.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_CONVOLUTION_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_CONVOLUTION_H

#include "account/gauss/allocation.h"

/* What removing a person costs, enclosed, and what adding one costs at most; neither above cap. a is 1/sigma, t >= 2.
 * Of inflate `cut` and `rounding` count. Removal is looked at first, and no sum is made where a formula says that it would
 * not come below cap. What its sum says of adding is in *add; elsewhere that sum is fine enough. */
void sotto_convolution_remove(sotto_bound *remove, double *add, double a, double t,
                              double log_delta, double cap,
                              const sotto_allocation_inflate *inflate);
double sotto_convolution_add(double a, double t, double log_delta, double cap,
                             const sotto_allocation_inflate *inflate);

/* Whether adding a person certainly costs no more than eps, by Chernoff's bound alone: where it costs much less, a hundredth
 * of the work. */
bool sotto_convolution_adds_less(double a, double t, double log_delta, double eps,
                                 const sotto_allocation_inflate *inflate);

/* About what sotto_convolution_remove says, where one large term decides: to 1e-4 or so, by a formula. */
double sotto_convolution_rough(double a, double t, double log_delta, double cap);

#endif
