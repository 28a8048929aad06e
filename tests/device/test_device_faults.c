/* The whole device on a disk that loses power or fails, in any order of recipes, answers and restarts. Nothing leaves
 * that was not paid for, and no report leaves twice with other shares. */
#define _DEFAULT_SOURCE

#include "base/alloc.h"
#include "support/devices.h"
#include "support/powerloss_vfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECIPES = 12, MOST_STEPS = 4000 };

static sotto_test_phone phone;
static sotto_bytes recipes[RECIPES], parties[2];
static const char *paths[2];
static bool told_of_new_keys;
static const sotto_conditions good = {true, true, true};

static void start_over(sotto_test *t)
{
    static const char *const endings[] = {"",         "-wal",        "-shm",     "-journal",
                                          ".corrupt", ".new",        ".new-wal", ".new-shm",
                                          ".reset",   ".new-journal"};

    for (size_t i = 0; i < 20; i++) {
        char name[SOTTO_VFS_PATH];

        (void)snprintf(name, sizeof name, "%s%s", paths[i / 10], endings[i % 10]);
        (void)unlink(name);
    }
    sotto_powerloss_start();
    sotto_test_phone_init(t, &phone, sotto_test_generous_policy);
    phone.options.events = paths[0];
    phone.options.ledger = paths[1];
    sotto_test_phone_in_files(&phone);
    phone.options.storage = &sotto_powerloss_storage;
    phone.options.parties = parties[0];
    told_of_new_keys = false;
}

static void plan(sotto_test *t)
{
    for (int i = 0; i < RECIPES; i++) {
        char name[24];

        (void)snprintf(name, sizeof name, "r%d", i);
        recipes[i] = sotto_test_sure_recipe(t, name, NULL, NULL);
        if (i % 4 == 3) /* some send dummies at times */
            recipes[i] = sotto_test_replace(t, (const char *)recipes[i].data, "\"rate\": 1",
                                            "\"rate\": 0.5");
        if (i % 4 == 3)
            recipes[i] = sotto_test_replace(t, (const char *)recipes[i].data, "\"on_no_match\"",
                                            "\"dummies\": 0.5, \"on_no_match\"");
    }
    paths[0] = sotto_test_temp(t, "events.db");
    paths[1] = sotto_test_temp(t, "ledger.db");
    parties[0] = sotto_test_server_parties(t, 1);
    parties[1] = sotto_test_server_parties(t, 2);
}

static sotto_status open_phone(sotto_err *err)
{
    phone.device = NULL;
    phone.options.parties = parties[told_of_new_keys];
    SOTTO_TRY(sotto_device_open(&phone.device, &phone.options, err));
    return sotto_device_describe(phone.device, "locale", "en_US", err);
}

/* Distinct reports among the uploads; fails the test if one came with three texts, or with two and one key. */
static uint64_t distinct(sotto_test *t)
{
    uint64_t count = 0;

    for (size_t i = 0; i < phone.uploads; i++) {
        const sotto_test_upload *u = &phone.uploaded[i];
        sotto_bytes first = {0}, second = {0};
        bool seen = false;

        for (size_t j = 0; j < i && !seen; j++)
            seen = memcmp(phone.uploaded[j].body.data, u->body.data, SOTTO_REPORT_ID_SIZE) == 0;
        count += !seen;
        for (size_t j = 0; j < phone.uploads && !seen; j++) {
            sotto_bytes body = phone.uploaded[j].body;

            if (memcmp(body.data, u->body.data, SOTTO_REPORT_ID_SIZE) != 0)
                continue;
            if (!first.data)
                first = body;
            else if (!sotto_bytes_equal_vartime(first, body) && !second.data)
                second = body;
            CHECK(t, sotto_bytes_equal_vartime(first, body) ||
                         sotto_bytes_equal_vartime(second, body));
        }
    }
    return count;
}

static void check_books(sotto_test *t)
{
    CHECK_OK(t, open_phone(&t->err));
    CHECK(t, sotto_device_closed(phone.device) == NULL);
    uint64_t dummies = sotto_test_lines(&phone, NULL, SOTTO_RECORD_DUMMY);
    CHECK(t, sotto_test_charged(&phone) + dummies >= distinct(t));
    CHECK(t, sotto_test_lines(&phone, NULL, SOTTO_RECORD_LEFT) >= distinct(t));
    CHECK_EQUAL(t, sotto_test_charged(&phone), sotto_test_lines(&phone, NULL, SOTTO_RECORD_SPENT));
    sotto_test_phone_close(&phone);
}

/* ---- a day ------------------------------------------------------------------------------------------------ */

/* Goes on after a failure, as an application would. */
static void whatever(sotto_status status)
{
    (void)status;
}

static void live(void)
{
    if (open_phone(NULL) == SOTTO_OK) {
        whatever(sotto_device_consent(phone.device, true, NULL));
        whatever(sotto_test_phone_type(&phone, 1, 35, "i went home"));
        whatever(sotto_device_offer(phone.device, recipes[0], NULL));
        phone.answer = SOTTO_DELIVERY_LATER;
        whatever(sotto_device_tick(phone.device, NULL, good, NULL));
        whatever(sotto_device_offer(phone.device, recipes[1], NULL));
        phone.answer = SOTTO_DELIVERY_ACCEPTED;
        whatever(sotto_device_tick(phone.device, NULL, good, NULL));
    }
    sotto_test_phone_close(&phone);
}

static void all_is_synced(void *context)
{
    CHECK(context, sotto_powerloss_unsynced("ledger.db") == 0);
    CHECK(context, sotto_powerloss_unsynced("ledger.db-wal") <= 1);
}

static int64_t steps_of_a_day(sotto_test *t)
{
    start_over(t);
    phone.hook = all_is_synced;
    phone.hook_context = t;
    live();
    phone.hook = NULL;
    CHECK_EQUAL(t, 2, distinct(t));
    CHECK(t, sotto_powerloss_steps() > 20 && sotto_powerloss_steps() < MOST_STEPS);
    return (int64_t)sotto_powerloss_steps();
}

static void no_power_loss_makes_the_device_send_more_than_it_paid_for(sotto_test *t)
{
    plan(t);
    int64_t steps = steps_of_a_day(t);

    for (int64_t at = 0; at <= steps; at += 5) {
        start_over(t);
        sotto_powerloss_at(at);
        live();
        sotto_powerloss_restore((uint64_t)at % 2);
        check_books(t);
        live(); /* the next day, everything is made good */
        CHECK_EQUAL(t, 2, distinct(t));
        check_books(t);
    }
    (void)printf("power lost at every fifth of %lld steps\n", (long long)steps);
}

static void no_failing_write_makes_the_device_send_more_than_it_paid_for(sotto_test *t)
{
    plan(t);
    int64_t steps = steps_of_a_day(t);

    for (int64_t at = 1; at <= steps; at += 7) {
        start_over(t);
        sotto_powerloss_fail_at(at, at % 2 == 0, at % 3 == 0);
        live();
        sotto_powerloss_fail_at(-1, false, false);
        check_books(t);
    }
}

static void no_missing_memory_makes_the_device_send_more_than_it_paid_for(sotto_test *t)
{
    plan(t);
    for (long at = 0; at < 400; at += 11) {
        start_over(t);
        phone.room = sotto_test_buf(t, 1 << 16);
        sotto_alloc_fail_after(at);
        live();
        sotto_alloc_fail_after(-1);
        check_books(t);
        live();
        CHECK_EQUAL(t, 2, distinct(t));
    }
}

/* ---- any order of anything -------------------------------------------------------------------------------- */

static void do_something(sotto_sim_random *random, uint64_t *event)
{
    sotto_status status = SOTTO_OK;

    switch (sotto_sim_random_below(random, 10)) {
    case 0:
    case 1:
    case 2:
        status = sotto_device_offer(phone.device, recipes[sotto_sim_random_below(random, RECIPES)],
                                    NULL);
        break;
    case 3:
    case 4:
    case 5:
        phone.answer = (sotto_delivery)(1 + sotto_sim_random_below(random, 4));
        phone.outdated_first = sotto_sim_random_below(random, 3) == 0;
        status = sotto_device_tick(phone.device, NULL, good, NULL);
        break;
    case 6:
        status = sotto_test_phone_type(&phone, ++*event, 35, "i went home");
        break;
    case 7:
        phone.now += (int64_t)sotto_sim_random_below(random, 7200) - 3600; /* the clock jumps */
        break;
    case 8:
        status = sotto_device_consent(phone.device, sotto_sim_random_below(random, 4) != 0, NULL);
        break;
    default:
        if (sotto_sim_random_below(random, 3) == 0)
            status = sotto_device_forget(phone.device, NULL, NULL);
    }
    (void)status;
}

static void any_order_of_recipes_and_crashes_keeps_spent_above_sent(sotto_test *t)
{
    uint64_t sent = 0, event = 0;

    plan(t);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        sotto_sim_random random;

        sotto_sim_random_init(&random, seed);
        start_over(t);
        for (int a_life = 0; a_life < 8; a_life++) {
            told_of_new_keys = told_of_new_keys || sotto_sim_random_below(&random, 4) == 0;
            sotto_powerloss_at((int64_t)sotto_sim_random_below(&random, 260));
            if (open_phone(NULL) == SOTTO_OK) {
                sotto_status status = sotto_device_consent(phone.device, true, NULL);

                for (int i = 0; status == SOTTO_OK && i < 10; i++)
                    do_something(&random, &event);
            }
            sotto_test_phone_close(&phone);
            sotto_powerloss_restore(sotto_sim_random_below(&random, 3));
            check_books(t);
        }
        sent += distinct(t);
    }
    /* The device's own draws differ from run to run: 37 in the mean, 33 to 40 in 25 runs. */
    CHECK(t, sent > 12);
    (void)printf("80 crashes, %llu reports sent\n", (unsigned long long)sent);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_power_loss_makes_the_device_send_more_than_it_paid_for),
        CASE(no_failing_write_makes_the_device_send_more_than_it_paid_for),
        CASE(no_missing_memory_makes_the_device_send_more_than_it_paid_for),
        CASE(any_order_of_recipes_and_crashes_keeps_spent_above_sent),
    };
    return RUN_TESTS(argc, argv, cases);
}
