/* account/put_aside.h - a part of delta that pays for draws that are not exact.
 *
 * Callers:  every claim about noise of the samplers: statistics, searches and learning.
 *
 * Draws within a total variation of t of their law add (1 + e^epsilon) t to delta. So a claim is computed for a delta that is smaller by
 * a thousandth, and holds only where the draws cost less than that. e^(-1/1000) is below 1 - 0.9/1000.
 */
#ifndef SOTTO_ACCOUNT_PUT_ASIDE_H
#define SOTTO_ACCOUNT_PUT_ASIDE_H

#include <math.h>
#include <stdbool.h>

/* Taken off log delta. */
#define SOTTO_PUT_ASIDE 1e-3

/* lost: the total variation of all draws together. */
static inline bool sotto_draws_are_paid(double epsilon, double lost, double delta)
{
    return (1 + exp(epsilon)) * lost < 0.9 * SOTTO_PUT_ASIDE * delta;
}

#endif
