/* account/gauss/allocation_approximation.h - one slot of t by formulas: to steer by, never to promise.
 *
 * Callers:  allocation.c and allocation_convolution.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_APPROXIMATION_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_APPROXIMATION_H

/* About the delta that removing a person has at eps; a is 1/sigma. One term decides; the others are at their mean but for
 * their variance, as far as they are not such terms themselves, and `more`. A little variance v moves E (Y - k)+ by v/2 times
 * the density at k. And a normal sum, where that is more. */
double sotto_allocation_approximate_delta(double a, double t, double eps, double more);

#endif
