/* 95% means between 94% and 97%: for every statistic and every source of noise, at ordinary truths, small ones, and those at
 * the end of what can be.
 *
 * Each share is of 10^4 draws from a fixed seed (a tenth of it and wider bounds under sanitizers), so these tests never fail by chance. With new seeds they would rarely do.
 * Shares that are 95% in truth fall below 94% with a chance of 3e-6, and those of 96.2% exceed 97% with a chance of 2e-5. There
 * are about 130 shares, so a false alarm has a chance below 3e-3 for all of them. */
#include "analyse/bins.h"
#include "coverage_batch.h"

#include "noise/noise.h"
#include "sim/random.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = SOTTO_TEST_DRAWS(10000) };

#define FOUR                                                                                       \
    "{\"x\": {\"type\": \"categories\", \"values\": [\"a\", \"b\", \"c\", \"d\"], \"oov\": "       \
    "false}}"
#define NUMBER    "{\"x\": {\"type\": \"integer\", \"min\": 0, \"max\": 100}}"
#define RANDOM(x) "\"randomizer\": {" x "},"

/* ---- shares ----------------------------------------------------------------------------------------- */

static void share_is(sotto_test *t, const char *what, double held, double least, double most)
{
    const double share = held / DRAWS;
    const double slack = SOTTO_TEST_BOUND(0, 0.04); /* a share of 95% of 1,000 has 0.7% */

    if (share < least - slack || share > most + slack)
        (void)fprintf(stderr, "%s: %.4f\n", what, share);
    CHECK(t, share >= least - slack && share <= most + slack);
}

static bool holds(double low, double high, double truth)
{
    return low <= truth && truth <= high;
}

/* ---- histograms ------------------------------------------------------------------------------------- */

typedef struct source {
    const char *name, *randomizer, *by;
} source;

/* Noise by servers and shares is a draw for each bin; randomizers, which come first, draw for each device. */
enum { RANDOMIZERS = 4, SOURCES = 7 };

static const source sources[SOURCES] = {
    {"asymmetric",
     RANDOM("\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 2.0"),
     "\"crowd\""},
    {"symmetric", RANDOM("\"type\": \"one-hot\", \"form\": \"symmetric\", \"epsilon_local\": 1.0"),
     "\"crowd\""},
    {"choice", RANDOM("\"type\": \"choice\", \"epsilon_local\": 1.5"), "\"crowd\""},
    {"subset", RANDOM("\"type\": \"subset\", \"epsilon_local\": 0.5"), "\"crowd\""},
    {"servers", NULL, "\"servers\", \"sigma\": 25"},
    {"few", NULL, "\"servers\", \"sigma\": 4.5"},
    {"shares", NULL, "\"shares\", \"sigma\": 20"},
};

static void check_histogram(sotto_test *t, const source *s, const uint64_t truth[5], uint64_t seed)
{
    static sotto_coverage_batch b;
    static sotto_coverage_memory m;
    double held[5] = {0}, all = 0;
    char what[64];

    memset(&m, 0, sizeof m);
    sotto_coverage_open_batch(
        t, &b, sotto_coverage_recipe_of(t, "histogram", FOUR, s->randomizer, s->by), seed);
    memcpy(b.truth, truth, 5 * sizeof *truth);
    sotto_coverage_settle(t, &b);
    for (unsigned i = 0; i < DRAWS; i++) {
        sotto_result_bin bins[SOTTO_COVERAGE_ENTRIES];
        bool together = true;

        sotto_coverage_draw_bins(t, &b, &m, bins);
        for (size_t j = 0; j < b.content.entries; j++) {
            held[j] += holds(bins[j].low, bins[j].high, (double)truth[j]);
            together = together && holds(bins[j].low_all, bins[j].high_all, (double)truth[j]);
        }
        all += together;
    }
    for (size_t j = 0; j < b.content.entries; j++) {
        (void)snprintf(what, sizeof what, "%s, bin of %u", s->name, (unsigned)truth[j]);
        share_is(t, what, held[j], 0.94, 0.97);
    }
    (void)snprintf(what, sizeof what, "%s, together", s->name);
    share_is(t, what, all, 0.94, 0.975);
    sotto_coverage_close_batch(&b);
}

static void check_histograms(sotto_test *t, size_t first, size_t end)
{
    static const uint64_t some[5] = {0, 3, 60, 100, 47}, one[5] = {210, 0, 0, 0, 0};

    for (size_t i = first; i < end; i++) {
        check_histogram(t, &sources[i], some, 100 + i);
        check_histogram(t, &sources[i], one, 200 + i);
    }
}

static void randomized_histograms_are_held(sotto_test *t)
{
    check_histograms(t, 0, RANDOMIZERS);
}

static void histograms_with_noise_are_held(sotto_test *t)
{
    check_histograms(t, RANDOMIZERS, SOURCES);
}

/* Of bins that nobody has, 19 in 20 draws find none that is more than 0; one that nearly all have is found. */
static void check_silence(sotto_test *t, size_t first, size_t end)
{
    static const uint64_t nobody[5] = {0, 0, 0, 0, 300}, some[5] = {280, 0, 0, 0, 20};
    static sotto_coverage_batch b;
    static sotto_coverage_memory m;
    sotto_result_bin bins[SOTTO_COVERAGE_ENTRIES];

    for (size_t s = first; s < end; s++) {
        double silent = 0, seen = 0;

        memset(&m, 0, sizeof m);
        sotto_coverage_open_batch(
            t, &b,
            sotto_coverage_recipe_of(t, "histogram", FOUR, sources[s].randomizer, sources[s].by),
            300 + s);
        memcpy(b.truth, nobody, sizeof nobody);
        sotto_coverage_settle(t, &b);
        for (unsigned i = 0; i < DRAWS; i++) {
            bool any = false;

            sotto_coverage_draw_bins(t, &b, &m, bins);
            for (size_t j = 0; j < b.content.values; j++)
                any = any || !sotto_result_may_be_zero(&bins[j]);
            silent += !any;
        }
        /* "No value", where it is counted, is one of the five that are judged together. */
        share_is(t, sources[s].name, silent, 0.94, 0.985);
        memcpy(b.truth, some, sizeof some);
        sotto_coverage_settle(t, &b);
        for (unsigned i = 0; i < 100; i++) {
            sotto_coverage_draw_bins(t, &b, &m, bins);
            seen += !sotto_result_may_be_zero(&bins[0]);
        }
        CHECK(t, seen >= 70);
        sotto_coverage_close_batch(&b);
    }
}

static void randomizers_tell_nothing_from_zero_where_there_is_nothing(sotto_test *t)
{
    check_silence(t, 0, RANDOMIZERS);
}

static void noise_tells_nothing_from_zero_where_there_is_nothing(sotto_test *t)
{
    check_silence(t, RANDOMIZERS, SOURCES);
}

/* ---- figures ---------------------------------------------------------------------------------------- */

static double truth_of(const sotto_coverage_batch *b, const char *name)
{
    double count = 0, sum = 0, below = 0;

    for (size_t v = 0; v < b->content.values; v++) {
        count += (double)b->truth[v];
        sum += (double)(v * b->truth[v]);
    }
    if (strcmp(name, "count") == 0)
        return count;
    if (strcmp(name, "sum") == 0)
        return sum;
    if (strcmp(name, "mean") == 0)
        return sum / count;
    const double part = strtod(name + sizeof "quantile", NULL);
    size_t v = 0;
    for (; v + 1 < b->content.values; v++)
        if ((below += (double)b->truth[v]) >= part * count)
            break;
    return (double)v;
}

typedef struct figures {
    const char *statistic, *randomizer, *by;
    uint64_t at[3], devices[3], none; /* devices by number */
} figures;

static void check_figures(sotto_test *t, const figures *f, uint64_t seed)
{
    static sotto_coverage_batch b;
    double held[SOTTO_RESULT_FIGURES] = {0};
    sotto_result result;
    int64_t sums[SOTTO_COVERAGE_ENTRIES];
    char what[96];

    sotto_coverage_open_batch(
        t, &b,
        sotto_coverage_recipe_of(t, f->statistic, strcmp(f->statistic, "count") ? NUMBER : NULL,
                                 f->randomizer, f->by),
        seed);
    for (size_t i = 0; i < 3; i++)
        b.truth[f->at[i]] += f->devices[i];
    b.truth[b.content.values] = f->none;
    sotto_coverage_settle(t, &b);
    for (unsigned i = 0; i < DRAWS; i++) {
        sotto_coverage_draw_sums(t, &b, sums);
        sotto_coverage_estimate(t, &b, sums, NULL, &result);
        for (size_t j = 0; j < result.figure_count; j++)
            held[j] += holds(result.figures[j].low, result.figures[j].high,
                             truth_of(&b, result.figures[j].name));
    }
    for (size_t j = 0; j < result.figure_count; j++) {
        (void)snprintf(what, sizeof what, "%s by %s: %s", f->statistic, f->by,
                       result.figures[j].name);
        share_is(t, what, held[j], 0.94, 0.97);
    }
    sotto_coverage_close_batch(&b);
}

static void figures_are_held(sotto_test *t)
{
    static const char servers[] = "\"servers\", \"sigma\": 20",
                      shares[] = "\"shares\", \"sigma\": 20", far[] = "\"servers\", \"sigma\": 300",
                      parts[] = "\"shares\", \"sigma\": 300", crowd[] = "\"crowd\"",
                      binary[] = RANDOM("\"type\": \"binary\", \"epsilon_local\": 1.0");
    static const figures cases[] = {
        {"count", binary, crowd, {0}, {0}, 210},
        {"count", binary, crowd, {0}, {1}, 209},
        {"count", binary, crowd, {0}, {120}, 90},
        {"count", binary, crowd, {0}, {210}, 0},
        {"count", NULL, servers, {0}, {0}, 210},
        {"count", NULL, servers, {0}, {3}, 210},
        {"count", NULL, servers, {0}, {210}, 0},
        {"count", NULL, shares, {0}, {0}, 210},
        {"count", NULL, shares, {0}, {100}, 110},
        {"sum", NULL, far, {0, 50, 100}, {210, 0, 0}, 0},
        {"sum", NULL, far, {0, 50, 100}, {100, 1, 2}, 100},
        {"sum", NULL, far, {0, 50, 100}, {0, 0, 210}, 0},
        {"sum", NULL, parts, {0, 50, 100}, {210, 0, 0}, 0},
        {"sum", NULL, parts, {0, 50, 100}, {70, 70, 70}, 0},
        {"mean", NULL, far, {0, 50, 100}, {210, 0, 0}, 0},
        {"mean", NULL, far, {0, 50, 100}, {70, 70, 70}, 0},
        {"mean", NULL, far, {0, 50, 100}, {0, 0, 180}, 30},
        {"mean", NULL, far, {0, 20, 100}, {0, 60, 0}, 300},
        {"mean", NULL, parts, {0, 50, 100}, {210, 0, 0}, 0},
        {"mean", NULL, parts, {0, 30, 100}, {0, 150, 0}, 60},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_figures(t, &cases[i], 400 + i);
}

/* Steps of a quantile are whole, so its interval may be wider than it says, but not where steps are small beside the noise. */
static void quantiles_are_held(sotto_test *t)
{
    static const source by[] = {{"servers", NULL, "\"servers\", \"sigma\": 40"},
                                {"shares", NULL, "\"shares\", \"sigma\": 25"}};
    static sotto_coverage_batch b;
    sotto_result result;
    int64_t sums[SOTTO_COVERAGE_ENTRIES];

    for (size_t s = 0; s < 2; s++) {
        double held[SOTTO_RESULT_FIGURES] = {0};

        sotto_coverage_open_batch(
            t, &b, sotto_coverage_recipe_of(t, "quantiles", NUMBER, NULL, by[s].by), 500 + s);
        for (size_t v = 0; v < 101; v++)
            b.truth[v] = 40 + 20 * (v % 5);
        sotto_coverage_settle(t, &b);
        for (unsigned i = 0; i < DRAWS / 10; i++) {
            sotto_coverage_draw_sums(t, &b, sums);
            sotto_coverage_estimate(t, &b, sums, NULL, &result);
            for (size_t j = 0; j < result.figure_count; j++)
                held[j] += 10 * holds(result.figures[j].low, result.figures[j].high,
                                      truth_of(&b, result.figures[j].name));
        }
        CHECK_EQUAL(t, 5, result.figure_count);
        for (size_t j = 0; j < result.figure_count; j++)
            share_is(t, result.figures[j].name, held[j], 0.94, 1);
        sotto_coverage_close_batch(&b);
    }
}

/* ---- all devices ------------------------------------------------------------------------------------ */

/* Each device takes part with chance one half. */
static void take_part(sotto_coverage_batch *b, const uint64_t *devices)
{
    for (size_t v = 0; v <= b->content.values; v++) {
        b->truth[v] = 0;
        for (uint64_t i = 0; i < devices[v]; i++)
            b->truth[v] += sotto_sim_random_chance(&b->random, 0.5);
    }
}

/* Their draw is an error of its own: without it, intervals of all devices would hold far less than they say. */
static void check_counts_of_all_devices(sotto_test *t, size_t s)
{
    static const uint64_t devices[5] = {0, 8, 120, 200, 100};
    const sotto_result_options options = {.rate = 0.5};
    static sotto_coverage_batch b;
    sotto_result result;
    int64_t sums[SOTTO_COVERAGE_ENTRIES];
    double held[4] = {0}, together = 0, narrow = 0;

    sotto_coverage_open_batch(
        t, &b, sotto_coverage_recipe_of(t, "histogram", FOUR, sources[s].randomizer, sources[s].by),
        600 + s);
    for (unsigned i = 0; i < DRAWS; i++) {
        bool all = true;

        take_part(&b, devices);
        sotto_coverage_settle(t, &b);
        sotto_coverage_draw_sums(t, &b, sums);
        sotto_coverage_estimate(t, &b, sums, &options, &result);
        for (size_t j = 0; j < 4; j++) {
            const sotto_result_whole *w = &result.wholes[j];

            held[j] += holds(w->low, w->high, (double)devices[j]);
            all = all && holds(w->low_all, w->high_all, (double)devices[j]);
        }
        together += all;
        narrow += holds(2 * result.bins[3].low, 2 * result.bins[3].high, (double)devices[3]);
    }
    for (size_t j = 0; j < 4; j++)
        share_is(t, sources[s].name, held[j], 0.94, 0.97);
    share_is(t, "all devices, together", together, 0.94, 0.98);
    CHECK(t, s == 0 || narrow < 0.85 * DRAWS);
    CHECK_NEAR(t, sqrt(result.bins[3].count * 0.5) / 0.5, result.wholes[3].sampling, 1e-9);
    CHECK_NEAR(t, 2 * result.bins[3].deviation, result.wholes[3].privacy, 1e-9);
    sotto_coverage_close_batch(&b);
}

/* Each value has a chance of its own, by which its count is divided. */
static void take_part_by_value(sotto_coverage_batch *b, const uint64_t *devices, size_t common)
{
    const sotto_participation *p = &b->recipe->participation;

    for (size_t v = 0; v <= b->content.values; v++) {
        b->truth[v] = 0;
        for (uint64_t i = 0; i < devices[v]; i++)
            b->truth[v] +=
                sotto_sim_random_chance(&b->random, v == common ? p->rate : p->rate_other);
    }
}

/* Importance sampling of a default value that most devices have: bin 1, or "no value", which choice has a count for. */
static void check_importance(sotto_test *t, size_t s, uint64_t common, unsigned draws)
{
    static const uint64_t devices[2][5] = {{0, 300, 40, 60, 20}, {0, 8, 40, 60, 300}};
    const size_t at = common == SOTTO_NO_VALUE ? 4 : (size_t)common;
    const uint64_t *truth = devices[at == 4];
    sotto_recipe recipe =
        *sotto_coverage_recipe_of(t, "histogram", FOUR, sources[s].randomizer, sources[s].by);
    const double least =
        draws < DRAWS ? 0.93 : 0.94; /* a share of 95% of 2,000 has a deviation of 0.5% */
    sotto_result_options options = {0};
    static sotto_coverage_batch b;
    sotto_result result;
    int64_t sums[SOTTO_COVERAGE_ENTRIES];
    double held[5] = {0}, together = 0, off[5] = {0}, squares[5] = {0}, variance[5] = {0};

    recipe.participation = (sotto_participation){
        .type = SOTTO_IMPORTANCE, .rate = 0.1, .rate_other = 0.6, .default_bin = common};
    sotto_recipe_rates(&options, &recipe, (uint64_t)recipe.opens, (uint64_t)recipe.closes);
    sotto_coverage_open_batch(t, &b, &recipe, 800 + s);
    const size_t entries = b.content.entries;
    for (unsigned i = 0; i < draws; i++) {
        bool all = true;

        take_part_by_value(&b, truth, at);
        sotto_coverage_settle(t, &b);
        sotto_coverage_draw_sums(t, &b, sums);
        sotto_coverage_estimate(t, &b, sums, &options, &result);
        for (size_t j = 0; j < entries; j++) {
            const sotto_result_whole *w = &result.wholes[j];
            const double error = w->count - (double)truth[j];

            held[j] += holds(w->low, w->high, (double)truth[j]);
            all = all && holds(w->low_all, w->high_all, (double)truth[j]);
            off[j] += error;
            squares[j] += error * error;
            variance[j] += w->privacy * w->privacy + w->sampling * w->sampling;
        }
        together += all;
    }
    for (size_t j = 0; j < entries; j++) {
        share_is(t, sources[s].name, held[j] * DRAWS / draws, least, draws < DRAWS ? 0.98 : 0.97);
        /* Unbiased within five deviations of a mean, and as far off as its deviations say. */
        CHECK(t, fabs(off[j]) < 5 * sqrt(squares[j]));
        CHECK_NEAR(t, 1, squares[j] / variance[j],
                   SOTTO_TEST_BOUND(1, 4) * (draws < DRAWS ? 0.15 : 0.07));
    }
    share_is(t, "importance, together", together * DRAWS / draws, least, 0.98);
    CHECK(t, result.rate == 0.6 && result.rate_default == 0.1);
    sotto_coverage_close_batch(&b);
}

static void counts_of_rare_values_are_held_where_one_is_common(sotto_test *t)
{
    check_importance(t, 0, 1, DRAWS);
    check_importance(t, 2, SOTTO_NO_VALUE, DRAWS / 5);
}

static void counts_of_all_devices_are_held_by_a_randomizer(sotto_test *t)
{
    check_counts_of_all_devices(t, 0);
}

/* Their noise is smaller than the draw's. */
static void counts_of_all_devices_are_held_by_few_servers(sotto_test *t)
{
    check_counts_of_all_devices(t, 5);
}

/* What a sum and a mean have of the draw depends on squares that were not asked: their intervals are wide enough for any. */
static void sums_and_means_of_all_devices_are_held(sotto_test *t)
{
    static const char *const statistics[] = {"count", "sum", "mean"};
    static const char *const by[] = {"\"servers\", \"sigma\": 6", "\"servers\", \"sigma\": 100",
                                     "\"servers\", \"sigma\": 100"};
    const sotto_result_options options = {.rate = 0.5};
    static sotto_coverage_batch b;
    sotto_result result;
    int64_t sums[SOTTO_COVERAGE_ENTRIES];

    for (size_t s = 0; s < 3; s++) {
        uint64_t devices[SOTTO_COVERAGE_ENTRIES] = {0};
        double held[2] = {0};

        sotto_coverage_open_batch(
            t, &b, sotto_coverage_recipe_of(t, statistics[s], s ? NUMBER : NULL, NULL, by[s]),
            700 + s);
        devices[0] = 100;
        devices[s ? 100 : 0] += 200; /* as far apart as numbers can be: the bound is met */
        devices[b.content.values] = 60;
        for (unsigned i = 0; i < DRAWS; i++) {
            take_part(&b, devices);
            sotto_coverage_settle(t, &b);
            sotto_coverage_draw_sums(t, &b, sums);
            sotto_coverage_estimate(t, &b, sums, &options, &result);
            for (size_t j = 0; j < result.figure_count; j++) {
                const sotto_result_figure *f = &result.figures[j];
                const double truth = strcmp(f->name, "count") == 0 ? 300
                                     : strcmp(f->name, "sum") == 0 ? 20000
                                                                   : 200.0 / 3;

                held[j] += holds(f->whole.low, f->whole.high, truth);
            }
        }
        for (size_t j = 0; j < result.figure_count; j++)
            share_is(t, result.figures[j].name, held[j], 0.94, 0.97);
        sotto_coverage_close_batch(&b);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(randomized_histograms_are_held),
        CASE(histograms_with_noise_are_held),
        CASE(randomizers_tell_nothing_from_zero_where_there_is_nothing),
        CASE(noise_tells_nothing_from_zero_where_there_is_nothing),
        CASE(figures_are_held),
        CASE(quantiles_are_held),
        CASE(counts_of_rare_values_are_held_where_one_is_common),
        CASE(counts_of_all_devices_are_held_by_a_randomizer),
        CASE(counts_of_all_devices_are_held_by_few_servers),
        CASE(sums_and_means_of_all_devices_are_held),
    };

    return RUN_TESTS(argc, argv, cases);
}
