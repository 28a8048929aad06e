/* What the accountant answered, and what a device has spent. */
#include "view/view.h"

#include "account/numeric/shown.h"
#include "account/trust.h"

#include <inttypes.h>
#include <math.h>

/* What is known less exactly than this says so. */
#define COARSE 0.01

static const char *trust_assumption(const sotto_question *q)
{
    const char *const *assumes = sotto_trust_words_of(q->trust)->assumes;

    return assumes[q->participation_is_hidden && assumes[1] != NULL];
}

static double dishonest_share(const sotto_question *q)
{
    return (double)q->dishonest.parts / (double)q->dishonest.of;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void say_claim(sotto_text *t, const sotto_account_view *v)
{
    const sotto_answer *a = v->answer;

    sotto_text_say(t, "\n  claim     epsilon %.12g ", v->claim);
    if (v->claim >= a->high) {
        sotto_text_say(t, "holds: it is not below the certified ");
        sotto_text_up(t, a->high, 12);
    } else if (v->claim < a->low) {
        sotto_text_say(t, a->optimal ? "does NOT hold: the mechanism itself has at least "
                                     : "does not follow: this theorem gives at least ");
        sotto_text_down(t, a->low, 12);
    } else {
        sotto_text_say(t, "cannot be told from the truth: it is within [");
        sotto_text_down(t, a->low, 12);
        sotto_text_say(t, ", ");
        sotto_text_up(t, a->high, 12);
        sotto_text_say(t, "]");
    }
    sotto_text_say(t, "\n");
    if (!v->claim_delta)
        return;
    sotto_text_say(t, "            epsilon %.12g goes with delta ", v->claim);
    sotto_text_up(t, v->claim_delta->high, 6);
    sotto_text_say(t, " (certified from above)\n");
}

static void say_bounds(sotto_text *t, const sotto_account_view *v)
{
    const sotto_answer *a = v->answer;

    sotto_text_say(t, v->asks_delta ? "  delta     <= " : "  epsilon   <= ");
    sotto_text_up(t, a->high, 10);
    sotto_text_say(t, "   (at least ");
    sotto_text_down(t, a->low, 10);
    sotto_text_say(t, "%s)\n",
                   a->low == 0  ? ", no lower bound known"
                   : a->optimal ? ""
                                : " by this theorem");
    const double accuracy = sotto_answer_accuracy(a);
    if (accuracy > COARSE && accuracy < 1)
        sotto_text_say(t, "  accuracy  %.2g %%: it may be smaller by as much, and is not larger\n",
                       100 * sotto_bound_shown(accuracy, 2));
    if (v->asks_delta)
        sotto_text_say(t, "  at        epsilon %.12g\n", v->epsilon);
    else
        sotto_text_say(t, "  at        delta %.12g\n", v->question->delta);
}

static void account_as_text(sotto_text *t, const void *thing)
{
    const sotto_account_view *v = thing;
    const sotto_answer *a = v->answer;

    if (!a) {
        sotto_text_say(t, "%s%s\n", v->refused == SOTTO_MALFORMED ? "" : "refused: ", v->reason);
        if (v->hint)
            sotto_text_say(t, "%s\n", v->hint);
        return;
    }
    say_bounds(t, v);
    sotto_text_say(t, "  theorem   %s\n", a->theorem);
    sotto_text_say(t, "  route     %s\n", a->route);
    if (a->no_gain)
        sotto_text_say(t, "  gain      none: one report or release has this epsilon by itself\n");
    sotto_text_say(t, "  adjacency %s\n", sotto_adjacency_name(a->adjacency));
    sotto_text_say(t, "  trust     %s: %s\n", sotto_trust_name(a->trust),
                   trust_assumption(v->question));
    sotto_text_say(t, "  honest    %.6g of the cohort assumed dishonest or dropped; ",
                   dishonest_share(v->question));
    if (a->honest > 0)
        sotto_text_say(t, "%" PRIu64 " honest counted on\n", a->honest);
    else
        sotto_text_say(t, "nobody else's randomness is counted on\n");
    sotto_text_say(t, "  time      %.3f ms\n", v->seconds * 1e3);
    if (v->has_claim)
        say_claim(t, v);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

void sotto_account_members(sotto_json *j, const sotto_account_view *v)
{
    const sotto_answer *a = v->answer;
    const sotto_question *q = v->question;

    sotto_json_text(j, "mechanism", sotto_mechanism_name(q->mechanism));
    sotto_json_text(j, "quantity", v->asks_delta ? "delta" : "epsilon");
    sotto_json_real(j, "low", a->low);
    sotto_json_real(j, "high", a->high);
    sotto_json_real(j, "accuracy", sotto_answer_accuracy(a));
    if (v->asks_delta)
        sotto_json_real(j, "epsilon", v->epsilon);
    else
        sotto_json_real(j, "delta", q->delta);
    sotto_json_bool(j, "optimal", a->optimal);
    sotto_json_bool(j, "no_gain", a->no_gain);
    sotto_json_text(j, "theorem", a->theorem);
    sotto_json_text(j, "route", a->route);
    sotto_json_text(j, "adjacency", sotto_adjacency_name(a->adjacency));
    sotto_json_text(j, "trust", sotto_trust_name(a->trust));
    sotto_json_bool(j, "participation_hidden",
                    q->participation_is_hidden || sotto_trust_model_of(q->trust)->hides);
    sotto_json_text(j, "assumes", trust_assumption(q));
    sotto_json_real(j, "dishonest", dishonest_share(q));
    sotto_json_uint(j, "honest", a->honest);
    sotto_json_seconds(j, "seconds", v->seconds);
}

static void claim_members(sotto_json *j, const sotto_account_view *v)
{
    sotto_json_real(j, "claim", v->claim);
    if (v->claim >= v->answer->high)
        sotto_json_bool(j, "claim_holds", true);
    else if (v->claim < v->answer->low && v->answer->optimal)
        sotto_json_bool(j, "claim_holds", false);
    else
        sotto_json_null(j, "claim_holds");
    sotto_json_real(j, "claim_delta", v->claim_delta ? v->claim_delta->high : (double)NAN);
}

/* A question that cannot be read has mistakes; one that no theorem grants is refused. */
static void refusal_members(sotto_json *j, const sotto_account_view *v)
{
    if (v->refused == SOTTO_MALFORMED) {
        sotto_json_array(j, "mistakes");
        sotto_json_text(j, NULL, v->reason);
        sotto_json_end(j);
        return;
    }
    sotto_json_text(j, "refused", sotto_status_name(v->refused));
    sotto_json_text(j, "reason", v->reason);
}

static void account_as_json(sotto_text *t, const void *thing)
{
    const sotto_account_view *v = thing;
    sotto_json j = sotto_json_on(*t, SOTTO_JSON_COMPACT);

    sotto_json_object(&j, NULL);
    if (v->number > 0)
        sotto_json_uint(&j, "line", v->number);
    if (v->answer) {
        sotto_account_members(&j, v);
        if (v->has_claim)
            claim_members(&j, v);
    } else {
        refusal_members(&j, v);
        if (v->hint)
            sotto_json_text(&j, "hint", v->hint);
    }
    t->status = sotto_json_finish(&j);
}

sotto_status sotto_view_account(const sotto_view *view, const sotto_account_view *account,
                                sotto_err *err)
{
    sotto_err_clear(err);

    static sotto_show *const formats[SOTTO_VIEW_FORMATS] = {
        [SOTTO_VIEW_TEXT] = account_as_text,
        [SOTTO_VIEW_JSON] = account_as_json,
    };

    return sotto_view_run(view, formats, account, "an account", err);
}

/* ---- a device's ledger --------------------------------------------------------------------------------- */

static void ledger_as_text(sotto_text *t, const void *thing)
{
    const sotto_budget_line *l = thing;

    sotto_text_say(t, "%-9s%s\n", l->analysis ? "analysis" : "field", l->name);
    sotto_text_say(
        t,
        "         epsilon %.6g of %.6g, delta %.3g of %.3g, %" PRIu64 " of %" PRIu64 " reports\n",
        sotto_bound_shown(l->epsilon, 6), l->epsilon_allowed, sotto_bound_shown(l->delta, 3),
        l->delta_allowed, l->reports, l->reports_allowed);
    if (l->unknown)
        sotto_text_say(t, "         all of it counts as spent: the ledger was reset, and nobody "
                          "knows better\n");
    if (isinf(l->local_allowed))
        sotto_text_say(t, "         one report: also without local protection\n");
    else if (l->local_allowed > 0)
        sotto_text_say(t, "         one report: epsilon %.6g at most\n", l->local_allowed);
}

static void ledger_as_json(sotto_text *t, const void *thing)
{
    const sotto_budget_line *l = thing;
    sotto_json j = sotto_json_on(*t, SOTTO_JSON_COMPACT);

    sotto_json_object(&j, NULL);
    sotto_json_text(&j, "of", l->analysis ? "analysis" : "field");
    sotto_json_text(&j, "name", l->name);
    sotto_json_real(&j, "epsilon", l->epsilon);
    sotto_json_real(&j, "delta", l->delta);
    sotto_json_uint(&j, "reports", l->reports);
    sotto_json_real(&j, "epsilon_allowed", l->epsilon_allowed);
    sotto_json_real(&j, "delta_allowed", l->delta_allowed);
    sotto_json_uint(&j, "reports_allowed", l->reports_allowed);
    sotto_json_real(&j, "local_allowed", l->local_allowed);
    sotto_json_bool(&j, "unknown", l->unknown);
    sotto_json_bool(&j, "all_spent", l->unknown);
    t->status = sotto_json_finish(&j);
}

sotto_status sotto_view_ledger(const sotto_view *view, const sotto_budget_line *line,
                               sotto_err *err)
{
    sotto_err_clear(err);

    static sotto_show *const formats[SOTTO_VIEW_FORMATS] = {
        [SOTTO_VIEW_TEXT] = ledger_as_text,
        [SOTTO_VIEW_JSON] = ledger_as_json,
    };

    return sotto_view_run(view, formats, line, "a ledger", err);
}
