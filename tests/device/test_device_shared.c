/* Devices that share what they read and judged are no different from those that don't. */
#include "device/events/memory_image.h"
#include "device/shared.h"
#include "query/sqlite.h"
#include "seal/hpke/ephemerals.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>

/* A phone with the same randomness as every other of this test. */
static void start(sotto_test *t, sotto_test_phone *phone, const char *policy,
                  sotto_device_shared *shared)
{
    sotto_test_phone_init(t, phone, policy);
    sotto_sim_random_init(&phone->random, 77);
    phone->options.shared = shared;
    sotto_test_phone_open(phone);
    CHECK_OK(t, sotto_device_consent(phone->device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(phone, 1, 35, "i went home"));
}

static sotto_bytes answer(sotto_test *t, sotto_device_shared *shared, sotto_bytes recipe)
{
    static sotto_test_phone phone;

    start(t, &phone, NULL, shared);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.uploads);
    CHECK_EQUAL(t, 1, sotto_test_charged(&phone));
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_ANSWERED);
    sotto_test_phone_close(&phone);
    return phone.uploaded[0].body;
}

static void those_that_share_send_the_same_bytes(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const sotto_bytes alone = answer(t, NULL, recipe);

    for (int i = 0; i < 3; i++) {
        const sotto_bytes together = answer(t, shared, recipe);

        CHECK_EQUAL(t, alone.len, together.len);
        CHECK_BYTES(t, alone.data, together.data, alone.len);
    }
    sotto_device_shared_free(shared);
    sotto_device_shared_free(NULL);
}

/* Another device's policy, with room for everything, let the recipe pass first. */
static void what_another_policy_let_pass_is_judged_again(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_clear_recipe(t, "loud", NULL, NULL);
    static sotto_test_phone phone;

    start(t, &phone, sotto_test_generous_policy, shared);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    start(t, &phone, NULL, shared);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_REASON(t, "more than the policy gives"); /* by lint, which is what devices share */
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    sotto_device_shared_free(shared);
}

/* One that gives no report, and malformed parties. */
static void each_device_keeps_its_own_policy_and_parties(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    static sotto_test_phone phone;

    (void)answer(t, shared, recipe);
    sotto_test_phone_init(t, &phone, NULL);
    phone.options.shared = shared;
    phone.options.parties = sotto_bytes_of("{\"parties\": {}}", 15);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_open(&phone.device, &phone.options, &t->err));
    phone.options.parties = sotto_test_server_parties(t, 1);
    phone.options.policy =
        sotto_test_replace(t, sotto_policy_example(), "\"reports\": 1", "\"reports\": 0");
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_REASON(t, "0 of 0 reports");
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    sotto_device_shared_free(shared);
}

static void a_first_device_that_fails_spoils_nothing(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    static sotto_test_phone phone;

    sotto_test_phone_init(t, &phone, "{\"policy\": 1}");
    phone.options.shared = shared;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_device_open(&phone.device, &phone.options, &t->err));
    start(t, &phone, NULL, shared);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_device_offer(phone.device, sotto_bytes_of("{}", 2), &t->err));
    for (int i = 0; i < 20; i++) { /* more than are shared */
        char name[8] = {'r', (char)('a' + i), 0};

        CHECK_OK(t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, name, NULL, NULL),
                                       &t->err));
    }
    sotto_test_phone_close(&phone);
    (void)answer(t, shared, recipe);
    sotto_device_shared_free(shared);
}

/* With room for nothing, for policy and parties alone, and for everything. */
static void what_does_not_fit_is_not_shared(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const sotto_bytes alone = answer(t, NULL, recipe);

    for (size_t room = 1; room <= (size_t)1 << 20; room *= 4) {
        sotto_device_shared *shared = sotto_shared_within(room);
        const sotto_bytes together = answer(t, shared, recipe);

        CHECK_EQUAL(t, alone.len, together.len);
        CHECK_BYTES(t, alone.data, together.data, alone.len);
        sotto_device_shared_free(shared);
    }
}

/* ---- stores that are used again --------------------------------------------------------------------------- */

static sotto_status count_row(void *context, const sotto_value *values, size_t count,
                              sotto_err *err)
{
    (void)values, (void)count, (void)err;
    ++*(uint64_t *)context;
    return SOTTO_OK;
}

static void check_blank(sotto_test *t, sotto_test_phone *phone)
{
    uint64_t events = 0;
    bool given = true;

    CHECK_OK(t, sotto_device_consented(phone->device, &given, &t->err));
    CHECK(t, !given);
    for (size_t i = 0; i < phone->options.stream_count; i++)
        CHECK_OK(t, sotto_device_events(phone->device, phone->options.streams[i].name, 100,
                                        count_row, &events, &t->err));
    CHECK_EQUAL(t, 0, events);
    CHECK_EQUAL(t, 0, sotto_test_charged(phone));
    for (int kind = SOTTO_RECORD_SEEN; kind <= SOTTO_RECORD_PARTIES; kind++)
        if (kind != SOTTO_RECORD_POLICY)
            CHECK_EQUAL(t, 0, sotto_test_lines(phone, NULL, (sotto_record_kind)kind));
    CHECK_EQUAL(t, SOTTO_WHY_UNKNOWN, sotto_test_why(phone, "50001"));
    CHECK_EQUAL(t, 0, sotto_test_tick(phone).waiting);
}

/* Whether the one before answered, has a report that waits, withdrew, or lost its ledger. */
static void the_next_device_finds_nothing_of_the_one_before(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    static sotto_test_phone phone;

    for (int way = 0; way < 6; way++) {
        start(t, &phone, NULL, shared);
        CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
        if (way == 1 || way == 2)
            phone.answer = SOTTO_DELIVERY_LATER;
        if (way < 3)
            CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
        if (way == 2)
            CHECK_OK(t, sotto_device_consent(phone.device, false, &t->err));
        if (way == 3)
            CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
        if (way == 4) /* events are erased, and every page is written anew */
            CHECK_OK(t, sotto_device_forget(phone.device, NULL, &t->err));
        sotto_test_phone_close(&phone);
        sotto_test_phone_init(t, &phone, NULL);
        phone.options.shared = shared;
        if (way == 5) /* another layout */
            phone.options.stream_count--;
        sotto_test_phone_open(&phone);
        check_blank(t, &phone);
        sotto_test_phone_close(&phone);
    }
    sotto_device_shared_free(shared);
}

/* A device's answer is of its own events, whichever connection read those of the one before. */
static void each_answers_of_its_own_events(sotto_test *t)
{
    static const char *const typed[] = {"i went home", "hello world", "i got a", "hello"};
    const sotto_bytes recipe = sotto_test_clear_recipe(t, "loud", NULL, NULL);
    sotto_device_shared *shared = sotto_device_shared_new();
    static sotto_test_phone phone;
    sotto_bytes sent[2];

    for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++)
        for (size_t with = 0; with < 2; with++) {
            sotto_test_phone_init(t, &phone, sotto_test_generous_policy);
            sotto_sim_random_init(&phone.random, 78);
            phone.options.shared = with ? shared : NULL;
            sotto_test_phone_open(&phone);
            CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
            CHECK_OK(t, sotto_test_phone_type(&phone, 1, 20 + (int64_t)i, typed[i]));
            CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
            CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
            sent[with] = phone.uploaded[0].body;
            sotto_test_phone_close(&phone);
            if (with) {
                CHECK_EQUAL(t, sent[0].len, sent[1].len);
                CHECK_BYTES(t, sent[0].data, sent[1].data, sent[0].len);
            }
        }
    sotto_device_shared_free(shared);
}

/* Of several at once one leaves its store to the next, and the others close theirs. */
static void devices_that_are_open_at_once_share_no_store(sotto_test *t)
{
    sotto_device_shared *shared = sotto_device_shared_new();
    static sotto_test_phone phones[3];

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 3; i++) {
            sotto_test_phone_init(t, &phones[i], NULL);
            phones[i].options.shared = shared;
            sotto_test_phone_open(&phones[i]);
            check_blank(t, &phones[i]);
            CHECK_OK(t, sotto_device_consent(phones[i].device, true, &t->err));
            CHECK_OK(t, sotto_test_phone_type(&phones[i], 1, 35, "i went home"));
        }
        for (size_t i = 0; i < 3; i++)
            sotto_test_phone_close(&phones[i]);
    }
    sotto_device_shared_free(shared);
}

static int64_t only_number(sotto_test *t, sqlite3 *db)
{
    int64_t number;

    CHECK_OK(t, sotto_sqlite_number(db, &number, "SELECT sum(n) FROM x", "x", &t->err));
    return number;
}

/* The reader looks when the file has changed as often as when it looked before. */
static void every_connection_sees_a_restored_database(sotto_test *t)
{
    static const uint8_t layout[SOTTO_MEMORY_LAYOUT] = "of a test";
    sotto_sqlite_options options = {.path = "/a-test", .memory = true, .unclaimed = true};
    sqlite3 *db, *reader;

    CHECK_OK(t, sotto_sqlite_open(&db, &options, &t->err));
    CHECK_OK(t, sotto_sqlite_run(db, "CREATE TABLE x(n)", "x", &t->err));
    sotto_memory_image_keep(db, layout);
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_open_v2("/a-test", &reader, SQLITE_OPEN_READWRITE, "memdb"));
    for (int i = 1; i < 4; i++) {
        char sql[64];

        (void)snprintf(sql, sizeof sql, "INSERT INTO x VALUES(%d)", i);
        CHECK_OK(t, sotto_sqlite_run(db, sql, "x", &t->err));
        CHECK_EQUAL(t, i, only_number(t, reader));
        CHECK_EQUAL(t, i, only_number(t, db));
        CHECK(t, sotto_memory_image_restore(db, layout));
    }
    CHECK_EQUAL(t, 0, only_number(t, db));
    CHECK_OK(t, sotto_sqlite_run(db, "BEGIN", "x", &t->err));
    CHECK(t, !sotto_memory_image_restore(db, layout)); /* not under a transaction */
    CHECK(t, !sotto_memory_image_restore(reader, (const uint8_t[SOTTO_MEMORY_LAYOUT]){"none"}));
    sotto_sqlite_close(reader);
    sotto_sqlite_close(db);
}

/* ---- keys from outside ------------------------------------------------------------------------------------ */

typedef struct counted {
    sotto_ephemerals *stock;
    unsigned taken;
} counted;

static sotto_status take_counted(void *context, sotto_ephemeral *out, const sotto_hpke_config *to,
                                 sotto_err *err)
{
    counted *c = context;

    c->taken++;
    return sotto_ephemerals_take(c->stock, out, to, err);
}

/* In memory with real randomness; in memory with randomness that can be repeated; in files; in memory with randomness that can be repeated but for
 * seals. */
static void only_simulated_devices_seal_with_keys_from_outside(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    sotto_device_shared *shared = sotto_device_shared_new();
    counted c = {.stock = sotto_ephemerals_new()};
    static sotto_test_phone phone;

    CHECK(t, c.stock != NULL);
    sotto_shared_seal_with(shared, (sotto_ephemeral_source){take_counted, &c});
    for (int way = 0; way < 4; way++) {
        c.taken = 0;
        sotto_test_phone_init(t, &phone, NULL);
        sotto_device_simulation anew = *phone.options.simulation;
        anew.sealed_anew = true;
        if (way == 3)
            phone.options.simulation = &anew;
        if (way == 2)
            sotto_test_phone_in_files(&phone);
        if (way == 0)
            phone.options.simulation = NULL;
        phone.options.shared = shared;
        sotto_test_phone_open(&phone);
        CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
        CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
        CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
        CHECK_EQUAL(t, way == 0 || way == 3 ? 2 : 0, c.taken);
        CHECK_EQUAL(t, 1, phone.uploads);
        sotto_test_phone_close(&phone);
    }
    sotto_ephemerals_free(c.stock);
    sotto_device_shared_free(shared);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(those_that_share_send_the_same_bytes),
        CASE(what_another_policy_let_pass_is_judged_again),
        CASE(each_device_keeps_its_own_policy_and_parties),
        CASE(a_first_device_that_fails_spoils_nothing),
        CASE(what_does_not_fit_is_not_shared),
        CASE(the_next_device_finds_nothing_of_the_one_before),
        CASE(each_answers_of_its_own_events),
        CASE(devices_that_are_open_at_once_share_no_store),
        CASE(every_connection_sees_a_restored_database),
        CASE(only_simulated_devices_seal_with_keys_from_outside),
    };

    return RUN_TESTS(argc, argv, cases);
}
