/* recipe/policy_tables.h - a policy and a recipe as the verifier and the ledger want them.
 *
 * Callers:  the device's report path, once for each policy and each recipe; recipe/judge.c.
 * Memory:   names are borrowed from the policy and the recipe, which must outlive the tables; lists are in the arena.
 */
#ifndef SOTTO_RECIPE_POLICY_TABLES_H
#define SOTTO_RECIPE_POLICY_TABLES_H

#include "query/budget.h"
#include "recipe/content.h"

/* All budgets of the policy. */
SOTTO_MUST_USE sotto_status sotto_policy_budgets(sotto_budget_table *out,
                                                 const sotto_policy *policy, sotto_arena *arena,
                                                 sotto_err *err);

/* What one analysis may ask. One that lists queries may ask nothing else.
 *   SOTTO_DENIED  the policy knows no such analysis */
SOTTO_MUST_USE sotto_status sotto_policy_query_class(sotto_query_policy *out,
                                                     const sotto_policy *policy,
                                                     const char *analysis, sotto_arena *arena,
                                                     sotto_err *err);

/* A cohort's epsilon that was computed before: bounds take milliseconds, and a report asks twice. */
typedef struct sotto_known_epsilon {
    uint64_t honest; /* 0: none is known */
    double epsilon;
} sotto_known_epsilon;

/* What the third check recomputes a charge from. */
typedef struct sotto_recipe_mechanism {
    const sotto_recipe *recipe;
    sotto_report_content content;
    sotto_known_epsilon known; /* of this very recipe; all zeros after init */
} sotto_recipe_mechanism;

SOTTO_MUST_USE sotto_status sotto_recipe_mechanism_init(sotto_recipe_mechanism *out,
                                                        const sotto_recipe *recipe, sotto_err *err);

/* One report of the recipe, that reads these fields. Borrows all of it. */
sotto_charge sotto_recipe_charge(const sotto_recipe_mechanism *mechanism, uint64_t round,
                                 const sotto_access *fields, size_t field_count);

/* The three checks of a report that reads these fields, with nothing spent yet: what they refuse, no device of this
 * policy ever answers.
 *   SOTTO_DENIED, SOTTO_MALFORMED  refused; refusal->check is 0 where the recipe makes no sense as a charge */
SOTTO_MUST_USE sotto_status sotto_recipe_affordable(const sotto_recipe *recipe,
                                                    const sotto_budget_table *table,
                                                    sotto_known_epsilon known,
                                                    const sotto_access *fields, size_t field_count,
                                                    sotto_refusal *refusal, sotto_err *err);

/* A sotto_recompute_fn for such charges; context is not used. */
sotto_status sotto_recipe_recompute(void *context, const sotto_charge *charge, uint64_t honest,
                                    double *epsilon, sotto_err *err);

#endif
