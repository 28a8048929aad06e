/* May a device answer? The decision and its reasons, in their order. */
#include "golden.h"

#include <string.h>

#include "account/budget_rule.h"

enum { REPORTS_ALLOWED = 1 };

/* A spend is rounded up, a limit down; up to twelve decimals nothing is. */
static sotto_status read_decimal(sotto_decimal *out, const sotto_golden_row *row,
                                 const char *column, sotto_decimal_rounding rounding,
                                 sotto_err *err)
{
    const char *text = sotto_golden_text(row, column);

    return sotto_decimal_parse(out, sotto_bytes_of(text, strlen(text)), rounding, err);
}

static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    sotto_budget_query query = {0};
    sotto_budget_analysis analysis = {.reports_allowed = REPORTS_ALLOWED};
    sotto_budget_field field = {.reports_allowed = REPORTS_ALLOWED};
    char reasons[SOTTO_BUDGET_TEXT];

    SOTTO_TRY(read_decimal(&query.eps, row, "eps_query", SOTTO_DECIMAL_UP, err));
    SOTTO_TRY(read_decimal(&query.eps_local, row, "eps0_query", SOTTO_DECIMAL_UP, err));
    SOTTO_TRY(sotto_golden_count(&analysis.reports_used, row, "k_used_before", err));
    SOTTO_TRY(read_decimal(&analysis.used, row, "eps_used_before", SOTTO_DECIMAL_UP, err));
    SOTTO_TRY(read_decimal(&analysis.allowed, row, "analysis_allowed", SOTTO_DECIMAL_DOWN, err));
    SOTTO_TRY(
        read_decimal(&field.local_allowed, row, "field_local_allowed", SOTTO_DECIMAL_DOWN, err));
    SOTTO_TRY(read_decimal(&field.allowed, row, "field_allowed", SOTTO_DECIMAL_DOWN, err));

    unsigned against = sotto_budget_decide(&query, &analysis, &field, 1);
    sotto_budget_reasons(reasons, against);
    out->nature = SOTTO_GOLDEN_DECISION;
    out->decision = against == 0 ? "allow" : "deny";
    out->value.low = out->value.high = against == 0 ? 1 : 0;
    memcpy(out->reason, reasons, sizeof reasons);
    return SOTTO_OK;
}

const sotto_golden_format sotto_golden_budget = {
    "budget",
    "case,eps_query,eps0_query,k_used_before,eps_used_before,analysis_allowed,field,"
    "field_local_allowed,field_allowed,min_cohort_n,delta,decision,reason",
    answer,
};
