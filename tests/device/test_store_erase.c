/* What retention and forgetting erase, down to the bytes of every file. */
#include "device/events/store.h"
#include "query/sqlite.h"
#include "support/events.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Nowhere: not in the database, nor in any file beside it. */
static bool held_anywhere(sotto_test *t, const char *path, const char *text)
{
    static const char *const endings[] = {"", "-wal", "-journal", "-shm", ".corrupt"};

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (sotto_test_file_holds(t, sotto_test_beside(t, path, endings[i]), text))
            return true;
    }
    return false;
}

/* Rows of many lengths in changing order, so that pages split, merge and are rebalanced. */
static void fill_at_random(sotto_test *t, sotto_store *store, int rows)
{
    char text[1200];
    uint64_t state = 1;

    for (int i = 0; i < rows; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        size_t len = 20 + (size_t)(state >> 33) % 1000;
        memset(text, 'x', len);
        text[len] = 0;
        memcpy(text, "doomed", 6);
        memcpy(text + len - 6, "doomed", 6);
        int64_t age = i % 3 ? 0 : 2 * SOTTO_TEST_MAX_AGE;
        CHECK_OK(t, sotto_test_type(store, (uint64_t)i, SOTTO_TEST_NOW - age, 20,
                                    age ? text : "survives", "s", &t->err));
    }
}

static void retention_leaves_no_byte_of_what_it_erased(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);

    fill_at_random(t, store, 300);
    CHECK(t, held_anywhere(t, path, "doomed"));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 200, sotto_test_count(t, store, "keyboard_ngrams"));
    CHECK(t, !held_anywhere(t, path, "doomed"));
    sotto_store_close(store);
    CHECK(t, !held_anywhere(t, path, "doomed"));
    CHECK(t, held_anywhere(t, path, "survives"));
}

enum { MARKED = 950 };

/* One donation of rows whose texts start with "<m00042>", of many lengths. A shuffle says how old row i
 * is, so that they expire in another order than they arrived. */
static void donate_marked(sotto_test *t, sotto_store *store, int64_t ages[MARKED])
{
    static sotto_event events[MARKED];
    static sotto_value values[MARKED][2];
    static char texts[MARKED][2600];
    uint64_t state = 16; /* with others, too, but not with all */

    for (int i = 0; i < MARKED; i++)
        ages[i] = i;
    for (int i = 0; i < MARKED; i++) {
        static const size_t lengths[] = {5, 40, 300, 900, 2500};

        state = state * 6364136223846793005U + 1442695040888963407U;
        size_t len = (size_t)(state >> 40) % lengths[(state >> 33) % 5];
        int other = (int)((state >> 20) % (uint64_t)MARKED);
        int64_t age = ages[i];
        ages[i] = ages[other];
        ages[other] = age;
        memset(texts[i], 'x', 8 + len);
        (void)snprintf(texts[i], 9, "<m%05u>", (unsigned)i % 100000U);
        texts[i][8] = 'x';
        values[i][0] = (sotto_value){.type = SOTTO_TYPE_INTEGER, .as.integer = i};
        values[i][1] =
            (sotto_value){.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of(texts[i], 8 + len)};
    }
    for (int i = 0; i < MARKED; i++) {
        events[i] = (sotto_event){.stream = "health",
                                  .time = SOTTO_TEST_NOW - ages[i],
                                  .values = values[i],
                                  .value_count = 2};
        uint64_t id[2] = {(uint64_t)i * 0x9e3779b97f4a7c15U, (uint64_t)i};
        memcpy(events[i].id, id, sizeof id);
    }
    CHECK_OK(t, sotto_store_donate(store, events, MARKED, NULL, &t->err));
}

/* Deleted one group after the other, pages merge and are rebalanced. secure_delete alone fails here. */
static void rebalanced_pages_keep_no_stale_copy(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);
    static int64_t ages[MARKED];

    donate_marked(t, store, ages);
    for (int64_t left = MARKED; left > MARKED / 3; left -= 20)
        CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW + SOTTO_TEST_MAX_AGE - left, &t->err));
    sotto_store_close(store);
    sotto_bytes file = sotto_test_read_file(t, path);
    int stale = 0, kept = 0;
    for (size_t i = 0; i + 8 <= file.len; i++) {
        int row;

        if (memcmp(file.data + i, "<m", 2) != 0 ||
            sscanf((const char *)file.data + i, "<m%5d>", &row) != 1)
            continue;
        stale += ages[row] > MARKED / 3 + 20;
        kept++;
    }
    CHECK(t, kept > MARKED / 4);
    CHECK_EQUAL(t, 0, stale);
}

static void the_wal_holds_nothing_after_retention(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);

    fill_at_random(t, store, 30);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK(t, !sotto_test_file_holds(t, sotto_test_beside(t, path, "-wal"), "doomed"));
    CHECK(t, sotto_test_read_file(t, sotto_test_beside(t, path, "-wal")).len < 3 * 4096UL + 100);
    sotto_store_close(store);
}

static void forgetting_leaves_no_byte_of_a_stream(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);

    sotto_test_fill(t, store, "unforgettable");
    CHECK_OK(t, sotto_store_forget(store, "keyboard_ngrams", &t->err));
    CHECK_EQUAL(t, 0, sotto_test_count(t, store, "keyboard_ngrams"));
    CHECK_EQUAL(t, 6, sotto_test_count(t, store, "health"));
    CHECK(t, !held_anywhere(t, path, "hello world"));
    CHECK(t, held_anywhere(t, path, "unforgettable"));
    CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_count(t, store, "health"));
    CHECK(t, !held_anywhere(t, path, "unforgettable"));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_store_forget(store, "nowhere", &t->err));
    sotto_store_close(store);
}

static void forgetting_reaches_streams_that_are_no_longer_declared(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);
    const sotto_store_options none = {.path = path};

    sotto_test_fill(t, store, "unforgettable");
    sotto_store_close(store);
    CHECK_OK(t, sotto_store_open(&store, &none, &t->err));
    CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
    sotto_store_close(store);
    CHECK(t, !held_anywhere(t, path, "unforgettable"));
}

static void retention_keeps_the_newest_rows(sotto_test *t)
{
    static const sotto_field field = {"n", SOTTO_TYPE_INTEGER};
    const sotto_stream stream = {"few", &field, 1, SOTTO_TEST_MAX_AGE, 10};
    const sotto_store_options options = {.streams = &stream, .stream_count = 1};
    sotto_store *store;

    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    for (int i = 0; i < 11; i++) { /* the slack of a donation is an eighth */
        sotto_value value = {.type = SOTTO_TYPE_INTEGER, .as.integer = i};
        sotto_event event = {"few", {(uint8_t)i}, SOTTO_TEST_NOW, &value, 1};
        CHECK_OK(t, sotto_store_donate(store, &event, 1, NULL, &t->err));
    }
    CHECK_EQUAL(t, 11, sotto_test_count(t, store, "few"));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 10, sotto_test_count(t, store, "few"));
    sotto_store_close(store);
}

/* The numbers of the rows that stay are further apart than there may be rows. */
static void rows_that_went_by_age_make_room_for_others(sotto_test *t)
{
    static const sotto_field field = {"n", SOTTO_TYPE_INTEGER};
    const sotto_stream stream = {"few", &field, 1, SOTTO_TEST_MAX_AGE, 10};
    const sotto_store_options options = {.streams = &stream, .stream_count = 1};
    sotto_store *store;

    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    for (int i = 0; i < 11; i++) {
        bool old = i > 0 && i < 6;
        sotto_value value = {.type = SOTTO_TYPE_INTEGER, .as.integer = i};
        sotto_event event = {
            "few", {(uint8_t)i}, SOTTO_TEST_NOW - (old ? SOTTO_TEST_MAX_AGE + 1 : 0), &value, 1};
        CHECK_OK(t, sotto_store_donate(store, &event, 1, NULL, &t->err));
    }
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 6, sotto_test_count(t, store, "few"));
    sotto_store_close(store);
}

static sqlite3 *open_file(sotto_test *t, const char *path)
{
    const sotto_sqlite_options options = {
        .path = path, .application = SOTTO_SQLITE_EVENTS, .version = 1};
    sqlite3 *db;

    CHECK_OK(t, sotto_sqlite_open(&db, &options, &t->err));
    return db;
}

/* Ticks retain, and a report should not wait until every event was looked at. */
static void retention_finds_old_events_by_an_index(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");

    for (int i = 0; i < 2; i++) {
        sotto_store_close(sotto_test_store(t, path));
        sqlite3 *db = open_file(t, path);
        sqlite3_stmt *plan;
        CHECK_OK(t, sotto_sqlite_prepare(db, &plan,
                                         "EXPLAIN QUERY PLAN DELETE FROM health WHERE event_time<1",
                                         "plan", &t->err));
        CHECK_EQUAL(t, SQLITE_ROW, sqlite3_step(plan));
        CHECK(t, strstr((const char *)sqlite3_column_text(plan, 3), "sotto_time_of_health"));
        (void)sqlite3_finalize(plan);
        /* A file that was made without one. */
        CHECK_OK(t, sotto_sqlite_run(db, "DROP INDEX sotto_time_of_health", "drop", &t->err));
        sotto_sqlite_close(db);
    }
}

/* NULL path: in memory. */
static void check_size(sotto_test *t, const char *path)
{
    const sotto_store_options options = {.path = path,
                                         .streams = sotto_test_streams,
                                         .stream_count = SOTTO_TEST_STREAMS,
                                         .max_bytes = 256 * 1024};
    static char text[4001];
    sotto_store *store;

    memset(text, 'x', sizeof text - 1);
    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    for (uint64_t i = 0; i < 200; i++)
        CHECK_OK(t, sotto_test_type(store, i, SOTTO_TEST_NOW, 1, text, "s", &t->err));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    uint64_t rows = sotto_test_count(t, store, "keyboard_ngrams");
    CHECK(t, rows > 20 && rows < 65);
    sotto_store_close(store);
}

static void a_store_keeps_to_its_size(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    struct stat info;

    check_size(t, NULL);
    check_size(t, path);
    CHECK(t, stat(path, &info) == 0 && info.st_size <= 256 * 1024);
}

static void an_event_from_the_future_expires_too(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    int64_t later = SOTTO_TEST_NOW + SOTTO_TEST_MAX_AGE + 1;

    CHECK_OK(t, sotto_test_type(store, 1, INT64_MAX, 1, "a", "s", &t->err));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_count(t, store, "keyboard_ngrams"));
    CHECK_OK(t, sotto_store_retain(store, later, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_count(t, store, "keyboard_ngrams"));
    sotto_store_close(store);
}

static void a_reader_delays_erasing_and_a_later_call_finishes_it(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    const sotto_sqlite_options options = {
        .path = path, .application = SOTTO_SQLITE_EVENTS, .version = 1, .read_only = true};
    sotto_store *store = sotto_test_store(t, path);
    sqlite3 *reader;
    int64_t rows;

    sotto_test_fill(t, store, "unforgettable");
    CHECK_OK(t, sotto_sqlite_open(&reader, &options, &t->err));
    CHECK_OK(t, sotto_sqlite_run(reader, "BEGIN", "reader", &t->err));
    CHECK_OK(t, sotto_sqlite_number(reader, &rows, "SELECT count(*) FROM health", "r", &t->err));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_store_forget(store, NULL, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_count(t, store, "health"));
    sotto_sqlite_rollback(reader);
    sotto_sqlite_close(reader);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK(t, !held_anywhere(t, path, "unforgettable"));
    sotto_store_close(store);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(retention_leaves_no_byte_of_what_it_erased),
        CASE(rebalanced_pages_keep_no_stale_copy),
        CASE(the_wal_holds_nothing_after_retention),
        CASE(forgetting_leaves_no_byte_of_a_stream),
        CASE(forgetting_reaches_streams_that_are_no_longer_declared),
        CASE(retention_keeps_the_newest_rows),
        CASE(rows_that_went_by_age_make_room_for_others),
        CASE(retention_finds_old_events_by_an_index),
        CASE(a_store_keeps_to_its_size),
        CASE(an_event_from_the_future_expires_too),
        CASE(a_reader_delays_erasing_and_a_later_call_finishes_it),
    };
    return RUN_TESTS(argc, argv, cases);
}
