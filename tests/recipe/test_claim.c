/* What recipes may claim, held against numbers known otherwise. */
#include "recipe/claim.h"

#include "account/honest.h"
#include "account/local/checkin.h"
#include "account/local/clone.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const sotto_decimal half = {500000000000};

static const sotto_anonymity ANONYMITY = {.relay = "relay",
                                          .gateway = "gateway",
                                          .tokens = SOTTO_TOKENS_TYPE_2,
                                          .attester = "attester",
                                          .issuer = "issuer",
                                          .log = "log"};

/* Of a recipe that hides who takes part, where its whole population is stated. */
static sotto_recipe_claim hidden_claim(sotto_test *t, const sotto_recipe *recipe)
{
    sotto_recipe hidden = *recipe;
    sotto_recipe_claim claim;

    hidden.anonymity = ANONYMITY;
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, &hidden, half, &t->err));
    CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &hidden, hidden.population, &t->err));
    return claim;
}

static sotto_recipe_claim claim_of(sotto_test *t, const char *old, const char *new)
{
    return hidden_claim(t, sotto_test_recipe(t, old, new));
}

static void the_example_is_within_the_closed_form(sotto_test *t)
{
    sotto_recipe_claim claim = claim_of(t, NULL, NULL);
    sotto_crowd crowd = {40000, 0.5};
    sotto_bound closed;

    CHECK_OK(t, sotto_clone_closed_2021(&closed, 2, &crowd, log(1e-6), &t->err));
    CHECK(t, claim.epsilon_cohort > 0 && claim.epsilon_cohort < closed.high);
    CHECK_NEAR(t, 2, claim.epsilon_local, 1e-9);
    CHECK(t, claim.epsilon_local <= 2);
    CHECK_NEAR(t, claim.epsilon_local, claim.replacement_local, 1e-9);
    CHECK_EQUAL(t, 20000, claim.honest);
    CHECK_EQUAL(t, 272, claim.bins);
    CHECK(t, claim.miss < 1e-9 && claim.miss > 0);
    CHECK_NEAR(t, 100000, claim.expected_reports, 1e-6);
    CHECK(t, claim.sampled_by && claim.epsilon_sampled < claim.epsilon_cohort);
}

static void symmetric_deletion_counts_twice_for_replacement(sotto_test *t)
{
    static const char *const old = "\"form\": \"asymmetric\"";
    const sotto_recipe *recipe = sotto_test_recipe(t, old, "\"form\": \"symmetric\"");
    sotto_recipe deletion = *recipe;
    sotto_recipe_claim claim;

    deletion.adjacency = SOTTO_ADJACENCY_DELETION;
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, &deletion, half, &t->err));
    CHECK_NEAR(t, 2, claim.epsilon_local, 1e-9);
    CHECK_NEAR(t, 4, claim.replacement_local, 1e-9);
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, half, &t->err));
    CHECK_NEAR(t, 2, claim.replacement_local, 1e-9);
}

static void a_value_that_vanishes_is_covered_too(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    sotto_crowd crowd = {20000, 0};
    sotto_recipe_claim claim;
    sotto_clone_law law;
    sotto_bound two_values, any;
    sotto_report_content r;

    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, half, &t->err));
    CHECK_OK(t, sotto_recipe_content(&r, recipe, &t->err));
    CHECK_OK(t, sotto_clone_law_onehot(&law, r.p, r.q, &t->err));
    CHECK_OK(t, sotto_clone_eps(&two_values, &law, &crowd, log(1e-6), &t->err));
    CHECK_OK(t, sotto_clone_law_generic(&law, 2, &t->err));
    CHECK_OK(t, sotto_clone_eps(&any, &law, &crowd, log(1e-6), &t->err));
    /* The smaller of the two theorems, since both hold. */
    CHECK(t, claim.epsilon_cohort >= fmin(two_values.low, any.low));
    CHECK(t, claim.epsilon_cohort <= any.high);
}

static void only_split_trust_hides_among_others(sotto_test *t)
{
    sotto_recipe_claim claim;

    CHECK_OK(t, sotto_recipe_claim_compute(
                    &claim, sotto_test_recipe_trusting(t, SOTTO_TRUST_FLAMINGO), half, &t->err));
    CHECK(t, claim.epsilon_cohort == claim.epsilon_local);
    CHECK(t, claim.epsilon_sampled == claim.epsilon_cohort && !claim.sampled_by);
}

#define START "\"start\": \"2026-11-20T00:00:00Z\", \"slot\": \"1h\""
#define CHECK_IN(variant, more)                                                                    \
    "{\"type\": \"check-in\", \"variant\": \"" variant "\", \"window\": 1000, " START more "}"
#define DONATION(slots, more) "{\"type\": \"donation\", \"slots\": " slots ", " START more "}"

#define POISSON "{\"type\": \"poisson\", \"rate\": 0.1}"

/* Weak enough for the theorem to gain something. */
static sotto_recipe_claim weak_claim(sotto_test *t, const char *participation)
{
    const sotto_bytes text = sotto_test_recipe_text(t, POISSON, participation);
    const sotto_recipe *recipe;
    sotto_mistakes mistakes = {0};

    CHECK_OK(t, sotto_recipe_read(&recipe,
                                  sotto_test_replace(t, (const char *)text.data,
                                                     "\"epsilon_local\": 2.0",
                                                     "\"epsilon_local\": 0.01"),
                                  &t->arena, &mistakes, &t->err));
    return hidden_claim(t, recipe);
}

/* Servers add up every report of a slot: that is theorem 4.1, by whichever name the recipe asks for it. */
static void check_ins_are_priced_by_what_servers_run(sotto_test *t)
{
    const sotto_recipe_claim averaged = weak_claim(t, CHECK_IN("averaged", "")),
                             fixed = weak_claim(t, CHECK_IN("fixed", "")),
                             sliding = weak_claim(t, CHECK_IN("sliding", "")),
                             rare = weak_claim(t, CHECK_IN("fixed", ", \"probability\": 0.5"));
    const sotto_crowd honest = {20000, 0};
    sotto_bound theorem;

    CHECK_OK(t, sotto_checkin_averaged_halves(&theorem, 0.01, &honest, 1000, log(1e-6), &t->err));
    CHECK_NEAR(t, fmin(theorem.high, averaged.epsilon_cohort), averaged.epsilon_sampled, 1e-6);
    CHECK(t, fixed.epsilon_sampled == averaged.epsilon_sampled);
    CHECK(t, !sliding.sampled_by && sliding.epsilon_sampled == sliding.epsilon_cohort);
    CHECK(t, !rare.sampled_by && rare.epsilon_sampled == rare.epsilon_cohort);
}

/* A schedule of 168 slots of an hour. */
static void expected_reports_follow_the_law(sotto_test *t)
{
    CHECK_NEAR(t, 168000, claim_of(t, POISSON, CHECK_IN("averaged", "")).expected_reports, 1e-3);
    CHECK_NEAR(t, 1e6 * (1 - pow(0.999, 168)),
               claim_of(t, POISSON, DONATION("1000", "")).expected_reports, 1e-3);
    CHECK_NEAR(t, 750000, claim_of(t, POISSON, DONATION("2", "")).expected_reports, 1e-3);
    CHECK_NEAR(t, 75000, claim_of(t, POISSON, DONATION("2", ", \"rate\": 0.1")).expected_reports,
               1e-3);
    /* Dummies come too: a tenth takes part, and a third of the others sends one. */
    CHECK_NEAR(t, 1e5 + 0.3 * 9e5,
               claim_of(t, "\"population\"", "\"dummies\": 0.3, \"population\"").expected_reports,
               1e-3);
}

/* The coin before the wait makes donors of a slot a tenth of what they were. */
static void a_coin_before_the_wait_is_a_secret_sample(sotto_test *t)
{
    const sotto_recipe_claim all = claim_of(t, POISSON, DONATION("1000", "")),
                             some = claim_of(t, POISSON, DONATION("1000", ", \"rate\": 0.1"));

    CHECK(t, all.sampled_by && strstr(all.sampled_by, "Talwar et al. 2024, Appendix A"));
    CHECK(t, some.sampled_by && strstr(some.sampled_by, "of a secret sample"));
    CHECK(t, some.epsilon_sampled > 0.1 * all.epsilon_sampled);
    CHECK(t, some.epsilon_sampled < 0.3 * all.epsilon_sampled);
}

/* A relay, tokens and a log together hide who takes part; with one of them missing nothing is claimed, and it is said what. */
static void sampling_is_claimed_only_where_nobody_sees_it(sotto_test *t)
{
    sotto_recipe recipe = *sotto_test_recipe(t, NULL, NULL);
    sotto_recipe_claim claim;

    for (unsigned missing = 0; missing < 3; missing++) {
        static const char *const why[] = {"no relay", "no tokens", "no log"};

        recipe.anonymity = ANONYMITY;
        if (missing == 0)
            recipe.anonymity.relay = NULL;
        else if (missing == 1)
            recipe.anonymity.tokens = SOTTO_TOKENS_NONE;
        else
            recipe.anonymity.log = NULL;
        CHECK_OK(t, sotto_recipe_claim_compute(&claim, &recipe, half, &t->err));
        CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &recipe, recipe.population, &t->err));
        CHECK(t, !claim.sampled_by && claim.epsilon_sampled == claim.epsilon_cohort);
        CHECK(t, strstr(claim.unsampled_why, why[missing]) != NULL);
    }
    recipe.anonymity = ANONYMITY;
    CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &recipe, recipe.population, &t->err));
    CHECK(t, claim.sampled_by && !claim.unsampled_why);
    CHECK(t, claim.epsilon_sampled < claim.epsilon_cohort);
    /* A report that tells its second is found by whoever saw the device call its relay. */
    for (recipe.precision = 59; recipe.precision <= 60; recipe.precision++) {
        CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &recipe, recipe.population, &t->err));
        CHECK(t, !claim.sampled_by == (recipe.precision < 60));
        CHECK(t, claim.sampled_by || strstr(claim.unsampled_why, "less than a minute"));
    }
    /* Whoever states no population, or one that the cohort all but is, gains nothing. */
    CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &recipe, 0, &t->err));
    CHECK(t, !claim.sampled_by && strstr(claim.unsampled_why, "no population"));
    CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &recipe, 2, &t->err));
    CHECK(t, !claim.sampled_by && strstr(claim.unsampled_why, "nothing gained"));
}

static void every_way_to_take_part_is_priced(sotto_test *t)
{
    static const char old[] = "{\"type\": \"poisson\", \"rate\": 0.1}";
    static const char *const ways[] = {
        CHECK_IN("fixed", ", \"probability\": 0.5"),
        CHECK_IN("averaged", ""),
        CHECK_IN("sliding", ""),
        DONATION("1000", ""),
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        sotto_recipe_claim claim = claim_of(t, old, ways[i]);

        CHECK(t, claim.epsilon_sampled > 0);
        CHECK(t, claim.epsilon_sampled <= claim.epsilon_cohort);
        CHECK(t, !claim.sampled_by == (claim.epsilon_sampled == claim.epsilon_cohort));
    }
}

/* Servers see where reports come from, unless the recipe hides it. */
static void no_gain_is_claimed_while_participation_is_seen(sotto_test *t)
{
    static const char *const ways[] = {
        POISSON, DONATION("1000", ""), DONATION("1000", ", \"rate\": 0.1"),
        CHECK_IN("averaged", ""),
        "{\"type\": \"importance\", \"rate_default\": 0.1, \"rate_other\": 0.4}"};

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const sotto_recipe *recipe = sotto_test_recipe(t, POISSON, ways[i]);
        sotto_recipe_claim claim;

        CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, half, &t->err));
        CHECK_OK(t, sotto_recipe_claim_sampling(&claim, recipe, recipe->population, &t->err));
        CHECK(t, !claim.sampled_by && claim.epsilon_sampled == claim.epsilon_cohort);
    }
}

static void importance_sampling_costs_what_silence_tells(sotto_test *t)
{
    sotto_recipe_claim claim =
        claim_of(t, "{\"type\": \"poisson\", \"rate\": 0.1}",
                 "{\"type\": \"importance\", \"rate_default\": 0.1, \"rate_other\": 0.4}");

    CHECK_NEAR(t, 2 + log(4), claim.replacement_local, 1e-9);
    CHECK(t, claim.seen_by != NULL);
    CHECK(t, !claim_of(t, NULL, NULL).seen_by);
}

/* Its price at the nominal rates would be too small where the number of reports is known. */
static void importance_sampling_is_not_claimed(sotto_test *t)
{
    const sotto_recipe_claim claim = claim_of(
        t, POISSON, "{\"type\": \"importance\", \"rate_default\": 0.1, \"rate_other\": 0.4}");

    CHECK(t, !claim.sampled_by && claim.epsilon_sampled == claim.epsilon_cohort);
    CHECK(t, strstr(claim.unsampled_why, "importance sampling") != NULL);
}

static sotto_recipe_claim claim_by(sotto_test *t, const char *statistic, const char *by)
{
    sotto_recipe_claim claim;

    CHECK_OK(t, sotto_recipe_claim_compute(&claim, sotto_test_recipe_of(t, statistic, by), half,
                                           &t->err));
    return claim;
}

/* rho + 2 sqrt(rho log(1/delta)) with rho = distance^2 / (2 sigma^2) is the textbook's bound: ours is below it, not by far. */
static void check_textbook(sotto_test *t, const sotto_recipe_claim *claim, double distance,
                           double sigma)
{
    const double rho = distance * distance / (2 * sigma * sigma),
                 textbook = rho + 2 * sqrt(rho * log(1e6));

    CHECK_NEAR(t, distance, claim->sensitivity, 1e-9 * distance);
    CHECK(t, claim->sensitivity >= distance);
    CHECK(t, claim->epsilon_cohort < textbook * 1.001 && claim->epsilon_cohort > 0.5 * textbook);
}

static void noise_by_servers_is_priced_by_the_distance_of_two_values(sotto_test *t)
{
    static const struct {
        const char *statistic;
        double distance;
        uint64_t sums; /* that a report in place of another moves */
    } rows[] = {{"count", 1, 1},
                {"quantiles", 1.4142135623730951, 2},
                {"sum", 100, 1},
                {"mean", 111.80339887498949, 2}};

    for (size_t i = 0; i < 4; i++) {
        sotto_recipe_claim claim = claim_by(t, rows[i].statistic, "\"servers\", \"sigma\": 500.0");

        check_textbook(t, &claim, rows[i].distance, 500);
        CHECK(t, claim.by == SOTTO_BY_SERVERS && strstr(claim.theorem, "theorem 4"));
        CHECK(t, isinf(claim.epsilon_local) && isinf(claim.replacement_local));
        CHECK_NEAR(t, 500, claim.noise_sigma, 0);
        CHECK_NEAR(t, i < 2 ? 1 : 100, claim.liar, 0);
        CHECK_EQUAL(t, rows[i].sums, claim.liar_sums);
        CHECK(t, strcmp(claim.randomizer, "none") == 0);
    }
}

/* The honest devices' noise together has the variance that is asked for, and a little more; half as many have half. */
static void noise_in_shares_is_priced_by_the_honest_part_that_stays(sotto_test *t)
{
    const sotto_decimal quarter = {250000000000};
    const sotto_recipe *recipe = sotto_test_recipe_of(t, "sum", "\"shares\", \"sigma\": 500.0");
    sotto_recipe_claim claim = claim_by(t, "sum", "\"shares\", \"sigma\": 500.0"), few,
                       servers = claim_by(t, "sum", "\"servers\", \"sigma\": 500.0");

    check_textbook(t, &claim, 100, 500);
    CHECK(t, strstr(claim.theorem, "Skellam") != NULL);
    CHECK(t, claim.epsilon_cohort > servers.epsilon_cohort);
    CHECK(t, claim.epsilon_cohort < 1.02 * servers.epsilon_cohort);
    CHECK_EQUAL(t, 20000, claim.honest);
    CHECK(t, claim.device_variance * 20000 >= 500.0 * 500.0);
    CHECK(t, claim.device_variance * 20000 < 500.0 * 500.0 * 1.000001);
    /* from the least that noise makes of the least number to the most that it makes of the largest */
    CHECK(t, claim.liar > 100 + 2 * 8 * sqrt(claim.device_variance));
    CHECK(t, claim.liar < 100 + 2 * (13 * sqrt(claim.device_variance) + 2));
    CHECK_EQUAL(t, 1, claim.liar_sums);
    CHECK_OK(t, sotto_recipe_claim_compute(&few, recipe, quarter, &t->err));
    CHECK(t, few.epsilon_cohort > 1.35 * claim.epsilon_cohort);
}

/* So little that the draws' own distance from their law can't be paid for: nothing is claimed. */
static void too_little_noise_has_no_epsilon(sotto_test *t)
{
    CHECK(t, isinf(claim_by(t, "sum", "\"servers\", \"sigma\": 5.0").epsilon_cohort));
    CHECK(t, isinf(claim_by(t, "sum", "\"shares\", \"sigma\": 5.0").epsilon_cohort));
}

/* Noise that is cut costs 1 + exp(epsilon) times its chance, of whatever delta is. */
static void cut_noise_is_small_beside_any_delta(sotto_test *t)
{
    static const struct {
        unsigned sigma;
        uint64_t epsilon, delta; /* in 1e-12 */
    } rows[] = {{100, 8000000000000, 100000},
                {40, 20000000000000, 1000000},
                {500, 3000000000000, 10},
                {500, 3000000000000, 1000000}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sotto_recipe recipe = *sotto_test_recipe_of(t, "sum", "\"shares\", \"sigma\": 500.0");
        sotto_recipe_claim claim;

        recipe.sigma_milli = 1000 * rows[i].sigma;
        recipe.epsilon.units = rows[i].epsilon;
        recipe.delta.units = rows[i].delta;
        CHECK_OK(t, sotto_recipe_claim_compute(&claim, &recipe, half, &t->err));
        CHECK(t, claim.epsilon_cohort <= sotto_decimal_down(recipe.epsilon));
        CHECK_OK(
            t, sotto_recipe_claim_compute(&claim, &recipe, (sotto_decimal){900000000000}, &t->err));
        CHECK(t, claim.epsilon_cohort <= sotto_decimal_down(recipe.epsilon));
    }
}

static void the_smallest_sigma_is_named(sotto_test *t)
{
    static const char *const sources[] = {"servers", "shares"};
    static sotto_mistakes mistakes;

    for (size_t i = 0; i < 2; i++) {
        char by[80];
        double sigma;
        sotto_recipe_claim claim;

        (void)snprintf(by, sizeof by, "\"%s\", \"sigma\": 100", sources[i]);
        const sotto_recipe *recipe = sotto_test_recipe_of(t, "sum", by);
        memset(&mistakes, 0, sizeof mistakes);
        CHECK_STATUS(t, SOTTO_DENIED, sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &t->err));
        CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.epsilon", "claims less than the"));
        CHECK_OK(t, sotto_recipe_smallest_sigma(&sigma, recipe, claim.honest, &t->err));
        CHECK(t, sigma > 100 && sigma < 1000);
        (void)snprintf(by, sizeof by, "a sigma of %.10g or more", sigma);
        CHECK(t, strstr(mistakes.items[0].accepted, by) != NULL);
        sotto_recipe other = *recipe;
        other.sigma_milli = (uint32_t)llround(1000 * sigma);
        CHECK_OK(t, sotto_recipe_claim_compute(&claim, &other, half, &t->err));
        CHECK(t, claim.epsilon_cohort <= 3);
        other.sigma_milli--;
        CHECK_OK(t, sotto_recipe_claim_compute(&claim, &other, half, &t->err));
        CHECK(t, claim.epsilon_cohort > 3);
    }
}

static void sampling_is_claimed_for_the_crowd_alone(sotto_test *t)
{
    sotto_recipe recipe = *sotto_test_recipe_of(t, "sum", "\"servers\", \"sigma\": 500.0");
    sotto_recipe_claim claim;

    recipe.anonymity = (sotto_anonymity){.relay = "r",
                                         .gateway = "g",
                                         .tokens = SOTTO_TOKENS_TYPE_2,
                                         .attester = "a",
                                         .issuer = "i",
                                         .log = "l"};
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, &recipe, half, &t->err));
    CHECK_OK(t, sotto_recipe_claim_sampling(&claim, &recipe, 1000000, &t->err));
    CHECK(t, !claim.sampled_by && claim.epsilon_sampled == claim.epsilon_cohort);
    CHECK(t, strstr(claim.unsampled_why, "not yet") != NULL);
}

static void a_count_by_crowd_is_a_binary_response(sotto_test *t)
{
    static sotto_mistakes mistakes;
    const char *text = (const char *)sotto_test_recipe_text_of(t, "count", "\"crowd\"").data;
    const sotto_bytes with =
        sotto_test_replace(t, text, "\"participation\"",
                           "\"randomizer\": {\"type\": \"binary\", \"epsilon_local\": 2.0}, "
                           "\"participation\"");
    const sotto_recipe *recipe;
    sotto_recipe_claim claim;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, with, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, half, &t->err));
    CHECK_NEAR(t, 2, claim.epsilon_local, 1e-9);
    CHECK(t, claim.epsilon_cohort < 0.1 && claim.epsilon_cohort > 0.001);
    CHECK(t, strstr(claim.theorem, "shuffling") != NULL);
}

/* Any delta buys a millionth of an epsilon: that is not amplification by shuffling, and must not be called
 * so. */
static void a_handful_of_others_is_no_crowd(sotto_test *t)
{
    sotto_recipe_claim few = claim_of(t, "\"min_cohort\": 40000", "\"min_cohort\": 12");
    sotto_recipe_claim some = claim_of(t, "\"min_cohort\": 40000", "\"min_cohort\": 1000");

    CHECK(t, few.epsilon_cohort == few.epsilon_local);
    CHECK(t,
          strstr(few.theorem, "et al.") == NULL && strstr(few.theorem, "too few reports") != NULL);
    CHECK(t, some.epsilon_cohort < 0.9 * some.epsilon_local);
    CHECK(t, strstr(some.theorem, "amplification by shuffling (Feldman") != NULL);
}

static void the_smallest_cohort_is_the_edge(sotto_test *t)
{
    const sotto_recipe *recipe = sotto_test_recipe(t, NULL, NULL);
    sotto_report_content r;
    uint64_t cohort;
    const char *theorem;
    double eps;

    CHECK_OK(t, sotto_recipe_content(&r, recipe, &t->err));
    CHECK_OK(t, sotto_recipe_smallest_cohort(&cohort, recipe, &r, half, &t->err));
    CHECK(t, cohort > 10 && cohort < 40000);
    CHECK_OK(t, sotto_recipe_cohort_epsilon(&eps, &theorem, recipe, &r,
                                            sotto_honest_count(cohort, half), log(1e-6), &t->err));
    CHECK(t, eps <= 0.3);
    CHECK_OK(t,
             sotto_recipe_cohort_epsilon(&eps, &theorem, recipe, &r,
                                         sotto_honest_count(cohort - 2, half), log(1e-6), &t->err));
    CHECK(t, eps > 0.3);
}

static void every_randomizer_has_a_claim(sotto_test *t)
{
    static const char *const randomizers[] = {"\"type\": \"choice\"", "\"type\": \"subset\"",
                                              "\"type\": \"one-hot\", \"form\": \"symmetric\""};

    for (size_t i = 0; i < sizeof randomizers / sizeof randomizers[0]; i++) {
        sotto_recipe_claim claim =
            claim_of(t, "\"type\": \"one-hot\", \"form\": \"asymmetric\"", randomizers[i]);

        CHECK(t, claim.epsilon_cohort > 0 && claim.epsilon_cohort <= claim.epsilon_local);
        CHECK(t, claim.epsilon_local <= 2 && claim.report_bytes > 4000);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_example_is_within_the_closed_form),
        CASE(symmetric_deletion_counts_twice_for_replacement),
        CASE(a_value_that_vanishes_is_covered_too),
        CASE(only_split_trust_hides_among_others),
        CASE(check_ins_are_priced_by_what_servers_run),
        CASE(expected_reports_follow_the_law),
        CASE(no_gain_is_claimed_while_participation_is_seen),
        CASE(a_coin_before_the_wait_is_a_secret_sample),
        CASE(sampling_is_claimed_only_where_nobody_sees_it),
        CASE(every_way_to_take_part_is_priced),
        CASE(importance_sampling_costs_what_silence_tells),
        CASE(importance_sampling_is_not_claimed),
        CASE(noise_by_servers_is_priced_by_the_distance_of_two_values),
        CASE(noise_in_shares_is_priced_by_the_honest_part_that_stays),
        CASE(too_little_noise_has_no_epsilon),
        CASE(cut_noise_is_small_beside_any_delta),
        CASE(the_smallest_sigma_is_named),
        CASE(sampling_is_claimed_for_the_crowd_alone),
        CASE(a_count_by_crowd_is_a_binary_response),
        CASE(a_handful_of_others_is_no_crowd),
        CASE(the_smallest_cohort_is_the_edge),
        CASE(every_randomizer_has_a_claim),
    };

    return RUN_TESTS(argc, argv, cases);
}
