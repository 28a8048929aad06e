/* account/numeric/bound.h - a number known to lie between two others, and rounding that never favours us.
 *
 * Callers:  every file of this room. An accountant returns `high` to people and keeps `low` to show how
 * much is left on the table; both are true statements, whatever the floating point did.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_BOUND_H
#define SOTTO_ACCOUNT_NUMERIC_BOUND_H

#include "sotto/base.h"

#include <math.h>

/* low <= the true value <= high; low is -INFINITY or 0 where no lower bound is known. */
typedef struct sotto_bound {
    double low;
    double high;
} sotto_bound;

/* Outward by `ulps` units in the last place. */
static inline double sotto_round_up(double x, unsigned ulps)
{
    for (unsigned i = 0; i < ulps; i++)
        x = nextafter(x, INFINITY);
    return x;
}

static inline double sotto_round_down(double x, unsigned ulps)
{
    for (unsigned i = 0; i < ulps; i++)
        x = nextafter(x, -INFINITY);
    return x;
}

/* What a root finder's answer is padded by, relative: covers its last step many times over. */
#define SOTTO_ROOT_PAD 1e-9

#endif
