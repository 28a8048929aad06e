/* account/numeric/root.h - where a falling function, known between bounds, meets a target.
 *
 * The answer does not rest on the iteration: both its ends are checked against the function's own bounds.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_ROOT_H
#define SOTTO_ACCOUNT_NUMERIC_ROOT_H

#include "account/numeric/bound.h"

typedef struct sotto_point {
    sotto_bound value;
    double slope; /* may be approximate: it only steers; 0 is unknown */
} sotto_point;

typedef sotto_point (*sotto_curve)(const void *self, double x);

/* Encloses the x > 0 at which the curve falls to target. out->high is at most `high`, where the caller knows that
 * the curve is at or below target. out->low is at least `low` (>= 0), where it is at or above. At most 200
 * evaluations to find it and 24 to check it; ends carry SOTTO_ROOT_PAD, or more where the curve's own bounds are
 * wider. */
void sotto_root_enclose(sotto_bound *out, sotto_curve curve, const void *self, double target,
                        double low, double high);

/* A function of one number that steers a search. */
typedef double (*sotto_reading)(const void *self, double x);

/* Narrows a bracket around the place where gap falls from above 0 to 0 or less, to a relative width: false position (Illinois)
 * with a halving now and then. at_low > 0 >= at_high are readings at its ends, or stand-ins for them. Both ends that come
 * back are the given ones or were evaluated and found on their side. At most 70 evaluations. */
sotto_bound sotto_root_narrow(sotto_reading gap, const void *self, sotto_bound in, double at_low,
                              double at_high, double width);

/* Where f is least between from and to, to an absolute width, by golden section; *least is a value near there. */
double sotto_root_least(sotto_reading f, const void *self, double from, double to, double width,
                        double *least);

#endif
