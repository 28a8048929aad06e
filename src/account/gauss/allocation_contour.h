/* account/gauss/allocation_contour.h - E (S - K)+ and E (K - S)+ for the sum S of t lognormals of mean 1, where doubles do.
 *
 * Z = +-(Y - 1), Y = e^(a w - a^2/2), w standard normal, with Z = 0 in place of what lies beyond -under <= w <= over.
 * Then E e^(sZ) exists on the whole right half plane. With c through the saddle,
 *     E (Z_1 + ... + Z_t - A)+ = (1/2 pi) Int e^(-sA) (E e^(sZ))^t / s^2 dv,  s = c + iv
 * is a sum of numbers of the answer's own size. docs/decisions/0013, "tilted line".
 *
 * Callers:  allocation.c alone.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_CONTOUR_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_CONTOUR_H

#include "account/gauss/allocation.h"

#define SOTTO_ALLOCATION_POINTS 4608
#define SOTTO_ALLOCATION_NODES  4096

/* e^-margin of the answer, roughly, may be hidden by each of: the end of the line, aliases, what lies above the heap. A step
 * less where a line would take too much. */
#define SOTTO_ALLOCATION_MARGIN_MOST  21.0
#define SOTTO_ALLOCATION_MARGIN_LEAST 10.0
#define SOTTO_ALLOCATION_MARGIN_STEP  5.5

typedef struct sotto_allocation_contour {
    double a, t, sign; /* sign +1: a person removed, K above the mean; -1: added */
    double log_delta;
    double over, under;       /* where Y is cut off                            */
    double gap_high, gap_low; /* E (Z - cut Z)+ and E (cut Z - Z)+             */
    double mean;              /* E of the cut Z: tiny                          */
    double beyond;            /* probability of being cut off                  */
    double top, heap;         /* removal: Z = top above `over`, of probability heap */
    double above, more;       /* E Y 1(above over), E (Y - 1 - top)+           */
    double square;            /* E Z^2 of the cut Z, from above                */
    double work, margin;
    size_t points;
    double z[SOTTO_ALLOCATION_POINTS], weight[SOTTO_ALLOCATION_POINTS];

    double guess; /* of the answer, near which the line is good */
    double c, step;
    double cut;      /* e^-cut of the peak is left out at the end */
    double log_peak; /* t log E e^(cZ) */
    size_t nodes;
    double re[SOTTO_ALLOCATION_NODES], im[SOTTO_ALLOCATION_NODES]; /* relative to the peak */
    double doubt;          /* what rounding, quadrature and the cut may hide of the sum of nodes */
    double c_far, log_far; /* another c and its t log E e^(cZ), for the aliases above */
} sotto_allocation_contour;

/* Makes a line for log_delta; a is 1/sigma, up to 10. `near` is roughly the answer, or 0 where that is not
 * known. `work` is how many points times nodes it may take.
 *   SOTTO_DENIED  it would take too many points or nodes */
SOTTO_MUST_USE sotto_status sotto_allocation_contour_open(sotto_allocation_contour *line, int sign,
                                                          double a, double t, double log_delta,
                                                          double near, double work, double margin,
                                                          const sotto_allocation_inflate *inflate,
                                                          sotto_err *err);

/* With how much margin, `margin` at most, such a line can be made, with a little to spare; 0 if with none. line is scratch. */
double sotto_allocation_contour_margin(sotto_allocation_contour *line, int sign, double a, double t,
                                       double log_delta, double near, double work, double margin);

/* log delta at eps from above (side +1), below (side -1) or about in between (side 0). */
double sotto_allocation_contour_log_delta(const sotto_allocation_contour *line, double eps,
                                          double side);

#endif
