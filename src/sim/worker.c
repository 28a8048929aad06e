#include "sim/worker.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "recipe/task.h"

#include <string.h>

/* Tables of all cohorts, in each thread. */
#define KEEP ((size_t)96 << 20)

void sotto_worker_cohort(const sotto_trial *trial, const sotto_sim_device *device, size_t *cohort,
                         bool *asked)
{
    const sotto_recipe *recipe = trial->recipe;

    *cohort = 0;
    *asked = recipe->cohort_count == 0 ||
             sotto_recipe_cohort_of(recipe, cohort, device->described, NULL) == SOTTO_OK;
    for (size_t i = 0; i < recipe->targeting_count; i++)
        *asked =
            *asked && sotto_recipe_targets(recipe, i, device->described[recipe->cohort_count + i]);
}

void sotto_worker_count(sotto_sim_cohort *cohort, uint64_t bin)
{
    cohort->reports++;
    if (bin == SOTTO_NO_VALUE)
        cohort->without++;
    else
        cohort->truth[bin]++;
}

void sotto_worker_count_drawn(sotto_sim_cohort *cohort, uint64_t bin)
{
    if (bin != SOTTO_NO_VALUE)
        cohort->drawn[bin]++;
}

static sotto_status open_cohorts(sotto_sim_worker *w, sotto_err *err)
{
    const sotto_trial *t = w->trial;

    w->cohorts = sotto_arena_take_array(&w->keep, t->cohorts, sizeof *w->cohorts);
    for (size_t i = 0; w->cohorts && i < t->cohorts; i++) {
        sotto_sim_cohort *c = &w->cohorts[i];

        c->truth = sotto_arena_take_array(&w->keep, (size_t)t->content.values, sizeof *c->truth);
        c->drawn = sotto_arena_take_array(&w->keep, (size_t)t->content.values, sizeof *c->drawn);
        c->sums =
            sotto_arena_take_array(&w->keep, t->run.fast ? t->content.entries : 1, sizeof *c->sums);
        if (!c->truth || !c->drawn || !c->sums)
            w->cohorts = NULL;
    }
    return w->cohorts ? SOTTO_OK
                      : sotto_fail(err, SOTTO_NO_MEMORY,
                                   "%zu cohorts of %zu sums are more than a simulation holds",
                                   t->cohorts, t->content.entries);
}

static sotto_status take_key(void *context, sotto_ephemeral *out, const sotto_hpke_config *to,
                             sotto_err *err)
{
    sotto_sim_worker *w = context;

    for (unsigned who = 0; who < 2 && to->public_key.len == SOTTO_SIM_ENC; who++) {
        if (w->kept[who].made == 0)
            memcpy(w->kept[who].to, to->public_key.data, SOTTO_SIM_ENC);
        if (memcmp(w->kept[who].to, to->public_key.data, SOTTO_SIM_ENC) != 0)
            continue;
        sotto_ephemeral *keys = w->kept[who].keys;
        if (w->kept[who].made < SOTTO_SIM_KEYS)
            SOTTO_TRY(sotto_ephemerals_take(w->stock, &keys[w->kept[who].made++], to, err));
        *out = keys[w->kept[who].next++ % w->kept[who].made];
        return SOTTO_OK;
    }
    return sotto_ephemerals_take(w->stock, out, to, err);
}

sotto_status sotto_worker_open(sotto_sim_worker **out, const sotto_trial *trial, sotto_err *err)
{
    sotto_sim_worker *w = sotto_alloc(sizeof *w);

    *out = w;
    if (!w)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a simulation");
    w->trial = trial;
    sotto_arena_init(&w->keep, KEEP);
    sotto_arena_init(&w->work, (size_t)64 << 20);
    SOTTO_TRY(open_cohorts(w, err));
    if (trial->run.fast)
        return sotto_scratch_open(&w->scratch, trial, err);
    w->shared = sotto_device_shared_new();
    w->stock = sotto_ephemerals_new();
    if (!w->shared || !w->stock)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a simulation");
    sotto_shared_seal_with(w->shared, (sotto_ephemeral_source){take_key, w});
    sotto_shared_keep_recipe(w->shared, trial->recipe);
    return sotto_sim_servers_open(&w->servers, trial, err);
}

void sotto_worker_close(sotto_sim_worker *w)
{
    if (!w)
        return;
    sotto_scratch_close(w->scratch);
    sotto_sim_servers_close(w->servers);
    sotto_device_shared_free(w->shared);
    sotto_ephemerals_free(w->stock);
    sotto_arena_clear(&w->keep);
    sotto_arena_clear(&w->work);
    sotto_release(w, sizeof *w);
}

sotto_status sotto_worker_take(sotto_sim_worker *w, uint64_t first, const sotto_sim_device *devices,
                               size_t count, sotto_err *err)
{
    if (w->trial->run.fast)
        return sotto_worker_take_fast(w, first, devices, count, err);
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(sotto_worker_take_whole(w, first + i, &devices[i], err));
    return SOTTO_OK;
}
