/* privacy/allocation_course.h - where a tilted line goes: how far Y is cut off, through which c, how long and how fine.
 *
 * A bad choice makes a line dear or wide, never wrong: what it hides is bounded by allocation_tilt.c.
 *
 * Callers:  allocation_tilt.c alone.
 */
#ifndef SOTTO_PRIVACY_ALLOCATION_COURSE_H
#define SOTTO_PRIVACY_ALLOCATION_COURSE_H

#include "privacy/allocation_tilt.h"

/* How long a line through c must be (`end`) and how finely cut (`period`), for what is wanted. e^-cut of the peak is left
 * out; aliases above are bounded by way of c_far. */
typedef struct sotto_course {
    double c, c_far, period, cut, end;
} sotto_course;

/* Also cuts Y off, and leaves rough points and a guess of the answer in the line; near is roughly the answer, or 0.
 *   SOTTO_DENIED  it would take too many points or nodes */
SOTTO_MUST_USE sotto_status sotto_course_choose(sotto_course *out, sotto_tilt *line, double near,
                                                sotto_err *err);

/* From where on all is below e^-cut of the peak, for a line through c; log_whole is log E e^(cZ), rounded down. */
double sotto_course_end(const sotto_tilt *line, double c, double log_whole, double cut);

/* What the lower end may count on of E (Y - 1 - top)+, the part above the heap. */
double sotto_course_sure_above(const sotto_tilt *line, double A);

#endif
