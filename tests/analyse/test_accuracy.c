/* What is expected of an answer before it is asked for is what answers then are. Randomizers and noise are those that
 * devices and servers draw, and the estimator is that of analysts.
 *
 * A measured deviation over m independent errors has a relative deviation of about 1 / sqrt(2 m). Each comparison has
 * m of 5,000 or more, so that 5% are 5 of them: a right prediction fails one comparison in 10^6. Seeds are fixed. */
#include "device/answer/measure.h"
#include "noise/noise.h"
#include "recipe/accuracy.h"
#include "sim/random.h"
#include "sotto/analyse.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ENTRIES = 128 };

typedef struct play {
    const sotto_recipe *recipe;
    sotto_report_content content;
    unsigned reports;
    uint64_t (*value)(unsigned device, unsigned reports);
    uint64_t truth[ENTRIES];
    sotto_noise noise; /* of one server, or of one device */
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_arena arena; /* of one report or one answer */
    bool
        at_once; /* by shares: all devices' noise is drawn as one number, whose law is that of the sum */
    int64_t exact[ENTRIES]; /* sums before noise on sums, which are the same in every draw */
    bool has_exact;
    sotto_result result;
} play;

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

/* All 101 numbers alike. */
static uint64_t evenly(unsigned device, unsigned reports)
{
    (void)reports;
    return device % 101;
}

static uint64_t all_in_one(unsigned device, unsigned reports)
{
    (void)device;
    (void)reports;
    return 7;
}

/* A count has one bin. */
static uint64_t yes(unsigned device, unsigned reports)
{
    (void)device;
    (void)reports;
    return 0;
}

/* Far from the middle of the range, where a mean's error is larger, and not at its end, where answers are clipped. */
static uint64_t ninety(unsigned device, unsigned reports)
{
    (void)device;
    (void)reports;
    return 90;
}

static const sotto_recipe *recipe_of(sotto_test *t, const char *statistic, const char *by,
                                     const char *randomizer)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe;
    const char *text = (const char *)sotto_test_recipe_text_of(t, statistic, by).data;
    char key[200];

    memset(&mistakes, 0, sizeof mistakes);
    (void)snprintf(key, sizeof key, "\"randomizer\": {%s}, \"participation\"",
                   randomizer ? randomizer : "");
    CHECK_OK(t,
             sotto_recipe_read(&recipe,
                               sotto_test_replace(t, text, randomizer ? "\"participation\"" : NULL,
                                                  randomizer ? key : NULL),
                               &t->arena, &mistakes, &t->err));
    return recipe;
}

static void begin(sotto_test *t, play *p, const sotto_recipe *recipe, unsigned reports,
                  uint64_t (*value)(unsigned, unsigned), uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->recipe = recipe;
    p->reports = reports;
    p->value = value;
    CHECK_OK(t, sotto_recipe_content(&p->content, recipe, &t->err));
    CHECK(t, p->content.entries <= ENTRIES);
    sotto_sim_random_init(&p->random, seed);
    sotto_entropy_init(&p->entropy, fill, &p->random);
    sotto_arena_init(&p->arena, (size_t)8 << 20);
    const uint64_t milli = recipe->sigma_milli;
    if (p->content.by == SOTTO_BY_SERVERS)
        CHECK_OK(t, sotto_noise_gaussian(&p->noise, milli * milli, 1000000, &t->arena, &t->err));
    if (p->content.by == SOTTO_BY_SHARES)
        CHECK_OK(
            t, sotto_noise_skellam(&p->noise, p->content.num, p->content.den, &t->arena, &t->err));
    for (unsigned i = 0; i < reports; i++)
        p->truth[p->content.statistic == SOTTO_STATISTIC_COUNT ? 0 : value(i, reports)]++;
}

static void add_at_once(sotto_test *t, play *p)
{
    enum { SCALE = 1 << 20 };
    const double mean = p->reports * (double)p->content.num / (double)p->content.den;

    p->at_once = true;
    CHECK_OK(t,
             sotto_noise_skellam(&p->noise, (uint64_t)(mean * SCALE), SCALE, &t->arena, &t->err));
}

static void end(play *p)
{
    sotto_entropy_clear(&p->entropy);
    sotto_arena_clear(&p->arena);
}

/* A device's report as devices make it. Set-up of a law takes longer than a draw, so noise in shares is drawn here, as
 * they draw it. */
static void add_report(sotto_test *t, play *p, int64_t *sums, uint64_t value)
{
    sotto_report_content plain = p->content;
    sotto_measurement m;
    sotto_bytes bits;
    int64_t drawn[ENTRIES] = {0};

    plain.by = plain.by == SOTTO_BY_CROWD ? plain.by : SOTTO_BY_SERVERS;
    sotto_arena_reset(&p->arena);
    CHECK_OK(t, sotto_measure(&m, &bits, &plain, value, &p->entropy, &p->arena, &t->err));
    if (p->content.by == SOTTO_BY_SHARES && !p->at_once)
        CHECK_OK(t, sotto_noise_draw(&p->noise, drawn, plain.entries, &p->entropy, &t->err));
    for (size_t i = 0; i < plain.entries; i++) {
        const int64_t own = plain.one ? m.values[0] == i : (int64_t)m.values[i],
                      offset = (int64_t)plain.offset;

        CHECK(t, drawn[i] >= -offset && drawn[i] <= offset); /* cut once in 2^40 */
        sums[i] += own + drawn[i] + offset;
    }
}

static void draw(sotto_test *t, play *p)
{
    sotto_uint128 wide[ENTRIES];
    int64_t sums[ENTRIES];

    memcpy(sums, p->exact, sizeof sums);
    for (unsigned i = 0; i < p->reports && !p->has_exact; i++)
        add_report(t, p, sums, p->value(i, p->reports));
    p->has_exact = p->content.by == SOTTO_BY_SERVERS || p->at_once;
    if (p->has_exact)
        memcpy(p->exact, sums, sizeof sums);
    for (size_t i = 0; i < p->content.entries; i++) {
        int64_t drawn[2] = {0, 0};

        if (p->has_exact)
            CHECK_OK(t,
                     sotto_noise_draw(&p->noise, drawn, p->at_once ? 1 : 2, &p->entropy, &t->err));
        sums[i] += drawn[0] + drawn[1];
        wide[i] = (sotto_uint128){(uint64_t)sums[i], sums[i] < 0 ? UINT64_MAX : 0};
    }
    sotto_arena_reset(&p->arena);
    CHECK_OK(t, sotto_result_estimate(&p->result, p->recipe, wide, p->content.entries, p->reports,
                                      NULL, &p->arena, &t->err));
}

static sotto_accuracy expect(sotto_test *t, const play *p)
{
    sotto_accuracy a;

    CHECK_OK(t, sotto_recipe_accuracy(&a, p->recipe, p->reports, NULL, &t->err));
    return a;
}

static void check_close(sotto_test *t, const char *what, double measured, double expected)
{
    const bool close = fabs(measured / expected - 1) < SOTTO_TEST_BOUND(0.05, 0.2);

    if (!close)
        printf("%s: measured %g, expected %g\n", what, measured, expected);
    CHECK(t, close);
}

/* ---- histograms ------------------------------------------------------------------------------------- */

static void check_bins(sotto_test *t, const sotto_recipe *recipe, unsigned reports, unsigned draws,
                       uint64_t seed)
{
    static play p;
    double squares = 0, widths = 0, errors = 0;

    begin(t, &p, recipe, reports, evenly, seed);
    const sotto_accuracy a = expect(t, &p);
    for (unsigned i = 0; i < SOTTO_TEST_DRAWS(draws); i++) {
        draw(t, &p);
        for (size_t j = 0; j < p.result.count; j++, errors++) {
            const sotto_result_bin *b = &p.result.bins[j];
            const double off = b->count - (double)p.truth[j];

            squares += off * off;
            widths += b->low > 0 && b->high < reports ? (b->high - b->low) / 2 : a.half_width;
        }
    }
    CHECK(t, errors >= SOTTO_TEST_DRAWS(5000));
    check_close(t, "deviation of a bin", sqrt(squares / errors), a.deviation);
    check_close(t, "half-width of a bin", widths / errors, a.half_width);
    end(&p);
}

#define ONE_HOT(form, epsilon)                                                                     \
    "\"type\": \"one-hot\", \"form\": \"" form "\", \"epsilon_local\": " epsilon
#define CHOICE "\"type\": \"choice\", \"epsilon_local\": 6"
#define SUBSET "\"type\": \"subset\", \"epsilon_local\": 4"

static void bins_are_off_as_expected(sotto_test *t)
{
    const char *crowd = "\"crowd\"";

    check_bins(t, recipe_of(t, "histogram", crowd, ONE_HOT("asymmetric", "4")), 1010, 60, 1);
    check_bins(t, recipe_of(t, "histogram", crowd, ONE_HOT("symmetric", "4")), 1010, 60, 2);
    check_bins(t, recipe_of(t, "histogram", crowd, CHOICE), 1010, 60, 3);
    check_bins(t, recipe_of(t, "histogram", crowd, SUBSET), 1010, 60, 4);
    check_bins(t, recipe_of(t, "histogram", "\"servers\", \"sigma\": 20.5", NULL), 1010, 60, 5);
    check_bins(t, recipe_of(t, "histogram", "\"shares\", \"sigma\": 300", NULL), 202, 60, 6);
}

/* One bin has all: the spread for which the largest error is expected. In 95% of 4,000 draws no bin is off by more, within
 * five deviations of that part; and the 95th percentile is the predicted one within 5%. */
static void the_largest_error_is_as_expected(sotto_test *t)
{
    enum { DRAWS = SOTTO_TEST_DRAWS(4000) };
    static play p;
    unsigned within = 0, near = 0;

    begin(t, &p, recipe_of(t, "histogram", "\"crowd\"", ONE_HOT("asymmetric", "2")), 60, all_in_one,
          7);
    const sotto_accuracy a = expect(t, &p);
    for (unsigned i = 0; i < DRAWS; i++) {
        double largest = 0;

        draw(t, &p);
        for (size_t j = 0; j < p.result.count; j++)
            largest = fmax(largest, fabs(p.result.bins[j].count - (double)p.truth[j]));
        within += largest <= a.largest;
        near += largest <= 0.95 * a.largest;
    }
    CHECK(t, within >= 0.95 * DRAWS - 5 * sqrt(0.95 * 0.05 * DRAWS));
    CHECK(t, near < SOTTO_TEST_BOUND(0.95, 0.99) * DRAWS);
    end(&p);
}

static uint64_t rare(unsigned device, unsigned reports)
{
    (void)reports;
    return device < 147 ? 7 : 8 + device % 93;
}

/* A bin that is as small as can be seen is seen in 95% of 3,000 draws, within five deviations of that part. */
static void what_can_be_seen_is_seen(sotto_test *t)
{
    enum { DRAWS = SOTTO_TEST_DRAWS(3000) };
    static play p;
    unsigned seen = 0, empty = 0;

    begin(t, &p, recipe_of(t, "histogram", "\"servers\", \"sigma\": 31.5", NULL), 1000, rare, 8);
    const sotto_accuracy a = expect(t, &p);
    CHECK_NEAR(t, a.seen, 147, 1);
    for (unsigned i = 0; i < DRAWS; i++) {
        draw(t, &p);
        seen += p.result.bins[7].low > 0;
        empty += p.result.bins[3].low > 0;
    }
    CHECK_NEAR(t, seen, 0.95 * DRAWS, 5 * sqrt(0.95 * 0.05 * DRAWS));
    CHECK_NEAR(t, empty, 0.05 * DRAWS, 5 * sqrt(0.05 * 0.95 * DRAWS));
    end(&p);
}

/* ---- figures ---------------------------------------------------------------------------------------- */

/* Ranges may cut an interval above the truth, here where all devices have a row, but not below it. */
static void check_figure(sotto_test *t, play *p, double truth, double deviation, double half_width)
{
    enum { DRAWS = SOTTO_TEST_DRAWS(6000) };
    double squares = 0, widths = 0;

    for (unsigned i = 0; i < DRAWS; i++) {
        draw(t, p);
        const sotto_result_figure *f = &p->result.figures[0];

        squares += (f->value - truth) * (f->value - truth);
        widths += f->value - f->low;
    }
    check_close(t, "deviation", sqrt(squares / DRAWS), deviation);
    check_close(t, "half-width", widths / DRAWS, half_width);
    end(p);
}

static void check_expected(sotto_test *t, const sotto_recipe *recipe, unsigned reports,
                           uint64_t (*value)(unsigned, unsigned), double truth, uint64_t seed)
{
    static play p;

    begin(t, &p, recipe, reports, value, seed);
    const sotto_accuracy a = expect(t, &p);
    check_figure(t, &p, truth, a.deviation, a.half_width);
}

static void counts_are_off_as_expected(sotto_test *t)
{
    const char *binary = "\"type\": \"binary\", \"epsilon_local\": 1";

    check_expected(t, recipe_of(t, "count", "\"crowd\"", binary), 150, yes, 150, 11);
    check_expected(t, recipe_of(t, "count", "\"servers\", \"sigma\": 12.5", NULL), 100, yes, 100,
                   12);
    check_expected(t, recipe_of(t, "count", "\"shares\", \"sigma\": 250", NULL), 100, yes, 100, 13);
}

static void sums_are_off_as_expected(sotto_test *t)
{
    double sum = 0;

    for (unsigned i = 0; i < 50; i++)
        sum += (double)evenly(i, 50);
    check_expected(t, recipe_of(t, "sum", "\"servers\", \"sigma\": 200", NULL), 50, evenly, sum,
                   14);
    check_expected(t, recipe_of(t, "sum", "\"shares\", \"sigma\": 2000", NULL), 50, evenly, sum,
                   15);
}

static void check_mean(sotto_test *t, const char *by, unsigned reports, uint64_t seed)
{
    static play p;
    const double n = reports, off = 40 * n, z = sotto_deviation_z(0.95);

    begin(t, &p, recipe_of(t, "mean", by, NULL), reports, ninety, seed);
    const sotto_deviation_law law = sotto_deviation_of(p.recipe, &p.content, n);
    const sotto_ends ends = sotto_deviation_mean_ends(&law, off, n, z);
    const sotto_accuracy a = expect(t, &p);
    const double deviation = sotto_deviation_mean(&law, off, n);

    /* What is expected is of the end of the range: sqrt(1.25 / 1.16) of it. */
    CHECK_NEAR(t, a.deviation / deviation, 1.038, 0.001);
    CHECK(t, a.half_width > (ends.high - ends.low) / 2);
    check_figure(t, &p, 90, deviation, (ends.high - ends.low) / 2);
}

static void means_are_off_as_expected(sotto_test *t)
{
    check_mean(t, "\"servers\", \"sigma\": 60", 60, 16);
    check_mean(t, "\"shares\", \"sigma\": 1000", 60, 17);
}

/* ---- quantiles -------------------------------------------------------------------------------------- */

/* The rank of what was answered, as a part of all, less the one that was asked for. A bin of evenly spread numbers has 1%,
 * and its rank is that of its middle. */
static void check_ranks(sotto_test *t, const sotto_recipe *recipe, unsigned reports, unsigned draws,
                        uint64_t seed)
{
    static play p;
    double squares[SOTTO_QUANTILES] = {0};

    begin(t, &p, recipe, reports, evenly, seed);
    if (recipe->by == SOTTO_BY_SHARES)
        add_at_once(t, &p);
    const sotto_accuracy a = expect(t, &p);
    const sotto_deviation_law law = sotto_deviation_of(recipe, &p.content, reports);
    for (unsigned i = 0; i < draws; i++) {
        draw(t, &p);
        for (int j = 0; j < SOTTO_QUANTILES; j++) {
            const double off = (p.result.figures[j].value + 0.5) / 101 - sotto_quantiles[j];

            squares[j] += off * off;
        }
    }
    check_close(t, "rank of the median", sqrt(squares[SOTTO_MEDIAN] / draws), a.deviation);
    for (int j = 1; j < SOTTO_QUANTILES - 1; j++)
        check_close(t, "rank", sqrt(squares[j] / draws),
                    sotto_accuracy_rank(&law, sotto_quantiles[j], reports, 1));
    end(&p);
}

static void ranks_are_off_as_expected(sotto_test *t)
{
    enum { RANKS = SOTTO_TEST_DRAWS(5000) };

    check_ranks(t, recipe_of(t, "quantiles", "\"servers\", \"sigma\": 4", NULL), 1010, RANKS, 21);
    check_ranks(t, recipe_of(t, "quantiles", "\"shares\", \"sigma\": 24", NULL), 1010, RANKS, 24);
    check_ranks(t, recipe_of(t, "quantiles", "\"crowd\"", ONE_HOT("asymmetric", "8")), 202, RANKS,
                22);
}

/* (1 - t) times the count of the first bins less t times that of the others, where entries of a report exclude each other. */
static void check_difference(sotto_test *t, const char *randomizer, double at, unsigned bins,
                             uint64_t seed)
{
    enum { REPORTS = 20, DRAWS = SOTTO_TEST_DRAWS(6000) };
    static play p;
    double squares = 0, up_to = 0, above = 0;

    begin(t, &p, recipe_of(t, "quantiles", "\"crowd\"", randomizer), REPORTS, evenly, seed);
    const sotto_deviation_law law = sotto_deviation_of(p.recipe, &p.content, REPORTS);
    for (unsigned i = 0; i < 101; i++)
        *(i < bins ? &up_to : &above) += (double)p.truth[i];
    for (unsigned i = 0; i < DRAWS; i++) {
        double off = at * above - (1 - at) * up_to;

        draw(t, &p);
        for (unsigned j = 0; j < 101; j++)
            off += (j < bins ? 1 - at : -at) * p.result.bins[j].count;
        squares += off * off;
    }
    check_close(t, "difference", sqrt(squares / DRAWS),
                sqrt(sotto_deviation_rank(&law, at, bins, up_to, above)));
    end(&p);
}

static void ranks_know_that_one_bin_excludes_others(sotto_test *t)
{
    check_difference(t, CHOICE, 0.25, 70, 25);
    check_difference(t, CHOICE, 0.5, 10, 26);
    check_difference(t, SUBSET, 0.25, 70, 27);
}

/* Half of 2,000 devices would say yes, and each answers by its own coin. */
static void a_sample_is_off_as_expected(sotto_test *t)
{
    enum { DEVICES = 2000, DRAWS = SOTTO_TEST_DRAWS(6000) };
    sotto_sim_random random;
    double squares = 0;

    sotto_sim_random_init(&random, 31);
    for (unsigned i = 0; i < DRAWS; i++) {
        double yes_too = 0, reports = 0;

        for (unsigned j = 0; j < DEVICES; j++)
            if (sotto_sim_random_chance(&random, 0.3)) {
                reports++;
                yes_too += j % 2;
            }
        squares += (yes_too / reports - 0.5) * (yes_too / reports - 0.5);
    }
    check_close(t, "sampling", sotto_deviation_z(0.95) * sqrt(squares / DRAWS),
                sotto_accuracy_sampling(0.3 * DEVICES, DEVICES, 0.95));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(bins_are_off_as_expected),    CASE(the_largest_error_is_as_expected),
        CASE(what_can_be_seen_is_seen),    CASE(counts_are_off_as_expected),
        CASE(sums_are_off_as_expected),    CASE(means_are_off_as_expected),
        CASE(ranks_are_off_as_expected),   CASE(ranks_know_that_one_bin_excludes_others),
        CASE(a_sample_is_off_as_expected),
    };

    return RUN_TESTS(argc, argv, cases);
}
