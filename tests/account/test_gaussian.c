/* Values by 60-digit arithmetic, from the definition. */
#include "account/gauss/gaussian.h"
#include "account/numeric/parameter.h"
#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* eps, mu, log delta */
static const double deltas[][3] = {
    {0.0, 1e-06, -14.734449091168988558},
    {0.0, 1.0, -0.95991633369562231933},
    {0.0, 20.0, -1.5239706048321052132e-23},
    {1e-09, 0.5, -1.6224590660699706426},
    {0.001, 0.0001, -64.762962409325131825},
    {0.5, 2.0, -0.5121838481787519697},
    {1.0, 0.25, -12.742464961290054615},
    {10.0, 2.0, -11.518923133467919482},
    {10.0, 7.5, -0.011987698800406359631},
    {100.0, 10.0, -15.486974416270812541},
    {45.0, 10.0, -0.42342445937436866623},
    {3.0, 0.0625, -1161.9357172468985942},
    {1e-05, 9.5367431640625e-07, -74.483959113018832633},
    {30.0, 0.5, -1794.8328400352368204},
    {700.0, 20.0, -317.45171546803448718},
};

/* sigma, log delta, eps */
static const double epsilons[][3] = {
    {1.0, -14.0, 4.92518158839291162},       {0.25, -1.0, 8.40465343632014479},
    {64.0, -20.0, 0.0755663433365363785},    {4096.0, -30.0, 0.00142979787658528574},
    {1.0, -690.0, 37.4278829856724113},      {0.125, -690.0, 327.836086320115435},
    {1024.0, -690.0, 0.0358800682187717653},
};

static void deltas_are_enclosed_to_the_last_digits(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(deltas); i++) {
        const double *row = deltas[i];
        sotto_bound b = sotto_gaussian_curve(row[0], row[1], NULL);

        CHECK(t, b.low <= row[2] && row[2] <= b.high);
        CHECK(t, b.high - b.low <= 1e-12 * (1 + fabs(row[2])));
    }
}

static void deltas_near_one_keep_their_distance_from_it(sotto_test *t)
{
    sotto_bound b = sotto_gaussian_curve(0, 20, NULL);

    CHECK_NEAR(t, 1, b.high / -1.5239706048321052132e-23, 1e-12);
    CHECK(t, b.high < 0);
}

static void deltas_without_a_double_are_still_bounded(sotto_test *t)
{
    sotto_bound b = sotto_gaussian_curve(1, 1e-140, NULL);

    CHECK(t, b.low == -INFINITY && b.high < -1e270);
    b = sotto_gaussian_curve(1, 1e-160, NULL);
    CHECK(t, isfinite(b.high) && b.high < -1e300);
}

static void epsilons_are_enclosed_with_the_pad_of_a_root(sotto_test *t)
{
    for (size_t i = 0; i < COUNT(epsilons); i++) {
        const double *row = epsilons[i];
        sotto_bound b = {0, 0};

        CHECK_OK(t, sotto_gaussian_epsilon(&b, row[0], 1, 1, row[1], &t->err));
        CHECK(t, b.low <= row[2] * (1 - 0.9e-9) && row[2] * (1 + 0.9e-9) <= b.high);
        CHECK_NEAR(t, 1, b.high / b.low, 2.2e-9);
    }
}

static void epsilon_is_exactly_zero_where_delta_at_zero_is_small_enough(sotto_test *t)
{
    sotto_bound b = {1, 1}, d = {0, 0};

    CHECK_OK(t, sotto_gaussian_log_delta(&d, 8, 1, 1, 0, &t->err));
    CHECK_OK(t, sotto_gaussian_epsilon(&b, 8, 1, 1, d.high, &t->err));
    CHECK(t, b.high == 0 && b.low == 0);
    CHECK_OK(t, sotto_gaussian_epsilon(&b, 8, 1, 1, d.low - 1e-6, &t->err));
    CHECK(t, b.high > 0);
}

static void sigma_and_epsilon_are_inverse(sotto_test *t)
{
    for (double log_delta = -0.5; log_delta > -690; log_delta *= 2.3) {
        for (double sigma = 0x1p-8; sigma < 1e5; sigma *= 8) {
            sotto_bound eps = {0, 0}, low = {0, 0}, high = {0, 0};

            CHECK_OK(t, sotto_gaussian_epsilon(&eps, sigma, 1, 1, log_delta, &t->err));
            if (!(eps.low > 0))
                continue;
            CHECK_OK(t, sotto_gaussian_sigma(&high, eps.low, log_delta, 1, 1, &t->err));
            CHECK_OK(t, sotto_gaussian_sigma(&low, eps.high, log_delta, 1, 1, &t->err));
            CHECK(t, low.low <= sigma && sigma <= high.high);
            CHECK(t, high.high / low.low - 1 < 1e-6);
        }
    }
}

static void more_noise_never_costs_more(sotto_test *t)
{
    for (double log_delta = -3; log_delta > -690; log_delta *= 3) {
        double before = INFINITY;

        for (double sigma = 0.01; sigma < 1e4; sigma *= 1.31) {
            sotto_bound b = {0, 0};

            CHECK_OK(t, sotto_gaussian_epsilon(&b, sigma, 1, 1, log_delta, &t->err));
            CHECK(t, b.low <= before && b.low <= b.high && isfinite(b.high));
            before = b.high;
        }
    }
}

static void deltas_fall_with_epsilon_and_grow_with_sensitivity(sotto_test *t)
{
    for (double mu = 1e-6; mu < 1e3; mu *= 3.3) {
        double before = 0;

        for (double eps = 0; eps < 1e4; eps = eps * 1.7 + 1e-5) {
            sotto_bound b = sotto_gaussian_curve(eps, mu, NULL);
            sotto_bound wider = sotto_gaussian_curve(eps, 1.01 * mu, NULL);

            CHECK(t, b.low <= before && b.low <= wider.high && b.low <= b.high);
            before = b.high;
        }
    }
}

static void releases_count_as_their_root(sotto_test *t)
{
    sotto_bound many = {0, 0}, one = {0, 0};

    CHECK_OK(t, sotto_gaussian_epsilon(&many, 5.1, 1, 2500, log(1e-8), &t->err));
    CHECK_OK(t, sotto_gaussian_epsilon(&one, 5.1, 50, 1, log(1e-8), &t->err));
    CHECK_NEAR(t, 102.2883623, many.high, 1e-6);
    CHECK(t, many.low <= one.high && one.low <= many.high);
}

static void every_error_term_widens_the_bound(sotto_test *t)
{
    static const double at[][2] = {{1, 0.25}, {3, 4}, {0.1, 6}, {2, 0.001}, {1, 20}};

    for (size_t i = 0; i < COUNT(at); i++) {
        sotto_bound plain = sotto_gaussian_curve(at[i][0], at[i][1], NULL);

        for (int k = 0; k < SOTTO_GAUSSIAN_TERMS; k++) {
            double scale[SOTTO_GAUSSIAN_TERMS] = {1, 1, 1, 1};

            scale[k] = 1e5;
            sotto_bound wide = sotto_gaussian_curve(at[i][0], at[i][1], scale);
            CHECK(t, wide.high > plain.high && wide.low < plain.low);
        }
    }
}

static void the_classical_form_ends_at_one(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_OK(t, sotto_gaussian_classical_epsilon(&b, 7, 1, log(1e-8), &t->err));
    CHECK_NEAR(t, 0.872337331664, b.high, 1e-11);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_gaussian_classical_epsilon(&b, 6, 1, log(1e-8), &t->err));
    CHECK_REASON(t, "up to 1");
}

static void participations_that_vary_cost_more_than_their_mean(sotto_test *t)
{
    sotto_bound vary = {0, 0}, mean = {0, 0}, all = {0, 0};

    CHECK_OK(t, sotto_gaussian_counted_epsilon(&vary, 5.1, 1, 0.02, 2500, log(1e-8), &t->err));
    CHECK_NEAR(t, 9.025963872, vary.high, 3e-8);
    CHECK(t, vary.low <= 9.025963872 * (1 + 1e-9));
    CHECK_OK(t, sotto_gaussian_epsilon(&mean, 5.1, 1, 50, log(1e-8), &t->err));
    CHECK(t, vary.low > mean.high);
    CHECK_OK(t, sotto_gaussian_counted_epsilon(&vary, 5.1, 1, 1, 9, log(1e-8), &t->err));
    CHECK_OK(t, sotto_gaussian_epsilon(&all, 5.1, 1, 9, log(1e-8), &t->err));
    CHECK_NEAR(t, 1, vary.high / all.high, 1e-8);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_gaussian_counted_epsilon(&vary, 5.1, 1, 0.5, 1e9, log(1e-8), &t->err));
    CHECK_REASON(t, "1000");
}

/* Against sums over every count, one by one. */
static void few_counts_stand_for_many(sotto_test *t)
{
    static const struct {
        double sigma, rate, rounds, log_delta;
        sotto_bound eps;
    } at[] = {
        {351.086373, 0.00231889522, 45531298, -673.755557, {34.2500930108, 34.2500930793}},
        {62.2604802, 0.00488401974, 186938431, -155.019194, {384.053057654, 384.053058422}},
        {0.406248267, 0.00844702764, 88124962, -493.540428, {2361175.646, 2361175.65072}},
        {2.11952298, 0.212937447, 3121246, -374.130819, {84693.0297854, 84693.0299548}},
        /* a million millions of rounds, of which nobody takes part in many; by 60 digits */
        {1, 1e-9, 1e12, -20, {714.4584682628, 714.4584682644}},
    };

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        sotto_bound b = {0, 0};

        CHECK_OK(t, sotto_gaussian_counted_epsilon(&b, at[i].sigma, 1, at[i].rate, at[i].rounds,
                                                   at[i].log_delta, &t->err));
        CHECK(t, b.low <= at[i].eps.high && b.high >= at[i].eps.low);
        CHECK(t, b.low >= at[i].eps.low * (1 - 1e-6) && b.high <= at[i].eps.high * (1 + 1e-6));
    }
}

static void every_error_term_widens_the_bound_over_counts(sotto_test *t)
{
    static const sotto_counted_inflate inflated[] = {
        {1, 1, 1}, {1e9, 1, 1}, {1, 1e17, 1}, {1, 1, 1e9}};
    sotto_bound b, proved = {0, 0};

    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(t, sotto_gaussian_counted_epsilon_inflated(&b, 5.1, 1, 0.02, 250000, log(1e-8),
                                                            &inflated[i], &t->err));
        proved = i == 0 ? b : proved;
        CHECK(t, i == 0 || b.high > proved.high * (1 + 1e-9));
    }
}

static void a_sample_costs_less_than_everybody(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_OK(t, sotto_sampled_epsilon(&b, (sotto_bound){0.61, 0.61}, 0.02, &t->err));
    CHECK_NEAR(t, 0.0166689262777, b.high, 1e-12);
    CHECK(t, b.low < b.high && b.high - b.low < 1e-16);
    CHECK_OK(t, sotto_sampled_epsilon(&b, (sotto_bound){0.61, 0.61}, 1, &t->err));
    CHECK(t, b.high == 0.61);
    CHECK_OK(t, sotto_sampled_epsilon(&b, (sotto_bound){800, 800}, 0.5, &t->err));
    CHECK_NEAR(t, 800 - log(2), b.high, 1e-11);
    CHECK(t, b.high >= 800 - 0.6931471805599453);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sampled_epsilon(&b, (sotto_bound){1, 1}, 1.5, &t->err));
    CHECK_REASON(t, "rate");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_sampled_epsilon(&b, (sotto_bound){1, 1}, 0, &t->err));
}

static void bad_parameters_are_named(sotto_test *t)
{
    sotto_bound b = {0, 0};

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, NAN, 1, 1, -10, &t->err));
    CHECK_REASON(t, "sigma");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, -1, 1, 1, -10, &t->err));
    CHECK_REASON(t, "accepted");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, 5e-324, 1, 1, -10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, 1, INFINITY, 1, -10, &t->err));
    CHECK_REASON(t, "sensitivity");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, 1, 1, 0, -10, &t->err));
    CHECK_REASON(t, "releases");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, 1, 1, 1.5, -10, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, 1, 1, 1, 0, &t->err));
    CHECK_REASON(t, "delta");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_epsilon(&b, 1, 1, 1, -INFINITY, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_log_delta(&b, 1, 1, 1, -1, &t->err));
    CHECK_REASON(t, "epsilon");
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_gaussian_sigma(&b, NAN, -10, 1, 1, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_gaussian_sigma(&b, 0, -600, 1, 1, &t->err));
}

static void a_delta_is_rounded_against_us(sotto_test *t)
{
    double l = 0;

    CHECK_OK(t, sotto_log_delta_of(&l, 1e-6, &t->err));
    CHECK(t, l < log(1e-6) && l > log(1e-6) - 1e-14);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_log_delta_of(&l, 1, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_log_delta_of(&l, 0, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_log_delta_of(&l, NAN, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_log_delta_of(&l, 5e-324, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(deltas_are_enclosed_to_the_last_digits),
        CASE(deltas_near_one_keep_their_distance_from_it),
        CASE(deltas_without_a_double_are_still_bounded),
        CASE(epsilons_are_enclosed_with_the_pad_of_a_root),
        CASE(epsilon_is_exactly_zero_where_delta_at_zero_is_small_enough),
        CASE(sigma_and_epsilon_are_inverse),
        CASE(more_noise_never_costs_more),
        CASE(deltas_fall_with_epsilon_and_grow_with_sensitivity),
        CASE(releases_count_as_their_root),
        CASE(every_error_term_widens_the_bound),
        CASE(the_classical_form_ends_at_one),
        CASE(participations_that_vary_cost_more_than_their_mean),
        CASE(few_counts_stand_for_many),
        CASE(every_error_term_widens_the_bound_over_counts),
        CASE(a_sample_costs_less_than_everybody),
        CASE(bad_parameters_are_named),
        CASE(a_delta_is_rounded_against_us),
    };
    return RUN_TESTS(argc, argv, cases);
}
