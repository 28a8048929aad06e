/* What the number of reports tells: exact tails against plain sums, and the papers' constant. */
#include "account/local/count.h"

#include "account/numeric/special.h"
#include "support/test.h"

#include <math.h>

static double pmf(double k, double n, double p)
{
    return k < 0 || k > n ? 0
                          : exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) * pow(p, k) *
                                pow(1 - p, n - k);
}

/* Both directions, term by term. */
static double summed_delta(double n, double rate, double eps)
{
    double in = 0, out = 0;

    for (double k = 0; k <= n + 1; k++) {
        const double with = pmf(k - 1, n, rate), without = pmf(k, n + 1, rate);

        in += fmax(0, with - exp(eps) * without);
        out += fmax(0, without - exp(eps) * with);
    }
    return fmax(in, out);
}

static void delta_is_the_sum_over_all_numbers(sotto_test *t)
{
    static const double others[] = {1, 2, 7, 50, 400}, rates[] = {0.001, 0.1, 0.5, 0.9, 0.999},
                        epsilons[] = {0, 0.01, 0.3, 1, 3};

    for (size_t i = 0; i < 125; i++) {
        const double n = others[i % 5], rate = rates[i / 5 % 5], eps = epsilons[i / 25];
        const double sum = summed_delta(n, rate, eps);
        sotto_bound delta;

        CHECK_OK(t, sotto_count_delta(&delta, n, rate, eps, &t->err));
        CHECK(t, delta.low <= sum * (1 + 1e-9) + 1e-14 && delta.high >= sum * (1 - 1e-9) - 1e-14);
        CHECK_NEAR(t, delta.high, delta.low, 1e-9 * delta.high + 1e-13);
    }
}

/* Talwar et al. 2024, section 4.6, print a rate of 1 / (eps k), that is 1 / eps expected dummies. */
static void the_printed_constant_does_not_hide_the_number(sotto_test *t)
{
    sotto_bound delta;

    CHECK_OK(t, sotto_count_delta(&delta, 1e6, 1 / (0.1 * 1e6), 0.1, &t->err));
    CHECK_NEAR(t, 0.0901, delta.low, 1e-4);
    CHECK_OK(t, sotto_count_delta(&delta, 1e6, 1 / (1.0 * 1e6), 1, &t->err));
    CHECK_NEAR(t, 0.3679, delta.low, 1e-4);
}

static void so_many_dummies_are_needed(sotto_test *t)
{
    static const double others[] = {1, 2000, 1e5, 1e9};
    double rate;
    sotto_bound delta, eps;

    CHECK_OK(t, sotto_count_rate(&rate, 1e9, 0.1, log(1e-6), &t->err));
    CHECK_NEAR(t, 1409, rate * 1e9, 1);
    CHECK_OK(t, sotto_count_rate(&rate, 2000, 0.1, log(1e-6), &t->err));
    CHECK_NEAR(t, 837, rate * 2000, 1); /* of few, many send, and their number varies less */
    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(t, sotto_count_rate(&rate, others[i], 0.1, log(1e-6), &t->err));
        CHECK_OK(t, sotto_count_delta(&delta, others[i], rate, 0.1, &t->err));
        CHECK(t, delta.high <= 1e-6 && rate <= 1);
        CHECK_OK(t, sotto_count_eps(&eps, others[i], rate, log(1e-6), &t->err));
        CHECK(t, eps.high <= 0.1 && eps.low <= eps.high);
    }
}

static void an_epsilon_keeps_its_delta(sotto_test *t)
{
    static const double rates[] = {1e-5, 1e-3, 0.02, 0.4, 0.99};
    sotto_bound eps, delta;

    for (size_t i = 0; i < 5; i++) {
        CHECK_OK(t, sotto_count_eps(&eps, 1e5, rates[i], log(1e-6), &t->err));
        if (rates[i] == 1e-5) { /* next to nobody sends one */
            CHECK(t, isinf(eps.high));
            continue;
        }
        CHECK_OK(t, sotto_count_delta(&delta, 1e5, rates[i], eps.high, &t->err));
        CHECK(t, delta.high <= 1e-6);
        CHECK_OK(t, sotto_count_delta(&delta, 1e5, rates[i], eps.low * 0.999, &t->err));
        CHECK(t, delta.high > 1e-6);
    }
    CHECK_OK(t, sotto_count_eps(&eps, 10, 1, log(1e-6), &t->err));
    CHECK(t, eps.high == 0); /* everybody sends */
}

static void what_is_no_question_is_refused(sotto_test *t)
{
    sotto_bound out;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_count_delta(&out, 0, 0.5, 1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_count_delta(&out, 10, 0, 1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_count_delta(&out, 10, NAN, 1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_count_delta(&out, 10, 0.5, -1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_count_delta(&out, 1e13, 0.5, 1, &t->err));
}

static void tails_of_any_number_are_enclosed(sotto_test *t)
{
    for (double k = -1; k <= 42; k++) {
        sotto_bound tail;
        double sum = 0;

        for (double i = fmax(k, 0); i <= 40; i++)
            sum += pmf(i, 40, 0.3);
        CHECK_OK(t, sotto_binomial_upper(&tail, k, 40, 0.3, 0.7, &t->err));
        CHECK(t, tail.low <= sum * (1 + 1e-12) && tail.high >= sum * (1 - 1e-12));
        CHECK_NEAR(t, sum, tail.low, 1e-12);
        CHECK_NEAR(t, sum, tail.high, 1e-12);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(delta_is_the_sum_over_all_numbers),
        CASE(the_printed_constant_does_not_hide_the_number),
        CASE(so_many_dummies_are_needed),
        CASE(an_epsilon_keeps_its_delta),
        CASE(what_is_no_question_is_refused),
        CASE(tails_of_any_number_are_enclosed),
    };
    return RUN_TESTS(argc, argv, cases);
}
