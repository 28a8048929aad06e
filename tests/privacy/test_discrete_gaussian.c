/* Values by 60-digit lattice sums. */
#include "privacy/discrete_gaussian.h"
#include "privacy/gaussian.h"
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

static void tau_is_summed_whatever_n_is(sotto_test *t)
{
    sotto_bound b = {0, 0}, c = {0, 0};

    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&b, 0.5, 10, &t->err));
    CHECK(t, b.low <= 2.3453253192468 && 2.3453253192467 <= b.high);
    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&b, 0.5, 100000, &t->err));
    CHECK_NEAR(t, 7196.8512359582, b.high, 1e-9);
    CHECK_NEAR(t, 7196.8512359582, b.low, 1e-9);
    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&b, 2, 100000, &t->err));
    CHECK_NEAR(t, 1, b.high / 7.1571796476146e-17, 1e-12);
    /* Across the switch from terms to integrals. */
    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&b, 1.1, 16384, &t->err));
    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&c, 1.1, 16385, &t->err));
    CHECK(t, c.high > b.high && c.high - b.high < 1e-9);
    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&b, 3, 0x1p53, &t->err));
    CHECK(t, isfinite(b.high) && b.low <= b.high);
    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&b, 100, 0x1p53, &t->err));
    CHECK(t, b.high > 0 && b.high < 1e-300);
    CHECK_OK(t, sotto_discrete_gaussian_sum_tau(&b, 0.5, 1, &t->err));
    CHECK(t, b.low == 0 && b.high == 0);
}

static void a_sum_costs_what_its_closeness_adds(sotto_test *t)
{
    sotto_bound near = {0, 0}, far = {0, 0};

    /* sigma 4 each, 100 of them: like one of sigma 40. */
    CHECK_OK(t, sotto_discrete_gaussian_sum_rdp(&near, 4, 100, 1000, 10, 5, 3, &t->err));
    CHECK_NEAR(t, 1.5 * 25 / 1600, near.high, 1e-12);
    CHECK(t, near.high >= 1.5 * 25 / 1600);
    CHECK_OK(t, sotto_discrete_gaussian_sum_rdp(&far, 0.6, 100, 1000, 10, 5, 3, &t->err));
    CHECK(t, far.high > 1.5 * 25 / 36 + 0.1);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_discrete_gaussian_sum_rdp(&far, 4, 100, 1000, 4, 5, 3, &t->err));
    CHECK_REASON(t, "L1");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_discrete_gaussian_sum_rdp(&far, 4, 100, 1000, 10, 5, 1, &t->err));
    CHECK_REASON(t, "order");
}

static void noise_shares_assume_the_honest_fraction(sotto_test *t)
{
    double s = 0;

    CHECK_OK(t, sotto_noise_share(&s, 40, 100, 1, &t->err));
    CHECK(t, s >= 4 && s < 4.0000001);
    CHECK_OK(t, sotto_noise_share(&s, 40, 100, 0.25, &t->err));
    CHECK(t, s >= 8 && s < 8.0000001);
    /* 0.29 as a double is below 29/100. */
    CHECK_OK(t, sotto_noise_share(&s, sqrt(28), 100, 0.29, &t->err));
    CHECK_NEAR(t, 1, s, 1e-12);
    /* 0.7 * 10 rounds to 7, but 0.7 as a double is below 7/10 too. */
    CHECK_OK(t, sotto_noise_share(&s, sqrt(6), 10, 0.7, &t->err));
    CHECK_NEAR(t, 1, s, 1e-12);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_share(&s, 40, 3, 0.3, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_noise_share(&s, 40, 3, 1.1, &t->err));
    CHECK_REASON(t, "honest");
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
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_discrete_gaussian_sum_tau(&b, 0.4, 10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_discrete_gaussian_sum_tau(&b, 1, 0, &t->err));
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
        CASE(tau_is_summed_whatever_n_is),
        CASE(a_sum_costs_what_its_closeness_adds),
        CASE(noise_shares_assume_the_honest_fraction),
        CASE(bad_parameters_are_named),
    };
    return RUN_TESTS(argc, argv, cases);
}
