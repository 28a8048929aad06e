/* account/numeric/elementary.h - exponentials, logarithms and angles of many numbers at once.
 *
 * The same operations in the same order on every machine, several lanes at a time where it has them: an
 * answer does not depend on which. Errors are stated in units u = 2^-53 and relative unless said otherwise;
 * test_elementary.c holds them.
 *
 * Callers:  privacy/sgm*.c, account/gauss/pld.c, account/gauss/contour.c, account/local/onehot.c, account/gauss/allocation_quadrature.c,
 *           account/gauss/allocation_contour.c.
 * Memory:   the caller's arrays; an output may be an input.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_ELEMENTARY_H
#define SOTTO_ACCOUNT_NUMERIC_ELEMENTARY_H

#include <stddef.h>

/* Within 2 u where the value is normal; 0 below exp(-745), infinite above exp(709.8). */
void sotto_exp_all(double *out, const double *x, size_t count);
/* x <= 700. Within 4 u. */
void sotto_expm1_all(double *out, const double *x, size_t count);
/* e^x - 1 - x. Within 24 u; infinite for x > 700. */
void sotto_exp_less_all(double *out, const double *x, size_t count);
/* x > 0 and normal. Within 2 u. */
void sotto_log_all(double *out, const double *x, size_t count);
/* x > -1, as a double; within 3 u. */
void sotto_log1p_all(double *out, const double *x, size_t count);
/* sin x and 1 - cos x, |x| <= 2^42: absolutely within 10 u + u |x|. For |x| <= 4 the second is within 12 u of
 * itself, and the first for |x| <= 1.5; so for any x the first is within 12 u |x|. */
void sotto_turn_all(double *sine, double *versine, const double *x, size_t count);
/* The angle of (x, y), as atan2, of numbers above 1e-280 or 0. Within 5 u. */
void sotto_angle_all(double *out, const double *y, const double *x, size_t count);

#endif
