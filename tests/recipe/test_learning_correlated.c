/* Learning recipes whose servers' noise is correlated over rounds: what they may be, what they claim, and what a policy says to it. */
#include "account/gauss/rdp.h"
#include "noise/tree.h"
#include "recipe/learning_correlated.h"
#include "support/judged.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FRESH "\"by\": \"servers\", \"multiplier\": 8"
#define TREE  FRESH ", \"correlation\": {\"type\": \"tree\", \"restart\": 16}"
#define KEPT  "\"participations\": 4, \"separation\": 16"

static const char text[] =
    "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
    " \"learn\": {\"model\": {\"type\": \"mlp\", \"parameters\": 400, \"init\":"
    " \"0000000000000000000000000000000000000000000000000000000000000000\"},"
    " \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 100},"
    " \"local\": {\"batch\": 20, \"rate\": 0.1}, \"update\": {\"clip\": 0.5, \"scale\": 32768},"
    " \"server\": {}}, \"rounds\": {\"count\": 64, \"every\": \"1h\", \"goal\": 1000,"
    " \"largest\": 12000, " KEPT "},"
    " \"participation\": {\"type\": \"poisson\", \"rate\": 0.03},"
    " \"privacy\": {" TREE ", \"adjacency\": \"replacement\","
    " \"epsilon\": 7, \"delta\": 1e-6, \"min_cohort\": 1000},"
    " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\":"
    " \"key:helper\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 1.2}},"
    " \"schedule\": {\"opens\": \"2026-12-01T00:00:00Z\", \"closes\": \"2026-12-08T00:00:00Z\","
    " \"precision\": \"1h\"}, \"population\": 200000}";

static sotto_test_judged *judge(sotto_test *t, const char *old, const char *new)
{
    return sotto_test_judge(t, sotto_test_replace(t, text, old, new), NULL);
}

static void it_is_read_and_says_what_it_asks(sotto_test *t)
{
    const sotto_test_judged *j = judge(t, NULL, NULL);
    sotto_buf out = sotto_test_buf(t, 8192);

    CHECK_OK(t, j->status);
    CHECK(t, j->verdict.accepts);
    CHECK_EQUAL(t, 16, j->learning->restart);
    CHECK(t, sotto_learning_correlated(j->learning) && !sotto_learning_correlated(NULL));
    CHECK_EQUAL(t, 9, sotto_learning_most_nodes(j->learning));
    CHECK(t, sotto_test_mistake(j, "privacy.correlation", SOTTO_WARNING) != NULL);
    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < 8192 ? out.len : 8191] = 0;
    CHECK(t, strstr((char *)out.data, "keep the noise of all rounds secret") != NULL);
    CHECK(t, strstr((char *)out.data, "begins anew after 16 rounds") != NULL);
    CHECK(t, strstr((char *)out.data, "up to 5 times") != NULL);
}

static void each_mistake_names_its_key(sotto_test *t)
{
    static const struct {
        const char *old, *new, *path, *what;
    } cases[] = {
        {"\"by\": \"servers\"", "\"by\": \"shares\"", "privacy.by", "devices of a round"},
        {"\"server\": {}", "\"server\": {\"optimizer\": \"adam\"}", "learn.server.optimizer",
         "cancel"},
        {"\"scale\": 32768", "\"scale\": 32768, \"projection\": {\"dimension\": 50}",
         "learn.update.projection", "another matrix"},
        {KEPT, KEPT ", \"on_no_turn\": \"zeros\"", "rounds.on_no_turn", "gains nothing"},
        {"\"restart\": 16", "\"restart\": 65", "privacy.correlation.restart", "more rounds"},
        {"\"restart\": 16", "\"restart\": 1", "privacy.correlation.restart", ""},
        {"\"restart\": 16", "\"restart\": 65537", "privacy.correlation.restart", ""},
        {", \"restart\": 16", "", "privacy.correlation.restart", "missing"},
        {"\"type\": \"tree\"", "\"type\": \"blt\"", "privacy.correlation.type", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        sotto_test_check_mistake(t, judge(t, cases[i].old, cases[i].new), cases[i].path,
                                 cases[i].what);
    CHECK(t,
          judge(t, "\"server\": {}", "\"server\": {\"optimizer\": \"momentum\"}")->verdict.accepts);
    CHECK(t, judge(t, "\"restart\": 16", "\"restart\": 64")->status != SOTTO_MALFORMED);
}

/* A device that draws one round gains by drawing in secret, which is priced for fresh noise alone. */
static void a_device_is_drawn_anew_in_each_round(sotto_test *t)
{
    const sotto_bytes once =
        sotto_test_replace(t, text, KEPT, "\"participations\": 1, \"separation\": 1");

    sotto_test_check_mistake(
        t,
        sotto_test_judge(t,
                         sotto_test_replace(t, (const char *)once.data,
                                            "\"type\": \"poisson\", \"rate\": 0.03",
                                            "\"type\": \"donation\", \"rate\": 1, \"slots\": 64, "
                                            "\"start\": \"2026-12-01T00:00:00Z\", \"slot\": "
                                            "\"1h\""),
                         NULL),
        "participation.type", "in secret");
}

static double rho_of(sotto_test *t, const char *old, const char *new)
{
    return judge(t, old, new)->claim.rho;
}

/* All participations together cost the squared sensitivity of the nodes that have them. */
static void a_participation_costs_the_nodes_that_have_it(sotto_test *t)
{
    const sotto_test_judged *tree = judge(t, NULL, NULL), *fresh = judge(t, TREE, FRESH);

    CHECK_EQUAL(t, 1, fresh->claim.tree_price);
    CHECK_EQUAL(t, 5, tree->claim.tree_price);
    CHECK(t, tree->claim.rho >= 5 * fresh->claim.rho);
    CHECK_NEAR(t, 5 * fresh->claim.rho, tree->claim.rho, 1e-9);
    /* Rounded up by two units in the last place, and no product of doubles is off by more than half of one. */
    CHECK(t, tree->claim.rho > nextafter(5 * fresh->claim.rho, INFINITY));
    CHECK_NEAR(t, fresh->claim.sigma, tree->claim.sigma, 0);
    CHECK(t, strstr(tree->claim.theorem, "Kairouz et al. 2021") != NULL);
    CHECK(t, tree->claim.epsilon > 2 * fresh->claim.epsilon && tree->claim.epsilon < 7);
    /* Four of a device are in the largest node, and one more often than a separation of 16 has them. */
    CHECK_NEAR(t, (double)sotto_tree_price(16, 4, 4) * fresh->claim.rho,
               rho_of(t, "\"separation\": 16", "\"separation\": 4"), 1e-9);
    CHECK_EQUAL(t, 1 + 1 + 1 + 2 + 4, sotto_tree_price(16, 4, 4));
    CHECK_NEAR(t, 5 * fresh->claim.rho, rho_of(t, "\"participations\": 4", "\"participations\": 1"),
               1e-9);
}

/* 400 numbers in 4 participations of 5 nodes each: 8000 draws, each within 2^-100 of its law. What they cost of delta is paid for 1600 of
 * them, and not for all. */
static void draws_of_all_nodes_are_paid_for(sotto_test *t)
{
    static const char old[] = TREE ", \"adjacency\": \"replacement\","
                                   " \"epsilon\": 7, \"delta\": 1e-6",
                      less[] =
                          "\"by\": \"servers\", \"multiplier\": 3, \"correlation\": {\"type\": "
                          "\"tree\", \"restart\": 16}, \"adjacency\": \"replacement\","
                          " \"epsilon\": 7, \"delta\": 1e-12";
    const sotto_learning_claim *claim = &judge(t, old, less)->claim;
    const double paid = 0.9e-3 * 1e-12, each = 0x1p-100;
    sotto_bound eps;

    CHECK_OK(t, sotto_zcdp_epsilon(&eps, 4 * claim->rho, log(1e-12) - 1e-3, &t->err));
    CHECK(t, (1 + exp(eps.high)) * 4 * 400 * each < paid);
    CHECK(t, (1 + exp(eps.high)) * 4 * 5 * 400 * each > paid);
    CHECK(t, isinf(claim->epsilon));
    CHECK(t, strcmp(claim->theorem, "none: the noise is too little for any") == 0);
}

/* What would be claimed of the same recipe with fresh noise is not claimed of noise that later rounds show more of. */
static void no_gain_by_sampling_is_claimed(sotto_test *t)
{
    static const char hidden[] =
        "\"anonymity\": {\"relay\": \"r\", \"gateway\": \"g\", \"tokens\": "
        "\"type-2\", \"issuer\": \"i\", \"attester\": \"a\", \"log\": "
        "\"main\"}, \"schedule\"";
    const sotto_bytes open = sotto_test_replace(t, text, KEPT, "\"participations\": 64"),
                      tree = sotto_test_replace(t, (const char *)open.data, "\"schedule\"", hidden),
                      fresh = sotto_test_replace(t, (const char *)tree.data, TREE, FRESH);
    sotto_test_judged *j = sotto_test_judge(t, fresh, NULL);

    CHECK(t, isfinite(j->claim.sampled_epsilon));
    j = sotto_test_judge(t, tree, NULL);
    CHECK(t, isinf(j->claim.sampled_epsilon));
    CHECK(t, strstr(j->claim.unsampled_why, "correlated over rounds") != NULL);
}

static void a_policy_allows_it_in_words(sotto_test *t)
{
    static const char policy[] =
        "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"com.example.digits\": {\"epsilon\": "
        "10, \"delta\": 1e-5, \"reports\": 10, \"fields\": [\"digits.pixels\", "
        "\"digits.label\"]}}, \"fields\": {\"digits.pixels\": {\"by\": [\"servers\"], "
        "\"epsilon_local\": \"none\", \"epsilon\": 10, \"delta\": 1e-5, \"reports\": 10}, "
        "\"digits.label\": {\"by\": [\"servers\"], \"epsilon_local\": \"none\", \"epsilon\": 10, "
        "\"delta\": 1e-5, \"reports\": 10}}, \"correlated_noise\": true, \"min_cohort\": 100, "
        "\"honest\": 0.5}";
    sotto_mistakes mistakes = {0};
    const sotto_policy *allowing, *other;

    CHECK_OK(t, sotto_policy_read(&allowing, sotto_test_replace(t, policy, NULL, NULL), &t->arena,
                                  &mistakes, &t->err));
    CHECK_OK(t, sotto_policy_read(&other,
                                  sotto_test_replace(t, policy, "\"correlated_noise\": true, ", ""),
                                  &t->arena, &mistakes, &t->err));
    CHECK(t,
          sotto_test_judge(t, sotto_test_replace(t, text, NULL, NULL), allowing)->verdict.accepts);
    sotto_test_check_mistake(t, sotto_test_judge(t, sotto_test_replace(t, text, NULL, NULL), other),
                             "privacy.correlation", "does not let");
    CHECK(t, sotto_test_judge(t, sotto_test_replace(t, text, TREE, FRESH), other)->verdict.accepts);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(it_is_read_and_says_what_it_asks),
        CASE(each_mistake_names_its_key),
        CASE(a_device_is_drawn_anew_in_each_round),
        CASE(a_participation_costs_the_nodes_that_have_it),
        CASE(draws_of_all_nodes_are_paid_for),
        CASE(no_gain_by_sampling_is_claimed),
        CASE(a_policy_allows_it_in_words),
    };

    return RUN_TESTS(argc, argv, cases);
}
