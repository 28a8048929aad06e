/* Learning recipes: read, judged, explained; records of rounds and the tasks they make. */
#include "recipe/learning.h"
#include "recipe/listed_keys.h"

#include "base/hex.h"
#include "recipe/claim.h"
#include "support/judged.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 8192 };

static void a_learning_recipe_is_read_whole(sotto_test *t)
{
    sotto_test_judged *j = sotto_test_judge(t, sotto_test_learning_with(t, NULL, NULL), NULL);
    const sotto_learning *l = j->learning;

    CHECK(t, l != NULL);
    CHECK_EQUAL(t, 48846, l->parameters);
    CHECK(t, strcmp(l->model, "lenet") == 0 && l->init[0] == 0x9f && l->init[31] == 1);
    CHECK(t, l->most_rows == 100 && l->epochs == 1 && l->batch == 20);
    CHECK_NEAR(t, 0.99, l->decay, 0);
    CHECK(t, l->rounds == 150 && l->every == 3600 && l->goal == 20000 && l->largest == 40000);
    CHECK(t, l->grace == 600 && l->participations == 4 && l->separation == 20);
    CHECK_NEAR(t, 8, l->multiplier, 0);
    CHECK_NEAR(t, 19, l->bound_factor, 0);
    CHECK(t, l->head.by == SOTTO_BY_SHARES && l->head.min_cohort == 20000);
    CHECK_EQUAL(t, 19 * 16384, sotto_learning_bound(l));
}

/* sotto_recipe_read is what knows statistics alone. */
static void readers_of_statistics_refuse_it(sotto_test *t)
{
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    const sotto_bytes text = sotto_test_learning_with(t, NULL, NULL);
    const sotto_recipe *recipe;

    CHECK(t, sotto_learning_is(text));
    CHECK(t, !sotto_learning_is(sotto_test_recipe_text(t, "50001", "50001")));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_recipe_read(&recipe, text, &t->arena, mistakes, &t->err));
    CHECK_REASON(t, "not yet");
}

static void each_mistake_names_its_key(sotto_test *t)
{
    static const struct {
        const char *old, *new, *path, *what;
    } cases[] = {
        {"\"weights\": \"equal\"", "\"weights\": \"count\"", "learn.update.weights", "no epsilon"},
        {"\"weights\": \"equal\"", "\"weights\": \"capped\"", "learn.update.weights", "need a cap"},
        {"\"weights\": \"equal\"", "\"weights\": \"equal\", \"cap\": 9", "learn.update.cap",
         "but capped"},
        {"\"weights\": \"equal\"", "\"weights\": \"capped\", \"cap\": 101", "learn.update.cap",
         "none would count fully"},
        {"\"weights\": \"equal\"", "\"projection\": {\"dimension\": 48846}",
         "learn.update.projection.dimension", "as many numbers"},
        {"\"weights\": \"equal\"", "\"projection\": {}", "learn.update.projection.dimension",
         "missing"},
        {"\"every\": \"1h\"", "\"every\": \"90m\"", "rounds.every", "within a bucket"},
        {"\"count\": 150", "\"count\": 169", "rounds.count", "longer than the schedule"},
        {"\"participations\": 4", "\"participations\": 151", "rounds.participations", "more than"},
        {"\"largest\": 40000", "\"largest\": 19999", "rounds.largest", "below the goal"},
        {"\"goal\": 20000", "\"goal\": 19999", "rounds.goal", "below min_cohort"},
        {"\"grace\": \"10m\"", "\"grace\": \"1h\"", "rounds.grace", "next round"},
        {"key:helper-2026a", "key:leader-2026a", "aggregation.helper", "are one"},
        {"\"trust\": \"split\"", "\"trust\": \"central\"", "aggregation.trust", ""},
        {"\"by\": \"shares\"", "\"by\": \"crowd\"", "privacy.by", ""},
        {"\"fedavg\", \"epochs\": 1", "\"fedsgd\", \"epochs\": 2", "learn.local.epochs", "one"},
        {"\"population\": 1000000", "\"query\": \"SELECT 1\", \"population\": 1", "query",
         "unknown"},
        {"\"init\": \"9f", "\"init\": \"9", "learn.model.init", ""},
        {"\"clip\": 0.5, ", "", "learn.update.clip", "missing"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        sotto_test_check_mistake(
            t, sotto_test_judge(t, sotto_test_learning_with(t, cases[i].old, cases[i].new), NULL),
            cases[i].path, cases[i].what);
}

/* Which inequality fails, both sides of it, and how many bits would do. */
static void numbers_that_do_not_fit_are_told_with_both_sides(sotto_test *t)
{
    sotto_test_judged *j =
        sotto_test_judge(t, sotto_test_learning_with(t, "\"scale\": 32768", "\"scale\": 16"), NULL);
    const sotto_mistake *m = sotto_test_mistake(j, "learn.update.scale", SOTTO_MISTAKE);

    /* 8 * 0.5 * 16 steps over sqrt(10,000) devices: 0.64, and 2 are wanted. */
    sotto_test_check_mistake(t, j, "learn.update.scale", "2 <= 0.64 does not hold; 6 bits");
    CHECK(t, strcmp(m->accepted, "2^6 or more") == 0);
    CHECK_EQUAL(t, 0, j->claim.report_bytes);
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"scale\": 32768", "\"scale\": 1073741824"), NULL);
    sotto_test_check_mistake(t, j, "learn.update.scale", "2^15");
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"by\": \"shares\"", "\"by\": \"servers\""), NULL);
    CHECK(t, !sotto_test_mistake(j, "learn.update.scale", SOTTO_MISTAKE));
    j = sotto_test_judge(t,
                         sotto_test_learning_with(t, "\"scale\": 32768, \"weights\": \"equal\"",
                                                  "\"scale\": 16777216"),
                         NULL);
    sotto_test_check_mistake(t, j, "learn.update.scale", "");
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"bound_factor\": 19", "\"bound_factor\": 1000"), NULL);
    CHECK(t, sotto_test_mistake(j, "learn.update.scale", SOTTO_MISTAKE) ==
                 NULL); /* 2^24 steps: Field64 */
}

static void sums_of_the_largest_round_keep_to_62_bits(sotto_test *t)
{
    sotto_learning l =
        *sotto_test_judge(t, sotto_test_learning_with(t, NULL, NULL), NULL)->learning;
    sotto_learning_claim claim;

    l.scale = (uint64_t)1 << 30;
    l.head.by = SOTTO_BY_SERVERS;
    l.multiplier = 0.001; /* so that the server's noise fits */
    l.bound_factor = 4;
    l.largest =
        ((uint64_t)1 << 31) - ((uint64_t)1 << 19); /* times 2^31, and 2^49: less than 2^62 */
    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, SOTTO_HONEST_UNSAID, &t->err));
    CHECK(t, claim.fits[2].holds && claim.fits[2].left < 0x1p62);
    l.largest += 1 << 19;
    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, SOTTO_HONEST_UNSAID, &t->err));
    CHECK(t, !claim.fits[2].holds && claim.fits[2].bits == 29 && !claim.fits[2].finer);
}

/* S sqrt(1 + z^2 d/C): z 4, d 48,846, C 18,000, and what rare draws take beside it. */
static void the_bound_admits_the_noise_of_honest_devices(sotto_test *t)
{
    sotto_test_judged *j = sotto_test_judge(t, sotto_test_learning_sound(t), NULL);
    const double formula = sqrt(1 + 16.0 * 48846 / 18000);

    CHECK_EQUAL(t, 0, sotto_test_mistake(j, "learn.update.scale", SOTTO_MISTAKE) != NULL);
    CHECK(t, j->claim.factor_needed > formula && j->claim.factor_needed < 1.05 * formula);
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"multiplier\": 8.0", "\"multiplier\": 16.0"), NULL);
    sotto_test_check_mistake(t, j, "aggregation.proof.bound_factor",
                             "honest reports would be refused");
}

/* With a lower bound, redraws change the law of the noise by more than the claim counts. */
static void no_epsilon_is_claimed_where_noise_is_often_redrawn(sotto_test *t)
{
    sotto_learning l = *sotto_test_judge(t, sotto_test_learning_sound(t), NULL)->learning;
    sotto_learning_claim claim;

    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, l.head.honest, &t->err));
    l.bound_factor = claim.factor_needed;
    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, l.head.honest, &t->err));
    CHECK(t, isfinite(claim.epsilon) && isfinite(claim.rho));
    CHECK_NEAR(t, claim.sigma, claim.device_sigma * sqrt(18000), 1e-6);
    l.bound_factor = 0.999 * claim.factor_needed;
    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, l.head.honest, &t->err));
    CHECK(t, isinf(claim.epsilon) && isinf(claim.rho) && strstr(claim.theorem, "drawn again"));
    /* Noise is that of the devices whom the policy takes for honest, not of those whom the recipe does. */
    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_NEAR(t, claim.sigma, claim.device_sigma * sqrt((double)claim.honest), 1e-6);
    CHECK(t, claim.honest < 18000);
    l.head.by = SOTTO_BY_SERVERS; /* no noise is redrawn */
    CHECK_OK(t, sotto_learning_claim_compute(&claim, &l, l.head.honest, &t->err));
    CHECK(t, isfinite(claim.epsilon));
}

static void much_room_for_liars_is_warned_of_and_refused(sotto_test *t)
{
    sotto_test_judged *j = sotto_test_judge(t, sotto_test_learning_with(t, NULL, NULL), NULL);

    sotto_test_check_mistake(t, j, "aggregation.proof.bound_factor", "a liar could send");
    CHECK(t,
          strstr(sotto_test_mistake(j, "aggregation.proof.bound_factor", SOTTO_MISTAKE)->accepted,
                 "servers"));
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"by\": \"shares\"", "\"by\": \"servers\""), NULL);
    CHECK(t, !sotto_test_mistake(j, "aggregation.proof.bound_factor", SOTTO_MISTAKE));
    CHECK(t, sotto_test_mistake(j, "aggregation.proof.bound_factor", SOTTO_WARNING) != NULL);
}

/* rho = (2 clip / sigma)^2 / 2 for one participation, with what rounding and a lattice add. */
static void participations_are_priced_by_zcdp(sotto_test *t)
{
    sotto_test_judged *j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"by\": \"shares\"", "\"by\": \"servers\""), NULL);
    const double one = pow(2 / 8.0, 2) / 2;

    CHECK(t, j->claim.rho > one && j->claim.rho < 1.02 * one);
    CHECK(t, j->claim.epsilon > 2.419 && j->claim.epsilon < 2.45); /* of rho 0.125: 2.4191 */
    CHECK(t, strstr(j->claim.theorem, "Canonne") != NULL);
    CHECK(t, strstr(j->claim.unsampled_why, "not claimed: without a relay") != NULL);
    const double four = j->claim.epsilon;
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"participations\": 4", "\"participations\": 1"), NULL);
    CHECK(t, j->claim.epsilon < four);
    j = sotto_test_judge(t, sotto_test_learning_with(t, NULL, NULL), NULL);
    CHECK(t,
          j->claim.rho > one && j->claim.rho < 1.02 * one); /* sized for the half that is honest */
    CHECK(t, strstr(j->claim.theorem, "Kairouz") != NULL);
}

/* In five places at once: noise by servers, every round open to everybody, and hidden. */
static sotto_bytes sampled(sotto_test *t, const char *by, const char *rounds, const char *hidden)
{
    const char *all = (const char *)sotto_test_learning_with(
                          t, "\"participations\": 4, \"separation\": 20", rounds)
                          .data;
    char *text = sotto_arena_take(&t->arena, TEXT);
    const char *privacy = strstr(all, "\"by\": \"shares\""),
               *epsilon = strstr(all, "\"epsilon\": 4.0"),
               *population = strstr(all, "\"population\": 1000000");

    CHECK(t, text && privacy && epsilon && population);
    (void)snprintf(text, TEXT,
                   "%.*s\"by\": \"%s\"%.*s\"epsilon\": 30.0%.*s%s\"population\": 1000000 }",
                   (int)(privacy - all), all, by, (int)(epsilon - privacy - 14), privacy + 14,
                   (int)(population - epsilon - 14), epsilon + 14, hidden);
    return sotto_bytes_of(text, strlen(text));
}

static const char hidden[] = "\"anonymity\": {\"relay\": \"r\", \"gateway\": \"g\", "
                             "\"tokens\": \"type-2\", \"issuer\": \"i\", \"attester\": "
                             "\"a\", \"log\": \"main\"}, ";

static void fresh_samples_cost_less_where_nobody_sees_them(sotto_test *t)
{
    static const char fresh[] = "\"participations\": 150, \"separation\": 1";
    sotto_test_judged *j = sotto_test_judge(t, sampled(t, "servers", fresh, hidden), NULL);

    /* Each round is 3 percent of the devices, half of whom are honest: 0.0321 with what is put aside. */
    CHECK(t, j->claim.epsilon > 18 && j->claim.epsilon < 22);
    CHECK(t, j->claim.sampled_epsilon > 1 && j->claim.sampled_epsilon < 3);
    CHECK(t, j->claim.sampled_share > 0.03 && j->claim.sampled_share < 0.033);
    CHECK(t, strstr(j->claim.unsampled_why, "whoever sees who takes part") != NULL);
    sotto_buf out = sotto_test_buf(t, TEXT);
    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < TEXT ? out.len : TEXT - 1] = 0;
    CHECK(t, strstr((char *)out.data, "at the same delta (Wang") != NULL);
    CHECK(t, strstr((char *)out.data, "answer whenever their coin says so") != NULL);
    j = sotto_test_judge(t, sampled(t, "servers", fresh, ""), NULL);
    CHECK(t, !isfinite(j->claim.sampled_epsilon));
    CHECK(t, strstr(j->claim.unsampled_why, "without a relay") != NULL);
    j = sotto_test_judge(t, sampled(t, "shares", fresh, hidden), NULL);
    CHECK(t, !isfinite(j->claim.sampled_epsilon));
    CHECK(t, strstr(j->claim.unsampled_why, "servers' noise") != NULL);
    j = sotto_test_judge(
        t, sampled(t, "servers", "\"participations\": 150, \"separation\": 2", hidden), NULL);
    CHECK(t, !isfinite(j->claim.sampled_epsilon));
    CHECK(t, strstr(j->claim.unsampled_why, "silent for some rounds") != NULL);
}

/* Coins of 3 percent pass 4 of 150 rounds for every second device, and 40 hardly ever for any of ten million. */
static void turns_that_end_too_often_make_no_fresh_samples(sotto_test *t)
{
    sotto_test_judged *j = sotto_test_judge(
        t, sampled(t, "servers", "\"participations\": 150, \"separation\": 1", hidden), NULL);
    const double all = j->claim.sampled_epsilon;

    j = sotto_test_judge(
        t, sampled(t, "servers", "\"participations\": 4, \"separation\": 1", hidden), NULL);
    CHECK(t, !isfinite(j->claim.sampled_epsilon));
    CHECK(t, strstr(j->claim.unsampled_why, "use up their participations") != NULL);
    j = sotto_test_judge(
        t, sampled(t, "servers", "\"participations\": 40, \"separation\": 1", hidden), NULL);
    CHECK(t, j->claim.sampled_epsilon > all && j->claim.sampled_epsilon < 1.02 * all);
    CHECK(t, j->claim.epsilon < 10);
    j = sotto_test_judge(
        t,
        sampled(t, "servers",
                "\"participations\": 4, \"separation\": 20, \"on_no_turn\": \"zeros\"", hidden),
        NULL);
    CHECK_NEAR(t, all, j->claim.sampled_epsilon, 1e-12);
    CHECK(t, j->learning->zeros && sotto_learning_spacing(j->learning) == 38);
    CHECK(t, strstr(sotto_test_mistake(j, "rounds.on_no_turn", SOTTO_WARNING)->what,
                    "one report in 38"));
    sotto_learning l = *j->learning;
    l.head.participation.type = SOTTO_CHECK_IN_FIXED_WINDOW;
    CHECK(t, sotto_learning_unsampled(&l) != NULL);
    l.separation = 50;
    CHECK_EQUAL(t, 50, sotto_learning_spacing(&l));
    l.participations = l.rounds;
    l.separation = 1;
    CHECK_EQUAL(t, 1, sotto_learning_spacing(&l));
}

/* A device that has shown its credential as often as it can is silent because of earlier coins. */
static void a_credential_that_is_used_up_makes_no_fresh_samples(sotto_test *t)
{
    static const char fresh[] = "\"participations\": 150, \"separation\": 1";
    sotto_learning l = *sotto_test_judge(t, sampled(t, "servers", fresh, hidden), NULL)->learning;

    CHECK(t, sotto_learning_unsampled(&l) == NULL);
    l.head.anonymity.tokens = SOTTO_TOKENS_ARC;
    CHECK(t, strstr(sotto_learning_unsampled(&l), "ARC credential") != NULL);
    l.rounds = SOTTO_ARC_SHOWS - SOTTO_ARC_OTHERS;
    CHECK(t, sotto_learning_unsampled(&l) == NULL);
    l.rounds++;
    CHECK(t, sotto_learning_unsampled(&l) != NULL);
}

static const sotto_policy *policy_of(sotto_test *t, const char *field, const char *analysis)
{
    char *text = sotto_arena_take(&t->arena, TEXT);
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    const sotto_policy *policy;

    (void)snprintf(text, TEXT,
                   "{\"policy\": \"p\", \"version\": 1, \"min_cohort\": 1000, \"honest\": 0.9, "
                   "\"analyses\": {\"com.example.digits\": {%s, \"fields\": [\"digits.pixels\", "
                   "\"digits.label\"]}}, \"fields\": {\"digits.pixels\": {%s}, \"digits.label\": "
                   "{%s}}}",
                   analysis, field, field);
    CHECK_OK(t, sotto_policy_read(&policy, sotto_bytes_of(text, strlen(text)), &t->arena, mistakes,
                                  &t->err));
    return policy;
}

/* What is charged decides whether a policy has room for it, and is said. */
static void a_policy_that_counts_on_hidden_samples_is_charged_by_them(sotto_test *t)
{
    static const char none[] =
        "\"by\": [\"servers\"], \"epsilon_local\": \"none\", \"epsilon\": 2, "
        "\"delta\": 1e-5, \"reports\": 200",
                      all[] = "\"epsilon\": 2, \"delta\": 1e-5, \"reports\": 200";
    const sotto_bytes text =
        sampled(t, "servers", "\"participations\": 150, \"separation\": 1", hidden);
    sotto_policy policy = *policy_of(t, none, all);
    const sotto_policy_log log = {.name = "main"};
    sotto_buf out = sotto_test_buf(t, TEXT);

    policy.logs = &log;
    policy.log_count = 1;
    sotto_test_judged *j = sotto_test_judge(t, text, &policy);
    sotto_test_check_mistake(t, j, "privacy.epsilon", "more than the policy gives");
    CHECK(t, !j->claim.session);
    policy.when_hidden = true;
    j = sotto_test_judge(t, text, &policy);
    CHECK(t, !sotto_test_mistake(j, "privacy.epsilon", SOTTO_MISTAKE) && j->claim.session);
    const double charged = sotto_decimal_down(sotto_learning_charge(j->learning, &j->claim));
    CHECK(t, charged >= j->claim.sampled_epsilon && charged < j->claim.sampled_epsilon + 1e-9);
    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < TEXT ? out.len : TEXT - 1] = 0;
    CHECK(t, strstr((char *)out.data, "The relay, r, must work together neither") != NULL);
    CHECK(t, strstr((char *)out.data, "before it tosses its first coin") != NULL);
}

static void a_claim_that_is_too_small_is_refused_with_what_would_do(sotto_test *t)
{
    sotto_test_judged *j =
        sotto_test_judge(t,
                         sotto_test_learning_with(
                             t,
                             "\"by\": \"shares\", \"law\": \"discrete-gaussian\", \"multiplier\": "
                             "8.0, \"adjacency\": \"replacement\", \"epsilon\": 4.0",
                             "\"by\": \"servers\", \"multiplier\": 8.0, \"adjacency\": "
                             "\"replacement\", \"epsilon\": 1.0"),
                         NULL);

    sotto_test_check_mistake(t, j, "privacy.epsilon", "4 participations");
    CHECK(t, strstr(sotto_test_mistake(j, "privacy.epsilon", SOTTO_MISTAKE)->accepted,
                    "a multiplier of ") != NULL);
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"population\": 1000000", "\"population\": 1000"), NULL);
    sotto_test_check_mistake(t, j, "privacy.min_cohort", "about 30 reports");
}

static void a_policy_is_kept(sotto_test *t)
{
    static const char all[] = "\"epsilon\": 10, \"delta\": 1e-5, \"reports\": 10",
                      none[] = "\"epsilon_local\": \"none\", \"by\": [\"crowd\", \"servers\"], "
                               "\"epsilon\": 10, \"delta\": 1e-5, \"reports\": 10";
    const sotto_bytes text =
        sotto_test_learning_with(t, "\"by\": \"shares\"", "\"by\": \"servers\"");
    sotto_test_judged *j = sotto_test_judge(t, text, policy_of(t, none, all));

    CHECK_EQUAL(t, 0, j->mistakes.errors);
    CHECK_EQUAL(t, 2, j->verdict.read_count);
    CHECK(t, j->verdict.accepts && j->verdict.why[0] == '\0');
    j = sotto_test_judge(
        t, text,
        policy_of(t, "\"epsilon_local\": 4, \"epsilon\": 10, \"delta\": 1e-5, \"reports\": 10",
                  all));
    sotto_test_check_mistake(t, j, "privacy.by", "no local protection");
    j = sotto_test_judge(
        t, text,
        policy_of(t,
                  "\"epsilon_local\": \"none\", \"by\": [\"shares\"], \"epsilon\": 10, "
                  "\"delta\": 1e-5, \"reports\": 10",
                  all));
    sotto_test_check_mistake(t, j, "privacy.by", "does not let servers");
    j = sotto_test_judge(
        t, text,
        policy_of(t,
                  "\"epsilon_local\": \"none\", \"by\": [\"servers\"], \"epsilon\": 3, "
                  "\"delta\": 1e-5, \"reports\": 10",
                  all));
    sotto_test_check_mistake(t, j, "privacy.epsilon", "more than the policy gives digits.");
    j = sotto_test_judge(t, text,
                         policy_of(t, none, "\"epsilon\": 10, \"delta\": 1e-5, \"reports\": 3"));
    sotto_test_check_mistake(t, j, "rounds.participations", "the whole analysis");
    j = sotto_test_judge(
        t, text,
        policy_of(t, none,
                  "\"epsilon\": 10, \"delta\": 1e-5, \"reports\": 10, \"queries\": "
                  "[\"SELECT label FROM digits\"]"));
    sotto_test_check_mistake(t, j, "learn.data.query", "not one of");
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"parameters\": 48846", "\"parameters\": 1000000"),
        policy_of(t, none, all));
    sotto_test_check_mistake(t, j, "learn.model.parameters", "longer than the policy allows");
}

static void it_is_explained_in_words(sotto_test *t)
{
    sotto_test_judged *j =
        sotto_test_judge(t,
                         sotto_test_learning_with(t, "\"description\": \"Reads digits.\"",
                                                  "\"description\": \"a\\u001b[2Jb\""),
                         NULL);
    sotto_buf out = sotto_test_buf(t, TEXT);

    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < TEXT ? out.len : TEXT - 1] = 0;
    CHECK(t, strstr((char *)out.data, "48846 parameters") != NULL);
    CHECK(t, strstr((char *)out.data, "19 times the clip") != NULL);
    CHECK(t, strstr((char *)out.data, "A round that is not released costs the same") != NULL);
    CHECK(t, strstr((char *)out.data, "a\\x1b[2Jb") != NULL);
    /* No smaller delta is shown than the one that is claimed. */
    j = sotto_test_judge(
        t, sotto_test_learning_with(t, "\"delta\": 1e-6", "\"delta\": 0.0000012341"), NULL);
    out.len = 0;
    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    out.data[out.len < TEXT ? out.len : TEXT - 1] = 0;
    CHECK(t, strstr((char *)out.data, "at delta 1.24e-06") != NULL);
}

/* ---- rounds -------------------------------------------------------------------------------------------------- */

static void a_record_has_one_spelling(sotto_test *t)
{
    static const char digest[] = "9f00000000000000000000000000000000000000000000000000000000000001";
    static const char *const wrong[] = {
        "",
        "sotto-round-2\nround 3\nmodel %s\n\n{}",
        "sotto-round-1\nround 03\nmodel %s\n\n{}",
        "sotto-round-1\nround 3 \nmodel %s\n\n{}",
        "sotto-round-1\nround \nmodel %s\n\n{}",
        "sotto-round-1\nround 1000000\nmodel %s\n\n{}",
        "sotto-round-1\nmodel %s\nround 3\n\n{}",
        "sotto-round-1\nround 3\nmodel 0%s\n\n{}",
        "sotto-round-1\nround 3\nmodel %s\n{}",
        "sotto-round-1\nround 3\nmodel %s\n\n",
        "sotto-round-1\nround 3\nmodel %s",
        "sotto-round-1\nround 3\nmodel %s\nsignature 00\n\n{}",
        "sotto-round-1\nround 3\nmodel %s\nsigned 00\n\n{}",
    };
    sotto_round_record record;
    sotto_buf out = sotto_test_buf(t, 512);
    char text[512];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text, wrong[i], digest);
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_round_record_decode(&record, sotto_bytes_of(text, strlen(text)), &t->err));
    }
    (void)snprintf(text, sizeof text, "sotto-round-1\nround 3\nmodel %s\n\n{}", digest);
    sotto_err_clear(&t->err);
    CHECK_OK(t, sotto_round_record_decode(&record, sotto_bytes_of(text, strlen(text)), &t->err));
    CHECK(t, record.round == 3 && record.model[0] == 0x9f && record.recipe.len == 2);
    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    CHECK_EQUAL(t, strlen(text), out.len);
    CHECK_BYTES(t, text, out.data, out.len);
}

/* ---- who names the models ------------------------------------------------------------------------------------ */

static sotto_status try_record(sotto_test *t, const sotto_learning *learning,
                               const sotto_round_record *record)
{
    sotto_task task;

    sotto_err_clear(&t->err);
    return sotto_round_task_compile(&task, learning, record, sotto_test_parties(t, "{", "{"),
                                    &t->arena, &t->err);
}

static void a_record_is_signed_by_the_owner_of_its_recipe(sotto_test *t)
{
    uint8_t seed[SOTTO_SIGN_SEED] = {1};
    sotto_round_record record = {.round = 1}, again;
    sotto_buf out = sotto_test_buf(t, 8192);
    const sotto_learning *plain, *owned;
    sotto_signer owner, other;
    char key[128], digits[2 * SOTTO_SIGN_PUBLIC + 1];

    CHECK_OK(t, sotto_signer_init(&owner, seed, &t->err));
    seed[0] = 2;
    CHECK_OK(t, sotto_signer_init(&other, seed, &t->err));
    sotto_hex_encode(digits, sotto_bytes_of(owner.public_key, sizeof owner.public_key));
    (void)snprintf(key, sizeof key, "\"rounds\": {\"key\": \"%s\", ", digits);
    plain = sotto_test_judge(t, sotto_test_learning_with(t, "{", "{"), NULL)->learning;
    owned = sotto_test_judge(t, sotto_test_learning_with(t, "\"rounds\": {", key), NULL)->learning;
    CHECK(t, owned->owned && !plain->owned);

    record.recipe = owned->head.text;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &record));
    CHECK_OK(t, sotto_round_record_sign(&record, &other, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &record));
    CHECK_OK(t, sotto_round_record_sign(&record, &owner, &t->err));
    CHECK_OK(t, try_record(t, owned, &record));
    /* It reads as it was written, and is good for nothing else. */
    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    CHECK_OK(t, sotto_round_record_decode(&again, sotto_buf_bytes(&out), &t->err));
    CHECK_OK(t, try_record(t, owned, &again));
    again.round = 2;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &again));
    again = record;
    again.model[0] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &again));
    again = record;
    again.signature[40] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, owned, &again));
    CHECK_STATUS(t, SOTTO_REJECTED, try_record(t, plain, &record)); /* one spelling */
    sotto_signer_clear(&owner);
    sotto_signer_clear(&other);
}

static void compile(sotto_test *t, sotto_status wanted, sotto_task *task, uint64_t round,
                    uint8_t model, const sotto_learning *learning)
{
    sotto_round_record record = {.round = round};

    record.model[0] = model;
    record.model[31] = 1;
    CHECK_STATUS(t, wanted,
                 sotto_round_task_compile(task, learning, &record, sotto_test_parties(t, "{", "{"),
                                          &t->arena, &t->err));
    sotto_err_clear(&t->err);
}

static void a_task_is_bound_to_its_round_and_model(sotto_test *t)
{
    sotto_learning l =
        *sotto_test_judge(
             t, sotto_test_learning_with(t, "\"by\": \"shares\"", "\"by\": \"servers\""), NULL)
             ->learning;
    sotto_task first, same, next, other;

    compile(t, SOTTO_OK, &first, 0, 0x9f, &l);
    compile(t, SOTTO_OK, &same, 0, 0x9f, &l);
    compile(t, SOTTO_OK, &next, 1, 0x9f, &l);
    compile(t, SOTTO_OK, &other, 1, 0x11, &l);
    CHECK_BYTES(t, first.id, same.id, sizeof first.id);
    CHECK(t, memcmp(first.id, next.id, sizeof first.id) != 0);
    CHECK(t, memcmp(next.id, other.id, sizeof first.id) != 0);
    /* Round 1 of the same recipe, had it opened an hour before: at the same time, and another task. */
    sotto_learning earlier = l;
    earlier.head.opens -= (int64_t)l.every;
    compile(t, SOTTO_OK, &other, 1, 0x9f, &earlier);
    CHECK_EQUAL(t, first.opens, other.opens);
    CHECK(t, memcmp(first.id, other.id, sizeof first.id) != 0);
    CHECK_EQUAL(t, first.closes, next.opens);
    CHECK_EQUAL(t, 3600, next.closes - next.opens);
    CHECK_EQUAL(t, 48846, first.sizes.outputs);
    CHECK_NEAR(t, 131072, first.noise_sigma, 0);
    compile(t, SOTTO_DENIED, &other, 0, 0x11, &l); /* not the model that the recipe begins with */
    compile(t, SOTTO_DENIED, &other, 150, 0x9f, &l);
    l.scale = (uint64_t)1 << 30;
    compile(t, SOTTO_DENIED, &other, 1, 0x9f, &l);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_learning_recipe_is_read_whole),
        CASE(readers_of_statistics_refuse_it),
        CASE(each_mistake_names_its_key),
        CASE(numbers_that_do_not_fit_are_told_with_both_sides),
        CASE(sums_of_the_largest_round_keep_to_62_bits),
        CASE(the_bound_admits_the_noise_of_honest_devices),
        CASE(no_epsilon_is_claimed_where_noise_is_often_redrawn),
        CASE(much_room_for_liars_is_warned_of_and_refused),
        CASE(participations_are_priced_by_zcdp),
        CASE(fresh_samples_cost_less_where_nobody_sees_them),
        CASE(a_credential_that_is_used_up_makes_no_fresh_samples),
        CASE(turns_that_end_too_often_make_no_fresh_samples),
        CASE(a_policy_that_counts_on_hidden_samples_is_charged_by_them),
        CASE(a_claim_that_is_too_small_is_refused_with_what_would_do),
        CASE(a_policy_is_kept),
        CASE(it_is_explained_in_words),
        CASE(a_record_has_one_spelling),
        CASE(a_record_is_signed_by_the_owner_of_its_recipe),
        CASE(a_task_is_bound_to_its_round_and_model),
    };
    return RUN_TESTS(argc, argv, cases);
}
