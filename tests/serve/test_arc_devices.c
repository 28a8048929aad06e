/* Everything together with ARC: devices, an attester, and a leader and a helper that issue credentials and verify them. */
#include "base/hex.h"
#include "recipe/listed_keys.h"
#include "serve/host/health.h"
#include "support/attested.h"
#include "support/token_servers.h"
#include "support/wallet.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES = 10, LEADER_SEED = 21, HELPER_SEED = 22, DAY = 86400 };

static sotto_test_token_servers servers;
static sotto_test_attested services;
static sotto_test_phone phones[DEVICES];
static uint8_t seeds[DEVICES][SOTTO_DEVICE_ENROLMENT];
static const char *helper_token = "arc"; /* the attester's file */
static sotto_bytes recipe, parties, lists[2];

static const sotto_field fields[] = {{"liked", SOTTO_TYPE_TEXT}};
static const sotto_stream streams[] = {
    {.name = "likes", .fields = fields, .field_count = 1, .max_age = 30 * DAY, .max_rows = 100}};

static const char policy[] =
    "{\"policy\": \"likes\", \"version\": 1, \"analyses\": {\"com.example.likes\": {\"epsilon\": "
    "100,"
    " \"delta\": 0.001, \"reports\": 9, \"fields\": [\"likes.liked\"]}}, \"fields\": "
    "{\"likes.liked\":"
    " {\"epsilon_local\": 30, \"epsilon\": 100, \"delta\": 0.001, \"reports\": 9}},"
    " \"min_cohort\": 10, \"honest\": 0.5}";

static const char arc[] =
    "\"anonymity\": {\"tokens\": \"arc\", \"attester\": \"key:attester\"}, \"schedule\"";

/* ---- servers ------------------------------------------------------------------------------------------------- */

static void write_files(sotto_test *t)
{
    char text[400];

    recipe = sotto_test_replace(t, servers.recipe, "\"recipe\": \"7\"", "\"recipe\": \"8\"");
    recipe = sotto_test_replace(t, (const char *)recipe.data, "\"schedule\"", arc);
    (void)snprintf(text, sizeof text,
                   "{\"key:attester\": {\"role\": \"attester\", \"url\": \"http://127.0.0.1:%u/\"},"
                   " \"key:leader\"",
                   sotto_host_port(services.attester));
    parties = sotto_test_replace(t, servers.parties, "{\"key:leader\"", text);
}

/* What a server lists, ended by a zero. */
static const char *list_of(sotto_test *t, unsigned which)
{
    const sotto_http_response r =
        sotto_test_attested_ask(t, &services, sotto_test_token_servers_host(which), SOTTO_HTTP_GET,
                                "arc/keys", "none", (sotto_bytes){0});
    char *text = sotto_arena_take(&t->arena, r.body.len + 1);

    CHECK_EQUAL(t, 200, r.status);
    memcpy(text, r.body.data, r.body.len);
    return text;
}

static void open_servers(sotto_test *t, int64_t epoch_closes)
{
    static const uint8_t by[] = {LEADER_SEED, HELPER_SEED};
    char lines[400];

    sotto_test_token_servers_open(t, &servers, DEVICES);
    (void)snprintf(lines, sizeof lines,
                   "leader = http://127.0.0.1:%u/\nleader_token = arc\n"
                   "helper = http://127.0.0.1:%u/\nhelper_token = %s\n",
                   sotto_host_port(sotto_test_token_servers_host(0)),
                   sotto_host_port(sotto_test_token_servers_host(1)), helper_token);
    sotto_test_attested_open_with(t, &services, NULL, lines);
    write_files(t);
    sotto_test_token_servers_add_arc(t, recipe, parties, servers.opens - 2 * DAY, epoch_closes,
                                     SOTTO_TEST_ARC_BEARER);
    for (unsigned i = 0; i < 2; i++)
        lists[i] = sotto_test_sign_list(t, by[i], list_of(t, i));
}

static void close_all(unsigned devices)
{
    for (unsigned i = 0; i < devices; i++)
        sotto_test_phone_close(&phones[i]);
    sotto_test_attested_close(&services);
    sotto_test_token_servers_close();
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_test_phone *phone = context;

    phone->sends += exchange->recipe != NULL;
    return sotto_test_attested_carry(phone->t, &services, exchange);
}

static const char *policy_of(sotto_test *t)
{
    static const uint8_t by[] = {LEADER_SEED, HELPER_SEED};
    char hex[2][65], text[300];

    for (unsigned i = 0; i < 2; i++) {
        const uint8_t seed[SOTTO_DEVICE_ENROLMENT] = {by[i]};
        uint8_t key[SOTTO_DEVICE_ENROLMENT];

        CHECK_OK(t, sotto_device_enrolment_key(key, seed, &t->err)); /* Ed25519, as the lists' */
        sotto_hex_encode(hex[i], sotto_bytes_of(key, sizeof key));
    }
    (void)snprintf(text, sizeof text,
                   "\"issuers\": {\"key:leader\": \"%s\", \"key:helper\": \"%s\"}, \"min_cohort\"",
                   hex[0], hex[1]);
    return (const char *)sotto_test_replace(t, policy, "\"min_cohort\"", text).data;
}

static void like(sotto_test *t, sotto_test_phone *phone)
{
    const sotto_value value = {.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("a", 1)};
    const sotto_event event = {
        .stream = "likes", .id = {1}, .time = phone->now, .values = &value, .value_count = 1};

    CHECK_OK(t, sotto_device_donate(phone->device, &event, 1, NULL, &t->err));
}

/* Enrolled, with consent and both lists, a day before the epoch's first collection; not open. */
static void open_phone(sotto_test *t, unsigned number)
{
    sotto_test_phone *phone = &phones[number];

    seeds[number][0] = (uint8_t)(number + 1);
    sotto_test_phone_init(t, phone, policy_of(t));
    phone->options.parties = parties;
    phone->options.streams = streams;
    phone->options.stream_count = 1;
    phone->options.enrolment = seeds[number];
    phone->options.host.exchange = carry;
    sotto_test_phone_in_files(phone);
    phone->options.host.counter = (sotto_device_counter){NULL, NULL};
    phone->now = servers.opens - 3 * DAY;
    sotto_test_attested_enrol(t, &services, seeds[number]);
    CHECK_OK(t, sotto_device_open(&phone->device, &phone->options, &t->err));
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(t, sotto_device_take_issuer_keys(phone->device, lists[i], &t->err));
    CHECK_OK(t, sotto_device_offer(phone->device, recipe, &t->err));
}

/* Its credentials come, and may be used. */
static void get_credentials(sotto_test *t, unsigned number)
{
    sotto_test_phone *phone = &phones[number];

    phone->now = servers.opens - 2 * DAY;
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

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static sotto_status count_held(void *context, const sotto_token_line *line, sotto_err *err)
{
    unsigned *counts = context;

    (void)err;
    counts[line->state]++;
    return SOTTO_OK;
}

static void check_wallet(sotto_test *t, sotto_test_phone *phone, unsigned held, unsigned spent)
{
    unsigned counts[SOTTO_TOKEN_REFUSED + 1] = {0};

    CHECK_OK(t, sotto_device_tokens(phone->device, count_held, counts, &t->err));
    CHECK_EQUAL(t, held, counts[SOTTO_TOKEN_HELD]);
    CHECK_EQUAL(t, spent, counts[SOTTO_TOKEN_SPENT]);
}

static void each_device_is_added_up_once(sotto_test *t)
{
    const char *copy = sotto_test_temp(t, "copy.db");

    open_servers(t, INT64_C(4000000000));
    for (unsigned i = 0; i < DEVICES; i++) {
        open_phone(t, i);
        get_credentials(t, i);
        check_wallet(t, &phones[i], 2, 0);
    }
    sotto_test_phone *again = &phones[0];
    sotto_test_phone_close(again);
    copy_file(t, copy, again->options.ledger);
    CHECK_OK(t, sotto_device_open(&again->device, &again->options, &t->err));
    for (unsigned i = 0; i < DEVICES; i++) {
        CHECK_EQUAL(t, 1, sotto_test_tick(&phones[i]).made);
        CHECK(t, sotto_test_why(&phones[i], "8") == SOTTO_WHY_ANSWERED);
        check_wallet(t, &phones[i], 2, 1); /* a credential is for the whole epoch */
    }
    /* As if it had not answered: its tag tells. */
    sotto_test_phone_close(again);
    copy_file(t, again->options.ledger, copy);
    CHECK_OK(t, sotto_device_open(&again->device, &again->options, &t->err));
    const sotto_tick second = sotto_test_tick(again);
    CHECK_EQUAL(t, 1, second.made);
    CHECK_EQUAL(t, 0, second.waiting); /* the leader's word is final */
    CHECK_EQUAL(t, 2, again->sends);
    CHECK(t, sotto_test_why(again, "8") == SOTTO_WHY_GIVEN_UP);
    CHECK_EQUAL(t, DEVICES, sotto_test_token_servers_collect(t));
    close_all(DEVICES);
}

/* A reset begins a wallet without rows. The device asks again, with other bytes, and the attester refuses. */
static void a_device_that_was_reset_gets_no_second_credential(sotto_test *t)
{
    sotto_test_phone *phone = &phones[0];

    open_servers(t, INT64_C(4000000000));
    open_phone(t, 0);
    get_credentials(t, 0);
    CHECK_OK(t, sotto_device_reset(phone->device, &t->err));
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(t, sotto_device_take_issuer_keys(phone->device, lists[i], &t->err));
    CHECK_OK(t, sotto_device_offer(phone->device, recipe, &t->err));
    check_wallet(t, phone, 0, 0);
    phone->now += DAY + 1;
    CHECK_EQUAL(t, 0, sotto_test_tick(phone).made);
    check_wallet(t, phone, 0, 0);
    close_all(1);
}

/* The server's epoch has the recipe, the one that this device was told ends before it: it would have another credential then. */
static void a_recipe_that_no_epoch_has_is_not_answered(sotto_test *t)
{
    char closes[40];

    open_servers(t, INT64_C(4000000000));
    (void)snprintf(closes, sizeof closes, "\"closes\":%lld", (long long)servers.closes - 1);
    lists[0] = sotto_test_replace(t, list_of(t, 0), "\"closes\":4000000000", closes);
    lists[0] = sotto_test_sign_list(t, LEADER_SEED, (const char *)lists[0].data);
    open_phone(t, 0);
    get_credentials(t, 0);
    check_wallet(t, &phones[0], 2, 0);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phones[0]).made);
    CHECK(t, sotto_test_why(&phones[0], "8") == SOTTO_WHY_TOKEN);
    close_all(1);
}

/* The leader knows it and the helper does not: the device holds one of two, and the attester's operator is told which. */
static void an_attester_that_a_server_does_not_know_says_so(sotto_test *t)
{
    char said[4096];
    sotto_buf out = sotto_buf_over(said, sizeof said - 1);

    helper_token = "operator";
    open_servers(t, INT64_C(4000000000));
    helper_token = "arc";
    open_phone(t, 0);
    get_credentials(t, 0);
    check_wallet(t, &phones[0], 1, 0);
    (void)sotto_health_describe(services.attester, &out);
    said[out.len] = 0;
    CHECK(t, strstr(said, "helper: does not know this attester") != NULL);
    CHECK(t, strstr(said, "leader: ") == NULL);
    close_all(1);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_device_is_added_up_once),
        CASE(a_device_that_was_reset_gets_no_second_credential),
        CASE(a_recipe_that_no_epoch_has_is_not_answered),
        CASE(an_attester_that_a_server_does_not_know_says_so),
    };

    return RUN_TESTS(argc, argv, cases);
}
