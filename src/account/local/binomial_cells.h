/* account/local/binomial_cells.h - a binomial law cut into few cells, each with a mass known from both sides.
 *
 * Callers:  clone.c (how many clones there are) and onehot.c (how many others report a one).
 * Memory:   the caller's array; its size does not depend on n.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_BINOMIAL_CELLS_H
#define SOTTO_ACCOUNT_LOCAL_BINOMIAL_CELLS_H

#include "account/numeric/bound.h"

/* The values first..last of the variable, whole numbers. */
typedef struct sotto_binomial_cell {
    double first;
    double last;
    sotto_bound mass;
    double
        log_high; /* at least log(mass), also where mass.high is only the least double; INFINITY does where
                        `least` is above 0 */
    double log_last; /* log of the probability of `last` */
} sotto_binomial_cell;

#define SOTTO_BINOMIAL_CELLS_MAX 4096

/* Covers 0..n without a gap, in rising order, and returns how many cells it took (never more than
 * SOTTO_BINOMIAL_CELLS_MAX). Cells are single values where the deviation is small and 1/12 to 1/100 of it at the centre
 * otherwise; they widen outwards. `even` keeps them narrow out to `even` deviations from the mean
 * (40 at the most) for callers whose weight sits in the tails, at the cost of wider ones. A cell lighter than `least`
 * may have loose bounds on its mass (true ones all the same). 0 < p < 1, q = 1 - p given apart, 0 <= n <= 10^12. */
size_t sotto_binomial_cells_cover(sotto_binomial_cell cells[SOTTO_BINOMIAL_CELLS_MAX], double n,
                                  double p, double q, double even, double least);

#endif
