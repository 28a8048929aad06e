/* What lint, claim and explain say of a recipe whose sums are added up encrypted. */
#include "account/gauss/rdp.h"
#include "noise/noise.h"
#include "recipe/claim.h"
#include "recipe/deviation.h"
#include "recipe/encrypted.h"
#include "recipe/price.h"
#include "sim/random.h"
#include "sotto/lint.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_mistakes mistakes;

static const char *replaced(sotto_test *t, const char *text, const char *old, const char *new)
{
    return (const char *)sotto_test_replace(t, text, old, new).data;
}

static const sotto_recipe *read(sotto_test *t, const char *text)
{
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &t->arena, &mistakes,
                                  &t->err));
    return recipe;
}

/* The example with encrypted sums: a thousand million devices, of whom one in 10^5 is drawn. */
static const char *text_of(sotto_test *t)
{
    const char *text = (const char *)sotto_test_recipe_text_trusting(t, SOTTO_TRUST_AERO).data;

    text = replaced(t, text,
                    "\"randomizer\": {\"type\": \"one-hot\", \"form\": \"asymmetric\", "
                    "\"epsilon_local\": 2.0},",
                    "");
    text = replaced(t, text, "\"min_cohort\": 40000",
                    "\"min_cohort\": 8000, \"by\": \"committee\", \"sigma\": 100");
    text = replaced(t, text, "\"epsilon\": 0.30", "\"epsilon\": 0.2");
    text = replaced(t, text, "\"rate\": 0.1", "\"rate\": 0.00001");
    text = replaced(t, text, "\"population\": 1000000", "\"population\": 1000000000");
    text = replaced(t, text, "\"cohorts\": {\"locale\": [\"en_US\", \"en_GB\"]},", "");
    return replaced(t, text, "\"count\": 4", "\"count\": 1");
}

static sotto_status lint(sotto_test *t, const char *text, sotto_recipe_claim *claim)
{
    const sotto_recipe *recipe = read(t, text);

    memset(&mistakes, 0, sizeof mistakes);
    return sotto_recipe_lint(claim, recipe, NULL, &mistakes, &t->err);
}

static void accepted(sotto_test *t, const char *text)
{
    sotto_recipe_claim claim;

    CHECK_OK(t, lint(t, text, &claim));
    CHECK_EQUAL(t, 0, mistakes.errors);
}

static void refused(sotto_test *t, const char *old, const char *new, const char *path,
                    const char *what)
{
    sotto_recipe_claim claim;

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, replaced(t, text_of(t), old, new), &claim));
    CHECK(t, sotto_test_has_mistake(&mistakes, path, what));
    t->err = (sotto_err){0};
}

/* ---- claims ----------------------------------------------------------------------------------------------- */

/* One bin has a norm of 1, so a replacement moves a sum by 2 at most: rho is 2^2 / (2 * 100^2), and what openings tell. */
static void a_claim_is_by_the_noise_that_is_sure_to_be_there(sotto_test *t)
{
    sotto_recipe_claim claim;
    sotto_encrypted e;
    sotto_bound eps;

    CHECK_OK(t, lint(t, text_of(t), &claim));
    CHECK_OK(t, sotto_encrypted_plan(&e, read(t, text_of(t)), &t->err));
    CHECK_NEAR(t, 2e-4, e.rho - e.ledger.rho, 1e-8);
    CHECK(t, e.ledger.rho > 0 && e.ledger.rho < 1e-8);
    CHECK_EQUAL(t, 20, e.terms.delta_bits);
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, 2e-4, log(1e-6), &t->err));
    /* 2^-20 is below 10^-6, and a thousandth of it is put aside for draws. */
    CHECK(t, claim.epsilon_cohort > eps.low && claim.epsilon_cohort < 1.01 * eps.high);
    CHECK(t, claim.epsilon_cohort >= e.epsilon);
    CHECK(t, strstr(claim.theorem, "proposition 14") != NULL);
    CHECK(t, claim.by == SOTTO_BY_COMMITTEE && isinf(claim.epsilon_local));
    /* The other way round a bin of a liar takes 1 away, instead of adding 1. */
    CHECK_NEAR(t, 2, claim.liar, 0);
    CHECK_EQUAL(t, 2, claim.liar_sums);
}

static void no_amplification_is_claimed(sotto_test *t)
{
    const sotto_recipe *recipe = read(t, text_of(t));
    sotto_recipe_claim claim;

    CHECK_OK(t, sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &t->err));
    CHECK(t, claim.sampled_by == NULL && claim.unsampled_why != NULL);
    CHECK_NEAR(t, claim.epsilon_cohort, claim.epsilon_sampled, 0);
}

static void a_claim_below_what_the_noise_gives_is_refused(sotto_test *t)
{
    sotto_recipe_claim claim;
    const char *text = replaced(t, text_of(t), "\"sigma\": 100", "\"sigma\": 40");

    CHECK_STATUS(t, SOTTO_DENIED, lint(t, text, &claim));
    CHECK(t,
          sotto_test_has_mistake(&mistakes, "privacy.epsilon", "that a committee's noise gives"));
    /* And lint says which sigma would do. */
    bool said = false;
    for (size_t i = 0; i < mistakes.count; i++)
        said |= strstr(mistakes.items[i].accepted, "a sigma of ") != NULL;
    CHECK(t, said);
}

/* Noise members that lie or are missing may add theirs all the same: intervals cover it. */
static void answers_are_as_noisy_as_they_can_be(sotto_test *t)
{
    const sotto_recipe *recipe = read(t, text_of(t));
    sotto_report_content content;

    CHECK_OK(t, sotto_recipe_content(&content, recipe, &t->err));
    const sotto_sum_noise noise = sotto_recipe_sum_noise(recipe, &content, 9000);
    CHECK_NEAR(t, 100.0 * 100 * 280 / (280 - 36 - 28), noise.gaussian, 1e-6);
    CHECK_NEAR(t, sqrt(100.0 * 100 / (280 - 36 - 28)), noise.sigma, 1e-9);
    CHECK_NEAR(t, 0, noise.skellam, 0);
}

/* ---- lint ------------------------------------------------------------------------------------------------- */

static void a_recipe_that_fits_is_accepted(sotto_test *t)
{
    sotto_encrypted e;

    accepted(t, text_of(t));
    accepted(t, replaced(t, text_of(t), "\"queries\": 118, \"grind\": 20",
                         "\"queries\": 189, \"grind\": 0"));
    CHECK_OK(t, sotto_encrypted_plan(&e, read(t, text_of(t)), &t->err));
    /* 10^4 are expected; six deviations more come once in 10^9. */
    CHECK(t, e.largest > 10550 && e.largest < 10650);
    CHECK(t, e.terms.liars > 400 && e.terms.liars < 450);
    /* exp(-0.97 * 0.8 * 40 * 9000 / (largest + 280)) */
    CHECK_NEAR(t, exp(-279360.0 / ((double)e.largest + 280)), e.odds.missed, 1e-16);
    CHECK(t, e.odds.missed < 1e-11);
    CHECK(t, e.odds.members < 1e-12 && e.odds.noise < 1e-12);
    CHECK_EQUAL(t, 158, e.set->bits_left);
}

static void nobody_but_a_committee_adds_noise(sotto_test *t)
{
    refused(t, "\"by\": \"committee\", \"sigma\": 100", "\"by\": \"servers\", \"sigma\": 100",
            "privacy.by", "nobody else adds noise");
}

typedef struct drawing {
    sotto_sim_random random;
    sotto_entropy entropy;
} drawing;

/* What all noise members add to one sum, as they draw it. */
static double drawn_deviation(sotto_test *t, const sotto_encrypted *e, unsigned draws)
{
    static int64_t parts[512];
    sotto_noise noise;
    drawing d;
    double squares = 0;

    CHECK(t, e->terms.noise_members <= 512);
    sotto_sim_random_init(&d.random, 11);
    sotto_entropy_init(&d.entropy, sotto_sim_random_fill, &d.random);
    CHECK_OK(t, sotto_noise_gaussian(&noise, e->noise.num, e->noise.den, &t->arena, &t->err));
    for (unsigned i = 0; i < draws; i++) {
        double sum = 0;

        CHECK_OK(t, sotto_noise_draw(&noise, parts, e->terms.noise_members, &d.entropy, &t->err));
        for (uint32_t j = 0; j < e->terms.noise_members; j++)
            sum += (double)parts[j];
        squares += sum * sum;
    }
    return sqrt(squares / draws);
}

/* Price finds the least noise of the committee, and what it predicts is how far sums are off. */
static void noise_of_a_committee_is_priced(sotto_test *t)
{
    static sotto_price_way ways[SOTTO_PRICE_WAYS];
    const sotto_recipe *recipe = read(t, text_of(t));
    sotto_price_question q = {.find = SOTTO_PRICE_FIND_ACCURACY,
                              .epsilon = recipe->epsilon,
                              .delta = recipe->delta,
                              .cohort = recipe->min_cohort,
                              .population = recipe->population,
                              .rate = recipe->participation.rate};
    sotto_encrypted e;
    size_t count;

    CHECK_OK(t, sotto_price_ways(ways, &count, &q, recipe, &t->arena, &t->err));
    CHECK_EQUAL(t, 1, count);
    CHECK(t, ways[0].by == SOTTO_BY_COMMITTEE && ways[0].found && ways[0].meets);
    CHECK(t, ways[0].claim.epsilon_cohort <= sotto_decimal_down(recipe->epsilon));
    CHECK(t, ways[0].recipe->sigma_milli < recipe->sigma_milli); /* which had more than it needs */
    CHECK_OK(t, sotto_encrypted_plan(&e, ways[0].recipe, &t->err));
    CHECK_NEAR(t, 1, drawn_deviation(t, &e, 2000) / ways[0].accuracy.deviation, 0.05);
    /* The most noise that still shows a bin within 2% of the reports. */
    q.find = SOTTO_PRICE_FIND_EPSILON;
    q.goal = SOTTO_GOAL_HALF_WIDTH;
    q.unit = SOTTO_UNIT_PART;
    q.wanted = 0.02;
    CHECK_OK(t, sotto_price_ways(ways, &count, &q, recipe, &t->arena, &t->err));
    CHECK(t, ways[0].meets && sotto_price_reached(&q, &ways[0].accuracy, 1e9) <= 0.02);
    CHECK(t, sotto_price_reached(&q, &ways[0].accuracy, 1e9) > 0.0198);
}

static void what_is_not_built_is_refused(sotto_test *t)
{
    refused(t, "\"queries\": 118", "\"queries\": 100", "aggregation.proof", "no such proof");
    refused(t, "\"group\": 37", "\"group\": 36", "aggregation.proof.group", "up to 37");
    refused(t, "\"type\": \"poisson\", \"rate\": 0.00001",
            "\"type\": \"donation\", \"slots\": 10, \"start\": \"2026-11-20T00:00:00Z\", "
            "\"slot\": \"1h\"",
            "participation", "by the beacon");
    refused(t, "\"encode\"", "\"cohorts\": {\"locale\": [\"en_US\", \"en_GB\"]}, \"encode\"",
            "cohorts", "one cohort");
}

/* 20,000 buckets for each phrase. */
static const char *long_text_of(sotto_test *t, unsigned committees)
{
    enum { BUCKETS = 20000, ROOM = 8 * BUCKETS };
    char *list = sotto_arena_take(&t->arena, ROOM), count[32];
    size_t len = 0;

    CHECK(t, list != NULL);
    for (unsigned i = 1; i <= BUCKETS; i++)
        len += (size_t)snprintf(list + len, ROOM - len, "%s%u", i > 1 ? "," : "[", i);
    (void)snprintf(list + len, ROOM - len, "]");
    (void)snprintf(count, sizeof count, "\"count\": %u", committees);
    return replaced(t, replaced(t, text_of(t), "[20, 30, 40, 50, 60, 70, 80]", list),
                    "\"count\": 1", count);
}

static void each_committee_has_a_group(sotto_test *t)
{
    sotto_recipe_claim claim;
    sotto_encrypted one, two;

    refused(t, "\"count\": 1", "\"count\": 4", "aggregation.committee.count",
            "4 committees for 1 groups");
    (void)!lint(t, long_text_of(t, 2), &claim);
    CHECK(t, !sotto_test_has_mistake(&mistakes, "aggregation.committee.count", ""));
    CHECK_OK(t, sotto_encrypted_plan(&one, read(t, long_text_of(t, 1)), &t->err));
    CHECK_OK(t, sotto_encrypted_plan(&two, read(t, long_text_of(t, 2)), &t->err));
    CHECK(t, two.ciphertexts > SOTTO_AERO_GROUP);
    CHECK_EQUAL(t, 2, two.terms.committees);
    /* The chance that one of two is lost, and that one of two is not there. */
    CHECK(t,
          two.odds.members >= 2 * one.odds.members && two.odds.members < 2.01 * one.odds.members);
    CHECK(t, two.stalls >= 2 * one.stalls && two.stalls < 2.01 * one.stalls);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_encrypted_plan(&two, read(t, long_text_of(t, 6)), NULL));
}

static void sizes_that_protect_nobody_are_refused(sotto_test *t)
{
    refused(t, "\"size\": 45, \"corrupt\": 18", "\"size\": 45, \"corrupt\": 10",
            "aggregation.committee", "more members lie");
    refused(t, "\"size\": 280, \"corrupt\": 36", "\"size\": 280, \"corrupt\": 20",
            "aggregation.noise", "more noise members lie");
    refused(t, "\"checks\": 40", "\"checks\": 6", "aggregation.checks", "looks at a leaf");
    refused(t, "\"min_cohort\": 8000", "\"min_cohort\": 9000", "aggregation.devices.least",
            "fewer than min_cohort");
}

static void a_robust_opening_has_its_limits(sotto_test *t)
{
    static const char fast[] = "\"count\": 1", robust[] = "\"count\": 1, \"opening\": \"robust\"";
    const char *text = replaced(t, text_of(t), fast, robust);
    sotto_encrypted slow, quick;
    char said[8192];
    sotto_buf out = sotto_buf_over(said, sizeof said - 1);
    sotto_recipe_claim claim;

    CHECK_OK(t, sotto_encrypted_plan(&quick, read(t, text_of(t)), &t->err));
    CHECK_OK(t, sotto_encrypted_plan(&slow, read(t, text), &t->err));
    CHECK_EQUAL(t, SOTTO_AERO_FAST, quick.terms.opening);
    CHECK_EQUAL(t, SOTTO_AERO_ROBUST, slow.terms.opening);
    /* 37 of 45 have to agree, in place of 19; and what openings tell is more. */
    CHECK(t, slow.stalls > 1000 * quick.stalls && slow.ledger.rho > quick.ledger.rho);
    CHECK_OK(t, lint(t, text, &claim));
    CHECK_OK(t, sotto_recipe_explain(&out, read(t, text), &claim, &t->err));
    said[out.len] = 0;
    CHECK(t, strstr(said, "who lied is named") != NULL);
    /* 47 of 45 would have to, and nobody deals noise for 40 ciphertexts. */
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_encrypted_plan(
            &slow, read(t, replaced(t, text, "\"corrupt\": 18", "\"corrupt\": 23")), &t->err));
    CHECK_REASON(t, "47 have to agree");
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_encrypted_plan(&slow, read(t, replaced(t, long_text_of(t, 1), fast, robust)),
                                      &t->err));
    CHECK_REASON(t, "can't deal noise");
    t->err = (sotto_err){0};
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_encrypted_plan(&slow, read(t, replaced(t, text, fast, "\"count\": 2")), &t->err));
    CHECK_REASON(t, "one committee");
    t->err = (sotto_err){0};
}

/* The same question to 2,000 to 2,100 devices, of whom all contribute. */
static const char *small_text_of(sotto_test *t, unsigned clear, unsigned most)
{
    char devices[96];

    (void)snprintf(devices, sizeof devices, "\"least\": 2000, \"most\": %u, \"clear\": %u", most,
                   clear);
    const char *text =
        replaced(t, text_of(t), "\"least\": 900000000, \"most\": 1000000000", devices);
    text = replaced(t, text, "\"rate\": 0.00001", "\"rate\": 1");
    text = replaced(t, text, "\"min_cohort\": 8000", "\"min_cohort\": 1000");
    return replaced(t, text, "\"population\": 1000000000", "\"population\": 2000");
}

static void devices_that_are_counted_are_there(sotto_test *t)
{
    sotto_recipe_claim claim;
    sotto_encrypted none, some, less, wider;

    CHECK_OK(t, sotto_encrypted_plan(&none, read(t, small_text_of(t, 0, 2100)), &t->err));
    CHECK_OK(t, sotto_encrypted_plan(&some, read(t, small_text_of(t, 1552, 2100)), &t->err));
    CHECK_OK(t, sotto_encrypted_plan(&less, read(t, small_text_of(t, 1000, 2100)), &t->err));
    CHECK_OK(t, sotto_encrypted_plan(&wider, read(t, small_text_of(t, 1000, 9000)), &t->err));
    CHECK_EQUAL(t, 0, none.terms.clears);
    CHECK_EQUAL(t, 1552, some.terms.clears);
    /* 1,552 - 63 corrupt ones are fewer than the 1,552 that are assumed without a count. */
    CHECK(t, some.odds.missed > none.odds.missed && less.odds.missed > some.odds.missed);
    /* Of 9,000 devices 270 are corrupt; they have more leaves, too. */
    const double looks = (1000 - 0.03 * 9000) * 40 / (9000 + 280.0);
    CHECK_NEAR(t, exp(-looks), wider.odds.missed, 1e-6 * exp(-looks));
    char said[2048];
    sotto_buf out = sotto_buf_over(said, sizeof said - 1);
    sotto_writer w = sotto_writer_on(&out);
    sotto_encrypted_say_odds(&w, &none);
    said[out.len] = 0;
    CHECK(t, !strstr(said, "found nothing wrong"));
    sotto_encrypted_say_odds(&w, &some);
    said[out.len] = 0;
    CHECK(t, strstr(said, "once 1552 devices said that they found nothing wrong in it") != NULL);
    /* 0.97 * 0.8 of 2,000 */
    (void)!lint(t, small_text_of(t, 1552, 2100), &claim);
    CHECK(t, !sotto_test_has_mistake(&mistakes, "aggregation.devices.clear", ""));
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_DENIED, lint(t, small_text_of(t, 1553, 2100), &claim));
    CHECK(t,
          sotto_test_has_mistake(&mistakes, "aggregation.devices.clear", "no sum would be opened"));
}

static void sums_that_do_not_fit_are_refused(sotto_test *t)
{
    refused(t, "\"bits\": 16", "\"bits\": 4", "aggregation", "do not fit 4 bits");
    refused(t, "\"size\": 280, \"corrupt\": 36, \"missing\": 28",
            "\"size\": 280, \"corrupt\": 252, \"missing\": 28", "aggregation",
            "noise committee of 280");
    refused(t, "\"parameters\": \"b87\"", "\"parameters\": \"b65\"", "aggregation",
            "no parameter set");
}

static void a_weak_set_is_told(sotto_test *t)
{
    sotto_recipe_claim claim;
    bool said = false;

    CHECK_OK(t, lint(t, replaced(t, text_of(t), "\"b87\"", "\"b109\""), &claim));
    for (size_t i = 0; i < mistakes.count; i++)
        said |= strstr(mistakes.items[i].what, "125 bits of security") != NULL;
    CHECK(t, said);
}

/* ---- words ------------------------------------------------------------------------------------------------ */

static void an_explanation_says_what_is_assumed(sotto_test *t)
{
    const sotto_recipe *recipe = read(t, text_of(t));
    sotto_recipe_claim claim;
    char said[8192];
    sotto_buf out = sotto_buf_over(said, sizeof said - 1);

    CHECK_OK(t, sotto_recipe_lint(&claim, recipe, NULL, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_explain(&out, recipe, &claim, &t->err));
    said[out.len] = 0;
    CHECK(t, strstr(said, "leaves your device encrypted") != NULL);
    CHECK(t, strstr(said, "of 900000000 to 1000000000 devices") != NULL);
    CHECK(t, strstr(said, "a public beacon tosses") != NULL);
    CHECK(t, strstr(said, "18 of 45 members, and 36 of 280 noise members, may lie") != NULL);
    CHECK(t, strstr(said, "158 bits of security") != NULL);
    CHECK(t, strstr(said, "sigma 100 on every sum") != NULL);
    CHECK(t, strstr(said, "lowers no epsilon") != NULL);
    CHECK(t, !strstr(said, "masked vectors"));
}

/* A statistic is one round. */
static void a_statistic_has_no_key_for_several_rounds(sotto_test *t)
{
    const char *text = replaced(t, text_of(t), "\"rekey\": \"round\"", "\"rekey\": 2");
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_recipe_read(&recipe, sotto_bytes_of(text, strlen(text)), &t->arena,
                                   &mistakes, &t->err));
    CHECK(t, sotto_test_has_mistake(&mistakes, "aggregation.rekey", "not a text"));
    t->err = (sotto_err){0};
}

/* A round that spans the schedule would be one that no device joins. */
static void lint_knows_how_long_a_round_is(sotto_test *t)
{
    static const struct {
        const char *closes;
        bool warns;
    } cases[] = {{"2026-12-21T00:00:00Z", false}, {"2026-12-21T01:00:00Z", true}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_recipe_claim claim;

        CHECK_OK(t,
                 lint(t, replaced(t, text_of(t), "2026-11-27T00:00:00Z", cases[i].closes), &claim));
        CHECK(t, sotto_test_has_mistake(&mistakes, "schedule", "31 days") == cases[i].warns);
        CHECK_EQUAL(t, 0, mistakes.errors);
    }
}

/* ---- rounds ----------------------------------------------------------------------------------------------- */

static void a_round_must_be_as_its_recipe_says(sotto_test *t)
{
    const sotto_recipe *recipe = read(t, text_of(t));
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED], others[SOTTO_AERO_TERMS_HANDED];
    sotto_round round = {.registered = 950000000};
    sotto_aero_terms terms;
    sotto_encrypted e;

    CHECK_OK(t, sotto_encrypted_plan(&e, recipe, &t->err));
    CHECK_OK(t, sotto_encrypted_round(&round, parameters, &e, recipe, &t->err));
    CHECK_OK(t, sotto_encrypted_agrees(&round, &e, recipe, &t->err));
    CHECK_EQUAL(t, 8000, round.least);
    CHECK_EQUAL(t, 216, round.noise.shares);
    CHECK_EQUAL(t, 1, round.norm2);
    /* Every field that a server could make worse. */
    for (unsigned i = 0; i < 8; i++) {
        sotto_round other = round;

        memcpy(others, parameters, round.parameters.len);
        other.parameters = sotto_bytes_of(others, round.parameters.len);
        other.recipe[0] ^= i == 0;
        other.length += i == 1;
        other.norm2 += i == 2;
        other.least -= i == 3;
        other.noise.num -= i == 4;
        other.registered = i == 5 ? 899999999 : i == 6 ? 1000000001 : other.registered;
        CHECK_OK(t, sotto_aero_terms_decode(&terms, other.parameters, &t->err));
        terms.epsilon += i == 7; /* a budget that is too large */
        sotto_buf out = sotto_buf_over(others, sizeof others);
        CHECK_OK(t, sotto_aero_terms_encode(&out, &terms, &t->err));
        CHECK_STATUS(t, SOTTO_DENIED, sotto_encrypted_agrees(&other, &e, recipe, &t->err));
        t->err = (sotto_err){0};
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_claim_is_by_the_noise_that_is_sure_to_be_there),
        CASE(no_amplification_is_claimed),
        CASE(a_claim_below_what_the_noise_gives_is_refused),
        CASE(answers_are_as_noisy_as_they_can_be),
        CASE(a_recipe_that_fits_is_accepted),
        CASE(nobody_but_a_committee_adds_noise),
        CASE(noise_of_a_committee_is_priced),
        CASE(what_is_not_built_is_refused),
        CASE(a_statistic_has_no_key_for_several_rounds),
        CASE(lint_knows_how_long_a_round_is),
        CASE(each_committee_has_a_group),
        CASE(sizes_that_protect_nobody_are_refused),
        CASE(a_robust_opening_has_its_limits),
        CASE(devices_that_are_counted_are_there),
        CASE(sums_that_do_not_fit_are_refused),
        CASE(a_weak_set_is_told),
        CASE(an_explanation_says_what_is_assumed),
        CASE(a_round_must_be_as_its_recipe_says),
    };
    return RUN_TESTS(argc, argv, cases);
}
