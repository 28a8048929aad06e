/* Parties files and lists of keys that devices take from a log. */
#include "device/device_internal.h"
#include "device/device_log.h"
#include "recipe/signed_parties.h"

#include "base/hex.h"
#include "support/devices.h"
#include "support/logs.h"

#include <stdio.h>
#include <string.h>

static sotto_test_phone phone;
static sotto_test_log logs;

static void end(void)
{
    sotto_test_phone_close(&phone);
    sotto_test_log_clear(&logs);
}

enum { SEED = 1 };

static sotto_bytes sign_parties(sotto_test *t, uint64_t serial, unsigned generations)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {SEED};
    sotto_signed_parties file = {.serial = serial,
                                 .parties = sotto_test_server_parties(t, generations)};
    sotto_buf out = sotto_test_buf(t, 16384);
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    CHECK_OK(t, sotto_signed_parties_sign(&file, &signer, &t->err));
    CHECK_OK(t, sotto_signed_parties_encode(&out, &file, &t->err));
    sotto_signer_clear(&signer);
    return sotto_buf_bytes(&out);
}

static void start_signed(sotto_test *t)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {SEED};
    char hex[2 * SOTTO_SIGN_PUBLIC + 1], text[256];
    sotto_signer signer;

    sotto_test_log_phone(t, &logs, &phone);
    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    sotto_hex_encode(hex, sotto_bytes_of(signer.public_key, SOTTO_SIGN_PUBLIC));
    sotto_signer_clear(&signer);
    (void)snprintf(text, sizeof text, "\"parties_keys\": {\"vendor\": \"%s\"}, \"honest\"", hex);
    phone.options.policy =
        sotto_test_replace(t, (const char *)phone.options.policy.data, "\"honest\"", text);
    sotto_test_phone_open(&phone);
}

static sotto_status replace(sotto_test *t, sotto_bytes bytes)
{
    return sotto_device_replace_parties(phone.device, bytes, &t->err);
}

static void a_parties_file_comes_from_the_log(sotto_test *t)
{
    start_signed(t);
    const sotto_bytes file = sign_parties(t, 7, 2);
    CHECK_STATUS(t, SOTTO_DENIED, replace(t, file));
    CHECK_REASON(t, "the policy takes it from a public log alone");
    const uint64_t at = sotto_test_log_add(t, &logs, SOTTO_ENTRY_PARTIES, 7, file);
    CHECK_OK(t, replace(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_EQUAL(t, 7, phone.device->terms.serial);
    sotto_test_phone_open(&phone); /* proved again at each opening */
    CHECK_EQUAL(t, 7, phone.device->terms.serial);
    /* The same file in a later tree is the same file. */
    const uint64_t sizes[] = {logs.size};
    sotto_test_log_grow(t, &logs, 9);
    CHECK_OK(t, sotto_device_feed(phone.device, sotto_test_log_feed(t, &logs, sizes, 1, &at, 1),
                                  NULL, &t->err));
    CHECK_OK(t, replace(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_PARTIES));
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 7, phone.device->terms.serial);
    end();
}

static void a_parties_file_has_the_serial_of_its_entry(sotto_test *t)
{
    start_signed(t);
    const uint64_t at = sotto_test_log_add(t, &logs, SOTTO_ENTRY_PARTIES, 8, sign_parties(t, 7, 2));
    CHECK_STATUS(t, SOTTO_REJECTED, replace(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_REASON(t, "parties file: its log has another serial");
    end();
}

/* Signed, taken before the policy named a log: it is passed over. */
static void a_parties_file_that_is_on_no_log_is_passed_over(sotto_test *t)
{
    start_signed(t);
    const sotto_bytes strict = phone.options.policy;
    sotto_buf lax = sotto_test_buf(t, strict.len + 1);
    const char *logs_key = strstr((const char *)strict.data, "\"logs\"");
    const char *after = strstr(logs_key, "\"min_cohort\"");

    lax.len = (size_t)(logs_key - (const char *)strict.data);
    memcpy(lax.data, strict.data, lax.len);
    memcpy(lax.data + lax.len, after, strlen(after));
    lax.len += strlen(after);
    phone.options.policy = sotto_buf_bytes(&lax);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, replace(t, sign_parties(t, 7, 2)));
    CHECK_EQUAL(t, 7, phone.device->terms.serial);
    phone.options.policy = strict;
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 0, phone.device->terms.serial);
    end();
}

static void a_list_of_issuers_keys_comes_from_the_log(sotto_test *t)
{
    static const char list[] = "{\"keys\": []}";
    const sotto_bytes none = sotto_bytes_of(NULL, 0), text = sotto_bytes_of(list, sizeof list - 1);
    sotto_logged logged;

    sotto_test_log_phone(t, &logs, &phone);
    const uint64_t at = sotto_test_log_add(t, &logs, SOTTO_ENTRY_ISSUER_KEYS, 5, text);
    CHECK_OK(t, sotto_device_logged(phone.device, &logged,
                                    sotto_test_log_bundle(t, &logs, at, logs.size),
                                    SOTTO_ENTRY_ISSUER_KEYS, none, &t->err));
    CHECK(t, sotto_bytes_equal_vartime(text, logged.object));
    CHECK(t, logged.serial == 5 && logged.log == &phone.device->terms.policy->logs[0]);
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_device_logged(phone.device, &logged, text, SOTTO_ENTRY_ISSUER_KEYS, none, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_device_logged(phone.device, &logged,
                                     sotto_test_log_bundle(t, &logs, at, logs.size),
                                     SOTTO_ENTRY_PARTIES, none, &t->err));
    end();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_parties_file_comes_from_the_log),
        CASE(a_parties_file_has_the_serial_of_its_entry),
        CASE(a_parties_file_that_is_on_no_log_is_passed_over),
        CASE(a_list_of_issuers_keys_comes_from_the_log),
    };

    return RUN_TESTS(argc, argv, cases);
}
