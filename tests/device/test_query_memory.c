/* What a query may take of memory is limited in every way in which a process may configure SQLite. */
#include "query/memory.h"
#include "sotto/device.h"
#include "support/queries.h"

#include <pthread.h>
#include <sqlite3.h>

#define CROSS "keyboard_ngrams a, keyboard_ngrams b, keyboard_ngrams c, keyboard_ngrams d"

static const char sorts_much[] =
    "SELECT a.ngram||a.ngram||a.ngram||b.ngram||c.ngram||d.ngram AS x FROM " CROSS
    " ORDER BY x LIMIT 1000";
static const char keeps_much[] =
    "SELECT DISTINCT a.ngram||a.age||b.ngram||b.age||c.ngram||c.age||d.age AS x FROM " CROSS;

/* As SQLite comes, with its statistics on or off; the meter, once it is there, stays. */
static void configure(sotto_test *t, int statistics)
{
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_shutdown());
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_config(SQLITE_CONFIG_MEMSTATUS, statistics));
}

static sotto_answer ask_within(sotto_test *t, uint64_t memory, const char *sql)
{
    sotto_store *store = sotto_test_store(t, NULL);
    sotto_query_policy policy = sotto_test_policy;

    policy.limits.memory = memory;
    sotto_test_fill(t, store, "s");
    sotto_answer answer = sotto_test_ask_text(store, &policy, sql, &t->err);
    sotto_store_close(store);
    return answer;
}

static void check_limit(sotto_test *t)
{
    const char *const queries[] = {sorts_much, keeps_much};

    for (size_t i = 0; i < 2; i++) {
        CHECK_EQUAL(t, SOTTO_OK, ask_within(t, 8 << 20, queries[i]).status);
        CHECK_EQUAL(t, SOTTO_TOO_LARGE, ask_within(t, 40000, queries[i]).status);
        CHECK_REASON(t, "more memory");
    }
}

/* Before the meter is there, which is for the rest of the process: the first test. */
static void where_nothing_counts_no_query_runs(sotto_test *t)
{
    configure(t, 0);
    CHECK_EQUAL(t, SOTTO_DENIED, ask_within(t, 8 << 20, sorts_much).status);
    CHECK_REASON(t, "counts no memory");
    configure(t, 1);
    CHECK_EQUAL(t, SOTTO_OK, ask_within(t, 8 << 20, sorts_much).status);
    void *kept = sqlite3_malloc(1000);
    configure(t, 0); /* the statistics stand still at what they were */
    CHECK(t, sqlite3_memory_used() > 0);
    sqlite3_free(kept);
    CHECK_EQUAL(t, SOTTO_DENIED, ask_within(t, 8 << 20, sorts_much).status);
}

static void the_meter_comes_before_sqlite(sotto_test *t)
{
    configure(t, 1);
    sotto_store *store = sotto_test_store(t, NULL);
    CHECK_STATUS(t, SOTTO_STALE, sotto_device_count_memory(&t->err));
    CHECK_REASON(t, "used already");
    CHECK(t, sotto_memory_counted()); /* by SQLite, as before */
    sotto_store_close(store);
}

static void memory_is_limited_whoever_counts_it(sotto_test *t)
{
    configure(t, 1);
    check_limit(t);
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_shutdown());
    CHECK_OK(t, sotto_device_count_memory(&t->err));
    CHECK_OK(t, sotto_device_count_memory(&t->err));
    check_limit(t);
    int64_t before = sqlite3_memory_used();
    void *block = sqlite3_malloc(1000);
    CHECK_EQUAL(t, before, sqlite3_memory_used()); /* SQLite has stopped counting */
    sqlite3_free(block);
    configure(t, 1);
    check_limit(t);
}

static void *take_a_million_bytes(void *block)
{
    *(void **)block = sqlite3_malloc(1000000);
    return NULL;
}

static void the_meter_counts_one_thread(sotto_test *t)
{
    pthread_t other;
    void *block = NULL;

    CHECK_EQUAL(t, SQLITE_OK, sqlite3_shutdown());
    CHECK_OK(t, sotto_device_count_memory(&t->err));
    int64_t before = sotto_memory_held();
    void *own = sqlite3_malloc(1000);
    CHECK(t, sotto_memory_held() >= before + 1000);
    own = sqlite3_realloc(own, 100000);
    CHECK(t, sotto_memory_held() >= before + 100000);
    sqlite3_free(own);
    CHECK_EQUAL(t, before, sotto_memory_held());
    CHECK_EQUAL(t, 0, pthread_create(&other, NULL, take_a_million_bytes, &block));
    CHECK_EQUAL(t, 0, pthread_join(other, NULL));
    CHECK(t, block != NULL);
    CHECK_EQUAL(t, before, sotto_memory_held());
    sqlite3_free(block);
}

/* A process may configure SQLite again, and so take the meter away: that is noticed. Last, since it can't come back. */
static void a_meter_that_was_taken_away_is_missed(sotto_test *t)
{
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_shutdown());
    CHECK_OK(t, sotto_device_count_memory(&t->err));
    sqlite3_mem_methods none = {0};
    CHECK_EQUAL(t, SQLITE_OK, sqlite3_config(SQLITE_CONFIG_MALLOC, &none)); /* SQLite's own */
    CHECK_EQUAL(t, SOTTO_DENIED, ask_within(t, 8 << 20, sorts_much).status);
    CHECK_REASON(t, "counts no memory");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(where_nothing_counts_no_query_runs),    CASE(the_meter_comes_before_sqlite),
        CASE(memory_is_limited_whoever_counts_it),   CASE(the_meter_counts_one_thread),
        CASE(a_meter_that_was_taken_away_is_missed),
    };
    return RUN_TESTS(argc, argv, cases);
}
