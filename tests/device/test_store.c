#define _XOPEN_SOURCE 700

#include "device/sqlite.h"
#include "device/store.h"
#include "support/events.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t count(sotto_test *t, sotto_store *store, const char *stream)
{
    uint64_t rows;

    CHECK_OK(t, sotto_store_count(store, stream, &rows, &t->err));
    return rows;
}

static const char *beside(sotto_test *t, const char *path, const char *ending)
{
    char *name = sotto_arena_take(&t->arena, SOTTO_VFS_PATH);

    CHECK(t, name != NULL);
    (void)snprintf(name, SOTTO_VFS_PATH, "%s%s", path, ending);
    return name;
}

/* Nowhere: not in the database, nor in any file beside it. */
static bool held_anywhere(sotto_test *t, const char *path, const char *text)
{
    static const char *const endings[] = {"", "-wal", "-journal", "-shm", ".corrupt"};

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (sotto_test_file_holds(t, beside(t, path, endings[i]), text))
            return true;
    }
    return false;
}

static sotto_status expect_row(void *context, const sotto_value *values, size_t columns,
                               sotto_err *err)
{
    uint64_t *seen = context;

    if (columns != 6 || values[0].type != SOTTO_TYPE_INTEGER || values[1].type != SOTTO_TYPE_TEXT ||
        values[2].as.real != 1.5 || values[3].as.integer != 1 ||
        values[5].as.integer != SOTTO_TEST_NOW - 5 + (int64_t)*seen)
        return sotto_fail(err, SOTTO_BUG, "row %llu differs", (unsigned long long)*seen);
    (*seen)++;
    return SOTTO_OK;
}

static void events_come_back_as_they_were_donated(sotto_test *t)
{
    const char *path = sotto_test_path(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);
    uint64_t seen = 0;

    sotto_test_fill(t, store, "s");
    sotto_store_close(store);
    store = sotto_test_store(t, path);
    CHECK_EQUAL(t, 6, count(t, store, "keyboard_ngrams"));
    CHECK_OK(t, sotto_store_show(store, "keyboard_ngrams", 4, expect_row, &seen, &t->err));
    CHECK_EQUAL(t, 4, seen);
    CHECK(t, sotto_store_set_aside(store) == NULL);
    sotto_store_close(store);
}

static void an_event_donated_twice_is_kept_once(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);

    CHECK_OK(t, sotto_test_type(store, 7, SOTTO_TEST_NOW, 20, "a", "s", &t->err));
    CHECK_OK(t, sotto_test_type(store, 7, SOTTO_TEST_NOW, 20, "a", "s", &t->err));
    CHECK_EQUAL(t, 1, count(t, store, "keyboard_ngrams"));
    sotto_store_close(store);
}

static sotto_event health_event(sotto_value values[2], uint64_t id)
{
    sotto_event event = {
        .stream = "health", .time = SOTTO_TEST_NOW, .values = values, .value_count = 2};

    memcpy(event.id, &id, sizeof id);
    return event;
}

static void a_batch_is_donated_whole_or_not_at_all(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_value good[2] = {{.type = SOTTO_TYPE_INTEGER, .as.integer = 60}, {0}};
    sotto_value bad[2] = {{.type = SOTTO_TYPE_TEXT, .as.text = {(const uint8_t *)"x", 1}}, {0}};
    sotto_event batch[3] = {health_event(good, 1), health_event(good, 2), health_event(bad, 3)};
    size_t added = 9;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_store_donate(store, batch, 3, &added, &t->err));
    CHECK_EQUAL(t, 0, added);
    CHECK_EQUAL(t, 0, count(t, store, "health"));
    CHECK_OK(t, sotto_store_donate(store, batch, 2, &added, &t->err));
    CHECK_EQUAL(t, 2, added);
    sotto_store_close(store);
}

static void values_must_fit_their_field(sotto_test *t)
{
    static const uint8_t overlong[] = {0xc0, 0xaf}, surrogate[] = {0xed, 0xa0, 0x80};
    sotto_store *store = sotto_test_store(t, NULL);
    const sotto_value pulse = {.type = SOTTO_TYPE_INTEGER, .as.integer = 60};
    const sotto_value wrong[][2] = {
        {{.type = SOTTO_TYPE_REAL, .as.real = 1}, {0}},
        {pulse, {.type = SOTTO_TYPE_INTEGER, .as.integer = 1}},
        {pulse, {.type = SOTTO_TYPE_TEXT, .as.text = {overlong, 2}}},
        {pulse, {.type = SOTTO_TYPE_TEXT, .as.text = {surrogate, 3}}},
        {pulse, {.type = SOTTO_TYPE_TEXT, .as.text = {(const uint8_t *)"a\0b", 3}}},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sotto_value values[2] = {wrong[i][0], wrong[i][1]};
        sotto_event event = health_event(values, i);

        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_store_donate(store, &event, 1, NULL, &t->err));
        CHECK_REASON(t, "does not fit");
    }
    sotto_value values[2] = {pulse, {.type = SOTTO_TYPE_TEXT}};
    sotto_event event = health_event(values, 100);
    CHECK_OK(t, sotto_store_donate(store, &event, 1, NULL, &t->err)); /* an empty text is a text */
    values[1].as.text = sotto_bytes_of(sotto_arena_take(&t->arena, 5000), 5000);
    event = health_event(values, 101);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_store_donate(store, &event, 1, NULL, &t->err));
    event.stream = "nowhere";
    CHECK_STATUS(t, SOTTO_MISSING, sotto_store_donate(store, &event, 1, NULL, &t->err));
    event = health_event(values, 102);
    event.value_count = 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_store_donate(store, &event, 1, NULL, &t->err));
    sotto_store_close(store);
}

static void a_stream_keeps_its_schema(sotto_test *t)
{
    const char *path = sotto_test_path(t, "events.db");
    static const sotto_field other[] = {{"pulse", SOTTO_TYPE_REAL}, {"secret", SOTTO_TYPE_TEXT}};
    const sotto_stream stream = {"health", other, 2, 10, 10};
    const sotto_store_options options = {.path = path, .streams = &stream, .stream_count = 1};
    sotto_store *store = sotto_test_store(t, path);

    sotto_store_close(store);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_store_open(&store, &options, &t->err));
    CHECK_REASON(t, "fixed");
}

static void names_that_could_be_mistaken_are_refused(sotto_test *t)
{
    static const char *const wrong[] = {"",         "9a",      "Age",         "a b",        "a\"b",
                                        "sqlite_x", "sotto_",  "event_id",    "event_time", "rowid",
                                        "oid",      "_rowid_", "na\xc3\xafve"};
    sotto_store *store;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const sotto_field field = {wrong[i], SOTTO_TYPE_TEXT};
        const sotto_field fine = {"a", SOTTO_TYPE_TEXT};
        const sotto_stream in_field = {"s", &field, 1, 1, 1},
                           in_stream = {wrong[i], &fine, 1, 1, 1};
        sotto_store_options options = {.streams = &in_field, .stream_count = 1};

        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_store_open(&store, &options, &t->err));
        options.streams = &in_stream;
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_store_open(&store, &options, &t->err));
    }
}

static void only_the_owner_can_read_the_files(sotto_test *t)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    const char *path = sotto_test_path(t, "events.db");
    mode_t before = umask(0);
    sotto_store *store = sotto_test_store(t, path);

    sotto_test_fill(t, store, "s");
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
            struct stat info;

            CHECK(t, stat(beside(t, path, endings[i]), &info) == 0);
            CHECK_EQUAL(t, 0600, info.st_mode & 0777);
        }
        sotto_store_close(store);
        CHECK(t, chmod(path, 0644) == 0); /* and again where somebody loosened it */
        store = sotto_test_store(t, path);
        CHECK_OK(t, sotto_test_type(store, 100, SOTTO_TEST_NOW, 1, "a", "b", &t->err));
    }
    sotto_store_close(store);
    (void)umask(before);
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
    const char *path = sotto_test_path(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);

    fill_at_random(t, store, 300);
    CHECK(t, held_anywhere(t, path, "doomed"));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 200, count(t, store, "keyboard_ngrams"));
    CHECK(t, !held_anywhere(t, path, "doomed"));
    sotto_store_close(store);
    CHECK(t, !held_anywhere(t, path, "doomed"));
    CHECK(t, held_anywhere(t, path, "survives"));
}

enum { MARKED = 950 };

/* One donation of rows whose texts start with "<m00042>", of many lengths; row i is taken to be as old as
 * a shuffle says, so that they expire in another order than they arrived. */
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
        (void)snprintf(texts[i], 9, "<m%05d>", i);
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
    const char *path = sotto_test_path(t, "events.db");
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
    const char *path = sotto_test_path(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);

    fill_at_random(t, store, 30);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK(t, !sotto_test_file_holds(t, beside(t, path, "-wal"), "doomed"));
    CHECK(t, sotto_test_read_file(t, beside(t, path, "-wal")).len < 3 * 4096UL + 100);
    sotto_store_close(store);
}

static void forgetting_leaves_no_byte_of_a_stream(sotto_test *t)
{
    const char *path = sotto_test_path(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);

    sotto_test_fill(t, store, "unforgettable");
    CHECK_OK(t, sotto_store_forget(store, "keyboard_ngrams", &t->err));
    CHECK_EQUAL(t, 0, count(t, store, "keyboard_ngrams"));
    CHECK_EQUAL(t, 6, count(t, store, "health"));
    CHECK(t, !held_anywhere(t, path, "hello world"));
    CHECK(t, held_anywhere(t, path, "unforgettable"));
    CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
    CHECK_EQUAL(t, 0, count(t, store, "health"));
    CHECK(t, !held_anywhere(t, path, "unforgettable"));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_store_forget(store, "nowhere", &t->err));
    sotto_store_close(store);
}

static void forgetting_reaches_streams_that_are_no_longer_declared(sotto_test *t)
{
    const char *path = sotto_test_path(t, "events.db");
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
    CHECK_EQUAL(t, 11, count(t, store, "few"));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 10, count(t, store, "few"));
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
    CHECK_EQUAL(t, 6, count(t, store, "few"));
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
    const char *path = sotto_test_path(t, "events.db");

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

static void a_stream_can_not_outgrow_its_rows_by_much(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_value values[2] = {{.type = SOTTO_TYPE_INTEGER, .as.integer = 60}, {0}};
    static sotto_event batch[100];

    for (uint64_t i = 0; i < 30; i++) {
        for (uint64_t j = 0; j < 100; j++)
            batch[j] = health_event(values, 1 + 100 * i + j);
        CHECK_OK(t, sotto_store_donate(store, batch, 100, NULL, &t->err));
        CHECK(t, count(t, store, "health") <= SOTTO_TEST_MAX_ROWS * 9 / 8);
    }
    sotto_store_close(store);
}

static void a_store_keeps_to_its_size(sotto_test *t)
{
    const char *path = sotto_test_path(t, "events.db");
    const sotto_store_options options = {.path = path,
                                         .streams = sotto_test_streams,
                                         .stream_count = SOTTO_TEST_STREAMS,
                                         .max_bytes = 256 * 1024};
    static char text[4001];
    sotto_store *store;
    struct stat info;

    memset(text, 'x', sizeof text - 1);
    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    for (uint64_t i = 0; i < 200; i++)
        CHECK_OK(t, sotto_test_type(store, i, SOTTO_TEST_NOW, 1, text, "s", &t->err));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    uint64_t rows = count(t, store, "keyboard_ngrams");
    CHECK(t, rows > 20 && rows < 65);
    sotto_store_close(store);
    CHECK(t, stat(path, &info) == 0 && info.st_size <= 256 * 1024);
}

static void an_event_from_the_future_expires_too(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    int64_t later = SOTTO_TEST_NOW + SOTTO_TEST_MAX_AGE + 1;

    CHECK_OK(t, sotto_test_type(store, 1, INT64_MAX, 1, "a", "s", &t->err));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_EQUAL(t, 1, count(t, store, "keyboard_ngrams"));
    CHECK_OK(t, sotto_store_retain(store, later, &t->err));
    CHECK_EQUAL(t, 0, count(t, store, "keyboard_ngrams"));
    sotto_store_close(store);
}

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
        CHECK(t, strcmp(sotto_store_set_aside(store), beside(t, path, ".corrupt")) == 0);
        CHECK(t, sotto_test_file_holds(t, sotto_store_set_aside(store), "witness"));
        CHECK_EQUAL(t, 0, count(t, store, "keyboard_ngrams"));
        sotto_test_fill(t, store, "s");
        sotto_store_close(store);
        store = sotto_test_store(t, path); /* reported once */
        CHECK(t, sotto_store_set_aside(store) == NULL);
        CHECK_EQUAL(t, 6, count(t, store, "keyboard_ngrams"));
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
    CHECK(t, access(beside(t, path, ".corrupt"), F_OK) != 0);
}

static const char *set_one_aside(sotto_test *t, sotto_store **store)
{
    const char *path = sotto_test_path(t, "events.db");

    *store = sotto_test_store(t, path);
    sotto_test_fill(t, *store, "witness");
    sotto_store_close(*store);
    overwrite_at(t, path, 0, 0xee, 20);
    *store = sotto_test_store(t, path);
    CHECK(t, sotto_test_file_holds(t, beside(t, path, ".corrupt"), "witness"));
    return path;
}

static void what_was_set_aside_expires_and_is_forgotten(sotto_test *t)
{
    sotto_store *store;
    const char *path = set_one_aside(t, &store);

    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW + 5, &t->err));
    CHECK(t, access(beside(t, path, ".corrupt"), F_OK) == 0);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW + SOTTO_TEST_MAX_AGE + 1, &t->err));
    CHECK(t, access(beside(t, path, ".corrupt"), F_OK) != 0);
    sotto_store_close(store);

    path = set_one_aside(t, &store);
    CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
    CHECK(t, access(beside(t, path, ".corrupt"), F_OK) != 0);
    sotto_store_close(store);
}

static void a_reader_delays_erasing_and_a_later_call_finishes_it(sotto_test *t)
{
    const char *path = sotto_test_path(t, "events.db");
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
    CHECK_EQUAL(t, 0, count(t, store, "health"));
    sotto_sqlite_rollback(reader);
    sotto_sqlite_close(reader);
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK(t, !held_anywhere(t, path, "unforgettable"));
    sotto_store_close(store);
}

static double microseconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Prints what it measures; the bound is loose enough for a busy machine and a sanitizer. */
static void a_store_in_memory_is_cheap(sotto_test *t)
{
    double best = 1e9;

    for (int i = 0; i < 20; i++) {
        double start = microseconds();
        sotto_store *store = sotto_test_store(t, NULL);
        sotto_store_close(store);
        double took = microseconds() - start;
        best = took < best ? took : best;
    }
    (void)printf("a store in memory: %.0f us\n", best);
    CHECK(t, best < 20000);
}

static void stores_in_memory_do_not_meet(sotto_test *t)
{
    sotto_store *one = sotto_test_store(t, NULL), *two = sotto_test_store(t, NULL);

    sotto_test_fill(t, one, "s");
    CHECK_EQUAL(t, 6, count(t, one, "health"));
    CHECK_EQUAL(t, 0, count(t, two, "health"));
    CHECK_OK(t, sotto_store_forget(one, NULL, &t->err));
    CHECK_EQUAL(t, 0, count(t, one, "health"));
    sotto_store_close(one);
    sotto_store_close(two);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(events_come_back_as_they_were_donated),
        CASE(an_event_donated_twice_is_kept_once),
        CASE(a_batch_is_donated_whole_or_not_at_all),
        CASE(values_must_fit_their_field),
        CASE(a_stream_keeps_its_schema),
        CASE(names_that_could_be_mistaken_are_refused),
        CASE(only_the_owner_can_read_the_files),
        CASE(retention_leaves_no_byte_of_what_it_erased),
        CASE(rebalanced_pages_keep_no_stale_copy),
        CASE(the_wal_holds_nothing_after_retention),
        CASE(forgetting_leaves_no_byte_of_a_stream),
        CASE(forgetting_reaches_streams_that_are_no_longer_declared),
        CASE(retention_keeps_the_newest_rows),
        CASE(rows_that_went_by_age_make_room_for_others),
        CASE(retention_finds_old_events_by_an_index),
        CASE(a_stream_can_not_outgrow_its_rows_by_much),
        CASE(a_store_keeps_to_its_size),
        CASE(an_event_from_the_future_expires_too),
        CASE(a_damaged_file_is_set_aside_and_reported),
        CASE(somebody_elses_file_is_left_alone),
        CASE(what_was_set_aside_expires_and_is_forgotten),
        CASE(a_reader_delays_erasing_and_a_later_call_finishes_it),
        CASE(a_store_in_memory_is_cheap),
        CASE(stores_in_memory_do_not_meet),
    };
    return RUN_TESTS(argc, argv, cases);
}
