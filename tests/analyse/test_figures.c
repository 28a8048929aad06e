/* Sums, means and quantiles: right on average, and intervals that hold the truth as often as they say. */
#include "noise/noise.h"
#include "recipe/content.h"
#include "sim/random.h"
#include "sotto/analyse.h"
#include "support/recipes.h"

#include <math.h>
#include <string.h>

enum { REPORTS = 41000, WITH = 30000, DRAWS = 2500 };

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
        CHECK(t, held[j] / DRAWS > 0.94 && held[j] / DRAWS < 0.97);
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
    unsigned held = 0, runs = 300, all = 0;

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
    CHECK(t, held > 0.94 * all);
}

static void intervals_of_quantiles_hold_the_truth(sotto_test *t)
{
    check_quantiles(t, "\"servers\", \"sigma\": 60", 7);
    check_quantiles(t, "\"shares\", \"sigma\": 60", 8);
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
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(intervals_of_figures_hold_the_truth),
        CASE(a_mean_of_perhaps_nobody_is_any),
        CASE(intervals_of_quantiles_hold_the_truth),
        CASE(sums_beyond_the_reports_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
