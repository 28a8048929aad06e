/* Statistics and sources of noise: what goes together, and what a report then holds. */
#include "recipe/claim.h"
#include "support/recipes.h"

#include <math.h>
#include <string.h>

static sotto_mistakes mistakes;

static sotto_status read_text(sotto_test *t, sotto_bytes text)
{
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    return sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err);
}

#define SERVERS "\"servers\", \"sigma\": 500"
#define SHARES  "\"shares\", \"sigma\": 500"
#define BINARY  "\"randomizer\": {\"type\": \"binary\", \"epsilon_local\": 2.0}, \"participation\""

/* A mistake at the path, in a text of the example with this replaced. */
static void refused(sotto_test *t, sotto_bytes text, const char *old, const char *new,
                    const char *path, const char *what)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, sotto_test_replace(t, (const char *)text.data, old, new)));
    CHECK(t, sotto_test_has_mistake(&mistakes, path, what));
    CHECK_EQUAL(t, 1, mistakes.errors);
}

static void noise_has_the_keys_of_its_source(sotto_test *t)
{
    refused(t, sotto_test_recipe_text(t, NULL, NULL), "40000}", "40000, \"sigma\": 5}",
            "privacy.sigma", "nobody adds");
    refused(t, sotto_test_recipe_text_of(t, "sum", SERVERS ", \"honest\": 0.5"), NULL, NULL,
            "privacy.honest", "nobody adds");
    refused(t, sotto_test_recipe_text_of(t, "sum", "\"shares\""), NULL, NULL, "privacy.sigma",
            "missing");
    refused(t, sotto_test_recipe_text_of(t, "sum", "\"committee\""), NULL, NULL, "privacy.sigma",
            "missing");
    CHECK_OK(t, read_text(t, sotto_test_recipe_text_of(t, "sum", SHARES ", \"honest\": 0.5")));
}

static void no_device_adds_more_than_it_can_draw(sotto_test *t)
{
    refused(t, sotto_test_recipe_text_of(t, "sum", "\"shares\", \"sigma\": 1000000"), NULL, NULL,
            "privacy.sigma", "part of the noise is too large");
    CHECK_OK(t,
             read_text(t, sotto_test_recipe_text_of(t, "sum", "\"servers\", \"sigma\": 1000000")));
}

static void only_the_crowd_has_a_randomizer(sotto_test *t)
{
    refused(t, sotto_test_recipe_text_of(t, "count", SERVERS), "\"participation\"", BINARY,
            "randomizer", "not randomised");
}

static void sums_and_means_are_not_by_crowd(sotto_test *t)
{
    refused(t, sotto_test_recipe_text_of(t, "sum", "\"crowd\""), NULL, NULL, "privacy.by",
            "protects a sum by itself");
    refused(t, sotto_test_recipe_text_of(t, "mean", "\"crowd\""), NULL, NULL, "privacy.by",
            "protects a mean by itself");
}

static void counts_have_a_randomizer_of_their_own(sotto_test *t)
{
    const sotto_bytes count = sotto_test_recipe_text_of(t, "count", "\"crowd\"");

    CHECK_OK(t, read_text(t, sotto_test_replace(t, (const char *)count.data, "\"participation\"",
                                                BINARY)));
    refused(t, count, NULL, NULL, "randomizer", "missing");
    refused(t, count, "\"participation\"",
            "\"randomizer\": {\"type\": \"choice\", \"epsilon_local\": 2.0}, \"participation\"",
            "randomizer.type", "not a randomizer of a count");
    refused(t, sotto_test_recipe_text_of(t, "quantiles", "\"crowd\""), "\"participation\"", BINARY,
            "randomizer.type", "not a randomizer of a quantiles");
}

static void a_count_has_no_bins(sotto_test *t)
{
    refused(t, sotto_test_recipe_text_of(t, "sum", SERVERS), "\"sum\"", "\"count\"", "encode",
            "no bins");
}

static void numbers_come_from_one_column(sotto_test *t)
{
    static const char integer[] = "\"type\": \"integer\", \"min\": 0, \"max\": 100";
    const sotto_bytes sum = sotto_test_recipe_text_of(t, "sum", SERVERS);

    refused(t, sum, integer, "\"type\": \"boolean\"", "encode", "one number of each device");
    CHECK_OK(
        t, read_text(t, sotto_test_replace(
                            t, (const char *)sum.data, integer,
                            "\"type\": \"real\", \"min\": -1, \"max\": 1, \"fraction_bits\": 4")));
}

static void a_sum_has_a_zero(sotto_test *t)
{
    static const char *const without[] = {"\"min\": 1", "\"min\": -5, \"step\": 3"};
    const sotto_bytes sum = sotto_test_recipe_text_of(t, "sum", SERVERS);

    refused(t, sum, "\"min\": 0", without[0], "encode.age.min", "adds 0");
    refused(t, sum, "\"min\": 0", without[1], "encode.age.min", "adds 0");
    CHECK_OK(t, read_text(t, sotto_test_replace(t, (const char *)sum.data, "\"min\": 0",
                                                "\"min\": -5, \"step\": 5")));
    CHECK_OK(t,
             read_text(t, sotto_test_replace(
                              t, (const char *)sotto_test_recipe_text_of(t, "mean", SERVERS).data,
                              "\"min\": 0", without[0])));
}

static void absence_is_no_bin_of_a_number(sotto_test *t)
{
    refused(t, sotto_test_recipe_text_of(t, "mean", SERVERS), "\"no-value\"", "\"random-bin\"",
            "on_no_match", "no such bin");
}

static void a_count_is_not_told_by_silence(sotto_test *t)
{
    refused(t, sotto_test_recipe_text_of(t, "count", SERVERS), "\"no-value\"", "\"silence\"",
            "on_no_match", "number of reports would tell");
}

static void a_source_of_noise_is_of_the_trust_model(sotto_test *t)
{
    sotto_recipe recipe = *sotto_test_recipe_of(t, "sum", SERVERS);
    sotto_recipe_claim claim;

    recipe.trust = SOTTO_TRUST_FLAMINGO;
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_recipe_lint_terms(&claim, &recipe, NULL, &mistakes, &t->err));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.by", "trust model is flamingo"));
    recipe.by = SOTTO_BY_SHARES;
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_lint_terms(&claim, &recipe, NULL, &mistakes, &t->err));
    CHECK(t, !sotto_test_has_mistake(&mistakes, "privacy.by", "trust model"));
}

/* What a person is told: the recipe's words, and the policy's for each field that is read. */
static void explanations_repeat_what_the_policy_allows(sotto_test *t)
{
    static const char age[] = "\"keyboard_ngrams.age\": {\"epsilon_local\": 2";
    const sotto_recipe *recipe = sotto_test_recipe_of(t, "mean", SERVERS);
    const sotto_policy *policy = sotto_test_policy(
        t, age, "\"keyboard_ngrams.age\": {\"epsilon_local\": \"none\", \"by\": [\"servers\"]");
    static sotto_recipe_verdict verdict;
    sotto_recipe_claim claim;
    char text[16384];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    sotto_err err = {0};

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_recipe_judge(&verdict, &claim, recipe, policy, NULL, &mistakes, &err));
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    CHECK_OK(t, sotto_policy_explain(&out, policy, &verdict, &t->err));
    text[out.len] = 0;
    CHECK(t, strstr(text, "Numbers below 0 count as 0, above 100 as 100") != NULL);
    CHECK(t, strstr(text, "has no local protection, and no noise") != NULL);
    CHECK(t, strstr(text, "Each server adds noise of sigma 500") != NULL);
    CHECK(t, strstr(text, "keyboard_ngrams.age: noise may be added by servers; reports without "
                          "local protection are allowed (epsilon_local \"none\")") != NULL);
    CHECK(t, strstr(text, "keyboard_ngrams.ngram: noise may be added by crowd; a report by itself "
                          "may tell it up to epsilon 5") != NULL);
}

/* A number in words is the one that counts: of six digits the last would be another. */
static void explanations_have_all_digits(sotto_test *t)
{
    sotto_recipe recipe = *sotto_test_recipe_of(t, "mean", "\"servers\", \"sigma\": 1234.567");
    sotto_recipe_claim claim;
    char text[16384];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);

    recipe.encoding.encoders[0].as.integer.min = -1234567;
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, &recipe, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_OK(t, sotto_recipe_explain(&out, &recipe, &claim, &t->err));
    text[out.len] = 0;
    CHECK(t, strstr(text, "Numbers below -1234567 count as -1234567, above -1234467") != NULL);
    CHECK(t, strstr(text, "noise of sigma 1234.567 to") != NULL);
}

/* ---- contents ----------------------------------------------------------------------------------------- */

static sotto_report_content content_of(sotto_test *t, const char *statistic, const char *by)
{
    sotto_report_content content;

    CHECK_OK(t, sotto_recipe_content(&content, sotto_test_recipe_of(t, statistic, by), &t->err));
    return content;
}

static void a_report_holds_what_its_statistic_needs(sotto_test *t)
{
    sotto_report_content c = content_of(t, "quantiles", SERVERS);

    CHECK(t, c.one && c.entries == 102 && c.values == 101 && c.max == 1 && c.weight == 1);
    c = content_of(t, "quantiles", SHARES);
    CHECK(t, !c.one && c.entries == 101 && c.weight == 101 && c.most == 1);
    CHECK_EQUAL(t, 1 + 2 * c.offset, c.max);
    c = content_of(t, "count", SERVERS);
    CHECK(t, !c.one && c.entries == 1 && c.max == 1 && c.distance >= 1 && c.distance < 1.000001);
    c = content_of(t, "sum", SERVERS);
    CHECK(t, c.entries == 1 && c.max == 100 && c.none == 0);
    c = content_of(t, "mean", SERVERS);
    CHECK(t, c.entries == 2 && c.max == 100 && c.none == 50);
    CHECK_NEAR(t, 150, c.distance_l1, 0);
    CHECK_NEAR(t, sqrt(100 * 100 + 50 * 50), c.distance, 1e-9);
}

/* What is cut has a chance of 2^-40 over all honest devices' entries; one step less has more. */
static void the_range_of_a_share_is_a_tail(sotto_test *t)
{
    const sotto_report_content c = content_of(t, "mean", SHARES);
    const double all = 20000.0 * 2;

    CHECK(t, all * exp(c.log_cut) <= 0x1p-40);
    CHECK(t, all * exp(c.log_cut) > 0x1p-46);
    CHECK(t, (double)c.offset > 8 * sqrt(c.variance) && (double)c.offset < 13 * sqrt(c.variance));
    CHECK(t, c.variance * 20000 >= 500.0 * 500.0);
    CHECK(t, (double)c.num / (double)c.den * 2 == c.variance);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(noise_has_the_keys_of_its_source),
        CASE(no_device_adds_more_than_it_can_draw),
        CASE(only_the_crowd_has_a_randomizer),
        CASE(sums_and_means_are_not_by_crowd),
        CASE(counts_have_a_randomizer_of_their_own),
        CASE(a_count_has_no_bins),
        CASE(numbers_come_from_one_column),
        CASE(a_sum_has_a_zero),
        CASE(absence_is_no_bin_of_a_number),
        CASE(a_count_is_not_told_by_silence),
        CASE(a_source_of_noise_is_of_the_trust_model),
        CASE(explanations_repeat_what_the_policy_allows),
        CASE(explanations_have_all_digits),
        CASE(a_report_holds_what_its_statistic_needs),
        CASE(the_range_of_a_share_is_a_tail),
    };

    return RUN_TESTS(argc, argv, cases);
}
