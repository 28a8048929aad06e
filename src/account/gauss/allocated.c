#include "account/gauss/allocated.h"

#include "account/gauss/allocation.h"
#include "account/gauss/lattice.h"
#include "account/put_aside.h"

#include <math.h>

enum { SLACK = 16 };

/* With chance p a release is made at all: log(1 + p (e^eps - 1)) at p delta, in both directions. */
static double thinned(double eps, double p)
{
    return sotto_round_up(log1p(p * expm1(eps) * (1 + 0x1p-40)), SLACK);
}

sotto_status sotto_allocated_eps(double *out, const sotto_allocated *a, double delta,
                                 sotto_err *err)
{
    const double p = fmin(1, a->chance * (double)a->seen / (double)a->reach * (1 + 0x1p-40));
    const double log_delta = log(delta) - SOTTO_PUT_ASIDE - 0x1p-30;
    sotto_bound eps;

    if (!(a->sigma >= SOTTO_LATTICE_LEAST && a->length > 0))
        return sotto_fail(err, SOTTO_DENIED,
                          "claim: scale: noise must have a deviation of 100 integers or more");
    const double sigma =
        sotto_round_down(a->sigma * sotto_lattice_shrink(a->sigma) / a->length, SLACK);
    SOTTO_TRY(sotto_allocation_eps(&eps, SOTTO_ALLOCATION_MAX, sigma, (double)a->seen,
                                   fmin(log_delta - log(p), -1e-9), err));
    *out = thinned(eps.high, p);
    return SOTTO_OK;
}

bool sotto_allocated_is_paid(const sotto_allocated *a, double eps, double delta)
{
    return sotto_draws_are_paid(eps, sotto_lattice_distance(a->numbers, a->sigma) + a->lost, delta);
}
