/* Random check-ins: who is in which step, and steps whose length a theorem says. */
#include "learn.h"

#include "learn/random.h"

#include <math.h>
#include <string.h>

/* ---- the schedule --------------------------------------------------------------------------------------------------- */

/* One of a slot where a theorem about pure reports wants it; all where sums have noise of their own. */
static sotto_slot_policy policy_of(const learn_options *o)
{
    if (o->schedule == SOTTO_SCHEDULE_FIX || (o->one_bit && o->schedule != SOTTO_SCHEDULE_AVG))
        return SOTTO_SLOT_ONE_OF;
    return o->schedule == SOTTO_SCHEDULE_SLDW ? SOTTO_SLOT_ALL_AFTER_WARM_UP : SOTTO_SLOT_ALL;
}

sotto_status learn_checkin_plan(learn_run *run, sotto_err *err)
{
    learn_options *o = run->options;
    const double users = (double)run->dataset.users;

    if (!o->schedule)
        return SOTTO_OK;
    if (o->schedule == SOTTO_SCHEDULE_FIX && o->check_in <= 0)
        o->check_in = fmin(1, 3 * (double)o->slots / users); /* a slot in 20 is empty */
    const sotto_schedule_config config = {.law = o->schedule,
                                          .policy = policy_of(o),
                                          .devices = run->dataset.users,
                                          .slots = o->slots,
                                          .batch = o->per_step,
                                          .arrivals = o->one_bit ? 1 : o->cohort,
                                          .chance =
                                              o->schedule == SOTTO_SCHEDULE_FIX ? o->check_in : 1};

    SOTTO_TRY(sotto_schedule_init(&run->schedule, &config, err));
    o->rounds = run->schedule.steps;
    run->slot_of = sotto_arena_take_array(&run->arena, run->dataset.users, sizeof *run->slot_of);
    run->slot_count =
        sotto_arena_take_array(&run->arena, (size_t)o->per_step, sizeof *run->slot_count);
    run->slot_at = sotto_arena_take_array(&run->arena, (size_t)o->per_step, sizeof *run->slot_at);
    if (!run->slot_of || !run->slot_count || !run->slot_at)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for %zu users", run->dataset.users);
    for (size_t i = 0; i < run->dataset.users; i++)
        run->slot_of[i] = sotto_schedule_draw(&run->schedule, i, o->seed);
    return SOTTO_OK;
}

void learn_checkin_choose(learn_run *run)
{
    const sotto_schedule *s = &run->schedule;
    const uint64_t step = run->session.round, batch = s->config.batch,
                   first = s->first + step * batch;

    memset(run->slot_count, 0, (size_t)batch * sizeof *run->slot_count);
    memset(run->slot_at, 0, (size_t)batch * sizeof *run->slot_at);
    for (size_t i = 0; i < run->dataset.users; i++)
        if (sotto_schedule_step(s, run->slot_of[i]) == step)
            run->slot_count[run->slot_of[i] - first]++;
    for (size_t i = 0; i < run->dataset.users; i++) {
        const uint64_t slot = run->slot_of[i];

        if (sotto_schedule_step(s, slot) != step)
            continue;
        const uint64_t coin = sotto_learn_seed(run->options->seed ^ UINT64_C(0x7069636b), slot);
        if (sotto_schedule_keeps(s, run->slot_at[slot - first]++, run->slot_count[slot - first],
                                 coin))
            run->chosen[run->chosen_count++] = (uint32_t)i;
    }
    for (uint64_t i = 0; i < batch && s->config.policy == SOTTO_SLOT_ONE_OF; i++)
        run->dummies += run->slot_count[i] == 0;
    run->all_dummies += run->dummies;
}

double learn_checkin_divisor(const learn_run *run)
{
    /* Theorem 4.1 covers how many came; a Gaussian on the sum does not. */
    if (run->options->one_bit && run->options->schedule == SOTTO_SCHEDULE_AVG)
        return (double)run->devices;
    return sotto_schedule_divisor(&run->schedule, run->session.round);
}

/* ---- steps of theorems ------------------------------------------------------------------------------------------------ */

static double variance_of(const learn_run *run)
{
    const double scale = run->update.config.scale, mean = sotto_schedule_divisor(&run->schedule, 0);
    const double deviation = run->options->one_bit ? (double)run->one_bit.size / scale * sqrt(mean)
                                                   : run->update.sigma / scale;

    return deviation * deviation / (mean * mean);
}

static sotto_status open_rate(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;
    const size_t count = run->model.parameters;

    run->rate = (sotto_rate){.law = o->step_size,
                             .diameter = o->diameter,
                             .lipschitz = o->clip,
                             .dimension = (double)count,
                             .variance = variance_of(run),
                             .devices = (double)run->dataset.users,
                             .slots = (double)o->slots,
                             .chance = run->schedule.config.chance,
                             .smooth = o->smooth};
    SOTTO_TRY(sotto_rate_check(&run->rate, err));
    sotto_rate_project(run->session.weights, count, o->diameter);
    if (o->step_size != SOTTO_RATE_AVG_SMOOTH)
        return SOTTO_OK;
    run->mean = sotto_arena_take_array(&run->arena, count, sizeof *run->mean);
    run->mean_weights = sotto_arena_take_array(&run->arena, count, sizeof *run->mean_weights);
    if (!run->mean || !run->mean_weights)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a mean of models");
    memset(run->mean, 0, count * sizeof *run->mean);
    return SOTTO_OK;
}

sotto_status learn_checkin_open(learn_run *run, sotto_err *err)
{
    const learn_options *o = run->options;

    if (o->one_bit) {
        SOTTO_TRY(sotto_one_bit_init(&run->one_bit, run->model.parameters, run->update.length,
                                     o->local_epsilon, o->seed ^ UINT64_C(0x7369676e), err));
        if ((double)run->one_bit.size * (double)(run->dataset.users + o->per_step) >= 0x1p62)
            return sotto_fail(err, SOTTO_DENIED, "--scale: a sum of all reports does not fit");
    }
    return o->step_size ? open_rate(run, err) : SOTTO_OK;
}

void learn_checkin_before_step(learn_run *run)
{
    const uint64_t step = run->session.round + 1;

    if (run->mean)
        sotto_rate_average(run->mean, run->session.weights, run->model.parameters, step);
    if (run->options->step_size)
        run->session.step.rate = sotto_rate_of(&run->rate, step);
}

void learn_checkin_after_step(learn_run *run)
{
    if (run->options->step_size)
        sotto_rate_project(run->session.weights, run->model.parameters, run->options->diameter);
}

float *learn_checkin_show(learn_run *run)
{
    float *kept = run->session.weights;

    if (run->mean && run->session.round > 0) {
        for (size_t i = 0; i < run->model.parameters; i++)
            run->mean_weights[i] = (float)run->mean[i];
        run->session.weights = run->mean_weights;
    }
    return kept;
}

void learn_checkin_unshow(learn_run *run, float *weights)
{
    run->session.weights = weights;
}

/* ---- the claim ------------------------------------------------------------------------------------------------------ */

sotto_status learn_checkin_claim(const learn_run *run, uint64_t rounds, double multiplier,
                                 double local, sotto_schedule_claim *out, sotto_err *err)
{
    const sotto_schedule_noise noise = {.local_epsilon = run->options->one_bit ? local : 0,
                                        .sigma = multiplier * run->update.length * (1 - 1e-12),
                                        .length = run->update.length,
                                        .dimension = run->numbers};

    if (!run->options->one_bit && multiplier <= 0)
        return sotto_fail(err, SOTTO_MISSING, "no noise, so nothing is claimed");
    return sotto_schedule_claim_of(out, &run->schedule, &noise, rounds, run->options->delta, err);
}
