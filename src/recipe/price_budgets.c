/* What a report leaves of a policy's budgets, by the decisions that a ledger makes. */
#include "recipe/price.h"

#include "account/budget_decision.h"

#include <stdio.h>
#include <string.h>

static sotto_status leave(sotto_price_budget *out, const sotto_budget_limit *limit,
                          const sotto_recipe *recipe, sotto_err *err)
{
    sotto_budget_decision decision;
    sotto_spent spent = {0};
    uint64_t fit = 0;

    out->epsilon = limit->epsilon;
    out->basic = limit->composition == SOTTO_COMPOSITION_BASIC;
    for (; fit <= SOTTO_PRICE_MORE; fit++) {
        SOTTO_TRY(
            sotto_budget_decide(&decision, limit, &spent, recipe->epsilon, recipe->delta, err));
        if (decision.against)
            break;
        SOTTO_TRY(sotto_spent_add(&spent, recipe->epsilon, recipe->delta, err));
    }
    out->more = fit > 0 ? fit - 1 : 0;
    out->reports_left = limit->reports - (limit->reports > 0);
    out->left.units = limit->epsilon.units > recipe->epsilon.units
                          ? limit->epsilon.units - recipe->epsilon.units
                          : 0;
    return SOTTO_OK;
}

sotto_status sotto_price_budgets(sotto_price_budget out[SOTTO_PRICE_BUDGETS], size_t *count,
                                 const sotto_price_way *way, const sotto_policy *policy,
                                 sotto_err *err)
{
    const sotto_policy_analysis *a = sotto_policy_find(policy, way->recipe->analysis);
    char name[SOTTO_VERDICT_NAME];

    *count = 0;
    if (a) {
        const sotto_budget_limit limit = {
            a->epsilon, a->delta, a->reports, policy->composition, {0}};

        out[0] = (sotto_price_budget){.name = a->name, .analysis = true};
        SOTTO_TRY(leave(&out[(*count)++], &limit, way->recipe, err));
    }
    for (size_t i = 0; i < way->verdict.read_count; i++)
        for (size_t j = 0; j < policy->field_count; j++) {
            const sotto_policy_field *f = &policy->fields[j];
            const sotto_budget_limit limit = {
                f->epsilon, f->delta, f->reports, policy->composition, {0}};

            (void)snprintf(name, sizeof name, "%s.%s", f->stream, f->field);
            if (strcmp(name, way->verdict.reads[i]) != 0 || *count == SOTTO_PRICE_BUDGETS)
                continue;
            out[*count] = (sotto_price_budget){.name = way->verdict.reads[i]};
            SOTTO_TRY(leave(&out[(*count)++], &limit, way->recipe, err));
        }
    return SOTTO_OK;
}
