/* A round of learning as a device judges it: read, linted, compiled and priced. */
#include "device/round.h"

#include "account/numeric/decimal.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "device/answer/participate.h"
#include "recipe/learning_slots.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Mistakes take tens of KiB, which are given back before the report. */
static sotto_status read_learning(const sotto_learning **out, sotto_bytes text, sotto_arena *arena,
                                  sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_alloc(sizeof *mistakes);

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "recipe");
    const sotto_status status = sotto_learning_read(out, text, arena, mistakes, err);
    sotto_release(mistakes, sizeof *mistakes);
    return status;
}

/* The recipe's head, under the round's name and within its time. Where a device draws one round of all, a credential is shown for all of
 * them together: then c->recipe has the recipe's own times, and the shelf the round's. */
static void set_head(sotto_round_case *r, sotto_bytes record)
{
    const sotto_learning *l = r->learning;

    r->head = l->head;
    r->head.name = r->name;
    r->head.opens = l->head.opens + (int64_t)(r->record.round * l->every);
    r->head.closes = r->head.opens + (int64_t)l->every;
    r->kept = r->head;
    r->kept.text = record;
    sotto_hash_once(r->kept.hash, SOTTO_SHA256, record);
    if (SOTTO_RULE(shown_once_a_session) && sotto_learning_once(l)) {
        r->head.opens = l->head.opens;
        r->head.closes = l->head.closes;
    }
}

sotto_status sotto_round_read(sotto_device *device, sotto_case *c, sotto_bytes record,
                              sotto_err *err)
{
    sotto_round_case *r = sotto_arena_take(&device->work, sizeof *r);

    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "round");
    *r = (sotto_round_case){0};
    SOTTO_TRY(sotto_round_record_decode(&r->record, record, err));
    SOTTO_TRY(read_learning(&r->learning, r->record.recipe, &device->work, err));
    if (strlen(r->learning->head.name) > SOTTO_ROUND_RECIPE)
        return sotto_fail(err, SOTTO_MALFORMED, "recipe %.63s: its name is too long for rounds",
                          r->learning->head.name);
    (void)snprintf(r->name, sizeof r->name, "%s#%" PRIu64, r->learning->head.name, r->record.round);
    if (SOTTO_RULE(round_within_its_recipe) && r->record.round >= r->learning->rounds)
        return sotto_fail(err, SOTTO_DENIED, "round %" PRIu64 ": the recipe has %" PRIu64,
                          r->record.round, r->learning->rounds);
    if (SOTTO_RULE(round_record_of_the_owner) &&
        sotto_round_record_verify(r->learning, &r->record, err) != SOTTO_OK)
        return SOTTO_REJECTED;
    set_head(r, record);
    if (c->now >= r->kept.closes)
        return sotto_fail(err, SOTTO_STALE, "recipe %.63s: it has closed", r->name);
    c->round = r;
    c->recipe = &r->head;
    c->kept = &r->kept;
    sotto_round_hold_coin(device, c);
    return SOTTO_OK;
}

/* ---- judging --------------------------------------------------------------------------------------------------- */

sotto_status sotto_round_lint(sotto_device *device, sotto_case *c, sotto_recipe_claim *claim,
                              sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_round_case *r = c->round;
    sotto_recipe_verdict verdict;
    const sotto_status status = sotto_learning_judge(&verdict, &r->claim, r->learning,
                                                     device->terms.policy, NULL, mistakes, err);

    claim->honest = r->claim.honest;
    claim->epsilon_cohort = r->claim.epsilon;
    claim->by = c->recipe->by;
    return status;
}

sotto_status sotto_round_compile(sotto_device *device, sotto_case *c, sotto_err *err)
{
    return sotto_round_task_compile(&c->task, c->round->learning, &c->round->record,
                                    device->terms.parties, &device->work, err);
}

/* ---- what it costs --------------------------------------------------------------------------------------------- */

/* Anew after a restart or in another process: the shelf keeps epsilon, and not rho. */
static sotto_status claim(sotto_device *device, sotto_round_case *r, sotto_err *err)
{
    if (r->claim.honest > 0)
        return SOTTO_OK;
    return sotto_learning_claim_compute(&r->claim, r->learning, device->terms.policy->honest, err);
}

static sotto_status rho_of(sotto_decimal *out, const sotto_round_case *r, sotto_err *err)
{
    const double units = ceil(r->claim.rho / SOTTO_DECIMAL_UNIT) + 1;

    if (!(units > 0 && units < 0x1p62))
        return sotto_fail(err, SOTTO_DENIED, "recipe %.63s: no zCDP holds for a round of it",
                          r->learning->head.name);
    out->units = (uint64_t)units;
    return SOTTO_OK;
}

/* Rounds of which a device draws one count from 1 on in the record: 0 would be no answer of the analysis (record.h). */
static sotto_charge charge_of(const sotto_case *c)
{
    const sotto_recipe *recipe = c->recipe;
    const sotto_decision_scope scope = sotto_participation_scope(&recipe->participation);
    sotto_charge out = {.recipe = recipe->name,
                        .analysis = recipe->analysis,
                        .round = c->round->record.round,
                        .scope = scope,
                        .by = recipe->by,
                        .by_name = sotto_noise_source_name(recipe->by),
                        .unprotected = true,
                        .local_adjacency = recipe->adjacency,
                        .epsilon = recipe->epsilon,
                        .delta = recipe->delta,
                        .adjacency = recipe->adjacency,
                        .min_cohort = recipe->min_cohort,
                        .population = recipe->population,
                        .asked = &c->asked};

    if (SOTTO_RULE(first_round_is_an_answer) && scope == SOTTO_DECISION_ANALYSIS)
        out.round++;
    out.fields = sotto_query_accessed(c->query, &out.field_count);
    return out;
}

sotto_status sotto_round_turn(sotto_case *c, sotto_refusal *refusal, sotto_status status)
{
    if (status != SOTTO_DENIED || refusal->check != SOTTO_CHECK_ROUNDS)
        return status;
    sotto_explain(&c->out, SOTTO_WHY_ROUNDS, refusal->subject, "%s", refusal->text);
    refusal->check = 0;
    return SOTTO_OK;
}

/* A ledger in which nothing was spent. */
static sotto_status affordable(void *context, const sotto_charge *charge, uint64_t honest,
                               double *epsilon, sotto_err *err)
{
    const sotto_round_charge *r = context;

    (void)charge;
    (void)err;
    *epsilon = honest < r->honest ? INFINITY : r->epsilon;
    return SOTTO_OK;
}

sotto_status sotto_round_judge(sotto_device *device, sotto_case *c, bool untouched,
                               sotto_refusal *refusal, sotto_err *err)
{
    static sotto_spent nothing[SOTTO_QUERY_MAX_ACCESSED]; /* never written */
    sotto_round_case *r = c->round;
    const sotto_learning *l = r->learning;

    SOTTO_TRY(claim(device, r, err));
    r->charge = (sotto_round_charge){.hash = l->head.hash,
                                     .recipe = l->head.name,
                                     .round = r->record.round,
                                     .participations = l->participations,
                                     .separation = l->separation,
                                     .opens = l->head.opens,
                                     .epsilon = r->claim.epsilon,
                                     .honest = r->claim.honest,
                                     .turnless = l->zeros};
    SOTTO_TRY(rho_of(&r->charge.rho, r, err));
    if (SOTTO_RULE(round_fits_memory) && !sotto_round_fits(device, c)) {
        sotto_explain(&c->out, SOTTO_WHY_POLICY, "most_rows",
                      "This device has no memory for a model of that size with so many rows.");
        return SOTTO_OK;
    }
    c->asked = sotto_shelf_asked(c->recipe);
    c->charge = charge_of(c);
    SOTTO_TRY(sotto_round_price(device, c, untouched, err));
    if (!untouched)
        return sotto_round_turn(
            c, refusal,
            sotto_ledger_check_round(device->ledger, &c->charge, &r->charge, c->now, refusal, err));
    const sotto_recompute again = {affordable, &r->charge};
    SOTTO_TRY(sotto_charge_check(&c->charge, err));
    return sotto_budget_check(&device->terms.budgets, &c->charge, &nothing[0], nothing, &again,
                              refusal, err);
}
