/* Sums, means and quantiles: right on average, and intervals that hold the truth as often as they say. */
#include "analyse/figures.h"
#include "noise/noise.h"
#include "recipe/accuracy.h"
#include "recipe/content.h"
#include "sim/random.h"
#include "sotto/analyse.h"
#include "support/recipes.h"

#include <math.h>
#include <string.h>

enum { REPORTS = 41000, WITH = 30000, DRAWS = SOTTO_TEST_DRAWS(2500) };

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

typedef struct batch {
    const sotto_recipe *recipe;
    sotto_report_content content;
    sotto_noise noise; /* of one server, or of all devices together */
    unsigned sources;  /* of it */
    int64_t exact[128];
    sotto_uint128 sums[128];
} batch;

/* WITH devices have i % 101, the others nothing. */
static void make(sotto_test *t, batch *b, const char *statistic, const char *by)
{
    memset(b, 0, sizeof *b);
    b->recipe = sotto_test_recipe_of(t, statistic, by);
    CHECK_OK(t, sotto_recipe_content(&b->content, b->recipe, &t->err));
    const sotto_report_content *c = &b->content;
    for (unsigned i = 0; i < REPORTS; i++) {
        const unsigned x = i % 101;
        const bool has = i < WITH;

        if (strcmp(statistic, "count") == 0)
            b->exact[0] += has;
        else if (strcmp(statistic, "quantiles") == 0 && (has || c->one))
            b->exact[has ? x : 101]++;
        else if (strcmp(statistic, "quantiles") != 0)
            b->exact[0] += has ? (int64_t)x : (int64_t)c->none;
        if (strcmp(statistic, "mean") == 0)
            b->exact[1] += has ? 100 : 0;
    }
    if (c->by == SOTTO_BY_SERVERS) {
        const uint64_t sigma = b->recipe->sigma_milli / 1000;

        b->sources = 2;
        CHECK_OK(t, sotto_noise_gaussian(&b->noise, sigma * sigma, 1, &t->arena, &t->err));
    } else {
        b->sources = 1;
        CHECK_OK(t, sotto_noise_skellam(&b->noise, (uint64_t)(c->variance * REPORTS * 500), 1000,
                                        &t->arena, &t->err));
    }
}

static void draw(sotto_test *t, batch *b, sotto_sim_random *random, sotto_result *result)
{
    sotto_entropy entropy;

    sotto_entropy_init(&entropy, fill, random);
    for (size_t i = 0; i < b->content.entries; i++) {
        int64_t drawn[2] = {0, 0}, sum;

        CHECK_OK(t, sotto_noise_draw(&b->noise, drawn, b->sources, &entropy, &t->err));
        sum = b->exact[i] + drawn[0] + drawn[1] + (int64_t)(REPORTS * b->content.offset);
        b->sums[i] = (sotto_uint128){(uint64_t)sum, sum < 0 ? UINT64_MAX : 0};
    }
    CHECK_OK(t, sotto_result_estimate(result, b->recipe, b->sums, b->content.entries, REPORTS, NULL,
                                      &t->arena, &t->err));
    sotto_entropy_clear(&entropy);
}

static double truth_of(const char *name)
{
    double sum = 0;

    for (unsigned i = 0; i < WITH; i++)
        sum += i % 101;
    return strcmp(name, "count") == 0 ? WITH : strcmp(name, "sum") == 0 ? sum : sum / WITH;
}

/* As often as intervals say. */
static bool is_held(double share)
{
    return share > SOTTO_TEST_BOUND(0.94, 0.9) && share < SOTTO_TEST_BOUND(0.97, 1);
}

/* Between 94% and 97% of the draws; the mean of the estimates is the truth, but for five of its own deviations. */
static void check(sotto_test *t, const char *statistic, const char *by, uint64_t seed)
{
    static batch b;
    sotto_sim_random random;
    double held[SOTTO_RESULT_FIGURES] = {0}, off[SOTTO_RESULT_FIGURES] = {0},
           deviation[SOTTO_RESULT_FIGURES];
    sotto_result result = {0};

    make(t, &b, statistic, by);
    sotto_sim_random_init(&random, seed);
    for (unsigned i = 0; i < DRAWS; i++) {
        draw(t, &b, &random, &result);
        for (size_t j = 0; j < result.figure_count; j++) {
            const sotto_result_figure *f = &result.figures[j];
            const double truth = truth_of(f->name);

            held[j] += f->low <= truth && truth <= f->high;
            off[j] += f->value - truth;
            deviation[j] = f->deviation;
        }
    }
    CHECK(t, result.figure_count > 0 && result.count == 0);
    for (size_t j = 0; j < result.figure_count; j++) {
        CHECK(t, is_held(held[j] / DRAWS));
        CHECK(t, fabs(off[j] / DRAWS) < 5 * deviation[j] / sqrt(DRAWS));
    }
}

static void intervals_of_figures_hold_the_truth(sotto_test *t)
{
    check(t, "count", "\"servers\", \"sigma\": 20", 1);
    check(t, "sum", "\"servers\", \"sigma\": 500", 2);
    check(t, "mean", "\"servers\", \"sigma\": 500", 3);
    check(t, "count", "\"shares\", \"sigma\": 20", 4);
    check(t, "sum", "\"shares\", \"sigma\": 500", 5);
    check(t, "mean", "\"shares\", \"sigma\": 500", 6);
}

/* All devices are then those that reported: none is estimated beyond them. */
static void all_devices_are_the_reports_where_all_took_part(sotto_test *t)
{
    static const char *const statistics[] = {"count", "sum", "mean", "quantiles"};
    const sotto_result_options all = {.rate = 1};
    static batch b;
    sotto_result r;

    for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
        make(t, &b, statistics[i], "\"servers\", \"sigma\": 500");
        for (size_t j = 0; j < b.content.entries; j++)
            b.sums[j] = (sotto_uint128){(uint64_t)REPORTS * (i == 1 || i == 2 ? 100 : 1) + 300, 0};
        CHECK_OK(t, sotto_result_estimate(&r, b.recipe, b.sums, b.content.entries, REPORTS, &all,
                                          &t->arena, &t->err));
        for (size_t j = 0; j < r.figure_count; j++)
            CHECK(t, r.figures[j].whole.low == r.figures[j].low &&
                         r.figures[j].whole.high == r.figures[j].high &&
                         r.figures[j].whole.sampling == 0);
        for (size_t j = 0; j < r.count; j++)
            CHECK(t, r.wholes[j].high == r.bins[j].high && r.wholes[j].high <= REPORTS &&
                         r.wholes[j].low == r.bins[j].low);
    }
}

/* A count that may as well be 0 says nothing of a mean: its interval is all of the range. */
static void a_mean_of_perhaps_nobody_is_any(sotto_test *t)
{
    static batch b;
    sotto_result result;

    make(t, &b, "mean", "\"servers\", \"sigma\": 500");
    b.sums[0] = (sotto_uint128){50 * REPORTS + 400, 0};
    b.sums[1] = (sotto_uint128){300, 0};
    CHECK_OK(
        t, sotto_result_estimate(&result, b.recipe, b.sums, 2, REPORTS, NULL, &t->arena, &t->err));
    CHECK(t, result.figures[0].low == 0 && result.figures[0].high == 100);
    b.sums[1] = (sotto_uint128){(uint64_t)-300, UINT64_MAX};
    CHECK_OK(
        t, sotto_result_estimate(&result, b.recipe, b.sums, 2, REPORTS, NULL, &t->arena, &t->err));
    CHECK(t, result.figures[0].low == 0 && result.figures[0].high == 100);
}

/* At least as often as they say: a bin is a whole step. */
static void check_quantiles(sotto_test *t, const char *by, uint64_t seed)
{
    static const double at[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    static batch b;
    sotto_sim_random random;
    sotto_result result;
    unsigned held = 0, runs = SOTTO_TEST_DRAWS(300), all = 0;

    make(t, &b, "quantiles", by);
    sotto_sim_random_init(&random, seed);
    for (unsigned i = 0; i < runs; i++) {
        draw(t, &b, &random, &result);
        CHECK_EQUAL(t, 5, result.figure_count);
        for (size_t j = 0; j < 5; j++) {
            double below = 0, truth = 0;

            for (; truth < 101; truth++)
                if ((below += (double)b.exact[(size_t)truth]) >= at[j] * WITH)
                    break;
            held += result.figures[j].low <= truth && truth <= result.figures[j].high;
            all++;
            CHECK(t, result.figures[j].high - result.figures[j].low < 30);
            CHECK(t, fabs(result.figures[j].value - truth) < 15);
        }
    }
    CHECK(t, held > SOTTO_TEST_BOUND(0.94, 0.88) * all);
}

static void intervals_of_quantiles_hold_the_truth(sotto_test *t)
{
    check_quantiles(t, "\"servers\", \"sigma\": 60", 7);
    check_quantiles(t, "\"shares\", \"sigma\": 60", 8);
}

/* One of three entries is set in a report, so what is drawn for one bin tells of the other. Half of the devices have 0 and
 * half have 1: the median is 0, and an interval misses it where noise leaves too few there. That has a chance of 2.5%. */
static void intervals_of_quantiles_know_that_one_bin_excludes_others(sotto_test *t)
{
    enum { HALF = 200, RUNS = 4000 };
    const char *text = (const char *)sotto_test_recipe_text_of(t, "quantiles", "\"crowd\"").data;
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;
    sotto_report_content content;
    sotto_sim_random random;
    sotto_result result;
    unsigned missed = 0;

    text = (const char *)sotto_test_replace(t, text, "\"max\": 100", "\"max\": 1").data;
    CHECK_OK(t, sotto_recipe_read(&recipe,
                                  sotto_test_replace(t, text, "\"statistic\"",
                                                     "\"randomizer\": {\"type\": \"choice\", "
                                                     "\"epsilon_local\": 2.0}, \"statistic\""),
                                  &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_content(&content, recipe, &t->err));
    CHECK_EQUAL(t, 3, content.entries);
    sotto_sim_random_init(&random, 9);
    for (unsigned run = 0; run < RUNS; run++) {
        sotto_uint128 sums[3] = {{0}};

        for (unsigned i = 0; i < 2 * HALF; i++) {
            const bool own = sotto_sim_random_chance(&random, content.p);

            const uint64_t step = own ? 0 : 1 + sotto_sim_random_below(&random, 2);

            sums[(i % 2 + step) % 3].low++;
        }
        CHECK_OK(t, sotto_result_estimate(&result, recipe, sums, 3, (uint64_t)2 * HALF, NULL,
                                          &t->arena, &t->err));
        missed += result.figures[2].low > 0;
    }
    CHECK(t, missed < 0.03 * RUNS);
}

/* ---- quantiles whose steps are small ------------------------------------------------------------------- */

/* Numbers 0 to 400, four devices each. Of so small steps intervals are as long as they have to be, and no longer. */
enum { STEPS = 401, EACH = 4, PEOPLE = STEPS * EACH };

typedef struct fine {
    const sotto_recipe *recipe;
    sotto_report_content content;
    sotto_noise noise; /* of one server */
    sotto_sim_random random;
    sotto_result_bin bins[STEPS];
    double sums[STEPS + 1];
} fine;

/* The report of somebody with this value, by the law that content states. */
static void report(fine *f, unsigned value)
{
    const sotto_randomizer *r = &f->content.randomizer;
    const unsigned all = STEPS + 1, set = r->kind == SOTTO_CHOICE_RESPONSE ? 1 : (unsigned)r->set;
    const bool own = sotto_sim_random_chance(&f->random, f->content.p);
    unsigned drawn[64], count = 0;

    if (own)
        f->sums[value]++;
    while (count + own < set) { /* others, each once */
        const unsigned step = 1 + (unsigned)sotto_sim_random_below(&f->random, all - 1);
        bool again = false;

        for (unsigned i = 0; i < count; i++)
            again = again || drawn[i] == step;
        if (again)
            continue;
        drawn[count++] = step;
        f->sums[(value + step) % all]++;
    }
}

/* Only what quantiles are computed from: intervals of bins take longer than all of it. */
static void draw_fine(sotto_test *t, fine *f, sotto_result *result)
{
    const double n = PEOPLE, q = f->content.q;
    sotto_entropy entropy;

    memset(f->sums, 0, sizeof f->sums);
    sotto_entropy_init(&entropy, fill, &f->random);
    for (unsigned i = 0; f->recipe->by == SOTTO_BY_CROWD && i < PEOPLE; i++)
        report(f, i % STEPS);
    for (unsigned i = 0; f->recipe->by == SOTTO_BY_SERVERS && i < STEPS; i++) {
        int64_t both[2];

        CHECK_OK(t, sotto_noise_draw(&f->noise, both, 2, &entropy, &t->err));
        f->sums[i] = EACH + (double)(both[0] + both[1]);
    }
    sotto_entropy_clear(&entropy);
    *result = (sotto_result){.statistic = SOTTO_STATISTIC_QUANTILES,
                             .reports = PEOPLE,
                             .confidence = 0.95,
                             .bins = f->bins,
                             .count = STEPS};
    for (unsigned i = 0; i < STEPS; i++)
        f->bins[i].count = (f->sums[i] - n * q) / (f->content.p - q);
    sotto_result_figures(result, f->recipe, &f->content, NULL);
}

static void make_fine(sotto_test *t, fine *f, const char *randomizer, const char *by, uint64_t seed)
{
    const char *text = (const char *)sotto_test_recipe_text_of(t, "quantiles", by).data;
    static sotto_mistakes mistakes;

    memset(f, 0, sizeof *f);
    text = (const char *)sotto_test_replace(t, text, "\"max\": 100", "\"max\": 400").data;
    CHECK_OK(t,
             sotto_recipe_read(&f->recipe, sotto_test_replace(t, text, "\"statistic\"", randomizer),
                               &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_content(&f->content, f->recipe, &t->err));
    sotto_sim_random_init(&f->random, seed);
    if (f->recipe->by == SOTTO_BY_SERVERS)
        CHECK_OK(t, sotto_noise_gaussian(&f->noise, 4, 1, &t->arena, &t->err));
}

/* As often as they say, and as long as price expects them to be. */
static void check_fine(sotto_test *t, const char *randomizer, const char *by, unsigned tries,
                       uint64_t seed)
{
    static fine f;
    double held[SOTTO_QUANTILES] = {0}, width[SOTTO_QUANTILES] = {0};
    sotto_result result;

    make_fine(t, &f, randomizer, by, seed);
    const sotto_deviation_law law = sotto_deviation_of(f.recipe, &f.content, PEOPLE);
    for (unsigned i = 0; i < tries; i++) {
        draw_fine(t, &f, &result);
        for (size_t j = 0; j < SOTTO_QUANTILES; j++) {
            const sotto_result_figure *q = &result.figures[j];
            const double truth = ceil(sotto_quantiles[j] * STEPS) - 1;

            held[j] += q->low <= truth && truth <= q->high;
            width[j] += (q->high - q->low) / STEPS;
        }
    }
    for (size_t j = 1; j + 1 < SOTTO_QUANTILES; j++) {
        const double expected = 2 * sotto_accuracy_rank(&law, sotto_quantiles[j], PEOPLE, 1.96);
        CHECK(t, is_held(held[j] / tries));
        CHECK(t, fabs(width[j] / tries / expected - 1) < 0.05);
    }
}

static void intervals_of_quantiles_are_as_long_as_price_expects(sotto_test *t)
{
#define BY(r) "\"randomizer\": {" r "}, \"statistic\""
    check_fine(t, BY("\"type\": \"choice\", \"epsilon_local\": 6"), "\"crowd\"",
               SOTTO_TEST_DRAWS(10000), 31);
    check_fine(t, BY("\"type\": \"subset\", \"epsilon_local\": 5"), "\"crowd\"",
               SOTTO_TEST_DRAWS(3000), 32);
    check_fine(t, "\"statistic\"", "\"servers\", \"sigma\": 2", SOTTO_TEST_DRAWS(10000), 33);
}

static void sums_beyond_the_reports_are_refused(sotto_test *t)
{
    static batch b;
    sotto_result result;

    make(t, &b, "sum", "\"shares\", \"sigma\": 500");
    b.sums[0] = (sotto_uint128){REPORTS * b.content.max, 0};
    CHECK_OK(
        t, sotto_result_estimate(&result, b.recipe, b.sums, 1, REPORTS, NULL, &t->arena, &t->err));
    b.sums[0].low++;
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_result_estimate(&result, b.recipe, b.sums, 1, REPORTS, NULL, &t->arena, &t->err));
    b.sums[0] = (sotto_uint128){100, 0}; /* whose offsets no number can hold */
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_result_estimate(&result, b.recipe, b.sums, 1, (uint64_t)1 << 62, NULL,
                                       &t->arena, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(intervals_of_figures_hold_the_truth),
        CASE(all_devices_are_the_reports_where_all_took_part),
        CASE(a_mean_of_perhaps_nobody_is_any),
        CASE(intervals_of_quantiles_hold_the_truth),
        CASE(intervals_of_quantiles_know_that_one_bin_excludes_others),
        CASE(intervals_of_quantiles_are_as_long_as_price_expects),
        CASE(sums_beyond_the_reports_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
