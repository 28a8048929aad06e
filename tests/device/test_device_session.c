/* Rounds whose samples are hidden: what a device verifies, what it is charged before a coin, and zeros in the place of updates. */
#include "crypto/hash.h"
#include "device/ledger/session.h"
#include "device/round.h"
#include "seal/ohttp/ohttp.h"
#include "support/learners.h"
#include "support/logs.h"
#include "support/relayed.h"
#include "support/wallet.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 12, HOUR = 3600, FIRST = 2 };

static sotto_test_learner one;
static sotto_test_log logs;

/* ---- a phone that is hidden ------------------------------------------------------------------------------------- */

/* The model comes through the relay, and reports don't arrive. */
static sotto_status carry(void *context, sotto_exchange *exchange)
{
    const sotto_exchange_head head = {
        .size = sizeof head, .status = 200, .media_type = SOTTO_OHTTP_RESPONSE_TYPE};
    sotto_test *t = one.phone.t;
    sotto_test_relayed asked = {.content = one.model};
    sotto_buf out = sotto_test_buf(t, 1 << 14);
    uint8_t body[4096];
    size_t len;

    (void)context;
    CHECK(t, strncmp(exchange->url, "https://relay.example/", 22) == 0);
    if (exchange->body_length > sizeof body)
        return SOTTO_IO;
    one.fetches++;
    CHECK_EQUAL(t, SOTTO_OK, exchange->read(exchange, 0, body, sizeof body, &len));
    sotto_test_relayed_answer(t, &out, sotto_bytes_of(body, len), &asked);
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, out.data, out.len);
}

static sotto_bytes swap(sotto_test *t, sotto_bytes text, const char *old, const char *new)
{
    return sotto_test_replace(t, (const char *)text.data, old, new);
}

/* All 48 rounds cost 12 by zCDP, and a third of it as hidden samples. */
static sotto_bytes recipe_of(sotto_test *t, const char *rate)
{
    sotto_bytes text = sotto_test_learning_recipe(
        t, one.model, "\"population\": 1000",
        "\"population\": 1000000, \"anonymity\": {\"relay\": \"relay\", \"gateway\": \"gateway\","
        " \"tokens\": \"type-2\", \"attester\": \"key:attester\", \"issuer\": \"key:issuer\","
        " \"log\": \"main\"}");

    text = swap(t, text, "\"participations\": 3, \"separation\": 2", "\"participations\": 48");
    text =
        swap(t, text, "\"goal\": 100, \"largest\": 1000", "\"goal\": 20000, \"largest\": 300000");
    text = swap(t, text, "\"epsilon\": 2.5", "\"epsilon\": 12");
    text = swap(t, text, "\"min_cohort\": 100", "\"min_cohort\": 20000");
    return swap(t, text, "\"rate\": 1.0", rate);
}

static sotto_bytes policy_of(sotto_test *t, const char *epsilon, const char *sampling)
{
    char *text = sotto_test_take(t, 2048);

    (void)snprintf(
        text, 2048,
        "{\"policy\": \"com.example.app\", \"version\": 1, \"analyses\": {\"com.example.digits\":"
        " {\"epsilon\": %s, \"delta\": 1e-5, \"reports\": 100,"
        " \"fields\": [\"digits.pixels\", \"digits.label\"]}}, \"fields\": {"
        "\"digits.pixels\": {\"by\": [\"servers\"], \"epsilon_local\": \"none\", \"epsilon\": 40,"
        " \"delta\": 1e-5, \"reports\": 100}, \"digits.label\": {\"by\": [\"servers\"],"
        " \"epsilon_local\": \"none\", \"epsilon\": 40, \"delta\": 1e-5, \"reports\": 100}},"
        " %s\"non_sensitive\": [], \"min_cohort\": 100, \"honest\": 0.5}",
        epsilon, sampling);
    const char *whole = sotto_test_log_policy(t, &logs, sotto_test_token_policy_of(t, text), "");
    return sotto_bytes_of(whole, strlen(whole));
}

static const char hidden[] = "\"sampling\": \"when-hidden\", ";

static sotto_status plan(void *context, sotto_wallet_row *row, sotto_err *err)
{
    (void)context;
    (void)err;
    row->ask = SOTTO_TEST_OPENS - HOUR;
    return SOTTO_OK;
}

/* One token for each round, as if its issuer had given them. They are the same: nobody but the device looks at them here. */
static void give_tokens(sotto_test *t)
{
    static const uint8_t seed[SOTTO_ONCE_SEED];
    static sotto_test_issuer issuer;
    const sotto_admission_collection collection = {.opens = (uint64_t)SOTTO_TEST_OPENS,
                                                   .closes = (uint64_t)SOTTO_TEST_CLOSES,
                                                   .issuer = {(const uint8_t *)"key:issuer", 10}};
    sotto_ledger *ledger = one.phone.device->ledger;
    sotto_listed_key keys[ROUNDS] = {0};
    sotto_wallet_row row = {0};
    bool found = true;

    sotto_test_issuer_open(t, &issuer, 0);
    const sotto_bytes token = sotto_test_token(t, &issuer, &collection, seed);
    sotto_test_issuer_close(&issuer);
    for (unsigned i = 0; i < ROUNDS; i++) {
        (void)snprintf(keys[i].analysis, sizeof keys[i].analysis, "com.example.digits");
        keys[i].opens = SOTTO_TEST_OPENS + (int64_t)i * HOUR;
        keys[i].closes = keys[i].opens + HOUR;
        keys[i].id[0] = (uint8_t)(i + 1);
    }
    CHECK_OK(t, sotto_wallet_take(ledger, "key:issuer", 1, true, keys, ROUNDS, plan, NULL,
                                  one.phone.now, &t->err));
    while (found) {
        CHECK_OK(t, sotto_wallet_next(ledger, &row, &found, row.id, &t->err));
        if (!found)
            break;
        row.state = SOTTO_TOKEN_HELD;
        row.len = SOTTO_WALLET_HELD;
        memcpy(row.secret + SOTTO_ONCE_SEED, token.data, SOTTO_TYPE2_TOKEN);
        CHECK_OK(t, sotto_wallet_change(ledger, &row, SOTTO_TOKEN_PLANNED, "given", one.phone.now,
                                        &t->err));
    }
}

static void reopen(sotto_test *t, sotto_bytes policy)
{
    one.phone.options.policy = policy;
    sotto_test_learner_open(&one);
    CHECK_OK(t, sotto_device_consent(one.phone.device, true, &t->err));
}

/* In files it rolls dice, in memory its coins follow from a seed. */
static void start(sotto_test *t, bool files, const char *rate, const char *epsilon,
                  const char *sampling)
{
    if (files)
        sotto_test_learner_in_files(t, &one);
    else
        sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_log_init(t, &logs);
    sotto_test_log_grow(t, &logs, FIRST);
    one.phone.options.host.exchange = carry;
    one.phone.options.parties = sotto_test_relayed_parties(t, sotto_test_token_parties(t, 1));
    one.recipe = recipe_of(t, rate);
    for (uint64_t round = 0; round < ROUNDS; round++)
        (void)sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0,
                                 sotto_test_round_record(t, one.recipe, round, one.model));
    reopen(t, policy_of(t, epsilon, sampling));
    give_tokens(t);
}

static void end(void)
{
    sotto_test_phone_close(&one.phone);
    sotto_test_log_clear(&logs);
}

static sotto_status offer(sotto_test *t, uint64_t round)
{
    sotto_test_learner_at(&one, round);
    return sotto_device_offer(one.phone.device,
                              sotto_test_log_bundle(t, &logs, FIRST + round, logs.size), &t->err);
}

static uint64_t live(sotto_test *t, uint64_t round)
{
    CHECK_OK(t, offer(t, round));
    return sotto_test_tick(&one.phone).made;
}

/* ---- what is charged -------------------------------------------------------------------------------------------- */

/* The ledger is charged the same, whatever coins say. */
static void a_session_is_paid_before_its_first_coin(sotto_test *t)
{
    uint64_t made = 0;

    start(t, false, "\"rate\": 0.2", "8", hidden);
    made += live(t, 0);
    const double charged = sotto_test_learner_spent(&one).epsilon;
    CHECK(t, charged > 1 && charged < 8);
    CHECK_EQUAL(t, 48, sotto_test_learner_spent(&one).reports);
    for (uint64_t round = 1; round < ROUNDS; round++) {
        made += live(t, round);
        CHECK_NEAR(t, charged, sotto_test_learner_spent(&one).epsilon, 1e-12);
        CHECK_EQUAL(t, 48, sotto_test_learner_spent(&one).reports);
    }
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, "digits", SOTTO_RECORD_SESSION));
    CHECK_EQUAL(t, made, sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).participations);
    CHECK(t, made == one.trainings && made > 0 && made < ROUNDS);
    const sotto_rho_line line = sotto_test_learner_rho(&one, SOTTO_RHO_SESSION);
    CHECK_EQUAL(t, 1, line.participations);
    CHECK_NEAR(t, charged, line.epsilon, 1e-9);
    end();
}

static void a_coin_that_says_no_was_paid_for(sotto_test *t)
{
    start(t, false, "\"rate\": 0.03", "5", hidden);
    CHECK_EQUAL(t, 0, live(t, 0));
    CHECK_EQUAL(t, SOTTO_WHY_NOT_SAMPLED, sotto_test_why(&one.phone, "digits#0"));
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, NULL, SOTTO_RECORD_DECIDED));
    CHECK(t, sotto_test_learner_spent(&one).epsilon > 0.2);
    CHECK_EQUAL(t, 1, sotto_test_learner_rho(&one, SOTTO_RHO_SESSION).participations);
    end();
}

/* What is charged is what the theorem says, or more: never less. */
static void the_charge_is_that_of_the_theorem(sotto_test *t)
{
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_learning *learning;
    sotto_learning_claim claim;

    start(t, false, "\"rate\": 0.2", "8", hidden);
    CHECK_OK(t, sotto_learning_read(&learning, one.recipe, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_learning_claim_compute(&claim, learning, SOTTO_HONEST_UNSAID, &t->err));
    (void)live(t, 0);
    CHECK(t, sotto_test_learner_spent(&one).epsilon >= claim.sampled_epsilon &&
                 sotto_test_learner_spent(&one).epsilon < claim.sampled_epsilon + 1e-9);
    CHECK(t, claim.sampled_epsilon < claim.epsilon);
    end();
}

static void without_a_word_of_the_policy_a_recipe_is_charged_by_zcdp(sotto_test *t)
{
    uint64_t made = 0;

    start(t, false, "\"rate\": 0.2", "40", "");
    for (uint64_t round = 0; round < ROUNDS; round++) {
        made += live(t, round);
        CHECK_NEAR(t, made ? 12 : 0, sotto_test_learner_spent(&one).epsilon, 1e-9);
    }
    CHECK(t, made > 0);
    CHECK_EQUAL(t, 0, sotto_test_learner_rho(&one, SOTTO_RHO_SESSION).participations);
    end();
    start(t, false, "\"rate\": 0.2", "8",
          ""); /* for which there is no room, and no coin is tossed */
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, 0));
    CHECK_NEAR(t, 0, sotto_test_learner_spent(&one).epsilon, 1e-12);
    end();
}

/* One after the other is missing, of what hides who takes part. */
static void what_was_not_verified_is_not_counted_on(sotto_test *t)
{
    start(t, false, "\"rate\": 0.2", "8", hidden);
    CHECK_OK(t, offer(t, 0));
    const sotto_wallet_row token = {.state = SOTTO_TOKEN_HELD};
    const sotto_device *device = one.phone.device;
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_learning *learning;

    CHECK_OK(t, sotto_learning_read(&learning, one.recipe, &t->arena, mistakes, &t->err));
    sotto_recipe head = learning->head;
    sotto_case c = {.recipe = &head, .now = one.phone.now, .plan = {.token = &token}};
    CHECK(t, sotto_round_hidden(device, &c));
    c.plan.token = NULL;
    CHECK(t, !sotto_round_hidden(device, &c));
    c.plan.token = &token;
    head.anonymity.gateway = "another";
    CHECK(t, !sotto_round_hidden(device, &c));
    head.anonymity.gateway = learning->head.anonymity.gateway;
    head.anonymity.log = "another";
    CHECK(t, !sotto_round_hidden(device, &c));
    head.anonymity.log = NULL;
    CHECK(t, !sotto_round_hidden(device, &c));
    end();
}

/* ---- in mid-session --------------------------------------------------------------------------------------------- */

static void a_device_that_starts_again_is_charged_once(sotto_test *t)
{
    start(t, true, "\"rate\": 0.2", "8", hidden);
    (void)live(t, 0);
    const double charged = sotto_test_learner_spent(&one).epsilon;
    reopen(t, one.phone.options.policy);
    for (uint64_t round = 1; round < 4; round++)
        (void)live(t, round);
    CHECK_NEAR(t, charged, sotto_test_learner_spent(&one).epsilon, 1e-12);
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, "digits", SOTTO_RECORD_SESSION));
    end();
}

static void a_policy_that_takes_its_word_back_charges_by_zcdp(sotto_test *t)
{
    uint64_t made = 0;

    start(t, true, "\"rate\": 0.2", "40", hidden);
    (void)live(t, 0);
    const double charged = sotto_test_learner_spent(&one).epsilon;
    reopen(t, policy_of(t, "40", ""));
    for (uint64_t round = 1; round < ROUNDS; round++)
        made += live(t, round);
    CHECK_NEAR(t, made ? charged + 12 : charged, sotto_test_learner_spent(&one).epsilon, 1e-9);
    end();
}

/* Coins that were tossed under another policy were not paid for: the theorem does not hold for them. */
static void a_policy_that_comes_after_a_coin_charges_by_zcdp(sotto_test *t)
{
    start(t, true, "\"rate\": 0.03", "40", "");
    (void)live(t, 0);
    const double before = sotto_test_learner_spent(&one).epsilon;
    reopen(t, policy_of(t, "40", hidden));
    (void)live(t, 1);
    CHECK(t, sotto_test_learner_spent(&one).epsilon <= before ||
                 sotto_test_learner_spent(&one).epsilon >= 12);
    CHECK_EQUAL(t, 0, sotto_test_lines(&one.phone, "digits", SOTTO_RECORD_SESSION));
    end();
}

/* After a reset nobody knows how often this device took part, and no coin is tossed any more. */
static void a_ledger_that_was_lost_ends_the_session(sotto_test *t)
{
    start(t, false, "\"rate\": 0.2", "8", hidden);
    (void)live(t, 0);
    CHECK_OK(t, sotto_device_reset(one.phone.device, &t->err));
    CHECK_OK(t, sotto_device_consent(one.phone.device, true, &t->err));
    give_tokens(t);
    CHECK_EQUAL(t, 0, live(t, 1));
    CHECK_EQUAL(t, SOTTO_WHY_ROUNDS, sotto_test_why(&one.phone, "digits#1"));
    CHECK_EQUAL(t, 0, sotto_test_lines(&one.phone, "digits#1", SOTTO_RECORD_DECIDED));
    end();
}

/* ---- zeros ------------------------------------------------------------------------------------------------------- */

/* Two turns of four rounds, every other one. All rounds look alike. */
static void without_a_turn_a_device_sends_zeros(sotto_test *t)
{
    enum { FOUR = 4 };
    int64_t update[SOTTO_TEST_PARAMETERS];
    bool real[FOUR];

    sotto_test_learner_start(t, &one, "\"participations\": 3, \"separation\": 2",
                             "\"participations\": 2, \"on_no_turn\": \"zeros\"");
    one.recipe = swap(t, one.recipe, "\"count\": 48", "\"count\": 4");
    for (uint64_t round = 0; round < FOUR; round++) {
        CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, round));
        const sotto_bytes record = sotto_test_round_record(t, one.recipe, round, one.model);
        CHECK_STATUS(t, SOTTO_OK, sotto_test_learner_update(&one, update, round, record));
        real[round] = update[0] != 0;
        for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
            CHECK(t, real[round] ? update[i] == 40 || update[i] == 41 : update[i] == 0);
        CHECK_EQUAL(t, one.phone.uploaded[0].body.len, one.phone.uploaded[round].body.len);
        CHECK_EQUAL(t, round + 1, one.trainings);
        CHECK_EQUAL(t, round + 1, one.fetches);
    }
    CHECK(t, real[0] != real[1] && real[0] == real[2] && real[1] == real[3]);
    CHECK_EQUAL(t, 2, sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).participations);
    CHECK_EQUAL(t, 2, sotto_test_lines(&one.phone, NULL, SOTTO_RECORD_DUMMY));
    CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
    sotto_test_phone_close(&one.phone);
}

/* Uses up the only participation, as an update of another process would. */
static void use_up(sotto_test *t)
{
    static const sotto_access fields[] = {{"digits", "pixels", true}, {"digits", "label", true}};
    uint8_t hash[SOTTO_ASKED_DIGEST];
    const sotto_charge charge = {.recipe = "digits#7",
                                 .analysis = "com.example.digits",
                                 .fields = fields,
                                 .field_count = 2,
                                 .by = SOTTO_BY_SERVERS,
                                 .by_name = "servers",
                                 .unprotected = true,
                                 .local_adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                 .epsilon = {2500000000000},
                                 .delta = {1000000},
                                 .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                 .min_cohort = 100};
    const sotto_round_charge round = {.hash = hash,
                                      .recipe = "digits",
                                      .participations = 1,
                                      .separation = 1,
                                      .opens = SOTTO_TEST_OPENS,
                                      .rho = {1},
                                      .epsilon = 2,
                                      .honest = 1};
    const sotto_report report = {.id = {9}};
    sotto_refusal refusal;

    sotto_hash_once(hash, SOTTO_SHA256, one.recipe);
    CHECK_OK(t, sotto_ledger_spend_round(one.phone.device->ledger, &charge, &round, &report,
                                         one.phone.now, &refusal, &t->err));
}

/* The ledger counts, whatever was drawn. */
static void turns_that_are_used_up_are_zeros(sotto_test *t)
{
    int64_t update[SOTTO_TEST_PARAMETERS];

    sotto_test_learner_start(t, &one, "\"participations\": 3, \"separation\": 2",
                             "\"participations\": 1, \"on_no_turn\": \"zeros\"");
    one.recipe = swap(t, one.recipe, "\"count\": 48", "\"count\": 1");
    use_up(t);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_STATUS(t, SOTTO_OK,
                 sotto_test_learner_update(&one, update, 0,
                                           sotto_test_round_record(t, one.recipe, 0, one.model)));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
        CHECK_EQUAL(t, 0, update[i]);
    CHECK_EQUAL(t, 1, sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).participations);
    sotto_test_phone_close(&one.phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_session_is_paid_before_its_first_coin),
        CASE(a_coin_that_says_no_was_paid_for),
        CASE(the_charge_is_that_of_the_theorem),
        CASE(without_a_word_of_the_policy_a_recipe_is_charged_by_zcdp),
        CASE(what_was_not_verified_is_not_counted_on),
        CASE(a_device_that_starts_again_is_charged_once),
        CASE(a_policy_that_takes_its_word_back_charges_by_zcdp),
        CASE(a_policy_that_comes_after_a_coin_charges_by_zcdp),
        CASE(a_ledger_that_was_lost_ends_the_session),
        CASE(without_a_turn_a_device_sends_zeros),
        CASE(turns_that_are_used_up_are_zeros),
    };
    return RUN_TESTS(argc, argv, cases);
}
