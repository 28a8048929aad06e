/* Everything together: devices, an attester, an issuer, a leader and a helper. Devices get tokens, answer, and are added up; a device
 * that was put back from a copy answers again with its token, and is rejected for good. */
#include "recipe/listed_keys.h"
#include "support/attested.h"
#include "support/token_servers.h"
#include "support/wallet.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES = 10 };

static sotto_test_token_servers servers;
static sotto_test_attested services;
static sotto_test_phone phones[DEVICES];
static uint8_t seeds[DEVICES][SOTTO_DEVICE_ENROLMENT];
static sotto_bytes recipe, parties, list;

static const sotto_field fields[] = {{"liked", SOTTO_TYPE_TEXT}};
static const sotto_stream streams[] = {
    {.name = "likes", .fields = fields, .field_count = 1, .max_age = 30 * 86400, .max_rows = 100}};

static const char policy[] =
    "{\"policy\": \"likes\", \"version\": 1, \"analyses\": {\"com.example.likes\": {\"epsilon\": "
    "100,"
    " \"delta\": 0.001, \"reports\": 9, \"fields\": [\"likes.liked\"]}}, \"fields\": "
    "{\"likes.liked\":"
    " {\"epsilon_local\": 30, \"epsilon\": 100, \"delta\": 0.001, \"reports\": 9}},"
    " \"min_cohort\": 10, \"honest\": 0.5}";

/* ---- servers ------------------------------------------------------------------------------------------------- */

/* The example recipe of the servers, with tokens, as both add it. */
static void write_files(sotto_test *t)
{
    char text[400];

    recipe = sotto_test_replace(t, servers.recipe, "\"recipe\": \"7\"", "\"recipe\": \"8\"");
    recipe = sotto_test_replace(t, (const char *)recipe.data, "\"schedule\"", SOTTO_TEST_TOKENS);
    (void)snprintf(text, sizeof text,
                   "{\"key:attester\": {\"role\": \"attester\", \"url\": \"http://127.0.0.1:%u/\"},"
                   " \"key:issuer\": {\"role\": \"issuer\", \"url\": \"http://127.0.0.1:%u/\"},"
                   " \"key:leader\"",
                   sotto_host_port(services.attester), sotto_host_port(services.issuer));
    parties = sotto_test_replace(t, servers.parties, "{\"key:leader\"", text);
}

/* One collection over the recipe's schedule; the list has its key. */
static const uint8_t *add_collection(sotto_test *t)
{
    const sotto_listed_key *keys;
    const char *text;
    size_t count;

    sotto_test_attested_collect(t, &services, "com.example.likes", servers.opens, servers.closes);
    text = sotto_test_attested_list(t, &services);
    CHECK_OK(t, sotto_listed_keys_read(&keys, &count, sotto_bytes_of(text, strlen(text)), &t->arena,
                                       &t->err));
    CHECK_EQUAL(t, 1, count);
    list = sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, text);
    return keys[0].spki;
}

static void open_servers(sotto_test *t)
{
    sotto_test_token_servers_open(t, &servers, DEVICES);
    sotto_test_attested_open(t, &services, NULL);
    write_files(t);
    sotto_test_token_servers_add(t, recipe, parties, add_collection(t));
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_test_phone *phone = context;

    phone->sends += exchange->recipe != NULL;
    return sotto_test_attested_carry(phone->t, &services, exchange);
}

static void like(sotto_test *t, sotto_test_phone *phone)
{
    const sotto_value value = {.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("a", 1)};
    const sotto_event event = {
        .stream = "likes", .id = {1}, .time = phone->now, .values = &value, .value_count = 1};

    CHECK_OK(t, sotto_device_donate(phone->device, &event, 1, NULL, &t->err));
}

/* Enrolled, with consent, the recipe and the list of keys; its token comes before the collection opens. */
static void open_phone(sotto_test *t, unsigned number)
{
    sotto_test_phone *phone = &phones[number];
    const char *text = sotto_test_token_policy_of(t, policy);

    seeds[number][0] = (uint8_t)(number + 1);
    sotto_test_phone_init(t, phone, text);
    phone->options.parties = parties;
    phone->options.streams = streams;
    phone->options.stream_count = 1;
    phone->options.enrolment = seeds[number];
    phone->options.host.exchange = carry;
    sotto_test_phone_in_files(phone);
    phone->options.host.counter = (sotto_device_counter){NULL, NULL}; /* the platform has none */
    phone->now = servers.opens - 86400;
    sotto_test_attested_enrol(t, &services, seeds[number]);
    CHECK_OK(t, sotto_device_open(&phone->device, &phone->options, &t->err));
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
    CHECK_OK(t, sotto_device_take_issuer_keys(phone->device, list, &t->err));
    CHECK_OK(t, sotto_device_offer(phone->device, recipe, &t->err));
    phone->now = servers.opens - 1;
    (void)sotto_test_tick(phone);
    phone->now = servers.now;
    like(t, phone);
}

static void copy_file(sotto_test *t, const char *to, const char *from)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    int c;

    CHECK(t, in && out);
    while (in && out && (c = fgetc(in)) != EOF)
        (void)fputc(c, out);
    CHECK(t, in && out && fclose(in) == 0 && fclose(out) == 0);
}

/* ---- the test -------------------------------------------------------------------------------------------------- */

static void each_device_is_added_up_once(sotto_test *t)
{
    const char *copy = sotto_test_temp(t, "copy.db");

    open_servers(t);
    for (unsigned i = 0; i < DEVICES; i++)
        open_phone(t, i);
    sotto_test_phone *again = &phones[0];
    sotto_test_phone_close(again);
    copy_file(t, copy, again->options.ledger);
    CHECK_OK(t, sotto_device_open(&again->device, &again->options, &t->err));
    for (unsigned i = 0; i < DEVICES; i++) {
        CHECK_EQUAL(t, 1, sotto_test_tick(&phones[i]).made);
        CHECK(t, sotto_test_why(&phones[i], "8") == SOTTO_WHY_ANSWERED);
    }
    /* As if it had not answered: nothing on this device knows that it did. */
    sotto_test_phone_close(again);
    copy_file(t, again->options.ledger, copy);
    CHECK_OK(t, sotto_device_open(&again->device, &again->options, &t->err));
    CHECK(t, !sotto_device_closed(again->device));
    const sotto_tick second = sotto_test_tick(again);
    CHECK_EQUAL(t, 1, second.made);
    CHECK_EQUAL(t, 0, second.waiting); /* the leader's word is final */
    CHECK_EQUAL(t, 2, again->sends);
    CHECK(t, sotto_test_why(again, "8") == SOTTO_WHY_GIVEN_UP);
    CHECK_EQUAL(t, 0, sotto_test_tick(again).made);
    CHECK_EQUAL(t, DEVICES, sotto_test_token_servers_collect(t));
    for (unsigned i = 0; i < DEVICES; i++)
        sotto_test_phone_close(&phones[i]);
    sotto_test_attested_close(&services);
    sotto_test_token_servers_close();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(each_device_is_added_up_once)};

    return RUN_TESTS(argc, argv, cases);
}
