/* The example's policy and recipe, through the ledger's three checks. */
#include "recipe/policy_tables.h"

#include "support/recipes.h"

#include <string.h>

static const sotto_access both[2] = {{"keyboard_ngrams", "age", true},
                                     {"keyboard_ngrams", "ngram", true}};

static sotto_refusal refusal;

/* Checks one report of the changed example against the example's budgets, of which `reports` are spent. */
static sotto_status check(sotto_test *t, const char *old, const char *new, uint64_t reports)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, old, new);
    const sotto_recompute recompute = {sotto_recipe_recompute, NULL};
    sotto_spent analysis = {.reports = reports}, fields[2] = {{.reports = 0}};
    sotto_recipe_mechanism mechanism;
    sotto_budget_table table;

    CHECK_OK(t, sotto_policy_budgets(&table, sotto_test_policy(t, NULL, NULL), &t->arena, &t->err));
    CHECK_OK(t, sotto_budget_table_check(&table, &t->err));
    CHECK_OK(t, sotto_recipe_mechanism_init(&mechanism, recipe, &t->err));
    sotto_charge charge = sotto_recipe_charge(&mechanism, 0, both, 2);
    CHECK_OK(t, sotto_charge_check(&charge, &t->err));
    memset(&refusal, 0, sizeof refusal);
    return sotto_budget_check(&table, &charge, &analysis, fields, &recompute, &refusal, &t->err);
}

static void the_example_may_be_answered_once(sotto_test *t)
{
    CHECK_OK(t, check(t, NULL, NULL, 0));
    CHECK_STATUS(t, SOTTO_DENIED, check(t, NULL, NULL, 1));
    CHECK_EQUAL(t, 1, refusal.check);
}

static void a_field_has_the_last_word_on_its_epsilon(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_DENIED, check(t, "0.30", "0.31", 0));
    CHECK_EQUAL(t, 2, refusal.check);
    CHECK(t, strstr(refusal.subject, "age") != NULL);
    CHECK_STATUS(t, SOTTO_DENIED, check(t, "\"epsilon_local\": 2.0", "\"epsilon_local\": 2.1", 0));
    CHECK_EQUAL(t, 2, refusal.check);
}

static void the_cohort_s_epsilon_is_recomputed(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_DENIED, check(t, "0.30", "0.05", 0));
    CHECK_EQUAL(t, 3, refusal.check);
}

static void an_analysis_reads_its_fields_only(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(t, NULL, NULL);
    sotto_query_policy class;

    CHECK_OK(t, sotto_policy_query_class(&class, policy, "com.example.keyboard-ngrams", &t->arena,
                                         &t->err));
    CHECK_EQUAL(t, 3, class.field_count);
    CHECK_EQUAL(t, 0, class.query_count);
    CHECK_EQUAL(t, 0, class.non_sensitive_count); /* locale is in no stream */
    CHECK(t, strcmp(class.fields[0].field, "ngram") == 0);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_policy_query_class(&class, policy, "com.example", &t->arena, &t->err));
}

static void listed_queries_are_all_there_is(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(t, "\"reports\": 1,\n      \"fields\"",
                                                   "\"reports\": 1, \"queries\": [\"SELECT 1\"], "
                                                   "\"fields\"");
    sotto_query_policy class;

    CHECK_OK(t, sotto_policy_query_class(&class, policy, "com.example.keyboard-ngrams", &t->arena,
                                         &t->err));
    CHECK_EQUAL(t, 1, class.query_count);
    CHECK_EQUAL(t, 0, class.field_count);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_example_may_be_answered_once),   CASE(a_field_has_the_last_word_on_its_epsilon),
        CASE(the_cohort_s_epsilon_is_recomputed), CASE(an_analysis_reads_its_fields_only),
        CASE(listed_queries_are_all_there_is),
    };

    return RUN_TESTS(argc, argv, cases);
}
