/* The event store on a disk that loses power, fills up, or fails, at every step it takes. */
#include "base/alloc.h"
#include "device/events/store.h"
#include "query/sqlite.h"
#include "support/events.h"
#include "support/powerloss_vfs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SINGLES = 4, BATCH = 5, BATCH_ID = 100, MOST_STEPS = 2000 };

/* What the store said it had done when the disk went. */
typedef struct promise {
    bool single[SINGLES];
    bool batch;
    bool retained; /* and therefore the old event, erased */
    bool tried_batch;
} promise;

static sotto_status open_on_disk(sotto_store **store, const char *path, sotto_err *err)
{
    const sotto_store_options options = {.storage = &sotto_powerloss_storage,
                                         .path = path,
                                         .streams = sotto_test_streams,
                                         .stream_count = SOTTO_TEST_STREAMS,
                                         .now = SOTTO_TEST_NOW};

    return sotto_store_open(store, &options, err);
}

static sotto_status donate_batch(sotto_store *store, sotto_err *err)
{
    static const sotto_value values[2] = {{.type = SOTTO_TYPE_INTEGER, .as.integer = 60}, {0}};
    sotto_event batch[BATCH];

    for (uint64_t i = 0; i < BATCH; i++) {
        uint64_t id = BATCH_ID + i;

        batch[i] = (sotto_event){
            .stream = "health", .time = SOTTO_TEST_NOW, .values = values, .value_count = 2};
        memcpy(batch[i].id, &id, sizeof id);
    }
    return sotto_store_donate(store, batch, BATCH, NULL, err);
}

/* Goes on after a failure, as an application would. */
static promise live_a_day(const char *path)
{
    promise p = {0};
    sotto_store *store;

    if (open_on_disk(&store, path, NULL) != SOTTO_OK)
        return p;
    (void)sotto_test_type(store, 50, SOTTO_TEST_NOW - 2 * SOTTO_TEST_MAX_AGE, 1, "old", "s", NULL);
    for (uint64_t i = 0; i < SINGLES / 2; i++)
        p.single[i] = sotto_test_type(store, i, SOTTO_TEST_NOW, 1, "a", "s", NULL) == SOTTO_OK;
    p.tried_batch = true;
    p.batch = donate_batch(store, NULL) == SOTTO_OK;
    p.retained = sotto_store_retain(store, SOTTO_TEST_NOW, NULL) == SOTTO_OK;
    for (uint64_t i = SINGLES / 2; i < SINGLES; i++)
        p.single[i] = sotto_test_type(store, i, SOTTO_TEST_NOW, 1, "a", "s", NULL) == SOTTO_OK;
    sotto_store_close(store);
    return p;
}

static int64_t events_with_id(sotto_test *t, sqlite3 *db, const char *stream, uint64_t id,
                              uint64_t most)
{
    char sql[160];
    char low[33] = {0}, high[33] = {0};
    int64_t rows;

    for (int i = 0; i < 16; i++) { /* ids are little endian numbers below 256 */
        (void)snprintf(low + 2 * i, 3, "%02x", i ? 0 : (unsigned)id);
        (void)snprintf(high + 2 * i, 3, "%02x", i ? 0 : (unsigned)most);
    }
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*) FROM %s WHERE event_id BETWEEN x'%s' AND x'%s'", stream, low,
                   high);
    CHECK_OK(t, sotto_sqlite_number(db, &rows, sql, "count", &t->err));
    return rows;
}

/* The store opens as it is, holds what it promised, and nothing by halves. */
static void check_promise(sotto_test *t, const char *path, const promise *p)
{
    const sotto_sqlite_options options = {.storage = &sotto_powerloss_storage,
                                          .path = path,
                                          .application = SOTTO_SQLITE_EVENTS,
                                          .version = 1};
    sotto_store *store;
    sqlite3 *db;

    CHECK_OK(t, open_on_disk(&store, path, &t->err));
    CHECK(t, sotto_store_set_aside(store) == NULL);
    CHECK_OK(t, sotto_sqlite_open(&db, &options, &t->err));
    for (uint64_t i = 0; i < SINGLES; i++)
        CHECK(t, !p->single[i] || events_with_id(t, db, "keyboard_ngrams", i, i) == 1);
    int64_t batch = events_with_id(t, db, "health", BATCH_ID, BATCH_ID + BATCH - 1);
    CHECK(t, batch == 0 || batch == BATCH);
    CHECK(t, !p->batch || batch == BATCH);
    CHECK(t, p->tried_batch || batch == 0);
    CHECK(t, !p->retained || events_with_id(t, db, "keyboard_ngrams", 50, 50) == 0);
    sotto_sqlite_close(db);
    CHECK_OK(t, sotto_test_type(store, 200, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
    CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
    CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
    sotto_store_close(store);
}

static void start_over(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".corrupt"};

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[SOTTO_VFS_PATH];

        (void)snprintf(name, sizeof name, "%s%s", path, endings[i]);
        (void)unlink(name);
    }
    sotto_powerloss_start();
}

static void no_committed_donation_is_lost_with_the_power(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    int64_t steps;

    start_over(path);
    (void)live_a_day(path);
    steps = (int64_t)sotto_powerloss_steps();
    CHECK(t, steps > 20 && steps < MOST_STEPS);
    for (int64_t at = 0; at <= steps; at++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            start_over(path);
            sotto_powerloss_at(at);
            promise p = live_a_day(path);
            sotto_powerloss_restore(seed);
            check_promise(t, path, &p);
        }
    }
    (void)printf("power lost at each of %lld steps\n", (long long)steps);
}

/* The shape of test that the ledger builds on: nothing is outstanding when a commit has returned. */
static void a_donation_is_synced_when_it_returns(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store;

    start_over(path);
    CHECK_OK(t, open_on_disk(&store, path, &t->err));
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t syncs = sotto_powerloss_syncs();

        CHECK_OK(t, sotto_test_type(store, i, SOTTO_TEST_NOW, 1, "a", "s", &t->err));
        CHECK(t, sotto_powerloss_syncs() > syncs);
        CHECK_EQUAL(t, 0, sotto_powerloss_unsynced("-wal"));
    }
    sotto_store_close(store);
}

static void try_failures(sotto_test *t, bool full, bool stays)
{
    const char *path = sotto_test_temp(t, "events.db");

    for (int64_t at = 0; at < MOST_STEPS; at++) {
        start_over(path);
        sotto_powerloss_fail_at(at, full, stays);
        promise p = live_a_day(path);
        bool reached = (int64_t)sotto_powerloss_steps() > at;
        sotto_powerloss_fail_at(-1, false, false);
        check_promise(t, path, &p);
        if (!reached)
            return;
    }
    CHECK(t, !"the day never ends");
}

static void a_full_disk_loses_nothing_that_was_promised(sotto_test *t)
{
    try_failures(t, true, true);
}

static void one_failing_step_loses_nothing_that_was_promised(sotto_test *t)
{
    try_failures(t, false, false);
}

static void the_disk_forgets_what_was_not_synced(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "plain.db");
    sotto_powerloss_start();
    sqlite3 *db;
    int64_t rows;

    CHECK(t, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "powerloss") ==
                 SQLITE_OK);
    /* FULL does not sync the directory when the journal is deleted: it could come back and undo the commit. */
    CHECK_OK(t, sotto_sqlite_run(
                    db, "PRAGMA synchronous=EXTRA; CREATE TABLE a(x); INSERT INTO a VALUES(1)", "a",
                    &t->err));
    CHECK_OK(t,
             sotto_sqlite_run(db, "PRAGMA synchronous=OFF; INSERT INTO a VALUES(2)", "a", &t->err));
    CHECK(t, sotto_powerloss_unsynced("") > 0);
    sotto_powerloss_at((int64_t)sotto_powerloss_steps());
    CHECK(t, sqlite3_exec(db, "INSERT INTO a VALUES(3)", NULL, NULL, NULL) != SQLITE_OK);
    sotto_sqlite_close(db);
    sotto_powerloss_restore(0);
    CHECK(t, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "powerloss") == SQLITE_OK);
    CHECK_OK(t, sotto_sqlite_number(db, &rows, "SELECT count(*) FROM a", "a", &t->err));
    CHECK_EQUAL(t, 1, rows);
    sotto_sqlite_close(db);
}

static void a_damaged_file_is_set_aside_through_the_hosts_own_rename(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "events.db");
    sotto_store *store;

    start_over(path);
    FILE *file = fopen(path, "wb");
    CHECK(t, file && fputs("this is not a database, whatever its name says", file) > 0);
    CHECK(t, fclose(file) == 0);
    CHECK_OK(t, open_on_disk(&store, path, &t->err));
    CHECK(t, sotto_store_set_aside(store) != NULL);
    CHECK(t, sotto_test_file_holds(t, sotto_store_set_aside(store), "not a database"));
    CHECK_OK(t, sotto_store_forget(store, NULL, &t->err));
    CHECK(t, access(sotto_store_set_aside(store), F_OK) != 0);
    sotto_store_close(store);
}

static void running_out_of_memory_is_an_error_at_every_allocation(sotto_test *t)
{
    for (long n = 0; n < 100; n++) {
        const sotto_store_options options = {.streams = sotto_test_streams,
                                             .stream_count = SOTTO_TEST_STREAMS};
        sotto_store *store;

        sotto_alloc_fail_after(n);
        sotto_status status = sotto_store_open(&store, &options, NULL);
        if (status == SOTTO_OK)
            status = sotto_store_forget(store, NULL, NULL);
        sotto_alloc_fail_after(-1);
        sotto_store_close(store);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        if (status == SOTTO_OK)
            return;
    }
    CHECK(t, !"it never succeeds");
}

/* The host that declared the stream would set it right; others keep to the file. */
static void a_rule_that_nobody_declared_is_refused(sotto_test *t)
{
    static const char *const rules[] = {"max_age=-5", "max_age=0", "max_rows=0", "max_rows=-5"};

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const char *path = sotto_test_temp(t, "events.db");
        const sotto_store_options none = {.path = path};
        sotto_store *store = sotto_test_store(t, path);
        char sql[64];
        sqlite3 *db;

        sotto_test_fill(t, store, "s");
        sotto_store_close(store);
        (void)snprintf(sql, sizeof sql, "UPDATE sotto_streams SET %s", rules[i]);
        CHECK(t, sqlite3_open(path, &db) == SQLITE_OK);
        CHECK(t, sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
        CHECK(t, sqlite3_close(db) == SQLITE_OK);
        CHECK_OK(t, sotto_store_open(&store, &none, &t->err));
        CHECK_STATUS(t, SOTTO_MALFORMED, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
        CHECK_OK(t, sotto_store_forget(store, NULL, &t->err)); /* which needs no rule */
        sotto_store_close(store);
        store = sotto_test_store(t, path);
        CHECK_OK(t, sotto_store_retain(store, SOTTO_TEST_NOW, &t->err));
        sotto_store_close(store);
    }
}

static sqlite3_vfs swapping;
static const char *swapped_in, *swapped_at;
static int opened;

/* Another process puts its file in place before ours is opened for the second time. */
static int open_swapped(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    if ((flags & SQLITE_OPEN_MAIN_DB) && ++opened == 2 && rename(swapped_in, swapped_at) != 0)
        return SQLITE_IOERR;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    return real->xOpen(real, name, file, flags, out);
}

static void a_fresh_file_of_another_process_is_not_set_aside(sotto_test *t)
{
    static const sotto_storage storage = {.vfs = "swapping"};
    const char *path = sotto_test_temp(t, "events.db"), *fresh = sotto_test_temp(t, "fresh.db");
    const sotto_store_options options = {.storage = &storage,
                                         .path = path,
                                         .streams = sotto_test_streams,
                                         .stream_count = SOTTO_TEST_STREAMS,
                                         .now = SOTTO_TEST_NOW};
    sotto_store *store = sotto_test_store(t, fresh);
    uint64_t events;

    sotto_test_fill(t, store, "s");
    sotto_store_close(store);
    FILE *file = fopen(path, "wb");
    CHECK(t, file && fputs("no database at all", file) > 0 && fclose(file) == 0);
    swapping = *sqlite3_vfs_find(NULL);
    swapping.pNext = NULL;
    swapping.zName = "swapping";
    swapping.xOpen = open_swapped;
    swapped_in = fresh;
    swapped_at = path;
    CHECK(t, sqlite3_vfs_register(&swapping, 0) == SQLITE_OK);
    CHECK_OK(t, sotto_store_open(&store, &options, &t->err));
    CHECK(t, sotto_store_set_aside(store) == NULL);
    CHECK_OK(t, sotto_store_count(store, "keyboard_ngrams", &events, &t->err));
    CHECK_EQUAL(t, 6, events);
    sotto_store_close(store);
    CHECK(t, sqlite3_vfs_unregister(&swapping) == SQLITE_OK);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_disk_forgets_what_was_not_synced),
        CASE(a_donation_is_synced_when_it_returns),
        CASE(no_committed_donation_is_lost_with_the_power),
        CASE(a_full_disk_loses_nothing_that_was_promised),
        CASE(one_failing_step_loses_nothing_that_was_promised),
        CASE(a_damaged_file_is_set_aside_through_the_hosts_own_rename),
        CASE(a_fresh_file_of_another_process_is_not_set_aside),
        CASE(a_rule_that_nobody_declared_is_refused),
        CASE(running_out_of_memory_is_an_error_at_every_allocation),
    };
    return RUN_TESTS(argc, argv, cases);
}
