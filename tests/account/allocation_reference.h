/* allocation_reference.h - E (K - S)+ for the sum S of t lognormals of mean 1, by Laplace inversion in
 * double-doubles: slow, and a second opinion on account/gauss/allocation_contour.h.
 *
 * Y = e^(a w - a^2/2), w standard normal, a = 1/sigma. phi(s) = E e^-sY; then
 *     E (K - S)+ = (1/2 pi) Int e^(sK) phi(s)^t / s^2 dv,  s = c + iv, any c > 0.
 *
 * Error terms. Aliases add. The transform on a line w - i turn/a errs by 2 e^((turn/a + d)^2/2)/(e^(2 pi d/h) - 1) in a strip
 * of half-width d. The rest of the line is bounded by where |phi| is small for good. Rounding is t (1e-30 + the transform's
 * error), relative, of the sum of absolute values.
 */
#ifndef SOTTO_TESTS_ALLOCATION_LINE_H
#define SOTTO_TESTS_ALLOCATION_LINE_H

#include "account/gauss/allocation.h"
#include "allocation_dd.h"

#define SOTTO_LINE_POINTS 1024
#define SOTTO_LINE_NODES  6000

/* phi by the trapezoid rule on a line of w shifted by -i turn/a, where the integrand is analytic and bounded in a
 * strip. There is one table of weights for each of two turns. */
typedef struct sotto_lognormal {
    double a;
    size_t points, stride; /* values[j + stride] = 2 values[j]; stride is a multiple of 4 */
    double error;          /* absolute, of phi */
    double turns[2];       /* the second from angle 0.8 on; equal where one is enough */
    cdd unturn[2];         /* e^-i turn */
    cdd weights[2][SOTTO_LINE_POINTS];
    cdd rest[2][SOTTO_LINE_POINTS]; /* weights[j] + weights[j + stride] + ... */
    dd values[SOTTO_LINE_POINTS];
} sotto_lognormal;

/* precision: phi is wanted to e^-precision. SOTTO_DENIED where that takes too many points. */
SOTTO_MUST_USE sotto_status sotto_lognormal_open(sotto_lognormal *y, double sigma, double precision,
                                                 sotto_err *err);

/* phi(c + iv) - 1; v >= 0. */
cdd sotto_lognormal_transform(const sotto_lognormal *y, double c, dd v);

/* The same roughly: an upper bound on |phi(c + iv)|, in doubles. */
double sotto_lognormal_size(const sotto_lognormal *y, double c, double v);

/* log phi(c) + c to 1e-12 or so, c > 0. */
double sotto_lognormal_cumulant(const sotto_lognormal *y, double c);

/* The line, tabulated for one c and step. */
typedef struct sotto_line {
    double t, c, step;
    size_t nodes;
    double cut;                   /* bound on what is left out of sum |value|         */
    double size;                  /* sum of |value|                                   */
    double rough;                 /* relative error of a value: transform and rounding */
    cdd values[SOTTO_LINE_NODES]; /* (phi e^s)^t / s^2 */
} sotto_line;

/* work: how many points times nodes may be evaluated. SOTTO_DENIED where that is not enough. */
SOTTO_MUST_USE sotto_status sotto_line_tabulate(sotto_line *line, const sotto_lognormal *y,
                                                double t, double c, double period, double precision,
                                                double work,
                                                const sotto_allocation_inflate *inflate,
                                                sotto_err *err);

/* E (K - S)+ with K = t + above, and the error of that; the trapezoid rule's own error only adds. */
dd sotto_line_put(const sotto_line *line, dd above, double *error);

#endif
