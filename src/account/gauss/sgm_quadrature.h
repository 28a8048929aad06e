/* account/gauss/sgm_quadrature.h - points and weights that integrate r^k against the Gaussian, and what they miss.
 *
 * Callers:  account/gauss/sgm_law.c.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_SGM_QUADRATURE_H
#define SOTTO_ACCOUNT_GAUSS_SGM_QUADRATURE_H

#include "account/gauss/sgm_law.h"

typedef struct sotto_sgm_grid {
    double power; /* of r on the real axis */
    size_t points;
    /* At each point: log of the rule's weight times the Gaussian density, that itself, log r, r - 1 (0
     * where it would overflow), and the weight times r - 1. */
    double *log_weight;
    double *weight;
    double *log_ratio;
    double *excess;
    double *linear;
    double log_error; /* of the quadrature, all told             */
    /* Integrals over the points of 1 and r-1, less their values 1 and 0 on the whole line. */
    double missing_one;
    double missing_linear;
    double missing_error; /* of missing_linear, beyond its rounding */
    double cap_error;     /* relative, of the last point's weight; 0 where there is no cap */
} sotto_sgm_grid;

#define SOTTO_SGM_PANEL      16
#define SOTTO_SGM_WIDE_PANEL 32 /* where the phase turns often */
#define SOTTO_SGM_ARRAYS     5

/* How many points a panel should have. */
size_t sotto_sgm_panel_points(const sotto_sgm_law *law, double t);
/* Gauss-Legendre panels over the law's range, as wide as frequency t lets them be, 16 or 32 points each.
 * edges has room for most + 1. Returns the number of panels, 0 if more than `most` are needed. */
size_t sotto_sgm_panels(const sotto_sgm_law *law, double c, double t, double *edges, size_t most,
                        size_t points, double *log_error);
/* What bounds the error of these panels, of 16 points, for every c: NULL without memory. */
typedef struct sotto_sgm_shape sotto_sgm_shape;
SOTTO_MUST_USE sotto_sgm_shape *sotto_sgm_shape_new(const sotto_sgm_law *law, const double *edges,
                                                    size_t panels);
void sotto_sgm_shape_free(sotto_sgm_shape *shape);
/* Log of what the panels miss at c and t = 0. */
double sotto_sgm_shape_error(const sotto_sgm_shape *shape, const sotto_sgm_law *law, double c);
/* Fills the arrays, laid out in memory with `room` doubles each, room >= all panels' points and one more.
 * The last point is the cap's, if there is one. */
void sotto_sgm_grid_fill(sotto_sgm_grid *grid, const sotto_sgm_law *law, double *memory,
                         size_t room, const double *edges, size_t panels, size_t points);

#endif
