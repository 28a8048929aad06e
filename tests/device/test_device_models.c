/* The model that a device trains: its file, and how it is fetched. */
#include "base/hex.h"
#include "device/round.h"
#include "support/learners.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_test_learner one;

static void check_model(sotto_test *t, sotto_bytes file, sotto_status wanted, const char *part)
{
    float weights[SOTTO_TEST_PARAMETERS];
    const sotto_status status =
        sotto_model_weights_read(weights, SOTTO_TEST_PARAMETERS, file, &t->err);

    CHECK_EQUAL(t, wanted, status);
    CHECK(t, status == SOTTO_OK || strstr(t->err.reason, part) != NULL);
    sotto_err_clear(&t->err);
}

static sotto_bytes changed(sotto_test *t, const char *old, const char *new)
{
    const sotto_bytes file = sotto_test_model(t, 0.5F);
    uint8_t *copy = sotto_test_take(t, file.len);
    const size_t len = strlen(old);

    memcpy(copy, file.data, file.len);
    for (size_t i = 0; i + len < 200; i++)
        if (memcmp(copy + i, old, len) == 0) {
            memcpy(copy + i, new, len);
            break;
        }
    return sotto_bytes_of(copy, file.len);
}

static void a_model_file_is_whole(sotto_test *t)
{
    const sotto_bytes good = sotto_test_model(t, 0.5F);

    check_model(t, good, SOTTO_OK, "");
    check_model(t, sotto_bytes_of(good.data, 7), SOTTO_MALFORMED, "not a safetensors file");
    check_model(t, sotto_bytes_of(good.data, good.len - 4), SOTTO_MALFORMED, "bytes of numbers");
    check_model(t, changed(t, "F32", "F16"), SOTTO_MALFORMED, "not float32");
    check_model(t, changed(t, "[10,11]", "[10,12]"), SOTTO_MALFORMED, "another shape");
    check_model(t, changed(t, "[0,40]", "[4,44]"), SOTTO_MALFORMED, "overlap");
    check_model(t, changed(t, "{\"w\"", "x\"w\""), SOTTO_MALFORMED, "no JSON object");
    check_model(t, changed(t, "\"b\"", "\"w\""), SOTTO_MALFORMED, "no JSON object");
}

static void a_model_has_finite_numbers(sotto_test *t)
{
    check_model(t, sotto_test_model(t, NAN), SOTTO_MALFORMED, "not finite");
    check_model(t, sotto_test_model(t, INFINITY), SOTTO_MALFORMED, "not finite");
}

static void a_model_that_the_host_finds_too_long_is_not_fetched(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.trainer.model_bytes = 100;
    CHECK_OK(t, sotto_device_learn(one.phone.device, &one.trainer, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 0, one.fetches);
    sotto_test_phone_close(&one.phone);
}

static void a_model_that_does_not_come_is_fetched_again(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.status = 404;
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, "digits#0", SOTTO_RECORD_SILENT));
    one.status = 0;
    one.failed = SOTTO_IO;
    one.phone.now += 15;
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    one.failed = SOTTO_OK;
    one.phone.now += 30;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 3, one.fetches);
    sotto_test_phone_close(&one.phone);
}

/* A host that ticks often asks for a model that is not there seldom. */
static void a_model_that_did_not_come_is_left_alone_for_a_while(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    one.status = 404;
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 0));
    for (unsigned i = 0; i < 14; i++) {
        one.phone.now++;
        CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    }
    CHECK_EQUAL(t, 1, one.fetches);
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, "digits#0", SOTTO_RECORD_SILENT));
    one.phone.now++;
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    one.phone.now += 29; /* twice as long */
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 2, one.fetches);
    one.phone.now -= 600; /* a clock that was set back */
    one.status = 0;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 3, one.fetches);
    sotto_test_phone_close(&one.phone);
}

/* Two recipes: the host's word about the first fetch holds for the second. */
static void a_host_that_wants_no_exchange_is_asked_for_no_model(sotto_test *t)
{
    sotto_test_learner_start(t, &one, NULL, NULL);
    CHECK_OK(t, sotto_test_learner_offer(&one, 0));
    one.recipe = sotto_test_learning_recipe(t, one.model, "\"digits\"", "\"others\"");
    CHECK_OK(t, sotto_test_learner_offer(&one, 0));
    one.failed = SOTTO_AGAIN;
    CHECK_EQUAL(t, 0, sotto_test_tick(&one.phone).made);
    CHECK_EQUAL(t, 1, one.fetches);
    sotto_test_phone_close(&one.phone);
}

/* The test's parties, a relay and a gateway. */
static sotto_bytes parties_with_relay(sotto_test *t)
{
    const sotto_bytes text = sotto_test_server_parties(t, 1);
    const sotto_hpke_key key = sotto_test_server_key(t, SOTTO_PARTY_HELPER, 2);
    const sotto_hpke_config config =
        sotto_hpke_config_of(&key, 77, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    char *out = sotto_test_take(t, text.len + 1024), hex[257];
    uint8_t bytes[128];
    sotto_buf buf = sotto_buf_over(bytes, sizeof bytes);

    CHECK_OK(t, sotto_hpke_config_encode(&buf, &config, &t->err));
    sotto_hex_encode(hex, sotto_buf_bytes(&buf));
    const int len = snprintf(
        out, text.len + 1024,
        "%.*s, \"relay\": {\"role\": \"relay\", \"url\": \"https://relay.example/\"},"
        " \"gateway\": {\"role\": \"gateway\", \"url\": \"https://gateway.example/\", \"hpke\":"
        " [{\"config\": \"%s\", \"from\": \"2026-01-01T00:00:00Z\", \"until\":"
        " \"2028-01-01T00:00:00Z\"}]}}",
        (int)text.len - 1, (const char *)text.data, hex);
    return sotto_bytes_of(out, (size_t)len);
}

/* Who fetches a model takes part: where the recipe has a relay, nobody but the relay may see that. */
static void a_model_is_fetched_as_the_report_is_sent(sotto_test *t)
{
    sotto_test_learner_start(
        t, &one, "\"population\"",
        "\"anonymity\": {\"relay\": \"relay\", \"gateway\": \"gateway\"}, \"population\"");
    one.phone.options.parties = parties_with_relay(t);
    sotto_test_learner_open(&one);
    CHECK_OK(t, sotto_device_consent(one.phone.device, true, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_learner_round(&one, 0));
    CHECK_EQUAL(t, 0, one.fetches);
    CHECK_EQUAL(t, 1, one.relayed);
    CHECK_EQUAL(t, 1, sotto_test_lines(&one.phone, "digits#0", SOTTO_RECORD_SILENT));
    sotto_test_phone_close(&one.phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_model_file_is_whole),
        CASE(a_model_has_finite_numbers),
        CASE(a_model_that_the_host_finds_too_long_is_not_fetched),
        CASE(a_model_that_does_not_come_is_fetched_again),
        CASE(a_model_that_did_not_come_is_left_alone_for_a_while),
        CASE(a_host_that_wants_no_exchange_is_asked_for_no_model),
        CASE(a_model_is_fetched_as_the_report_is_sent),
    };

    return RUN_TESTS(argc, argv, cases);
}
