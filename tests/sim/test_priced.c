/* What price predicts of a recipe is how far simulated answers to it are off. That holds for every statistic, source of noise
 * and randomizer, and for the two rates of importance sampling.
 *
 * Price writes the recipe, and the trial reads what it wrote, as a user would. A measured deviation over m independent errors
 * has a relative deviation of about 1 / sqrt(2 m): a third of 5% for m of 2,000. Medians take long to estimate, so m is 500
 * for them, and tests/analyse/test_accuracy.c has 5,000. Seeds are fixed: a test that passed once passes each time. */
#include "recipe/price.h"
#include "recipe/price_rates.h"
#include "sim/trial.h"
#include "sotto/device.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cohorts have answers of their own: one run has as many, and opens its workers once. */
enum { COHORTS = 50, MOST = 256 * COHORTS, TEXT = 4096, ERRORS = 2000, MEDIANS = 500 };

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1,"
    " \"analyses\": {\"a.b\": {\"epsilon\": 30, \"delta\": 1e-3, \"reports\": 9, \"fields\": "
    "[\"s.v\"]}},"
    " \"fields\": {\"s.v\": {\"by\": [\"crowd\", \"shares\", \"servers\"], \"epsilon_local\": "
    "\"none\", \"epsilon\": 30, \"delta\": 1e-3, \"reports\": 9}},"
    " \"non_sensitive\": [\"place\"], \"min_cohort\": 10, \"honest\": 0.5, \"silence\": true,"
    " \"logs\": {\"main\": {\"key\": "
    "\"log.example/2026+4b1d39c0+AaflY999egEFVTlY6uakA1qkhZtTVUnJ5dSwQE1O3POQ\", \"witnesses\": "
    "[\"witness.example/w+3b19cea7+BL/DnqGv2H997UNHwf3kq8o23aOcCY+CcG/gqdqH1uVk\"]}},"
    " \"issuers\": {\"key:issuer\": "
    "\"a7e563df7d7a0105553958eae6a4035aa4859b535549c9e5d4b0404d4edcf390\"}}";

#define POISSON    "\"type\": \"poisson\", \"rate\": 1"
#define SERVERS    "\"by\": \"servers\", \"sigma\": 9,"
#define RANGE(top) "\"encode\": {\"v\": {\"type\": \"integer\", \"min\": 0, \"max\": " top "}},"
#define ONE_HOT                                                                                    \
    "\"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 4},"

/* ---- a question ------------------------------------------------------------------------------------------- */

typedef struct asked {
    const char *statistic, *encode, *randomizer, *by, *participation, *more;
    unsigned devices, epsilon, cohort;
} asked;

static sotto_bytes write_recipe(char out[TEXT], const asked *a)
{
    size_t len = 0;
    char cohorts[8 * COHORTS] = "";

    for (unsigned i = 0; i < COHORTS; i++)
        len += (size_t)snprintf(cohorts + len, sizeof cohorts - len, "%s\"%u\"", i ? ", " : "", i);
    len = (size_t)snprintf(
        out, TEXT,
        "{\"recipe\": \"r\", \"version\": 1, \"analysis\": \"a.b\", \"query\": \"SELECT v FROM s\","
        " \"statistic\": \"%s\", %s %s \"participation\": {%s}, %s \"cohorts\": {\"place\": [%s]},"
        " \"privacy\": {\"adjacency\": \"replacement\", %s \"epsilon\": %u, \"delta\": 1e-4, "
        "\"min_cohort\": %u},"
        " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:l\", \"helper\": \"key:h\"},"
        " \"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": "
        "\"2026-11-27T00:00:00Z\", \"precision\": \"1h\"},"
        " \"population\": %u}",
        a->statistic, a->encode, a->randomizer, a->participation, a->more, cohorts, a->by,
        a->epsilon, a->cohort, COHORTS * a->devices);
    return sotto_bytes_of(out, len);
}

static const sotto_recipe *read_recipe(sotto_test *t, sotto_bytes text)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *recipe = NULL;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    return recipe;
}

static sotto_price_question question_of(const sotto_recipe *recipe)
{
    return (sotto_price_question){.find = SOTTO_PRICE_FIND_ACCURACY,
                                  .epsilon = recipe->epsilon,
                                  .delta = recipe->delta,
                                  .cohort = recipe->min_cohort,
                                  .population = recipe->population,
                                  .rate = recipe->participation.rate};
}

/* ---- devices ------------------------------------------------------------------------------------------------ */

typedef struct town {
    sotto_value values[MOST];
    int64_t times[MOST];
    char places[COHORTS][8];
    const char *described[COHORTS][1];
    sotto_sim_device devices[MOST];
    unsigned count;
} town;

static void settle(town *to, unsigned count, int64_t (*value)(unsigned))
{
    to->count = COHORTS * count;
    for (unsigned c = 0; c < COHORTS; c++) {
        (void)snprintf(to->places[c], sizeof to->places[c], "%u", c);
        to->described[c][0] = to->places[c];
    }
    for (unsigned i = 0; i < to->count; i++) {
        to->values[i] = (sotto_value){SOTTO_TYPE_INTEGER, {.integer = value(i % count)}};
        to->times[i] = INT64_MIN;
        to->devices[i] =
            (sotto_sim_device){1, &to->values[i], &to->times[i], to->described[i / count]};
    }
}

static int64_t evenly_over_eight(unsigned i)
{
    return i % 8;
}

static int64_t evenly(unsigned i)
{
    return i % 51;
}

/* Far from the middle of the range, where a mean's error is larger, and not at its end, where answers are clipped. */
static int64_t ninety(unsigned i)
{
    (void)i;
    return 90;
}

/* Three of four have the default, 0. */
static int64_t rarely(unsigned i)
{
    return i % 4 ? 0 : 1 + i / 4 % 7;
}

/* ---- how far answers are off ---------------------------------------------------------------------------------- */

/* Of one run: adds squared errors, and returns how many. */
typedef unsigned look(const sotto_sim_outcome *o, double *squares);

static double root_mean_square(sotto_test *t, sotto_bytes text, const town *of, uint64_t seed,
                               look *at, unsigned least)
{
    const sotto_field field = {"v", SOTTO_TYPE_INTEGER};
    double squares = 0;
    unsigned errors = 0, empty = 0;
    sotto_trial trial;
    sotto_arena arena;

    CHECK_OK(t,
             sotto_trial_init(&trial, text, sotto_bytes_of(policy, strlen(policy)), NULL, &t->err));
    CHECK_OK(t, sotto_trial_type(&trial, &field, &t->err));
    sotto_arena_init(&arena, (size_t)64 << 20);
    for (uint64_t i = 0; errors < least && empty < least / 100; i++) {
        sotto_sim_worker *w;
        sotto_sim_outcome o;

        sotto_trial_begin(&trial, seed, i, true);
        CHECK_OK(t, sotto_worker_open(&w, &trial, &t->err));
        CHECK_OK(t, sotto_worker_take(w, 0, of->devices, of->count, &t->err));
        for (size_t c = 0; c < COHORTS; c++) {
            if (sotto_trial_end(&o, &trial, &w, 1, c, 0.95, &arena, &t->err) == SOTTO_OK)
                errors += at(&o, &squares);
            else
                empty++; /* a cohort that was not filled */
            sotto_err_clear(&t->err);
        }
        sotto_worker_close(w);
        sotto_arena_reset(&arena);
    }
    CHECK(t, errors >= least);
    sotto_arena_clear(&arena);
    sotto_trial_clear(&trial);
    return sqrt(squares / errors);
}

static unsigned each_bin(const sotto_sim_outcome *o, double *squares)
{
    for (size_t i = 0; i < o->line_count; i++)
        *squares += pow(o->lines[i].value - o->lines[i].truth, 2);
    return (unsigned)o->line_count;
}

static unsigned first_figure(const sotto_sim_outcome *o, double *squares)
{
    *squares += pow(o->lines[0].value - o->lines[0].truth, 2);
    return 1;
}

/* A bin of evenly spread numbers has its part of the devices, and its rank is that of its middle. */
static unsigned rank_of_the_median(const sotto_sim_outcome *o, double *squares)
{
    for (size_t i = 0; i < o->line_count; i++)
        if (o->lines[i].figure && strcmp(o->lines[i].figure, "quantile 0.5") == 0) {
            *squares += pow((o->lines[i].value + 0.5) / 51 - 0.5, 2);
            return 1;
        }
    return 0;
}

/* Bins but the default's, 0; in all devices. */
static unsigned rare_bins(const sotto_sim_outcome *o, double *squares)
{
    unsigned count = 0;

    for (size_t i = 0; i < o->line_count; i++)
        if (!o->lines[i].figure && o->lines[i].bin > 0) {
            *squares += pow(o->lines[i].value - o->lines[i].truth, 2);
            count++;
        }
    return count;
}

static void check_close(sotto_test *t, const char *what, double measured, double predicted)
{
    if (!(fabs(measured / predicted - 1) < 0.05))
        (void)fprintf(stderr, "%s: measured %g, predicted %g\n", what, measured, predicted);
    CHECK(t, fabs(measured / predicted - 1) < 0.05);
}

/* ---- every statistic ---------------------------------------------------------------------------------------------- */

/* part: of what price predicts, which is of the worst case, what these devices have. */
static void check_ways(sotto_test *t, const asked *a, int64_t (*value)(unsigned), look *at,
                       double part, unsigned ways)
{
    static sotto_price_way found[SOTTO_PRICE_WAYS];
    static town people;
    char text[TEXT], name[64];
    size_t count;
    const sotto_recipe *recipe = read_recipe(t, write_recipe(text, a));
    const sotto_price_question q = question_of(recipe);
    const unsigned least = at == rank_of_the_median ? MEDIANS : ERRORS;
    unsigned by = 0;

    settle(&people, a->devices, value);
    CHECK_OK(t, sotto_price_ways(found, &count, &q, recipe, &t->arena, &t->err));
    CHECK_EQUAL(t, ways, count);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "%s by %d, randomizer %d", a->statistic, (int)found[i].by,
                       (int)found[i].randomizer);
        CHECK(t, found[i].found && found[i].meets);
        CHECK_NEAR(t, a->devices, found[i].accuracy.reports, 1e-6);
        check_close(t, name, root_mean_square(t, found[i].text, &people, 40 + i, at, least),
                    part * found[i].accuracy.deviation);
        by |= 1U << found[i].by;
    }
    /* A sum and a mean have no randomizer: devices can protect neither by themselves. */
    const unsigned noise = 1U << SOTTO_BY_SHARES | 1U << SOTTO_BY_SERVERS;
    CHECK_EQUAL(t, noise | (ways > 2 ? 1U << SOTTO_BY_CROWD : 0), by);
}

static void histograms_are_off_as_priced(sotto_test *t)
{
    const asked a = {"histogram", RANGE("7"), "", SERVERS, POISSON, "", 64, 4, 20};

    check_ways(t, &a, evenly_over_eight, each_bin, 1, 6);
}

static void counts_are_off_as_priced(sotto_test *t)
{
    const asked a = {"count", "", "", SERVERS, POISSON, "", 40, 4, 20};

    check_ways(t, &a, ninety, first_figure, 1, 3);
}

static void sums_are_off_as_priced(sotto_test *t)
{
    const asked a = {"sum", RANGE("50"), "", SERVERS, POISSON, "", 102, 4, 50};

    check_ways(t, &a, evenly, first_figure, 1, 2);
}

/* Price is of a mean at the end of its range, half of the range from its middle: sqrt(1.25 / 1.16) of the error at 90. */
static void means_are_off_as_priced(sotto_test *t)
{
    const asked a = {"mean", RANGE("100"), "", SERVERS, POISSON, "", 202, 4, 100};

    check_ways(t, &a, ninety, first_figure, sqrt(1.16 / 1.25), 2);
}

static void medians_are_off_as_priced(sotto_test *t)
{
    const asked a = {"quantiles", RANGE("50"), "", SERVERS, POISSON, "", 153, 4, 100};

    check_ways(t, &a, evenly, rank_of_the_median, 1, 6);
}

/* ---- two rates ------------------------------------------------------------------------------------------------------ */

/* How far counts of rare values are off: by the randomizer and by the draw of who answers. */
static void counts_of_rare_values_are_off_as_planned(sotto_test *t)
{
    const asked a = {
        "histogram",
        RANGE("7"),
        ONE_HOT,
        "",
        "\"type\": \"importance\", \"rate_default\": 0.3, \"rate_other\": 0.8, \"default\": 0, "
        "\"default_share\": 0.75",
        "\"anonymity\": {\"relay\": \"relay\", \"gateway\": \"gateway\", \"tokens\": \"type-2\", "
        "\"attester\": \"key:attester\", \"issuer\": \"key:issuer\", \"log\": \"main\"},",
        224,
        12,
        20};
    static const double rates[] = {
        0.2, 0.4}; /* of all devices: few, and the draw is a part of the error */
    static sotto_rates_plan plan;
    static town people;
    char text[TEXT];
    const sotto_recipe *recipe = read_recipe(t, write_recipe(text, &a));
    sotto_price_question q = question_of(recipe);

    settle(&people, a.devices, rarely);
    for (size_t i = 0; i < 2; i++) {
        q.rate = rates[i];
        CHECK_OK(t, sotto_price_rates(&plan, &q, recipe, &t->arena, &t->err));
        const sotto_rates *best = &plan.rates[SOTTO_RATES_BEST];

        CHECK(t, best->found && best->rate_other > best->rate_default);
        CHECK_NEAR(t, 7, plan.bins, 0);
        CHECK(t, i > 0 || best->draw > 0.2 * best->noise);
        check_close(t, "planned rates",
                    root_mean_square(t, plan.text, &people, 60 + i, rare_bins, ERRORS), best->off);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(histograms_are_off_as_priced), CASE(counts_are_off_as_priced),
        CASE(sums_are_off_as_priced),       CASE(means_are_off_as_priced),
        CASE(medians_are_off_as_priced),    CASE(counts_of_rare_values_are_off_as_planned),
    };
    sotto_err err = {0};

    if (sotto_device_count_memory(&err) != SOTTO_OK)
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
