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

/* The chance that an interval misses, over many batches: 5% at most, but for the chance in the test itself, which is
 * five deviations; and not much less, or the bars are too long. */
static void check_coverage(sotto_test *t, const char *randomizer, uint64_t reports, unsigned rounds,
                           uint64_t seed)
{
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result result;
    double missed = 0, all = 0;

    sotto_sim_random_init(&random, seed);
    sotto_simulated_init(t, &s, randomizer, reports);
    for (unsigned i = 0; i < rounds; i++) {
        sotto_simulated_draw(&s, &random);
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
    check_coverage(t, NULL, 2000, 20, 1);
    check_coverage(t, SYMMETRIC, 2000, 20, 2);
    check_coverage(t, NULL, 200, 100, 3); /* few reports, where a bell curve is crude */
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
        CASE(whole_reports_come_out_right),
        CASE(a_higher_confidence_makes_longer_bars),
        CASE(sums_that_can_not_be_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
