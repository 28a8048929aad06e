/* A recipe's query is a stranger's text. Whatever the verifier accepts is run on two stores that are alike in the
 * fields it may read. They differ in every other field, in ids, times and the order of donation. The answers must be
 * the same, row by row, and so must the first row, and the rows of which one is picked. The list of what was read must
 * stay inside the policy. */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/events/query.h"

enum { ROWS = 4, MOST_PICKS = 40 };

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
    uint64_t count; /* of rows to pick from */
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
        {"keyboard_ngrams", {(uint8_t)(row ^ (version * 77))}, 1000 + version * row, typed, 3},
        {"health", {(uint8_t)(row ^ (version * 55))}, 1000 - version * row, beat, 2}};
    require(sotto_store_donate(store, events, 2, NULL, NULL) == SOTTO_OK);
}

static sotto_store *store_of(unsigned version)
{
    const sotto_store_options options = {.streams = streams, .stream_count = 2};
    sotto_store *store;

    require(sotto_store_open(&store, &options, NULL) == SOTTO_OK);
    for (unsigned row = 0; row < ROWS; row++)
        donate(store, version, version ? (row * 3 + 2) % ROWS : row);
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

/* ---- one row ---------------------------------------------------------------------------------------------- */

typedef struct picking {
    answer *out;
    uint64_t number;
} picking;

static sotto_status choose(void *context, uint64_t *number, uint64_t count, sotto_err *err)
{
    picking *p = context;

    (void)err;
    p->out->count = count;
    *number = p->number;
    return SOTTO_OK;
}

static sotto_status take_one(void *context, const sotto_value *values, size_t count, sotto_err *err)
{
    return take_row(((picking *)context)->out, values, count, err);
}

/* How rows are numbered tells nothing, since any is as likely: what each comes to is added up. */
static void pick_each(sotto_query *query, answer *out)
{
    uint64_t sum = 0, count = 1;

    for (uint64_t i = 0; i < count && i < MOST_PICKS; i++) {
        answer one = {.hash = 0xcbf29ce484222325U};
        picking p = {&one, i};

        one.status = sotto_query_one(query, choose, take_one, &p, NULL);
        mix(&one, &one.status, sizeof one.status);
        count = one.count;
        sum += one.hash;
    }
    mix(out, &count, sizeof count);
    if (count <= MOST_PICKS)
        mix(out, &sum, sizeof sum);
}

static answer ask(sotto_store *store, sotto_bytes sql)
{
    answer a = {.hash = 0xcbf29ce484222325U};
    sotto_query *query;

    a.status = sotto_query_open(&query, store, &policy, sql, NULL, NULL);
    if (a.status == SOTTO_OK) {
        a.status = sotto_query_run(query, take_row, &a, NULL);
        sotto_status first = sotto_query_first(query, take_row, &a, NULL);
        mix(&a, &first, sizeof first);
        pick_each(query, &a);
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
