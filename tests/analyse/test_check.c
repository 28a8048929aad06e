#include "analyse/simulated.h"

#include <math.h>

static sotto_simulated s;
static sotto_result result;

static void simulate(sotto_test *t, uint64_t reports, uint64_t seed)
{
    sotto_sim_random random;

    sotto_sim_random_init(&random, seed);
    sotto_simulated_init(t, &s, NULL, reports);
    sotto_simulated_draw(&s, &random);
    sotto_simulated_estimate(t, &s, &result);
}

static void right_results_pass(sotto_test *t)
{
    sotto_result_check check;

    for (uint64_t seed = 0; seed < 30; seed++) {
        simulate(t, 2000, 100 + seed);
        CHECK_OK(t, sotto_result_compare(&check, &result, s.truth, result.count, &t->err));
        CHECK(t, !check.wrong);
        CHECK_EQUAL(t, result.count, check.bins);
    }
}

/* n/(e^eps - 1) instead of 2n/(e^eps - 1), the constant that was printed. */
static void the_printed_constant_is_caught(sotto_test *t)
{
    sotto_result_check check;
    double e = exp(2);

    simulate(t, 2000, 7);
    for (size_t i = 0; i < result.count; i++) {
        result.bins[i].low += (double)s.reports / (e - 1);
        result.bins[i].high += (double)s.reports / (e - 1);
    }
    CHECK_OK(t, sotto_result_compare(&check, &result, s.truth, result.count, &t->err));
    CHECK(t, check.wrong && check.missed_chance < 1e-20);
    CHECK_EQUAL(t, check.bins, check.missed);
}

/* One bin, so that its one interval may well miss: how far it is off tells. */
static void one_bin_far_off_is_caught(sotto_test *t)
{
    sotto_result_check check;

    simulate(t, 2000, 8);
    result.count = 1;
    CHECK_OK(t, sotto_result_compare(&check, &result, s.truth, 1, &t->err));
    CHECK(t, !check.wrong);
    s.truth[0] -= 700;
    CHECK_OK(t, sotto_result_compare(&check, &result, s.truth, 1, &t->err));
    CHECK(t, check.wrong && check.worst_chance < 5e-8);
    CHECK(t, check.missed_chance > 0.04);
    CHECK_EQUAL(t, 0, check.worst);
}

static void noise_by_the_servers_is_no_mistake(sotto_test *t)
{
    sotto_sim_random random;
    sotto_result_check check;

    sotto_sim_random_init(&random, 31);
    sotto_simulated_init(t, &s, NULL, 2000);
    sotto_simulated_noisy(t, &s, 60);
    for (unsigned i = 0; i < 20; i++) {
        sotto_simulated_draw(&s, &random);
        sotto_simulated_add_noise(t, &s, &random);
        sotto_simulated_estimate(t, &s, &result);
        CHECK_OK(t, sotto_result_compare(&check, &result, s.truth, result.count, &t->err));
        CHECK(t, !check.wrong);
    }
    /* Eight deviations, up or down, are one. */
    for (int side = -1; side <= 1; side += 2) {
        sotto_result off = result;

        off.bins[3].sum = (int64_t)llround(2000 * off.q + (double)s.truth[3] * (off.p - off.q)) +
                          side * (int64_t)(8 * sqrt(2) * 60);
        CHECK_OK(t, sotto_result_compare(&check, &off, s.truth, off.count, &t->err));
        CHECK(t, check.wrong && check.worst_chance < 5e-8);
        CHECK_EQUAL(t, 3, check.worst);
    }
    result.noise_variance = 0;
    result.bins[3].sum = 0;
    CHECK_OK(t, sotto_result_compare(&check, &result, s.truth, result.count, &t->err));
    CHECK(t, check.wrong);
}

/* 1,000 bins of which so many miss: the tail of Bin(1000, 0.05), against values summed in rational numbers. */
static void too_many_misses_are_too_many(sotto_test *t)
{
    static const struct {
        size_t missed;
        double chance;
        bool wrong;
    } cases[] = {{50, 1, false},
                 {70, 3.4743587e-3, false},
                 {91, 5.0649900e-8, false},
                 {92, 2.6023714e-8, true}};
    static sotto_result_bin bins[1000];
    static uint64_t truth[1000];
    sotto_result many = {
        .reports = 1000, .confidence = 0.95, .p = 0.5, .q = 0.25, .bins = bins, .count = 1000};
    sotto_result_check check;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t j = 0; j < 1000; j++)
            bins[j] = (sotto_result_bin){
                .bin = j, .sum = 250, .low = j < cases[i].missed ? 1 : 0, .high = 2};
        CHECK_OK(t, sotto_result_compare(&check, &many, truth, 1000, &t->err));
        CHECK_EQUAL(t, cases[i].missed, check.missed);
        CHECK(t, check.wrong == cases[i].wrong);
        CHECK_NEAR(t, cases[i].chance, check.missed_chance, 1e-6 * cases[i].chance);
    }
}

static void a_truth_that_can_not_be_is_refused(sotto_test *t)
{
    sotto_result_check check;

    simulate(t, 1000, 9);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_result_compare(&check, &result, s.truth, result.count - 1, &t->err));
    s.truth[1] += 1000;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_result_compare(&check, &result, s.truth, result.count, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(right_results_pass),           CASE(the_printed_constant_is_caught),
        CASE(one_bin_far_off_is_caught),    CASE(noise_by_the_servers_is_no_mistake),
        CASE(too_many_misses_are_too_many), CASE(a_truth_that_can_not_be_is_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
