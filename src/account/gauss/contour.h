/* account/gauss/contour.h - delta(eps) of a composition from its transform on one vertical line.
 *
 * For the loss L of a composition, with M(s) = E exp(sL) the product of the parts' transforms,
 *     delta(eps) = (1/2 pi) Int exp(-s eps) M(s) / (s (s+1)) dt,  s = c + i t,  any c > 0.
 * The trapezoid sum with step h equals the sum over all k of delta(eps + k P) exp(k P c), P = 2 pi/h:
 * never below delta(eps). On a lattice of losses the same holds with the lattice's own kernel, and the
 * sum over one period is complete. docs/decisions/0012 derives each error term.
 *
 * Callers:  account/gauss/sgm*.c.
 * Memory:   the nodes belong to whoever fills them.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_CONTOUR_H
#define SOTTO_ACCOUNT_GAUSS_CONTOUR_H

#include "account/numeric/bound.h"

/* Factors by which tests inflate one error term at a time; all 1 outside of tests. */
typedef struct sotto_contour_terms {
    double aliasing;
    double truncation;
    double transform; /* quadrature, special functions and rounding of M, raised to its power */
    double rounding;  /* of the sum over nodes                                                */
    double cut;       /* what lies beyond the cut of a round's law                            */
    double place;     /* of a lattice: where it lies                                          */
} sotto_contour_terms;

#define SOTTO_CONTOUR_TERMS   ((sotto_contour_terms){1, 1, 1, 1, 1, 1})
#define SOTTO_CONTOUR_ALIASES 7

typedef struct sotto_contour {
    double c;
    double step;
    size_t nodes;
    double *re; /* of M(s_k) kernel(s_k) step/2pi, over exp(log_scale); doubled for k > 0 */
    double *im;
    double log_scale;
    size_t omitted; /* of a lattice: nodes up to half the period that are not there */
    double lattice; /* spacing of the losses, 0 when they are continuous */
    double origin;  /* one loss of the lattice; M is that of loss - origin */
    double origin_error;
    double transform_error;
    double truncation_error;
    double rounding_error;
    double phase_error; /* per unit of eps */
    double lost;        /* probability of an infinite loss, added to delta as it stands */
    /* What `low` may add to delta (or must take off) where eps <= sure_until; beyond it says nothing.
     * Only where the law is capped. */
    bool capped;
    double sure;
    double sure_until;
    /* Chernoff points right of c, for the aliases above eps: log M there, from above. */
    size_t aliases;
    double alias_c[SOTTO_CONTOUR_ALIASES];
    double alias_log[SOTTO_CONTOUR_ALIASES];
    sotto_contour_terms terms;
} sotto_contour;

/* Fills the nodes from the composed transform: log-modulus, phase and relative error of M(s_k).
 *   log_rest  log of a bound on |M| at every node that is not there; on a lattice nodes reach half the
 *             period, but for those that are counted in `omitted`. The three arrays may be overwritten: re and im of the
 *             contour may be log_modulus and phase themselves. */
void sotto_contour_fill(sotto_contour *line, const double *log_modulus, const double *phase,
                        const double *error, double log_rest);

/* log delta(eps), between the two; low is -INFINITY where nothing is certain. */
sotto_bound sotto_contour_log_delta(const sotto_contour *line, double eps);

/* eps with delta(eps) = exp(log_delta). start: any guess >= 0. high is INFINITY when no eps could be
 * certified, low is 0 then. Exactly 0 where delta(0) is certainly below. */
sotto_bound sotto_contour_epsilon(const sotto_contour *line, double log_delta, double start);

/* Its two sides. The first wants any guess, the second the first's answer, or more than that. */
double sotto_contour_high(const sotto_contour *line, double log_delta, double start);
double sotto_contour_low(const sotto_contour *line, double log_delta, double start);

/* log of the largest (1 - exp(-y)) exp(-c y): the constant of the Chernoff bound on delta. */
double sotto_contour_chernoff(double c);

#endif
