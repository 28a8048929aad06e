/* Judging recipes: by their own numbers, and by the policy, which no recipe can widen. */
#include "recipe/participation.h"
#include "recipe/policy_tables.h"
#include "support/recipes.h"

#include <stdio.h>
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
    for (size_t i = 0; i < mistakes.count; i++)
        CHECK(t, mistakes.items[i].line > 0 &&
                     (*mistakes.items[i].accepted || mistakes.items[i].severity == SOTTO_WARNING));
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

static const char POISSON[] = "{\"type\": \"poisson\", \"rate\": 0.1}";
#define SLOTS "\"start\": \"2026-11-20T00:00:00Z\", \"slot\": \"1h\""
#define CHECK_IN(variant, more)                                                                    \
    "{\"type\": \"check-in\", \"variant\": \"" variant "\", \"window\": 100, " SLOTS more "}"

/* Of a million devices the first slot of 25 has 40,000, of 26 it has 38,462. */
static void a_round_of_donations_has_the_reports_of_a_slot(sotto_test *t)
{
    CHECK_OK(
        t,
        lint(t, sotto_test_recipe(t, POISSON, "{\"type\": \"donation\", \"slots\": 25, " SLOTS "}"),
             NULL));
    check_refused(t, POISSON, "{\"type\": \"donation\", \"slots\": 26, " SLOTS "}",
                  "privacy.min_cohort", "in a slot at most");
}

static void check_ins_that_no_theorem_covers_are_refused(sotto_test *t)
{
    const sotto_recipe *sliding = sotto_test_recipe(t, POISSON, CHECK_IN("sliding", ""));
    sotto_task task;

    CHECK_OK(t, lint(t, sotto_test_recipe(t, POISSON, CHECK_IN("averaged", "")), NULL));
    CHECK_OK(t, lint(t, sotto_test_recipe(t, POISSON, CHECK_IN("fixed", "")), NULL));
    check_refused(t, POISSON, CHECK_IN("sliding", ""), "participation",
                  "no theorem covers sliding");
    check_refused(t, POISSON, CHECK_IN("fixed", ", \"probability\": 0.5"), "participation",
                  "no theorem covers check-ins below probability 1");
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_task_compile(&task, sliding, sotto_test_parties(t, NULL, NULL), 0, &t->arena,
                                    &t->err));
    CHECK_REASON(t, "no theorem covers sliding");
}

/* A device draws once for all recipes of an analysis that have slots. */
static void recipes_of_an_analysis_have_the_same_slots(sotto_test *t)
{
    static const struct {
        const char *other, *key;
    } rows[] = {
        {CHECK_IN("averaged", ""), NULL},
        {CHECK_IN("averaged", ", \"available\": \"1h\""), NULL},
        {CHECK_IN("fixed", ""), "participation.type"},
        {"{\"type\": \"poisson\", \"rate\": 0.1}", "participation.type"},
        {"{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 101, " SLOTS "}",
         "participation.window"},
        {"{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 100, \"start\": "
         "\"2026-11-20T00:00:00Z\", \"slot\": \"2h\"}",
         "participation.slot"},
        {"{\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 100, \"start\": "
         "\"2026-11-20T01:00:00Z\", \"slot\": \"1h\"}",
         "participation.start"},
    };
    const sotto_recipe *recipe = sotto_test_recipe(t, POISSON, CHECK_IN("averaged", ""));

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const sotto_recipe *other = sotto_test_recipe(t, POISSON, rows[i].other);

        memset(&mistakes, 0, sizeof mistakes);
        sotto_participation_lint(recipe, other, &mistakes);
        CHECK_EQUAL(t, rows[i].key != NULL, mistakes.errors);
        CHECK(t, !rows[i].key ||
                     sotto_test_has_mistake(&mistakes, rows[i].key, "of the same analysis"));
    }
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

static void cohorts_are_by_non_sensitive_fields(sotto_test *t)
{
    check_refused(t, "\"locale\"", "\"age\"", "cohorts.age", "non-sensitive");
}

static void targets_are_by_non_sensitive_fields(sotto_test *t)
{
    const sotto_recipe *aimed =
        sotto_test_recipe(t, "\"encode\"", "\"targeting\": {\"age\": [\"90\"]}, \"encode\"");
    const sotto_policy *policy =
        sotto_test_policy(t, "\"min_cohort\"", "\"targeting_floor\": 0, \"min_cohort\"");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, aimed, policy));
    CHECK(t, sotto_test_has_mistake(&mistakes, "targeting.age", "non-sensitive"));
    CHECK_EQUAL(t, 1, mistakes.errors);
}

/* An analysis's own list stands in place of the policy's, which holds for the others. */
static void non_sensitive_fields_are_those_of_the_analysis(sotto_test *t)
{
    const sotto_policy *without = sotto_test_policy(
        t, "\"fields\": [\"keyboard_ngrams.ngram\",",
        "\"non_sensitive\": [\"region\"], \"fields\": [\"keyboard_ngrams.ngram\",");
    const sotto_policy *with = sotto_test_policy(
        t, "\"fields\": [\"keyboard_ngrams.ngram\",",
        "\"non_sensitive\": [\"locale\", \"keyboard_ngrams.age\", \"keyboard_ngrams.hour\"],"
        " \"fields\": [\"keyboard_ngrams.hour\", \"keyboard_ngrams.ngram\",");
    const char *analysis = "com.example.keyboard-ngrams";
    sotto_query_policy class;

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, sotto_test_recipe(t, NULL, NULL), without));
    CHECK(t, sotto_test_has_mistake(&mistakes, "cohorts.locale", "non-sensitive"));
    CHECK(t, sotto_policy_non_sensitive(without, analysis, "region"));
    CHECK(t, sotto_policy_non_sensitive(without, "another", "locale"));
    CHECK_OK(t, lint(t, sotto_test_recipe(t, NULL, NULL), with));
    /* Of what its queries read, no budget is kept for these; one without a budget may be read for that reason. */
    CHECK_OK(t, sotto_policy_query_class(&class, with, analysis, &t->arena, &t->err));
    CHECK_EQUAL(t, 2, class.non_sensitive_count);
    CHECK(t, strcmp(class.non_sensitive[0].field, "age") == 0);
    CHECK_EQUAL(t, 4, class.field_count);
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
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.adjacency", "a device's budgets count"));
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

/* Leader and helper issue; a policy with one of them is not enough. */
static void arc_says_what_devices_need(sotto_test *t)
{
    static const char one[] =
        "\"issuers\": {\"key:leader-2026a\": \"00112233445566778899aabbccddeeff\"}, \"min_cohort\"",
                      both[] =
                          "\"issuers\": {\"key:leader-2026a\": \"00112233445566778899aabbccddeeff"
                          "\", \"key:helper-2026a\": \"ffeeddccbbaa99887766554433221100\"}, "
                          "\"min_cohort\"";
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "\"population\"",
                          "\"anonymity\": {\"tokens\": \"arc\", \"attester\": \"a\"}, "
                          "\"population\"");

    CHECK_OK(t, lint(t, recipe, NULL));
    CHECK(t, sotto_test_has_mistake(&mistakes, "anonymity.tokens", "libsotto-device-full"));
    CHECK_OK(t, lint(t, recipe, sotto_test_policy(t, "\"min_cohort\"", one)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "anonymity.tokens", "not both issuers"));
    CHECK_OK(t, lint(t, recipe, sotto_test_policy(t, "\"min_cohort\"", both)));
    CHECK(t, !sotto_test_has_mistake(&mistakes, "anonymity.tokens", "not both issuers"));
}

static void a_target_is_sampled_as_the_policy_says(sotto_test *t)
{
    static const char target[] = "\"targeting\": {\"region\": [\"north\"]}, \"encode\"";
    const sotto_recipe *aimed = sotto_test_recipe(t, "\"encode\"", target);
    const sotto_policy *
        lax =
           sotto_test_policy(t, "[\"locale\"]", "[\"locale\", \"region\"], \"targeting_floor\": 0"),
       *policy = sotto_test_policy(
           t, "[\"locale\"]",
           "[\"locale\", \"region\"], \"targeting_floor\": 0, \"targeting_rate\": 0.05");

    CHECK_OK(t, lint(t, aimed, lax));
    CHECK_STATUS(t, SOTTO_DENIED, lint(t, aimed, policy));
    CHECK(t, sotto_test_has_mistake(&mistakes, "targeting",
                                    "with chance 0.1; the policy allows 0.05"));
    CHECK_OK(t, lint(t, sotto_test_recipe(t, NULL, NULL), policy)); /* everybody is asked */
    sotto_recipe rare = *aimed;
    rare.participation.rate = 0.05;
    CHECK_OK(t, lint(t, &rare, policy));
    rare.participation.type = SOTTO_CHECK_IN_AVERAGED_WINDOW; /* each device once */
    (void)!lint(t, &rare, policy);
    CHECK(t, sotto_test_has_mistake(&mistakes, "targeting", "with chance 1;"));
}

/* A log that the policy does not name: no device of it would take the recipe. */
static void a_log_is_one_of_the_policy_s(sotto_test *t)
{
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "\"population\"", "\"anonymity\": {\"log\": \"l\"}, \"population\"");

    CHECK_OK(t, lint(t, recipe, NULL));
    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "anonymity.log", "the policy names no log"));
}

/* Devices take the recipe, and no list of keys of that issuer: they would never have a token. */
static void an_issuer_that_the_policy_lacks_is_pointed_out(sotto_test *t)
{
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "\"population\"",
                          "\"anonymity\": {\"tokens\": \"type-2\", \"attester\": \"a\", "
                          "\"issuer\": \"i\"}, \"population\"");
    const sotto_policy *policy = sotto_test_policy(
        t, "\"min_cohort\"",
        "\"issuers\": {\"i\": \"00112233445566778899aabbccddeeff\"}, \"min_cohort\"");

    CHECK_OK(t, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "anonymity.issuer", "no issuer of the policy"));
    CHECK_OK(t, lint(t, recipe, policy));
    CHECK(t, !sotto_test_has_mistake(&mistakes, "anonymity.issuer", "no issuer of the policy"));
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
    CHECK_OK(t, lint(t,
                     sotto_test_recipe(t, "SELECT age, ngram FROM keyboard_ngrams",
                                       "SELECT * FROM (SELECT age, ngram FROM keyboard_ngrams)"),
                     NULL));
    CHECK_EQUAL(t, 0, mistakes.count);
}

static void a_column_that_the_query_lacks_is_refused(sotto_test *t)
{
    check_refused(t, "SELECT age, ngram", "SELECT ngram", "encode.age", "no column of this name");
    check_refused(t, "SELECT age, ngram", "SELECT age AS years, ngram", "encode.age",
                  "no column of this name");
    CHECK_OK(t, lint(t, sotto_test_recipe(t, "SELECT age, ngram", "SELECT AGE, ngram"), NULL));
    /* Only SQLite knows what this column is called. */
    check_refused(t, "SELECT age, ngram", "SELECT abs(age), ngram", "encode.age",
                  "no column of this name");
    check_refused(t, "SELECT age, ngram", "SELECT age, ngram, perplexity AS age", "encode.age",
                  "more than one column");
}

/* ---- the query, as devices compile it ------------------------------------------------------------------ */

static void check_query(sotto_test *t, const char *query, const char *what)
{
    CHECK_STATUS(
        t, SOTTO_DENIED,
        lint(t, sotto_test_recipe(t, "SELECT age, ngram FROM keyboard_ngrams", query), NULL));
    CHECK(t, sotto_test_has_mistake(&mistakes, "query", what));
    CHECK_EQUAL(t, 1, mistakes.errors);
}

static void what_every_device_refuses_lint_refuses_without_streams(sotto_test *t)
{
    check_query(t, "SELEC age, ngram FROM keyboard_ngrams", "syntax error");
    check_query(t, "SELECT age, ngram FROM keyboard_ngrams; DROP TABLE x", "more than one");
    check_query(t, "SELECT age, ngram, x FROM a m JOIN b n ON n.x; SELECT 1", "more than one");
    check_query(t, "DROP TABLE keyboard_ngrams", "not a query");
    check_query(t, "SELECT age, ngram FROM k INDEXED BY i", "INDEXED BY");
    check_query(t, "SELECT age, ngram FROM a NATURAL JOIN b", "NATURAL");
    check_query(t, "SELECT * FROM k", "identifies an event");
    check_query(t, "SELECT random() AS age, ngram FROM k", "not an allowed function");
    check_query(t, "SELECT age, ngram FROM sotto_streams", "no such table");
    check_query(t, "SELECT age, ngram, \\\"no name\\\" FROM k", "no such column");
    check_query(t, "SELECT age, ngram FROM temp.k", "no such table");
    check_query(t, "SELECT x.age, ngram FROM k", "no such column");
}

static void what_some_device_may_answer_passes_without_streams(sotto_test *t)
{
    static const char *const queries[] = {
        "SELECT a.age, b.ngram FROM k a JOIN l b ON a.x = b.y",
        "SELECT Age, NGRAM FROM Main.K;",
        "SELECT age, ngram FROM k, l WHERE l.z > k.y",
        "SELECT age, ngram FROM k UNION SELECT pulse, place FROM health",
        "WITH q AS (SELECT age, ngram FROM k) SELECT age, ngram FROM q",
        "SELECT main.k.age, ngram FROM k WHERE EXISTS (SELECT 1 FROM m WHERE m.a = k.b)",
    };

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        CHECK_OK(t,
                 lint(t, sotto_test_recipe(t, "SELECT age, ngram FROM keyboard_ngrams", queries[i]),
                      NULL));
}

static void the_policy_forbids_fields_without_streams_too(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(t, NULL, NULL);

    CHECK_STATUS(t, SOTTO_DENIED,
                 lint(t,
                      sotto_test_recipe(t, "SELECT age, ngram FROM keyboard_ngrams",
                                        "SELECT secret AS age, ngram FROM passwords"),
                      policy));
    CHECK(t, sotto_test_has_mistake(&mistakes, "query", "does not allow this field"));
}

static void an_interval_reads_the_time_of_events(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(
        t, "\"pick\"", "\"interval\": {\"type\": \"since-last-answer\"}, \"pick\"");
    const sotto_policy *timed = sotto_test_policy(
        t, "\"non_sensitive\": [", "\"non_sensitive\": [\"keyboard_ngrams.event_time\", ");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t,
          sotto_test_has_mistake(&mistakes, "interval", "event_time: the policy does not allow"));
    CHECK_STATUS(t, SOTTO_DENIED,
                 lint(t, recipe, timed)); /* it needs no budget, and is not allowed */
}

static sotto_status judge(sotto_test *t, sotto_recipe_verdict *verdict, const char *query,
                          const char *streams)
{
    const sotto_streams *read;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_streams_read(&read, sotto_bytes_of(streams, strlen(streams)), &t->arena,
                                   &mistakes, &t->err));
    return sotto_recipe_judge(verdict, &claim,
                              sotto_test_recipe(t, "SELECT age, ngram FROM keyboard_ngrams", query),
                              sotto_test_policy(t, NULL, NULL), read, &mistakes, &t->err);
}

static void streams_decide_about_tables_and_columns(sotto_test *t)
{
    static sotto_recipe_verdict verdict;

    CHECK_OK(t,
             judge(t, &verdict, "SELECT age, ngram FROM keyboard_ngrams", sotto_streams_example()));
    CHECK(t, verdict.accepts && verdict.streams_known && verdict.policy_known);
    CHECK_EQUAL(t, 2, verdict.read_count);
    CHECK(t, strcmp(verdict.reads[0], "keyboard_ngrams.age") == 0);
    CHECK_STATUS(t, SOTTO_DENIED,
                 judge(t, &verdict, "SELECT age, ngram FROM keyboard_ngrams", "{}"));
    CHECK(t, !verdict.accepts && strstr(verdict.why, "no such table") != NULL);
    CHECK_STATUS(t, SOTTO_DENIED,
                 judge(t, &verdict,
                       "SELECT pulse AS age, ngram FROM "
                       "keyboard_ngrams",
                       sotto_streams_example()));
    CHECK(t, strstr(verdict.why, "no such column") != NULL);
}

/* The example's budgets would do for it, if a device could send one report. */
static void a_recipe_that_no_new_device_can_pay_for_is_refused(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);

    CHECK_STATUS(t, SOTTO_DENIED,
                 lint(t, recipe, sotto_test_policy(t, "\"reports\": 1", "\"reports\": 0")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy", "0 of 0 reports"));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        lint(t, recipe, sotto_test_policy(t, "\"epsilon_local\": 2,", "\"epsilon_local\": 1.9,")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy", "one report may cost"));
}

static void importance_sampling_is_refused_as_devices_refuse_it(sotto_test *t)
{
    const sotto_recipe *recipe =
        sotto_test_recipe(t, "{\"type\": \"poisson\", \"rate\": 0.1}",
                          "{\"type\": \"importance\", \"rate_default\": 0.1, \"rate_other\": 0.4}");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe, sotto_test_policy(t, NULL, NULL)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "participation", "be seen"));
    bool refused = false; /* not only warned of, as it is without a policy */
    for (size_t i = 0; i < mistakes.count; i++)
        refused = refused || (mistakes.items[i].severity == SOTTO_MISTAKE &&
                              strcmp(mistakes.items[i].path, "participation") == 0);
    CHECK(t, refused);
}

static void a_policy_bounds_the_bytes_of_a_report(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);

    CHECK_OK(t, lint(t, recipe,
                     sotto_test_policy(t, "\"honest\": 0.5",
                                       "\"honest\": 0.5, \"report_bytes\": 5880")));
    CHECK_EQUAL(t, 5880, claim.report_bytes);
    CHECK_STATUS(
        t, SOTTO_DENIED,
        lint(t, recipe,
             sotto_test_policy(t, "\"honest\": 0.5", "\"honest\": 0.5, \"report_bytes\": 5879")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "encode", "longer than the policy allows"));
}

static const sotto_recipe *with_dummies(sotto_test *t, const char *participation,
                                        const char *dummies)
{
    static sotto_mistakes none;
    sotto_bytes text = sotto_test_recipe_text(t, POISSON, participation);
    const sotto_recipe *recipe;

    text = sotto_test_replace(t, (const char *)text.data, "\"population\"", dummies);
    none = (sotto_mistakes){0};
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &none, &t->err));
    return recipe;
}

/* As devices judge it, which draw once for a recipe's versions and once for an analysis with slots. */
static void what_is_drawn_for_once_has_one_rate(sotto_test *t)
{
    static const char none[] = "\"population\"", some[] = "\"dummies\": 0.01, \"population\"",
                      slots[] = CHECK_IN("averaged", ""),
                      other[] = "{\"type\": \"poisson\", \"rate\": 0.2}";

    memset(&mistakes, 0, sizeof mistakes);
    sotto_participation_lint(with_dummies(t, POISSON, none), with_dummies(t, POISSON, none),
                             &mistakes);
    CHECK_EQUAL(t, 0, mistakes.errors);
    sotto_participation_lint(with_dummies(t, POISSON, none), with_dummies(t, other, none),
                             &mistakes);
    CHECK(t, sotto_test_has_mistake(&mistakes, "participation.rate", "draws once for both"));
    CHECK_EQUAL(t, 1, mistakes.errors);
    sotto_participation_lint(with_dummies(t, slots, none), with_dummies(t, slots, some), &mistakes);
    CHECK(t, sotto_test_has_mistake(&mistakes, "dummies", "draws once for both"));
    CHECK_EQUAL(t, 2, mistakes.errors);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_example_passes_its_policy),
        CASE(a_claim_below_the_truth_is_refused),
        CASE(a_claim_depends_on_who_is_honest),
        CASE(a_cohort_that_can_not_be_reached_is_refused),
        CASE(a_round_of_donations_has_the_reports_of_a_slot),
        CASE(check_ins_that_no_theorem_covers_are_refused),
        CASE(recipes_of_an_analysis_have_the_same_slots),
        CASE(unknown_analyses_are_refused),
        CASE(a_recipe_s_cohort_is_at_least_the_policy_s),
        CASE(a_recipe_costs_at_most_the_whole_analysis),
        CASE(a_recipe_s_delta_is_at_most_the_analysis_s),
        CASE(ways_to_add_up_are_the_policy_s_choice),
        CASE(cohorts_are_by_non_sensitive_fields),
        CASE(targets_are_by_non_sensitive_fields),
        CASE(non_sensitive_fields_are_those_of_the_analysis),
        CASE(a_list_of_queries_is_exact),
        CASE(budgets_count_replacements_alone),
        CASE(silence_needs_the_policy_s_word),
        CASE(arc_says_what_devices_need),
        CASE(a_log_is_one_of_the_policy_s),
        CASE(an_issuer_that_the_policy_lacks_is_pointed_out),
        CASE(a_target_is_sampled_as_the_policy_says),
        CASE(biased_answers_are_pointed_out),
        CASE(a_column_that_is_not_encoded_is_pointed_out),
        CASE(a_column_that_the_query_lacks_is_refused),
        CASE(what_every_device_refuses_lint_refuses_without_streams),
        CASE(what_some_device_may_answer_passes_without_streams),
        CASE(the_policy_forbids_fields_without_streams_too),
        CASE(an_interval_reads_the_time_of_events),
        CASE(streams_decide_about_tables_and_columns),
        CASE(a_recipe_that_no_new_device_can_pay_for_is_refused),
        CASE(importance_sampling_is_refused_as_devices_refuse_it),
        CASE(a_policy_bounds_the_bytes_of_a_report),
        CASE(what_is_drawn_for_once_has_one_rate),
    };

    return RUN_TESTS(argc, argv, cases);
}
