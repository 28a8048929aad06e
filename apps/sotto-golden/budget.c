/* May a device answer? The decision and its reasons, in their order. */
#include "golden.h"

#include <stdio.h>
#include <string.h>

#include "account/budget_decision.h"

enum { REPORTS_ALLOWED = 1 };

/* A spend is rounded up, a limit down; up to twelve decimals nothing is. */
static sotto_status read_decimal(sotto_decimal *out, const sotto_golden_row *row,
                                 const char *column, sotto_decimal_rounding rounding,
                                 sotto_err *err)
{
    const char *text = sotto_golden_text(row, column);

    return sotto_decimal_parse(out, sotto_bytes_of(text, strlen(text)), rounding, err);
}

/* What the decisions of both accounts come to, in the reference's words and order. */
static void put_reasons(char *out, size_t size, unsigned analysis, unsigned field, bool local)
{
    const struct {
        bool against;
        const char *words;
    } reasons[] = {
        {(analysis & SOTTO_BUDGET_EPSILON) != 0, "analysis eps"},
        {((analysis | field) & SOTTO_BUDGET_REPORTS) != 0, "report count"},
        {!local, "field local eps"},
        {(field & SOTTO_BUDGET_EPSILON) != 0, "field eps"},
    };
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (!reasons[i].against)
            continue;
        int put = snprintf(out + len, size - len, "%s%s", len ? "; " : "", reasons[i].words);
        len += put > 0 ? (size_t)put : 0;
    }
}

/* The decisions that a device makes of the analysis and of its one field, whose use starts at 0. */
static sotto_status answer(sotto_golden_answer *out, const sotto_golden_row *row, sotto_err *err)
{
    sotto_budget_limit analysis = {.reports = REPORTS_ALLOWED,
                                   .composition = SOTTO_COMPOSITION_BASIC};
    sotto_budget_limit field = analysis;
    sotto_spent spent = {0}, none = {0};
    sotto_decimal epsilon, delta, local, local_allowed, asked;
    sotto_budget_decision of_analysis, of_field;

    SOTTO_TRY(read_decimal(&epsilon, row, "eps_query", SOTTO_DECIMAL_UP, err));
    SOTTO_TRY(read_decimal(&local, row, "eps0_query", SOTTO_DECIMAL_UP, err));
    SOTTO_TRY(read_decimal(&delta, row, "delta", SOTTO_DECIMAL_UP, err));
    SOTTO_TRY(sotto_golden_count(&spent.reports, row, "k_used_before", err));
    SOTTO_TRY(read_decimal(&spent.epsilon, row, "eps_used_before", SOTTO_DECIMAL_UP, err));
    SOTTO_TRY(read_decimal(&analysis.epsilon, row, "analysis_allowed", SOTTO_DECIMAL_DOWN, err));
    SOTTO_TRY(read_decimal(&local_allowed, row, "field_local_allowed", SOTTO_DECIMAL_DOWN, err));
    SOTTO_TRY(read_decimal(&field.epsilon, row, "field_allowed", SOTTO_DECIMAL_DOWN, err));
    analysis.delta = field.delta = delta; /* the rows limit no delta */

    SOTTO_TRY(sotto_budget_decide(&of_analysis, &analysis, &spent, epsilon, delta, err));
    SOTTO_TRY(sotto_budget_decide(&of_field, &field, &none, epsilon, delta, err));
    bool fits = sotto_budget_local_fits(&asked, local, SOTTO_ADJACENCY_REPLACEMENT, local_allowed);
    bool allowed = of_analysis.against == 0 && of_field.against == 0 && fits;
    out->nature = SOTTO_GOLDEN_DECISION;
    out->decision = allowed ? "allow" : "deny";
    out->value.low = out->value.high = allowed ? 1 : 0;
    put_reasons(out->reason, sizeof out->reason, of_analysis.against, of_field.against, fits);
    return SOTTO_OK;
}

const sotto_golden_format sotto_golden_budget = {
    "budget",
    "case,eps_query,eps0_query,k_used_before,eps_used_before,analysis_allowed,field,"
    "field_local_allowed,field_allowed,min_cohort_n,delta,decision,reason",
    answer,
};
