/* The event store: what is donated, and what may be. */
#define _XOPEN_SOURCE 700

#include "device/events/store.h"
#include "support/events.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store = sotto_test_store(t, path);
    uint64_t seen = 0;

    sotto_test_fill(t, store, "s");
    sotto_store_close(store);
    store = sotto_test_store(t, path);
    CHECK_EQUAL(t, 6, sotto_test_count(t, store, "keyboard_ngrams"));
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
    CHECK_EQUAL(t, 1, sotto_test_count(t, store, "keyboard_ngrams"));
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
    CHECK_EQUAL(t, 0, sotto_test_count(t, store, "health"));
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
    const char *path = sotto_test_temp(t, "events.db");
    static const sotto_field other[] = {{"pulse", SOTTO_TYPE_REAL}, {"secret", SOTTO_TYPE_TEXT}};
    const sotto_stream stream = {"health", other, 2, 10, 10};
    const sotto_store_options options = {.path = path, .streams = &stream, .stream_count = 1};
    sotto_store *store = sotto_test_store(t, path);

    sotto_store_close(store);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_store_open(&store, &options, &t->err));
    CHECK_REASON(t, "known with other fields");
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
    const char *path = sotto_test_temp(t, "events.db");
    mode_t before = umask(0);
    sotto_store *store = sotto_test_store(t, path);

    sotto_test_fill(t, store, "s");
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
            struct stat info;

            CHECK(t, stat(sotto_test_beside(t, path, endings[i]), &info) == 0);
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

static void a_stream_can_not_outgrow_its_rows_by_much(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_value values[2] = {{.type = SOTTO_TYPE_INTEGER, .as.integer = 60}, {0}};
    static sotto_event batch[100];

    for (uint64_t i = 0; i < 30; i++) {
        for (uint64_t j = 0; j < 100; j++)
            batch[j] = health_event(values, 1 + 100 * i + j);
        CHECK_OK(t, sotto_store_donate(store, batch, 100, NULL, &t->err));
        CHECK(t, sotto_test_count(t, store, "health") <= SOTTO_TEST_MAX_ROWS * 9 / 8);
    }
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
    CHECK_EQUAL(t, 6, sotto_test_count(t, one, "health"));
    CHECK_EQUAL(t, 0, sotto_test_count(t, two, "health"));
    CHECK_OK(t, sotto_store_forget(one, NULL, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_count(t, one, "health"));
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
        CASE(a_stream_can_not_outgrow_its_rows_by_much),
        CASE(a_store_in_memory_is_cheap),
        CASE(stores_in_memory_do_not_meet),
    };
    return RUN_TESTS(argc, argv, cases);
}
