/* Values by 50-digit binomial sums. */
#include "account/local/compose_pure.h"
#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* eps, T, total eps, log delta */
static const double deltas[][4] = {
    {1.0, 1.0, 0.5, -1.2460138170854114059},
    {0.5, 10.0, 0.0, -0.58509646471310177763},
    {0.5, 10.0, 4.5, -5.6735219713682553806},
    {0.125, 1000.0, 20.0, -7.5846732137762456292},
    {0.125, 1000.0, 0.0, -0.049437739333181229661},
    {9.5367431640625e-07, 100.0, 3.0517578125e-05, -20.303144262723664153},
    {0.0078125, 1000000.0, 80.0, -23.456581376977188862},
    {0.0009765625, 100000000.0, 100.0, -17.432327893873464817},
    {0.0001220703125, 100000000.0, 4.0, -6.8457263983016549071},
    {3.0, 50.0, 149.0, -2.888042724074184829},
    {1.0, 10000.0, 5000.0, -11.751252460834191512},
    {1.0, 1000.0, 10.0, -9.1301080999666342394e-41},
};

static void deltas_are_enclosed(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(deltas); i++) {
        const double *row = deltas[i];
        sotto_bound b = {0, 0};

        CHECK_OK(t, sotto_compose_optimal_log_delta(&b, row[0], row[1], row[2], NULL, &t->err));
        CHECK(t, b.low <= row[3] && row[3] <= b.high);
        CHECK(t, b.high - b.low <= 1e-8);
    }
}

static void all_of_it_is_the_sum_of_epsilons(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_OK(t, sotto_compose_optimal_log_delta(&b, 0.5, 10, 5, NULL, &t->err));
    CHECK(t, b.high == -INFINITY);
    CHECK_OK(t, sotto_compose_optimal_epsilon(&b, 0.5, 10, -690, &t->err));
    CHECK(t, b.high <= 5 * (1 + 1e-15) && b.low > 4.999999);
    CHECK_OK(t, sotto_compose_optimal_epsilon(&b, 1, 10, log(1e-6), &t->err));
    CHECK_NEAR(t, 9.99997706582, b.high, 3e-8);
}

static void epsilon_is_exactly_zero_where_delta_at_zero_is_small_enough(sotto_test *t)
{
    sotto_bound b = {1, 1};

    CHECK_OK(t, sotto_compose_optimal_epsilon(&b, 1e-9, 1, log(1e-6), &t->err));
    CHECK(t, b.low == 0 && b.high == 0);
}

static void epsilon_and_delta_are_inverse_for_any_t(sotto_test *t)
{
    for (double T = 1; T <= 1e9; T *= 31) {
        for (double eps = 1e-6; eps < 20; eps *= 17) {
            sotto_bound total = {0, 0}, over = {0, 0}, under = {0, 0};

            CHECK_OK(t, sotto_compose_optimal_epsilon(&total, eps, floor(T), -18, &t->err));
            if (!(total.low > 0) || total.high >= floor(T) * eps)
                continue;
            CHECK_OK(
                t, sotto_compose_optimal_log_delta(&over, eps, floor(T), total.low, NULL, &t->err));
            CHECK_OK(t, sotto_compose_optimal_log_delta(&under, eps, floor(T), total.high, NULL,
                                                        &t->err));
            CHECK(t, under.high <= -18 && -18 <= over.low);
            CHECK(t, total.high / total.low - 1 < 1e-5);
        }
    }
}

static void it_beats_both_advanced_forms_and_the_sum(sotto_test *t)
{
    for (double eps = 0.01; eps < 3; eps *= 2) {
        double before = 0;

        for (double T = 1; T < 1e7; T *= 7) {
            sotto_bound best = {0, 0}, drv = {0, 0}, zcdp = {0, 0};

            CHECK_OK(t, sotto_compose_optimal_epsilon(&best, eps, T, -14, &t->err));
            CHECK_OK(
                t, sotto_compose_advanced(&drv, NULL, SOTTO_ADVANCED_DRV, eps, 0, T, -14, &t->err));
            CHECK_OK(t, sotto_compose_advanced(&zcdp, NULL, SOTTO_ADVANCED_ZCDP, eps, 0, T, -14,
                                               &t->err));
            CHECK(t, best.low <= zcdp.high && zcdp.high <= drv.high && best.low <= T * eps);
            CHECK(t, best.high >= before); /* more releases never cost less */
            before = best.low;
        }
    }
}

static void every_error_term_widens_the_bound(sotto_test *t)
{
    static const double at[][3] = {{0.125, 1000, 20}, {0.0009765625, 1e8, 100}};

    for (size_t i = 0; i < COUNT(at); i++) {
        sotto_bound plain = {0, 0}, wide = {0, 0};

        CHECK_OK(t, sotto_compose_optimal_log_delta(&plain, at[i][0], at[i][1], at[i][2], NULL,
                                                    &t->err));
        for (int k = 0; k < SOTTO_COMPOSE_TERMS; k++) {
            double scale[SOTTO_COMPOSE_TERMS] = {1, 1, 1, 1};

            if (i == 1 && k == SOTTO_COMPOSE_TAIL)
                continue; /* the continued fraction leaves no tail */
            scale[k] = k == SOTTO_COMPOSE_TAIL ? 1e15 : 1e4;
            CHECK_OK(t, sotto_compose_optimal_log_delta(&wide, at[i][0], at[i][1], at[i][2], scale,
                                                        &t->err));
            CHECK(t, wide.high > plain.high && wide.low < plain.low);
        }
    }
}

static void advanced_forms_are_the_theorems(sotto_test *t)
{
    sotto_bound b = {0, 0};
    double total = 0;

    CHECK_OK(
        t, sotto_compose_advanced(&b, &total, SOTTO_ADVANCED_DRV, 0.01, 0, 10, log(1e-6), &t->err));
    CHECK_NEAR(t, 0.167230830335328, b.high, 1e-14);
    CHECK_OK(t, sotto_compose_advanced(&b, &total, SOTTO_ADVANCED_ZCDP, 0.01, 1e-9, 10, log(1e-6),
                                       &t->err));
    CHECK_NEAR(t, 0.166725813626911, b.high, 1e-14);
    CHECK(t, total >= 1.01e-6 && total < 1.0100001e-6);
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_compose_advanced(&b, &total, SOTTO_ADVANCED_DRV, 0.01, 0.1, 10, log(1e-6), &t->err));
    CHECK_REASON(t, "delta");
}

static void donation_time_is_never_above_the_rounds_own_epsilon(sotto_test *t)
{
    sotto_bound raw = {0, 0}, used = {0, 0};
    double total = 0;

    CHECK_OK(t, sotto_donation_formula(&raw, &total, 1, 8, log(1e-6), &t->err));
    CHECK_NEAR(t, 3.04419170575088, raw.high, 1e-12);
    CHECK(t, total >= 9e-6 && total < 9.0001e-6);
    CHECK_OK(t, sotto_donation_epsilon(&used, &total, 1, 8, log(1e-6), &t->err));
    CHECK(t, used.high == 1);
    CHECK_OK(t, sotto_donation_epsilon(&used, &total, 0.1, 1024, log(1e-9), &t->err));
    CHECK_NEAR(t, 0.0211630529033588, used.high, 1e-14);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_donation_formula(&raw, &total, 1, 1e7, log(1e-6), &t->err));
}

static void bad_parameters_are_named(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_compose_optimal_epsilon(&b, 0, 10, -10, &t->err));
    CHECK_REASON(t, "epsilon");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_compose_optimal_epsilon(&b, 1, 1e18, -10, &t->err));
    CHECK_REASON(t, "1e+09");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_compose_optimal_epsilon(&b, 1, 0, -10, &t->err));
    CHECK_REASON(t, "T");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_compose_optimal_epsilon(&b, 1, 10, NAN, &t->err));
    CHECK_REASON(t, "delta");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_compose_optimal_log_delta(&b, 1, 10, 11, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_compose_advanced(&b, NULL, SOTTO_ADVANCED_DRV, -1, 0, 10, -10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_compose_advanced(&b, NULL, SOTTO_ADVANCED_DRV, 1, -1, 10, -10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_donation_formula(&b, NULL, 1, 0, -10, &t->err));
    CHECK_REASON(t, "slots");
}

static void far_below_the_mean_delta_is_one_and_known_to_be(sotto_test *t)
{
    for (double T = 1e3; T <= 1e9; T *= 10) {
        sotto_bound b = {0, 0};

        CHECK_OK(t, sotto_compose_optimal_log_delta(&b, 3, T, 1, NULL, &t->err));
        CHECK(t, b.high <= 0 && b.low <= b.high && b.low > -1e-100);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(deltas_are_enclosed),
        CASE(all_of_it_is_the_sum_of_epsilons),
        CASE(epsilon_is_exactly_zero_where_delta_at_zero_is_small_enough),
        CASE(epsilon_and_delta_are_inverse_for_any_t),
        CASE(it_beats_both_advanced_forms_and_the_sum),
        CASE(every_error_term_widens_the_bound),
        CASE(advanced_forms_are_the_theorems),
        CASE(donation_time_is_never_above_the_rounds_own_epsilon),
        CASE(bad_parameters_are_named),
        CASE(far_below_the_mean_delta_is_one_and_known_to_be),
    };
    return RUN_TESTS(argc, argv, cases);
}
