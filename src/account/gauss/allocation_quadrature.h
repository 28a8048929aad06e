/* account/gauss/allocation_quadrature.h - a lognormal that is cut off, as points and weights; its transform on the real line.
 *
 * Callers:  allocation_contour_plan.c and allocation_contour.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_QUADRATURE_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_QUADRATURE_H

#include "account/gauss/allocation_contour.h"

/* The heap's weight is a tail of the normal law, good to so many u; so is its part of the mean. */
#define SOTTO_ALLOCATION_ATOM_ERROR 1024

/* Points for Re s = c and |Im s| <= v, in panels that are each good to `enough`; *error is the sum of what they may be off
 * by. False if there are too many. */
SOTTO_MUST_USE bool sotto_allocation_quadrature_place(sotto_allocation_contour *line, double c,
                                                      double v, double enough, double *error);

/* E e^(cZ) - 1, and its second derivative. */
double sotto_allocation_mgf(const sotto_allocation_contour *line, double c, double *second);

/* What rounding may do to it. */
double sotto_allocation_mgf_error(const sotto_allocation_contour *line, double c);

#endif
