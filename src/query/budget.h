/* query/budget.h - what a report costs, what the policy allows, and whether the one fits the other.
 *
 * Callers:  the ledger, which keeps what is spent; whoever parses policies and recipes fills the structs.
 * Memory:   everything is borrowed; nothing is kept.
 * Threads:  these functions only compute.
 *
 * The three checks of Table 1, in their order: the analysis, each field that the query reads, and the claimed
 * epsilon. The last must be true of a cohort in which only a part is honest. All epsilons of cohorts are in
 * the replacement model and without the gain of sampling, which belongs on receipts.
 */
#ifndef SOTTO_QUERY_BUDGET_H
#define SOTTO_QUERY_BUDGET_H

#include "account/budget_decision.h"
#include "account/honest.h"
#include "query/verifier.h"

enum {
    SOTTO_BUDGET_MAX_NAME = 127, /* bytes of a recipe's or an analysis's name */
    SOTTO_REFUSAL_TEXT = 512,
    SOTTO_ASKED_DIGEST = 32
};
#define SOTTO_BUDGET_MAX_COHORT SOTTO_COHORT_MAX

/* Whose decision a report follows. Poisson: one for each recipe, whatever its version. Check-in, donation: one for the
 * analysis. */
typedef enum sotto_decision_scope {
    SOTTO_DECISION_NONE,
    SOTTO_DECISION_RECIPE,
    SOTTO_DECISION_ANALYSIS
} sotto_decision_scope;

/* What names a question for good, also when its recipe is gone. */
typedef struct sotto_asked {
    uint8_t recipe[SOTTO_ASKED_DIGEST]; /* SHA-256 of the published bytes */
    uint8_t query[SOTTO_ASKED_DIGEST];  /* SHA-256 of the query's text    */
    uint64_t min_cohort;
} sotto_asked;

/* One report, as its recipe and the verifier describe it. */
typedef struct sotto_charge {
    const char *recipe;
    const char *analysis;
    uint64_t round;             /* of a recipe that is answered more than once; else 0           */
    sotto_decision_scope scope; /* of the decision to take part, which one report may follow     */
    const sotto_access *fields; /* what the verifier saw the query read                          */
    size_t field_count;
    unsigned by;         /* who adds the noise: a number below 32 that policies allow by a bit   */
    const char *by_name; /* the same for the words of a refusal                                  */
    bool unprotected;    /* the report has no local protection, and `local` is 0                 */
    sotto_decimal local; /* epsilon of this report by itself ...                          */
    sotto_adjacency
        local_adjacency;   /* ... compared so: against "no value" counts twice, since replacing a
                                        value is leaving one and entering another. The symmetric one-hot
                                        form is stated so.                                            */
    sotto_decimal epsilon; /* of the cohort's answer, without sampling gain                 */
    sotto_decimal delta;
    sotto_adjacency adjacency; /* of these two: replacement is what budgets count               */
    uint64_t min_cohort;       /* nothing is released below it                                  */
    uint64_t population;       /* 0: not stated                                                 */
    const void *mechanism;     /* for the recomputation alone                                   */
    const sotto_asked *asked;  /* for the record alone; NULL: it keeps nothing of that          */
} sotto_charge;

typedef struct sotto_analysis_budget {
    const char *name;
    sotto_decimal epsilon, delta;
    uint64_t reports;
} sotto_analysis_budget;

/* Over all analyses together: what a field gave away does not depend on who asked. */
typedef struct sotto_field_budget {
    const char *stream;
    const char *field;            /* or SOTTO_FIELD_ROWS, SOTTO_STORE_TIME */
    sotto_decimal local;          /* of each report, in the replacement model */
    sotto_decimal epsilon, delta; /* of cohorts                               */
    uint64_t reports;
    unsigned not_by; /* bit b: noise by b is not allowed */
    bool local_none; /* reports without local protection are allowed, and `local` caps no other */
} sotto_field_budget;

typedef struct sotto_budget_table {
    const sotto_analysis_budget *analyses;
    size_t analysis_count;
    const sotto_field_budget *fields;
    size_t field_count;
    sotto_composition composition;
    sotto_decimal
        slack;       /* filter: the part of each delta that composing costs; 0: half of it      */
    uint64_t period; /* seconds after which budgets start anew; 0: never                        */
    sotto_decimal
        honest; /* the part of a cohort that is taken to be honest; 0: one half           */
    uint64_t
        min_cohort; /* the smallest that this device joins                                     */
} sotto_budget_table;

/* The epsilon that the cohort's answer has if this many of its reports are honest: an upper bound.
 *   SOTTO_DENIED  no theorem holds for so few: refused like an epsilon that is too large */
typedef sotto_status sotto_recompute_fn(void *context, const sotto_charge *charge, uint64_t honest,
                                        double *epsilon, sotto_err *err);
typedef struct sotto_recompute {
    sotto_recompute_fn *run;
    void *context;
} sotto_recompute;

/* Why a recipe was refused, for `why` and for the person. */
typedef struct sotto_refusal {
    int check;                                  /* 1, 2 or 3; 0: none was reached */
    char subject[2 * SOTTO_STORE_MAX_NAME + 2]; /* the analysis or "stream.field" */
    char text[SOTTO_REFUSAL_TEXT];
} sotto_refusal;

/* A table that makes sense: limits within range, no name twice.
 *   SOTTO_MALFORMED  it does not; the reason names the line */
SOTTO_MUST_USE sotto_status sotto_budget_table_check(const sotto_budget_table *table,
                                                     sotto_err *err);
/* A charge that makes sense, whatever the budgets are.
 *   SOTTO_MALFORMED, or SOTTO_DENIED for an adjacency that budgets don't count in */
SOTTO_MUST_USE sotto_status sotto_charge_check(const sotto_charge *charge, sotto_err *err);

/* Whether a budget is kept for this field, and it is the first of its name in the charge. */
bool sotto_charge_counts(const sotto_charge *charge, size_t field);

/* The three checks. `fields` holds what is spent on each field of the charge, in its order.
 *   SOTTO_DENIED  refusal (may be NULL) and the reason say: spent, asked, allowed, what would still fit
 */
SOTTO_MUST_USE sotto_status sotto_budget_check(const sotto_budget_table *table,
                                               const sotto_charge *charge,
                                               const sotto_spent *analysis,
                                               const sotto_spent *fields,
                                               const sotto_recompute *recompute,
                                               sotto_refusal *refusal, sotto_err *err);

#endif
