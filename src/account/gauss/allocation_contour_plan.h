/* account/gauss/allocation_contour_plan.h - where a tilted line goes: how far Y is cut off, through which c, how long and how fine.
 *
 * A bad choice makes a line dear or wide, never wrong: what it hides is bounded by allocation_contour.c.
 *
 * Callers:  allocation_contour.c alone.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_CONTOUR_PLAN_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_CONTOUR_PLAN_H

#include "account/gauss/allocation_contour.h"

/* How long a line through c must be (`end`) and how finely cut (`period`), for what is wanted. e^-cut of the peak is left
 * out; aliases above are bounded by way of c_far. */
typedef struct sotto_contour_plan {
    double c, c_far, period, cut, end;
} sotto_contour_plan;

/* Also cuts Y off, and leaves rough points and a guess of the answer in the line; near is roughly the answer, or 0.
 *   SOTTO_DENIED  it would take too many points or nodes */
SOTTO_MUST_USE sotto_status sotto_contour_plan_choose(sotto_contour_plan *out,
                                                      sotto_allocation_contour *line, double near,
                                                      sotto_err *err);

/* From where on all is below e^-cut of the peak, for a line through c; log_whole is log E e^(cZ), rounded down. */
double sotto_contour_plan_truncation(const sotto_allocation_contour *line, double c,
                                     double log_whole, double cut);

/* What the lower end may count on of E (Y - 1 - top)+, the part above the heap. */
double sotto_contour_plan_sure_above(const sotto_allocation_contour *line, double A);

#endif
