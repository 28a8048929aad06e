/* An event file that is damaged, or not ours, or was taken away. */
#include "device/sqlite.h"
#include "device/store.h"
#include "support/events.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void overwrite_at(sotto_test *t, const char *path, long at, int byte, size_t len)
{
    FILE *file = fopen(path, "r+b");

    CHECK(t, file && fseek(file, at, SEEK_SET) == 0);
    for (size_t i = 0; i < len; i++)
        CHECK(t, fputc(byte, file) == byte);
    CHECK(t, fclose(file) == 0);
}

static void a_damaged_file_is_set_aside_and_reported(sotto_test *t)
{
    static const long places[] = {0, 50, 105, 4096 + 0, 3 * 4096 + 3};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *path = sotto_test_path(t, "events.db");
        sotto_store *store = sotto_test_store(t, path);

        sotto_test_fill(t, store, "witness");
        sotto_store_close(store);
        overwrite_at(t, path, places[i], 0xee, 20);
        store = sotto_test_store(t, path);
        CHECK(t, sotto_store_set_aside(store) != NULL);
        CHECK(t, strcmp(sotto_store_set_aside(store), sotto_test_beside(t, path, ".corrupt")) == 0);
        CHECK(t, sotto_test_file_holds(t, sotto_store_set_aside(store), "witness"));
        CHECK_EQUAL(t, 0, sotto_test_count(t, store, "keyboard_ngrams"));
        sotto_test_fill(t, store, "s");
        sotto_store_close(store);
        store = sotto_test_store(t, path); /* reported once */
        CHECK(t, sotto_store_set_aside(store) == NULL);
        CHECK_EQUAL(t, 6, sotto_test_count(t, store, "keyboard_ngrams"));
        sotto_store_close(store);
    }
}

static void somebody_elses_file_is_left_alone(sotto_test *t)
{
    const char *path = sotto_test_path(t, "ledger.db");
    const sotto_sqlite_options ledger = {
        .path = path, .application = SOTTO_SQLITE_LEDGER, .version = 1};
    const sotto_store_options options = {.path = path};
    sotto_store *store;
    sqlite3 *db;

    CHECK_OK(t, sotto_sqlite_open(&db, &ledger, &t->err));
    sotto_sqlite_close(db);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_store_open(&store, &options, &t->err));
    CHECK_OK(t, sotto_sqlite_open(&db, &ledger, &t->err));
    sotto_sqlite_close(db);
    CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) != 0);
}

static const char *set_one_aside(sotto_test *t, sotto_store **store)
{
    const char *path = sotto_test_path(t, "events.db");

    *store = sotto_test_store(t, path);
    sotto_test_fill(t, *store, "witness");
    sotto_store_close(*store);
    overwrite_at(t, path, 0, 0xee, 20);
    *store = sotto_test_store(t, path);
    CHECK(t, sotto_test_file_holds(t, sotto_test_beside(t, path, ".corrupt"), "witness"));
    return path;
}

static void what_was_set_aside_expires_and_is_forgotten(sotto_test *t)
{
    sotto_store *store;
    const char *path = set_one_aside(t, &store);

    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW + 5, &t->err));
    CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) == 0);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW + SOTTO_TEST_MAX_AGE + 1, &t->err));
    CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) != 0);
    sotto_store_close(store);

    path = set_one_aside(t, &store);
    CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
    CHECK(t, access(sotto_test_beside(t, path, ".corrupt"), F_OK) != 0);
    sotto_store_close(store);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_damaged_file_is_set_aside_and_reported),
        CASE(somebody_elses_file_is_left_alone),
        CASE(what_was_set_aside_expires_and_is_forgotten),
    };
    return RUN_TESTS(argc, argv, cases);
}
