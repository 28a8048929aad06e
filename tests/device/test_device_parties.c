/* Parties files that come while an application is installed: signed by keys that its policy names, never older than the one
 * before, and for the same servers. */
#include "device/device_internal.h"
#include "device/ledger/ledger_internal.h"
#include "device/ledger/parties_taken.h"
#include "recipe/signed_parties.h"

#include "base/hex.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 16384, SEED = 1 };

static sotto_test_phone phone;

static sotto_bytes sign_as(sotto_test *t, uint8_t seed, uint64_t serial, sotto_bytes parties)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {seed};
    sotto_signed_parties file = {.serial = serial, .parties = parties};
    sotto_buf out = sotto_test_buf(t, TEXT);
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    CHECK_OK(t, sotto_signed_parties_sign(&file, &signer, &t->err));
    CHECK_OK(t, sotto_signed_parties_encode(&out, &file, &t->err));
    sotto_signer_clear(&signer);
    return sotto_buf_bytes(&out);
}

/* Keys of both generations, where the application's file has the first alone. */
static sotto_bytes newer(sotto_test *t, uint64_t serial)
{
    return sign_as(t, SEED, serial, sotto_test_server_parties(t, 2));
}

/* The example's, with the key of SEED or with none. */
static const char *policy_of(sotto_test *t, bool named)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {SEED};
    char hex[2 * SOTTO_SIGN_PUBLIC + 1], text[256];
    sotto_signer signer;

    if (!named)
        return NULL;
    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    sotto_hex_encode(hex, sotto_bytes_of(signer.public_key, SOTTO_SIGN_PUBLIC));
    sotto_signer_clear(&signer);
    (void)snprintf(text, sizeof text, "\"parties_keys\": {\"vendor\": \"%s\"}, \"min_cohort\"",
                   hex);
    return (const char *)sotto_test_replace(t, sotto_policy_example(), "\"min_cohort\"", text).data;
}

static void start(sotto_test *t, bool named)
{
    sotto_test_phone_init(t, &phone, policy_of(t, named));
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
}

static sotto_status replace(sotto_test *t, sotto_bytes file)
{
    return sotto_device_replace_parties(phone.device, file, &t->err);
}

/* How many keys the device knows of its leader, and the serial of the file that says so. */
static bool uses(size_t keys, uint64_t serial)
{
    return phone.device->terms.parties->entries[0].key_count == keys &&
           phone.device->terms.serial == serial;
}

static void a_signed_file_is_used_from_then_on(sotto_test *t)
{
    start(t, true);
    CHECK(t, uses(1, 0));
    CHECK_OK(t, replace(t, newer(t, 7)));
    CHECK(t, uses(2, 7));
    sotto_test_phone_open(&phone);
    CHECK(t, uses(2, 7));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_PARTIES));
    CHECK_OK(t, replace(t, newer(t, 7))); /* once more is fine, and nothing happens */
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_PARTIES));
    sotto_test_phone_close(&phone);
}

/* Reports are sealed to the newest key that its file has at that time. */
static void reports_are_sealed_to_its_keys(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    sotto_test_report report;
    sotto_task task;

    start(t, true);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_OK(t, replace(t, newer(t, 7)));
    phone.now = SOTTO_TEST_OPENS + 3600;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.uploads);
    CHECK_OK(t, sotto_test_receive(t, &report, &task, &phone.uploaded[0], recipe, 0, 2));
    sotto_test_phone_close(&phone);
}

static void an_older_file_never_comes_back(sotto_test *t)
{
    start(t, true);
    CHECK_OK(t, replace(t, newer(t, 7)));
    CHECK_STATUS(t, SOTTO_STALE, replace(t, sign_as(t, SEED, 6, sotto_test_server_parties(t, 1))));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 replace(t, sign_as(t, SEED, 7, sotto_test_server_parties(t, 1))));
    CHECK(t, uses(2, 7));
    CHECK_OK(t, replace(t, sign_as(t, SEED, 8, sotto_test_server_parties(t, 1))));
    CHECK(t, uses(1, 8));
    CHECK_STATUS(t, SOTTO_STALE, replace(t, newer(t, 7)));
    t->err = (sotto_err){SOTTO_IO, "of another call"};
    CHECK_EQUAL(t, SOTTO_STALE, sotto_device_replace_parties(phone.device, newer(t, 7), &t->err));
    CHECK_EQUAL(t, SOTTO_STALE, t->err.status); /* and not what was there before */
    sotto_test_phone_open(&phone);
    CHECK(t, uses(1, 8));
    /* Not even after the ledger was started anew. */
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, replace(t, newer(t, 7)));
    sotto_test_phone_close(&phone);
}

/* Two processes that looked at the same moment: whichever comes second finds the other's in the record. */
static void the_record_itself_never_goes_back(sotto_test *t)
{
    start(t, true);
    CHECK_OK(t, replace(t, newer(t, 7)));
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_parties_taken_put(phone.device->ledger, 6, newer(t, 6), phone.now, &t->err));
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_parties_taken_put(phone.device->ledger, 7, newer(t, 7), phone.now, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_PARTIES));
    sotto_test_phone_close(&phone);
}

/* An application may ship a signed file, too. */
static void the_application_s_own_file_counts_by_its_serial(sotto_test *t)
{
    start(t, true);
    CHECK_OK(t, replace(t, newer(t, 7)));
    phone.options.parties = sign_as(t, SEED, 6, sotto_test_server_parties(t, 1));
    sotto_test_phone_open(&phone);
    CHECK(t, uses(2, 7));
    phone.options.parties = sign_as(t, SEED, 9, sotto_test_server_parties(t, 1));
    sotto_test_phone_open(&phone);
    CHECK(t, uses(1, 9));
    CHECK_STATUS(t, SOTTO_STALE, replace(t, newer(t, 8)));
    CHECK_OK(t, replace(t, phone.options.parties)); /* it has that already */
    CHECK(t, uses(1, 9));
    CHECK_OK(t, replace(t, newer(t, 10)));
    CHECK(t, uses(2, 10));
    sotto_test_phone_close(&phone);
}

static void an_application_s_file_by_a_stranger_opens_no_device(sotto_test *t)
{
    sotto_device *device = NULL;

    start(t, true);
    phone.options.parties = sign_as(t, SEED + 1, 9, sotto_test_server_parties(t, 1));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_open(&device, &phone.options, &t->err));
    CHECK(t, !device);
    sotto_test_phone_close(&phone);
}

static void a_stranger_s_signature_is_refused(sotto_test *t)
{
    sotto_bytes file;

    start(t, true);
    CHECK_STATUS(t, SOTTO_DENIED,
                 replace(t, sign_as(t, SEED + 1, 7, sotto_test_server_parties(t, 2))));
    file = newer(t, 7);
    ((uint8_t *)(uintptr_t)file.data)[file.len - 1] = ' '; /* the last brace */
    CHECK_STATUS(t, SOTTO_REJECTED, replace(t, file));
    CHECK_STATUS(t, SOTTO_MALFORMED, replace(t, sotto_test_server_parties(t, 2)));
    CHECK_STATUS(t, SOTTO_MALFORMED, replace(t, sign_as(t, SEED, 7, sotto_bytes_of("{", 1))));
    CHECK(t, uses(1, 0));
    CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_PARTIES));
    sotto_test_phone_close(&phone);
}

static void a_policy_without_keys_takes_no_file(sotto_test *t)
{
    start(t, false);
    CHECK_STATUS(t, SOTTO_DENIED, replace(t, newer(t, 7)));
    CHECK(t, uses(1, 0));
    sotto_test_phone_close(&phone);
}

/* The signer renews keys. Where reports go is not the signer's to say. */
static void other_servers_are_refused(sotto_test *t)
{
    static const char *const changes[][2] = {
        {"https://leader.example.com/", "https://stranger.example.com/"},
        {"key:helper-2026a", "key:helper-2026b"},
        {"\"role\": \"leader\"", "\"role\": \"collector\""},
    };
    const char *parties = (const char *)sotto_test_server_parties(t, 2).data;

    start(t, true);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        CHECK_STATUS(
            t, SOTTO_DENIED,
            replace(t, sign_as(t, SEED, 7,
                               sotto_test_replace(t, parties, changes[i][0], changes[i][1]))));
    CHECK(t, uses(1, 0));
    sotto_test_phone_close(&phone);
}

/* What the next policy does not allow is passed over; so is a file for servers that the application no longer has. */
static void a_kept_file_is_judged_by_every_policy(sotto_test *t)
{
    start(t, true);
    CHECK_OK(t, replace(t, newer(t, 7)));
    phone.options.policy = sotto_bytes_of(sotto_policy_example(), strlen(sotto_policy_example()));
    sotto_test_phone_open(&phone);
    CHECK(t, uses(1, 0));
    phone.options.policy = sotto_bytes_of(policy_of(t, true), strlen(policy_of(t, true)));
    sotto_test_phone_open(&phone);
    CHECK(t, uses(2, 7));
    phone.options.parties = sotto_test_replace(t, (const char *)phone.options.parties.data,
                                               "https://leader.example.com/", "https://l/");
    sotto_test_phone_open(&phone);
    CHECK(t, uses(1, 0));
    sotto_test_phone_close(&phone);
}

/* Another process of the device takes it up at its next tick. */
static void another_process_takes_it_up(sotto_test *t)
{
    static sotto_test_phone other;

    start(t, true);
    sotto_test_phone_init(t, &other, policy_of(t, true));
    other.options.events = phone.options.events;
    other.options.ledger = phone.options.ledger;
    sotto_test_phone_in_files(&other);
    other.counter = phone.counter;
    sotto_test_phone_open(&other);
    CHECK_OK(t, sotto_device_replace_parties(other.device, newer(t, 7), &t->err));
    phone.counter = other.counter;
    CHECK(t, uses(1, 0));
    (void)sotto_test_tick(&phone);
    CHECK(t, uses(2, 7));
    sotto_test_phone_close(&other);
    sotto_test_phone_close(&phone);
}

/* A file too old for a recipe: the device waits, spends nothing, and answers once it has a newer one. */
static void a_recipe_waits_for_a_newer_file(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const char *plain = (const char *)sotto_test_server_parties(t, 1).data;
    const sotto_bytes old = sotto_test_replace(t, plain, "2027-07-01T00:00:00Z",
                                               "2027-07-01T00:00:00Z\", \"next\": "
                                               "\"2026-12-03T00:00:00Z");
    const sotto_bytes new = sotto_test_replace(t, plain, "2027-07-01T00:00:00Z",
                                               "2027-07-01T00:00:00Z\", \"next\": "
                                               "\"2027-02-01T00:00:00Z");

    start(t, true);
    phone.options.parties = old;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    phone.now = SOTTO_TEST_OPENS + 3600;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, SOTTO_WHY_PARTIES, sotto_test_why(&phone, "50001"));
    CHECK_EQUAL(t, 0, sotto_test_charged(&phone));
    CHECK_OK(t, replace(t, sign_as(t, SEED, 7, new)));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    sotto_test_phone_close(&phone);
}

/* One file must not end all later ones. */
static void a_serial_far_ahead_of_the_clock_is_refused(sotto_test *t)
{
    enum { MONTH = 30 * 86400 };

    start(t, true);
    CHECK_STATUS(t, SOTTO_DENIED, replace(t, newer(t, (uint64_t)INT64_MAX)));
    CHECK_STATUS(t, SOTTO_DENIED, replace(t, newer(t, (uint64_t)phone.now + MONTH + 1)));
    CHECK_REASON(t, "30 days ahead of the clock");
    CHECK(t, uses(1, 0));
    CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_PARTIES));
    CHECK_OK(t, replace(t, newer(t, (uint64_t)phone.now + MONTH)));
    CHECK(t, uses(2, (uint64_t)phone.now + MONTH));
    sotto_test_phone_close(&phone);
}

/* What was taken stays, whatever the clock says later. */
static void a_clock_that_is_set_back_brings_no_older_file_back(sotto_test *t)
{
    const uint64_t serial = (uint64_t)SOTTO_TEST_OPENS;

    start(t, true);
    CHECK_OK(t, replace(t, newer(t, serial)));
    phone.now = 86400;
    sotto_test_phone_open(&phone);
    CHECK(t, uses(2, serial));
    CHECK_OK(t, replace(t, newer(t, serial)));
    CHECK_STATUS(t, SOTTO_STALE, replace(t, newer(t, 7)));
    sotto_test_phone_close(&phone);
}

/* Also where the one that is known came with the application, and is in no record. */
static void two_files_with_one_serial_are_not_both_taken(sotto_test *t)
{
    start(t, true);
    phone.options.parties = sign_as(t, SEED, 9, sotto_test_server_parties(t, 1));
    sotto_test_phone_open(&phone);
    CHECK_STATUS(t, SOTTO_REJECTED, replace(t, newer(t, 9)));
    CHECK_OK(t, replace(t, phone.options.parties));
    CHECK(t, uses(1, 9));
    CHECK_OK(t, replace(t, newer(t, 10)));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 replace(t, sign_as(t, SEED, 10, sotto_test_server_parties(t, 1))));
    /* The record has one with 10, the application brings another: its own is used, and the one that counts. */
    phone.options.parties = sign_as(t, SEED, 10, sotto_test_server_parties(t, 1));
    sotto_test_phone_open(&phone);
    CHECK(t, uses(1, 10));
    CHECK_STATUS(t, SOTTO_REJECTED, replace(t, newer(t, 10)));
    CHECK_OK(t, replace(t, phone.options.parties));
    sotto_test_phone_close(&phone);
}

/* A file that another process took, and this one has not looked at. */
static void a_file_of_another_process_is_compared_too(sotto_test *t)
{
    start(t, true);
    CHECK_OK(t, sotto_parties_taken_put(phone.device->ledger, 7, newer(t, 7), phone.now, &t->err));
    CHECK(t, uses(1, 0));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 replace(t, sign_as(t, SEED, 7, sotto_test_server_parties(t, 1))));
    CHECK_OK(t, replace(t, newer(t, 7)));
    sotto_test_phone_close(&phone);
}

/* What a damaged ledger says of a serial is believed only with a file that says so too. */
static void damage_raises_no_serial(sotto_test *t)
{
    char sql[128];

    start(t, true);
    CHECK_OK(t, replace(t, newer(t, 7)));
    CHECK_OK(t, replace(t, newer(t, 8)));
    (void)snprintf(sql, sizeof sql, "UPDATE record SET round=%lld WHERE kind=%d AND round=8",
                   (long long)INT64_MAX, (int)SOTTO_RECORD_PARTIES);
    CHECK_OK(t, sotto_sqlite_run(phone.device->ledger->db, sql, "damage", &t->err));
    sotto_test_phone_open(&phone);
    CHECK(t, sotto_ledger_closed(phone.device->ledger) != NULL);
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_PARTIES));
    CHECK_STATUS(t, SOTTO_STALE, replace(t, newer(t, 6)));
    CHECK_OK(t, replace(t, newer(t, 9)));
    CHECK(t, uses(2, 9));
    sotto_test_phone_close(&phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_signed_file_is_used_from_then_on),
        CASE(reports_are_sealed_to_its_keys),
        CASE(an_older_file_never_comes_back),
        CASE(the_record_itself_never_goes_back),
        CASE(the_application_s_own_file_counts_by_its_serial),
        CASE(an_application_s_file_by_a_stranger_opens_no_device),
        CASE(a_stranger_s_signature_is_refused),
        CASE(a_policy_without_keys_takes_no_file),
        CASE(other_servers_are_refused),
        CASE(a_kept_file_is_judged_by_every_policy),
        CASE(another_process_takes_it_up),
        CASE(a_recipe_waits_for_a_newer_file),
        CASE(two_files_with_one_serial_are_not_both_taken),
        CASE(a_file_of_another_process_is_compared_too),
        CASE(damage_raises_no_serial),
        CASE(a_serial_far_ahead_of_the_clock_is_refused),
        CASE(a_clock_that_is_set_back_brings_no_older_file_back),
    };

    return RUN_TESTS(argc, argv, cases);
}
