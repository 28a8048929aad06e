/* Learning recipes in which a device draws one round: what lint asks of them, and what drawing in secret gains. */
#include "account/gauss/allocation.h"
#include "base/arena.h"
#include "recipe/claim.h"
#include "recipe/learning_slots.h"
#include "support/judged.h"
#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANONYMITY                                                                                  \
    "\"anonymity\": {\"relay\": \"relay\", \"gateway\": \"gateway\", \"tokens\": \"arc\","         \
    " \"attester\": \"attester\", \"log\": \"main\"}"
#define WHEN    "\"start\": \"2026-12-01T00:00:00Z\", \"slot\": \"1h\""
#define DRAWN   "\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 24, " WHEN
#define DONATED "\"type\": \"donation\", \"rate\": 1, \"slots\": 24, " WHEN
/* 48 slots of a quarter of an hour in each of 12 rounds. */
#define FIXED                                                                                      \
    "\"type\": \"check-in\", \"variant\": \"fixed\", \"window\": 576, \"start\":"                  \
    " \"2026-12-01T00:00:00Z\", \"slot\": \"15m\""
#define SLIDING "\"type\": \"check-in\", \"variant\": \"sliding\", \"window\": 6, " WHEN

static const char text[] =
    "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
    " \"learn\": {\"model\": {\"type\": \"mlp\", \"parameters\": 400, \"init\":"
    " \"0000000000000000000000000000000000000000000000000000000000000000\"},"
    " \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 100},"
    " \"local\": {\"batch\": 20, \"rate\": 0.1}, \"update\": {\"clip\": 0.5, \"scale\": 32768},"
    " \"server\": {}}, \"rounds\": {\"count\": 24, \"every\": \"1h\", \"goal\": 1000,"
    " \"largest\": 12000, \"participations\": 1},"
    " \"participation\": {" DRAWN "},"
    " \"privacy\": {\"by\": \"servers\", \"multiplier\": 8, \"adjacency\": \"replacement\","
    " \"epsilon\": 1.4, \"delta\": 1e-6, \"min_cohort\": 1000},"
    " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\":"
    " \"key:helper\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 1.2}}, " ANONYMITY ","
    " \"schedule\": {\"opens\": \"2026-12-01T00:00:00Z\", \"closes\": \"2026-12-08T00:00:00Z\","
    " \"precision\": \"1h\"}, \"population\": 200000}";

typedef sotto_test_judged judged;

static sotto_bytes with(sotto_test *t, const char *old, const char *new)
{
    return sotto_test_replace(t, text, old, new);
}

static sotto_bytes and_with(sotto_test *t, sotto_bytes from, const char *old, const char *new)
{
    return sotto_test_replace(t, (const char *)from.data, old, new);
}

static sotto_bytes fixed(sotto_test *t)
{
    sotto_bytes out = with(t, DRAWN, FIXED);

    out = and_with(t, out, "\"count\": 24, \"every\": \"1h\", \"goal\": 1000",
                   "\"count\": 12,"
                   " \"every\": \"12h\", \"goal\": 20");
    out = and_with(t, out, "\"min_cohort\": 1000", "\"min_cohort\": 20");
    return and_with(t, out, "\"precision\": \"1h\"", "\"precision\": \"15m\"");
}

static judged *sound(sotto_test *t, sotto_bytes recipe)
{
    judged *j = sotto_test_judge(t, recipe, NULL);

    for (size_t i = 0; i < j->mistakes.count; i++)
        if (j->mistakes.items[i].severity == SOTTO_MISTAKE)
            (void)fprintf(stderr, "%s: %s\n", j->mistakes.items[i].path, j->mistakes.items[i].what);
    CHECK_STATUS(t, SOTTO_OK, j->status);
    return j;
}

static bool refused(const judged *j, const char *path, const char *what)
{
    for (size_t i = 0; i < j->mistakes.count; i++)
        if (j->mistakes.items[i].severity == SOTTO_MISTAKE &&
            strcmp(j->mistakes.items[i].path, path) == 0 && strstr(j->mistakes.items[i].what, what))
            return j->status != SOTTO_OK;
    return false;
}

/* ---- slots are rounds --------------------------------------------------------------------------------------- */

static void slots_are_the_recipes_rounds(sotto_test *t)
{
    static const struct {
        const char *old, *new, *path, *what;
    } cases[] = {
        {"\"start\": \"2026-12-01T00", "\"start\": \"2026-12-01T01", "participation.start",
         "begin"},
        {"\"slot\": \"1h\"", "\"slot\": \"2h\"", "participation.slot", "be a round"},
        {"\"window\": 24", "\"window\": 23", "participation.window", "of all rounds"},
        {DRAWN, "\"type\": \"donation\", \"rate\": 1, \"slots\": 25, " WHEN, "participation.slots",
         "of all rounds"},
        {DRAWN, "\"type\": \"check-in\", \"variant\": \"sliding\", \"window\": 25, " WHEN,
         "participation.window", "no round"},
        {DRAWN, FIXED, "participation.slot", "bucket of time"},
        {"\"participations\": 1", "\"participations\": 2", "rounds.participations", "one round"},
        {"\"participations\": 1", "\"participations\": 1, \"on_no_turn\": \"zeros\"",
         "rounds.on_no_turn", "one round"},
        {"\"by\": \"servers\"", "\"by\": \"shares\"", "privacy.by", "empty slots add none"},
        {DRAWN,
         "\"type\": \"importance\", \"rate_default\": 0.1, \"rate_other\": 0.2, \"default_share\":"
         " 0.5",
         "participation.type", "rare"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!refused(sotto_test_judge(t, with(t, cases[i].old, cases[i].new), NULL), cases[i].path,
                     cases[i].what)) {
            (void)fprintf(stderr, "%s is not refused\n", cases[i].path);
            CHECK(t, false);
        }
    (void)sound(t, fixed(t));
    CHECK(t, refused(sotto_test_judge(
                         t, and_with(t, fixed(t), "\"window\": 576", "\"window\": 575"), NULL),
                     "participation.window", "a slot of a round"));
    CHECK(t, refused(sotto_test_judge(
                         t, and_with(t, fixed(t), "\"largest\": 12000", "\"largest\": 47"), NULL),
                     "rounds.largest", "48 slots"));
}

static void policies_say_how_many_are_expected(sotto_test *t)
{
    const sotto_learning *l = sound(t, sotto_bytes_of(text, strlen(text)))->learning;

    CHECK(t, sotto_learning_once(l) && !sotto_learning_once(NULL));
    CHECK(t, strcmp("all", sotto_round_policy_name(sotto_learning_policy(l))) == 0);
    CHECK_NEAR(t, 200000 / 24.0, sotto_learning_expected(l, 3), 1e-6);
    CHECK_NEAR(t, 200000 / 24.0, sotto_learning_divisor(l, 3), 1e-6);
    l = sound(t, with(t, DRAWN, DONATED))->learning;
    CHECK_NEAR(t, 200000 / 24.0 * pow(23 / 24.0, 5), sotto_learning_divisor(l, 5), 1e-6);
    CHECK(t, sotto_learning_policy(l) == SOTTO_ROUND_ALL);
    l = sound(t, with(t, DRAWN, SLIDING))->learning;
    CHECK(t, strcmp("all-after-warm-up", sotto_round_policy_name(sotto_learning_policy(l))) == 0);
    CHECK_EQUAL(t, 5, sotto_learning_warm_up(l));
    CHECK_EQUAL(t, 6, sotto_learning_reach(l));
    CHECK_NEAR(t, 200000 / 24.0, sotto_learning_divisor(l, 9), 1e-6);
    l = sound(t, fixed(t))->learning;
    CHECK(t, strcmp("one-of", sotto_round_policy_name(sotto_learning_policy(l))) == 0);
    CHECK_EQUAL(t, 48, sotto_learning_slots(l));
    CHECK_NEAR(t, 48, sotto_learning_divisor(l, 0), 0); /* empty slots are dummies */
    CHECK_NEAR(t, 48, sotto_learning_expected(l, 0), 1e-6);
}

/* ---- what it gains ------------------------------------------------------------------------------------------- */

static sotto_slots_claim claim_of(sotto_test *t, sotto_bytes recipe, uint64_t seen)
{
    const judged *j = sound(t, recipe);
    sotto_slots_claim out;

    sotto_slots_claim_of(&out, j->learning, &j->claim, seen);
    return out;
}

/* Epsilon and delta of two steps, each a real allocation: what is claimed is no less, and hardly more. */
static void check_two_steps(sotto_test *t, sotto_bytes recipe, double moves, double reach)
{
    const judged *j = sound(t, recipe);
    sotto_slots_claim c;
    sotto_bound once;

    sotto_slots_claim_of(&c, j->learning, &j->claim, j->learning->rounds);
    CHECK(t, c.why == NULL && c.epsilon < j->claim.epsilon);
    CHECK_OK(t, sotto_allocation_eps(&once, SOTTO_ALLOCATION_MAX,
                                     j->claim.sigma / (moves * j->claim.norm), reach,
                                     log(15.0 / 16 * 1e-6 / (1 + exp(c.epsilon / 2))), &t->err));
    CHECK(t, c.epsilon / 2 >= once.high);
    CHECK(t, c.epsilon / 2 <= 1.02 * once.high + 1e-3);
}

static void a_round_drawn_in_secret_costs_less(sotto_test *t)
{
    const sotto_bytes recipe = sotto_bytes_of(text, strlen(text));
    double last = 0;

    check_two_steps(t, recipe, 1, 24);
    check_two_steps(t, with(t, DRAWN, DONATED), 1, 24);
    check_two_steps(t, with(t, DRAWN, SLIDING), 1, 6);
    for (uint64_t seen = 1; seen <= 24; seen += 23) {
        const sotto_slots_claim c = claim_of(t, recipe, seen);

        CHECK(t, c.epsilon > last); /* it rises to that of the whole session */
        CHECK(t, strstr(c.theorem, "random allocation") && strstr(c.honest, "leader and helper"));
        last = c.epsilon;
    }
    CHECK_NEAR(t, 0, claim_of(t, with(t, DRAWN, SLIDING), 5).epsilon, 0); /* the warm-up */
    CHECK(t, claim_of(t, with(t, DRAWN, SLIDING), 6).epsilon > 0);
}

/* A device that comes takes another's place, so a sum moves by two updates. */
static void one_report_of_a_slot_moves_a_sum_by_two(sotto_test *t)
{
    check_two_steps(t, fixed(t), 2, 12);
}

static void a_gain_is_claimed_only_where_nobody_sees_who_came(sotto_test *t)
{
    const sotto_bytes type2 =
        with(t, "\"tokens\": \"arc\"", "\"tokens\": \"type-2\", \"issuer\": \"key:issuer\"");
    sotto_slots_claim c = claim_of(t, with(t, ", " ANONYMITY, ""), 24);

    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "relay"));
    c = claim_of(t, with(t, "\"relay\": \"relay\", \"gateway\": \"gateway\", ", ""), 24);
    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "relay"));
    c = claim_of(t, type2, 24); /* one for each round */
    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "ARC"));
}

/* Half of the population is honest: 4,166 are expected of them. A round with fewer than min_cohort would tell. */
static void a_round_that_might_burn_tells_who_came(sotto_test *t)
{
    sotto_bytes recipe = with(t, "\"goal\": 1000", "\"goal\": 4000");
    sotto_slots_claim c;

    recipe = and_with(t, recipe, "\"min_cohort\": 1000", "\"min_cohort\": 4000");
    c = claim_of(t, recipe, 24);
    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "fewer reports"));
    c = claim_of(t, with(t, "\"largest\": 12000", "\"largest\": 8500"), 24);
    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "largest"));
    /* Of 800 devices 400 are honest: half of the slots of a round are empty without the others. */
    recipe = and_with(t, fixed(t), "\"population\": 200000", "\"population\": 800");
    c = claim_of(t, recipe, 12);
    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "fewer reports"));
}

/* Two rounds hide little, and two steps of two updates each cost more than one of two. */
static void a_gain_that_is_none_is_not_claimed(sotto_test *t)
{
    sotto_bytes recipe = and_with(t, fixed(t), "\"window\": 576", "\"window\": 96");
    sotto_slots_claim c;

    recipe = and_with(t, recipe, "\"count\": 12", "\"count\": 2");
    c = claim_of(t, recipe, 2);
    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "no less"));
}

/* The theorem is about real noise. */
static void integers_that_are_coarse_claim_no_gain(sotto_test *t)
{
    const sotto_slots_claim c = claim_of(t, with(t, "\"scale\": 32768", "\"scale\": 256"), 24);

    CHECK(t, isinf(c.epsilon) && c.why && strstr(c.why, "coarse"));
}

/* Samples that are fresh in each round have another theorem, whose law this is not. */
static void rounds_drawn_once_are_no_samples(sotto_test *t)
{
    const judged *j = sound(t, sotto_bytes_of(text, strlen(text)));

    CHECK(t, isinf(j->claim.sampled_epsilon) && strstr(j->claim.unsampled_why, "one round"));
}

static bool explains(sotto_test *t, sotto_bytes recipe, const char *words)
{
    const judged *j = sound(t, recipe);
    sotto_buf out = sotto_test_buf(t, 1 << 14);

    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    CHECK(t, out.len < out.cap);
    out.data[out.len] = 0;
    return strstr((const char *)out.data, words) != NULL;
}

static void an_explanation_says_what_is_drawn_and_who_must_be_honest(sotto_test *t)
{
    const sotto_bytes recipe = sotto_bytes_of(text, strlen(text));

    CHECK(t, explains(t, recipe, "one of 24, which it draws in secret"));
    CHECK(t, explains(t, recipe, "How many reports a round has is not released"));
    CHECK(t, explains(t, recipe, "after 12 rounds: epsilon "));
    CHECK(t, explains(t, recipe, "That counts on leader and helper"));
    CHECK(t, explains(t, with(t, DRAWN, DONATED), "the first head of coins"));
    CHECK(t, explains(t, with(t, DRAWN, SLIDING), "Nothing is released of the first 5 rounds"));
    CHECK(t, explains(t, fixed(t), "A round has 48 slots"));
    CHECK(t,
          explains(t, with(t, ", " ANONYMITY, ""), "drawing one round in secret is not claimed"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(slots_are_the_recipes_rounds),
        CASE(policies_say_how_many_are_expected),
        CASE(a_round_drawn_in_secret_costs_less),
        CASE(one_report_of_a_slot_moves_a_sum_by_two),
        CASE(a_gain_is_claimed_only_where_nobody_sees_who_came),
        CASE(a_round_that_might_burn_tells_who_came),
        CASE(a_gain_that_is_none_is_not_claimed),
        CASE(integers_that_are_coarse_claim_no_gain),
        CASE(rounds_drawn_once_are_no_samples),
        CASE(an_explanation_says_what_is_drawn_and_who_must_be_honest),
    };
    return RUN_TESTS(argc, argv, cases);
}
