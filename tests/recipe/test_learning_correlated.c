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
#define FIRST "{\"decay\": 925461699, \"weight\": 230669177}"
#define BUFFERS                                                                                    \
    FRESH ", \"correlation\": {\"type\": \"buffers\", \"buffers\": [" FIRST                        \
          ", {\"decay\": 931618697, \"weight\": 286458320}]}"
#define KEPT "\"participations\": 4, \"separation\": 16"

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

/* ---- buffers -------------------------------------------------------------------------------------------------------- */

static const sotto_blt matrix = {.decay = {925461699, 931618697}, .weight = {230669177, 286458320}};

static sotto_test_judged *judge_buffers(sotto_test *t, const char *old, const char *new)
{
    const sotto_bytes years = sotto_test_replace(t, text, "2026-12-08", "2030-12-08"),
                      buffers = sotto_test_replace(t, (const char *)years.data, TREE, BUFFERS);

    return sotto_test_judge(t, sotto_test_replace(t, (const char *)buffers.data, old, new), NULL);
}

static void buffers_are_read_and_say_what_they_ask(sotto_test *t)
{
    const sotto_test_judged *j = judge_buffers(t, NULL, NULL);
    sotto_buf out = sotto_test_buf(t, 8192);

    CHECK_OK(t, j->status);
    CHECK(t, j->verdict.accepts);
    CHECK_EQUAL(t, 2, j->learning->buffers);
    CHECK_EQUAL(t, 0, j->learning->restart);
    CHECK_BYTES(t, &matrix, &j->learning->blt, sizeof matrix);
    CHECK(t, sotto_learning_correlated(j->learning) && sotto_learning_buffered(j->learning));
    CHECK(t, !sotto_learning_buffered(NULL));
    CHECK(t, sotto_test_mistake(j, "privacy.correlation", SOTTO_WARNING) != NULL);
    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < 8192 ? out.len : 8191] = 0;
    CHECK(t, strstr((char *)out.data, "keep the noise of all rounds secret") != NULL);
    CHECK(t, strstr((char *)out.data, "learns its noise of every round") != NULL);
    /* Seeds outlive the session: nothing but gc erases them (serve/tasks/gc.h), and no backup forgets them. */
    CHECK(t, strstr((char *)out.data, "until its operator clears the session away") != NULL);
    CHECK(t, strstr((char *)out.data, "or a backup of that") != NULL);
    CHECK(t, strstr((char *)out.data, "by 2 buffers over all rounds") != NULL);
}

static void each_mistake_of_buffers_names_its_key(sotto_test *t)
{
    static const struct {
        const char *old, *new, *path, *what;
    } cases[] = {
        /* Weights of more than 1: the matrix does not fall. */
        {"286458320", "843072648", "privacy.correlation.buffers", "does not fall"},
        /* It falls, and noise that one round took away another would add. */
        {"286458320", "843072647", "privacy.correlation.buffers", "add noise of an earlier one"},
        {"286458320", "1073741825", "privacy.correlation.buffers[1].weight", ""},
        {"286458320", "-1", "privacy.correlation.buffers[1].weight", ""},
        {"286458320", "0.5", "privacy.correlation.buffers[1].weight", ""},
        {"925461699", "1073740801", "privacy.correlation.buffers[0].decay", ""},
        {"925461699", "1e300", "privacy.correlation.buffers[0].decay", ""},
        {FIRST, FIRST ", " FIRST ", " FIRST, "privacy.correlation.buffers", ""},
        {"\"decay\": 925461699, ", "", "privacy.correlation.buffers[0].decay", "missing"},
        {"\"type\": \"buffers\"", "\"type\": \"buffers\", \"restart\": 4",
         "privacy.correlation.restart", ""},
        {"\"by\": \"servers\"", "\"by\": \"shares\"", "privacy.by", "devices of a round"},
        {"\"server\": {}", "\"server\": {\"optimizer\": \"adam\"}", "learn.server.optimizer",
         "cancel"},
        {"\"parameters\": 400", "\"parameters\": 524289", "rounds.count", "above 2^25"},
        {"\"count\": 64, \"every\"", "\"count\": 16385, \"every\"", "rounds.count", "priced for"},
        {"\"count\": 64, \"every\": \"1h\", \"goal\": 1000, \"largest\": 12000, "
         "\"participations\": 4",
         "\"count\": 300, \"every\": \"1h\", \"goal\": 1000, \"largest\": 12000, "
         "\"participations\": 257",
         "rounds.participations", "priced for"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        sotto_test_check_mistake(t, judge_buffers(t, cases[i].old, cases[i].new), cases[i].path,
                                 cases[i].what);
    CHECK(t, judge_buffers(t, "\"parameters\": 400", "\"parameters\": 524288")->status !=
                 SOTTO_MALFORMED);
}

/* As the simulator prices it: the same whole numbers in the same functions, and a device's data in place of other data. */
static void buffers_cost_what_the_simulator_says(sotto_test *t)
{
    const sotto_test_judged *j = judge_buffers(t, NULL, NULL), *fresh = judge(t, TREE, FRESH);
    const sotto_learning_claim *claim = &j->claim;
    const sotto_blt_pattern pattern = {64, 16, 4};
    const double priced = sotto_blt_priced(&matrix, &pattern, claim->sensitivity, 400),
                 each = sotto_blt_each(&matrix, &pattern, claim->sensitivity, 400);
    double rho;
    sotto_bound eps;

    CHECK_NEAR(t, fresh->claim.sensitivity, claim->sensitivity, 0);
    CHECK_NEAR(t, fresh->claim.sigma, claim->sigma, 0);
    CHECK_OK(t, sotto_zcdp_of_gaussian(&rho, claim->sigma, claim->sensitivity * priced, &t->err));
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, rho, log(1e-6) - 1e-3, &t->err));
    CHECK_NEAR(t, eps.high, claim->epsilon, 1e-9);
    CHECK_NEAR(t, priced * priced, claim->price.all, 1e-12);
    CHECK_NEAR(t, each, claim->price.each, 0);
    CHECK_NEAR(t, each * fresh->claim.rho, claim->rho, 1e-9);
    CHECK(t, claim->rho > nextafter(each * fresh->claim.rho, INFINITY));
    CHECK(t, strstr(claim->theorem, "Denisov et al. 2022") != NULL);
    /* Whatever a ledger adds up, up to all participations, is paid for. */
    for (uint64_t m = 1; m <= 4; m++) {
        const sotto_blt_pattern some = {64, 16, m};

        CHECK(t, (double)m * claim->rho >=
                     fresh->claim.rho *
                         pow(sotto_blt_priced(&matrix, &some, claim->sensitivity, 400), 2));
    }
}

/* In 9 rounds that are 8 apart, a second participation is in the last alone. So both together cost less than twice the first. */
static void participations_of_buffers_are_priced_together(sotto_test *t)
{
    static const char old[] = "\"count\": 64, \"every\": \"1h\", \"goal\": 1000, \"largest\": "
                              "12000, " KEPT,
                      few[] = "\"count\": 9, \"every\": \"1h\", \"goal\": 1000, \"largest\": "
                              "12000, \"participations\": 2, \"separation\": 8";
    const sotto_learning_claim *claim = &judge_buffers(t, old, few)->claim;
    sotto_bound eps;

    CHECK(t, claim->price.all < 1.9 * claim->price.each);
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, 2 * claim->rho, log(1e-6) - 1e-3, &t->err));
    CHECK(t, claim->epsilon < 0.99 * eps.high);
}

/* Four participations show by draws of 64 rounds. 25,600 of them cost too much of so small a delta, 1,600 would not. */
static void draws_of_all_rounds_are_paid_for(sotto_test *t)
{
    static const char old[] = BUFFERS ", \"adjacency\": \"replacement\","
                                      " \"epsilon\": 7, \"delta\": 1e-6",
                      less[] = "\"by\": \"servers\", \"multiplier\": 2, \"correlation\": "
                               "{\"type\": \"buffers\", \"buffers\": [" FIRST
                               ", {\"decay\": 931618697, \"weight\": 286458320}]}, \"adjacency\": "
                               "\"replacement\", \"epsilon\": 7, \"delta\": 1e-12";
    const sotto_learning_claim *claim = &judge_buffers(t, old, less)->claim;
    const double paid = 0.9e-3 * 1e-12, each = 0x1p-100;
    double fresh;
    sotto_bound eps;

    CHECK_OK(t, sotto_zcdp_of_gaussian(&fresh, claim->sigma, claim->sensitivity, &t->err));
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, fresh * claim->price.all, log(1e-12) - 1e-3, &t->err));
    CHECK(t, (1 + exp(eps.high)) * 4 * 400 * each < paid);
    CHECK(t, (1 + exp(eps.high)) * 64 * 400 * each > paid);
    CHECK(t, isinf(claim->epsilon));
}

static double rho_of(sotto_test *t, const char *old, const char *new)
{
    return judge(t, old, new)->claim.rho;
}

/* All participations together cost the squared sensitivity of the nodes that have them. */
static void a_participation_costs_the_nodes_that_have_it(sotto_test *t)
{
    const sotto_test_judged *tree = judge(t, NULL, NULL), *fresh = judge(t, TREE, FRESH);

    CHECK_NEAR(t, 1, fresh->claim.price.each, 0);
    CHECK_NEAR(t, 5, tree->claim.price.each, 0);
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
    j = sotto_test_judge(t, sotto_test_replace(t, (const char *)tree.data, TREE, BUFFERS), NULL);
    CHECK(t, isinf(j->claim.sampled_epsilon));
    CHECK(t, strstr(j->claim.unsampled_why, "correlated over rounds") != NULL);
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
    CHECK(
        t,
        sotto_test_judge(t, sotto_test_replace(t, text, TREE, BUFFERS), allowing)->verdict.accepts);
    sotto_test_check_mistake(t,
                             sotto_test_judge(t, sotto_test_replace(t, text, TREE, BUFFERS), other),
                             "privacy.correlation", "does not let");
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
        CASE(buffers_are_read_and_say_what_they_ask),
        CASE(each_mistake_of_buffers_names_its_key),
        CASE(buffers_cost_what_the_simulator_says),
        CASE(participations_of_buffers_are_priced_together),
        CASE(draws_of_all_rounds_are_paid_for),
        CASE(a_policy_allows_it_in_words),
    };

    return RUN_TESTS(argc, argv, cases);
}
