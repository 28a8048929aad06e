#include "analyse/simulated.h"

#include <math.h>

static void sums_at_their_mean_give_the_truth(sotto_test *t)
{
    sotto_simulated s;
    sotto_result result;
    double e = exp(2), n;

    sotto_simulated_init(t, &s, NULL, 40000);
    n = (double)s.reports;
    for (size_t i = 0; i < s.randomizer.bytes; i++)
        s.sums[i].low = (uint64_t)llround((double)s.truth[i] * s.randomizer.p +
                                          (n - (double)s.truth[i]) * s.randomizer.q);
    sotto_simulated_estimate(t, &s, &result);
    for (size_t i = 0; i < result.count; i++) {
        const sotto_result_bin *b = &result.bins[i];

        CHECK_NEAR(t, (double)s.truth[i], b->count, 2); /* a sum is whole */
        /* The constant that the paper prints without its 2. */
        CHECK_NEAR(t, 2 * (e + 1) / (e - 1) * (double)b->sum - 2 * n / (e - 1), b->count, 1e-3 * n);
        CHECK(t, b->low <= (double)s.truth[i] && (double)s.truth[i] <= b->high);
        CHECK(t, b->low >= 0 && b->high <= n);
    }
}

/* The chance that an interval misses, over many batches, is at most 5%, but for the chance in the test itself, which
 * is five deviations. It is not much less, or the bars are too long. */
static void check_coverage(sotto_test *t, const char *randomizer, unsigned sigma, uint64_t reports,
                           unsigned rounds, uint64_t seed)
{
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result result;
    double missed = 0, all = 0;

    sotto_sim_random_init(&random, seed);
    sotto_simulated_init(t, &s, randomizer, reports);
    if (sigma)
        sotto_simulated_noisy(t, &s, sigma);
    for (unsigned i = 0; i < rounds; i++) {
        sotto_simulated_draw(&s, &random);
        if (sigma)
            sotto_simulated_add_noise(t, &s, &random);
        sotto_simulated_estimate(t, &s, &result);
        for (size_t j = 0; j < result.count; j++) {
            double truth = (double)s.truth[j];

            missed += truth < result.bins[j].low || truth > result.bins[j].high;
            all++;
        }
    }
    CHECK(t, missed / all < 0.05 + 5 * sqrt(0.05 * 0.95 / all));
    CHECK(t, missed / all > 0.01);
}

static void intervals_hold_the_truth_as_often_as_they_say(sotto_test *t)
{
    check_coverage(t, NULL, 0, 2000, 20, 1);
    check_coverage(t, SYMMETRIC, 0, 2000, 20, 2);
    check_coverage(t, NULL, 0, 200, 100, 3); /* few reports, where a bell curve is crude */
}

static void intervals_hold_the_truth_with_noise_by_the_servers(sotto_test *t)
{
    check_coverage(t, NULL, 10, 2000, 20, 21);
    check_coverage(t, NULL, 100, 20000, 20, 22);
    check_coverage(t, NULL, 25, 200, 100, 23); /* many a sum is below 0 */
}

static void noise_of_both_servers_is_in_the_deviation(sotto_test *t)
{
    sotto_simulated s;
    sotto_result result;

    sotto_simulated_init(t, &s, NULL, 1000);
    sotto_simulated_noisy(t, &s, 25);
    s.sums[0] = (sotto_uint128){400, 0};
    s.sums[1] = (sotto_uint128){(uint64_t)-40, UINT64_MAX};
    s.sums[2] = (sotto_uint128){1060, 0};
    sotto_simulated_estimate(t, &s, &result);
    CHECK(t, result.p == 1 && result.q == 0 && result.has_no_value);
    CHECK_NEAR(t, 2 * 25 * 25, result.noise_variance, 1e-9);
    CHECK_NEAR(t, 400, result.bins[0].count, 0);
    CHECK_NEAR(t, sqrt(2) * 25, result.bins[0].deviation, 1e-9);
    CHECK_NEAR(t, 400 + 1.959964 * sqrt(2) * 25 + 0.5, result.bins[0].high,
               0.01); /* a bell has not quite this law's tails */
    CHECK_EQUAL(t, -40, result.bins[1].sum);
    CHECK_NEAR(t, -40, result.bins[1].count, 0);
    CHECK_EQUAL(t, 1060, result.bins[2].sum);
    s.sums[1].high = 5;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_result_estimate(&result, s.recipe, s.sums, s.entries, 1000, NULL, &t->arena,
                                       &t->err));
}

static void whole_reports_come_out_right(sotto_test *t)
{
    static const char *const randomizers[] = {NULL, SYMMETRIC, CHOICE, SUBSET};
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result result;

    for (size_t i = 0; i < sizeof randomizers / sizeof randomizers[0]; i++) {
        sotto_result_check check;

        sotto_sim_random_init(&random, 10 + i);
        sotto_simulated_init(t, &s, randomizers[i], 3000);
        sotto_simulated_run(t, &s, &random);
        sotto_simulated_estimate(t, &s, &result);
        CHECK_OK(t, sotto_result_compare(&check, &result, s.truth, result.count, &t->err));
        CHECK(t, !check.wrong);
        CHECK(t, result.has_no_value == (i >= 2));
        if (result.has_no_value)
            CHECK(t, fabs(result.no_value.count - (double)s.truth[s.randomizer.values]) <
                         6 * result.no_value.deviation);
    }
}

static void a_higher_confidence_makes_longer_bars(sotto_test *t)
{
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result usual, wide;

    sotto_sim_random_init(&random, 5);
    sotto_simulated_init(t, &s, NULL, 2000);
    sotto_simulated_draw(&s, &random);
    sotto_simulated_estimate(t, &s, &usual);
    CHECK_NEAR(t, 0.95, usual.confidence, 0);
    CHECK_OK(t, sotto_result_estimate(&wide, s.recipe, s.sums, s.randomizer.bytes, s.reports,
                                      &(sotto_result_options){.confidence = 0.999}, &t->arena,
                                      &t->err));
    /* Bin 0 has half of the people: neither end is cut off. 3.29 deviations instead of 1.96. */
    CHECK_NEAR(t, 3.2905 / 1.95996,
               (wide.bins[0].high - wide.bins[0].low) / (usual.bins[0].high - usual.bins[0].low),
               0.02);
    CHECK_NEAR(t, 2 * 1.95996 * usual.bins[0].deviation, usual.bins[0].high - usual.bins[0].low,
               0.1 * usual.bins[0].deviation);
}

static void sums_that_can_not_be_are_refused(sotto_test *t)
{
    sotto_simulated s;
    sotto_result result;
    sotto_result_options bad = {.confidence = 1};

    sotto_simulated_init(t, &s, NULL, 1000);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_result_estimate(&result, s.recipe, s.sums, s.randomizer.bytes - 1, 1000,
                                       NULL, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_result_estimate(&result, s.recipe, s.sums, s.randomizer.bytes, 1000, &bad,
                                       &t->arena, &t->err));
    s.sums[2].low = 1001;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_result_estimate(&result, s.recipe, s.sums, s.randomizer.bytes, 1000, NULL,
                                       &t->arena, &t->err));
    s.sums[2] = (sotto_uint128){0, 1};
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_result_estimate(&result, s.recipe, s.sums, s.randomizer.bytes, 1000, NULL,
                                       &t->arena, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_at_their_mean_give_the_truth),
        CASE(intervals_hold_the_truth_as_often_as_they_say),
        CASE(intervals_hold_the_truth_with_noise_by_the_servers),
        CASE(noise_of_both_servers_is_in_the_deviation),
        CASE(whole_reports_come_out_right),
        CASE(a_higher_confidence_makes_longer_bars),
        CASE(sums_that_can_not_be_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
