/* account/local/filter.h - stop before the budget is passed, though each spend was chosen after seeing earlier answers.
 *
 * Callers:  the device's ledger, and interactive analyses.
 * Memory:   plain values, of fixed size; a ledger stores their fields.
 *
 * A filter promises (epsilon, delta) for everything that it admitted, decided beforehand; a refused spend costs
 * nothing. A filter is not an odometer: its formula, evaluated at a time that was chosen by looking at answers, is
 * not a bound on the loss so far. For a running total open an odometer, which costs more.
 */
#ifndef SOTTO_ACCOUNT_LOCAL_FILTER_H
#define SOTTO_ACCOUNT_LOCAL_FILTER_H

#include "account/numeric/bound.h"
#include "account/numeric/decimal.h"

#define SOTTO_FILTER_ORDERS 32

/* ---- pure (or nearly pure) epsilon-DP ------------------------------------------------------------- */

/* Admits while the epsilons add up to no more than the limit, exactly, or while sqrt(2 log(1/delta) S) + S/2 <= epsilon. S
 * is the sum of their squares (Whitehouse, Ramdas, Rogers and Wu 2023, theorem 2). Either holding is enough: where the
 * first holds, the loss can't exceed epsilon at all. */
typedef struct sotto_pure_filter {
    sotto_decimal eps_limit, eps_spent;
    sotto_decimal delta_limit, delta_spent; /* of the releases themselves */
    double squares_limit;                   /* rounded down; 0 where delta is 0 */
    double squares_spent;                   /* rounded up */
} sotto_pure_filter;

/* The promise is (eps, e^log_delta + releases_delta); log_delta is -INFINITY for delta 0: basic composition alone. */
SOTTO_MUST_USE sotto_status sotto_pure_filter_open(sotto_pure_filter *f, sotto_decimal eps,
                                                   double log_delta, sotto_decimal releases_delta,
                                                   sotto_err *err);
/* SOTTO_DENIED, and nothing is charged, where the spend would pass the limit. */
SOTTO_MUST_USE sotto_status sotto_pure_filter_spend(sotto_pure_filter *f, sotto_decimal eps,
                                                    sotto_decimal delta, sotto_err *err);

/* ---- zCDP ------------------------------------------------------------------------------------------ */

/* Admits while the rhos add up to no more than the limit (Feldman and Zrnic 2021). */
typedef struct sotto_zcdp_filter {
    double limit; /* rounded down */
    double spent; /* rounded up   */
} sotto_zcdp_filter;

SOTTO_MUST_USE sotto_status sotto_zcdp_filter_open(sotto_zcdp_filter *f, double eps,
                                                   double log_delta, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_zcdp_filter_spend(sotto_zcdp_filter *f, double rho,
                                                    sotto_err *err);

/* ---- Renyi ----------------------------------------------------------------------------------------- */

/* Admits while some order stays within its allowance. With one order, fixed beforehand, that costs nothing. With
 * several, which of them holds at the end depends on the answers, so each is given delta / count: the union over
 * orders is what makes "some order" a theorem. */
typedef struct sotto_rdp_filter {
    double order[SOTTO_FILTER_ORDERS];
    double limit[SOTTO_FILTER_ORDERS];
    double spent[SOTTO_FILTER_ORDERS];
    size_t count;
} sotto_rdp_filter;

/*   SOTTO_DENIED  no order given can reach eps at that delta */
SOTTO_MUST_USE sotto_status sotto_rdp_filter_open(sotto_rdp_filter *f, const double *orders,
                                                  size_t count, double eps, double log_delta,
                                                  sotto_err *err);
/* r[i] is the release's divergence at order[i]; INFINITY is allowed and closes that order. */
SOTTO_MUST_USE sotto_status sotto_rdp_filter_spend(sotto_rdp_filter *f, const double *r,
                                                   size_t count, sotto_err *err);

/* ---- running totals --------------------------------------------------------------------------------- */

/* Asking any filter for its epsilon so far: always SOTTO_DENIED, and the reason says what to do instead. */
SOTTO_MUST_USE sotto_status sotto_filter_running_epsilon(sotto_bound *out, sotto_err *err);

/* Bounds the loss at all times at once, with probability 1 - delta: `levels` zCDP filters at rho = first, 2 first,
 * 4 first ..., each with delta / levels. It reads in steps: the epsilon of the lowest level not yet passed. */
typedef struct sotto_odometer {
    double first, spent;
    double log_delta; /* of one level, rounded down */
    unsigned levels;
} sotto_odometer;

/* first 1e-12..1e6, levels 1..60. For pure epsilon, rho is epsilon^2 / 2. */
SOTTO_MUST_USE sotto_status sotto_odometer_open(sotto_odometer *o, double first, unsigned levels,
                                                double log_delta, sotto_err *err);
/* Has no limit: it only measures. SOTTO_MALFORMED: not a rho. */
SOTTO_MUST_USE sotto_status sotto_odometer_spend(sotto_odometer *o, double rho, sotto_err *err);
/* 0 before the first spend. SOTTO_DENIED beyond the last level. */
SOTTO_MUST_USE sotto_status sotto_odometer_read(sotto_bound *out, const sotto_odometer *o,
                                                sotto_err *err);

#endif
