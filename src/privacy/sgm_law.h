/* privacy/sgm_law.h - the privacy loss of one round of the Poisson-subsampled Gaussian.
 *
 * A record takes part with probability q; the sum of norm <= 1 gets noise of deviation sigma. With
 * r(x) = 1 + q (exp((2x-1)/(2 sigma^2)) - 1) the loss is log r under the mixture (a record is removed)
 * or -log r under the plain Gaussian (added). Its moment generating function is
 *     M(s) = E r(X)^(s+1)  or  E r(X)^-s,   X ~ N(0, sigma^2),
 * and everything here is a quadrature of it with every error bounded (docs/decisions/0012).
 *
 * Callers:  privacy/sgm*.c.
 * Memory:   the caller's arrays.
 */
#ifndef SOTTO_PRIVACY_SGM_LAW_H
#define SOTTO_PRIVACY_SGM_LAW_H

#include "privacy/bound.h"

typedef struct sotto_sgm_law {
    double q;
    double sigma;
    bool add;
} sotto_sgm_law;

/* Where to sample the quadrature so that frequencies up to t are integrated to exp(-SOTTO_SGM_DIGITS). */
typedef struct sotto_sgm_grid {
    double low;
    double step;
    size_t points;
    double power;   /* of r at the real point: c + 1, or -c             */
    double log_cut; /* log of a bound on what lies outside the samples  */
} sotto_sgm_grid;

#define SOTTO_SGM_DIGITS 52.0

sotto_sgm_grid sotto_sgm_grid_for(const sotto_sgm_law *law, double c, double t);

/* log M(c), c > 0, within *error (absolute). INFINITY where the quadrature would need more than a
 * million points; that is an upper bound too. */
double sotto_sgm_cumulant(const sotto_sgm_law *law, double c, double *error);

/* log r at x. */
double sotto_sgm_log_ratio(const sotto_sgm_law *law, double x);

/* M(c + i k step) for k < nodes as log-modulus, phase and relative error. scratch holds three arrays
 * of sotto_sgm_line_room(points), for the points of the grid of c and the last frequency. */
size_t sotto_sgm_line_room(size_t points);
void sotto_sgm_line(const sotto_sgm_law *law, double c, double step, size_t nodes,
                    double *log_modulus, double *phase, double *error, double *scratch);

/* The tilted loss law from below, as a pile of boxes: what bounds |M(c+it)| for every large t at once. */
#define SOTTO_SGM_CELLS 384
typedef struct sotto_sgm_boxes {
    size_t count;
    double width[SOTTO_SGM_CELLS];
    double mass[SOTTO_SGM_CELLS];
} sotto_sgm_boxes;

void sotto_sgm_boxes_fill(sotto_sgm_boxes *boxes, const sotto_sgm_law *law, double c,
                          double cumulant);
/* An upper bound on log |M(c+iu)/M(c)| that holds for every u >= t. */
double sotto_sgm_boxes_decay(const sotto_sgm_boxes *boxes, double t);

#endif
