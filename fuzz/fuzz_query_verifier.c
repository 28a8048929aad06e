/* A recipe's query is a stranger's text. Whatever the verifier accepts is run on two stores that are alike in
 * the fields it may read and differ in every other: the answers must be the same, row by row, and the list
 * of what was read must stay inside the policy. */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/query.h"

enum { ROWS = 4 };

static const sotto_field keyboard_fields[] = {
    {"age", SOTTO_TYPE_INTEGER}, {"ngram", SOTTO_TYPE_TEXT}, {"secret", SOTTO_TYPE_TEXT}};
static const sotto_field health_fields[] = {{"pulse", SOTTO_TYPE_INTEGER},
                                            {"secret", SOTTO_TYPE_TEXT}};
static const sotto_stream streams[] = {{"keyboard_ngrams", keyboard_fields, 3, 1000, 1000},
                                       {"health", health_fields, 2, 1000, 1000}};
static const sotto_field_name allowed[] = {
    {"keyboard_ngrams", "age"}, {"keyboard_ngrams", "ngram"}, {"health", "pulse"}};
/* Time and memory are left alone, since they could differ between two runs of one query. */
static const sotto_query_policy policy = {
    .fields = allowed,
    .field_count = 3,
    .limits = {.rows = 500, .steps = 50000, .nanoseconds = UINT64_MAX, .memory = INT64_MAX}};

typedef struct answer {
    sotto_status status;
    uint64_t rows;
    uint64_t hash;
} answer;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void donate(sotto_store *store, unsigned version, unsigned row)
{
    static const char *const ngrams[ROWS] = {"hello", "i went", "got home", "Hello"};
    const char *secret = version ? "another secret, and a longer one" : "a secret";
    sotto_value text = {.type = SOTTO_TYPE_TEXT, .as.text = {(const uint8_t *)secret, 8 + row}};
    sotto_value ngram = {.type = SOTTO_TYPE_TEXT};
    sotto_value number = {.type = SOTTO_TYPE_INTEGER, .as.integer = 20 + 10 * (int64_t)row};

    if (!version && row % 2) /* in one store, secrets of the two streams can be equal */
        text.as.text.len = 8;
    text.as.text.len = text.as.text.len < strlen(secret) ? text.as.text.len : strlen(secret);
    ngram.as.text = sotto_bytes_of(ngrams[row], strlen(ngrams[row]));
    const sotto_value typed[] = {number, ngram, text}, beat[] = {number, text};
    sotto_event events[] = {
        {"keyboard_ngrams", {(uint8_t)(row ^ (version * 77))}, 1000 + version, typed, 3},
        {"health", {(uint8_t)(row ^ (version * 55))}, 1000 + version, beat, 2}};
    require(sotto_store_donate(store, events, 2, NULL, NULL) == SOTTO_OK);
}

static sotto_store *store_of(unsigned version)
{
    const sotto_store_options options = {.streams = streams, .stream_count = 2};
    sotto_store *store;

    require(sotto_store_open(&store, &options, NULL) == SOTTO_OK);
    for (unsigned row = 0; row < ROWS; row++)
        donate(store, version, row);
    return store;
}

static void mix(answer *a, const void *data, size_t len)
{
    const uint8_t *bytes = data;

    for (size_t i = 0; i < len; i++)
        a->hash = (a->hash ^ bytes[i]) * 0x100000001b3U;
}

static sotto_status take_row(void *context, const sotto_value *values, size_t count, sotto_err *err)
{
    answer *a = context;

    (void)err;
    a->rows++;
    for (size_t i = 0; i < count; i++) {
        mix(a, &values[i].type, sizeof values[i].type);
        if (values[i].type == SOTTO_TYPE_TEXT)
            mix(a, values[i].as.text.data, values[i].as.text.len);
        else if (values[i].type != SOTTO_TYPE_NULL)
            mix(a, &values[i].as, sizeof values[i].as.integer);
    }
    return SOTTO_OK;
}

static void check_reads(const sotto_query *query)
{
    size_t count;
    const sotto_access *accessed = sotto_query_accessed(query, &count);

    for (size_t i = 0; i < count; i++) {
        bool found = false;

        for (size_t j = 0; j < sizeof allowed / sizeof allowed[0]; j++)
            found |= strcmp(accessed[i].stream, allowed[j].stream) == 0 &&
                     strcmp(accessed[i].field, allowed[j].field) == 0;
        require(found);
    }
}

static answer ask(sotto_store *store, sotto_bytes sql)
{
    answer a = {.hash = 0xcbf29ce484222325U};
    sotto_query *query;

    a.status = sotto_query_open(&query, store, &policy, sql, NULL, NULL);
    if (a.status == SOTTO_OK) {
        a.status = sotto_query_run(query, take_row, &a, NULL);
        check_reads(query);
    }
    sotto_query_close(query);
    return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sotto_store *stores[2];

    for (unsigned i = 0; i < 2; i++) {
        if (!stores[i])
            stores[i] = store_of(i);
    }
    answer one = ask(stores[0], sotto_bytes_of(data, size));
    answer two = ask(stores[1], sotto_bytes_of(data, size));
    require(one.status == two.status && one.rows == two.rows && one.hash == two.hash);
    return 0;
}
