/* account/gauss/allocation.h - one participation in t slots chosen uniformly and secretly, Gaussian noise in each.
 *
 * Callers:  the accountant. Adjacency is adding or removing one person; sensitivity 1, noise sigma in every slot.
 * Trust:    nobody learns which slot a person chose; all t outputs are seen.
 * Answers:  the exact mechanism's epsilon, enclosed. With few slots or little noise `high` is up to some 3e-4 above it, more
 *           where slots are many millions, and `low` a rougher bound.
 * Memory:   about 350 kB of stack, whatever t.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_H

#include "account/numeric/bound.h"

typedef enum sotto_allocation_direction {
    SOTTO_ALLOCATION_REMOVE = 1,
    SOTTO_ALLOCATION_ADD,
    SOTTO_ALLOCATION_MAX /* what a guarantee must report */
} sotto_allocation_direction;

/* About the sigma at which one slot of t costs eps, to start a search from: a single large term, or a normal sum. */
double sotto_allocation_sigma_guess(double eps, double t, double log_delta);

/* About what sotto_allocation_eps says, where that is not far from `near`: to steer a search, never to promise. Where lines
 * reach mostly to 1e-6, elsewhere to 1e-4; NAN where a parameter is outside. */
double sotto_allocation_rough(double near, double sigma, double t, double log_delta);

/* What lines and grids reach: below it the answer is that of a single release, and from below that less log t. */
#define SOTTO_ALLOCATION_LEAST_LOG_DELTA (-90.0)

/* A sigma within a few thousandths of this one, at which the answer of sotto_allocation_eps may leap, since one method
 * serves above it and another below. Both are certain; one is less tight. Between two such it hardly ever does. */
double sotto_allocation_leap(double sigma);

/* sigma 0.1 to 1000, t 1 to 10^9 slots.
 *   SOTTO_MALFORMED  a parameter is outside, by name */
SOTTO_MUST_USE sotto_status sotto_allocation_eps(sotto_bound *out,
                                                 sotto_allocation_direction direction, double sigma,
                                                 double t, double log_delta, sotto_err *err);

/* What the evaluation may be wrong by, multiplied; all 1 in use. Tests move each and see `high` move. */
typedef struct sotto_allocation_inflate {
    double cut;       /* the part of the line that is left out          */
    double transform; /* the quadrature behind each value of the transform */
    double rounding;
} sotto_allocation_inflate;

SOTTO_MUST_USE sotto_status sotto_allocation_eps_inflated(sotto_bound *out,
                                                          sotto_allocation_direction direction,
                                                          double sigma, double t, double log_delta,
                                                          const sotto_allocation_inflate *inflate,
                                                          sotto_err *err);

/* How k slots of t are reduced to one of several: k independent choices of one slot among floor(t/k). For that the
 * mechanism has to divide its t slots into k blocks of floor(t/k) and choose one slot in each. The caller composes
 * the blocks (k = t is t single Gaussian releases, exactly).
 *   SOTTO_DENIED  k > t */
typedef struct sotto_allocation_blocks {
    double blocks; /* k           */
    double slots;  /* floor(t/k)  */
} sotto_allocation_blocks;

SOTTO_MUST_USE sotto_status sotto_allocation_reduce(sotto_allocation_blocks *out, double k,
                                                    double t, sotto_err *err);

/* That reduction, with its blocks composed in two ways: by basic composition (delta split evenly), or as k Gaussian
 * releases of sensitivity 1. The second also serves blocks of a single slot. Each is a valid bound; the smaller is
 * given. */
SOTTO_MUST_USE sotto_status sotto_allocation_blocks_eps(sotto_bound *out, double k, double t,
                                                        double sigma, double log_delta,
                                                        sotto_err *err);

#endif
