/* account/budget_rule.h - may this device answer this query? Basic composition over exact decimals.
 *
 * Callers:  device/, before anything is computed from the user's data, and after, to charge it.
 * Rule:     the query's epsilon fits what the analysis has left; analysis and every field touched have a report left;
 *           the local epsilon is within every field's; the epsilon fits what every field has left. These are hard
 *           caps: a filter (filter.h) may refuse more, never less.
 */
#ifndef SOTTO_ACCOUNT_BUDGET_RULE_H
#define SOTTO_ACCOUNT_BUDGET_RULE_H

#include "account/numeric/decimal.h"

/* Why not, in the order they are told. */
typedef enum sotto_budget_reason {
    SOTTO_BUDGET_ANALYSIS_EPS = 1,
    SOTTO_BUDGET_REPORT_COUNT = 2, /* of the analysis, or of a field */
    SOTTO_BUDGET_FIELD_LOCAL_EPS = 4,
    SOTTO_BUDGET_FIELD_EPS = 8
} sotto_budget_reason;

#define SOTTO_BUDGET_TEXT 64 /* bytes that sotto_budget_reasons may write */

typedef struct sotto_budget_query {
    sotto_decimal eps;       /* of the cohort's answer */
    sotto_decimal eps_local; /* of this device's report */
} sotto_budget_query;

typedef struct sotto_budget_analysis {
    sotto_decimal allowed, used;
    uint64_t reports_allowed, reports_used;
} sotto_budget_analysis;

typedef struct sotto_budget_field {
    sotto_decimal local_allowed; /* for one report */
    sotto_decimal allowed, used;
    uint64_t reports_allowed, reports_used;
} sotto_budget_field;

/* 0 to allow, or the sotto_budget_reason bits against it. fields are all that the query touches. */
unsigned sotto_budget_decide(const sotto_budget_query *query, const sotto_budget_analysis *analysis,
                             const sotto_budget_field *fields, size_t count);

/* "report count; field eps" */
void sotto_budget_reasons(char out[SOTTO_BUDGET_TEXT], unsigned reasons);

/* Charges analysis and fields, or leaves all as they were.
 *   SOTTO_DENIED  with those reasons */
SOTTO_MUST_USE sotto_status sotto_budget_spend(const sotto_budget_query *query,
                                               sotto_budget_analysis *analysis,
                                               sotto_budget_field *fields, size_t count,
                                               sotto_err *err);

#endif
