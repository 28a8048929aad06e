/* A device in rounds of learning: what it answers, what it refuses, and what that costs. */
#include "base/hex.h"
#include "crypto/hash.h"
#include "device/round.h"
#include "noise/blt.h"
#include "support/learners.h"
#include "support/logs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_test_learner one;

static void check_sentence(sotto_test *t, const char *round, sotto_why why, const char *part)
{
    sotto_explanation out;

    CHECK_OK(t, sotto_device_why(one.phone.device, &out, round, &t->err));
    CHECK_EQUAL(t, why, out.why);
    CHECK(t, strstr(out.sentence, part) != NULL);
}

/* Every entry of what was uploaded is this many steps of the grid, or one more. */
static void check_update(sotto_test *t, size_t upload, uint64_t round, int64_t steps)
{
    int64_t update[SOTTO_TEST_PARAMETERS];
    const sotto_bytes record = sotto_test_round_record(t, one.recipe, round, one.model);

    CHECK_STATUS(t, SOTTO_OK, sotto_test_learner_update(&one, update, upload, record));
    for (size_t i = 0; i < SOTTO_TEST_PARAMETERS; i++)
        CHECK(t, update[i] == steps || (steps && update[i] == steps + 1));
}

/* ---- taking part ------------------------------------------------------------------------------------------- */

static void a_device_answers_a_round_once(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 1, one.fetches);
    CHECK_EQUAL(t, 1, one.phone.sends);
    CHECK_EQUAL(t, 2, one.rows); /* most_rows, of three */
    CHECK(t, strcmp(one.phone.uploaded[0].recipe, "digits#0") == 0);
    CHECK(t,
          strncmp(one.url, "https://models.example.com/", 27) == 0 && strlen(one.url) == 27 + 64);
    CHECK_EQUAL(t, SOTTO_WHY_ANSWERED, sotto_test_why(&one.phone, "digits#0"));
    check_update(t, 0, 0, 40); /* 0.01 times 4,096 */
    CHECK_OK(t, sotto_test_learner_offer(&one, 0));
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 1, one.trainings);
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, "digits#0", SOTTO_RECORD_SPENT));
    sotto_test_phone_close(&one.phone);
}

/* The whole recipe is one mechanism: its epsilon is charged at once, and each update is a report. */
static void all_participations_are_paid_before_the_first_update_leaves(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
    CHECK_EQUAL(t, 1, sotto_test_learner_spent(&one).reports);
    const sotto_rho_line first = sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE);
    CHECK(t, first.rho > 0 && first.participations == 1 && first.allowed == 3);
    CHECK_NEAR(t, 3 * first.rho, first.rho_allowed, 1e-9);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 2));
    CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
    CHECK_EQUAL(t, 2, sotto_test_learner_spent(&one).reports);
    const sotto_rho_line second = sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE);
    CHECK_NEAR(t, 2 * first.rho, second.rho, 1e-9);
    CHECK_EQUAL(t, 2, second.last_round);
    CHECK_NEAR(t, second.rho, sotto_test_learner_rho(&one, SOTTO_RHO_ANALYSIS).rho, 1e-12);
    CHECK_NEAR(t, second.rho, sotto_test_learner_rho(&one, SOTTO_RHO_FIELD).rho, 1e-12);
    sotto_test_phone_close(&one.phone);
}

/* What a device adds up is an upper bound: zCDP of three updates gives no more than the recipe's epsilon at its delta. */
static void the_charge_covers_the_zcdp_of_every_participation(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    const double rho = sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).rho_allowed;
    /* Bun and Steinke 2016, proposition 1.3 */
    CHECK(t, rho + 2 * sqrt(rho * log(1e6)) <= 2.6);
    /* 2 clips of 0.5 over 8 of them: (1 / 4)^2 / 2 each, and more by the rounding to the grid. */
    CHECK(t, rho >= 3 * 0.03125 && rho < 3 * 0.0345);
    sotto_test_phone_close(&one.phone);
}

static void a_burnt_round_is_paid_for(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.phone.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    sotto_test_learner_at(&one, 30);
    one.phone.now += 14 * 86400;
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).waiting);
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, "digits#0", SOTTO_RECORD_GIVEN_UP));
    CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
    CHECK_EQUAL(t, 1, sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).participations);
    sotto_test_phone_close(&one.phone);
}

/* ---- how often ------------------------------------------------------------------------------------------------ */

static void a_device_keeps_to_its_participations(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    for (uint64_t round = 0; round < 6; round += 2)
        CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, round));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 6));
    check_sentence(t, "digits#6", SOTTO_WHY_ROUNDS, "taken part in 3 rounds");
    CHECK_EQUAL(t, 3, one.trainings);
    sotto_test_phone_close(&one.phone);
}

static void a_device_keeps_its_distance_between_rounds(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 1));
    check_sentence(t, "digits#1", SOTTO_WHY_ROUNDS, "keeps 2 rounds between");
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 2));
    sotto_test_phone_close(&one.phone);
}

/* What the first update costs in a session whose noise is correlated over rounds. A policy has to allow such noise. */
static double rho_of_an_update(sotto_test *t, const char *noise)
{
    static const char fresh[] = "\"multiplier\": 8";

    sotto_test_learner_start(t, &one, fresh, noise);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 0));
    check_sentence(t, "digits#0", SOTTO_WHY_POLICY, "correlated over rounds");
    sotto_test_phone_close(&one.phone);
    sotto_test_learner_start(t, &one, fresh, noise);
    one.phone.options.policy = sotto_test_replace(t, sotto_test_learning_policy, "\"min_cohort\"",
                                                  "\"correlated_noise\": true, \"min_cohort\"");
    sotto_test_learner_open(&one);
    CHECK_OK(t, sotto_device_consent(one.phone.device, true, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 1));
    check_sentence(t, "digits#1", SOTTO_WHY_ROUNDS, "keeps 2 rounds between");
    return sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).rho;
}

/* A tree of 8 rounds, and updates 2 apart: a node of 1 or 2 rounds has one update of a device. One of 4 has two, and that of all has
 * three. Each update pays for seven in all. */
static void correlated_noise_is_paid_for_by_its_nodes(sotto_test *t)
{
    static const char tree[] = "\"multiplier\": 24, \"correlation\": {\"type\": \"tree\", "
                               "\"restart\": 8}";
    const double fresh = pow(2.0 / 24, 2) / 2, rho = rho_of_an_update(t, tree);

    CHECK(t, rho >= 7 * fresh && rho < 7 * 1.1 * fresh);
    CHECK_NEAR(t, 3 * rho, sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).rho_allowed, 1e-9);
    sotto_test_phone_close(&one.phone);
}

/* Each update pays for its part of all that a device may send, or for itself alone where that is more. */
static void noise_by_buffers_is_paid_for_by_its_matrix(sotto_test *t)
{
    static const char buffers[] = "\"multiplier\": 24, \"correlation\": {\"type\": \"buffers\", "
                                  "\"buffers\": [{\"decay\": 900000000, \"weight\": "
                                  "300000000}, {\"decay\": 1000000000, \"weight\": 100000000}]}";
    const sotto_blt matrix = {.decay = {900000000, 1000000000}, .weight = {300000000, 100000000}};
    const sotto_blt_pattern pattern = {48, 2, 3};
    const double fresh = pow(2.0 / 24, 2) / 2, rho = rho_of_an_update(t, buffers),
                 price = sotto_blt_each(&matrix, &pattern, 1e6, 100);

    CHECK(t, rho >= price * fresh && rho < price * 1.1 * fresh);
    CHECK_NEAR(t, 3 * rho, sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).rho_allowed, 1e-9);
    sotto_test_phone_close(&one.phone);
}

/* A clock that was set back brings an earlier round again. */
static void no_earlier_round_follows_a_later_one(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 9));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 3));
    check_sentence(t, "digits#3", SOTTO_WHY_ROUNDS, "no earlier one follows");
    sotto_test_phone_close(&one.phone);
}

static void a_ledger_that_was_lost_ends_the_recipe(sotto_test *t)
{
    char *policy = sotto_test_take(t, 4096);

    sotto_test_learner_start(t, &one, NULL, NULL);
    /* With a period, budgets are there again on the next day. */
    (void)snprintf(policy, 4096, "%s", sotto_test_learning_policy);
    one.phone.options.policy =
        sotto_test_replace(t, policy, "\"min_cohort\"", "\"period_days\": 1, \"min_cohort\"");
    sotto_test_learner_open(&one);
    CHECK_OK(t, sotto_device_reset(one.phone.device, &t->err));
    CHECK_OK(t, sotto_device_consent(one.phone.device, true, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 30));
    check_sentence(t, "digits#30", SOTTO_WHY_ROUNDS, "not known");
    sotto_test_phone_close(&one.phone);
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

static void a_policy_must_allow_updates_in_words(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_phone_close(&one.phone);
    /* A field by servers has no local epsilon, and its policy must say so. */
    one.phone.options.policy = sotto_test_replace(
        t, sotto_test_learning_policy, "\"epsilon_local\": \"none\"", "\"epsilon_local\": 8");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_device_open(&one.phone.device, &one.phone.options, &t->err));
    one.phone.options.policy = sotto_test_replace(
        t, sotto_test_learning_policy, "\"by\": [\"servers\"], \"epsilon_local\": \"none\"",
        "\"by\": [\"crowd\"], \"epsilon_local\": 8");
    sotto_test_learner_open(&one);
    CHECK_OK(t, sotto_device_consent(one.phone.device, true, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 0));
    check_sentence(t, "digits#0", SOTTO_WHY_POLICY, "no local protection");
    sotto_test_phone_close(&one.phone);
}

static void a_recipe_that_lint_refuses_is_refused(sotto_test *t)
{
    sotto_test_learner_start(t, &one, "\"epsilon\": 2.5", "\"epsilon\": 0.5");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 0));
    CHECK_EQUAL(t, SOTTO_WHY_BUDGET, sotto_test_why(&one.phone, "digits#0"));
    sotto_test_phone_close(&one.phone);
    sotto_test_learner_start(t, &one, "\"scale\": 4096", "\"scale\": 67108864");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 0));
    sotto_test_phone_close(&one.phone);
    sotto_test_learner_start(t, &one, "SELECT pixels, label FROM digits",
                             "SELECT event_time FROM digits");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 0));
    CHECK_EQUAL(t, SOTTO_WHY_POLICY, sotto_test_why(&one.phone, "digits#0"));
    sotto_test_phone_close(&one.phone);
}

static void a_round_that_the_recipe_has_not_is_refused(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_learner_at(&one, 48);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 48));
    sotto_test_phone_close(&one.phone);
}

static sotto_status offer_signed(sotto_test *t, const sotto_signer *by)
{
    sotto_round_record record = {.round = 0, .recipe = one.recipe};
    sotto_buf out = sotto_test_buf(t, one.recipe.len + 512);

    sotto_hash_once(record.model, SOTTO_SHA256, one.model);
    CHECK_OK(t, sotto_round_record_sign(&record, by, &t->err));
    CHECK_OK(t, sotto_round_record_encode(&out, &record, &t->err));
    return sotto_device_offer(one.phone.device, sotto_buf_bytes(&out), &t->err);
}

/* A record that somebody else made does not even take the round's place on the shelf. */
static void a_round_that_the_owner_did_not_sign_is_refused(sotto_test *t)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {1}, seed_of_another[SOTTO_SIGN_SEED] = {2};
    char key[128], digits[2 * SOTTO_SIGN_PUBLIC + 1];
    sotto_signer owner, other;

    CHECK_OK(t, sotto_signer_init(&owner, seed, &t->err));
    CHECK_OK(t, sotto_signer_init(&other, seed_of_another, &t->err));
    sotto_hex_encode(digits, sotto_bytes_of(owner.public_key, sizeof owner.public_key));
    (void)snprintf(key, sizeof key, "\"rounds\": {\"key\": \"%s\",", digits);
    sotto_test_learner_start(t, &one, "\"rounds\": {", key);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_learner_offer(&one, 0));
    CHECK_STATUS(t, SOTTO_REJECTED, offer_signed(t, &other));
    CHECK_OK(t, offer_signed(t, &owner));
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 1, one.phone.sends);
    sotto_signer_clear(&owner);
    sotto_signer_clear(&other);
    sotto_test_phone_close(&one.phone);
}

/* Round 0 begins with the recipe's own model. */
static void another_first_model_is_refused(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.model = sotto_test_model(t, 0.25F);
    CHECK_OK(t, sotto_test_learner_offer(&one, 0));
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    check_sentence(t, "digits#0", SOTTO_WHY_PARTIES, "not the one that the recipe begins with");
    CHECK_EQUAL(t, 0, one.fetches);
    sotto_test_phone_close(&one.phone);
}

static void a_round_has_one_model(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_learner_at(&one, 3);
    CHECK_OK(t, sotto_test_learner_offer(&one, 3));
    one.model = sotto_test_model(t, 0.25F);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_learner_offer(&one, 3));
    sotto_test_phone_close(&one.phone);
}

static void a_stale_model_is_not_trained(sotto_test *t)
{
    const sotto_bytes stale = sotto_test_model(t, 0.25F);

    sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_learner_at(&one, 3);
    CHECK_OK(t, sotto_test_learner_offer(&one, 3));
    const sotto_bytes right = one.model;
    one.model = stale;
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    check_sentence(t, "digits#3", SOTTO_WHY_READY, "");
    CHECK_EQUAL(t, 0, one.trainings);
    CHECK_NEAR(t, 0, sotto_test_learner_spent(&one).epsilon, 0);
    one.model = right; /* nothing was lost */
    one.phone.now += 15;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    sotto_test_phone_close(&one.phone);
}

static void the_record_of_a_round_that_is_over_is_refused(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_learner_at(&one, 4);
    CHECK_STATUS(t, SOTTO_STALE, sotto_test_learner_offer(&one, 3));
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    sotto_test_phone_close(&one.phone);
}

/* Rounds have different tasks: what was sealed for one opens in no other. */
static void an_update_is_of_its_round(sotto_test *t)
{
    int64_t update[SOTTO_TEST_PARAMETERS];

    sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_learner_at(&one, 3);
    one.seconds = 1800; /* into round 4 */
    CHECK_OK(t, sotto_test_learner_offer(&one, 3));
    /* How long training takes can depend on rows: it is paid for and sent, as zeros. */
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 1, one.trainings);
    CHECK_EQUAL(t, 1, one.phone.sends);
    CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
    check_update(t, 0, 3, 0);
    one.seconds = 0;
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 5));
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 7));
    check_update(t, 1, 5, 40);
    /* The same bytes under the next round's address. */
    memcpy(one.phone.uploaded[1].task, one.phone.uploaded[2].task, SOTTO_TASK_ID_SIZE);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_test_learner_update(&one, update, 1,
                                           sotto_test_round_record(t, one.recipe, 7, one.model)));
    sotto_test_phone_close(&one.phone);
}

/* ---- the log ------------------------------------------------------------------------------------------------------- */

static void rounds_come_from_the_log_that_the_policy_names(sotto_test *t)
{
    static sotto_test_log log;
    const uint64_t sizes[] = {3};
    uint64_t taken;

    sotto_test_learner_start(t, &one, NULL, NULL);
    sotto_test_log_init(t, &log);
    const char *policy = sotto_test_log_policy(t, &log, sotto_test_learning_policy, "");
    one.phone.options.policy = sotto_bytes_of(policy, strlen(policy));
    sotto_test_learner_open(&one);
    CHECK_OK(t, sotto_device_consent(one.phone.device, true, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 0)); /* without a proof */
    check_sentence(t, "digits#0", SOTTO_WHY_LOG, "public log alone");
    sotto_test_log_grow(t, &log, 2);
    const uint64_t at = sotto_test_log_add(t, &log, SOTTO_ENTRY_RECIPE, 0,
                                           sotto_test_round_record(t, one.recipe, 0, one.model));
    CHECK_OK(t, sotto_device_offer(one.phone.device, sotto_test_log_bundle(t, &log, at, log.size),
                                   &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    /* The next round is in the feed. */
    const uint64_t next = sotto_test_log_add(t, &log, SOTTO_ENTRY_RECIPE, 0,
                                             sotto_test_round_record(t, one.recipe, 2, one.model));
    sotto_test_learner_at(&one, 2);
    CHECK_OK(t,
             sotto_device_feed(one.phone.device, sotto_test_log_feed(t, &log, sizes, 1, &next, 1),
                               &taken, &t->err));
    CHECK_EQUAL(t, 1, taken);
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    sotto_test_phone_close(&one.phone);
    sotto_test_log_clear(&log);
}

/* What a device knows and spent is on its disk. */
static void a_device_that_starts_again_goes_on(sotto_test *t)
{
    sotto_test_learner_in_files(t, &one);
    CHECK_OK(t, sotto_test_learner_offer(&one, 0));
    sotto_test_learner_open(&one);
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    sotto_test_learner_open(&one);
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 1)); /* too near */
    CHECK_EQUAL(t, 1, sotto_test_learner_rho(&one, SOTTO_RHO_RECIPE).participations);
    CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
    sotto_test_phone_close(&one.phone);
}

static sotto_status count_rounds(void *context, const sotto_known_recipe *recipe, sotto_err *err)
{
    (void)err;
    *(unsigned *)context += strncmp(recipe->recipe, "digits#", 7) == 0 &&
                            recipe->closes - recipe->opens == 3600 &&
                            strcmp(recipe->query, "SELECT pixels, label FROM digits") == 0;
    return SOTTO_OK;
}

static void rounds_are_listed_with_recipes(sotto_test *t)
{
    unsigned rounds = 0;

    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_OK(t, sotto_test_learner_offer(&one, 0));
    CHECK_OK(t, sotto_test_learner_offer(&one, 1));
    CHECK_OK(t, sotto_device_recipes(one.phone.device, count_rounds, &rounds, &t->err));
    CHECK_EQUAL(t, 2, rounds);
    CHECK_EQUAL(t, SOTTO_WHY_NOT_OPEN_YET, sotto_test_why(&one.phone, "digits#1"));
    sotto_test_phone_close(&one.phone);
}

/* ---- trainers ------------------------------------------------------------------------------------------------------ */

/* Without noise of the device, both shares together are the update on the grid. */
static void a_trainer_that_fails_has_zeros_sent_and_paid(sotto_test *t)
{
    static const struct {
        float entry;
        sotto_status trained;
        int64_t seconds;
    } cases[] = {
        {0.01F, SOTTO_IO, 0}, {NAN, SOTTO_OK, 0}, {INFINITY, SOTTO_OK, 0}, {0.01F, SOTTO_OK, 700}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_test_learner_start(t, &one, NULL, NULL);
        one.entry = cases[i].entry;
        one.trained = cases[i].trained;
        one.seconds = cases[i].seconds;
        CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
        CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
        CHECK_EQUAL(t, 1, one.phone.sends);
        check_update(t, 0, 0, 0);
        sotto_test_phone_close(&one.phone);
    }
}

/* How much memory rows take depends on them. What is left for the update does not. */
static void rows_that_do_not_fit_have_zeros_sent_and_paid(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.phone.device->trainer->rows = 320; /* cells and one text, not two */
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 0, one.rows);
    CHECK_EQUAL(t, 1, one.phone.sends);
    CHECK_NEAR(t, 2.5, sotto_test_learner_spent(&one).epsilon, 1e-9);
    sotto_test_phone_close(&one.phone);
}

static void a_round_that_can_not_fit_is_refused_when_offered(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.phone.device->trainer->rows = 64;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_learner_offer(&one, 0));
    check_sentence(t, "digits#0", SOTTO_WHY_POLICY, "no memory");
    one.phone.device->trainer->rows = 0;
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    sotto_test_phone_close(&one.phone);
}

static void a_trainer_that_can_not_now_costs_nothing(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.trained = SOTTO_AGAIN;
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 0));
    CHECK_NEAR(t, 0, sotto_test_learner_spent(&one).epsilon, 0);
    one.trained = SOTTO_OK;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    CHECK_OK(t, sotto_device_learn(one.phone.device, NULL, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 2));
    CHECK_EQUAL(t, 2, one.trainings);
    sotto_test_phone_close(&one.phone);
}

static void a_trainer_has_all_that_it_needs(sotto_test *t)
{
    const sotto_trainer none = {.size = sizeof none};
    sotto_trainer trainer;

    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_learn(one.phone.device, &none, &t->err));
    trainer = one.trainer;
    trainer.size--;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_learn(one.phone.device, &trainer, &t->err));
    trainer = one.trainer;
    trainer.seconds = 86401;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_learn(one.phone.device, &trainer, &t->err));
    sotto_test_phone_close(&one.phone);
}

/* The rate is that of the round: half of it in each round that follows. */
static void a_trainer_is_told_how_to_train(sotto_test *t)
{
    sotto_test_learner_start(t, &one, "\"batch\": 20,", "\"epochs\": 3, \"batch\": 20,");
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK_NEAR(t, 0.1, one.rate, 1e-15);
    CHECK_NEAR(t, 0.5, one.clip, 0);
    CHECK(t, one.epochs == 3 && one.batch == 20 && !one.fedsgd);
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 3));
    CHECK_NEAR(t, 0.1 / 8, one.rate, 1e-15);
    sotto_test_phone_close(&one.phone);
    /* FedSGD: one step over all rows. */
    sotto_test_learner_start(t, &one, "\"batch\": 20,",
                             "\"batch\": 20, \"algorithm\": \"fedsgd\",");
    CHECK_EQUAL(t, 1, sotto_test_learner_round(&one, 0));
    CHECK(t, one.epochs == 1 && one.batch == 0 && one.fedsgd);
    sotto_test_phone_close(&one.phone);
}

static const char *round_name(sotto_test *t, uint64_t round)
{
    char *name = sotto_test_take(t, 32);

    (void)snprintf(name, 32, "digits#%u", (unsigned)round);
    return name;
}

static void the_draw_of_a_round_is_not_drawn_again(sotto_test *t)
{
    uint64_t made = 0;

    sotto_test_learner_start(t, &one, "\"rate\": 1.0", "\"rate\": 0.5");
    for (uint64_t round = 0; round < 40; round += 2) {
        const uint64_t now = sotto_test_learner_round(&one, round);

        made += now;
        CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
        if (made < 3 && !now)
            CHECK_EQUAL(t, SOTTO_WHY_NOT_SAMPLED, sotto_test_why(&one.phone, round_name(t, round)));
    }
    CHECK_EQUAL(t, 3, made); /* of 20 rounds, by a fixed seed */
    CHECK_EQUAL(t, 3, one.fetches);
    sotto_test_phone_close(&one.phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_device_answers_a_round_once),
        CASE(all_participations_are_paid_before_the_first_update_leaves),
        CASE(the_charge_covers_the_zcdp_of_every_participation),
        CASE(a_burnt_round_is_paid_for),
        CASE(a_device_keeps_to_its_participations),
        CASE(a_device_keeps_its_distance_between_rounds),
        CASE(correlated_noise_is_paid_for_by_its_nodes),
        CASE(noise_by_buffers_is_paid_for_by_its_matrix),
        CASE(no_earlier_round_follows_a_later_one),
        CASE(a_ledger_that_was_lost_ends_the_recipe),
        CASE(a_policy_must_allow_updates_in_words),
        CASE(a_recipe_that_lint_refuses_is_refused),
        CASE(a_round_that_the_recipe_has_not_is_refused),
        CASE(a_round_that_the_owner_did_not_sign_is_refused),
        CASE(another_first_model_is_refused),
        CASE(a_round_has_one_model),
        CASE(a_stale_model_is_not_trained),
        CASE(the_record_of_a_round_that_is_over_is_refused),
        CASE(an_update_is_of_its_round),
        CASE(rounds_come_from_the_log_that_the_policy_names),
        CASE(a_device_that_starts_again_goes_on),
        CASE(rounds_are_listed_with_recipes),
        CASE(a_trainer_that_fails_has_zeros_sent_and_paid),
        CASE(rows_that_do_not_fit_have_zeros_sent_and_paid),
        CASE(a_round_that_can_not_fit_is_refused_when_offered),
        CASE(a_trainer_that_can_not_now_costs_nothing),
        CASE(a_trainer_has_all_that_it_needs),
        CASE(a_trainer_is_told_how_to_train),
        CASE(the_draw_of_a_round_is_not_drawn_again),
    };

    return RUN_TESTS(argc, argv, cases);
}
