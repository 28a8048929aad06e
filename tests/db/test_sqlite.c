/* SQLite's own promises: what was acknowledged survives the power, and one sync serves many. */
#define _DEFAULT_SOURCE

#include "support/database.h"
#include "support/powerloss_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SINGLES = 3, GROUP = 4, MOST_STEPS = 2000 };

/* ---- a short life, and what was promised in it -------------------------------------------------------- */

typedef struct promise {
    bool single[SINGLES];
    bool group[GROUP];
    bool tried_group;
} promise;

typedef struct finished {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned count;
} finished;

static void note_done(void *context, sotto_status status, const sotto_err *err)
{
    finished *f = context;

    (void)status;
    (void)err;
    (void)pthread_mutex_lock(&f->lock);
    f->count++;
    (void)pthread_cond_signal(&f->moved);
    (void)pthread_mutex_unlock(&f->lock);
}

/* Holds the writer at a gate, posts, opens the gate: all of them make one transaction. */
static void run_group(sotto_db *db, sotto_db_job *jobs, unsigned count)
{
    sotto_test_gate g = SOTTO_TEST_GATE(SOTTO_STALE);
    finished f = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    sotto_db_job first = {
        .fn = sotto_test_gate_hold, .context = &g, .done = note_done, .done_context = &f};

    sotto_db_post(db, &first);
    sotto_test_gate_await(&g);
    for (unsigned i = 0; i < count; i++) {
        jobs[i].done = note_done;
        jobs[i].done_context = &f;
        sotto_db_post(db, &jobs[i]);
    }
    sotto_test_gate_open(&g);
    (void)pthread_mutex_lock(&f.lock);
    while (f.count < count + 1)
        (void)pthread_cond_wait(&f.moved, &f.lock);
    (void)pthread_mutex_unlock(&f.lock);
}

static void put_group(sotto_db *db, promise *p)
{
    sotto_test_thing things[GROUP];
    sotto_db_job jobs[GROUP];

    for (int64_t i = 0; i < GROUP; i++) {
        things[i] = (sotto_test_thing){100 + i, i};
        jobs[i] = (sotto_db_job){.fn = sotto_test_put, .context = &things[i]};
    }
    p->tried_group = true;
    run_group(db, jobs, GROUP);
    for (size_t i = 0; i < GROUP; i++)
        p->group[i] = jobs[i].status == SOTTO_OK;
}

static sotto_status open_on_disk(sotto_db **db, const char *path, sotto_err *err)
{
    char address[300];
    const sotto_db_options options = {.address = address,
                                      .vfs = sotto_powerloss_storage.vfs,
                                      .patience_ms = 1,
                                      .checkpoint_pages = 64};

    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    return sotto_db_open(db, &options, err);
}

/* Goes on after a failure, as a server would. */
static promise live_a_day(const char *path)
{
    promise p = {0};
    sotto_db *db;

    if (open_on_disk(&db, path, NULL) != SOTTO_OK)
        return p;
    if (sotto_test_schema(db, NULL) == SOTTO_OK) {
        for (int64_t i = 0; i < SINGLES; i++) {
            sotto_test_thing thing = {i, i};
            p.single[i] = sotto_db_run(db, sotto_test_put, &thing, NULL) == SOTTO_OK;
            if (i == 0)
                put_group(db, &p);
        }
    }
    sotto_db_close(db);
    return p;
}

static void check_promise(sotto_test *t, const char *path, const promise *p)
{
    sotto_db *db;
    char sql[64];

    CHECK_OK(t, open_on_disk(&db, path, &t->err));
    CHECK_OK(t, sotto_test_schema(db, &t->err));
    for (int i = 0; i < SINGLES; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM things WHERE id = %d", i);
        CHECK(t, !p->single[i] || sotto_test_ask_number(t, db, sql) == 1);
    }
    for (int i = 0; i < GROUP; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM things WHERE id = %d", 100 + i);
        CHECK(t, !p->group[i] || sotto_test_ask_number(t, db, sql) == 1);
    }
    sotto_test_thing more = {200, 1};
    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &more, &t->err));
    sotto_db_close(db);
}

static void start_over(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[300];

        (void)snprintf(name, sizeof name, "%s%s", path, endings[i]);
        (void)unlink(name);
    }
    sotto_powerloss_start();
}

static bool kept_all(const promise *p)
{
    bool all = true;

    for (size_t i = 0; i < SINGLES; i++)
        all = all && p->single[i];
    for (size_t i = 0; i < GROUP; i++)
        all = all && p->group[i];
    return all;
}

static void nothing_acknowledged_is_lost_with_the_power(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");

    start_over(path);
    promise whole = live_a_day(path);
    CHECK(t, kept_all(&whole));
    int64_t steps = (int64_t)sotto_powerloss_steps();
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

static void fail_at_every_step(sotto_test *t, bool full, bool stays)
{
    const char *path = sotto_test_temp(t, "store.db");

    start_over(path);
    (void)live_a_day(path);
    int64_t steps = (int64_t)sotto_powerloss_steps();
    for (int64_t at = 0; at <= steps; at++) {
        start_over(path);
        sotto_powerloss_fail_at(at, full, stays);
        promise p = live_a_day(path);
        /* One failure stops a function that is alone; of a group, each gets another chance by itself. */
        for (size_t i = 0; i < GROUP && !stays && p.tried_group; i++)
            CHECK(t, p.group[i]);
        sotto_powerloss_fail_at(-1, false, false);
        check_promise(t, path, &p);
    }
}

static void a_failing_disk_loses_nothing_acknowledged(sotto_test *t)
{
    fail_at_every_step(t, false, false);
    fail_at_every_step(t, false, true);
}

static void a_full_disk_loses_nothing_acknowledged(sotto_test *t)
{
    fail_at_every_step(t, true, false);
    fail_at_every_step(t, true, true);
}

static sotto_db *open_fresh(sotto_test *t, const char *path)
{
    sotto_db *db;

    start_over(path);
    CHECK_OK(t, open_on_disk(&db, path, &t->err));
    CHECK_OK(t, sotto_test_schema(db, &t->err));
    return db;
}

static void a_store_recovers_when_the_disk_has_room_again(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sotto_test_thing one = {1, 1};
    sotto_db *db;

    db = open_fresh(t, path);
    sotto_powerloss_fail_at((int64_t)sotto_powerloss_steps(), true, true);
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(t, SOTTO_IO, sotto_db_run(db, sotto_test_put, &one, &t->err));
    sotto_powerloss_fail_at(-1, false, false);
    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_ask_number(t, db, "SELECT count(*) FROM things"));
    sotto_db_close(db);
}

/* ---- syncs ------------------------------------------------------------------------------------------- */

static sotto_status put_large(sotto_tx *tx, void *context, sotto_err *err)
{
    static const uint8_t zeros[100 * 1024];
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "INSERT INTO things (id, body) VALUES (?1, ?2)", err));
    sotto_sql_int(&q, 1, *(int64_t *)context);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(zeros, sizeof zeros));
    return sotto_sql_run(&q, NULL, err);
}

static void a_function_is_synced_when_it_returns(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sotto_test_thing one = {1, 1};
    sotto_db *db;

    db = open_fresh(t, path);
    for (one.id = 0; one.id < 5; one.id++) {
        uint64_t syncs = sotto_powerloss_syncs();

        CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
        CHECK(t,
              sotto_powerloss_syncs() > syncs); /* what waits in memory is not on the disk either */
        CHECK_EQUAL(t, 0, sotto_powerloss_unsynced(""));
    }
    sotto_db_close(db);
}

/* The count in the statistics is worked out, not measured: here it meets the disk's own. */
static void syncs_are_counted_as_the_disk_counts_them(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    sotto_db_stats before, after;
    sotto_db *db;

    db = open_fresh(t, path);
    sotto_db_stats_get(db, &before);
    uint64_t real = sotto_powerloss_syncs();
    for (int64_t i = 0; i < 20; i++) { /* several checkpoints */
        sotto_test_thing thing = {100 + i, i};
        CHECK_OK(t, sotto_db_run(db, put_large, &i, &t->err));
        CHECK_OK(t, sotto_db_run(db, sotto_test_put, &thing, &t->err));
    }
    /* One more, so that the checkpoint behind the last one has been counted as well. */
    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &(sotto_test_thing){300, 1}, &t->err));
    sotto_db_stats_get(db, &after);
    CHECK(t, after.syncs - before.syncs > 41 + 8);
    CHECK_EQUAL(t, sotto_powerloss_syncs() - real, after.syncs - before.syncs);
    sotto_db_close(db);
}

/* Beside a writer that never rests: a WAL that nobody copied to its end would grow as long as the writing goes on. */
static void the_wal_stays_small_while_others_write(sotto_test *t)
{
    enum { PAGES = 64, PAGE = 4096 };
    const char *path = sotto_test_temp(t, "store.db");
    char address[300], wal[300];
    struct stat file = {0};
    sotto_db *db;

    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    (void)snprintf(wal, sizeof wal, "%s-wal", path);
    CHECK_OK(t,
             sotto_db_open(&db, &(sotto_db_options){.address = address, .checkpoint_pages = PAGES},
                           &t->err));
    CHECK_OK(t, sotto_test_schema(db, &t->err));
    for (int64_t i = 0; i < 400; i++)
        CHECK_OK(t, sotto_db_run(db, put_large, &i, &t->err));
    CHECK_EQUAL(t, 0, stat(wal, &file));
    CHECK(t, file.st_size < 16 * PAGES * PAGE);
    sotto_db_close(db);
}

static void one_sync_serves_a_whole_group(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    static sotto_test_thing things[200];
    static sotto_db_job jobs[200];
    sotto_db_stats before, after;
    sotto_db *db;

    db = open_fresh(t, path);
    for (int64_t i = 0; i < 200; i++) {
        things[i] = (sotto_test_thing){i, i};
        jobs[i] = (sotto_db_job){.fn = sotto_test_put, .context = &things[i]};
    }
    sotto_db_stats_get(db, &before);
    uint64_t real = sotto_powerloss_syncs();
    run_group(db, jobs, 200);
    sotto_db_stats_get(db, &after);
    CHECK_EQUAL(t, 1, after.transactions - before.transactions);
    CHECK_EQUAL(t, 200, after.functions - before.functions);
    CHECK_EQUAL(t, 200, after.largest);
    CHECK_EQUAL(t, 1, sotto_powerloss_syncs() - real);
    sotto_db_close(db);
}

/* ---- files ------------------------------------------------------------------------------------------- */

static mode_t rights(const char *path, const char *ending)
{
    char name[300];
    struct stat info;

    (void)snprintf(name, sizeof name, "%s%s", path, ending);
    return stat(name, &info) == 0 ? info.st_mode & 0777 : 0;
}

static sotto_db *open_file(sotto_test *t, const char *path)
{
    char address[300];

    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    return sotto_test_db_at(t, address);
}

static void files_are_their_owners_alone(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    mode_t before = umask(0);
    sotto_db *db = open_file(t, path);

    CHECK_OK(t, sotto_test_schema(db, &t->err));
    (void)umask(before);
    CHECK_EQUAL(t, 0600, rights(path, ""));
    CHECK_EQUAL(t, 0600, rights(path, "-wal"));
    sotto_db_close(db);
}

static void a_file_of_others_is_refused(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    char address[300];
    const sotto_db_options options = {.address = address};
    sqlite3 *raw;
    sotto_db *db;

    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    CHECK(t, sqlite3_open(path, &raw) == SQLITE_OK);
    CHECK(t, sqlite3_exec(raw, "CREATE TABLE theirs (x)", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(t, sqlite3_close(raw) == SQLITE_OK);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_db_open(&db, &options, &t->err));
    FILE *out = fopen(path, "wb");
    CHECK(t, out && fputs("this is no database, and it is long enough to be sure of that: 100 bytes"
                          " are the least that a header has, or so they say",
                          out) >= 0);
    CHECK(t, fclose(out) == 0);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_db_open(&db, &options, &t->err));
    CHECK(t, db == NULL);
}

typedef struct writer {
    sotto_db *db;
    _Atomic bool stop;
    int64_t written;
} writer;

static void *write_on(void *context)
{
    writer *w = context;

    for (int64_t i = 1000; !atomic_load(&w->stop); i++) {
        sotto_test_thing thing = {i, i};
        w->written += sotto_db_run(w->db, sotto_test_put, &thing, NULL) == SOTTO_OK;
    }
    return NULL;
}

static void a_backup_is_whole_while_others_write(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "copy.db");
    writer w = {.db = open_file(t, sotto_test_temp(t, "store.db"))};
    pthread_t thread;

    CHECK_OK(t, sotto_test_schema(w.db, &t->err));
    for (int64_t i = 0; i < 50; i++) {
        sotto_test_thing thing = {i, i};
        CHECK_OK(t, sotto_db_run(w.db, sotto_test_put, &thing, &t->err));
    }
    CHECK(t, pthread_create(&thread, NULL, write_on, &w) == 0);
    CHECK_OK(t, sotto_db_backup(w.db, path, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_db_backup(w.db, path, &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_db_backup(w.db, "/no/such/directory/copy.db", &t->err));
    atomic_store(&w.stop, true);
    CHECK(t, pthread_join(thread, NULL) == 0);
    sotto_db_close(w.db);
    CHECK_EQUAL(t, 0600, rights(path, ""));
    sotto_db *copy = open_file(t, path);
    CHECK_EQUAL(t, 50, sotto_test_ask_number(t, copy, "SELECT count(*) FROM things WHERE id < 50"));
    CHECK_OK(t, sotto_test_schema(copy, &t->err));
    sotto_db_close(copy);
}

static void a_busy_file_is_waited_for(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    char address[300];
    const sotto_db_options options = {.address = address, .patience_ms = 1};
    sotto_test_thing one = {1, 1};
    sotto_db *db;
    sqlite3 *raw;

    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    CHECK_OK(t, sotto_db_open(&db, &options, &t->err));
    CHECK_OK(t, sotto_test_schema(db, &t->err));
    CHECK(t, sqlite3_open(path, &raw) == SQLITE_OK);
    CHECK(t, sqlite3_exec(raw, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    CHECK_STATUS(t, SOTTO_IO, sotto_db_run(db, sotto_test_put, &one, &t->err));
    CHECK(t, sqlite3_exec(raw, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(t, sqlite3_close(raw) == SQLITE_OK);
    CHECK_OK(t, sotto_db_run(db, sotto_test_put, &one, &t->err));
    sotto_db_close(db);
}

/* ---- erasing ------------------------------------------------------------------------------------------------------ */

enum { KEYS = 300, KEY = 76 };

/* Bytes that stand nowhere else. */
static void key_of(uint8_t out[KEY], int64_t id)
{
    for (size_t i = 0; i < KEY; i++)
        out[i] =
            (uint8_t)(31 + 7 * (size_t)id + 13 * i + ((size_t)id * i >> 3) + (size_t)(id >> 3));
}

static sotto_status put_key(sotto_tx *tx, void *context, sotto_err *err)
{
    const int64_t *id = context;
    uint8_t key[KEY];
    sotto_sql q;

    key_of(key, *id);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "INSERT INTO things (id, body) VALUES (?1, ?2)", err));
    sotto_sql_int(&q, 1, *id);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(key, sizeof key));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status erase_keys(sotto_tx *tx, void *context, sotto_err *err)
{
    const int64_t *below = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "DELETE FROM things WHERE id < ?1", err));
    sotto_sql_int(&q, 1, *below);
    return sotto_sql_erase(&q, NULL, err);
}

/* How many of the keys from `first` to `end` stand anywhere in the file; one that does not exist has none. */
static unsigned keys_in(sotto_test *t, const char *path, const char *suffix, int64_t first,
                        int64_t end)
{
    static uint8_t all[4 << 20];
    char name[300];
    unsigned found = 0;
    size_t size;
    FILE *file;

    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    file = fopen(name, "rb");
    if (!file)
        return 0;
    size = fread(all, 1, sizeof all, file);
    CHECK(t, size < sizeof all);
    (void)fclose(file);
    for (int64_t id = first; id < end; id++) {
        uint8_t key[KEY];

        key_of(key, id);
        for (const uint8_t *at = all; size - (size_t)(at - all) >= KEY; at++) {
            at = memchr(at, key[0], size - (size_t)(at - all) - KEY + 1);
            if (!at)
                break;
            if (memcmp(at, key, KEY) == 0) {
                found++;
                break;
            }
        }
    }
    return found;
}

/* Beside work that goes on, with no restart: neither the file nor the WAL has a byte of them. */
static void erased_keys_are_nowhere_in_the_files(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "store.db");
    int64_t below = KEYS - 10, more = KEYS;
    char address[300];
    unsigned left = KEYS;
    sotto_db *db;

    (void)snprintf(address, sizeof address, "sqlite:%s", path);
    CHECK_OK(t,
             sotto_db_open(&db, &(sotto_db_options){.address = address, .erase_ms = 50}, &t->err));
    CHECK_OK(t, sotto_test_schema(db, &t->err));
    for (int64_t i = 0; i < KEYS; i++)
        CHECK_OK(t, sotto_db_run(db, put_key, &i, &t->err));
    CHECK(t, keys_in(t, path, "", 0, KEYS) + keys_in(t, path, "-wal", 0, KEYS) >= KEYS);
    for (uint64_t until = 0; keys_in(t, path, "-wal", 0, KEYS) > 0 && sotto_test_waits(&until, 10);)
        ; /* the first cut: all of them are in the file now */
    CHECK_OK(t, sotto_db_run(db, erase_keys, &below, &t->err));
    for (uint64_t i = 0, until = 0; left > 0 && sotto_test_waits(&until, 100); i++) {
        if (i % 10 == 0 && i < 100) { /* too few to overwrite the whole WAL by themselves */
            CHECK_OK(t, sotto_db_run(db, put_key, &more, &t->err));
            more++;
        }
        left = keys_in(t, path, "", 0, below) + keys_in(t, path, "-wal", 0, below);
    }
    CHECK_EQUAL(t, 0, left);
    CHECK(t, keys_in(t, path, "", below, KEYS) + keys_in(t, path, "-wal", below, KEYS) >= 10);
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(nothing_acknowledged_is_lost_with_the_power),
        CASE(a_failing_disk_loses_nothing_acknowledged),
        CASE(a_full_disk_loses_nothing_acknowledged),
        CASE(a_store_recovers_when_the_disk_has_room_again),
        CASE(a_function_is_synced_when_it_returns),
        CASE(syncs_are_counted_as_the_disk_counts_them),
        CASE(the_wal_stays_small_while_others_write),
        CASE(one_sync_serves_a_whole_group),
        CASE(files_are_their_owners_alone),
        CASE(a_file_of_others_is_refused),
        CASE(a_backup_is_whole_while_others_write),
        CASE(a_busy_file_is_waited_for),
        CASE(erased_keys_are_nowhere_in_the_files),
    };
    return RUN_TESTS(argc, argv, cases);
}
