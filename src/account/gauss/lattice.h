/* account/gauss/lattice.h - how near a discrete Gaussian on integers is to a real one that is rounded (docs/decisions/0149).
 *
 * Callers:  account/gauss/allocated.c and claims of learning, where a theorem is about real noise.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_LATTICE_H
#define SOTTO_ACCOUNT_GAUSS_LATTICE_H

#include <math.h>

/* From this deviation on, in integers. */
#define SOTTO_LATTICE_LEAST 100.0

/* Total variation of `numbers` independent draws of deviation sigma from rounded draws of a real Gaussian, whose variance is at least
 * sigma^2 - 1/11. Its deviation is sigma times sotto_lattice_shrink. */
static inline double sotto_lattice_distance(double numbers, double sigma)
{
    const double square = sigma * sigma;

    return numbers / (16 * square * square);
}

static inline double sotto_lattice_shrink(double sigma)
{
    return sqrt(1 - 1 / (11 * sigma * sigma)) * (1 - 0x1p-48);
}

#endif
