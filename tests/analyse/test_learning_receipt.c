/* Receipts of rounds and sessions say what the recipe's claim says, and never more. */
#include "analyse/learning_receipt.h"
#include "recipe/claim.h"
#include "support/encrypted_learning.h"
#include "support/one_learning.h"
#include "support/recipes.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANONYMITY                                                                                  \
    "\"anonymity\": {\"relay\": \"relay\", \"gateway\": \"gateway\", \"tokens\": \"arc\","         \
    " \"attester\": \"attester\", \"log\": \"main\"}, \"schedule\""

static const char text[] =
    "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
    " \"learn\": {\"model\": {\"type\": \"mlp\", \"parameters\": 400, \"init\": "
    "\"0000000000000000000000000000000000000000000000000000000000000000\"},"
    " \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 100},"
    " \"local\": {\"batch\": 20, \"rate\": 0.1}, \"update\": {\"clip\": 0.5, \"scale\": 4096},"
    " \"server\": {}}, \"rounds\": {\"count\": 48, \"every\": \"1h\", \"goal\": 900,"
    " \"largest\": 1500, \"participations\": 4},"
    " \"participation\": {\"type\": \"poisson\", \"rate\": 0.01},"
    " \"privacy\": {\"by\": \"servers\", \"multiplier\": 8, \"adjacency\": \"replacement\","
    " \"epsilon\": 3, \"delta\": 1e-6, \"min_cohort\": 900},"
    " \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader\", \"helper\": "
    "\"key:helper\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 2.5}},"
    " \"schedule\": {\"opens\": \"2026-12-01T00:00:00Z\", \"closes\": \"2026-12-08T00:00:00Z\","
    " \"precision\": \"1h\"}, \"population\": 100000}";

typedef struct scene {
    const sotto_learning *learning;
    sotto_learning_claim claim;
    sotto_round_record record;
} scene;

static void open_scene(sotto_test *t, scene *k)
{
    static sotto_mistakes mistakes;

    memset(&mistakes, 0, sizeof mistakes);
    k->record = (sotto_round_record){.round = 3, .model = {7}};
    CHECK_OK(t, sotto_learning_read(&k->learning, sotto_bytes_of(text, strlen(text)), &t->arena,
                                    &mistakes, &t->err));
    CHECK_OK(t, sotto_learning_claim_compute(&k->claim, k->learning, SOTTO_HONEST_UNSAID, &t->err));
}

static bool says(sotto_test *t, const sotto_learning_receipt *r, const char *words)
{
    static char memory[8192];
    sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);

    CHECK_OK(t, sotto_learning_receipt_explain(&out, r, &t->err));
    memory[out.len] = 0;
    return strstr(memory, words) != NULL;
}

static void a_rounds_receipt_is_for_all_rounds_of_a_device(sotto_test *t)
{
    sotto_learning_receipt r;
    scene k;

    open_scene(t, &k);
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 950, &t->err));
    CHECK_EQUAL(t, 3, r.round);
    CHECK_EQUAL(t, 7, r.model[0]);
    CHECK_EQUAL(t, 4, r.participations);
    CHECK_NEAR(t, k.claim.epsilon, r.epsilon, 0);
    CHECK_NEAR(t, k.claim.rho, r.rho, 0);
    CHECK(t, r.theorem == k.claim.theorem && r.sampling == k.claim.unsampled_why);
    CHECK(t, says(t, &r, "in all of its 4 rounds together"));
    CHECK(t, says(t, &r, "Bun and Steinke 2016"));
    CHECK(t, says(t, &r, "The leader or the helper must be honest"));
    CHECK(t, says(t, &r, "taking part at random: not claimed"));
}

/* What is claimed for secret samples, by which theorem, and who must not work together. */
static void a_receipt_names_who_must_not_see_who_takes_part(sotto_test *t)
{
    sotto_learning_receipt r;
    scene k;

    open_scene(t, &k);
    sotto_learning hidden = *k.learning;
    hidden.participations = hidden.rounds;
    hidden.head.epsilon.units *= 10;
    hidden.head.anonymity = (sotto_anonymity){
        .relay = "a relay", .gateway = "a gateway", .tokens = SOTTO_TOKENS_TYPE_2, .log = "main"};
    CHECK_OK(t, sotto_learning_claim_compute(&k.claim, &hidden, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_OK(t, sotto_round_receipt_of(&r, &hidden, &k.claim, &k.record, 0, 950, &t->err));
    CHECK_NEAR(t, k.claim.sampled_epsilon, r.sampled_epsilon, 0);
    CHECK(t, r.sampled_epsilon < r.epsilon);
    CHECK(t, says(t, &r, "to all but the relay and a device's own network: epsilon"));
    CHECK(t, says(t, &r, "Kasiviswanathan 2019, theorem 9"));
    CHECK(t, says(t, &r,
                  "the relay (a relay) with the gateway (a gateway) or the leader (key:leader)"));
    CHECK(t, says(t, &r, "\"when-hidden\" are charged that, all others the epsilon above"));
}

static void a_receipt_says_how_far_a_liar_reaches(sotto_test *t)
{
    sotto_learning_receipt r;
    scene k;

    open_scene(t, &k);
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 950, &t->err));
    /* 2.5 clips of 0.5, of 1,000 devices that are expected; rounded up. */
    CHECK(t, r.liar >= 2.5 * 0.5 / 1000.0 && r.liar < 2.51 * 0.5 / 999.0);
    CHECK(t, says(t, &r, "no report is longer than 2.5 clips. So one report moves"));
    CHECK(t, !r.tokens && says(t, &r, "nothing keeps a device from sending several"));
    r.tokens = true;
    CHECK(t, !says(t, &r, "several"));
    CHECK_NEAR(t, 1000, r.divisor, 1e-2);
    CHECK(t, !says(t, &r, "lifted"));
}

/* As many parameters as nine in a number: a report of the same bound moves the model three times as far. */
static void a_liar_reaches_further_where_sums_are_lifted(sotto_test *t)
{
    sotto_learning_receipt whole, lifted;
    sotto_learning l;
    scene k;

    open_scene(t, &k);
    CHECK_OK(t, sotto_round_receipt_of(&whole, k.learning, &k.claim, &k.record, 0, 950, &t->err));
    l = *k.learning;
    l.projected = (l.parameters + 8) / 9;
    CHECK_OK(t, sotto_round_receipt_of(&lifted, &l, &k.claim, &k.record, 0, 950, &t->err));
    CHECK_NEAR(t, 3, lifted.lift, 1e-12);
    CHECK(t, lifted.liar >= 3 * whole.liar * (1 - 1e-12) && lifted.liar < 3.001 * whole.liar);
    CHECK(t, says(t, &lifted, "makes any update up to 3 times longer"));
}

static void a_round_that_is_too_small_gets_no_receipt(sotto_test *t)
{
    sotto_learning_receipt r;
    scene k;

    open_scene(t, &k);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 899, &t->err));
    sotto_err_clear(&t->err);
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 900, &t->err));
}

static void a_session_counts_its_burnt_rounds(sotto_test *t)
{
    const uint8_t model[SOTTO_MODEL_HASH] = {9};
    sotto_learning_receipt r;
    scene k;

    open_scene(t, &k);
    sotto_session_receipt_of(&r, k.learning, &k.claim, model, 48, 5, 40000);
    CHECK_NEAR(t, k.claim.epsilon, r.epsilon, 0);
    CHECK(t, says(t, &r, "48 rounds, 5 of them burnt, 40000 reports"));
    CHECK(t, says(t, &r, "released or not"));
    r.epsilon = HUGE_VAL;
    CHECK(t, says(t, &r, "no epsilon is claimed"));
}

/* The same recipe, whose devices draw one of 48 rounds. */
static void open_drawn(sotto_test *t, scene *k)
{
    static const char *const changes[][2] = {
        {"\"type\": \"poisson\", \"rate\": 0.01",
         "\"type\": \"check-in\", \"variant\": \"averaged\", \"window\": 48, \"start\":"
         " \"2026-12-01T00:00:00Z\", \"slot\": \"1h\""},
        {"\"participations\": 4", "\"participations\": 1"},
        {"\"largest\": 1500", "\"largest\": 3000"},
        {"\"scale\": 4096", "\"scale\": 32768"},
        {"\"schedule\"", ANONYMITY},
    };
    static sotto_mistakes mistakes;
    sotto_bytes recipe = sotto_bytes_of(text, strlen(text));

    memset(&mistakes, 0, sizeof mistakes);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        recipe = sotto_test_replace(t, (const char *)recipe.data, changes[i][0], changes[i][1]);
    k->record = (sotto_round_record){.round = 3, .model = {7}};
    CHECK_OK(t, sotto_learning_read(&k->learning, recipe, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_learning_claim_compute(&k->claim, k->learning, (sotto_decimal){900000000000},
                                             &t->err));
}

static void a_receipt_of_a_drawn_round_says_what_hiding_gains(sotto_test *t)
{
    sotto_learning_receipt r;
    double first;
    scene k;

    open_drawn(t, &k);
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 3000, &t->err));
    CHECK(t, r.slots.why == NULL && r.slots.epsilon < r.epsilon);
    CHECK(t, says(t, &r, "round 3: reports that are not counted in public"));
    CHECK(t,
          says(t, &r, "drawing a round in secret (all reports of a round are added up): epsilon "));
    CHECK(t, says(t, &r, "that needs leader and helper, who see how many"));
    CHECK(t, says(t, &r, "random allocation of one update to a round"));
    CHECK_NEAR(t, 100000 / 48.0, r.divisor, 1e-6);
    first = r.slots.epsilon;
    k.record.round = 40;
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 3000, &t->err));
    CHECK(t, r.slots.epsilon > first);
}

static void a_burnt_round_ends_the_claim_of_a_gain(sotto_test *t)
{
    const uint8_t model[SOTTO_MODEL_HASH] = {9};
    sotto_learning_receipt r;
    scene k;

    open_drawn(t, &k);
    sotto_session_receipt_of(&r, k.learning, &k.claim, model, 48, 0, 0);
    CHECK(t, isfinite(r.slots.epsilon));
    sotto_session_receipt_of(&r, k.learning, &k.claim, model, 48, 1, 0);
    CHECK(t, isinf(r.slots.epsilon) && says(t, &r, "a gain is not claimed: a round had fewer"));
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 1, 3000, &t->err));
    CHECK(t, isinf(r.slots.epsilon));
}

/* What nobody checks is said, and so is who saw what, and how likely the committee fails. */
static void a_receipt_of_one_server_claims_no_bound(sotto_test *t)
{
    static const uint8_t model[SOTTO_MODEL_HASH] = {7};
    static sotto_mistakes mistakes;
    sotto_learning_receipt r;
    scene k = {.record = {.round = 2}};

    CHECK_OK(t, sotto_learning_read(&k.learning, sotto_test_one_learning(t, model, NULL, NULL),
                                    &t->arena, &mistakes, &t->err));
    CHECK_OK(t,
             sotto_learning_claim_compute(&k.claim, k.learning, k.learning->head.honest, &t->err));
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 11, &t->err));
    CHECK(t, strcmp(r.server, "key:aggregator") == 0 && !r.leader && !r.helper);
    CHECK(t, isinf(r.liar));
    CHECK_EQUAL(t, 12, r.stated.size);
    CHECK_EQUAL(t, 8, r.stated.quorum);
    CHECK(t, !r.stated.holds);
    CHECK(t, says(t, &r, "one server, key:aggregator; it saw who took part"));
    CHECK(t, says(t, &r, "inputs are not validated: Nothing is proved"));
    CHECK(t, says(t, &r, "taking part at random: not claimed: the one server sees who takes part"));
    CHECK(t, says(t, &r, "committee: 12 decryptors; 8 must sign"));
    CHECK(t, says(t, &r, "this committee proves nothing"));
    CHECK(t, r.stated.connected && !says(t, &r, "this graph proves nothing"));
    r.stated.connected = false;
    CHECK(t, says(t, &r, "this graph proves nothing"));
    CHECK(t, says(t, &r, "counts on 7 honest devices of every 10"));
    CHECK(t, !says(t, &r, "both servers"));
}

/* Odds and sizes are the plan's; a liar reaches as far as is proved. */
static void a_receipt_of_encrypted_sums_says_its_odds(sotto_test *t)
{
    static const uint8_t model[SOTTO_MODEL_HASH] = {7};
    static sotto_mistakes mistakes;
    sotto_learning_receipt r;
    scene k = {.record = {.round = 2}};

    CHECK_OK(t,
             sotto_learning_read(&k.learning, sotto_test_encrypted_learning(t, model, NULL, NULL),
                                 &t->arena, &mistakes, &t->err));
    CHECK_OK(t,
             sotto_learning_claim_compute(&k.claim, k.learning, k.learning->head.honest, &t->err));
    CHECK_OK(t, sotto_round_receipt_of(&r, k.learning, &k.claim, &k.record, 0, 25, &t->err));
    CHECK(t, strcmp(r.server, "key:aggregator") == 0 && !r.leader && !r.helper);
    CHECK(t, r.encryption.is_known && r.encryption.holds && !r.encryption.is_session);
    CHECK_EQUAL(t, 12, r.encryption.committee);
    CHECK(t, r.encryption.rho <= r.rho && r.encryption.hint_rho > 0);
    /* A norm of a little more than a clip of 0.5, over 32 expected updates. */
    CHECK(t, r.bound_factor >= 1 && r.bound_factor < 1.02);
    CHECK(t, r.liar >= 0.5 / 32 && r.liar < 0.51 / 32);
    CHECK(t, says(t, &r, "one server, key:aggregator; it saw who took part"));
    CHECK(t, says(t, &r, "inputs: Every encrypted contribution is proved"));
    CHECK(t, says(t, &r, "taking part at random: not claimed: the one server sees who takes part"));
    CHECK(t, says(t, &r, "noise by committee: standard deviation 8 clips"));
    CHECK(t, says(t, &r, "committee: 12 members, of whom 7 may lie"));
    CHECK(t, says(t, &r, "a wrong leaf is missed with at most"));
    CHECK(t, says(t, &r, "bits of security"));
    CHECK(t, says(t, &r, "left out: nobody"));
    CHECK(t, !says(t, &r, "both servers") && !says(t, &r, "decryptors"));
    sotto_session_receipt_of(&r, k.learning, &k.claim, model, 3, 1, 50);
    CHECK(t, !says(t, &r, "left out"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_rounds_receipt_is_for_all_rounds_of_a_device),
        CASE(a_receipt_names_who_must_not_see_who_takes_part),
        CASE(a_receipt_says_how_far_a_liar_reaches),
        CASE(a_liar_reaches_further_where_sums_are_lifted),
        CASE(a_round_that_is_too_small_gets_no_receipt),
        CASE(a_session_counts_its_burnt_rounds),
        CASE(a_receipt_of_a_drawn_round_says_what_hiding_gains),
        CASE(a_burnt_round_ends_the_claim_of_a_gain),
        CASE(a_receipt_of_one_server_claims_no_bound),
        CASE(a_receipt_of_encrypted_sums_says_its_odds),
    };
    return RUN_TESTS(argc, argv, cases);
}
