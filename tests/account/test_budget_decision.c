#include "account/budget_decision.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sotto_decimal dec(sotto_test *t, const char *text)
{
    sotto_decimal d = {0};

    CHECK_OK(t, sotto_decimal_parse(&d, sotto_bytes_of(text, strlen(text)), SOTTO_DECIMAL_EXACT,
                                    &t->err));
    return d;
}

static sotto_budget_limit limit_of(sotto_test *t, const char *epsilon, uint64_t reports)
{
    return (sotto_budget_limit){.epsilon = dec(t, epsilon),
                                .delta = dec(t, "0.000001"),
                                .reports = reports,
                                .composition = SOTTO_COMPOSITION_BASIC};
}

static sotto_budget_decision decide(sotto_test *t, const sotto_budget_limit *limit,
                                    const sotto_spent *spent, const char *epsilon,
                                    const char *delta)
{
    sotto_budget_decision d;

    CHECK_OK(t, sotto_budget_decide(&d, limit, spent, dec(t, epsilon), dec(t, delta), &t->err));
    return d;
}

static void each_reason_stands_alone_and_all_are_told(sotto_test *t)
{
    static const struct {
        const char *epsilon, *delta;
        uint64_t used;
        unsigned against;
    } rows[] = {
        {"0.3", "0.000001", 0, 0},
        {"0.3", "0.000001", 1, SOTTO_BUDGET_REPORTS},
        {"0.300000000001", "0.000001", 0, SOTTO_BUDGET_EPSILON},
        {"0.3", "0.000001000001", 0, SOTTO_BUDGET_DELTA},
        {"0.4", "0.1", 1, SOTTO_BUDGET_REPORTS | SOTTO_BUDGET_EPSILON | SOTTO_BUDGET_DELTA},
    };
    const sotto_budget_limit limit = limit_of(t, "0.3", 1);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sotto_spent spent = {.reports = rows[i].used};

        CHECK_EQUAL(t, rows[i].against,
                    decide(t, &limit, &spent, rows[i].epsilon, rows[i].delta).against);
    }
}

static void spending_is_exact(sotto_test *t)
{
    const sotto_budget_limit limit = limit_of(t, "0.3", 5);
    sotto_spent spent = {0};

    CHECK_EQUAL(t, 0, decide(t, &limit, &spent, "0.1", "0").against);
    CHECK_OK(t, sotto_spent_add(&spent, dec(t, "0.1"), dec(t, "0"), &t->err));
    CHECK_EQUAL(t, dec(t, "0.2").units, decide(t, &limit, &spent, "0.3", "0").epsilon_fits.units);
    CHECK_EQUAL(t, 0, decide(t, &limit, &spent, "0.2", "0").against);
    CHECK_OK(t, sotto_spent_add(&spent, dec(t, "0.2"), dec(t, "0"), &t->err));
    CHECK_EQUAL(t, limit.epsilon.units, spent.epsilon.units);
    CHECK_EQUAL(t, 2, spent.reports);
    CHECK_EQUAL(t, SOTTO_BUDGET_EPSILON, decide(t, &limit, &spent, "0.000000000001", "0").against);
}

static void a_filter_admits_more_small_spends_than_their_sum_does(sotto_test *t)
{
    sotto_budget_limit limit = limit_of(t, "1", 1000);
    sotto_spent spent = {0};
    int admitted = 0;

    limit.composition = SOTTO_COMPOSITION_FILTER;
    while (admitted < 1000 && decide(t, &limit, &spent, "0.01", "0").against == 0) {
        CHECK_OK(t, sotto_spent_add(&spent, dec(t, "0.01"), dec(t, "0"), &t->err));
        admitted++;
    }
    /* sqrt(2 log(2e6) n) 0.01 + n 0.00005 <= 1 holds up to n = 333. */
    CHECK_EQUAL(t, 333, admitted);
    CHECK(t, decide(t, &limit, &spent, "0.01", "0").by_filter);
    CHECK_EQUAL(t, 500000, decide(t, &limit, &spent, "0.01", "0").delta_limit.units);
}

/* Canonne et al. 2020, Proposition 12, by brute force over orders. */
static double zcdp_epsilon(double rho, double log_delta)
{
    double best = INFINITY;

    for (double x = -14; x < 14; x += 1e-4) {
        double gap = exp(x), a = 1 + gap; /* the order, less 1 */
        double epsilon = a * rho + log(gap / a) - (log_delta + log(a)) / gap;

        best = fmin(best, epsilon);
    }
    return best;
}

/* As many as a direct evaluation of the theorem admits, and not one more. */
static void zcdp_admits_what_its_theorem_does(sotto_test *t)
{
    static const struct {
        const char *limit, *each;
        double value;
        int filter; /* what the other filter admits */
    } rows[] = {{"1", "0.01", 0.01, 333}, {"3", "0.05", 0.05, 112}, {"0.5", "0.002", 0.002, 2117}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sotto_budget_limit limit = limit_of(t, rows[i].limit, 10000);
        double log_slack = log(0.0000005);
        sotto_spent spent = {0};
        int admitted = 0, expected = 0;

        limit.composition = SOTTO_COMPOSITION_ZCDP;
        while (admitted < 10000 && decide(t, &limit, &spent, rows[i].each, "0").against == 0) {
            CHECK_OK(t, sotto_spent_add(&spent, dec(t, rows[i].each), dec(t, "0"), &t->err));
            admitted++;
        }
        for (int step = 4096; step > 0; step /= 2)
            if (zcdp_epsilon((expected + step) * rows[i].value * rows[i].value / 2, log_slack) <=
                strtod(rows[i].limit, NULL))
                expected += step;
        CHECK_EQUAL(t, expected, admitted);
        CHECK(t, admitted > rows[i].filter);
        CHECK(t, decide(t, &limit, &spent, rows[i].each, "0").by_filter);
        /* It takes the same part of delta. */
        CHECK_EQUAL(t, 500000, decide(t, &limit, &spent, rows[i].each, "0").delta_limit.units);
    }
}

/* What few large spends add up to is bounded by their sum, and nothing is admitted on no delta. */
static void zcdp_is_never_worse_than_the_sum(sotto_test *t)
{
    sotto_budget_limit limit = limit_of(t, "3", 10);
    sotto_spent spent = {0};

    limit.composition = SOTTO_COMPOSITION_ZCDP;
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(t, 0, decide(t, &limit, &spent, "1", "0").against);
        CHECK_OK(t, sotto_spent_add(&spent, dec(t, "1"), dec(t, "0"), &t->err));
    }
    CHECK_EQUAL(t, SOTTO_BUDGET_EPSILON, decide(t, &limit, &spent, "0.000000000001", "0").against);
    limit.delta.units = 0;
    spent = (sotto_spent){0};
    CHECK_EQUAL(t, SOTTO_BUDGET_EPSILON, decide(t, &limit, &spent, "3.000000000001", "0").against);
    limit.epsilon.units = 0;
    limit.delta = dec(t, "0.000001");
    CHECK_EQUAL(t, SOTTO_BUDGET_EPSILON, decide(t, &limit, &spent, "0.000000000001", "0").against);
}

static void what_is_not_known_counts_as_spent(sotto_test *t)
{
    const sotto_budget_limit limit = limit_of(t, "1", 5);
    const sotto_spent lost = {.unknown = true};

    CHECK_EQUAL(t, SOTTO_BUDGET_UNKNOWN, decide(t, &limit, &lost, "0.1", "0").against);
}

/* A policy may lower a limit below what is spent: only the limit that was lowered is named. */
static void a_lowered_limit_is_the_one_that_is_named(sotto_test *t)
{
    sotto_budget_limit limit = limit_of(t, "0.3", 5);
    sotto_spent spent = {0};

    CHECK_OK(t, sotto_spent_add(&spent, dec(t, "0.3"), dec(t, "0.0000005"), &t->err));
    limit.epsilon = dec(t, "0.1");
    CHECK_EQUAL(t, SOTTO_BUDGET_EPSILON, decide(t, &limit, &spent, "0.1", "0.0000005").against);
    limit = limit_of(t, "1", 5);
    limit.delta = dec(t, "0.0000001");
    CHECK_EQUAL(t, SOTTO_BUDGET_DELTA, decide(t, &limit, &spent, "0.1", "0.0000001").against);
    CHECK_EQUAL(t, 0, decide(t, &limit, &spent, "0.1", "0.0000001").delta_fits.units);
}

static void what_overflows_is_refused(sotto_test *t)
{
    sotto_budget_limit limit = limit_of(t, "0.3", UINT64_MAX);
    sotto_spent spent = {.epsilon = {1}, .reports = UINT64_MAX - 1};
    sotto_budget_decision d;

    limit.epsilon.units = UINT64_MAX;
    CHECK_OK(t, sotto_budget_decide(&d, &limit, &spent, (sotto_decimal){UINT64_MAX},
                                    (sotto_decimal){0}, &t->err));
    CHECK_EQUAL(t, SOTTO_BUDGET_EPSILON, d.against);
    limit.epsilon.units = 1; /* a limit that was lowered below what is spent */
    spent.epsilon.units = 2;
    spent.squares = 4e-24;
    CHECK_OK(t, sotto_budget_decide(&d, &limit, &spent, (sotto_decimal){0}, (sotto_decimal){0},
                                    &t->err));
    CHECK_EQUAL(t, SOTTO_BUDGET_EPSILON, d.against);
    CHECK_EQUAL(t, 0, d.epsilon_fits.units);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_spent_add(&spent, (sotto_decimal){INT64_MAX}, (sotto_decimal){0}, &t->err));
    CHECK_EQUAL(t, 2, spent.epsilon.units);
}

static void a_local_epsilon_against_no_value_counts_twice(sotto_test *t)
{
    const sotto_decimal two = dec(t, "2"), four = dec(t, "4");
    sotto_decimal asked;

    CHECK(t, sotto_budget_local_fits(&asked, two, SOTTO_ADJACENCY_REPLACEMENT, two));
    CHECK_EQUAL(t, two.units, asked.units);
    CHECK(t, !sotto_budget_local_fits(&asked, two, SOTTO_ADJACENCY_DELETION, two));
    CHECK_EQUAL(t, four.units, asked.units);
    CHECK(t, sotto_budget_local_fits(&asked, two, SOTTO_ADJACENCY_DELETION, four));
    CHECK(t, !sotto_budget_local_fits(&asked, (sotto_decimal){UINT64_MAX}, SOTTO_ADJACENCY_DELETION,
                                      (sotto_decimal){UINT64_MAX}));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_reason_stands_alone_and_all_are_told),
        CASE(spending_is_exact),
        CASE(a_filter_admits_more_small_spends_than_their_sum_does),
        CASE(zcdp_admits_what_its_theorem_does),
        CASE(zcdp_is_never_worse_than_the_sum),
        CASE(what_is_not_known_counts_as_spent),
        CASE(a_lowered_limit_is_the_one_that_is_named),
        CASE(what_overflows_is_refused),
        CASE(a_local_epsilon_against_no_value_counts_twice),
    };
    return RUN_TESTS(argc, argv, cases);
}
