/* privacy/allocation_points.h - a lognormal that is cut off, as points and weights; its transform on the real line.
 *
 * Callers:  allocation_course.c and allocation_tilt.c.
 */
#ifndef SOTTO_PRIVACY_ALLOCATION_POINTS_H
#define SOTTO_PRIVACY_ALLOCATION_POINTS_H

#include "privacy/allocation_tilt.h"

/* The heap's weight is a tail of the normal law, good to so many u; so is its part of the mean. */
#define SOTTO_TILT_HEAP_OFF 1024

/* Points for Re s = c and |Im s| <= v, in panels that are each good to `enough`; *error is the sum of what they may be off
 * by. False if there are too many. */
SOTTO_MUST_USE bool sotto_tilt_lay(sotto_tilt *line, double c, double v, double enough,
                                   double *error);

/* E e^(cZ) - 1, and its second derivative. */
double sotto_tilt_real(const sotto_tilt *line, double c, double *second);

/* What rounding may do to it. */
double sotto_tilt_real_off(const sotto_tilt *line, double c);

#endif
