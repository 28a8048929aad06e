/* Importance sampling: a device reads its value, draws at the value's rate, and pays for silence as for a report. Only where nobody
 * sees who answers. */
#include "device/answer/participate.h"
#include "device/device_internal.h"
#include "device/ledger/outbox.h"

#include "base/hex.h"
#include "recipe/claim.h"
#include "recipe/participation.h"
#include "sim/random.h"
#include "support/logs.h"
#include "support/powerloss_vfs.h"
#include "support/wallet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALL                                                                                        \
    "\"anonymity\": {\"relay\": \"relay\", \"gateway\": \"gateway\", \"tokens\": \"type-2\", "     \
    "\"attester\": \"key:attester\", \"issuer\": \"key:issuer\", \"log\": \"main\"}, "             \
    "\"schedule\""

static sotto_test_log logs;
static sotto_mistakes mistakes;

/* ---- the draw --------------------------------------------------------------------------------------------------- */

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

static double sent_of(sotto_test *t, const sotto_participation *p, uint64_t bin, unsigned draws)
{
    sotto_sim_random random;
    sotto_entropy entropy;
    unsigned sent = 0;

    sotto_sim_random_init(&random, 20261117 + bin);
    sotto_entropy_init(&entropy, fill, &random);
    for (unsigned i = 0; i < draws; i++) {
        bool silent;

        CHECK_OK(t, sotto_participation_weigh(&silent, p, bin, &entropy, &t->err));
        sent += !silent;
    }
    sotto_entropy_clear(&entropy);
    return (double)sent / draws;
}

/* A deviation of 5 is passed once in 1.7 million; the seed is fixed. */
static void each_value_is_sent_at_its_rate(sotto_test *t)
{
    enum { DRAWS = 40000 };
    const sotto_participation p = {
        .type = SOTTO_IMPORTANCE, .rate = 0.05, .rate_other = 0.6, .default_bin = 3};
    const sotto_participation none = {
        .type = SOTTO_IMPORTANCE, .rate = 0.05, .rate_other = 0.6, .default_bin = SOTTO_NO_VALUE};
    const double few = 5 * sqrt(0.05 * 0.95 / DRAWS), many = 5 * sqrt(0.6 * 0.4 / DRAWS);

    CHECK_NEAR(t, 0.05, sent_of(t, &p, 3, DRAWS), few);
    CHECK_NEAR(t, 0.6, sent_of(t, &p, 4, DRAWS), many);
    CHECK_NEAR(t, 0.6, sent_of(t, &p, SOTTO_NO_VALUE, DRAWS), many);
    CHECK_NEAR(t, 0.05, sent_of(t, &none, SOTTO_NO_VALUE, DRAWS), few);
    CHECK_NEAR(t, 0.6, sent_of(t, &none, 0, DRAWS), many);
}

/* ---- the recipe ------------------------------------------------------------------------------------------------- */

static sotto_bytes recipe_text(sotto_test *t, const char *rates)
{
    char participation[200];
    sotto_bytes text = sotto_test_sure_recipe(t, "rare", "\"schedule\"", ALL);

    (void)snprintf(participation, sizeof participation, "{\"type\": \"importance\", %s}", rates);
    text = sotto_test_replace(t, (const char *)text.data, "{\"type\": \"poisson\", \"rate\": 1}",
                              participation);
    return sotto_test_replace(t, (const char *)text.data, "\"epsilon\": 0.30", "\"epsilon\": 29.9");
}

static const sotto_recipe *read(sotto_test *t, sotto_bytes text)
{
    const sotto_recipe *recipe;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_recipe_read(&recipe, text, &t->arena, &mistakes, &t->err));
    return recipe;
}

static const char RATES[] = "\"rate_default\": 0.1, \"rate_other\": 0.4, \"default_share\": 0.75";

static void servers_expect_reports_by_the_mix(sotto_test *t)
{
    const sotto_recipe *recipe = read(t, recipe_text(t, RATES));
    const sotto_slot_range all = {0, 1};
    sotto_recipe_claim claim;

    CHECK_NEAR(t, 0.75 * 0.1 + 0.25 * 0.4,
               sotto_participation_sends(&recipe->participation, all, 0), 1e-15);
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_NEAR(t, 0.175 * (double)recipe->population, claim.expected_reports, 1e-6);
}

/* The cohort's epsilon is that of a randomizer whose answers have "no report" among them. */
static void what_silence_tells_is_part_of_the_claim(sotto_test *t)
{
    const sotto_recipe *recipe = read(t, recipe_text(t, RATES));
    sotto_recipe poisson = *recipe;
    sotto_recipe_claim claim, before;

    poisson.participation = (sotto_participation){.type = SOTTO_POISSON, .rate = 0.4};
    CHECK_OK(t, sotto_recipe_claim_compute(&claim, recipe, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_OK(t, sotto_recipe_claim_compute(&before, &poisson, SOTTO_HONEST_UNSAID, &t->err));
    CHECK_NEAR(t, 2 + log(4), claim.replacement_local, 1e-9);
    CHECK(t, claim.epsilon_cohort > 1.5 * before.epsilon_cohort);
}

static void check_refused(sotto_test *t, const sotto_recipe *recipe, const char *reason)
{
    const char *said = sotto_importance_refused(recipe);

    CHECK(t, said && strcmp(said, reason) == 0);
}

static void what_would_tell_too_much_is_refused(sotto_test *t)
{
    const sotto_recipe *recipe = read(t, recipe_text(t, RATES));
    sotto_recipe other = *recipe;

    CHECK(t, !sotto_importance_refused(recipe));
    other.anonymity.relay = NULL;
    check_refused(t, &other, "whether a device answers would depend on its value, and be seen");
    other = *recipe;
    other.anonymity.tokens = SOTTO_TOKENS_NONE;
    check_refused(t, &other, "whether a device answers would depend on its value, and be seen");
    other = *recipe;
    other.anonymity.log = NULL;
    check_refused(t, &other, "whether a device answers would depend on its value, and be seen");
    other = *recipe;
    other.by = SOTTO_BY_SERVERS;
    check_refused(t, &other, "importance sampling needs reports that devices randomise themselves");
    other = *recipe;
    other.statistic = SOTTO_STATISTIC_QUANTILES;
    check_refused(t, &other,
                  "importance sampling is for histograms and counts, which its rates divide");
    other = *recipe;
    other.dummies = 0.1;
    check_refused(t, &other,
                  "importance sampling has no dummies: they would be drawn before the value");
    other = *recipe;
    other.on_no_match = SOTTO_NO_MATCH_SILENCE;
    check_refused(t, &other,
                  "importance sampling draws about silence: on_no_match can't ask for it, too");
    other = *recipe;
    other.participation.rate_other = 1;
    check_refused(t, &other, "a rate_other of 1 makes silence tell that a value is the default");
    const sotto_recipe *none;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_recipe_read(&none,
                                   recipe_text(t, "\"rate_default\": 0.1, \"rate_other\": 1"),
                                   &t->arena, &mistakes, &t->err));
    CHECK(t, sotto_test_has_mistake(&mistakes, "participation.rate_other",
                                    "silence would tell for certain that a value is the default"));
    other = *recipe;
    other.participation.default_bin = recipe->encoding.bins;
    check_refused(t, &other, "default is no bin of the recipe");
    other.participation.default_bin--;
    CHECK(t, !sotto_importance_refused(&other));
    other.participation.default_bin = 0;
    other.statistic = SOTTO_STATISTIC_COUNT; /* of devices with a value, which are the rare ones */
    check_refused(t, &other, "default is no bin of the recipe");
    other.participation.default_bin = SOTTO_NO_VALUE;
    CHECK(t, !sotto_importance_refused(&other));
}

/* ---- a device --------------------------------------------------------------------------------------------------- */

static sotto_bytes parties_with_relay(sotto_test *t)
{
    static const uint8_t ikm[32] = {9};
    const sotto_bytes servers = sotto_test_token_parties(t, 1);
    sotto_hpke_key key;
    uint8_t wire[64];
    sotto_buf encoded = sotto_buf_over(wire, sizeof wire);
    char digits[129], *out = sotto_test_take(t, 8192);

    CHECK_OK(t, sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_X25519, sotto_bytes_of(ikm, sizeof ikm),
                                      &t->err));
    const sotto_hpke_config config =
        sotto_hpke_config_of(&key, 9, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    CHECK_OK(t, sotto_hpke_config_encode(&encoded, &config, &t->err));
    sotto_hex_encode(digits, sotto_buf_bytes(&encoded));
    const int len = snprintf(
        out, 8192,
        "%.*s, \"relay\": {\"role\": \"relay\", \"url\": \"https://relay.example/g\"}, "
        "\"gateway\": {\"role\": \"gateway\", \"url\": \"https://gateway.example/\", \"hpke\": "
        "[{\"config\": \"%s\", \"from\": \"2026-01-01T00:00:00Z\", \"until\": "
        "\"2028-01-01T00:00:00Z\"}]}}",
        (int)servers.len - 1, (const char *)servers.data, digits);
    return sotto_bytes_of(out, (size_t)len);
}

/* A phone that holds a token, has a relay, and takes from a log. Rates so far apart that what falls is certain but for once in a
 * million. */
static void open_phone_on(sotto_test *t, bool event, const sotto_storage *storage)
{
    sotto_test_phone *phone = &sotto_test_wallet_phone;

    sotto_test_wallet_init(t);
    if (storage) {
        phone->options.events = sotto_test_temp(t, "power-events.db");
        phone->options.ledger = sotto_test_temp(t, "power-ledger.db");
    }
    sotto_test_phone_in_files(phone);
    phone->options.storage = storage;
    sotto_test_phone_open(phone);
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
    sotto_test_token_get(t);
    if (event)
        CHECK_OK(t, sotto_test_phone_type(phone, 1, 35, "i went home"));
    sotto_test_log_init(t, &logs);
    const uint64_t keys =
        sotto_test_log_add(t, &logs, SOTTO_ENTRY_ISSUER_KEYS, 1, sotto_test_the_list(t));
    const uint64_t recipe =
        sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0,
                           recipe_text(t, "\"rate_default\": 1e-9, \"rate_other\": 0.999999"));
    const uint64_t both[] = {keys, recipe};
    const char *policy = sotto_test_log_policy(t, &logs, sotto_test_token_policy(t), "");
    uint64_t taken;
    phone->options.policy = sotto_bytes_of(policy, strlen(policy));
    phone->options.parties = parties_with_relay(t);
    phone->options.host.exchange = NULL; /* what is sent stays in the outbox */
    sotto_test_phone_open(phone);
    CHECK_OK(t,
             sotto_device_feed(phone->device, sotto_test_log_feed(t, &logs, &logs.size, 1, both, 2),
                               &taken, &t->err));
    CHECK_EQUAL(t, 2, taken);
}

static void open_phone(sotto_test *t, bool event)
{
    open_phone_on(t, event, NULL);
}

static void close_phone(void)
{
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_test_log_clear(&logs);
}

static void a_rare_value_is_sent_and_paid_for(sotto_test *t)
{
    open_phone(t, true);
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_SPENT));
    CHECK_EQUAL(t, 1, sotto_test_charged(&sotto_test_wallet_phone));
    CHECK_EQUAL(t, 0, sotto_test_lines(&sotto_test_wallet_phone, "rare", SOTTO_RECORD_DECIDED));
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    close_phone();
}

/* Not once more at the next tick: a second draw would tell more than the first. */
static void silence_about_the_default_is_paid_for_and_final(sotto_test *t)
{
    sotto_explanation why;

    open_phone(t, false);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK_EQUAL(t, 1, sotto_test_charged(&sotto_test_wallet_phone));
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    CHECK_OK(t, sotto_device_why(sotto_test_wallet_phone.device, &why, "rare", &t->err));
    CHECK(t, why.why == SOTTO_WHY_NO_VALUE);
    CHECK(t, strstr(why.sentence, "Silence tells something too, so it was paid for."));
    close_phone();
}

/* Paid, and the report kept with its token, or none of it; and what was paid is not drawn for again. */
static void check_whole(sotto_test *t, bool event)
{
    sotto_test_phone *phone = &sotto_test_wallet_phone;
    const uint64_t paid = sotto_test_charged(phone);
    uint64_t reports;

    CHECK(t, paid <= 1);
    CHECK_OK(t, sotto_outbox_count(phone->device->ledger, &reports, &t->err));
    CHECK_EQUAL(t, event ? paid : 0, reports);
    CHECK(t, sotto_test_token_is(t, reports ? SOTTO_TOKEN_SPENT : SOTTO_TOKEN_HELD));
    CHECK_EQUAL(t, event && !paid, sotto_test_tick(phone).made);
    CHECK_EQUAL(t, 0, sotto_test_tick(phone).made);
    CHECK_EQUAL(t, 1, sotto_test_charged(phone));
}

static void power_lost_at_any_step_parts_no_draw_from_its_payment(sotto_test *t)
{
    for (int event = 0; event < 2; event++) {
        bool done = false;

        for (int64_t at = 0; !done; at++) {
            const sotto_arena_mark mark = sotto_arena_here(&t->arena);

            sotto_powerloss_start();
            open_phone_on(t, event, &sotto_powerloss_storage);
            sotto_powerloss_at((int64_t)sotto_powerloss_steps() + at);
            done = sotto_device_tick(sotto_test_wallet_phone.device, NULL,
                                     (sotto_conditions){true, true, true}, NULL) == SOTTO_OK;
            sotto_test_phone_close(&sotto_test_wallet_phone);
            sotto_powerloss_restore((uint64_t)at % 3);
            sotto_test_phone_open(&sotto_test_wallet_phone);
            CHECK(t, !sotto_device_closed(sotto_test_wallet_phone.device));
            check_whole(t, event);
            close_phone();
            sotto_arena_rollback(&t->arena, mark);
            CHECK(t, at < 200);
        }
    }
}

/* The local epsilon that fields are charged is that of a report and of none: 2, and log(10^9). */
static void a_field_that_allows_less_than_silence_costs_keeps_it(sotto_test *t)
{
    open_phone(t, true);
    const char *policy = sotto_test_log_policy(t, &logs, sotto_test_token_policy(t), "");
    sotto_bytes strict =
        sotto_test_replace(t, policy, "\"epsilon_local\": 30", "\"epsilon_local\": 22.7");
    const sotto_policy *read_policy;
    sotto_recipe_claim claim;

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_policy_read(&read_policy, strict, &t->arena, &mistakes, &t->err));
    const sotto_recipe *recipe =
        read(t, recipe_text(t, "\"rate_default\": 1e-9, \"rate_other\": 0.999999"));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_recipe_lint(&claim, recipe, read_policy, &mistakes, &t->err));
    CHECK(t, sotto_test_has_mistake(&mistakes, "privacy", "one report may cost"));
    strict = sotto_test_replace(t, policy, "\"epsilon_local\": 30", "\"epsilon_local\": 22.73");
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t, sotto_policy_read(&read_policy, strict, &t->arena, &mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_lint(&claim, recipe, read_policy, &mistakes, &t->err));
    close_phone();
}

static sotto_status drawn_before(void *context, sotto_decision *out, sotto_err *err)
{
    (void)err;
    *out = *(const sotto_decision *)context;
    return SOTTO_OK;
}

/* Whoever was drawn for another version of the recipe has had its draw. */
static void a_draw_for_another_version_is_no_second_chance(sotto_test *t)
{
    sotto_test_phone *phone = &sotto_test_wallet_phone;
    sotto_decision drawn = {.choice = SOTTO_CHOICE_SILENT,
                            .window = {.law = SOTTO_POISSON, .rate = 0.5}};

    open_phone(t, true);
    sotto_decision kept;
    CHECK_OK(t, sotto_ledger_decide(phone->device->ledger, &kept, SOTTO_DECISION_RECIPE, "rare",
                                    drawn_before, &drawn, phone->now, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(phone).made);
    CHECK(t, sotto_test_why(phone, "rare") == SOTTO_WHY_NOT_SAMPLED);
    CHECK_EQUAL(t, 0, sotto_test_charged(phone));
    close_phone();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_value_is_sent_at_its_rate),
        CASE(servers_expect_reports_by_the_mix),
        CASE(what_silence_tells_is_part_of_the_claim),
        CASE(what_would_tell_too_much_is_refused),
        CASE(a_rare_value_is_sent_and_paid_for),
        CASE(silence_about_the_default_is_paid_for_and_final),
        CASE(power_lost_at_any_step_parts_no_draw_from_its_payment),
        CASE(a_field_that_allows_less_than_silence_costs_keeps_it),
        CASE(a_draw_for_another_version_is_no_second_chance),
    };

    return RUN_TESTS(argc, argv, cases);
}
