/* privacy/allocation_guess.h - one slot of t by formulas: to steer by, never to promise.
 *
 * Callers:  allocation.c and allocation_grid.c.
 */
#ifndef SOTTO_PRIVACY_ALLOCATION_GUESS_H
#define SOTTO_PRIVACY_ALLOCATION_GUESS_H

/* About the delta that removing a person has at eps; a is 1/sigma. One term decides, the others are at their mean but for
 * their variance, as far as they are not such terms themselves, and `more`: a little variance v moves E (Y - k)+ by v/2 times
 * the density at k. And a normal sum, where that is more. */
double sotto_allocation_about(double a, double t, double eps, double more);

#endif
