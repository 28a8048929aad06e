/* Every statistic, by noise in shares and by noise of the servers, from events on devices to figures with intervals. */
#include "sotto/analyse.h"
#include "support/round_trip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 24, WITHOUT = 4, MOST = 10 };

/* ---- devices -------------------------------------------------------------------------------------------------- */

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"com.example.likes\": {\"epsilon\": 100,"
    " \"delta\": 0.001, \"reports\": 10, \"fields\": [\"trips.minutes\", \"trips.*\"]}},"
    " \"fields\": {\"trips.minutes\": {\"epsilon_local\": \"none\", \"by\": [\"shares\", "
    "\"servers\"],"
    " \"epsilon\": 100, \"delta\": 0.001, \"reports\": 10}, \"trips.*\": {\"epsilon_local\": "
    "\"none\","
    " \"by\": [\"shares\", \"servers\"], \"epsilon\": 100, \"delta\": 0.001, \"reports\": 10}},"
    " \"min_cohort\": 10, \"honest\": 0.5}";

static const sotto_field fields[] = {{"minutes", SOTTO_TYPE_INTEGER}};
static const sotto_stream streams[] = {{"trips", fields, 1, 86400, 100}};

/* The i-th device's number; some have more than the recipe's range. */
static int64_t minutes_of(unsigned i)
{
    return (int64_t)(i * 7 % 15) - 1;
}

static int64_t clipped(unsigned i)
{
    const int64_t x = minutes_of(i);

    return x < 0 ? 0 : x > MOST ? MOST : x;
}

/* Nothing of a report without local protection stays on the device but what it cost. */
static sotto_status look(void *context, const sotto_record_line *line, sotto_err *err)
{
    sotto_test *t = context;

    (void)err;
    if (line->epsilon > 0) {
        CHECK(t, isinf(line->local));
        CHECK_EQUAL(t, 0, line->randomised.len);
    }
    return SOTTO_OK;
}

static void answer(sotto_test *t, sotto_test_service *s, unsigned i)
{
    const sotto_value value = {.type = SOTTO_TYPE_INTEGER, .as.integer = minutes_of(i)};

    sotto_test_report(t, s, policy, streams, i < WITHOUT ? NULL : &value, look);
}

/* ---- the truth ------------------------------------------------------------------------------------------------ */

static double truth_of(const char *name)
{
    double sum = 0, ordered[DEVICES], at;
    size_t count = 0;

    for (unsigned i = WITHOUT; i < DEVICES; i++) {
        sum += (double)clipped(i);
        ordered[count++] = (double)clipped(i);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (ordered[j] < ordered[i]) {
                at = ordered[i];
                ordered[i] = ordered[j];
                ordered[j] = at;
            }
    if (strcmp(name, "count") == 0)
        return (double)count;
    if (strcmp(name, "sum") == 0)
        return sum;
    if (strcmp(name, "mean") == 0)
        return sum / (double)count;
    at = strtod(name + sizeof "quantile", NULL);
    return ordered[(size_t)(at * (double)count + 0.999999) - 1];
}

/* ---- the answer ----------------------------------------------------------------------------------------------- */

typedef struct question {
    const char *statistic, *sigma;
    int32_t types[2]; /* by servers, by shares */
    size_t figures, bins;
} question;

/* Intervals that miss once in 10^12 times by a bell curve, and once in 10^10 by Skellam noise of these deviations. */
static void check_answer(sotto_test *t, const sotto_test_service *s, const question *q)
{
    const sotto_result_options wide = {.confidence = 1 - 1e-12};
    const sotto_collection got = sotto_test_collect_whole(t, s);
    sotto_result result;

    CHECK_EQUAL(t, DEVICES, got.reports);
    CHECK_OK(t, sotto_result_estimate(&result, s->recipe, got.sums, got.sum_count, got.reports,
                                      &wide, &t->arena, &t->err));
    CHECK_EQUAL(t, q->figures, result.figure_count);
    CHECK_EQUAL(t, q->bins, result.count);
    for (size_t i = 0; i < result.figure_count; i++) {
        const sotto_result_figure *f = &result.figures[i];
        const double truth = truth_of(f->name);

        CHECK(t, f->low <= truth && truth <= f->high);
        CHECK(t, f->deviation >= 0);
    }
    for (size_t i = 0; i < result.count; i++) {
        double truth = 0;

        for (unsigned d = WITHOUT; d < DEVICES; d++)
            truth += clipped(d) == (int64_t)i;
        CHECK(t, result.bins[i].low <= truth && truth <= result.bins[i].high);
    }
    if (result.has_no_value)
        CHECK(t, result.no_value.low <= WITHOUT && WITHOUT <= result.no_value.high);
}

static void ask(sotto_test *t, const question *q, bool shares)
{
    static sotto_test_service s;
    char asks[320], noise[80];
    const bool count = strcmp(q->statistic, "count") == 0;

    (void)snprintf(asks, sizeof asks,
                   " \"query\": \"SELECT %s FROM trips\", \"statistic\": \"%s\",%s",
                   count ? "1" : "minutes", q->statistic,
                   count ? ""
                         : " \"encode\": {\"minutes\": {\"type\": \"integer\", \"min\": 0,"
                           " \"max\": 10}},");
    (void)snprintf(noise, sizeof noise, ", \"by\": \"%s\", \"sigma\": %s",
                   shares ? "shares" : "servers", q->sigma);
    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.asks = asks, .noise = noise, .job_delay_ms = 100});
    CHECK_EQUAL(t, q->types[shares], s.task.vdaf.type);
    for (unsigned i = 0; i < DEVICES; i++)
        answer(t, &s, i);
    check_answer(t, &s, q);
    sotto_test_service_close(&s);
}

static const question questions[] = {
    {"histogram", "6", {SOTTO_PRIO3_HISTOGRAM, SOTTO_PRIO3_SUM_VEC}, 0, MOST + 1},
    {"count", "6", {SOTTO_PRIO3_COUNT, SOTTO_PRIO3_SUM}, 1, 0},
    {"sum", "40", {SOTTO_PRIO3_SUM, SOTTO_PRIO3_SUM}, 1, 0},
    {"mean", "40", {SOTTO_PRIO3_SUM_VEC, SOTTO_PRIO3_SUM_VEC}, 2, 0},
    {"quantiles", "6", {SOTTO_PRIO3_HISTOGRAM, SOTTO_PRIO3_SUM_VEC}, 5, MOST + 1},
};

static void every_statistic_is_answered_with_noise_by_servers(sotto_test *t)
{
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        ask(t, &questions[i], false);
}

static void every_statistic_is_answered_with_noise_in_shares(sotto_test *t)
{
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        ask(t, &questions[i], true);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_statistic_is_answered_with_noise_by_servers),
        CASE(every_statistic_is_answered_with_noise_in_shares),
    };

    return RUN_TESTS(argc, argv, cases);
}
