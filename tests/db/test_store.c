/* What a store promises, whichever database is below: this program runs on both. */
#include "base/alloc.h"
#include "db/store.h"
#include "support/database.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- single functions -------------------------------------------------------------------------------- */

static sotto_status put_and_refuse(sotto_tx *tx, void *context, sotto_err *err)
{
    SOTTO_TRY(sotto_test_put(tx, context, err));
    return sotto_fail(err, SOTTO_STALE, "on second thoughts");
}

static void a_function_that_fails_leaves_nothing(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing one = {1, 10}, two = {2, 20};

    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_run(db, put_and_refuse, &two, &t->err));
    CHECK_REASON(t, "second thoughts");
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT count(*) FROM things"));
    CHECK_EQUAL(t, 10, sotto_test_ask_number(t, db, "SELECT number FROM things WHERE id = 1"));
    sotto_db_close(db);
}

static void what_is_put_is_there_when_opened_again(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *db = sotto_test_db_at(t, address);
    sotto_test_thing one = {1, 10};

    CHECK_OK(t, sotto_test_schema(db, &t->err));
    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    sotto_db_close(db);
    db = sotto_test_db_at(t, address);
    CHECK_EQUAL(t, 10, sotto_test_ask_number(t, db, "SELECT number FROM things WHERE id = 1"));
    sotto_db_close(db);
}

static sotto_status swallow(sotto_tx *tx, void *context, sotto_err *err)
{
    static sotto_test_thing least = {7, INT64_MIN}; /* the schema forbids it */

    (void)err;
    (void)sotto_test_put(tx, context, NULL);
    (void)sotto_test_put(tx, &least, NULL);
    return sotto_test_put(tx, context, NULL) == SOTTO_DENIED ? SOTTO_OK : SOTTO_BUG;
}

static void a_failed_statement_can_not_be_ignored(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing one = {1, 10};

    CHECK_STATUS(t, SOTTO_DENIED, sotto_db_run(db, swallow, &one, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT count(*) FROM things"));
    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    sotto_db_close(db);
}

typedef struct nested {
    sotto_db *db;
    sotto_test_thing thing;
    sotto_status run, read;
} nested;

static sotto_status run_inside(sotto_tx *tx, void *context, sotto_err *err)
{
    nested *n = context;

    (void)tx;
    (void)err;
    n->run = sotto_db_run(n->db, sotto_test_put, &n->thing, NULL);
    n->read = sotto_db_read(n->db, sotto_test_put, &n->thing, NULL);
    return SOTTO_OK;
}

static void a_function_can_not_wait_for_its_own_store(sotto_test *t)
{
    nested n = {.db = sotto_test_db(t), .thing = {1, 1}};

    CHECK_OK(t, sotto_db_run(n.db, run_inside, &n, &t->err));
    CHECK_EQUAL(t, SOTTO_BUG, n.run);
    CHECK_EQUAL(t, SOTTO_BUG, n.read);
    sotto_db_close(n.db);
}

static void a_reader_can_not_write(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_test_thing one = {1, 10};

    CHECK_STATUS(t, SOTTO_DENIED, sotto_db_read(db, sotto_test_put, &one, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_ask_number(t, db, "SELECT count(*) FROM things"));
    sotto_db_close(db);
}

typedef struct snapshot {
    sotto_db *db;
    pthread_t writer;
    int64_t before, after;
} snapshot;

static void *write_one(void *context)
{
    sotto_test_thing thing = {1, 1};

    return sotto_db_run(((snapshot *)context)->db, sotto_test_put, &thing, NULL) == SOTTO_OK
               ? NULL
               : context;
}

static sotto_status count_things(sotto_tx *tx, int64_t *out, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM things", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *out = sotto_sql_column_int(&q, 0);
    return SOTTO_OK;
}

static sotto_status look_twice(sotto_tx *tx, void *context, sotto_err *err)
{
    snapshot *s = context;
    void *failed = NULL;

    SOTTO_TRY(count_things(tx, &s->before, err));
    if (pthread_create(&s->writer, NULL, write_one, s) != 0 ||
        pthread_join(s->writer, &failed) != 0 || failed)
        return sotto_fail(err, SOTTO_BUG, "the writer did not write");
    return count_things(tx, &s->after, err);
}

static void a_reader_sees_one_moment_while_others_write(sotto_test *t)
{
    snapshot s = {.db = sotto_test_db(t)};

    CHECK_OK(t, sotto_db_read(s.db, look_twice, &s, &t->err));
    CHECK_EQUAL(t, 0, s.before);
    CHECK_EQUAL(t, 0, s.after);
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, s.db, "SELECT count(*) FROM things"));
    sotto_db_close(s.db);
}

static void an_address_must_name_a_database(sotto_test *t)
{
    sotto_db *db;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_db_open(&db, &(sotto_db_options){.address = "mysql"}, &t->err));
    CHECK(t, db == NULL);
    CHECK_STATUS(
        t, SOTTO_IO,
        sotto_db_open(&db, &(sotto_db_options){.address = "sqlite:/no/such/dir/x"}, &t->err));
    CHECK_STATUS(
        t, SOTTO_IO,
        sotto_db_open(&db, &(sotto_db_options){.address = "host=/nowhere password=hush"}, &t->err));
    CHECK(t, !strstr(t->err.reason, "hush"));
    sotto_db_close(NULL);
}

/* ---- many at once ------------------------------------------------------------------------------------ */

static void note_done(void *context, sotto_status status, const sotto_err *err)
{
    (void)err;
    atomic_fetch_add((_Atomic unsigned *)context, status == SOTTO_OK ? 1 : 0x10000);
}

enum { POSTED = 40 };

static void one_that_fails_spares_its_neighbours(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *db = sotto_test_db_at(t, address);
    sotto_test_gate g = SOTTO_TEST_GATE(SOTTO_OK);
    _Atomic unsigned done = 0;
    sotto_db_job first = {sotto_test_gate_hold, &g, note_done, &done, NULL, SOTTO_OK,
                          {SOTTO_OK, ""}};
    sotto_test_thing things[POSTED];
    sotto_db_job jobs[POSTED];
    sotto_db_stats stats;

    CHECK_OK(t, sotto_test_schema(db, &t->err));
    sotto_db_post(db, &first);
    sotto_test_gate_await(&g);
    for (int64_t i = 0; i < POSTED; i++) {
        /* Every fourth changes its mind, every eighth breaks a rule of the schema. */
        things[i] = (sotto_test_thing){i, i % 8 == 5 ? INT64_MIN : i};
        jobs[i] = (sotto_db_job){.fn = i % 4 == 0 ? put_and_refuse : sotto_test_put,
                                 .context = &things[i],
                                 .done = note_done,
                                 .done_context = &done};
        sotto_db_post(db, &jobs[i]);
    }
    sotto_test_gate_open(&g);
    sotto_db_stats_get(db, &stats);
    CHECK(t, stats.waiting <= POSTED);
    sotto_db_close(db); /* runs them all first */
    CHECK_EQUAL(t, 1 + 25 + (15U << 16), done);
    db = sotto_test_db_at(t, address);
    CHECK_EQUAL(t, 25, sotto_test_ask_number(t, db, "SELECT count(*) FROM things"));
    CHECK_EQUAL(
        t, 0,
        sotto_test_ask_number(t, db, "SELECT count(*) FROM things WHERE id % 4 = 0 OR id % 8 = 5"));
    sotto_db_close(db);
}

enum { THREADS = 16, TIMES = 25 };

typedef struct adder {
    sotto_db *db;
    int64_t id;
    unsigned failures;
} adder;

static sotto_status add_one(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO things (id, number) VALUES (?1, 1) ON CONFLICT (id)"
                                " DO UPDATE SET number = things.number + 1",
                                err));
    sotto_sql_int(&q, 1, *(int64_t *)context);
    return sotto_sql_run(&q, NULL, err);
}

static void *add_many(void *context)
{
    adder *a = context;

    for (int i = 0; i < TIMES; i++) {
        int64_t shared = i % 3 == 0 ? 0 : a->id; /* a row that all of them want, at times */
        a->failures += sotto_db_run(a->db, add_one, &shared, NULL) != SOTTO_OK;
    }
    return NULL;
}

static void many_threads_lose_nothing(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    pthread_t threads[THREADS];
    adder adders[THREADS];
    sotto_db_stats stats;

    for (int64_t i = 0; i < THREADS; i++) {
        adders[i] = (adder){.db = db, .id = i + 1};
        CHECK(t, pthread_create(&threads[i], NULL, add_many, &adders[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(t, pthread_join(threads[i], NULL) == 0);
        CHECK_EQUAL(t, 0, adders[i].failures);
    }
    CHECK_EQUAL(t, THREADS * TIMES,
                sotto_test_ask_number(t, db, "SELECT CAST(sum(number) AS BIGINT) FROM things"));
    sotto_db_stats_get(db, &stats);
    CHECK_EQUAL(t, THREADS * TIMES + 1, stats.functions); /* and the migration */
    CHECK(t, stats.transactions <= stats.functions);
    CHECK_EQUAL(t, 0, stats.waiting);
    sotto_db_close(db);
}

/* ---- wake-ups ---------------------------------------------------------------------------------------- */

static sotto_status wake(sotto_tx *tx, void *context, sotto_err *err)
{
    SOTTO_TRY(sotto_tx_wake(tx, "jobs", err));
    SOTTO_TRY(sotto_tx_wake(tx, "jobs", err));
    return context ? sotto_fail(err, SOTTO_DENIED, "no") : SOTTO_OK;
}

static sotto_status wake_badly(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_tx_wake(tx, context, err);
}

static void a_commit_wakes_and_a_failure_does_not(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    if (sotto_test_on_postgres()) /* whose listener says hello when it begins */
        CHECK(t, sotto_db_wait(db, "jobs", 0, 30000));
    uint64_t seen = sotto_db_woken(db, "jobs");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_db_run(db, wake, db, &t->err));
    CHECK(t, !sotto_db_wait(db, "jobs", seen, 50));
    CHECK_OK(t, sotto_db_run(db, wake, NULL, &t->err));
    CHECK(t, sotto_db_wait(db, "jobs", seen, 5000)); /* also when it came before the waiting */
    CHECK_STATUS(t, SOTTO_BUG, sotto_db_run(db, wake_badly, "a'b", &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_db_run(db, wake_badly, "", &t->err));
    seen = sotto_db_woken(db, "other");
    sotto_db_wake(db, "other");
    CHECK(t, sotto_db_wait(db, "other", seen, 5000));
    sotto_db_close(db);
}

/* ---- faults ------------------------------------------------------------------------------------------ */

static sotto_status live(sotto_test *t, const char *address)
{
    const sotto_db_options options = {.address = address, .writers = 1, .patience_ms = 1};
    sotto_test_thing one = {1, 10};
    sotto_db *db = NULL;
    sotto_status status = sotto_db_open(&db, &options, NULL);

    (void)t;
    if (status == SOTTO_OK)
        status = sotto_test_schema(db, NULL);
    if (status == SOTTO_OK)
        status = sotto_db_run(db, sotto_test_put, &one, NULL);
    sotto_db_close(db);
    return status;
}

static void every_allocation_may_fail(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    long n = 0;

    for (sotto_status status = SOTTO_BUG; status != SOTTO_OK; n++) {
        sotto_alloc_fail_after(n);
        status = live(t, address);
        sotto_alloc_fail_after(-1);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        CHECK(t, n < 200);
    }
    (void)printf("%ld allocations failed in turn\n", n - 1);
    CHECK(t, n > 5);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_function_that_fails_leaves_nothing),
        CASE(what_is_put_is_there_when_opened_again),
        CASE(a_failed_statement_can_not_be_ignored),
        CASE(a_function_can_not_wait_for_its_own_store),
        CASE(a_reader_can_not_write),
        CASE(a_reader_sees_one_moment_while_others_write),
        CASE(an_address_must_name_a_database),
        CASE(one_that_fails_spares_its_neighbours),
        CASE(many_threads_lose_nothing),
        CASE(a_commit_wakes_and_a_failure_does_not),
        CASE(every_allocation_may_fail),
    };
    return RUN_TESTS(argc, argv, cases);
}
