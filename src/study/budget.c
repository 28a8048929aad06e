#include "study/budget.h"

#include "account/budget_decision.h"
#include "base/rule.h"

#include <stdio.h>
#include <string.h>

static sotto_status fits(const sotto_budget_limit *limit, const char *name,
                         const sotto_recipe *const *before, size_t count, const sotto_recipe *next,
                         sotto_err *err)
{
    sotto_budget_decision decision;
    char allowed[SOTTO_DECIMAL_TEXT], used[SOTTO_DECIMAL_TEXT];
    sotto_spent spent = {0};

    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(sotto_spent_add(&spent, before[i]->epsilon, before[i]->delta, err));
    SOTTO_TRY(sotto_budget_decide(&decision, limit, &spent, next->epsilon, next->delta, err));
    sotto_decimal_format(allowed, limit->epsilon);
    sotto_decimal_format(used, spent.epsilon);
    if (SOTTO_RULE(study_one_budget) && decision.against)
        return sotto_fail(err, SOTTO_DENIED,
                          "the budget is gone: %.50s allows epsilon %s in %llu reports, and %zu "
                          "steps took %s",
                          name, allowed, (unsigned long long)limit->reports, count, used);
    return SOTTO_OK;
}

sotto_status sotto_study_afford(const sotto_policy *policy, const sotto_recipe_verdict *verdict,
                                const sotto_recipe *const *before, size_t count,
                                const sotto_recipe *next, sotto_err *err)
{
    const sotto_policy_analysis *a = sotto_policy_find(policy, next->analysis);
    char name[SOTTO_VERDICT_NAME];

    if (a) {
        const sotto_budget_limit limit = {
            a->epsilon, a->delta, a->reports, policy->composition, {0}};

        SOTTO_TRY(fits(&limit, a->name, before, count, next, err));
    }
    for (size_t i = 0; i < verdict->read_count; i++)
        for (size_t j = 0; j < policy->field_count; j++) {
            const sotto_policy_field *f = &policy->fields[j];
            const sotto_budget_limit limit = {
                f->epsilon, f->delta, f->reports, policy->composition, {0}};

            (void)snprintf(name, sizeof name, "%s.%s", f->stream, f->field);
            if (strcmp(name, verdict->reads[i]) == 0)
                SOTTO_TRY(fits(&limit, name, before, count, next, err));
        }
    return SOTTO_OK;
}
