/* account/budget_decision.h - does one more report fit what a policy allows?
 *
 * Callers:  query/budget.c, for the analysis and for each field that a query reads; sotto-golden, which holds the
 *           decisions against reference rows.
 * Memory:   plain values.
 *
 * Epsilons, deltas and reports are exact: 0.1 + 0.2 fits in 0.3. Only sums of squares are rounded, upwards.
 */
#ifndef SOTTO_ACCOUNT_BUDGET_DECISION_H
#define SOTTO_ACCOUNT_BUDGET_DECISION_H

#include "account/numeric/decimal.h"
#include "sotto/privacy.h"

/* Plain advanced composition is not offered: it holds for epsilons fixed beforehand, and an analyst picks the
 * next one after seeing answers. */
typedef enum sotto_composition {
    SOTTO_COMPOSITION_BASIC = 1, /* epsilons add up                                               */
    SOTTO_COMPOSITION_FILTER, /* or their squares stay below a filter's limit (account/local/filter.h) */
    SOTTO_COMPOSITION_ZCDP /* or their rhos do, each epsilon^2 / 2, of a filter for zCDP       */
} sotto_composition;

/* What a policy allows one account: an analysis, or a field. */
typedef struct sotto_budget_limit {
    sotto_decimal epsilon, delta;
    uint64_t reports;
    sotto_composition composition;
    sotto_decimal slack; /* filter: the part of delta that composing costs; 0: half of it */
} sotto_budget_limit;

/* What one account has spent. */
typedef struct sotto_spent {
    sotto_decimal epsilon, delta;
    double squares; /* of the epsilons, rounded up: twice rho */
    uint64_t reports;
    bool unknown; /* the ledger was lost: counts as fully spent */
} sotto_spent;

/* Reasons against a report. */
typedef enum sotto_budget_reason {
    SOTTO_BUDGET_REPORTS = 1, /* no report is left                  */
    SOTTO_BUDGET_EPSILON = 2, /* its epsilon passes what is left    */
    SOTTO_BUDGET_DELTA = 4,   /* its delta passes what is left      */
    SOTTO_BUDGET_UNKNOWN = 8  /* what was spent is not known at all */
} sotto_budget_reason;

typedef struct sotto_budget_decision {
    unsigned against; /* sotto_budget_reason bits; 0: it fits */
    /* For the words of a refusal. */
    bool by_filter;             /* a filter applies: the sum of epsilons may be above the limit */
    sotto_decimal epsilon_fits; /* the largest that would; 0 unless epsilon is against  */
    sotto_decimal delta_limit,
        delta_fits; /* of the releases: without what composing costs        */
} sotto_budget_decision;

/* SOTTO_MALFORMED  the limit makes no sense: its delta is 1 or more */
SOTTO_MUST_USE sotto_status sotto_budget_decide(sotto_budget_decision *out,
                                                const sotto_budget_limit *limit,
                                                const sotto_spent *spent, sotto_decimal epsilon,
                                                sotto_decimal delta, sotto_err *err);

/* What is spent once such a report is. SOTTO_TOO_LARGE where a sum leaves the range of a database's integers. */
SOTTO_MUST_USE sotto_status sotto_spent_add(sotto_spent *spent, sotto_decimal epsilon,
                                            sotto_decimal delta, sotto_err *err);

/* Whether one report's local epsilon is within what a field allows. *asked is what it costs in the replacement
 * model: against "no value" it counts twice, since replacing a value is leaving one and entering another. */
bool sotto_budget_local_fits(sotto_decimal *asked, sotto_decimal local, sotto_adjacency adjacency,
                             sotto_decimal allowed);

#endif
