/* A round whose sample is hidden: what has to be verified, what is paid before the coin, and whether the device has a turn. The
 * theorem wants fresh coins, and a charge and turns that depend on none (docs/decisions/0216 and 0217). */
#include "device/round.h"

#include "base/hex.h"
#include "base/rule.h"
#include "device/answer/participate.h"
#include "device/ledger/session.h"
#include "device/oblivious.h"
#include "noise/coin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- whether it is hidden ---------------------------------------------------------------------------------------- */

void sotto_round_hold_coin(const sotto_device *device, sotto_case *c)
{
    if (SOTTO_RULE(session_only_where_the_policy_says) && !device->terms.policy->when_hidden)
        return;
    if (sotto_learning_unsampled(c->round->learning))
        return;
    c->round->late = true;
    c->draw = false;
}

/* All of it was looked at while the case was judged. What is not there keeps a device silent where the recipe asks for it; here
 * it decides by which theorem the recipe is charged. */
bool sotto_round_hidden(const sotto_device *device, const sotto_case *c)
{
    const sotto_anonymity *a = &c->recipe->anonymity;
    const sotto_policy_log *log =
        a->log ? sotto_policy_log_named(device->terms.policy, a->log) : NULL;

    if (SOTTO_RULE(session_behind_a_relay) &&
        (!a->relay || sotto_oblivious_serves(device->terms.parties, a, c->now, NULL) != SOTTO_OK))
        return false;
    if (SOTTO_RULE(session_with_a_token) && (a->tokens == SOTTO_TOKENS_NONE || !c->plan.token))
        return false;
    /* A log without witnesses may show every device a tree of its own. */
    if (SOTTO_RULE(session_on_a_witnessed_log) && (!log || log->trust.quorum == 0))
        return false;
    return true;
}

sotto_status sotto_round_price(sotto_device *device, sotto_case *c, bool untouched, sotto_err *err)
{
    sotto_round_case *r = c->round;
    bool may = true;

    r->claim.session = r->late && isfinite(r->claim.sampled_epsilon);
    if (r->claim.session && !untouched) {
        SOTTO_TRY(sotto_session_may(device->ledger, &may, &r->charge, err));
        r->claim.session = may && sotto_round_hidden(device, c);
    }
    if (!r->claim.session)
        return SOTTO_OK;
    r->charge.session = true;
    r->charge.epsilon = r->claim.sampled_epsilon;
    c->charge.epsilon = sotto_learning_charge(r->learning, &r->claim);
    return SOTTO_OK;
}

/* ---- before the coin ------------------------------------------------------------------------------------------- */

static sotto_status pay_session(sotto_device *device, sotto_case *c, sotto_err *err)
{
    sotto_refusal refusal = {0};
    sotto_err first = {0};

    if (!c->round->charge.session)
        return SOTTO_OK;
    const sotto_status status = sotto_session_spend(device->ledger, &c->charge, &c->round->charge,
                                                    c->now, &refusal, &first);
    if (status == SOTTO_DENIED && refusal.check) {
        sotto_case_refuse(c, &refusal);
        return SOTTO_OK;
    }
    return sotto_case_overtaken(device, c, status, &first, err);
}

static sotto_status toss(sotto_device *device, sotto_case *c, sotto_entropy *entropy,
                         sotto_err *err)
{
    sotto_lot lot = {c->recipe, entropy, c->now};
    sotto_err first = {0};

    if (!c->round->late || c->decided)
        return SOTTO_OK;
    const sotto_status status =
        sotto_ledger_decide(device->ledger, &c->decision, SOTTO_DECISION_RECIPE, c->recipe->name,
                            sotto_participation_draw, &lot, c->now, &first);
    c->decided = status == SOTTO_OK;
    if (c->decided && c->decision.choice != SOTTO_CHOICE_TAKE_PART)
        sotto_explain_not_sampled(&c->out);
    return sotto_case_overtaken(device, c, status, &first, err);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

typedef struct turns {
    uint64_t spacing;
    sotto_entropy *entropy;
} turns;

static sotto_status draw_turns(void *context, sotto_decision *out, sotto_err *err)
{
    const turns *t = context;

    out->choice = SOTTO_CHOICE_TAKE_PART;
    return sotto_uniform_below(&out->slot, t->spacing, t->entropy, err);
}

/* Every so many rounds, from one on that is drawn once for the recipe's text, by itself. So a turn depends on no coin, and
 * `participations` and `separation` hold whatever coins say; the ledger counts all the same. */
static sotto_status find_turn(sotto_device *device, sotto_case *c, sotto_entropy *entropy,
                              sotto_err *err)
{
    const sotto_learning *l = c->round->learning;
    turns t = {sotto_learning_spacing(l), entropy};
    char name[SOTTO_BUDGET_MAX_NAME + 1], hex[2 * 8 + 1];
    sotto_decision first;
    sotto_err said = {0};

    if (!l->zeros)
        return SOTTO_OK;
    sotto_hex_encode(hex, sotto_bytes_of(l->head.hash, 8));
    if (strlen(l->head.name) + sizeof "#turns " + sizeof hex > sizeof name)
        return sotto_fail(err, SOTTO_MALFORMED, "recipe %.63s: its name is too long for turns",
                          l->head.name);
    (void)snprintf(name, sizeof name, "%s#turns %s", l->head.name, hex);
    const sotto_status status = sotto_ledger_decide(device->ledger, &first, SOTTO_DECISION_RECIPE,
                                                    name, draw_turns, &t, c->now, &said);
    c->round->zeros = c->round->record.round % t.spacing != first.slot % t.spacing;
    c->round->charge.turnless = false; /* from here on, an update is one that counts */
    return sotto_case_overtaken(device, c, status, &said, err);
}

sotto_status sotto_round_begin(sotto_device *device, sotto_case *c, sotto_entropy *entropy,
                               sotto_err *err)
{
    SOTTO_TRY(pay_session(device, c, err));
    if (c->out.why == SOTTO_WHY_READY)
        SOTTO_TRY(toss(device, c, entropy, err));
    if (c->out.why == SOTTO_WHY_READY)
        SOTTO_TRY(find_turn(device, c, entropy, err));
    return SOTTO_OK;
}
