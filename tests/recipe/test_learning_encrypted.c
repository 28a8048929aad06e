/* Learning recipes whose updates are added up encrypted: what lint asks of them, what they claim, and what a round of them is. */
#include "recipe/learning_encrypted.h"

#include "account/gauss/rdp.h"
#include "crypto/hash.h"
#include "recipe/claim.h"
#include "support/encrypted_learning.h"
#include "support/judged.h"
#include "support/one_learning.h"
#include "support/recipes.h"

#include <math.h>
#include <string.h>

typedef sotto_test_judged judged;

static const uint8_t model[32] = {7};

static const judged *judge(sotto_test *t, const char *old, const char *new)
{
    return sotto_test_judge(t, sotto_test_encrypted_learning(t, model, old, new), NULL);
}

static void refused(sotto_test *t, const char *old, const char *new, const char *path,
                    const char *what)
{
    const judged *j = judge(t, old, new);

    CHECK(t, j->status != SOTTO_OK);
    CHECK(t, sotto_test_has_mistake(&j->mistakes, path, what));
}

static sotto_encrypted plan_of(sotto_test *t, const sotto_learning *l)
{
    sotto_encrypted plan;

    CHECK_OK(t, sotto_learning_encrypted_plan(&plan, l, &t->err));
    return plan;
}

/* ---- claims ----------------------------------------------------------------------------------------------- */

/* Updates of 2048 steps, a little longer on the grid, over noise of eight times as much: rho is 2 (norm / sigma)^2. Four of twelve members are
 * counted on. */
static void the_noise_of_a_committee_is_priced(sotto_test *t)
{
    const judged *j = judge(t, NULL, NULL);
    const sotto_encrypted plan = plan_of(t, j->learning);
    const double norm = sqrt((double)plan.sum.norm2);
    sotto_bound eps;

    CHECK_STATUS(t, SOTTO_OK, j->status);
    CHECK(t, sotto_learning_is_encrypted(j->learning) && sotto_learning_one_server(j->learning));
    CHECK(t, norm >= 2048 && norm < 2080);
    CHECK_EQUAL(t, 4, plan.noise.shares);
    CHECK_NEAR(t, 16384.0 * 16384 / 4, (double)plan.noise.num / (double)plan.noise.den, 1e-6);
    CHECK(t, j->claim.rho >= 2 * pow(norm / 16384, 2));
    CHECK_NEAR(t, 2 * pow(norm / 16384, 2) + plan.ledger.rho, j->claim.rho, 1e-9);
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, 3 * j->claim.rho, log(1e-6), &t->err));
    CHECK(t, j->claim.epsilon >= eps.high && j->claim.epsilon < 1.02 * eps.high);
    CHECK(t, strstr(j->claim.theorem, "proposition 14") != NULL);
    CHECK(t, j->claim.device_sigma <= 0 && j->claim.sigma >= 16384);
}

/* What is proved of everybody is what honest updates are held to. */
static void a_liars_update_is_no_longer_than_an_honest_one(sotto_test *t)
{
    const judged *j = judge(t, NULL, NULL);
    const double norm = sqrt((double)plan_of(t, j->learning).sum.norm2);

    CHECK(t, (double)j->claim.bound >= norm && (double)j->claim.bound < norm + 2);
    CHECK_NEAR(t, norm / 2048, sotto_learning_reach_in_clips(j->learning, &j->claim), 1e-3);
    CHECK(t, j->claim.report_bytes > 600000 && j->claim.report_bytes < 1000000);
}

/* Two groups: each is proved by itself, so their squares add up. */
static void groups_are_priced_together(sotto_test *t)
{
    const judged *j = judge(t, "\"parameters\": 120", "\"parameters\": 152000");
    const sotto_encrypted plan = plan_of(t, j->learning);

    CHECK_EQUAL(t, 38, plan.ciphertexts);
    CHECK_NEAR(t, 4 * (double)plan.sum.norm2 / (16384.0 * 16384) + plan.ledger.rho, j->claim.rho,
               1e-3 * j->claim.rho);
}

static void rounds_of_a_device_are_one_budget(sotto_test *t)
{
    static const char old[] = "\"participations\": 3";
    const judged *three = judge(t, NULL, NULL), *one = judge(t, old, "\"participations\": 1");

    CHECK_NEAR(t, three->claim.rho, one->claim.rho, 1e-12);
    CHECK(t, one->claim.epsilon < 0.7 * three->claim.epsilon);
    CHECK_EQUAL(t, 3, plan_of(t, three->learning).terms.participations);
    CHECK_EQUAL(t, 3000000, plan_of(t, three->learning).terms.epsilon);
    CHECK_STATUS(t, SOTTO_DENIED, judge(t, "\"epsilon\": 3", "\"epsilon\": 2")->status);
}

/* 120 entries of 12 noise members in 48 rounds: 69,120 draws, each within 2^-100 of its law. What they cost of delta is paid for one round's,
 * and not for all. */
static void draws_of_all_rounds_are_paid_for(sotto_test *t)
{
    sotto_encrypted plan = plan_of(t, judge(t, NULL, NULL)->learning);
    const double paid = 0.9e-3 * 0x1p-40, each = 0x1p-100;
    sotto_answer answer;
    sotto_bound eps;

    plan.terms.delta_bits = 40;
    plan.sum.participations = 48;
    plan.rho = 0.0856;
    CHECK_OK(t, sotto_zcdp_epsilon(&eps, 48 * plan.rho, -40 * log(2) - 1e-3, &t->err));
    CHECK(t, plan.terms.noise_members == 12 && plan.sum.entries == 120);
    CHECK(t, (1 + exp(eps.high)) * 12 * 120 * each < paid);
    CHECK(t, (1 + exp(eps.high)) * 48 * 12 * 120 * each > paid);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_encrypted_claim_plan(&answer, &plan, &t->err));
    CHECK_REASON(t, "draws of this noise cost too much");
    sotto_err_clear(&t->err);
    plan.sum.participations = 1;
    plan.rho *= 48;
    CHECK_OK(t, sotto_encrypted_claim_plan(&answer, &plan, &t->err));
}

static void nothing_is_gained_by_taking_part_at_random(sotto_test *t)
{
    const judged *j = judge(t, NULL, NULL);

    CHECK(t, strstr(j->claim.unsampled_why, "the one server sees who takes part") != NULL);
    CHECK(t, isinf(j->claim.sampled_epsilon));
}

/* ---- lint ------------------------------------------------------------------------------------------------- */

/* So nothing is claimed of it, whoever asks, with lint or without. */
static void not_read(sotto_test *t, sotto_bytes text)
{
    static sotto_mistakes mistakes;
    const sotto_learning *learning;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_learning_read(&learning, text, &t->arena, &mistakes, &t->err));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.by", "only encrypted sums"));
    sotto_err_clear(&t->err);
}

static void nobody_but_a_committee_adds_noise(sotto_test *t)
{
    refused(t, "\"by\": \"committee\"", "\"by\": \"shares\"", "privacy.by", "nobody else adds");
    refused(t, "\"by\": \"committee\"", "\"by\": \"servers\"", "privacy.by", "nobody else adds");
    not_read(t, sotto_test_one_learning(t, model, "\"by\": \"shares\"", "\"by\": \"committee\""));
    not_read(t, sotto_test_learning_with(t, "\"by\": \"shares\"", "\"by\": \"committee\""));
}

static void noise_is_not_correlated_over_rounds(sotto_test *t)
{
    static const char
        old[] = "\"by\": \"committee\"",
        new[] = "\"by\": \"committee\", \"correlation\": {\"type\": \"tree\", \"restart\": 8}";
    static sotto_mistakes mistakes;
    const sotto_learning *learning;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK(t, sotto_learning_read(&learning, sotto_test_encrypted_learning(t, model, old, new),
                                 &t->arena, &mistakes, &t->err) != SOTTO_OK);
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy.by",
                                    "devices of a round are others than those of the next"));
}

static void lint_asks_what_it_asks_of_statistics(sotto_test *t)
{
    refused(t, "\"size\": 12, \"corrupt\": 7, \"count\": 1",
            "\"size\": 12, \"corrupt\": 6, \"count\": 1", "aggregation.committee", "more members");
    refused(t, "\"count\": 1", "\"count\": 2", "aggregation.committee.count",
            "committees for 1 groups");
    refused(t, "\"checks\": 40", "\"checks\": 20", "aggregation.checks", "looks at a leaf");
    refused(t, "\"bits\": 18", "\"bits\": 12", "aggregation", "do not fit 12 bits");
    refused(t, "\"population\": 32", "\"population\": 32, \"anonymity\": {\"log\": \"main\"}",
            "anonymity", "can't hide");
}

/* A chance of 2.9e-10 in a round is more than a forty-eighth of 10^-8. */
static void odds_are_those_of_all_rounds_of_a_device(sotto_test *t)
{
    const sotto_bytes once =
        sotto_test_encrypted_learning(t, model, "\"delta\": 1e-6", "\"delta\": 1e-8");
    const judged *three = sotto_test_judge(t, once, NULL);
    const judged *many =
        sotto_test_judge(t,
                         sotto_test_replace(t, (const char *)once.data, "\"participations\": 3",
                                            "\"participations\": 48"),
                         NULL);

    CHECK(t, !sotto_test_has_mistake(&three->mistakes, "aggregation.committee", "more members"));
    CHECK(t, sotto_test_has_mistake(&many->mistakes, "aggregation.committee", "more members"));
}

/* 2.9e-10 twice and 1.6e-10, three times: each of them is below a third of 10^-9, and all of them together are above it. */
static void odds_are_added_up(sotto_test *t)
{
    static const char old[] = "\"delta\": 1e-6";
    const judged *fine = judge(t, old, "\"delta\": 1e-8"), *j = judge(t, old, "\"delta\": 1e-9");
    const sotto_encrypted plan = plan_of(t, j->learning);

    CHECK(t, 3 * plan.odds.members < 1e-9 && 3 * plan.odds.noise < 1e-9);
    CHECK(t, 3 * plan.odds.missed < 1e-9 && j->status != SOTTO_OK);
    CHECK(t, sotto_test_has_mistake(&j->mistakes, "aggregation", "in one of a device's rounds"));
    CHECK(t, !sotto_test_has_mistake(&j->mistakes, "aggregation.committee", "more members"));
    CHECK(t, !sotto_test_has_mistake(&fine->mistakes, "aggregation", "in one of a device's"));
}

static void turns_are_not_hidden_from_one_server(sotto_test *t)
{
    refused(t, "\"largest\": 32", "\"largest\": 32, \"on_no_turn\": \"zeros\"", "rounds.on_no_turn",
            "the one server sees");
}

static void a_sum_has_room_for_all_that_may_come(sotto_test *t)
{
    refused(t, "\"largest\": 32", "\"largest\": 31", "rounds.largest", "a cohort of 32");
}

/* A ciphertext begins with the round, in as many bits as an entry has. */
static void rounds_fit_the_entries(sotto_test *t)
{
    sotto_learning l = *judge(t, NULL, NULL)->learning;
    sotto_encrypted plan;

    l.rounds = (1 << 17) - 1;
    CHECK_OK(t, sotto_learning_encrypted_plan(&plan, &l, &t->err));
    l.rounds = 1 << 17;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_learning_encrypted_plan(&plan, &l, &t->err));
    CHECK_REASON(t, "do not fit 18 bits");
}

/* ---- keys for several rounds ----------------------------------------------------------------------------- */

#define REST                                                                                       \
    " \"noise\": {\"size\": 12, \"corrupt\": 7, \"missing\": 1}, \"checks\": 40,"                  \
    " \"proof\": {\"queries\": 118, \"grind\": 20, \"group\": 37}, \"rekey\": "
#define BEFORE "\"committee\": {\"size\": 12, \"corrupt\": 7, \"count\": 1}," REST "\"round\""
#define LARGER "\"committee\": {\"size\": 21, \"corrupt\": 9, \"count\": 1}," REST

static void a_key_serves_as_many_rounds_as_the_recipe_says(sotto_test *t)
{
    static char memory[8192];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    const judged *three = judge(t, BEFORE, LARGER "3"), *one = judge(t, BEFORE, LARGER "\"round\"");
    const sotto_encrypted a = plan_of(t, one->learning), b = plan_of(t, three->learning);

    CHECK_STATUS(t, SOTTO_OK, three->status);
    CHECK_EQUAL(t, 0, a.terms.rekey);
    CHECK_EQUAL(t, 3, b.terms.rekey);
    CHECK_EQUAL(t, 3 * a.ledger.hints, b.ledger.hints);
    CHECK(t, b.ledger.sigma_left < a.ledger.sigma_left);
    CHECK_NEAR(t, 3 * a.odds.members, b.odds.members, 1e-12 * a.odds.members);
    CHECK(t, three->claim.epsilon >= one->claim.epsilon);
    CHECK_OK(t, sotto_learning_explain(&out, three->learning, &three->claim, &t->err));
    CHECK(t, strstr(memory, "Up to 3 rounds have one key") != NULL);
}

static void a_key_that_nobody_can_hand_over_is_refused(sotto_test *t)
{
    refused(t, "\"rekey\": \"round\"", "\"rekey\": 3", "aggregation.rekey", "hand over no key");
    refused(t, "\"rekey\": \"round\"", "\"rekey\": 1", "aggregation.rekey", "too small");
    refused(t, "\"rekey\": \"round\"", "\"rekey\": 17", "aggregation.rekey", "too large");
    refused(t, "\"rekey\": \"round\"", "\"rekey\": \"session\"", "aggregation.rekey",
            "not a number");
    /* Each committee that has the key may be lost. */
    refused(t, BEFORE, LARGER "16", "aggregation.committee", "more members");
}

static void keys_on_the_robust_path_are_for_one_round(sotto_test *t)
{
    static const char robust[] =
        "\"committee\": {\"size\": 21, \"corrupt\": 9, \"count\": 1, \"opening\": \"robust\"}," REST
        "3";

    refused(t, BEFORE, robust, "aggregation.rekey", "the robust path has a new key");
}

static void a_key_is_not_for_more_rounds_than_there_are(sotto_test *t)
{
    const sotto_bytes text = sotto_test_encrypted_learning(t, model, BEFORE, LARGER "4");
    const judged *j = sotto_test_judge(
        t, sotto_test_replace(t, (const char *)text.data, "\"count\": 48", "\"count\": 3"), NULL);

    CHECK(t, sotto_test_has_mistake(&j->mistakes, "aggregation.rekey", "a key for 4 rounds, of 3"));
}

/* A round is within a span of time, and can't fill one of more than a month. */
static void lint_knows_how_long_a_round_is(sotto_test *t)
{
    for (unsigned days = 31; days <= 32; days++) {
        const char *every = days == 31 ? "\"every\": \"31d\"" : "\"every\": \"32d\"";
        const sotto_bytes text =
            sotto_test_encrypted_learning(t, model, "\"every\": \"1h\"", every);
        const judged *j = sotto_test_judge(
            t, sotto_test_replace(t, (const char *)text.data, "2026-11-27", "2031-12-08"), NULL);

        CHECK_STATUS(t, SOTTO_OK, j->status);
        CHECK(t, sotto_test_has_mistake(&j->mistakes, "rounds.every", "31 days") == (days == 32));
    }
}

/* How often a key was handed over is the round's to say, and for how many rounds it is, the recipe's. */
static void a_round_may_begin_with_a_key_that_is_handed_over(sotto_test *t)
{
    const judged *j = judge(t, BEFORE, LARGER "3");
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED], others[SOTTO_AERO_TERMS_HANDED];
    sotto_encrypted plan = plan_of(t, j->learning), posted = plan;
    sotto_round round = {.registered = 32};

    posted.terms.handed = 2;
    posted.terms.origin.round[0] = 7;
    CHECK_OK(t, sotto_encrypted_round(&round, parameters, &posted, &j->learning->head, &t->err));
    CHECK_OK(t, sotto_encrypted_agrees(&round, &plan, &j->learning->head, &t->err));
    posted.terms.rekey = 4;
    CHECK_OK(t, sotto_encrypted_round(&round, others, &posted, &j->learning->head, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_encrypted_agrees(&round, &plan, &j->learning->head, &t->err));
    t->err = (sotto_err){0};
}

static void it_is_explained(sotto_test *t)
{
    static const char *const words[] = {
        "One server, key:aggregator, adds up at least 20 of them",
        "a committee of 12 devices opens the sum",
        "The server sees who takes part",
        "devices that the beacon draws each add a part of the noise",
        "7 of 12 members, and 7 of 12 noise members, may lie",
        "An update's norm is at most 1.0",
        "by a draw that everybody can repeat",
        "A gain by taking part at random is not claimed",
    };
    static char memory[8192];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);
    const judged *j = judge(t, NULL, NULL);

    CHECK_OK(t, sotto_learning_explain(&out, j->learning, &j->claim, &t->err));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK(t, strstr(memory, words[i]) != NULL);
    CHECK(t, strstr(memory, "Both servers") == NULL);
}

/* ---- rounds ------------------------------------------------------------------------------------------------ */

/* A round names the record, and with it the model; the session is the recipe's, whatever the record. */
static void a_round_is_of_its_record(sotto_test *t)
{
    const judged *j = judge(t, NULL, NULL);
    const sotto_encrypted plan = plan_of(t, j->learning);
    sotto_recipe named = j->learning->head;
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED], session[32], others[32];
    sotto_round round = {.number = 1, .registered = ENCRYPTED_LEARNING_DEVICES};

    sotto_hash_once(named.hash, SOTTO_SHA256, sotto_bytes_of("a record", 8));
    CHECK_OK(t, sotto_encrypted_round(&round, parameters, &plan, &named, &t->err));
    CHECK_BYTES(t, named.hash, round.recipe, sizeof round.recipe);
    CHECK_EQUAL(t, ENCRYPTED_LEARNING_PARAMETERS, round.length);
    CHECK_EQUAL(t, plan.sum.norm2, round.norm2);
    CHECK_OK(t, sotto_encrypted_agrees(&round, &plan, &named, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_encrypted_agrees(&round, &plan, &j->learning->head, &t->err));
    sotto_encrypted_session(session, &j->learning->head);
    sotto_encrypted_session(others, &named);
    CHECK(t, memcmp(session, others, sizeof session) != 0);
    CHECK_EQUAL(t, 1, sotto_learning_number(j->learning, 0));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_noise_of_a_committee_is_priced),
        CASE(a_liars_update_is_no_longer_than_an_honest_one),
        CASE(groups_are_priced_together),
        CASE(rounds_of_a_device_are_one_budget),
        CASE(draws_of_all_rounds_are_paid_for),
        CASE(nothing_is_gained_by_taking_part_at_random),
        CASE(nobody_but_a_committee_adds_noise),
        CASE(noise_is_not_correlated_over_rounds),
        CASE(lint_asks_what_it_asks_of_statistics),
        CASE(odds_are_those_of_all_rounds_of_a_device),
        CASE(odds_are_added_up),
        CASE(turns_are_not_hidden_from_one_server),
        CASE(a_sum_has_room_for_all_that_may_come),
        CASE(rounds_fit_the_entries),
        CASE(a_key_serves_as_many_rounds_as_the_recipe_says),
        CASE(a_key_that_nobody_can_hand_over_is_refused),
        CASE(keys_on_the_robust_path_are_for_one_round),
        CASE(a_key_is_not_for_more_rounds_than_there_are),
        CASE(lint_knows_how_long_a_round_is),
        CASE(a_round_may_begin_with_a_key_that_is_handed_over),
        CASE(it_is_explained),
        CASE(a_round_is_of_its_record),
    };

    return RUN_TESTS(argc, argv, cases);
}
