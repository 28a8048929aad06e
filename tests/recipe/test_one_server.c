/* What lint asks of a recipe that one server adds up. */
#include "recipe/claim.h"
#include "recipe/one_server.h"
#include "recipe/task.h"
#include "sotto/lint.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

static sotto_mistakes mistakes;

static sotto_status lint(sotto_test *t, const sotto_recipe *recipe)
{
    sotto_recipe_claim claim;

    memset(&mistakes, 0, sizeof mistakes);
    return sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &t->err);
}

/* The example with one server, whose devices may lie (5%) or drop out (10%), and this `privacy`. */
static const sotto_recipe *with_one_server(sotto_test *t, const char *more, bool randomised)
{
    const char *text = (const char *)sotto_test_recipe_text_trusting(t, SOTTO_TRUST_FLAMINGO).data;
    const sotto_recipe *recipe;
    char privacy[160];

    (void)snprintf(privacy, sizeof privacy, "\"min_cohort\": 40000%s", more);
    text = (const char *)sotto_test_replace(t, text, "\"min_cohort\": 40000", privacy).data;
    text = (const char *)sotto_test_replace(t, text, "0.30", "2.0").data;
    if (!randomised)
        text = (const char *)sotto_test_replace(
                   t, text,
                   "\"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", "
                   "\"epsilon_local\": 2.0},",
                   "")
                   .data;
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &t->arena, &mistakes,
                                  &t->err));
    return recipe;
}

static void one_server_needs_noise_in_shares(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_DENIED, lint(t, with_one_server(t, "", true)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.by", "no amplification"));
    CHECK_OK(t, lint(t, with_one_server(t, ", \"by\": \"shares\", \"sigma\": 100, \"honest\": 0.85",
                                        false)));
}

static void noise_counts_on_those_who_stay_and_are_honest(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_DENIED,
                 lint(t, with_one_server(
                             t, ", \"by\": \"shares\", \"sigma\": 100, \"honest\": 0.851", false)));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.honest", "must stay"));
}

static const sotto_recipe *with_cohort(sotto_test *t, const char *cohort)
{
    const sotto_recipe *recipe =
        with_one_server(t, ", \"by\": \"shares\", \"sigma\": 100, \"honest\": 0.85", false);
    const char *text = (const char *)sotto_test_replace(t, (const char *)recipe->text.data,
                                                        "\"cohort\": 42000", cohort)
                           .data;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &t->arena, &mistakes,
                                  &t->err));
    return recipe;
}

static void all_liars_of_a_cohort_may_be_online(sotto_test *t)
{
    sotto_one_server server;

    /* 0.05 of 42,000: 2,101, since a double that says 2,100 may be a little more. */
    CHECK(t, sotto_recipe_one_server(&server, with_cohort(t, "\"cohort\": 42000")));
    CHECK_EQUAL(t, 42000, server.cohort);
    CHECK_EQUAL(t, 2101, sotto_one_server_liars(&server));
    /* 0.85 * 40,000 = 34,000 parts are counted on. */
    CHECK_STATUS(t, SOTTO_DENIED, lint(t, with_cohort(t, "\"cohort\": 120000")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.honest", "33999 are sure"));
    CHECK_OK(t, lint(t, with_cohort(t, "\"cohort\": 119980")));
}

static void a_cohort_holds_the_smallest_sum(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_DENIED, lint(t, with_cohort(t, "\"cohort\": 39999")));
    CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.cohort", "a sum needs 40000"));
}

/* As a person may well write it, who knows these keys from recipes of two servers. */
static void one_server_hides_nobody(sotto_test *t)
{
    const sotto_recipe *recipe = with_cohort(t, "\"cohort\": 42000");
    const char *text =
        (const char *)sotto_test_replace(t, (const char *)recipe->text.data, "\"schedule\":",
                                         "\"anonymity\": {\"relay\": \"relay\", \"gateway\": "
                                         "\"gateway\"}, \"schedule\":")
            .data;
    sotto_recipe_claim claim;
    char said[8192];
    sotto_buf out = sotto_buf_over(said, sizeof said - 1);

    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &t->arena, &mistakes,
                                  &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, lint(t, recipe));
    CHECK(t, sotto_test_has_mistake(&mistakes, "anonymity", "flamingo can't hide who takes part"));
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, recipe->honest, &t->err));
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    said[out.len] = 0;
    CHECK(t, !strstr(said, "relay") && !strstr(said, "(null)"));
}

static bool warns(const char *path, const char *what)
{
    for (size_t i = 0; i < mistakes.count; i++)
        if (mistakes.items[i].severity == SOTTO_WARNING &&
            strcmp(mistakes.items[i].path, path) == 0 && strstr(mistakes.items[i].what, what))
            return true;
    return false;
}

/* times: the same with so many rounds, of which any may be bad. */
static sotto_one_server_odds judged_draws_of(sotto_test *t, const char *old, const char *new,
                                             double times)
{
    static const char privacy[] = ", \"by\": \"shares\", \"sigma\": 100, \"honest\": 0.85";
    const sotto_recipe *recipe = with_one_server(t, privacy, false);
    const sotto_bytes text = sotto_test_replace(t, (const char *)recipe->text.data, old, new);
    sotto_one_server_odds odds;
    sotto_one_server server;

    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, lint(t, recipe));
    CHECK(t, sotto_recipe_one_server(&server, recipe));
    sotto_one_server_odds_of(&odds, recipe, &server, times, false);
    return odds;
}

static sotto_one_server_odds judged_draws(sotto_test *t, const char *old, const char *new)
{
    return judged_draws_of(t, old, new, 1);
}

/* The example's committee of 126 and its degree of 68 fit 5% of liars; 60 members do not, nor does a degree of 40. */
static void draws_above_delta_are_told(sotto_test *t)
{
    const sotto_one_server_odds right = judged_draws(t, "\"degree\": 68", "\"degree\": 70");

    CHECK(t, right.committee < 1e-11 && right.cut_off < 1e-6);
    const sotto_one_server_odds often = judged_draws_of(t, "\"degree\": 68", "\"degree\": 70", 50);
    CHECK(t, often.committee > 49 * right.committee && often.cut_off > 49 * right.cut_off);
    CHECK(t, !warns("aggregation.decryptors", "") && !warns("aggregation.graph", ""));
    /* The server picks the number of a statistic's round, and with it the graph. */
    sotto_one_server_odds picked;
    sotto_one_server server;
    const sotto_recipe *recipe =
        with_one_server(t, ", \"by\": \"shares\", \"sigma\": 100, \"honest\": 0.85", false);
    CHECK(t, sotto_recipe_one_server(&server, recipe) && server.epoch_rounds >= 10);
    sotto_one_server_odds_of(&picked, recipe, &server, 1, false);
    const double graph = picked.cut_off, committee = picked.committee;
    sotto_one_server_odds_of(&picked, recipe, &server, 1, true);
    CHECK(t, picked.cut_off > 0.99 * (double)server.epoch_rounds * graph);
    CHECK(t, picked.committee == committee);
    const sotto_one_server_odds small = judged_draws(t, "\"count\": 126", "\"count\": 60");
    CHECK(t, small.committee > 1e-6 && small.tolerated == 13);
    CHECK(t, warns("aggregation.decryptors", "more liars") && !warns("aggregation.graph", ""));
    const sotto_one_server_odds thin =
        judged_draws(t, "\"degree\": 68, \"neighbours\": 27", "\"degree\": 40, \"neighbours\": 8");
    CHECK(t, thin.cut_off > 1e-6);
    CHECK(t, warns("aggregation.graph", "cut a client off"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_server_needs_noise_in_shares),
        CASE(noise_counts_on_those_who_stay_and_are_honest),
        CASE(all_liars_of_a_cohort_may_be_online),
        CASE(a_cohort_holds_the_smallest_sum),
        CASE(one_server_hides_nobody),
        CASE(draws_above_delta_are_told),
    };
    return RUN_TESTS(argc, argv, cases);
}
