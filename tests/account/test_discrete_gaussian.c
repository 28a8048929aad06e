/* Values by 60-digit lattice sums. */
#include "account/gauss/discrete_gaussian.h"
#include "account/gauss/gaussian.h"
#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* sigma, sensitivity, eps, log delta */
static const double deltas[][4] = {
    {0.25, 1.0, 2.0, -0.0028162899671442529588},     {0.5, 1.0, 0.0, -0.24007265964486526625},
    {1.0, 3.0, 0.25, -0.14357973682456737498},       {2.5, 1.0, 4.0, -54.35382288668913951},
    {30.0, 7.0, 1.0, -14.115768982621943316},        {100.0, 1.0, 0.25, -324.33904722919942351},
    {100.0, 1.0, 3.0, -45015.276912099183113},       {3.0, 40.0, 0.5, -3.8573435649636115651e-11},
    {700.0, 1.0, 0.0078125, -25.908395377881959929},
};

static void deltas_are_enclosed_by_the_lattice_sum(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(deltas); i++) {
        const double *row = deltas[i];
        sotto_bound b = {0, 0};

        CHECK_OK(t, sotto_discrete_gaussian_log_delta(&b, row[0], row[1], row[2], NULL, &t->err));
        CHECK(t, b.low <= row[3] && row[3] <= b.high);
        CHECK(t, b.high - b.low <= 1e-11 * (1 + fabs(row[3])));
    }
}

static void epsilon_inverts_delta(sotto_test *t)
{
    for (double sigma = 0.3; sigma < 1500; sigma *= 2.9) {
        for (double log_delta = -2; log_delta > -690; log_delta *= 6) {
            sotto_bound eps = {0, 0}, low = {0, 0}, high = {0, 0};

            CHECK_OK(t, sotto_discrete_gaussian_epsilon(&eps, sigma, 1, log_delta, &t->err));
            if (!(eps.low > 0))
                continue;
            CHECK_OK(t, sotto_discrete_gaussian_log_delta(&low, sigma, 1, eps.high, NULL, &t->err));
            CHECK_OK(t, sotto_discrete_gaussian_log_delta(&high, sigma, 1, eps.low, NULL, &t->err));
            CHECK(t, low.high <= log_delta && log_delta <= high.low);
            CHECK(t, eps.high / eps.low - 1 < 3e-9);
        }
    }
}

static void epsilon_is_found_where_a_mass_stops_counting(sotto_test *t)
{
    /* sigma 0.25: delta falls from e^-128 to e^-200 at epsilon (4 + 1/2) / sigma^2, where rounding hides it. */
    sotto_bound b = {0, 0};

    CHECK_OK(t, sotto_discrete_gaussian_epsilon(&b, 0.25, 1, -170, &t->err));
    CHECK(t, b.low <= 72 && 72 <= b.high && b.high / b.low - 1 < 3e-9);
    CHECK_OK(t, sotto_discrete_gaussian_log_delta(&b, 0.25, 1, 72, NULL, &t->err));
    CHECK(t, b.high < -150 && b.low == -INFINITY);
    CHECK_OK(t, sotto_discrete_gaussian_log_delta(&b, 0.25, 1, 72 * (1 + 1e-9), NULL, &t->err));
    CHECK(t, b.high < -199);
    CHECK_OK(t, sotto_discrete_gaussian_log_delta(&b, 0.05, 1, nextafter(600, 0), NULL, &t->err));
    CHECK(t, !isnan(b.high) && b.high < -190 && b.low <= b.high);
}

static void epsilon_is_exactly_zero_where_delta_at_zero_is_small_enough(sotto_test *t)
{
    sotto_bound b = {1, 1}, d = {0, 0};

    CHECK_OK(t, sotto_discrete_gaussian_log_delta(&d, 9, 1, 0, NULL, &t->err));
    CHECK_OK(t, sotto_discrete_gaussian_epsilon(&b, 9, 1, d.high, &t->err));
    CHECK(t, b.low == 0 && b.high == 0);
}

/* Masses far left of the others must not be where the sum starts from: from 0 no recurrence leads back. */
static void little_noise_hides_nothing(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_OK(t, sotto_discrete_gaussian_epsilon(&b, 0.076, 27, -10.5, &t->err));
    CHECK(t, b.low > 50000);
    for (double sigma = 0.05; sigma < 100; sigma *= 1.07) {
        CHECK_OK(t,
                 sotto_discrete_gaussian_log_delta(&b, sigma, ceil(100 * sigma), 0, NULL, &t->err));
        CHECK(t, b.high >= 0 && b.low > -1e-9);
    }
}

static void wide_noise_is_enclosed_by_the_continuous_one(sotto_test *t)
{
    for (double eps = 1e-5; eps < 2e-3; eps *= 1.9) {
        sotto_bound sum = {0, 0}, wide = {0, 0};

        CHECK_OK(
            t, sotto_discrete_gaussian_log_delta(&sum, SOTTO_LATTICE_SIGMA, 1, eps, NULL, &t->err));
        CHECK_OK(t, sotto_discrete_gaussian_log_delta(&wide, SOTTO_LATTICE_SIGMA * (1 + 1e-12), 1,
                                                      eps, NULL, &t->err));
        CHECK(t, wide.low <= sum.high && sum.low <= wide.high + 1e-9);
        CHECK(t, wide.high - wide.low < 0.01 && sum.high - sum.low < 1e-10);
    }
}

static void more_noise_never_costs_more(sotto_test *t)
{
    double before = INFINITY;

    for (double sigma = 0.2; sigma < 1e7; sigma *= 1.7) {
        sotto_bound b = {0, 0};

        CHECK_OK(t, sotto_discrete_gaussian_epsilon(&b, sigma, 1, -23, &t->err));
        /* On a coarse lattice epsilon is not monotone in sigma: the loss is a multiple of 1/sigma^2 there. */
        CHECK(t, sigma < 2 || b.low <= before);
        before = b.high;
    }
}

static void every_error_term_widens_the_bound(sotto_test *t)
{
    sotto_bound plain = {0, 0}, wide = {0, 0};

    CHECK_OK(t, sotto_discrete_gaussian_log_delta(&plain, 20, 1, 0.3, NULL, &t->err));
    for (int k = 0; k < SOTTO_LATTICE_TERMS; k++) {
        double scale[SOTTO_LATTICE_TERMS] = {1, 1, 1, 1, 1};

        scale[k] = k == SOTTO_LATTICE_TAIL ? 1e15 : 1e5;
        CHECK_OK(t, sotto_discrete_gaussian_log_delta(&wide, 20, 1, 0.3, scale, &t->err));
        CHECK(t, wide.high > plain.high && wide.low < plain.low);
    }
}

static void bad_parameters_are_named(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_discrete_gaussian_epsilon(&b, 0, 1, -10, &t->err));
    CHECK_REASON(t, "sigma");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_discrete_gaussian_epsilon(&b, 1, 1.5, -10, &t->err));
    CHECK_REASON(t, "sensitivity");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_discrete_gaussian_epsilon(&b, 1, 1, 1, &t->err));
    CHECK_REASON(t, "delta");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_discrete_gaussian_log_delta(&b, 1, 1, NAN, NULL, &t->err));
    CHECK_REASON(t, "epsilon");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(deltas_are_enclosed_by_the_lattice_sum),
        CASE(epsilon_inverts_delta),
        CASE(epsilon_is_found_where_a_mass_stops_counting),
        CASE(epsilon_is_exactly_zero_where_delta_at_zero_is_small_enough),
        CASE(little_noise_hides_nothing),
        CASE(wide_noise_is_enclosed_by_the_continuous_one),
        CASE(more_noise_never_costs_more),
        CASE(every_error_term_widens_the_bound),
        CASE(bad_parameters_are_named),
    };
    return RUN_TESTS(argc, argv, cases);
}
