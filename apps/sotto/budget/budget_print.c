#include "budget_print.h"

#include <stdio.h>

#include "account/trust.h"
#include "show.h"
#include "verbs.h"

/* ---- pieces ----------------------------------------------------------------------------------------- */

int sotto_budget_exit(sotto_status status)
{
    return sotto_exit_code(status, SOTTO_AT_WORDS);
}

bool sotto_budget_claim_fails(const sotto_budget_result *r)
{
    return r->has_claim && r->status == SOTTO_OK && !(r->claim >= r->answer.high);
}

/* ---- refusals --------------------------------------------------------------------------------------- */

#define BY_HIDDEN   "--hidden asserts that a relay and anonymous tokens hide who takes part"
#define BY_COUNTING "--mechanism counted-gaussian is for sampling that is seen"

/* The way out of a refusal to amplify, which comes before every other; "" for none. */
static const char *hint(const sotto_question *q, const sotto_budget_result *r)
{
    bool can_hide = sotto_trust_model_of(q->trust)->can_hide;

    if (r->status != SOTTO_DENIED || q->participation_is_hidden)
        return "";
    switch (q->mechanism) {
    case SOTTO_MECHANISM_SAMPLED_GAUSSIAN:
        return can_hide ? BY_HIDDEN "; " BY_COUNTING : BY_COUNTING;
    case SOTTO_MECHANISM_ALLOCATED_GAUSSIAN:
        return can_hide ? BY_HIDDEN "; --mechanism gaussian is for a slot that is seen"
                        : "--mechanism gaussian is for a slot that is seen";
    case SOTTO_MECHANISM_CHECK_IN:
    case SOTTO_MECHANISM_DONATION:
        return can_hide ? BY_HIDDEN : "";
    case SOTTO_MECHANISM_SHUFFLED:
    case SOTTO_MECHANISM_SYMMETRIC_ONE_HOT:
    case SOTTO_MECHANISM_BINARY_RESPONSE:
        return can_hide && q->of.local.rate != 1 ? BY_HIDDEN "; without --rate it is not needed"
                                                 : "";
    default:
        return "";
    }
}

void sotto_budget_print_refusal(const char *before, const sotto_question *q,
                                const sotto_budget_result *r)
{
    (void)fprintf(stderr, "%s: %s%s\n", before,
                  r->status == SOTTO_MALFORMED ? "" : "refused: ", r->err.reason);
    if (hint(q, r)[0] != 0)
        (void)fprintf(stderr, "%s: %s\n", before, hint(q, r));
}

/* ---- whole answers ---------------------------------------------------------------------------------- */

sotto_account_view sotto_budget_account_view(const sotto_question *q, const sotto_budget_result *r)
{
    bool answered = r->status == SOTTO_OK;
    const char *way_out = hint(q, r);

    return (sotto_account_view){
        .question = q,
        .answer = answered ? &r->answer : NULL,
        .refused = r->status,
        .reason = r->err.reason,
        .hint = way_out[0] != 0 ? way_out : NULL,
        .asks_delta = r->asks_delta,
        .epsilon = r->epsilon,
        .seconds = r->seconds,
        .number = r->line,
        .has_claim = r->has_claim,
        .claim = r->claim,
        .claim_delta = r->claim_status == SOTTO_OK ? &r->claim_delta : NULL,
    };
}

void sotto_budget_print(const sotto_question *q, const sotto_budget_result *r, bool json)
{
    sotto_view view = sotto_show_view(json ? SOTTO_VIEW_JSON : SOTTO_VIEW_TEXT);
    sotto_account_view account = sotto_budget_account_view(q, r);
    sotto_err err = {0};

    if (sotto_view_account(&view, &account, &err) != SOTTO_OK)
        (void)fprintf(stderr, "sotto budget: %s\n", err.reason);
}

void sotto_budget_print_mistakes(const char *verb, const sotto_form *form, bool json,
                                 const char *place, size_t line)
{
    if (!json) {
        for (size_t i = 0; i < form->mistake_count; i++) {
            if (line > 0)
                (void)fprintf(stderr, "%s %zu: ", place, line);
            else
                (void)fprintf(stderr, "%s: ", verb);
            (void)fprintf(stderr, "%s\n", form->mistakes[i]);
        }
        return;
    }
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);
    if (line > 0)
        sotto_json_uint(&j, "line", line);
    sotto_json_array(&j, "mistakes");
    for (size_t i = 0; i < form->mistake_count; i++)
        sotto_json_text(&j, NULL, form->mistakes[i]);
    (void)sotto_show_end(&j);
}
