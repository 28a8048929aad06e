/* privacy/sgm_grid.h - points and weights that integrate r^k against the Gaussian, and what they miss.
 *
 * Callers:  privacy/sgm_law.c.
 */
#ifndef SOTTO_PRIVACY_SGM_GRID_H
#define SOTTO_PRIVACY_SGM_GRID_H

#include "privacy/sgm_law.h"

typedef struct sotto_sgm_grid {
    double power; /* of r on the real axis */
    size_t points;
    double *x;
    double *log_weight; /* of the rule, times the Gaussian density */
    double log_error;   /* of the quadrature, all told             */
    /* Integrals over the points of 1 and r-1, less their values 1 and 0 on the whole line. */
    double missing_one;
    double missing_linear;
} sotto_sgm_grid;

#define SOTTO_SGM_PANEL 16

/* Gauss-Legendre panels over the law's range, as wide as frequency t lets them be, 16 points each.
 * edges has room for most + 1. Returns the number of panels, 0 if more than `most` are needed. */
size_t sotto_sgm_panels(const sotto_sgm_law *law, double c, double t, double *edges, size_t most,
                        double *log_error);
/* Fills x and log_weight, which have room for 16 points a panel. */
void sotto_sgm_grid_fill(sotto_sgm_grid *grid, const sotto_sgm_law *law, double c,
                         const double *edges, size_t panels);

#endif
