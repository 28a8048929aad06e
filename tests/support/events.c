#define _XOPEN_SOURCE 700

#include "support/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const sotto_field keyboard_fields[] = {
    {"age", SOTTO_TYPE_INTEGER},   {"ngram", SOTTO_TYPE_TEXT},  {"perplexity", SOTTO_TYPE_REAL},
    {"liked", SOTTO_TYPE_BOOLEAN}, {"secret", SOTTO_TYPE_TEXT},
};
static const sotto_field health_fields[] = {
    {"pulse", SOTTO_TYPE_INTEGER},
    {"secret", SOTTO_TYPE_TEXT},
};
const sotto_stream sotto_test_streams[SOTTO_TEST_STREAMS] = {
    {"keyboard_ngrams", keyboard_fields, 5, SOTTO_TEST_MAX_AGE, SOTTO_TEST_MAX_ROWS},
    {"health", health_fields, 2, SOTTO_TEST_MAX_AGE, SOTTO_TEST_MAX_ROWS},
};

const char *sotto_test_beside(sotto_test *t, const char *path, const char *ending)
{
    char *name = sotto_arena_take(&t->arena, SOTTO_VFS_PATH);

    CHECK(t, name != NULL);
    (void)snprintf(name, SOTTO_VFS_PATH, "%s%s", path, ending);
    return name;
}

sotto_store *sotto_test_store(sotto_test *t, const char *path)
{
    const sotto_store_options options = {.path = path,
                                         .streams = sotto_test_streams,
                                         .stream_count = SOTTO_TEST_STREAMS,
                                         .now = SOTTO_TEST_NOW};
    sotto_store *store;

    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    return store;
}

static sotto_value text_value(const char *text)
{
    return (sotto_value){.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of(text, strlen(text))};
}

static sotto_value integer_value(int64_t integer)
{
    return (sotto_value){.type = SOTTO_TYPE_INTEGER, .as.integer = integer};
}

sotto_status sotto_test_type(sotto_store *store, uint64_t id, int64_t time, int64_t age,
                             const char *ngram, const char *secret, sotto_err *err)
{
    const sotto_value values[] = {
        integer_value(age),
        text_value(ngram),
        {.type = SOTTO_TYPE_REAL, .as.real = 1.5},
        {.type = SOTTO_TYPE_BOOLEAN, .as.integer = 1},
        text_value(secret),
    };
    sotto_event event = {
        .stream = "keyboard_ngrams", .time = time, .values = values, .value_count = 5};

    memcpy(event.id, &id, sizeof id);
    return sotto_store_donate(store, &event, 1, NULL, err);
}

sotto_status sotto_test_beat(sotto_store *store, uint64_t id, int64_t pulse, const char *secret,
                             sotto_err *err)
{
    const sotto_value values[] = {integer_value(pulse), text_value(secret)};
    sotto_event event = {
        .stream = "health", .time = SOTTO_TEST_NOW, .values = values, .value_count = 2};

    memcpy(event.id, &id, sizeof id);
    return sotto_store_donate(store, &event, 1, NULL, err);
}

void sotto_test_fill(sotto_test *t, sotto_store *store, const char *secret)
{
    static const char *const ngrams[] = {"hello world", "i went home", "i got",
                                         "hello",       "a school",    "i went home"};

    for (int i = 0; i < 6; i++) {
        CHECK_OK(t, sotto_test_type(store, (uint64_t)i + 1, SOTTO_TEST_NOW - i, 18 + 9 * i,
                                    ngrams[i], secret, &t->err));
        CHECK_OK(t, sotto_test_beat(store, (uint64_t)i + 1, 60 + i, secret, &t->err));
    }
}

uint64_t sotto_test_count(sotto_test *t, sotto_store *store, const char *stream)
{
    uint64_t rows;

    CHECK_OK(t, sotto_store_count(store, stream, &rows, &t->err));
    return rows;
}

sotto_bytes sotto_test_read_file(sotto_test *t, const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = 0;

    if (!file)
        return sotto_bytes_of(NULL, 0);
    CHECK(t, fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0);
    rewind(file);
    uint8_t *data = sotto_arena_take(&t->arena, (size_t)size + 1);
    CHECK(t, data && fread(data, 1, (size_t)size, file) == (size_t)size);
    (void)fclose(file);
    return sotto_bytes_of(data, (size_t)size);
}

bool sotto_test_file_holds(sotto_test *t, const char *path, const char *text)
{
    sotto_bytes file = sotto_test_read_file(t, path);
    size_t len = strlen(text);

    for (size_t i = 0; i + len <= file.len; i++) {
        if (file.data[i] == (uint8_t)text[0] && memcmp(file.data + i, text, len) == 0)
            return true;
    }
    return false;
}
