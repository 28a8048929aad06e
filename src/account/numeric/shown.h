/* account/numeric/shown.h - an upper bound as people read it: never below what it stands for.
 *
 * Callers:  whoever prints an epsilon or a delta with fewer digits than it has.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_SHOWN_H
#define SOTTO_ACCOUNT_NUMERIC_SHOWN_H

/* The least number of `digits` significant digits, 1 to 12, that is not below x; "%.*g" with these digits prints it. Less than a
 * part in 10^13 is not seen, so that 1.1, kept as the double above it, is still 1.1. What is not positive and finite comes
 * back as it is. */
double sotto_bound_shown(double x, int digits);

#endif
