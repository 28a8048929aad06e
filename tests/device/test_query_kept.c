/* Queries that stay compiled with a store in memory are no different from those that are compiled anew. */
#include "device/events/query_internal.h"
#include "support/queries.h"

#include <string.h>

static const char ngrams[] = "SELECT ngram FROM keyboard_ngrams";

static sotto_status open_under(sotto_query **out, sotto_test *t, sotto_store *store,
                               const sotto_query_policy *policy, const char *sql)
{
    t->err = (sotto_err){0};
    return sotto_query_open(out, store, policy, sotto_bytes_of(sql, strlen(sql)), NULL, &t->err);
}

/* Opens and closes it; whether it was one that had been kept. A mark in it tells. */
static bool was_kept(sotto_test *t, sotto_store *store, const sotto_query_policy *policy,
                     const char *sql)
{
    sotto_query *query;

    CHECK_OK(t, open_under(&query, t, store, policy, sql));
    const bool kept = query->passed == UINT64_MAX;
    query->passed = UINT64_MAX; /* which nothing else asks before `one` is compiled */
    sotto_query_close(query);
    return kept;
}

static void a_store_in_memory_keeps_its_query(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL),
                *file = sotto_test_store(t, sotto_test_temp(t, "events.db"));

    for (int i = 0; i < 3; i++) {
        CHECK(t, was_kept(t, store, &sotto_test_policy, ngrams) == (i > 0));
        CHECK(t, !was_kept(t, file, &sotto_test_policy, ngrams));
    }
    CHECK(t, !was_kept(t, store, &sotto_test_policy, "SELECT age FROM keyboard_ngrams"));
    CHECK(t, was_kept(t, store, &sotto_test_policy, "SELECT age FROM keyboard_ngrams"));
    CHECK(t, !was_kept(t, store, &sotto_test_policy, "SELECT age FROM keyboard_ngrams "));
    CHECK(t, !was_kept(t, store, &sotto_test_policy, ngrams));
    sotto_store_close(store);
    sotto_store_close(file);
}

/* The same text under a policy that reads less, protects more, bounds more or sees a part of the time. */
static void a_kept_query_serves_no_other_policy(sotto_test *t)
{
    static const sotto_bytes listed[] = {{(const uint8_t *)ngrams, sizeof ngrams - 1}};
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_query_policy others[5];
    sotto_query *query;

    for (size_t i = 0; i < 5; i++)
        others[i] = sotto_test_policy;
    others[0].field_count = 1;
    others[1].non_sensitive = &sotto_test_policy.fields[1];
    others[2].limits.rows = 1;
    others[3].by_time = true;
    others[4] = (sotto_query_policy){.queries = listed, .query_count = 1};
    for (size_t i = 0; i < 5; i++) {
        (void)was_kept(t, store, &sotto_test_policy, ngrams);
        const sotto_status status = open_under(&query, t, store, &others[i], ngrams);
        /* No field of the first policy's, and no times. */
        CHECK_STATUS(t, i == 0 || i == 3 ? SOTTO_DENIED : SOTTO_OK, status);
        CHECK(t, !query || query->passed != UINT64_MAX);
        sotto_query_close(query);
        CHECK(t, !was_kept(t, store, &sotto_test_policy, ngrams));
    }
    sotto_store_close(store);
}

static sotto_status choose(void *context, uint64_t *number, uint64_t count, sotto_err *err)
{
    (void)err;
    *number = *(const uint64_t *)context % count;
    return SOTTO_OK;
}

typedef struct picked {
    uint64_t number; /* first: choose reads it */
    sotto_answer answer;
} picked;

static sotto_status take_row(void *context, const sotto_value *values, size_t count, sotto_err *err)
{
    return sotto_test_take_row(&((picked *)context)->answer, values, count, err);
}

static picked pick(sotto_test *t, sotto_store *store, const char *sql, uint64_t number)
{
    picked out = {.number = number};
    sotto_query *query;

    CHECK_OK(t, open_under(&query, t, store, &sotto_test_policy, sql));
    CHECK_OK(t, sotto_query_one(query, choose, take_row, &out, &t->err));
    sotto_query_close(query);
    return out;
}

/* Each row in turn, and each twice, so that what passes over rows is kept, and is another. The second query runs on a copy. */
static void a_kept_query_reads_the_events_of_now(sotto_test *t)
{
    static const char *const texts[] = {ngrams, "SELECT ngram FROM keyboard_ngrams LIMIT 100"};

    for (size_t i = 0; i < 2; i++) {
        sotto_store *store = sotto_test_store(t, NULL);

        CHECK_EQUAL(t, 0, pick(t, store, texts[i], 0).answer.rows);
        CHECK_OK(t, sotto_test_type(store, 1, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
        CHECK(t, strcmp(pick(t, store, texts[i], 7).answer.text, "a|") == 0);
        CHECK_OK(t, sotto_test_type(store, 2, SOTTO_TEST_NOW, 1, "b", "s", &t->err));
        for (uint64_t k = 0; k < 8; k++)
            CHECK(t, strcmp(pick(t, store, texts[i], k / 2).answer.text, k / 2 % 2 ? "b|" : "a|") ==
                         0);
        CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
        CHECK_EQUAL(t, 0, pick(t, store, texts[i], 0).answer.rows);
        sotto_store_close(store);
    }
}

static void a_query_that_failed_is_not_kept(sotto_test *t)
{
    const char *sql = "SELECT sum(age + 9223372036854775000) FROM keyboard_ngrams";
    sotto_store *store = sotto_test_store(t, NULL);

    sotto_test_fill(t, store, "s");
    CHECK(t, !was_kept(t, store, &sotto_test_policy, sql));
    CHECK(t, sotto_test_ask_text(store, &sotto_test_policy, sql, &t->err).status != SOTTO_OK);
    CHECK(t, !was_kept(t, store, &sotto_test_policy, sql));
    sotto_store_close(store);
}

/* The pages of the device before are gone with it, whatever the connection had read. */
static void a_kept_query_finds_nothing_of_the_device_before(sotto_test *t)
{
    sotto_store *store = sotto_test_store(t, NULL);

    sotto_test_fill(t, store, "s");
    CHECK_EQUAL(t, 6, sotto_test_ask_text(store, &sotto_test_policy, ngrams, &t->err).rows);
    CHECK(t, sotto_store_blank(store));
    CHECK_EQUAL(t, 0, sotto_test_ask_text(store, &sotto_test_policy, ngrams, &t->err).rows);
    sotto_store_close(store);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_store_in_memory_keeps_its_query),
        CASE(a_kept_query_serves_no_other_policy),
        CASE(a_kept_query_reads_the_events_of_now),
        CASE(a_query_that_failed_is_not_kept),
        CASE(a_kept_query_finds_nothing_of_the_device_before),
    };
    return RUN_TESTS(argc, argv, cases);
}
