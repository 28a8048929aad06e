#include "account/gauss/gaussian.h"
#include "account/gauss/rdp.h"
#include "support/test.h"

static void one_order_is_the_theorem(sotto_test *t)
{
    double eps = 0, r = 0;

    /* 2 + log(3/4) - (log 1e-6 + log 4)/3 in 30 digits */
    CHECK_OK(t, sotto_rdp_convert(&eps, 4, 2, -13.815510557964274, &t->err));
    CHECK_NEAR(t, 5.8553899931630135, eps, 1e-13);
    CHECK_OK(t, sotto_rdp_allowance(&r, 4, eps, -13.815510557964274, &t->err));
    CHECK(t, r <= 2 * (1 + 1e-14) && r > 2 - 1e-12);
    CHECK_OK(t, sotto_rdp_allowance(&r, 1.5, 1, -100, &t->err));
    CHECK(t, r < 0);
}

static void an_allowance_never_converts_to_more_than_its_epsilon(sotto_test *t)
{
    for (double alpha = 1.001; alpha < 1e6; alpha = 1 + (alpha - 1) * 2.7) {
        for (double eps = 0.01; eps < 100; eps *= 3.3) {
            double r = 0, back = 0;

            CHECK_OK(t, sotto_rdp_allowance(&r, alpha, eps, -20, &t->err));
            if (r < 0)
                continue;
            CHECK_OK(t, sotto_rdp_convert(&back, alpha, r, -20, &t->err));
            CHECK(t, back <= eps);
        }
    }
}

static void the_best_order_of_a_table_is_found(sotto_test *t)
{
    double orders[] = {1.5, 2, 4, 8, 16, 32, 64}, r[7], best = 0;
    sotto_bound b = {0, 0};

    for (int i = 0; i < 7; i++)
        r[i] = 0.1 * orders[i];
    r[0] = INFINITY; /* an order that says nothing does no harm */
    CHECK_OK(t, sotto_rdp_epsilon(&b, &best, orders, r, 7, -14, &t->err));
    CHECK(t, best == 8 || best == 16);
    for (int i = 1; i < 7; i++) {
        double eps = 0;

        CHECK_OK(t, sotto_rdp_convert(&eps, orders[i], r[i], -14, &t->err));
        CHECK(t, b.high <= eps);
    }
    for (int i = 0; i < 7; i++)
        r[i] = INFINITY;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_rdp_epsilon(&b, NULL, orders, r, 7, -14, &t->err));
}

static double cliff(const void *self, double alpha)
{
    (void)self;
    return alpha > 7.5 ? INFINITY : 0.05 * alpha;
}

static void real_orders_beat_any_table_even_before_a_cliff(sotto_test *t)
{
    sotto_bound b = {0, 0};
    double best = 0;

    CHECK_OK(t, sotto_rdp_minimise(&b, &best, cliff, NULL, 1.1, 1e4, -20, &t->err));
    CHECK(t, best <= 7.5);
    for (double alpha = 1.2; alpha <= 7.5; alpha += 0.1) {
        double eps = 0;

        CHECK_OK(t, sotto_rdp_convert(&eps, alpha, 0.05 * alpha, -20, &t->err));
        CHECK(t, b.high <= eps + 1e-6);
    }
}

static void zcdp_is_never_below_the_gaussian_that_attains_it(sotto_test *t)
{
    for (double sigma = 0.1; sigma < 1e4; sigma *= 3.1) {
        for (double log_delta = -2; log_delta > -690; log_delta *= 4) {
            sotto_bound loose = {0, 0}, exact = {0, 0};
            double rho = 0;

            CHECK_OK(t, sotto_zcdp_of_gaussian(&rho, sigma, 1, &t->err));
            CHECK_OK(t, sotto_zcdp_epsilon(&loose, rho, log_delta, &t->err));
            CHECK_OK(t, sotto_gaussian_epsilon(&exact, sigma, 1, 1, log_delta, &t->err));
            CHECK(t, loose.high >= exact.low);
            CHECK(t, loose.high <= rho + 2 * sqrt(-rho * log_delta) + 1e-9);
        }
    }
}

static void zcdp_questions_are_inverse(sotto_test *t)
{
    for (double rho = 1e-4; rho < 1e4; rho *= 10) {
        for (double log_delta = -10; log_delta > -690; log_delta *= 4) {
            sotto_bound eps = {0, 0}, back = {0, 0}, delta = {0, 0};

            CHECK_OK(t, sotto_zcdp_epsilon(&eps, rho, log_delta, &t->err));
            CHECK_OK(t, sotto_zcdp_rho(&back, eps.high, log_delta, &t->err));
            CHECK(t, back.low <= rho && back.low > rho * (1 - 1e-7));
            CHECK_OK(t, sotto_zcdp_log_delta(&delta, rho, eps.high, &t->err));
            CHECK_NEAR(t, log_delta, delta.high, 1e-8);
        }
    }
}

static void a_rho_given_out_never_passes_its_epsilon(sotto_test *t)
{
    for (double eps = 1e-3; eps < 1e3; eps *= 7) {
        sotto_bound rho = {0, 0}, back = {0, 0};

        CHECK_OK(t, sotto_zcdp_rho(&rho, eps, -16, &t->err));
        CHECK_OK(t, sotto_zcdp_epsilon(&back, rho.low, -16, &t->err));
        CHECK(t, back.high <= eps && rho.low > 0);
    }
}

static void nothing_costs_nothing(sotto_test *t)
{
    sotto_bound b = {1, 1};
    double rho = 1;

    CHECK_OK(t, sotto_zcdp_epsilon(&b, 0, -16, &t->err));
    CHECK(t, b.high == 0);
    CHECK_OK(t, sotto_zcdp_of_pure(&rho, 0, &t->err));
    CHECK(t, rho == 0);
    CHECK_OK(t, sotto_zcdp_of_pure(&rho, 0.3, &t->err));
    CHECK(t, rho > 0.5 * 0.3 * 0.3 && rho < 0.0450000001);
}

static void bad_parameters_are_named(sotto_test *t)
{
    sotto_bound b = {0, 0};
    double x = 0, order = 2, r = -1;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_rdp_convert(&x, 1, 1, -10, &t->err));
    CHECK_REASON(t, "order");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_rdp_convert(&x, 2, NAN, -10, &t->err));
    CHECK_REASON(t, "divergence");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_rdp_epsilon(&b, NULL, &order, &r, 1, -10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_rdp_epsilon(&b, NULL, &order, &r, 0, -10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_zcdp_epsilon(&b, -1, -10, &t->err));
    CHECK_REASON(t, "rho");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_zcdp_epsilon(&b, 1, 0.5, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_zcdp_rho(&b, INFINITY, -10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_zcdp_of_pure(&x, -0.1, &t->err));
}

static double broken(const void *self, double alpha)
{
    (void)self;
    return alpha > 3 ? (double)NAN : alpha;
}

static void a_divergence_that_is_no_number_is_not_taken_for_zero(sotto_test *t)
{
    sotto_bound b = {0, 0};
    double best = 0;

    CHECK_OK(t, sotto_rdp_minimise(&b, &best, broken, NULL, 1.1, 100, -20, &t->err));
    CHECK(t, b.high > 5 && best <= 3);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_rdp_minimise(&b, &best, broken, NULL, 4, 100, -20, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_order_is_the_theorem),
        CASE(an_allowance_never_converts_to_more_than_its_epsilon),
        CASE(the_best_order_of_a_table_is_found),
        CASE(real_orders_beat_any_table_even_before_a_cliff),
        CASE(zcdp_is_never_below_the_gaussian_that_attains_it),
        CASE(zcdp_questions_are_inverse),
        CASE(a_rho_given_out_never_passes_its_epsilon),
        CASE(nothing_costs_nothing),
        CASE(bad_parameters_are_named),
        CASE(a_divergence_that_is_no_number_is_not_taken_for_zero),
    };
    return RUN_TESTS(argc, argv, cases);
}
