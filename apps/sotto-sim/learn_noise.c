/* The least noise that keeps a stated epsilon: bounds fall with noise, so a search by halves finds it. */
#include "learn.h"

#include <math.h>

enum { HALVES = 48 };

/* As set up later, but for the noise itself: claims ask how long an update is, in integers. */
static sotto_status set_update(learn_run *run, double noise, sotto_err *err)
{
    const learn_options *o = run->options;
    const sotto_update_config config = {.dimension = run->numbers,
                                        .weights = o->weights,
                                        .cap = o->cap,
                                        .clip = o->clip,
                                        .scale = learn_scale(o, o->one_bit ? 0 : noise),
                                        .most = run->dataset.users,
                                        .bits = 62};

    return sotto_update_init(&run->update, &config, &run->arena, err);
}

static double epsilon_at(learn_run *run, double noise, sotto_err *err)
{
    const learn_options *o = run->options;
    sotto_learn_claim sampled;
    sotto_schedule_claim scheduled;
    sotto_status status = set_update(run, noise, err);

    if (status != SOTTO_OK)
        return INFINITY;
    if (o->schedule) {
        status = learn_checkin_claim(run, o->rounds, o->one_bit ? 0 : noise,
                                     o->one_bit ? 1 / noise : 0, &scheduled, err);
        return status == SOTTO_OK ? scheduled.epsilon : INFINITY;
    }
    status = learn_claim_at(run, o->rounds, noise, &sampled, err);
    return status == SOTTO_OK ? sampled.epsilon : INFINITY;
}

sotto_status learn_noise_find(learn_run *run, sotto_err *err)
{
    learn_options *o = run->options;
    /* Of a pure randomizer it is 1 / local epsilon, 1/12 to 100. */
    double low = o->one_bit ? 1 / 12.0 : 0.05, high = o->one_bit ? 100 : 500;
    sotto_err last = {0};

    if (o->epsilon <= 0)
        return SOTTO_OK;
    if (!(epsilon_at(run, high, &last) <= o->epsilon))
        return sotto_fail(err, SOTTO_DENIED, "--epsilon: no noise keeps it%s%s",
                          last.status ? ": " : "", last.reason);
    if (epsilon_at(run, low, NULL) <= o->epsilon)
        high = low;
    for (unsigned i = 0; i < HALVES && high > low * (1 + 1e-9); i++) {
        const double middle = sqrt(low * high);

        *(epsilon_at(run, middle, NULL) <= o->epsilon ? &high : &low) = middle;
    }
    if (o->one_bit)
        o->local_epsilon = 1 / high;
    else
        o->noise = high * (1 + 1e-9);
    return SOTTO_OK;
}
