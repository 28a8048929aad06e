/* What a run came to: the answer by the analyst's own functions, and the truth beside each of its numbers. */
#include "sim/worker.h"

#include "base/arena.h"
#include "recipe/statistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void merge_counts(sotto_sim_cohort *into, const sotto_sim_cohort *from,
                         const sotto_trial *trial)
{
    into->reports += from->reports;
    into->without += from->without;
    into->silent += from->silent;
    for (uint64_t i = 0; i < trial->content.values; i++) {
        into->truth[i] += from->truth[i];
        into->drawn[i] += from->drawn[i];
    }
    for (size_t i = 0; trial->run.fast && i < trial->content.entries; i++)
        into->sums[i] += from->sums[i];
}

static sotto_status merge(sotto_sim_worker *const *workers, size_t count, size_t cohort,
                          sotto_err *err)
{
    sotto_sim_worker *w = workers[0];

    for (size_t i = 0; i < count; i++) {
        if (w->servers)
            SOTTO_TRY(sotto_sim_servers_flush(workers[i]->servers, err));
        if (i == 0)
            continue;
        merge_counts(&w->cohorts[cohort], &workers[i]->cohorts[cohort], w->trial);
        if (w->servers)
            SOTTO_TRY(sotto_sim_servers_merge(w->servers, workers[i]->servers, cohort, err));
    }
    return SOTTO_OK;
}

/* ---- the sums ------------------------------------------------------------------------------------------------- */

/* Both servers' noise on one sum; each draws for itself, as in servers.c. */
static sotto_status add_noise(sotto_uint128 *sums, size_t entries, const sotto_trial *trial,
                              size_t cohort, sotto_err *err)
{
    for (unsigned who = 0; who < 2; who++) {
        sotto_sim_random random =
            sotto_sim_random_fork(&trial->run.random, UINT64_MAX - 2 * cohort - who);
        sotto_entropy entropy;
        int64_t drawn;

        sotto_entropy_init(&entropy, sotto_sim_random_fill, &random);
        for (size_t i = 0; i < entries; i++) {
            SOTTO_TRY(sotto_noise_draw(trial->gaussian, &drawn, 1, &entropy, err));
            sums[i].low += (uint64_t)drawn;
            sums[i].high = sums[i].low >> 63 ? UINT64_MAX : 0;
        }
    }
    return SOTTO_OK;
}

static sotto_status collect_fast(sotto_collection *out, const sotto_trial *trial,
                                 const sotto_sim_cohort *c, size_t cohort, sotto_arena *arena,
                                 sotto_err *err)
{
    const sotto_task *task = &trial->tasks[cohort];

    if (c->reports < task->min_batch_size)
        return sotto_fail(err, SOTTO_DENIED, "a batch of %llu reports; the recipe demands %llu",
                          (unsigned long long)c->reports, (unsigned long long)task->min_batch_size);
    *out = (sotto_collection){.reports = c->reports,
                              .from = task->opens,
                              .until = task->closes,
                              .sum_count = trial->content.entries};
    out->sums = sotto_arena_take_array(arena, out->sum_count, sizeof *out->sums);
    if (!out->sums)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu sums", out->sum_count);
    for (size_t i = 0; i < out->sum_count; i++)
        out->sums[i].low = c->sums[i];
    return trial->gaussian ? add_noise(out->sums, out->sum_count, trial, cohort, err) : SOTTO_OK;
}

/* ---- the truth ------------------------------------------------------------------------------------------------- */

/* What is counted up to a value and above it decides, as in analyse/figures.c. */
static double true_quantile(const uint64_t *truth, size_t count, sotto_number_grid grid, double t)
{
    double all = 0, up_to = 0;
    size_t i = 0;

    for (size_t j = 0; j < count; j++)
        all += (double)truth[j];
    for (; i + 1 < count; i++) {
        up_to += (double)truth[i];
        if ((1 - t) * up_to - t * (all - up_to) >= 0)
            break;
    }
    return grid.min + grid.step * (double)i;
}

static double true_figure(const sotto_trial *trial, const uint64_t *truth, const char *name)
{
    const sotto_report_content *c = &trial->content;
    const sotto_number_grid grid = trial->recipe->statistic == SOTTO_STATISTIC_COUNT
                                       ? (sotto_number_grid){0, 0}
                                       : sotto_recipe_grid(trial->recipe);
    double count = 0, sum = 0, above = 0;

    for (uint64_t i = 0; i < c->values; i++) {
        count += (double)truth[i];
        sum += (double)truth[i] * (grid.min + grid.step * (double)i);
        above += (double)truth[i] * ((double)i - (double)c->none);
    }
    if (strcmp(name, "count") == 0)
        return count;
    if (strcmp(name, "sum") == 0)
        return grid.step * above;
    if (strcmp(name, "mean") == 0)
        return count > 0 ? sum / count : 0;
    return true_quantile(truth, (size_t)c->values, grid, strtod(name + strlen("quantile "), NULL));
}

/* Of all devices in place of the reports. */
static sotto_sim_line scaled(sotto_sim_line line, const sotto_result_whole *w, double truth)
{
    line.truth = truth;
    line.value = w->count;
    line.deviation = sqrt(w->privacy * w->privacy + w->sampling * w->sampling);
    line.low = w->low;
    line.high = w->high;
    return line;
}

static sotto_status write_lines(sotto_sim_outcome *out, const sotto_trial *trial,
                                sotto_arena *arena, sotto_err *err)
{
    const sotto_result *r = &out->result;

    out->lines = sotto_arena_take_array(arena, r->figure_count + r->count + 1, sizeof *out->lines);
    if (!out->lines)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
    for (size_t i = 0; i < r->figure_count; i++) {
        const sotto_result_figure *f = &r->figures[i];

        out->lines[out->line_count++] =
            (sotto_sim_line){.figure = f->name,
                             .truth = true_figure(trial, out->truth, f->name),
                             .value = f->value,
                             .deviation = f->deviation,
                             .low = f->low,
                             .high = f->high};
        if (out->drawn)
            out->lines[i] =
                scaled(out->lines[i], &f->whole, true_figure(trial, out->drawn, f->name));
    }
    for (size_t i = 0; i < r->count; i++) {
        const sotto_result_bin *b = &r->bins[i];
        const sotto_sim_line line = {.bin = b->bin,
                                     .truth = (double)out->truth[b->bin],
                                     .value = b->count,
                                     .deviation = b->deviation,
                                     .low = b->low,
                                     .high = b->high};

        out->lines[out->line_count++] =
            out->drawn ? scaled(line, &r->wholes[i], (double)out->drawn[b->bin]) : line;
    }
    return SOTTO_OK;
}

sotto_status sotto_trial_end(sotto_sim_outcome *out, const sotto_trial *trial,
                             sotto_sim_worker *const *workers, size_t count, size_t cohort,
                             double confidence, sotto_arena *arena, sotto_err *err)
{
    const sotto_recipe *recipe = trial->recipe;
    sotto_result_options options = {.confidence = confidence};
    sotto_sim_worker *w = workers[0];
    const sotto_sim_cohort *c = &w->cohorts[cohort];

    *out = (sotto_sim_outcome){.task = &trial->tasks[cohort], .truth = c->truth};
    if (recipe->participation.type == SOTTO_IMPORTANCE) {
        sotto_recipe_rates(&options, recipe, (uint64_t)recipe->opens, (uint64_t)recipe->closes);
        out->drawn = c->drawn;
    }
    SOTTO_TRY(merge(workers, count, cohort, err));
    out->without = c->without;
    out->silent = c->silent;
    out->collection.reports = c->reports;
    if (trial->run.fast)
        SOTTO_TRY(collect_fast(&out->collection, trial, c, cohort, arena, err));
    else
        SOTTO_TRY(sotto_sim_servers_release(w->servers, &out->collection, cohort, arena, err));
    SOTTO_TRY(sotto_result_estimate(&out->result, trial->recipe, out->collection.sums,
                                    out->collection.sum_count, out->collection.reports, &options,
                                    arena, err));
    if (out->result.count > 0)
        SOTTO_TRY(
            sotto_result_compare(&out->check, &out->result, out->truth, out->result.count, err));
    sotto_receipt_of(&out->receipt, trial->recipe, out->task, &trial->claim, &out->collection,
                     &out->result);
    return write_lines(out, trial, arena, err);
}
