/* privacy/special_root.h - where a falling function, known between bounds, meets a target.
 *
 * The answer does not rest on the iteration: both its ends are checked against the function's own bounds.
 */
#ifndef SOTTO_PRIVACY_SPECIAL_ROOT_H
#define SOTTO_PRIVACY_SPECIAL_ROOT_H

#include "privacy/bound.h"

typedef struct sotto_point {
    sotto_bound value;
    double slope; /* may be approximate: it only steers; 0 is unknown */
} sotto_point;

typedef sotto_point (*sotto_curve)(const void *self, double x);

/* Encloses the x > 0 at which the curve falls to target: out->high is at most `high`, where the caller knows
 * that the curve is at or below target, and out->low at least `low` (>= 0), where it is at or above.
 * At most 200 evaluations to find it and 24 to check it; ends carry SOTTO_ROOT_PAD, or more where the curve's own
 * bounds are wider. */
void sotto_root_enclose(sotto_bound *out, sotto_curve curve, const void *self, double target,
                        double low, double high);

#endif
