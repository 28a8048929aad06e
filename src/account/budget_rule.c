#include "account/budget_rule.h"

#include <stdio.h>
#include <string.h>

unsigned sotto_budget_decide(const sotto_budget_query *query, const sotto_budget_analysis *analysis,
                             const sotto_budget_field *fields, size_t count)
{
    unsigned reasons = 0;

    if (!sotto_decimal_fits(analysis->used, query->eps, analysis->allowed))
        reasons |= SOTTO_BUDGET_ANALYSIS_EPS;
    if (analysis->reports_used >= analysis->reports_allowed)
        reasons |= SOTTO_BUDGET_REPORT_COUNT;
    for (size_t i = 0; i < count; i++) {
        const sotto_budget_field *f = &fields[i];

        if (f->reports_used >= f->reports_allowed)
            reasons |= SOTTO_BUDGET_REPORT_COUNT;
        if (query->eps_local.units > f->local_allowed.units)
            reasons |= SOTTO_BUDGET_FIELD_LOCAL_EPS;
        if (!sotto_decimal_fits(f->used, query->eps, f->allowed))
            reasons |= SOTTO_BUDGET_FIELD_EPS;
    }
    return reasons;
}

void sotto_budget_reasons(char out[SOTTO_BUDGET_TEXT], unsigned reasons)
{
    static const char *const words[] = {"analysis eps", "report count", "field local eps",
                                        "field eps"};
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!(reasons & (1u << i)))
            continue;
        int put = snprintf(out + len, SOTTO_BUDGET_TEXT - len, "%s%s", len ? "; " : "", words[i]);
        len += put > 0 ? (size_t)put : 0;
    }
}

sotto_status sotto_budget_spend(const sotto_budget_query *query, sotto_budget_analysis *analysis,
                                sotto_budget_field *fields, size_t count, sotto_err *err)
{
    unsigned reasons = sotto_budget_decide(query, analysis, fields, count);
    char text[SOTTO_BUDGET_TEXT];

    if (reasons) {
        sotto_budget_reasons(text, reasons);
        return sotto_fail(err, SOTTO_DENIED, "budget: %s", text);
    }
    /* Nothing overflows: each sum is within its limit. */
    analysis->used.units += query->eps.units;
    analysis->reports_used++;
    for (size_t i = 0; i < count; i++) {
        fields[i].used.units += query->eps.units;
        fields[i].reports_used++;
    }
    return SOTTO_OK;
}
