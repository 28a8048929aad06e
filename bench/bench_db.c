/* How many functions a second 64 callers get through a store, and how many syncs that takes. Callers wait most of the
 * time, so this is wall time, unlike the other rooms'; it runs on the file system that holds TMPDIR. */
#define _XOPEN_SOURCE 700

#include "base/clock.h"
#include "bench.h"
#include "db/migrate.h"
#include "db/sealed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLERS = 64, BODY = 256 };

typedef struct caller {
    sotto_db *db;
    _Atomic bool *stop;
    pthread_t thread;
    uint64_t done;
    int64_t next;
    bool failed;
} caller;

/* A report's worth: one row with a body. */
static sotto_status put(sotto_tx *tx, void *context, sotto_err *err)
{
    static const uint8_t body[BODY];
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "INSERT INTO bench (id, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING", err));
    sotto_sql_int(&q, 1, *(int64_t *)context);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(body, sizeof body));
    return sotto_sql_run(&q, NULL, err);
}

static void *call(void *context)
{
    caller *c = context;

    while (!atomic_load(c->stop) && !c->failed) {
        c->failed = sotto_db_run(c->db, put, &c->next, NULL) != SOTTO_OK;
        c->next += CALLERS;
        c->done++;
    }
    return NULL;
}

static void run_callers(const sotto_bench *b, sotto_db *db, const char *name)
{
    static caller callers[CALLERS];
    _Atomic bool stop = false;
    sotto_db_stats before, after;
    struct timespec pause = {.tv_sec = (time_t)b->seconds,
                             .tv_nsec = (long)((b->seconds - (double)(time_t)b->seconds) * 1e9)};
    uint64_t done = 0;
    char line[96];

    sotto_db_stats_get(db, &before);
    uint64_t start = sotto_clock_monotonic(&sotto_clock_system);
    for (int64_t i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.db = db, .stop = &stop, .next = i};
        sotto_bench_expect(pthread_create(&callers[i].thread, NULL, call, &callers[i]) == 0, name);
    }
    (void)nanosleep(&pause, NULL);
    atomic_store(&stop, true);
    for (size_t i = 0; i < CALLERS; i++) {
        sotto_bench_expect(pthread_join(callers[i].thread, NULL) == 0 && !callers[i].failed, name);
        done += callers[i].done;
    }
    double seconds = (double)(sotto_clock_monotonic(&sotto_clock_system) - start) / 1e9;
    sotto_db_stats_get(db, &after);
    (void)snprintf(line, sizeof line, "%s/functions", name);
    sotto_bench_note(b, line, "/s", (double)done / seconds);
    if (after.syncs == before.syncs)
        return; /* the server's secret */
    (void)snprintf(line, sizeof line, "%s/syncs", name);
    sotto_bench_note(b, line, "per 1000 functions",
                     1000.0 * (double)(after.syncs - before.syncs) / (double)done);
}

static void bench_store(const sotto_bench *b, const char *name, const char *address)
{
    static const sotto_migration steps[] = {
        {1, "CREATE TABLE bench (id {int} PRIMARY KEY, body {bytes}) {strict};"}};
    const sotto_db_options options = {.address = address, .writers = 8};
    sotto_db *db;

    sotto_bench_expect(sotto_db_open(&db, &options, NULL) == SOTTO_OK, name);
    sotto_bench_expect(sotto_db_migrate(db, steps, 1, NULL) == SOTTO_OK, name);
    run_callers(b, db, name);
    sotto_db_close(db);
}

static void bench_sqlite(const sotto_bench *b)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    const char *base = getenv("TMPDIR");
    char directory[256], address[300], name[300];

    (void)snprintf(directory, sizeof directory, "%s/sotto-bench-XXXXXX", base ? base : "/tmp");
    sotto_bench_expect(mkdtemp(directory) != NULL, "a temporary directory");
    (void)snprintf(address, sizeof address, "sqlite:%s/db", directory);
    bench_store(b, "db/sqlite/64-callers", address);
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof name, "%s/db%s", directory, endings[i]);
        (void)unlink(name);
    }
    (void)rmdir(directory);
}

typedef struct sealing {
    sotto_column_keys keys;
    sotto_column_place place;
    uint8_t plain[BODY];
} sealing;

static void seal_column(void *context)
{
    const sealing *s = context;
    uint8_t room[BODY + SOTTO_COLUMN_OVERHEAD];
    sotto_buf out = sotto_buf_over(room, sizeof room);

    sotto_bench_expect(sotto_column_seal(&out, &s->keys, &s->place,
                                         sotto_bytes_of(s->plain, sizeof s->plain),
                                         NULL) == SOTTO_OK,
                       "seal a column");
}

void sotto_bench_db(const sotto_bench *b)
{
    sealing s = {.keys = {.count = 1}, .place = {"bench", "body", {(const uint8_t *)"1", 1}}};

    (void)sotto_bench_run(b, "db/seal-column/256", seal_column, &s, 1);
    if (sotto_bench_wanted(b, "db/sqlite/64-callers/functions") ||
        sotto_bench_wanted(b, "db/sqlite/64-callers/syncs"))
        bench_sqlite(b);
    /* tests/support/postgres.sh run build/release/sotto-bench --filter db/ */
    if (getenv("SOTTO_POSTGRES") && sotto_bench_wanted(b, "db/postgres/64-callers/functions"))
        bench_store(b, "db/postgres/64-callers", getenv("SOTTO_POSTGRES"));
}
