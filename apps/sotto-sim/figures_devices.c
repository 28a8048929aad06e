/* Devices that draw by the device's own coins, noise by the servers' own sampler, and counts by the analyst's estimator. */
#include "figures.h"

#include "base/alloc.h"
#include "device/answer/participate.h"
#include "noise/estimate.h"
#include "noise/noise.h"
#include "sim/random.h"

#include <math.h>

/* Bin 0 has the default value where there is one. */
typedef struct crowd {
    const figure_draw *draw;
    sotto_participation law;
    sotto_sim_random values;
    sotto_entropy entropy;
    sotto_noise rare; /* how many devices have a rare value */
    uint64_t *counts;
    uint64_t reports;
} crowd;

/* ---- devices ---------------------------------------------------------------------------------------- */

static sotto_status ask(crowd *c, uint64_t bin, sotto_err *err)
{
    bool silent;

    SOTTO_TRY(sotto_participation_weigh(&silent, &c->law, bin, &c->entropy, err));
    c->counts[bin] += !silent;
    c->reports += !silent;
    return SOTTO_OK;
}

/* Devices with the default value move no count but their own, which is no part of the error: they are drawn once. */
static sotto_status ask_all(crowd *c, bool also_default, sotto_err *err)
{
    const figure_draw *d = c->draw;
    const uint64_t first = d->gamma < 1;
    int64_t rare = (int64_t)d->devices;

    if (first)
        SOTTO_TRY(sotto_noise_draw(&c->rare, &rare, 1, &c->entropy, err));
    for (uint64_t i = 0; i < d->bins; i++)
        c->counts[i] = 0;
    for (int64_t i = 0; i < rare; i++)
        SOTTO_TRY(ask(c, first + sotto_sim_random_below(&c->values, d->bins - first), err));
    for (int64_t i = rare; also_default && i < (int64_t)d->devices; i++)
        SOTTO_TRY(ask(c, 0, err));
    return SOTTO_OK;
}

/* ---- noise ------------------------------------------------------------------------------------------ */

/* Counts are in parts of 1/scale, so that whole numbers of a small deviation are as good as others. */
typedef struct grid {
    sotto_noise noise;
    double scale;
    bool any;
} grid;

static sotto_status set_up(grid *out, double sigma, sotto_arena *arena, sotto_err *err)
{
    out->any = sigma > 0;
    out->scale = 1;
    if (!out->any)
        return SOTTO_OK;
    out->scale = fmax(1, ceil(4 / sigma));
    const double milli = round(sigma * out->scale * 1000);
    return sotto_noise_gaussian(&out->noise, (uint64_t)(milli * milli), 1000000, arena, err);
}

/* ---- errors ----------------------------------------------------------------------------------------- */

/* Reports are not randomised: a count supports itself alone. */
static const sotto_randomizer plain = {.p = 1, .q = 0};

static sotto_status squared_error(double *out, crowd *c, const grid *g, sotto_err *err)
{
    enum { BLOCK = 256 };
    const figure_draw *d = c->draw;
    const uint64_t first = d->gamma < 1;
    const double all = (double)d->devices,
                 truth = (d->gamma < 1 ? d->gamma : 1) / (double)(d->bins - first);
    int64_t drawn[BLOCK] = {0};

    *out = 0;
    for (uint64_t i = first; i < d->bins; i++) {
        const size_t at = (size_t)((i - first) % BLOCK);

        if (g->any && at == 0)
            SOTTO_TRY(sotto_noise_draw(&g->noise, drawn, BLOCK, &c->entropy, err));
        const double sum = (double)c->counts[i] * g->scale + (double)drawn[at],
                     count = sotto_estimate_count(&plain, sum / g->scale, (double)c->reports).value,
                     off = count / (d->rate_other * all) - truth;
        *out += off * off;
    }
    return SOTTO_OK;
}

/* How often it takes until chance leaves a part in a hundred. The error by the draw varies with reports and bins, the one by noise with
 * bins alone. */
static unsigned repeats_of(const figure_draw *d, double sigma)
{
    const double reports = (double)d->devices * fmin(d->gamma, 1) * d->rate_other,
                 bins = (double)d->bins, all = d->rate_other * (double)d->devices,
                 draw = fmin(d->gamma, 1) / all, noise = bins * sigma * sigma / (all * all),
                 both = draw + noise,
                 squares = draw * draw * (2 / bins + 1 / fmax(reports, 1)) +
                           (noise * noise + 2 * draw * noise) * 2 / bins;

    return (unsigned)fmin(fmax(ceil(squares / (both * both) / 1e-4), 2), 4000);
}

static sotto_status repeat(double errors[FIGURE_SIGMAS], crowd *c, const grid *grids,
                           sotto_err *err)
{
    const figure_draw *d = c->draw;
    unsigned repeats[FIGURE_SIGMAS] = {0}, most = 0;
    double sums[FIGURE_SIGMAS] = {0};

    for (size_t j = 0; j < d->count; j++) {
        repeats[j] = repeats_of(d, d->sigmas[j]);
        most = repeats[j] > most ? repeats[j] : most;
    }
    for (unsigned i = 0; i < most; i++) {
        SOTTO_TRY(ask_all(c, i == 0, err));
        for (size_t j = 0; j < d->count; j++) {
            double error;

            if (i >= repeats[j])
                continue;
            SOTTO_TRY(squared_error(&error, c, &grids[j], err));
            sums[j] += error;
        }
    }
    for (size_t j = 0; j < d->count; j++)
        errors[j] = sums[j] / repeats[j];
    return SOTTO_OK;
}

static sotto_status set_up_all(crowd *c, grid *grids, sotto_arena *arena, sotto_err *err)
{
    const figure_draw *d = c->draw;

    if (d->gamma < 1)
        SOTTO_TRY(
            sotto_noise_binomial(&c->rare, d->devices, (uint64_t)ldexp(d->gamma, 64), arena, err));
    for (size_t i = 0; i < d->count; i++)
        SOTTO_TRY(set_up(&grids[i], d->sigmas[i], arena, err));
    return SOTTO_OK;
}

sotto_status figure_simulate(double errors[FIGURE_SIGMAS], const figure_draw *draw, sotto_err *err)
{
    static grid grids[FIGURE_SIGMAS];
    const size_t bytes = (size_t)draw->bins * sizeof(uint64_t);
    sotto_sim_random random;
    sotto_arena arena;
    crowd c = {.draw = draw,
               .law = {.type = SOTTO_IMPORTANCE,
                       .rate = draw->rate_default,
                       .rate_other = draw->rate_other,
                       .default_bin = draw->gamma < 1 ? 0 : SOTTO_NO_VALUE},
               .counts = sotto_alloc(bytes)};
    sotto_status status;

    if (!c.counts)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%llu bins", (unsigned long long)draw->bins);
    sotto_sim_random_init(&random, draw->seed);
    c.values = sotto_sim_random_fork(&random, 1);
    sotto_entropy_init(&c.entropy, sotto_sim_random_fill, &random);
    sotto_arena_init(&arena, (size_t)64 << 20);
    status = set_up_all(&c, grids, &arena, err);
    if (status == SOTTO_OK)
        status = repeat(errors, &c, grids, err);
    sotto_entropy_clear(&c.entropy);
    sotto_arena_clear(&arena);
    sotto_release(c.counts, bytes);
    return status;
}
