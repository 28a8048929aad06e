/* A no, a `forget` or a reset that could not finish, because a reader, another process or the disk was in its way:
 * nothing leaves for that, and nothing that was spent is lost. */
#include "support/devices.h"
#include "support/powerloss_vfs.h"

#include <sqlite3.h>
#include <stdio.h>

static sotto_test_phone one;

/* With consent and one recipe to answer. */
static void start(sotto_test *t, const sotto_storage *storage)
{
    sotto_test_phone_init(t, &one, sotto_test_generous_policy);
    sotto_test_phone_in_files(&one);
    one.options.storage = storage;
    sotto_test_phone_open(&one);
    CHECK_OK(t, sotto_device_consent(one.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&one, 1, 35, "i went home"));
    CHECK_OK(t,
             sotto_device_offer(one.device, sotto_test_sure_recipe(t, "a", NULL, NULL), &t->err));
}

/* Another program's connection, which stays where this SQL leaves it. */
static sqlite3 *hold(sotto_test *t, const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK(t, sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(t, sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    return db;
}

static void let_go(sotto_test *t, sqlite3 *db)
{
    CHECK(t, sqlite3_close(db) == SQLITE_OK);
}

/* ---- forgetting ------------------------------------------------------------------------------------------- */

static void what_is_forgotten_does_not_leave_while_a_reader_keeps_its_bytes(sotto_test *t)
{
    start(t, NULL);
    one.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&one).waiting);
    sqlite3 *reader = hold(t, one.options.events, "BEGIN; SELECT count(*) FROM keyboard_ngrams");
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_device_forget(one.device, NULL, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_lines(&one, NULL, SOTTO_RECORD_FORGOTTEN));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_device_forget(one.device, "keyboard_ngrams", &t->err));
    CHECK_EQUAL(t, 2, sotto_test_lines(&one, NULL, SOTTO_RECORD_FORGOTTEN));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_device_forget(one.device, "nothing", &t->err));
    CHECK_EQUAL(t, 2, sotto_test_lines(&one, NULL, SOTTO_RECORD_FORGOTTEN));
    let_go(t, reader);
    one.answer = SOTTO_DELIVERY_ACCEPTED;
    CHECK_EQUAL(t, 0, sotto_test_tick(&one).waiting);
    CHECK_EQUAL(t, 1, one.sends);
    CHECK_EQUAL(t, 1, sotto_test_lines(&one, "a", SOTTO_RECORD_GIVEN_UP));
    sotto_test_phone_close(&one);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(what_is_forgotten_does_not_leave_while_a_reader_keeps_its_bytes),
    };
    return RUN_TESTS(argc, argv, cases);
}
