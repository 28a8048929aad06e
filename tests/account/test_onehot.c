/* One-hot encoding under aggregation: against enumeration of all data sets of a small batch. */
#include "account/local/onehot.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

#define N 24

/* Law of a sum of bits: `ones` people hold a one, the rest a zero; each bit flips with probability p. */
static void law_of(double law[N + 1], int people, int ones, double p)
{
    memset(law, 0, (N + 1) * sizeof law[0]);
    law[0] = 1;
    for (int i = 0; i < people; i++) {
        double one = i < ones ? 1 - p : p;

        for (int j = N; j >= 0; j--)
            law[j] = law[j] * (1 - one) + (j > 0 ? law[j - 1] * one : 0);
    }
}

static double stick(const double *x, const double *y, double eps)
{
    double sum = 0;

    for (int i = 0; i <= N; i++)
        sum += fmax(0, x[i] - exp(eps) * y[i]);
    return sum;
}

static double stick_two(const double *x, const double *y, const double *u, const double *v,
                        double eps)
{
    double sum = 0;

    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++)
            sum += fmax(0, x[i] * u[j] - exp(eps) * y[i] * v[j]);
    return sum;
}

static sotto_bound eps_of(sotto_test *t, sotto_onehot_adjacency adjacency, double eps0, double n,
                          double delta)
{
    sotto_crowd crowd = {n, 0};
    sotto_bound b = {-1, -1};

    CHECK_OK(t, sotto_onehot_eps(&b, adjacency, eps0, &crowd, log(delta), &t->err));
    CHECK(t, b.low <= b.high);
    return b;
}

static double any_data(sotto_test *t, sotto_onehot_adjacency adjacency, double eps0, double n,
                       double delta)
{
    sotto_crowd crowd = {n, 0};
    sotto_bound b = {-1, -1};

    CHECK_OK(t, sotto_onehot_eps_any_data(&b, adjacency, eps0, &crowd, log(delta), &t->err));
    return b.high;
}

static void one_bit_matches_enumeration(sotto_test *t)
{
    double p = 1 / (exp(1.2) + 1), one[N + 1], zero[N + 1];

    for (double eps = 0.1; eps < 1.1; eps += 0.15) {
        double worst = 0, agreeing;

        for (int others = 0; others < N; others++) {
            law_of(one, N, others + 1, p);
            law_of(zero, N, others, p);
            worst = fmax(worst, fmax(stick(one, zero, eps), stick(zero, one, eps)));
        }
        law_of(one, N, 1, p);
        law_of(zero, N, 0, p);
        agreeing = fmax(stick(one, zero, eps), stick(zero, one, eps));
        CHECK_NEAR(t, eps, eps_of(t, SOTTO_ONEHOT_DELETION, 1.2, N, agreeing).high, 1e-6);
        /* some data sets of a small batch are worse than all others agreeing; the promise covers them */
        CHECK(t, worst <= agreeing * 1.2);
        CHECK(t, any_data(t, SOTTO_ONEHOT_DELETION, 1.2, N, worst) >= eps * (1 - 1e-9));
    }
}

static void two_bits_match_enumeration(sotto_test *t)
{
    double p = 1 / (exp(1.2) + 1), x[N + 1], y[N + 1], u[N + 1], v[N + 1];

    for (double eps = 0.2; eps < 2; eps += 0.6) {
        double worst = 0, agreeing = 0;

        /* i others hold the old value, j the new one */
        for (int i = 0; i < N; i++)
            for (int j = 0; i + j < N; j++) {
                law_of(x, N, i + 1, p);
                law_of(y, N, i, p);
                law_of(u, N, j, p);
                law_of(v, N, j + 1, p);
                double d = fmax(stick_two(x, y, u, v, eps), stick_two(y, x, v, u, eps));

                worst = fmax(worst, d);
                if (i == N - 1)
                    agreeing = d;
            }
        sotto_bound b = eps_of(t, SOTTO_ONEHOT_REPLACEMENT, 1.2, N, agreeing);

        CHECK(t, b.high >= eps * (1 - 1e-9) && b.low <= eps * (1 + 1e-9));
        CHECK_NEAR(t, eps, b.high, 1e-6);
        CHECK(t, worst <= agreeing * 1.2);
        CHECK(t, any_data(t, SOTTO_ONEHOT_REPLACEMENT, 1.2, N, worst) >= eps * (1 - 1e-9));
    }
}

static void seed_example_has_its_exact_answers(sotto_test *t)
{
    CHECK_NEAR(t, 0.6612, eps_of(t, SOTTO_ONEHOT_REPLACEMENT, 4, 10000, 1e-10).high, 5e-5);
    CHECK_NEAR(t, 0.4857, eps_of(t, SOTTO_ONEHOT_DELETION, 4, 10000, 1e-10).high, 5e-5);
}

static void more_people_never_cost_more(sotto_test *t)
{
    double before = INFINITY;

    for (double n = 1; n <= 1e12; n = floor(n * 11.7) + 1) {
        sotto_bound b = eps_of(t, SOTTO_ONEHOT_REPLACEMENT, 2, n, 1e-8);

        CHECK(t, b.low <= before && b.high <= 4);
        before = b.high;
    }
}

static void renyi_route_is_never_below_the_exact_answer(sotto_test *t)
{
    for (double n = 100; n <= 1e6; n *= 10) {
        sotto_crowd crowd = {n, 0};
        sotto_bound b;

        CHECK_OK(t, sotto_onehot_eps_by_rdp(&b, SOTTO_ONEHOT_REPLACEMENT, 2, &crowd, log(1e-8),
                                            &t->err));
        CHECK(t, b.high >= eps_of(t, SOTTO_ONEHOT_REPLACEMENT, 2, n, 1e-8).low);
    }
}

static void renyi_divergence_has_its_known_value(sotto_test *t)
{
    sotto_crowd crowd = {100, 0};
    sotto_bound b;

    CHECK_OK(t, sotto_onehot_rdp_bit(&b, 1, &crowd, 8, &t->err));
    CHECK_NEAR(t, 0.0462560465756, b.high, 1e-9);
    CHECK(t, b.low <= b.high);
}

static void bad_input_is_named(sotto_test *t)
{
    sotto_crowd crowd = {100, 0};
    sotto_bound b;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_onehot_eps(&b, (sotto_onehot_adjacency)0, 1, &crowd, -10, &t->err));
    CHECK_REASON(t, "adjacency");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_onehot_eps(&b, SOTTO_ONEHOT_DELETION, INFINITY, &crowd, -10, &t->err));
    CHECK_REASON(t, "eps0");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_onehot_eps(&b, SOTTO_ONEHOT_DELETION, 1, &crowd, 1, &t->err));
    CHECK_REASON(t, "delta");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_onehot_rdp_bit(&b, 1, &crowd, 1, &t->err));
    CHECK_REASON(t, "alpha");
}

/* The others being all alike is one data set among all, so the promise for all may not be below its exact value. */
static void what_holds_for_any_data_holds_where_all_others_agree(sotto_test *t)
{
    static const double deltas[] = {1e-4, 1e-6, 1e-10};
    static const double crowds[] = {30, 486, 5000, 200000};

    for (double eps0 = 0.5; eps0 <= 6; eps0 += 0.5)
        for (int n = 0; n < 4; n++)
            for (int d = 0; d < 3; d++)
                for (int a = 0; a < 2; a++) {
                    sotto_onehot_adjacency adjacency =
                        a ? SOTTO_ONEHOT_REPLACEMENT : SOTTO_ONEHOT_DELETION;
                    sotto_crowd crowd = {crowds[n], 0};
                    sotto_bound exact;

                    CHECK_OK(t, sotto_onehot_eps(&exact, adjacency, eps0, &crowd, log(deltas[d]),
                                                 &t->err));
                    CHECK(t, any_data(t, adjacency, eps0, crowds[n], deltas[d]) >= exact.low);
                }
}

static void each_error_term_moves_the_bound(sotto_test *t)
{
    static const sotto_onehot_inflate inflated[] = {{1e6, 1}, {1, 1e6}};
    sotto_crowd crowd = {1e6, 0};

    for (int a = 0; a < 2; a++) {
        sotto_onehot_adjacency adjacency = a ? SOTTO_ONEHOT_REPLACEMENT : SOTTO_ONEHOT_DELETION;
        sotto_bound as_is, b;

        CHECK_OK(t, sotto_onehot_eps(&as_is, adjacency, 3, &crowd, log(1e-8), &t->err));
        for (size_t i = 0; i < 2; i++) {
            CHECK_OK(t, sotto_onehot_eps_inflated(&b, adjacency, 3, &crowd, log(1e-8), &inflated[i],
                                                  &t->err));
            CHECK(t, b.high > as_is.high * (1 + 1e-9));
            CHECK(t, b.low < as_is.low);
        }
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_holds_for_any_data_holds_where_all_others_agree),
        CASE(each_error_term_moves_the_bound),
        CASE(one_bit_matches_enumeration),
        CASE(two_bits_match_enumeration),
        CASE(seed_example_has_its_exact_answers),
        CASE(more_people_never_cost_more),
        CASE(renyi_route_is_never_below_the_exact_answer),
        CASE(renyi_divergence_has_its_known_value),
        CASE(bad_input_is_named),
    };
    return RUN_TESTS(argc, argv, cases);
}
