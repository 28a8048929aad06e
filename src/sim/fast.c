/* Devices without store, ledger or cryptography: query, pick, draw, measure, add. */
#include "base/arena.h"
#include "device/answer/answer.h"
#include "device/answer/measure.h"
#include "device/answer/participate.h"
#include "noise/coin.h"
#include "recipe/encoding.h"
#include "sim/worker.h"

/* Whether it answers, and when: as device_judge.c goes through a draw, for a device that is ready at every moment. */
static bool turn_of(const sotto_recipe *recipe, const sotto_decision *decision, int64_t *now)
{
    *now = recipe->opens;
    switch (sotto_participation_turn(decision, *now)) {
    case SOTTO_TURN_NOW:
        return true;
    case SOTTO_TURN_TO_COME:
        *now = decision->window.start + (int64_t)(decision->slot * decision->window.length);
        return *now < recipe->closes;
    case SOTTO_TURN_MISSED:
        break;
    }
    return false;
}

/* One of those that match, or of all; the count says which are meant. */
static sotto_status draw_among(uint64_t *bin, const sotto_encoding *e, const uint64_t *bins,
                               size_t count, bool matching, sotto_entropy *entropy, sotto_err *err)
{
    uint64_t seen = 0, draw;

    for (size_t i = 0; i < count; i++) {
        if (sotto_encoding_matches_vartime(e, bins[i]) != matching)
            continue;
        SOTTO_TRY(sotto_uniform_below(&draw, ++seen, entropy, err));
        if (draw == 0)
            *bin = bins[i];
    }
    return SOTTO_OK;
}

static sotto_status pick(uint64_t *bin, const sotto_recipe *recipe, const uint64_t *bins,
                         size_t count, sotto_entropy *entropy, sotto_err *err)
{
    bool matches = false;
    uint64_t number;

    *bin = SOTTO_NO_VALUE;
    if (count == 0)
        return SOTTO_OK;
    switch (recipe->pick) {
    case SOTTO_PICK_FIRST:
        *bin = bins[0];
        return SOTTO_OK;
    case SOTTO_PICK_MATCHING_AT_RANDOM:
        for (size_t i = 0; i < count; i++)
            matches = matches || sotto_encoding_matches_vartime(&recipe->encoding, bins[i]);
        return draw_among(bin, &recipe->encoding, bins, count, matches, entropy, err);
    case SOTTO_PICK_ONE_AT_RANDOM:
        break;
    }
    SOTTO_TRY(sotto_uniform_below(&number, count, entropy, err));
    *bin = bins[number];
    return SOTTO_OK;
}

/* Where there is no bin, the recipe says what is answered; *silent: nothing. */
static sotto_status without_match(uint64_t *bin, bool *silent, const sotto_recipe *recipe,
                                  sotto_entropy *entropy, sotto_err *err)
{
    const bool none = *bin == SOTTO_NO_VALUE;

    *silent = none && recipe->on_no_match == SOTTO_NO_MATCH_SILENCE;
    return none ? sotto_answer_otherwise(bin, recipe, entropy, err) : SOTTO_OK;
}

static sotto_status report(sotto_sim_worker *w, sotto_sim_cohort *cohort, uint64_t bin,
                           sotto_entropy *entropy, sotto_err *err)
{
    const sotto_trial *t = w->trial;
    const sotto_arena_mark here = sotto_arena_here(&w->work);
    sotto_measurement m;
    sotto_bytes bits;
    sotto_status status =
        sotto_measure_with(&m, &bits, &t->content, t->skellam, bin, entropy, &w->work, err);

    for (size_t i = 0; status == SOTTO_OK && !t->content.one && i < m.count; i++)
        cohort->sums[i] += m.values[i];
    if (status == SOTTO_OK && t->content.one)
        cohort->sums[m.values[0]]++;
    sotto_arena_rollback(&w->work, here);
    sotto_worker_count(cohort, bin);
    return status;
}

/* Importance sampling: a device reads its value first, and draws at the rate that the value has. */
static sotto_status weigh(sotto_sim_worker *w, const sotto_sim_device *device,
                          sotto_sim_cohort *cohort, sotto_entropy *entropy, sotto_err *err)
{
    const sotto_recipe *recipe = w->trial->recipe;
    const uint64_t *bins;
    bool silent = false;
    uint64_t bin;
    size_t count;

    SOTTO_TRY(sotto_scratch_run(w->scratch, &bins, &count, device, recipe->opens, err));
    SOTTO_TRY(pick(&bin, recipe, bins, count, entropy, err));
    SOTTO_TRY(without_match(&bin, &silent, recipe, entropy, err));
    SOTTO_TRY(sotto_participation_weigh(&silent, &recipe->participation, bin, entropy, err));
    sotto_worker_count_drawn(cohort, bin);
    if (!silent)
        return report(w, cohort, bin, entropy, err);
    cohort->silent++;
    return SOTTO_OK;
}

static sotto_status answer(sotto_sim_worker *w, const sotto_sim_device *device,
                           sotto_sim_cohort *cohort, sotto_entropy *entropy, sotto_err *err)
{
    const sotto_recipe *recipe = w->trial->recipe;
    sotto_lot lot = {recipe, entropy, recipe->opens};
    sotto_decision decision = {0};
    const uint64_t *bins;
    bool silent = false;
    uint64_t bin = SOTTO_NO_VALUE;
    size_t count;
    int64_t now;

    if (recipe->participation.type == SOTTO_IMPORTANCE)
        return weigh(w, device, cohort, entropy, err);
    SOTTO_TRY(sotto_participation_draw(&lot, &decision, err));
    if (decision.choice == SOTTO_CHOICE_SILENT || !turn_of(recipe, &decision, &now)) {
        cohort->silent++;
        return SOTTO_OK;
    }
    if (decision.choice == SOTTO_CHOICE_TAKE_PART) {
        SOTTO_TRY(sotto_scratch_run(w->scratch, &bins, &count, device, now, err));
        SOTTO_TRY(pick(&bin, recipe, bins, count, entropy, err));
        SOTTO_TRY(without_match(&bin, &silent, recipe, entropy, err));
    }
    if (!silent)
        return report(w, cohort, bin, entropy, err);
    cohort->silent++;
    return SOTTO_OK;
}

sotto_status sotto_worker_take_fast(sotto_sim_worker *w, uint64_t first,
                                    const sotto_sim_device *devices, size_t count, sotto_err *err)
{
    sotto_sim_random random = sotto_sim_random_fork(&w->trial->run.random, first);
    sotto_status status = SOTTO_OK;
    sotto_entropy entropy;

    sotto_entropy_init(&entropy, sotto_sim_random_fill, &random);
    for (size_t i = 0; i < count && status == SOTTO_OK; i++) {
        size_t cohort;
        bool asked;

        sotto_worker_cohort(w->trial, &devices[i], &cohort, &asked);
        if (asked)
            status = answer(w, &devices[i], &w->cohorts[cohort], &entropy, err);
    }
    return status;
}
