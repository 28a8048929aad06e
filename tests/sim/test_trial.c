/* A recipe asked of simulated devices at both speeds: answers of one law, the truth beside them, and the same bits for a seed. */
#include "sim/trial.h"

#include "sotto/device.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 60, TEXT = 4096, MOST_LINES = 24 };

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1,"
    " \"analyses\": {\"a.b\": {\"epsilon\": 30, \"delta\": 1e-3, \"reports\": 9, \"fields\": "
    "[\"s.v\", \"s.*\", \"s.event_time\"]}},"
    " \"fields\": {\"s.v\": {\"by\": [\"crowd\", \"shares\", \"servers\"], \"epsilon_local\": "
    "\"none\", \"epsilon\": 30,"
    "             \"delta\": 1e-3, \"reports\": 9},"
    "   \"s.*\": {\"by\": [\"crowd\", \"shares\", \"servers\"], \"epsilon_local\": \"none\", "
    "\"epsilon\": 30, \"delta\": 1e-3, \"reports\": 9},"
    "   \"s.event_time\": {\"by\": [\"crowd\", \"shares\", \"servers\"], \"epsilon_local\": "
    "\"none\", \"epsilon\": 30, \"delta\": 1e-3,"
    "      \"reports\": 9}},"
    " \"non_sensitive\": [\"place\"], \"min_cohort\": 10, \"honest\": 0.5, \"silence\": true, "
    "\"targeting_rate\": 1,"
    " \"logs\": {\"main\": {\"key\": "
    "\"log.example/2026+4b1d39c0+AaflY999egEFVTlY6uakA1qkhZtTVUnJ5dSwQE1O3POQ\", \"witnesses\": "
    "[\"witness.example/w+3b19cea7+BL/DnqGv2H997UNHwf3kq8o23aOcCY+CcG/gqdqH1uVk\"]}},"
    " \"issuers\": {\"key:issuer\": "
    "\"a7e563df7d7a0105553958eae6a4035aa4859b535549c9e5d4b0404d4edcf390\"}}";

/* What a test asks, in parts of a recipe. */
typedef struct asked {
    const char *statistic, *encode, *randomizer, *noise, *more;
} asked;

#define CATEGORIES "\"encode\": {\"v\": {\"type\": \"integer\", \"min\": 0, \"max\": 7}},"
#define NUMBERS    "\"encode\": {\"v\": {\"type\": \"integer\", \"min\": 0, \"max\": 15}},"
#define ONE_HOT                                                                                    \
    "\"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", \"epsilon_local\": 4.0},"
#define BINARY      "\"randomizer\": {\"type\": \"binary\", \"epsilon_local\": 2.0},"
#define CHOICE      "\"randomizer\": {\"type\": \"choice\", \"epsilon_local\": 3.0},"
#define SUBSET      "\"randomizer\": {\"type\": \"subset\", \"epsilon_local\": 3.0},"
#define SERVERS     "\"by\": \"servers\", \"sigma\": 3,"
#define SHARES      "\"by\": \"shares\", \"sigma\": 6, \"honest\": 0.5,"
#define WIDE        "\"by\": \"servers\", \"sigma\": 40,"
#define WIDE_SHARES "\"by\": \"shares\", \"sigma\": 12, \"honest\": 0.5,"

static const asked all[] = {
    {"histogram", CATEGORIES, ONE_HOT, "", ""},
    {"histogram", CATEGORIES, CHOICE, "", ""},
    {"histogram", CATEGORIES, SUBSET, "", ""},
    {"histogram", CATEGORIES, "", SERVERS, ""},
    {"histogram", CATEGORIES, "", SHARES, ""},
    {"count", "", BINARY, "", ""},
    {"count", "", "", SERVERS, ""},
    {"count", "", "", SHARES, ""},
    {"sum", NUMBERS, "", WIDE, ""},
    {"sum", NUMBERS, "", WIDE_SHARES, ""},
    {"mean", NUMBERS, "", WIDE, ""},
    {"mean", NUMBERS, "", WIDE_SHARES, ""},
    {"quantiles", NUMBERS, ONE_HOT, "", ""},
    {"quantiles", NUMBERS, "", SERVERS, ""},
    {"quantiles", NUMBERS, "", SHARES, ""},
};

static void write_recipe(char out[TEXT], const asked *a)
{
    const int len = snprintf(
        out, TEXT,
        "{\"recipe\": \"r\", \"version\": 1, \"analysis\": \"a.b\", \"query\": \"SELECT v FROM s\","
        " \"statistic\": \"%s\", %s %s %s"
        " \"privacy\": {\"adjacency\": \"replacement\", %s \"epsilon\": 20, \"delta\": 1e-4, "
        "\"min_cohort\": 10},"
        " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:l\", \"helper\": \"key:h\"},"
        " \"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": "
        "\"2026-11-27T00:00:00Z\", \"precision\": \"1h\"},"
        " \"population\": 1000}",
        a->statistic, a->encode, a->randomizer,
        a->more[0] ? a->more : "\"participation\": {\"type\": \"poisson\", \"rate\": 0.75},",
        a->noise);

    (void)len;
}

static void open_trial(sotto_test *t, sotto_trial *trial, const char *recipe)
{
    const sotto_status status =
        sotto_trial_init(trial, sotto_bytes_of(recipe, strlen(recipe)),
                         sotto_bytes_of(policy, strlen(policy)), NULL, &t->err);

    if (status != SOTTO_OK)
        (void)fprintf(stderr, "%s\n%s\n", recipe, t->err.reason);
    CHECK(t, status == SOTTO_OK);
    if (status == SOTTO_OK) {
        const sotto_field field = {"v", SOTTO_TYPE_INTEGER};

        CHECK_OK(t, sotto_trial_type(trial, &field, &t->err));
    }
}

/* Device i: one event, two, or none. */
typedef struct town {
    sotto_value values[DEVICES][2];
    int64_t times[DEVICES][2];
    const char *described[DEVICES][1];
    sotto_sim_device devices[DEVICES];
} town;

static void settle(town *to)
{
    for (size_t i = 0; i < DEVICES; i++) {
        for (size_t j = 0; j < 2; j++) {
            to->values[i][j] =
                (sotto_value){SOTTO_TYPE_INTEGER, {.integer = (int64_t)(i * (j + 1) % 9)}};
            to->times[i][j] = INT64_MIN;
        }
        to->described[i][0] = i % 2 ? "north" : "south";
        to->devices[i] = (sotto_sim_device){i % 3, to->values[i], to->times[i], to->described[i]};
    }
}

/* Runs once on so many workers, blocks of 16 dealt among them, and hands out the first cohort. */
static void run(sotto_test *t, sotto_trial *trial, const town *of, size_t workers,
                sotto_sim_outcome *out, sotto_sim_worker **w, sotto_arena *arena)
{
    for (size_t i = 0; i < workers; i++)
        CHECK_OK(t, sotto_worker_open(&w[i], trial, &t->err));
    for (size_t i = 0; i < DEVICES; i += 16)
        CHECK_OK(t, sotto_worker_take(w[i / 16 % workers], i, &of->devices[i],
                                      DEVICES - i < 16 ? DEVICES - i : 16, &t->err));
    CHECK_OK(t, sotto_trial_end(out, trial, w, workers, 0, 0.95, arena, &t->err));
}

/* ---- one law -------------------------------------------------------------------------------------------------- */

typedef struct law {
    double off, squares, variance, n; /* of estimate - truth; and what deviations say of it */
    double reports, runs;
    double truth[MOST_LINES], truth_squares[MOST_LINES];
    double value[MOST_LINES], value_squares[MOST_LINES];
} law;

static void add(law *l, const sotto_sim_outcome *o)
{
    l->runs++;
    l->reports += (double)o->collection.reports;
    for (size_t i = 0; i < o->line_count && i < MOST_LINES; i++) {
        const sotto_sim_line *line = &o->lines[i];
        const double off = line->value - line->truth;

        l->truth[i] += line->truth;
        l->truth_squares[i] += line->truth * line->truth;
        l->value[i] += line->value;
        l->value_squares[i] += line->value * line->value;
        if (line->figure && line->figure[0] == 'q')
            continue; /* steps of a grid */
        l->off += off;
        l->squares += off * off;
        l->variance += line->deviation * line->deviation;
        l->n++;
    }
}

/* Deviations between two means, of as many runs as each has. */
static double apart(double a, double a2, double n, double b, double b2, double m)
{
    const double va = fmax(a2 / n - a / n * (a / n), 0), vb = fmax(b2 / m - b / m * (b / m), 0),
                 pooled = (va * n + vb * m) / (n + m);

    return fabs(a / n - b / m) / sqrt(pooled * (1 / n + 1 / m) + 1e-9);
}

static void gather(sotto_test *t, law *l, sotto_trial *trial, const town *of, bool fast,
                   size_t runs)
{
    sotto_arena arena;

    sotto_arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < runs; i++) {
        sotto_sim_worker *w[1] = {NULL};
        sotto_sim_outcome o;

        sotto_trial_begin(trial, fast ? 11 : 12, i, fast);
        run(t, trial, of, 1, &o, w, &arena);
        add(l, &o);
        sotto_worker_close(w[0]);
        sotto_arena_reset(&arena);
    }
    sotto_arena_clear(&arena);
}

/* Right on average, and as far off as its deviations say. */
static bool is_unbiased(const law *l)
{
    const double within = 0.1 + 5 * sqrt(2 / fmax(l->n, 1));

    return l->n == 0 ||
           (fabs(l->off) < 5 * sqrt(l->variance) && fabs(l->squares / l->variance - 1) < within);
}

/* Bounds are about five deviations of what they bound; seeds are fixed. */
static void compare_laws(sotto_test *t, const char *recipe, const char *name, size_t whole_runs)
{
    static town people;
    law fast = {0}, whole = {0};
    sotto_trial trial;

    settle(&people);
    open_trial(t, &trial, recipe);
    /* Some have a line for each bin. */
    gather(t, &fast, &trial, &people, true,
           SOTTO_TEST_DRAWS((size_t)(trial.content.bins && trial.content.values > 1 ? 70 : 400)));
    gather(t, &whole, &trial, &people, false, whole_runs);
    const double reports = fabs(fast.reports / fast.runs - whole.reports / whole.runs);
    bool right = reports < 5 * sqrt(DEVICES * 0.25 / whole.runs) && isfinite(fast.squares);
    for (size_t i = 0; i < MOST_LINES; i++)
        right = right &&
                apart(fast.truth[i], fast.truth_squares[i], fast.runs, whole.truth[i],
                      whole.truth_squares[i], whole.runs) < 5 &&
                apart(fast.value[i], fast.value_squares[i], fast.runs, whole.value[i],
                      whole.value_squares[i], whole.runs) < 5;
    right = right && is_unbiased(&fast) && is_unbiased(&whole);
    if (!right)
        (void)fprintf(stderr, "%s: fast %g, %g; whole %g, %g; reports %g\n", name,
                      fast.off / sqrt(fast.variance), fast.squares / fast.variance,
                      whole.off / sqrt(whole.variance), whole.squares / whole.variance, reports);
    CHECK(t, right);
    sotto_trial_clear(&trial);
}

static void both_speeds_have_one_law_for_every_statistic_and_noise(sotto_test *t)
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char recipe[TEXT], name[64];

        write_recipe(recipe, &all[i]);
        (void)snprintf(name, sizeof name, "%s %zu", all[i].statistic, i);
        compare_laws(t, recipe, name, SOTTO_TEST_BOUND(4, 2));
    }
}

/* How rows are picked, who takes part and when, and what is sent without a value. */
static void both_speeds_have_one_law_for_every_pick_and_participation(sotto_test *t)
{
    static const char *const more[] = {
        "\"pick\": \"first\", \"participation\": {\"type\": \"poisson\", \"rate\": 0.5},",
        "\"pick\": \"one-matching-at-random\", \"on_no_match\": \"random-bin\","
        " \"participation\": {\"type\": \"poisson\", \"rate\": 0.5}, \"dummies\": 0.5,",
        "\"on_no_match\": \"silence\", \"participation\": {\"type\": \"poisson\", \"rate\": 1},",
        "\"participation\": {\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 8,"
        " \"start\": \"2026-11-20T00:00:00Z\", \"slot\": \"1d\"},",
        "\"interval\": {\"type\": \"last\", \"duration\": \"1h\"},"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 0.5},",
    };

    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        const bool dummies = strstr(more[i], "dummies") != NULL;
        const asked a = {"histogram", CATEGORIES, dummies ? ONE_HOT : "", dummies ? "" : SERVERS,
                         more[i]};
        char recipe[TEXT];

        write_recipe(recipe, &a);
        compare_laws(t, recipe, more[i], SOTTO_TEST_BOUND(6, 2));
    }
}

/* Two rates, of "no value" and of a bin: lines tell of all devices, silent ones among them. Both need more room for epsilon
 * than others: what silence tells is added. */
static void both_speeds_have_one_law_for_importance_sampling(sotto_test *t)
{
    static const char *const defaults[] = {"", "\"default\": 0, "};

    for (size_t i = 0; i < 2; i++) {
        asked a = {"histogram", CATEGORIES, ONE_HOT, "", NULL};
        char recipe[TEXT], more[600];

        (void)snprintf(more, sizeof more,
                       "\"participation\": {\"type\": \"importance\", \"rate_default\": 0.3, %s"
                       "\"rate_other\": 0.8}, \"anonymity\": {\"relay\": \"relay\", "
                       "\"gateway\": \"gateway\", \"tokens\": \"type-2\", \"attester\": "
                       "\"key:attester\", \"issuer\": \"key:issuer\", \"log\": \"main\"},",
                       defaults[i]);
        a.more = more;
        write_recipe(recipe, &a);
        compare_laws(t, recipe, more, SOTTO_TEST_BOUND(10, 3));
    }
}

/* ---- the same bits --------------------------------------------------------------------------------------------- */

static void a_seed_gives_the_same_sums_on_any_number_of_workers(sotto_test *t)
{
    static town people;
    char recipe[TEXT];
    sotto_trial trial;
    sotto_arena arena;

    settle(&people);
    write_recipe(recipe, &all[3]);
    open_trial(t, &trial, recipe);
    sotto_arena_init(&arena, (size_t)64 << 20);
    for (int fast = 0; fast < 2; fast++) {
        uint64_t first[16] = {0}, other[16] = {0};

        for (size_t workers = 1; workers <= 3; workers++) {
            sotto_sim_worker *w[3] = {NULL};
            sotto_sim_outcome o;

            sotto_trial_begin(&trial, workers == 3 ? 8 : 7, 0, fast);
            run(t, &trial, &people, workers, &o, w, &arena);
            CHECK(t, o.collection.sum_count <= 16);
            for (size_t i = 0; i < o.collection.sum_count; i++)
                (workers == 1 ? first : other)[i] = o.collection.sums[i].low;
            if (workers == 2)
                CHECK_BYTES(t, first, other, sizeof first);
            if (workers == 3) /* of another seed */
                CHECK(t, memcmp(first, other, sizeof first) != 0);
            for (size_t i = 0; i < workers; i++)
                sotto_worker_close(w[i]);
            sotto_arena_reset(&arena);
        }
    }
    sotto_arena_clear(&arena);
    sotto_trial_clear(&trial);
}

/* ---- what is asked of whom --------------------------------------------------------------------------------------- */

static void cohorts_are_answered_apart(sotto_test *t)
{
    const asked a = {"histogram", CATEGORIES, "", SERVERS,
                     "\"cohorts\": {\"place\": [\"north\", \"south\"]},"
                     "\"participation\": {\"type\": \"poisson\", \"rate\": 1},"};
    static town people;
    char recipe[TEXT];
    sotto_trial trial;
    sotto_arena arena;

    settle(&people);
    write_recipe(recipe, &a);
    open_trial(t, &trial, recipe);
    CHECK_EQUAL(t, 2, trial.cohorts);
    CHECK_EQUAL(t, 1, trial.table.described_count);
    sotto_arena_init(&arena, (size_t)64 << 20);
    for (int fast = 0; fast < 2; fast++) {
        sotto_sim_worker *w[1] = {NULL};
        sotto_sim_outcome north, south;

        sotto_trial_begin(&trial, 3, 0, fast);
        run(t, &trial, &people, 1, &north, w, &arena);
        CHECK_OK(t, sotto_trial_end(&south, &trial, w, 1, 1, 0.95, &arena, &t->err));
        CHECK_EQUAL(t, DEVICES / 2, north.collection.reports);
        CHECK_EQUAL(t, DEVICES / 2, south.collection.reports);
        CHECK(t, !north.check.wrong && !south.check.wrong);
        sotto_worker_close(w[0]);
        sotto_arena_reset(&arena);
    }
    sotto_arena_clear(&arena);
    sotto_trial_clear(&trial);
}

static void too_few_reports_give_no_answer(sotto_test *t)
{
    const asked a = {"histogram", CATEGORIES, "", SERVERS,
                     "\"participation\": {\"type\": \"poisson\", \"rate\": 0.05},"};
    static town people;
    char recipe[TEXT];
    sotto_trial trial;
    sotto_arena arena;

    settle(&people);
    write_recipe(recipe, &a);
    open_trial(t, &trial, recipe);
    sotto_arena_init(&arena, (size_t)64 << 20);
    for (int fast = 0; fast < 2; fast++) {
        sotto_sim_worker *w;
        sotto_sim_outcome o;

        sotto_trial_begin(&trial, 5, 0, fast);
        CHECK_OK(t, sotto_worker_open(&w, &trial, &t->err));
        CHECK_OK(t, sotto_worker_take(w, 0, people.devices, DEVICES, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED, sotto_trial_end(&o, &trial, &w, 1, 0, 0.95, &arena, &t->err));
        sotto_worker_close(w);
        sotto_err_clear(&t->err);
    }
    sotto_arena_clear(&arena);
    sotto_trial_clear(&trial);
}

/* A version that is asked for as a text is no number: 1.1 and 1.10 would be the same. */
static void a_column_that_is_compared_with_a_text_is_one(sotto_test *t)
{
    static const struct {
        const char *condition;
        sotto_type type;
    } cases[] = {
        {"v = '1.1'", SOTTO_TYPE_TEXT},
        {"'1.1' = v", SOTTO_TYPE_TEXT},
        {"s.v NOT IN ('1.1')", SOTTO_TYPE_TEXT},
        {"v > 1.1", SOTTO_TYPE_NULL},
        {"v = 1 AND 'w' <> 'u'", SOTTO_TYPE_NULL},
    };
    static const char end[] = "SELECT v FROM s";

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char recipe[TEXT], text[TEXT + 100];
        sotto_trial trial;

        write_recipe(recipe, &all[3]);
        const char *at = strstr(recipe, end) + strlen(end);
        const int len = snprintf(text, sizeof text, "%.*s WHERE %s%s", (int)(at - recipe), recipe,
                                 cases[i].condition, at);
        CHECK_OK(t, sotto_trial_init(&trial, sotto_bytes_of(text, (size_t)len),
                                     sotto_bytes_of(policy, strlen(policy)), NULL, &t->err));
        CHECK_EQUAL(t, 1, trial.table.stream.field_count);
        CHECK_EQUAL(t, cases[i].type, trial.table.fields[0].type);
        sotto_trial_clear(&trial);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_column_that_is_compared_with_a_text_is_one),
        CASE(both_speeds_have_one_law_for_every_statistic_and_noise),
        CASE(both_speeds_have_one_law_for_every_pick_and_participation),
        CASE(both_speeds_have_one_law_for_importance_sampling),
        CASE(a_seed_gives_the_same_sums_on_any_number_of_workers),
        CASE(cohorts_are_answered_apart),
        CASE(too_few_reports_give_no_answer),
    };
    sotto_err err = {0};

    if (sotto_device_count_memory(&err) != SOTTO_OK)
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
