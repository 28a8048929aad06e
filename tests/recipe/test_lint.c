/* Judging recipes: by their own numbers, and by the policy, which no recipe can widen. */
#include "support/recipes.h"

#include <string.h>

static sotto_mistakes mistakes;
static sotto_recipe_claim claim;

static sotto_status lint(sotto_test *t, const sotto_recipe *recipe, const sotto_policy *policy)
{
    memset(&mistakes, 0, sizeof mistakes);
    return sotto_recipe_lint(&claim, recipe, policy, &mistakes, &t->err);
}

/* The example, changed, is refused by the example's policy for one reason. */
static void check_refused(sotto_test *t, const char *old, const char *new, const char *path,
                          const char *what)
{
    CHECK_STATUS(t, SOTTO_DENIED,
                 lint(t, sotto_test_recipe(t, old, new), sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, path, what));
    CHECK_EQUAL(t, 1, mistakes.errors);
    CHECK(t, mistakes.items[0].line > 0 && *mistakes.items[0].accepted);
}

static void the_example_passes_its_policy(sotto_test *t)
{
    CHECK_OK(t, lint(t, sotto_test_recipe(t, NULL, NULL), NULL));
    CHECK_OK(t, lint(t, sotto_test_recipe(t, NULL, NULL), sotto_test_policy(t, NULL, NULL)));
    CHECK_EQUAL(t, 0, mistakes.count);
}

static void a_claim_below_the_truth_is_refused(sotto_test *t)
{
    check_refused(t, "0.30", "0.05", "privacy.epsilon", "claims less than the 0.10");
    CHECK(t, claim.min_cohort > 40000);
    CHECK(t, strstr(mistakes.items[0].accepted, "min_cohort of ") != NULL);
}

static void a_claim_depends_on_who_is_honest(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, "0.30", "0.09");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, NULL));
    CHECK_OK(t, lint(t, recipe, sotto_test_policy(t, "\"honest\": 0.5", "\"honest\": 0.9")));
}

static void a_cohort_that_can_not_be_reached_is_refused(sotto_test *t)
{
    check_refused(t, "\"rate\": 0.1", "\"rate\": 0.01", "privacy.min_cohort", "ever be released");
}

static void unknown_analyses_are_refused(sotto_test *t)
{
    check_refused(t, "com.example.keyboard-ngrams", "com.example.other", "analysis",
                  "no such analysis");
}

static void a_recipe_s_cohort_is_at_least_the_policy_s(sotto_test *t)
{
    check_refused(t, "40000", "19999", "privacy.min_cohort", "insists");
}

static void a_recipe_costs_at_most_the_whole_analysis(sotto_test *t)
{
    check_refused(t, "0.30", "0.500000000001", "privacy.epsilon", "whole analysis");
    CHECK(t, strcmp(mistakes.items[0].accepted, "at most 0.5") == 0);
}

static void a_recipe_s_delta_is_at_most_the_analysis_s(sotto_test *t)
{
    check_refused(t, "1e-6", "1.000001e-6", "privacy.delta", "whole analysis");
}

static void ways_to_add_up_are_the_policy_s_choice(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe_trusting(t, SOTTO_TRUST_AERO);

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.trust", "does not allow"));
    CHECK_STATUS(t, SOTTO_DENIED,
                 lint(t, recipe,
                      sotto_test_policy(t, "\"min_cohort\"",
                                        "\"trusts\": [\"split\", \"aero\"], \"min_cohort\"")));
    CHECK(t, !sotto_test_has_mistake(&mistakes, "aggregation.trust", "does not allow"));
}

/* Also where the recipe claims no gain, and no policy forbids it. */
static void ways_to_add_up_that_are_not_there_yet_are_refused(sotto_test *t)
{
    for (sotto_trust trust = SOTTO_TRUST_FLAMINGO; trust <= SOTTO_TRUST_AERO; trust++) {
        const char *text = (const char *)sotto_test_recipe_text_trusting(t, trust).data;
        const sotto_recipe *recipe;

        memset(&mistakes, 0, sizeof mistakes);
        CHECK_OK(t, sotto_recipe_read(&recipe, sotto_test_replace(t, text, "0.30", "2.0"),
                                      &t->arena, &mistakes, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, NULL));
        CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.trust", "not yet"));
        CHECK_EQUAL(t, 1, mistakes.errors);
    }
}

static void cohorts_are_by_non_sensitive_fields(sotto_test *t)
{
    check_refused(t, "\"locale\"", "\"age\"", "cohorts.age", "non-sensitive");
}

static void targets_are_by_non_sensitive_fields(sotto_test *t)
{
    check_refused(t, "\"encode\"", "\"targeting\": {\"age\": [\"90\"]}, \"encode\"",
                  "targeting.age", "non-sensitive");
}

static void a_list_of_queries_is_exact(sotto_test *t)
{
    const sotto_policy *policy =
        sotto_test_policy(t, "\"reports\": 1,\n      \"fields\"",
                          "\"reports\": 1, \"queries\": [\"SELECT age, ngram FROM "
                          "keyboard_ngrams\"], \"fields\"");

    CHECK_OK(t, lint(t, sotto_test_recipe(t, NULL, NULL), policy));
    CHECK_STATUS(t, SOTTO_DENIED,
                 lint(t, sotto_test_recipe(t, "SELECT age,", "SELECT age, "), policy));
    CHECK(t, sotto_test_has_mistake(&mistakes, "query", "not one of the 1 queries"));
}

static void budgets_count_replacements_alone(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, "\"replacement\"", "\"deletion\"");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.adjacency", "replacement model"));
    CHECK_OK(t, lint(t, recipe, NULL));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.adjacency", "refused")); /* a warning */
}

static void silence_needs_the_policy_s_word(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, "\"no-value\"", "\"silence\"");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "on_no_match", "does not allow silence"));
    CHECK_OK(t, lint(t, recipe,
                     sotto_test_policy(t, "\"min_cohort\"", "\"silence\": true, \"min_cohort\"")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "on_no_match", "silence tells")); /* a warning */
    CHECK(t, claim.none_told);
    CHECK_OK(t, lint(t, sotto_test_recipe(t, NULL, NULL), NULL));
    CHECK(t, !claim.none_told);
}

static void importance_sampling_waits_for_hidden_participation(sotto_test *t)
{
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "{\"type\": \"poisson\", \"rate\": 0.1}",
                          "{\"type\": \"importance\", \"rate_default\": 0.1, \"rate_other\": 0.4}");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "participation", "be seen"));
}

static void biased_answers_are_pointed_out(sotto_test *t)
{
    CHECK_OK(t, lint(t, sotto_test_recipe(t, "\"no-value\"", "\"random-bin\""), NULL));
    CHECK(t, sotto_test_has_mistake(&mistakes, "on_no_match", "biased"));
}

static void a_column_that_is_not_encoded_is_pointed_out(sotto_test *t)
{
    CHECK_OK(t, lint(t, sotto_test_recipe(t, "SELECT age,", "SELECT age, perplexity,"), NULL));
    CHECK_EQUAL(t, 1, mistakes.count);
    CHECK(t, sotto_test_has_mistake(&mistakes, "query", "column \"perplexity\" is not in encode"));
    CHECK(t, mistakes.items[0].severity == SOTTO_WARNING && mistakes.items[0].line > 0);
    CHECK_OK(t, lint(t,
                     sotto_test_recipe(t, "SELECT age,",
                                       "SELECT max(age) AS age, 1 AS x, "
                                       "perplexity AS y,"),
                     NULL));
    CHECK(t, sotto_test_has_mistake(&mistakes, "query", "column \"x\", and others, are not"));
    /* Where the text does not tell, nothing is said. */
    CHECK_OK(t, lint(t, sotto_test_recipe(t, "SELECT age, ngram", "SELECT *"), NULL));
    CHECK_EQUAL(t, 0, mistakes.count);
}

static void a_column_that_the_query_lacks_is_refused(sotto_test *t)
{
    check_refused(t, "SELECT age, ngram", "SELECT ngram", "encode.age", "no column of this name");
    check_refused(t, "SELECT age, ngram", "SELECT age AS years, ngram", "encode.age",
                  "no column of this name");
    CHECK_OK(t, lint(t, sotto_test_recipe(t, "SELECT age, ngram", "SELECT AGE, ngram"), NULL));
    CHECK_OK(t, lint(t, sotto_test_recipe(t, "SELECT age, ngram", "SELECT count(*), ngram"), NULL));
}

static void explanations_name_the_numbers(sotto_test *t)
{
    static uint8_t memory[1 << 16];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_buf little = sotto_buf_over(memory, 100);
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);

    CHECK_OK(t, lint(t, recipe, NULL));
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_recipe_explain(&little, recipe, &claim, &t->err));
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    memory[out.len] = 0;
    CHECK(t, strstr((char *)memory, "272 bins") != NULL);
    CHECK(t, strstr((char *)memory, "40000 reports") != NULL);
    CHECK(t, strstr((char *)memory, "epsilon 0.3") != NULL);
    CHECK(t, strstr((char *)memory, "key:leader-2026a") != NULL);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_example_passes_its_policy),
        CASE(a_claim_below_the_truth_is_refused),
        CASE(a_claim_depends_on_who_is_honest),
        CASE(a_cohort_that_can_not_be_reached_is_refused),
        CASE(unknown_analyses_are_refused),
        CASE(a_recipe_s_cohort_is_at_least_the_policy_s),
        CASE(a_recipe_costs_at_most_the_whole_analysis),
        CASE(a_recipe_s_delta_is_at_most_the_analysis_s),
        CASE(ways_to_add_up_are_the_policy_s_choice),
        CASE(ways_to_add_up_that_are_not_there_yet_are_refused),
        CASE(cohorts_are_by_non_sensitive_fields),
        CASE(targets_are_by_non_sensitive_fields),
        CASE(a_list_of_queries_is_exact),
        CASE(budgets_count_replacements_alone),
        CASE(silence_needs_the_policy_s_word),
        CASE(importance_sampling_waits_for_hidden_participation),
        CASE(biased_answers_are_pointed_out),
        CASE(a_column_that_is_not_encoded_is_pointed_out),
        CASE(a_column_that_the_query_lacks_is_refused),
        CASE(explanations_name_the_numbers),
    };

    return RUN_TESTS(argc, argv, cases);
}
