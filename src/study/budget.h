/* study/budget.h - does one more step fit the budget of an analysis, as a device that answered every step so far counts it?
 *
 * Callers:  `sotto analysis`, before a step is asked. Devices' ledgers decide for themselves; this spares asking what they refuse.
 */
#ifndef SOTTO_STUDY_BUDGET_H
#define SOTTO_STUDY_BUDGET_H

#include "recipe/model.h"
#include "sotto/lint.h"
#include "study/search.h"

/* before: the steps that were asked, each of which a device may have answered. verdict: of `next`, for the fields that it reads.
 * As in a ledger, the budget of an analysis pays for steps of that analysis, and a field's for steps that read the field.
 *   SOTTO_DENIED  a budget of the policy is too small; the reason names it */
SOTTO_MUST_USE sotto_status sotto_study_afford(const sotto_policy *policy,
                                               const sotto_recipe_verdict *verdict,
                                               const sotto_recipe *const *before, size_t count,
                                               const sotto_recipe *next, sotto_arena *arena,
                                               sotto_err *err);

/* The same for all rounds that a search may ask: those of equal noise, and the count wherever it may come. Devices of a search with fresh
 * ones answer one round, which is judged by itself.
 *   round         the first that devices would refuse, from 1
 *   SOTTO_DENIED  a budget of the policy is too small; the reason names it */
SOTTO_MUST_USE sotto_status sotto_study_foresee(unsigned *round, const sotto_search *search,
                                                const sotto_recipe *frame,
                                                const sotto_policy *policy, sotto_arena *arena,
                                                sotto_err *err);

#endif
