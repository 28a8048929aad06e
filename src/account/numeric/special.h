/* account/numeric/special.h - the functions that probabilities are made of, each with the error it may commit.
 *
 * Callers:  every bound of this room. A caller adds the stated error to its own, outward.
 * Memory:   nothing is kept or allocated; no global state.
 *
 * All errors are in the sense of u = 2^-53, for arguments taken as exact doubles. They rest on a libm whose
 * exp, expm1, log and log1p are within 2 ulp and whose erfc is within 8 (glibc states 1 and 5). The tests
 * compare with 50-digit values. docs/decisions/0011 derives each.
 */
#ifndef SOTTO_ACCOUNT_NUMERIC_SPECIAL_H
#define SOTTO_ACCOUNT_NUMERIC_SPECIAL_H

#include "account/numeric/bound.h"

#define SOTTO_UNIT_ROUNDOFF  0x1p-53
#define SOTTO_LOG_SQRT_2PI   0.91893853320467274178
#define SOTTO_SQRT_HALF_PI   1.25331413731550025121
#define SOTTO_MILLS_ERROR    0x1p-48 /* relative, of erfcx and mills              */
#define SOTTO_LOG_TAIL_ERROR 0x1p-48 /* absolute, of log_tail and log_mills, plus x*x*u */

/* ---- the normal distribution ---------------------------------------------------------------------- */

/* exp(x^2) erfc(x); relative error SOTTO_MILLS_ERROR (and 2 x^2 u more where x < 0). INFINITY below -26.6. */
double sotto_erfcx(double x);

/* Mills' ratio m(x) = Q(x) / phi(x), Q the upper tail; relative error SOTTO_MILLS_ERROR (and x^2 u more where
 * x < 0). It falls, is convex and all its derivatives alternate in sign. INFINITY below -37.6. */
double sotto_mills(double x);
double sotto_log_mills(double x);

/* Q(x) = P(N > x); relative error that of erfc and 2 x^2 u more. */
static inline double sotto_normal_tail(double x)
{
    return erfc(x / 1.41421356237309504880) / 2;
}

/* log Q(x), any x. log Phi(x) is sotto_log_tail(-x). */
double sotto_log_tail(double x);

/* m(c - h) - m(c + h) for c, h >= 0 without cancellation; *error is a bound on the relative error. */
double sotto_mills_drop(double c, double h, double *error);

/* ---- logarithms of sums --------------------------------------------------------------------------- */

/* log(1 - e^-x), x > 0; relative error 4u of the result. -INFINITY at 0. */
double sotto_log1mexp(double x);

/* log(e^a + e^b); absolute error 4u + u |result|. -INFINITY is log 0. */
double sotto_log_add(double a, double b);

/* log(e^a - e^b), a >= b: exact cancellation is the caller's to judge; absolute error u (4 + |a|) + the
 * relative error that a - b carries into 1 - e^(b-a). -INFINITY where a == b. */
double sotto_log_sub(double a, double b);

/* log of the sum of e^x[i]; absolute error u (8 + count/2^50 + |result|). -INFINITY for none. */
double sotto_log_sum(const double *x, size_t count);

/* Neumaier's compensated sum: error at most u |sum| + 2 (count u)^2 sum of |terms|. */
typedef struct sotto_sum {
    double sum;
    double rest;
} sotto_sum;

void sotto_sum_add(sotto_sum *s, double term);
static inline double sotto_sum_value(const sotto_sum *s)
{
    return s->sum + s->rest;
}

/* ---- the binomial distribution -------------------------------------------------------------------- */

/* log n! - log(sqrt(2 pi n) (n/e)^n) for an integer n >= 0 (0 at 0); absolute error 2u. */
double sotto_stirling_error(double n);

/* log of P(Bin(n, p) = k); k, n integers, 0 <= k <= n <= 2^53, q = 1 - p given apart so that neither is the
 * difference from 1 of the other. *error (may be NULL) bounds the absolute error, including that of p and q
 * being off by 2 ulp each. -INFINITY where the probability is 0 (k outside 0..n among them). */
double sotto_binomial_log_pmf(double k, double n, double p, double q, double *error);

/* P(X >= k) / P(X = k) for X ~ Bin(n, p) and k >= (n + 1) p - 1, 0 <= k <= n, by the continued fraction of the
 * incomplete beta function. All its terms are positive, so two neighbouring convergents enclose the value. The
 * result encloses it with the rounding, and with p and q off by 2 ulp each, too. For P(X <= k) / P(X = k) below
 * the mean ask for (n - k, n, q, p). About 10 + sd/z steps where k is z deviations sd above the mean.
 *   SOTTO_DENIED     k is below that, or 100,000 steps did not bring the two within 1e-13
 *   SOTTO_MALFORMED  not such numbers */
SOTTO_MUST_USE sotto_status sotto_binomial_tail_ratio(sotto_bound *out, double k, double n,
                                                      double p, double q, sotto_err *err);

/* P(X >= k), enclosed, for any k; numeric/binomial_tail.c. For P(X <= k) ask for (n - k, n, q, p).
 *   SOTTO_DENIED  k is so close to the mean of so many that the fraction above does not come to an end */
SOTTO_MUST_USE sotto_status sotto_binomial_upper(sotto_bound *out, double k, double n, double p,
                                                 double q, sotto_err *err);

#endif
