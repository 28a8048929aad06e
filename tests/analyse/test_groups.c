/* Counts over several bins: they add up, and their intervals know how bins of one report depend on each other. */
#include "analyse/simulated.h"

#include "analyse/bins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void by_column_counts_add_up(sotto_test *t)
{
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result result, ages, ngrams;
    double sum = 0, part = 0;
    char label[64];
    sotto_buf buf = sotto_buf_over(label, sizeof label - 1);

    sotto_sim_random_init(&random, 1);
    sotto_simulated_init(t, &s, NULL, 2000);
    sotto_simulated_draw(&s, &random);
    sotto_simulated_estimate(t, &s, &result);
    CHECK_EQUAL(t, 2, sotto_recipe_columns(s.recipe));
    CHECK(t, strcmp(sotto_recipe_column(s.recipe, 1), "ngram") == 0);
    CHECK(t, sotto_recipe_column(s.recipe, 2) == NULL);
    CHECK_OK(t, sotto_result_marginal(&ages, &result, s.recipe, 0, &t->arena, &t->err));
    CHECK_OK(t, sotto_result_marginal(&ngrams, &result, s.recipe, 1, &t->arena, &t->err));
    CHECK_EQUAL(t, 8, ages.count);
    CHECK_EQUAL(t, 34, ngrams.count);
    for (size_t i = 0; i < result.count; i++) {
        sum += result.bins[i].count;
        part += i / 34 == 3 ? result.bins[i].count : 0;
    }
    CHECK_NEAR(t, part, ages.bins[3].count, 1e-6);
    for (size_t i = 0; i < ngrams.count; i++)
        sum -= ngrams.bins[i].count;
    CHECK_NEAR(t, 0, sum, 1e-6);
    CHECK_NEAR(t, sqrt(34) * result.bins[200].deviation, ages.bins[7].deviation,
               0.02 * ages.bins[7].deviation);
    CHECK_OK(t, sotto_recipe_column_label(s.recipe, &buf, 0, 1, &t->err));
    label[buf.len] = 0;
    CHECK(t, strcmp(label, "[20,30)") == 0);
    buf.len = 0;
    CHECK_OK(t, sotto_recipe_column_label(s.recipe, &buf, 1, 33, &t->err));
    label[buf.len] = 0;
    CHECK(t, strcmp(label, "i got world") == 0);
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_result_marginal(&ages, &result, s.recipe, 2, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_recipe_column_label(s.recipe, &buf, 1, 34, &t->err));
}

/* What separates the labels of columns is no end of a value that has it. */
static void a_label_of_one_column_is_whole(sotto_test *t)
{
    static const char old[] =
        "{\"type\": \"buckets\", \"boundaries\": [20, 30, 40, 50, 60, 70, 80], "
        "\"underflow\": \"oov\", \"overflow\": \"bucket\"}";
    const sotto_recipe *recipe = sotto_test_recipe(
        t, old, "{\"type\": \"categories\", \"values\": [\"a | b\", \"\\\\\"], \"oov\": false}");
    char label[64];
    sotto_buf buf = sotto_buf_over(label, sizeof label - 1);

    CHECK_OK(t, sotto_recipe_column_label(recipe, &buf, 0, 0, &t->err));
    CHECK_OK(t, sotto_recipe_column_label(recipe, &buf, 0, 1, &t->err));
    CHECK_OK(t, sotto_recipe_column_label(recipe, &buf, 1, 0, &t->err));
    label[buf.len] = 0;
    CHECK(t, strcmp(label, "a | b\\<oov>") == 0);
}

/* A report of a choice has a single 1: whether it is in a group of bins is one draw. */
static void bits_of_one_report_depend_on_each_other(sotto_test *t)
{
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result result, ages;
    size_t empty = 0;

    sotto_sim_random_init(&random, 5);
    sotto_simulated_init(t, &s, CHOICE, 3000);
    sotto_simulated_run(t, &s, &random);
    sotto_simulated_estimate(t, &s, &result);
    CHECK_OK(t, sotto_result_marginal(&ages, &result, s.recipe, 0, &t->arena, &t->err));
    const double q = 34 * s.randomizer.q, gain = s.randomizer.p - s.randomizer.q;
    for (size_t i = 0; i < 8; i++)
        if (ages.bins[i].count <= 0) {
            CHECK_NEAR(t, sqrt(3000 * q * (1 - q)) / gain, ages.bins[i].deviation, 1e-6);
            empty++;
        }
    CHECK(t, empty > 0);
}

/* With a seed, over draws of whole reports. 2,000 of them that hold with 95% are between 92.5% and 97.5% but for a chance of 1e-6. */
static void check_marginal(sotto_test *t, const char *randomizer, unsigned sigma, uint64_t seed)
{
    enum { DRAWS = 250 };
    sotto_sim_random random;
    sotto_simulated s;
    double held = 0, together = 0;

    sotto_sim_random_init(&random, seed);
    sotto_simulated_init(t, &s, randomizer, 150);
    if (sigma)
        sotto_simulated_noisy(t, &s, sigma);
    for (unsigned i = 0; i < DRAWS; i++) {
        sotto_result result, ages;
        bool all = true;

        if (sigma) {
            for (size_t j = 0; j < s.entries; j++)
                s.sums[j] = (sotto_uint128){s.truth[j], 0};
            sotto_simulated_add_noise(t, &s, &random);
        } else {
            sotto_simulated_run(t, &s, &random);
        }
        sotto_simulated_estimate(t, &s, &result);
        CHECK_OK(t, sotto_result_marginal(&ages, &result, s.recipe, 0, &t->arena, &t->err));
        for (size_t j = 0; j < 8; j++) {
            double truth = 0;

            for (size_t k = 0; k < 34; k++)
                truth += (double)s.truth[34 * j + k];
            held += ages.bins[j].low <= truth && truth <= ages.bins[j].high;
            all = all && ages.bins[j].low_all <= truth && truth <= ages.bins[j].high_all;
        }
        together += all;
    }
    if (held < 0.925 * 8 * DRAWS || held > 0.975 * 8 * DRAWS)
        (void)fprintf(stderr, "%s: %g\n", randomizer ? randomizer : "asymmetric", held / DRAWS / 8);
    CHECK(t, held > 0.925 * 8 * DRAWS && held < 0.975 * 8 * DRAWS);
    CHECK(t, together > 0.88 * DRAWS);
}

static void intervals_by_column_hold_the_truth(sotto_test *t)
{
    check_marginal(t, NULL, 0, 11);
    check_marginal(t, CHOICE, 0, 12);
    check_marginal(t, SUBSET, 0, 13);
    check_marginal(t, NULL, 4, 14);
}

static void phrases_are_the_sum_of_what_follows(sotto_test *t)
{
    static const char *const phrases[] = {"", "hello", "i", "hello world", "i went", "i got"};
    const sotto_result_options options = {.adjust = true};
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result result;
    sotto_result_node *nodes;
    size_t count;

    sotto_sim_random_init(&random, 2);
    sotto_simulated_init(t, &s, NULL, 2000);
    sotto_simulated_draw(&s, &random);
    CHECK_OK(t, sotto_result_estimate(&result, s.recipe, s.sums, s.entries, s.reports, &options,
                                      &t->arena, &t->err));
    CHECK_OK(t, sotto_result_tree(&nodes, &count, &result, s.recipe, 1, &t->arena, &t->err));
    CHECK_EQUAL(t, 6, count);
    for (size_t i = 0; i < count; i++) {
        double below = 0, adjusted = 0;
        bool any = false;

        CHECK(t, strcmp(nodes[i].phrase, phrases[i]) == 0);
        for (size_t j = 1; j < count; j++)
            if (nodes[j].parent == i) {
                below += nodes[j].estimate.count;
                adjusted += nodes[j].estimate.adjusted;
                any = true;
                CHECK_EQUAL(t, nodes[i].depth + 1, nodes[j].depth);
            }
        if (any) {
            CHECK_NEAR(t, below, nodes[i].estimate.count, 1e-6);
            CHECK_NEAR(t, adjusted, nodes[i].estimate.adjusted, 1e-6);
        }
        CHECK(t, nodes[i].estimate.low <= nodes[i].estimate.high);
        CHECK(t, nodes[i].estimate.low_all <= nodes[i].estimate.low);
    }
    CHECK_EQUAL(t, 8 * 33, nodes[0].bins);
    CHECK_EQUAL(t, 8 * 11, nodes[5].bins);
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_result_tree(&nodes, &count, &result, s.recipe, 0, &t->arena, &t->err));
}

static void adjusted_counts_are_not_negative_and_keep_the_total(sotto_test *t)
{
    double few[] = {5, -3, 1, 0.5}, none[] = {-4, -6};
    const sotto_result_options options = {.adjust = true};
    sotto_sim_random random;
    sotto_simulated s;
    sotto_result plain, result;
    double total = 0, adjusted = 0;

    CHECK_OK(t, sotto_adjust(few, 4, 3.5, &t->arena, &t->err));
    CHECK_NEAR(t, 3.5, few[0], 1e-12); /* 1.5 off each, and what falls below 0 stays there */
    CHECK(t, few[1] == 0 && few[2] == 0 && few[3] == 0);
    CHECK_OK(t, sotto_adjust(none, 2, 10, &t->arena, &t->err));
    CHECK_NEAR(t, 6, none[0], 1e-12);
    CHECK_NEAR(t, 4, none[1], 1e-12);
    sotto_sim_random_init(&random, 3);
    sotto_simulated_init(t, &s, NULL, 2000);
    sotto_simulated_draw(&s, &random);
    sotto_simulated_estimate(t, &s, &plain);
    CHECK_OK(t, sotto_result_estimate(&result, s.recipe, s.sums, s.entries, s.reports, &options,
                                      &t->arena, &t->err));
    CHECK(t, result.adjusted && !plain.adjusted);
    for (size_t i = 0; i < result.count; i++) {
        CHECK(t, result.bins[i].adjusted >= 0);
        CHECK(t, result.bins[i].count == plain.bins[i].count); /* the unbiased one stays */
        CHECK(t, result.bins[i].low == plain.bins[i].low);
        total += result.bins[i].count;
        adjusted += result.bins[i].adjusted;
    }
    CHECK_NEAR(t, fmin(fmax(total, 0), 2000), adjusted, 1e-6);
    sotto_simulated_noisy(t, &s, 25);
    sotto_simulated_add_noise(t, &s, &random);
    CHECK_OK(t, sotto_result_estimate(&result, s.recipe, s.sums, s.entries, s.reports, &options,
                                      &t->arena, &t->err));
    adjusted = result.no_value.adjusted;
    for (size_t i = 0; i < result.count; i++)
        adjusted += result.bins[i].adjusted;
    CHECK_NEAR(t, 2000, adjusted, 1e-6); /* all reports, where "no value" is one of the bins */
}

static void levels_that_were_measured_apart_add_up(sotto_test *t)
{
    enum { ROUNDS = 20000 };
    const double truth[] = {100, 70, 30, 50, 20}, variance[] = {4, 9, 16, 25, 25};
    const size_t parent[] = {0, 0, 0, 1, 1};
    double off[5] = {0}, squares[5] = {0}, stated[5] = {0};
    sotto_sim_random random;
    sotto_level_node n[5];

    sotto_sim_random_init(&random, 4);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 5; i++) {
            double bell = -6;

            for (int j = 0; j < 12; j++)
                bell += (double)sotto_sim_random_below(&random, 1 << 20) / (1 << 20);
            n[i] = (sotto_level_node){.parent = parent[i],
                                      .value = truth[i] + sqrt(variance[i]) * bell,
                                      .variance = variance[i]};
        }
        CHECK_OK(t, sotto_levels_fit(n, 5, &t->arena, &t->err));
        CHECK_NEAR(t, n[0].fitted, n[1].fitted + n[2].fitted, 1e-9);
        CHECK_NEAR(t, n[1].fitted, n[3].fitted + n[4].fitted, 1e-9);
        for (size_t i = 0; i < 5; i++) {
            off[i] += n[i].fitted - truth[i];
            squares[i] += (n[i].fitted - truth[i]) * (n[i].fitted - truth[i]);
            stated[i] = n[i].fitted_variance;
        }
    }
    for (size_t i = 0; i < 5; i++) {
        CHECK(t, stated[i] < variance[i]);
        CHECK(t, fabs(off[i] / ROUNDS) < 5 * sqrt(stated[i] / ROUNDS));
        CHECK_NEAR(t, stated[i], squares[i] / ROUNDS,
                   0.06 * stated[i]); /* five deviations are 5% */
    }
    n[1].variance = INFINITY; /* not measured: what is below it says it */
    CHECK_OK(t, sotto_levels_fit(n, 5, &t->arena, &t->err));
    CHECK_NEAR(t, n[1].fitted, n[3].fitted + n[4].fitted, 1e-9);
    n[3].variance = INFINITY;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_levels_fit(n, 5, &t->arena, &t->err));
    n[3] = (sotto_level_node){.parent = 4, .variance = 1};
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_levels_fit(n, 5, &t->arena, &t->err));
}

static void a_rate_is_known_of_whole_schedules(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    const uint64_t opens = (uint64_t)recipe->opens, closes = (uint64_t)recipe->closes;

    CHECK_NEAR(t, 0.1, sotto_recipe_rate(recipe, opens, closes), 0);
    CHECK(t, sotto_recipe_rate(recipe, opens, closes - 3600) == 0);
    CHECK(t, sotto_recipe_rate(recipe, opens + 3600, closes) == 0);
    CHECK(t, sotto_recipe_rate(recipe, 0, 0) == 0);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(by_column_counts_add_up),
        CASE(a_label_of_one_column_is_whole),
        CASE(bits_of_one_report_depend_on_each_other),
        CASE(intervals_by_column_hold_the_truth),
        CASE(phrases_are_the_sum_of_what_follows),
        CASE(adjusted_counts_are_not_negative_and_keep_the_total),
        CASE(levels_that_were_measured_apart_add_up),
        CASE(a_rate_is_known_of_whole_schedules),
    };

    return RUN_TESTS(argc, argv, cases);
}
