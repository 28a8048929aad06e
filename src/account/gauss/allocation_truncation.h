/* account/gauss/allocation_truncation.h - how far along a vertical line the transform of a lognormal must be evaluated.
 *
 * Callers:  allocation_contour_plan.c; the tests' own line.
 */
#ifndef SOTTO_ACCOUNT_GAUSS_ALLOCATION_TRUNCATION_H
#define SOTTO_ACCOUNT_GAUSS_ALLOCATION_TRUNCATION_H

/* Z = sign (Y - 1), Y = e^(a w - a^2/2), w standard normal from -under to over and Z = 0 in place of the rest, tilted by
 * e^(cZ). */
typedef struct sotto_tilted_law {
    double a, sign, c;
    double under, over;
    double beyond;    /* probability of the rest */
    double log_whole; /* log E e^(cZ), rounded down; right to 1e-9 */
} sotto_tilted_law;

/* A v from which on |E e^(sZ)| <= small E e^(cZ), s = c + iv, 0 < small < 1. */
double sotto_tilted_law_truncation(const sotto_tilted_law *law, double small);

#endif
