/* Randomizers: what they claim, what their reports look like, and what an estimator makes of them. */
#include "noise/estimate.h"
#include "noise/randomizer.h"
#include "noise_support.h"
#include "support/test.h"

#include <math.h>

static const double epsilons[] = {0.25, 1, 3};

typedef struct source {
    sotto_sim_random random;
    sotto_entropy entropy;
} source;

static void source_init(source *s, uint64_t seed)
{
    sotto_sim_random_init(&s->random, seed);
    sotto_entropy_init(&s->entropy, noise_fill_sim, &s->random);
}

static uint64_t values_of(sotto_randomizer_kind kind, uint64_t wanted)
{
    return kind == SOTTO_BINARY_RESPONSE ? 1 : wanted;
}

static void declared_epsilon_is_what_was_asked_for_and_no_more(sotto_test *t)
{
    static const double many[] = {0x1p-20, 1e-3, 0.1, 0.5, 1, 2, 4, 8, 16, 30};
    static const uint64_t sizes[] = {1, 2, 3, 100, 10000};

    for (int kind = 1; kind < SOTTO_RANDOMIZER_KINDS; kind++)
        for (size_t e = 0; e < sizeof many / sizeof many[0]; e++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
                for (int a = SOTTO_ADJACENCY_REPLACEMENT; a <= SOTTO_ADJACENCY_DELETION; a++) {
                    sotto_randomizer r;

                    if ((kind == SOTTO_RAPPOR && a == SOTTO_ADJACENCY_DELETION) ||
                        (kind == SOTTO_BINARY_RESPONSE && sizes[s] > 1))
                        continue;
                    CHECK_OK(t, sotto_randomizer_init(&r, (sotto_randomizer_kind)kind, sizes[s],
                                                      many[e], (sotto_adjacency)a, &t->err));
                    CHECK(t, r.epsilon <= many[e]);
                    /* A chance near e^-30 has few of its 64 bits left. */
                    CHECK(t, r.epsilon >= many[e] - 1e-12 - exp(many[e]) * 1e-18);
                    CHECK(t, r.p > r.q && r.delta < 0x1p-100);
                }
}

static void formulas_of_the_papers_hold(sotto_test *t)
{
    sotto_randomizer r;
    double e2 = exp(2);

    CHECK_OK(t, sotto_randomizer_init(&r, SOTTO_ONE_HOT_ASYMMETRIC, 10, 2,
                                      SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK_NEAR(t, 0.5, r.p, 0);
    CHECK_NEAR(t, 1 / (e2 + 1), r.q, 1e-12);
    /* 60,000 of a million: the constant is 2 n / (e^eps - 1), twice the printed one. */
    double sum = 60000 * r.p + 940000 * r.q;
    CHECK_NEAR(t, 60000, sotto_estimate_count(&r, sum, 1e6).value, 1e-6);
    CHECK_NEAR(t, 60000, 2 * (e2 + 1) / (e2 - 1) * sum - 2e6 / (e2 - 1), 1e-6);
    CHECK_NEAR(t, 1e6 * 4 * e2 / pow(e2 - 1, 2) + 60000, sotto_estimate_variance(&r, 60000, 1e6),
               1e-3);

    CHECK_OK(t, sotto_randomizer_init(&r, SOTTO_ONE_HOT_SYMMETRIC, 10, 2, SOTTO_ADJACENCY_DELETION,
                                      &t->err));
    CHECK_NEAR(t, 1e6 * e2 / pow(e2 - 1, 2), sotto_estimate_variance(&r, 60000, 1e6), 1e-3);
    CHECK_OK(t,
             sotto_randomizer_init(&r, SOTTO_RAPPOR, 10, 2, SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK_NEAR(t, 1 / (exp(1) + 1), r.q, 1e-12);
    /* A choice of ten values or none: 11 symbols. */
    CHECK_OK(t, sotto_randomizer_init(&r, SOTTO_CHOICE_RESPONSE, 10, 2, SOTTO_ADJACENCY_REPLACEMENT,
                                      &t->err));
    CHECK_NEAR(t, e2 / (e2 + 10), r.p, 1e-12);
    CHECK_NEAR(t, 1 / (e2 + 10), r.q, 1e-12);
    CHECK_OK(t, sotto_randomizer_init(&r, SOTTO_PROJECTIVE_RESPONSE, 1000, log(6),
                                      SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK_EQUAL(t, 7, r.prime);
    CHECK_EQUAL(t, 5, r.digits); /* 7^4 >= 1000, and the constant */
    CHECK_NEAR(t, 0.5, r.p, 1e-12);
    CHECK_NEAR(t, 1.0 / 7, r.q, 1e-12);
}

/* Which of three values a report supports. */
static unsigned pattern(const sotto_randomizer *r, const uint8_t *report)
{
    unsigned bits = 0;

    for (uint64_t v = 0; v < r->values; v++)
        bits |= (unsigned)sotto_randomizer_supports_vartime(r, report, v) << v;
    return bits;
}

/* Frequencies of what a report supports, for each of three values and none. No two differ by more than the
 * factor e^epsilon, and for some kinds two differ by that much. */
static void check_ratios(sotto_test *t, const sotto_randomizer *r, bool tight)
{
    enum { RUNS = 25000 };
    double seen[4][8] = {{0}};
    double limit = exp(r->epsilon), largest = 0;
    source s;

    source_init(&s, (uint64_t)r->kind);
    for (unsigned v = 0; v <= r->values; v++)
        for (unsigned i = 0; i < RUNS; i++) {
            uint8_t report[256];

            CHECK_OK(t, sotto_randomizer_run(r, report, v == r->values ? SOTTO_NO_VALUE : v,
                                             &s.entropy, &t->err));
            seen[v][pattern(r, report)]++;
        }
    for (unsigned v = 0; v <= r->values; v++)
        for (unsigned u = 0; u <= r->values; u++)
            for (unsigned i = 0; i < 8; i++) {
                if (r->adjacency == SOTTO_ADJACENCY_DELETION && u < r->values && v < r->values)
                    continue;
                double slack = 6 * sqrt(seen[v][i] + limit * limit * seen[u][i]) + 10;
                CHECK(t, seen[v][i] <= limit * seen[u][i] + slack);
                if (seen[u][i] > 300)
                    largest = fmax(largest, seen[v][i] / seen[u][i]);
            }
    if (tight)
        CHECK(t, largest > 0.85 * limit);
}

static void no_two_values_differ_by_more_than_declared(sotto_test *t)
{
    for (int kind = 1; kind < SOTTO_RANDOMIZER_KINDS; kind++)
        for (size_t e = 0; e < 2; e++) {
            sotto_randomizer r;
            uint64_t values = values_of((sotto_randomizer_kind)kind, 3);

            CHECK_OK(t, sotto_randomizer_init(&r, (sotto_randomizer_kind)kind, values, epsilons[e],
                                              SOTTO_ADJACENCY_REPLACEMENT, &t->err));
            check_ratios(t, &r, true);
            if (kind == SOTTO_RAPPOR)
                continue;
            CHECK_OK(t, sotto_randomizer_init(&r, (sotto_randomizer_kind)kind, values, epsilons[e],
                                              SOTTO_ADJACENCY_DELETION, &t->err));
            check_ratios(t, &r, false);
        }
}

/* People with values 0 and 1 and none; estimates of the first over many rounds have the mean and the variance
 * that the formula gives. */
static void check_estimates(sotto_test *t, const sotto_randomizer *r)
{
    enum { ROUNDS = 500, PEOPLE = 250, WITH = 100 };
    double sum = 0, squares = 0, expected = sotto_estimate_variance(r, WITH, PEOPLE);
    source s;

    source_init(&s, 100 + (uint64_t)r->kind);
    for (unsigned round = 0; round < ROUNDS; round++) {
        double supporting = 0;

        for (unsigned i = 0; i < PEOPLE; i++) {
            uint8_t report[256];
            uint64_t value = i < WITH ? 0 : i < 2 * WITH && r->values > 1 ? 1 : SOTTO_NO_VALUE;

            CHECK_OK(t, sotto_randomizer_run(r, report, value, &s.entropy, &t->err));
            supporting += sotto_randomizer_supports_vartime(r, report, 0);
        }
        double value = sotto_estimate_count(r, supporting, PEOPLE).value;
        sum += value - WITH;
        squares += (value - WITH) * (value - WITH);
    }
    CHECK_NEAR(t, 0, sum / ROUNDS, 5 * sqrt(expected / ROUNDS));
    CHECK_NEAR(t, 1, squares / ROUNDS / expected, 5 * sqrt(2.0 / ROUNDS));
}

static void estimates_are_unbiased_with_the_stated_variance(sotto_test *t)
{
    for (int kind = 1; kind < SOTTO_RANDOMIZER_KINDS; kind++)
        for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++) {
            sotto_randomizer r;

            CHECK_OK(t, sotto_randomizer_init(&r, (sotto_randomizer_kind)kind,
                                              values_of((sotto_randomizer_kind)kind, 20),
                                              epsilons[e], SOTTO_ADJACENCY_REPLACEMENT, &t->err));
            check_estimates(t, &r);
        }
}

static void reports_keep_their_weight(sotto_test *t)
{
    static uint8_t report[1001];
    source s;

    source_init(&s, 7);
    for (int kind = 1; kind < SOTTO_PROJECTIVE_RESPONSE; kind++) {
        sotto_randomizer r;

        CHECK_OK(t, sotto_randomizer_init(&r, (sotto_randomizer_kind)kind,
                                          values_of((sotto_randomizer_kind)kind, 1000), 2,
                                          SOTTO_ADJACENCY_REPLACEMENT, &t->err));
        for (unsigned i = 0; i < 300; i++) {
            uint64_t weight = 0;

            CHECK_OK(t, sotto_randomizer_run(&r, report, i % r.values, &s.entropy, &t->err));
            for (size_t b = 0; b < r.bytes; b++)
                weight += report[b];
            CHECK(t, weight <= r.weight);
            CHECK(t, !r.set || weight == r.set);
            CHECK(t, r.set || r.values == 1 || weight > 0); /* no report was lost */
        }
    }
}

static uint64_t no_bits(uint64_t position)
{
    return position == 0 ? 0 : position;
}

/* Randomness that sets every bit: too heavy to be proved, so the report becomes the empty one. */
static void a_report_too_heavy_becomes_the_empty_one(sotto_test *t)
{
    static uint8_t report[1000];
    noise_words words = {0, no_bits};
    sotto_entropy entropy;
    sotto_randomizer r;

    CHECK_OK(t, sotto_randomizer_init(&r, SOTTO_ONE_HOT_ASYMMETRIC, 1000, 2,
                                      SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK(t, r.weight > 120 && r.weight < 240);
    sotto_entropy_init(&entropy, noise_fill_words, &words);
    memset(report, 9, sizeof report);
    CHECK_OK(t, sotto_randomizer_run(&r, report, 5, &entropy, &t->err));
    for (size_t i = 0; i < sizeof report; i++)
        CHECK_EQUAL(t, 0, report[i]);
}

static void bad_parameters_are_refused_by_name(sotto_test *t)
{
    sotto_randomizer r;
    uint8_t report[8] = {1};
    sotto_entropy entropy;

    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_randomizer_init(&r, SOTTO_RAPPOR, 5, NAN, SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK_REASON(t, "epsilon");
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_randomizer_init(&r, SOTTO_RAPPOR, 5, 0, SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_randomizer_init(&r, SOTTO_RAPPOR, 0, 1, SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK_REASON(t, "values");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_randomizer_init(&r, SOTTO_BINARY_RESPONSE, 2, 1, SOTTO_ADJACENCY_REPLACEMENT,
                                       &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_randomizer_init(&r, SOTTO_RAPPOR, 5, 1, SOTTO_ADJACENCY_DELETION, &t->err));
    CHECK_REASON(t, "adjacency");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_randomizer_init(&r, SOTTO_ONE_HOT_SYMMETRIC, 5, 1,
                                       SOTTO_ADJACENCY_ADD_REMOVE, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_randomizer_init(&r, (sotto_randomizer_kind)0, 5, 1,
                                       SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    CHECK_OK(t,
             sotto_randomizer_init(&r, SOTTO_RAPPOR, 5, 1, SOTTO_ADJACENCY_REPLACEMENT, &t->err));
    sotto_entropy_init(&entropy, noise_fill_nothing, NULL);
    CHECK_STATUS(t, SOTTO_IO, sotto_randomizer_run(&r, report, 1, &entropy, &t->err));
    CHECK_EQUAL(t, 0, report[0]);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(declared_epsilon_is_what_was_asked_for_and_no_more),
        CASE(formulas_of_the_papers_hold),
        CASE(no_two_values_differ_by_more_than_declared),
        CASE(estimates_are_unbiased_with_the_stated_variance),
        CASE(reports_keep_their_weight),
        CASE(a_report_too_heavy_becomes_the_empty_one),
        CASE(bad_parameters_are_refused_by_name),
    };
    return RUN_TESTS(argc, argv, cases);
}
