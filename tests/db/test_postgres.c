/* PostgreSQL's own promises: lost connections, lost answers, deadlocks, and servers that would not sync. */
#define _XOPEN_SOURCE 700

#include "support/database.h"
#include "support/lossy_proxy.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- helpers ----------------------------------------------------------------------------------------- */

static const char *format(sotto_test *t, const char *pattern, const char *a, const char *b)
{
    char *out = sotto_arena_take(&t->arena, 512);

    CHECK(t, out != NULL);
    (void)snprintf(out, 512, pattern, a, b);
    return out;
}

static sotto_status add_one(sotto_tx *tx, sotto_err *err)
{
    return sotto_test_say(tx,
                          "INSERT INTO things (id, number) VALUES (1, 1) ON CONFLICT (id)"
                          " DO UPDATE SET number = things.number + 1",
                          err);
}

typedef struct attempt {
    unsigned runs;
    unsigned fatal; /* the connection dies in so many of them */
} attempt;

static sotto_status add_one_and_die(sotto_tx *tx, void *context, sotto_err *err)
{
    attempt *a = context;

    SOTTO_TRY(add_one(tx, err));
    if (++a->runs <= a->fatal)
        SOTTO_TRY(sotto_test_say(tx, "SELECT pg_terminate_backend(pg_backend_pid())", err));
    return SOTTO_OK;
}

static int64_t number(sotto_test *t, sotto_db *db)
{
    return sotto_test_ask_number(t, db, "SELECT number FROM things WHERE id = 1");
}

/* ---- connections ------------------------------------------------------------------------------------- */

static void a_connection_killed_in_a_transaction_is_made_anew(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    attempt a = {.fatal = 3};
    sotto_db_stats stats;

    CHECK_OK(t, sotto_db_run(db, add_one_and_die, &a, &t->err));
    CHECK_EQUAL(t, 4, a.runs);
    CHECK_EQUAL(t, 1, number(t, db));
    sotto_db_stats_get(db, &stats);
    CHECK_EQUAL(t, 3, stats.reconnects);
    sotto_db_close(db);
}

static void patience_ends(sotto_test *t)
{
    /* On a busy machine one new connection takes more than 50 ms. */
    const sotto_db_options options = {
        .address = sotto_test_address(t), .writers = 1, .patience_ms = 3000};
    attempt a = {.fatal = 1000000};
    sotto_db *db;

    CHECK_OK(t, sotto_db_open(&db, &options, &t->err));
    CHECK_OK(t, sotto_test_schema(db, &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_db_run(db, add_one_and_die, &a, &t->err));
    CHECK(t, a.runs > 1);
    a.fatal = 0; /* and the next one finds its way */
    CHECK_OK(t, sotto_db_run(db, add_one_and_die, &a, &t->err));
    CHECK_EQUAL(t, 1, number(t, db));
    sotto_db_close(db);
}

static sotto_status kill_victims(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)context;
    return sotto_test_say(tx,
                          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                          " WHERE application_name = 'victim'",
                          err);
}

static sotto_status wake_jobs(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)context;
    return sotto_tx_wake(tx, "jobs", err);
}

static void idle_connections_that_were_killed_are_made_anew(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *killer = sotto_test_db_at(t, address);
    sotto_db *db = sotto_test_db_at(t, format(t, "%s application_name=%s", address, "victim"));
    attempt a = {0};

    CHECK_OK(t, sotto_test_schema(db, &t->err));
    CHECK_OK(t, sotto_db_run(db, add_one_and_die, &a, &t->err));
    CHECK_EQUAL(t, 1, number(t, db));
    CHECK_OK(t, sotto_db_run(killer, kill_victims, NULL, &t->err));
    CHECK_EQUAL(t, 1, number(t, db));
    CHECK_OK(t, sotto_db_run(db, add_one_and_die, &a, &t->err));
    CHECK_EQUAL(t, 2, number(t, db));
    /* The listener came back too: wake-ups of others are heard again. */
    bool woken = false;
    for (int i = 0; i < 20 && !woken; i++) {
        uint64_t seen = sotto_db_woken(db, "jobs");
        CHECK_OK(t, sotto_db_run(killer, wake_jobs, NULL, &t->err));
        woken = sotto_db_wait(db, "jobs", seen, 500);
    }
    CHECK(t, woken);
    sotto_db_close(db);
    sotto_db_close(killer);
}

static void a_commit_wakes_other_processes(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *here = sotto_test_db_at(t, address), *there = sotto_test_db_at(t, address);

    /* A listener says hello when it begins. */
    CHECK(t, sotto_db_wait(there, "jobs", 0, 5000));
    uint64_t seen = sotto_db_woken(there, "jobs");
    CHECK_OK(t, sotto_db_run(here, wake_jobs, NULL, &t->err));
    CHECK(t, sotto_db_wait(there, "jobs", seen, 5000));
    sotto_db_close(here);
    sotto_db_close(there);
}

static void refused(sotto_test *t, const char *setting, const char *value)
{
    const sotto_db_options options = {
        .address = format(t, "host=%s user=sotto dbname=postgres %s password=hunter2",
                          getenv("SOTTO_POSTGRES_DIR"), format(t, "%s=%s", setting, value)),
        .patience_ms = 1};
    sotto_db *db;

    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_IO, sotto_db_open(&db, &options, &t->err));
    CHECK_REASON(t, format(t, "\"%s\" %s", value, "does not exist"));
    CHECK(t, !strstr(t->err.reason, "hunter2"));
}

static void the_servers_sentence_names_what_is_missing(sotto_test *t)
{
    refused(t, "dbname", "no_such_database");
    refused(t, "user", "nobody_here");
}

/* ---- servers of our own -------------------------------------------------------------------------------- */

static const char *start_server(sotto_test *t, const char *directory, const char *settings)
{
    const char *command =
        format(t, "SOTTO_POSTGRES_OPTIONS='%s' sh " SOTTO_POSTGRES_SCRIPT " start '%s'", settings,
               directory);
    char *address = sotto_arena_take(&t->arena, 256);
    FILE *out = popen(command, "r");

    CHECK(t, out && address && fgets(address, 256, out) != NULL && pclose(out) == 0);
    address[strcspn(address, "\n")] = 0;
    return address;
}

static void stop_server(sotto_test *t, const char *directory)
{
    CHECK(t, system(format(t, "sh " SOTTO_POSTGRES_SCRIPT " stop '%s'%s", directory, "")) == 0);
}

/* ---- a commit whose answer is lost --------------------------------------------------------------------- */

static void lose(sotto_test *t, const char *address, sotto_proxy_loss what, void (*then)(void),
                 unsigned runs)
{
    const char *directory = sotto_test_temp(t, "");
    char server[80];
    unsigned lost = sotto_proxy_lost();

    CHECK(t, sscanf(address, "host=%79s", server) == 1);
    sotto_proxy_start(t, directory, server);
    const sotto_db_options options = {
        .address = format(t, "host=%s %s", directory, strchr(address, ' ') + 1),
        .writers = 1,
        .patience_ms = 60000};
    sotto_db *db;
    attempt a = {0};
    CHECK_OK(t, sotto_db_open(&db, &options, &t->err));
    CHECK_OK(t, sotto_test_schema(db, &t->err));
    sotto_proxy_lose(what, then);
    CHECK_OK(t, sotto_db_run(db, add_one_and_die, &a, &t->err));
    CHECK_EQUAL(t, lost + 1, sotto_proxy_lost());
    CHECK_EQUAL(t, runs, a.runs);
    CHECK_EQUAL(t, 1, number(t, db)); /* adding is not idempotent: it happened once */
    sotto_db_close(db);
    sotto_proxy_stop(t);
}

static void a_commit_that_got_lost_is_run_again(sotto_test *t)
{
    lose(t, sotto_test_address(t), SOTTO_PROXY_LOSES_COMMIT, NULL, 2);
}

static void a_commit_whose_answer_got_lost_is_not_run_again(sotto_test *t)
{
    lose(t, sotto_test_address(t), SOTTO_PROXY_LOSES_ANSWER, NULL, 1);
}

static struct {
    const char *directory, *address;
} crashing;

static sotto_status do_nothing(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)context;
    return sotto_test_say(tx, "SELECT 1", err);
}

/* Numbers that had not reached the disk are given out again: others commit under them before anybody asks. */
static void crash(void)
{
    const sotto_db_options options = {.address = crashing.address, .writers = 1};
    sotto_db *db = NULL;
    char command[512];

    (void)snprintf(command, sizeof command, "sh " SOTTO_POSTGRES_SCRIPT " restart '%s'",
                   crashing.directory);
    bool good = system(command) == 0 && sotto_db_open(&db, &options, NULL) == SOTTO_OK;
    for (unsigned i = 0; i < 20; i++)
        good = good && sotto_db_run(db, do_nothing, NULL, NULL) == SOTTO_OK;
    if (!good)
        abort();
    sotto_db_close(db);
}

static void lose_and_crash(sotto_test *t, sotto_proxy_loss what, unsigned runs)
{
    crashing.directory = format(t, "%s-%s", getenv("SOTTO_POSTGRES_DIR"), "crashes");
    crashing.address = start_server(t, crashing.directory, "");
    lose(t, crashing.address, what, crash, runs);
    stop_server(t, crashing.directory);
}

static void a_commit_that_a_crash_took_is_run_again(sotto_test *t)
{
    lose_and_crash(t, SOTTO_PROXY_LOSES_COMMIT, 2);
}

static void a_commit_that_a_crash_left_is_not_run_again(sotto_test *t)
{
    lose_and_crash(t, SOTTO_PROXY_LOSES_ANSWER, 1);
}

/* ---- conflicts --------------------------------------------------------------------------------------- */

typedef struct duel {
    sotto_db *db;
    pthread_barrier_t *both;
    const char *first, *second;
    unsigned runs;
    sotto_status status;
} duel;

static sotto_status fight(sotto_tx *tx, void *context, sotto_err *err)
{
    duel *d = context;

    SOTTO_TRY(sotto_test_say(tx, (void *)(uintptr_t)d->first, err));
    if (d->runs++ == 0)
        (void)pthread_barrier_wait(d->both);
    return sotto_test_say(tx, (void *)(uintptr_t)d->second, err);
}

static void *fight_on(void *context)
{
    duel *d = context;

    d->status = sotto_db_run(d->db, fight, d, NULL);
    return NULL;
}

static void a_deadlock_is_run_again(sotto_test *t)
{
    static const char one[] = "UPDATE things SET number = number + 1 WHERE id = 1";
    static const char two[] = "UPDATE things SET number = number + 1 WHERE id = 2";
    sotto_db *db = sotto_test_db(t);
    pthread_barrier_t both;
    duel a = {db, &both, one, two, 0, SOTTO_BUG}, b = {db, &both, two, one, 0, SOTTO_BUG};
    pthread_t threads[2];

    for (int64_t i = 1; i <= 2; i++) {
        sotto_test_thing thing = {i, 0};
        CHECK_OK(t, sotto_db_run(db, sotto_test_put, &thing, &t->err));
    }
    CHECK(t, pthread_barrier_init(&both, NULL, 2) == 0);
    CHECK(t, pthread_create(&threads[0], NULL, fight_on, &a) == 0);
    CHECK(t, pthread_create(&threads[1], NULL, fight_on, &b) == 0);
    CHECK(t, pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
    CHECK(t, pthread_barrier_destroy(&both) == 0);
    CHECK_EQUAL(t, SOTTO_OK, a.status);
    CHECK_EQUAL(t, SOTTO_OK, b.status);
    /* More than 3 where the server, on a busy machine, ends both, which may then meet again. */
    CHECK(t, a.runs + b.runs >= 3);
    CHECK_EQUAL(t, 4,
                sotto_test_ask_number(t, db, "SELECT CAST(sum(number) AS BIGINT) FROM things"));
    sotto_db_close(db);
}

/* ---- durability -------------------------------------------------------------------------------------- */

static void commits_wait_for_the_disk_whatever_the_server_says(sotto_test *t)
{
    const char *address =
        format(t, "%s options=-csynchronous_commit=%s", getenv("SOTTO_POSTGRES"), "off");
    sotto_db *db = sotto_test_db_at(t, address);

    CHECK_EQUAL(t, 1,
                sotto_test_ask_number(
                    t, db, "SELECT CAST(current_setting('synchronous_commit') = 'on' AS INTEGER)"));
    sotto_db_close(db);
}

static void a_server_that_does_not_sync_is_refused(sotto_test *t)
{
    const char *directory = format(t, "%s-%s", getenv("SOTTO_POSTGRES_DIR"), "unsafe");
    const sotto_db_options options = {.address = start_server(t, directory, "-c fsync=off")};
    sotto_db *db;
    sotto_status status = sotto_db_open(&db, &options, &t->err);

    stop_server(t, directory);
    CHECK_EQUAL(t, SOTTO_DENIED, status);
}

/* ---- writers ------------------------------------------------------------------------------------------ */

enum { MEMBERS = 4 };

/* Ends well once all are there at the same time. */
static sotto_status meet(sotto_tx *tx, void *context, sotto_err *err)
{
    atomic_uint *there = context;

    (void)tx;
    atomic_fetch_add(there, 1);
    for (uint64_t until = 0; atomic_load(there) < MEMBERS && sotto_test_waits(&until, 5);)
        ;
    return atomic_load(there) >= MEMBERS ? SOTTO_OK : sotto_fail(err, SOTTO_STALE, "nobody came");
}

static int64_t connections_named_writers(sotto_test *t, sotto_db *watcher)
{
    return sotto_test_ask_number(
        t, watcher, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'writers'");
}

/* A process of the server for each is wasted on a command, and on a server that waits. */
static void writers_connect_when_they_have_work(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *watcher = sotto_test_db_at(t, address);
    sotto_db *db = sotto_test_db_at(t, format(t, "%s application_name=%s", address, "writers"));
    atomic_uint there = 0;
    sotto_db_job jobs[MEMBERS];

    for (size_t i = 0; i < MEMBERS; i++)
        jobs[i] = (sotto_db_job){.fn = meet, .context = &there};
    CHECK_EQUAL(t, 2, connections_named_writers(t, watcher)); /* a writer and the listener */
    CHECK_OK(t, sotto_test_run_at_once(db, jobs, MEMBERS));
    CHECK_EQUAL(t, MEMBERS + 1, connections_named_writers(t, watcher));
    sotto_db_close(db);
    sotto_db_close(watcher);
}

static void note_retry(void *context, const sotto_log_event *event)
{
    if (strcmp(event->name, "db.retry") == 0)
        atomic_fetch_add((atomic_uint *)context, 1);
}

static void note_end(void *context, sotto_status status, const sotto_err *err)
{
    (void)err;
    atomic_fetch_add((atomic_uint *)context, status == SOTTO_OK ? 1 : 0x10000);
}

static const char CONNECTIONS_OFF[] =
    "UPDATE pg_database SET datallowconn = false WHERE datname = 'postgres'";
static const char CONNECTIONS_ON[] =
    "UPDATE pg_database SET datallowconn = true WHERE datname = 'postgres'";

/* While the only other writer is held, jobs wait until a connection can be had. A second writer may start with the
 * first job already, so that none may connect before that. One may still be giving up when the next job comes, so that
 * more jobs follow. */
static void a_writer_that_could_not_connect_tries_again(sotto_test *t)
{
    const char *address = sotto_test_address(t);
    sotto_db *watcher = sotto_test_db_at(t, address), *db;
    sotto_test_gate g = SOTTO_TEST_GATE(SOTTO_OK);
    atomic_uint retries = 0, held = 0, ended = 0;
    unsigned posted = 0;
    const sotto_log_sink log = {.write = note_retry, .context = &retries};
    const sotto_db_options options = {.address = address, .writers = 2, .log = &log};
    sotto_db_job hold = {
        .fn = sotto_test_gate_hold, .context = &g, .done = note_end, .done_context = &held};
    sotto_test_thing things[MEMBERS];
    sotto_db_job jobs[MEMBERS];

    for (unsigned i = 0; i < MEMBERS; i++) {
        things[i] = (sotto_test_thing){i + 1, i + 1};
        jobs[i] = (sotto_db_job){
            .fn = sotto_test_put, .context = &things[i], .done = note_end, .done_context = &ended};
    }
    CHECK_OK(t, sotto_test_schema(watcher, &t->err));
    CHECK_OK(t, sotto_db_open(&db, &options, &t->err));
    sotto_test_do(t, watcher, CONNECTIONS_OFF);
    sotto_db_post(db, &hold);
    sotto_test_gate_await(&g);
    sotto_db_post(db, &jobs[posted++]);
    for (uint64_t until = 0; atomic_load(&retries) == 0 && sotto_test_waits(&until, 20);)
        ;
    CHECK(t, atomic_load(&retries) > 0);
    CHECK_EQUAL(t, 0, atomic_load(&ended));
    sotto_test_do(t, watcher, CONNECTIONS_ON);
    for (uint64_t until = 0; atomic_load(&ended) < posted && sotto_test_waits(&until, 100);)
        if (posted < MEMBERS)
            sotto_db_post(db, &jobs[posted++]);
    CHECK_EQUAL(t, posted, atomic_load(&ended));
    CHECK_EQUAL(t, 0, atomic_load(&held));
    sotto_test_gate_open(&g);
    sotto_db_close(db);
    sotto_db_close(watcher);
}

/* ---- the listener ------------------------------------------------------------------------------------- */

typedef struct changes {
    atomic_uint lost, back, unexplained;
} changes;

static void note_change(void *context, const sotto_log_event *event)
{
    changes *c = context;

    if (strcmp(event->name, "db.listener_back") == 0)
        atomic_fetch_add(&c->back, 1);
    if (strcmp(event->name, "db.listener_lost") != 0)
        return;
    if (event->count != 1 || event->fields[0].value.text[0] == 0)
        atomic_fetch_add(&c->unexplained, 1);
    atomic_fetch_add(&c->lost, 1);
}

static bool soon(const atomic_uint *count)
{
    for (uint64_t until = 0; atomic_load(count) == 0 && sotto_test_waits(&until, 20);)
        ;
    return atomic_load(count) > 0;
}

/* Down for as long as several tries take, then another server in its place. */
static void a_listener_tells_of_changes_and_not_of_every_try(sotto_test *t)
{
    const char *directory = format(t, "%s-%s", getenv("SOTTO_POSTGRES_DIR"), "away");
    const struct timespec tries = {2, 0};
    changes seen = {0};
    const sotto_log_sink log = {.write = note_change, .context = &seen};
    const sotto_db_options options = {.address = start_server(t, directory, ""), .log = &log};
    sotto_db *db;

    CHECK_OK(t, sotto_db_open(&db, &options, &t->err));
    CHECK_OK(t, sotto_db_run(db, do_nothing, NULL, &t->err));
    stop_server(t, directory);
    CHECK(t, soon(&seen.lost));
    (void)nanosleep(&tries, NULL);
    CHECK_EQUAL(t, 1, atomic_load(&seen.lost));
    CHECK_EQUAL(t, 0, atomic_load(&seen.back));
    (void)start_server(t, directory, "");
    CHECK(t, soon(&seen.back));
    CHECK_EQUAL(t, 1, atomic_load(&seen.back));
    CHECK_EQUAL(t, 0, atomic_load(&seen.unexplained));
    sotto_db_close(db);
    stop_server(t, directory);
}

static void a_backup_is_left_to_the_servers_own_tool(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    CHECK_STATUS(t, SOTTO_DENIED, sotto_db_backup(db, sotto_test_temp(t, "copy"), &t->err));
    CHECK_REASON(t, "pg_dump");
    sotto_db_close(db);
}

/* Without an index, and with sequential scans priced out of reach, every query seems worth it. */
static void no_query_is_compiled(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);

    CHECK_EQUAL(t, 1,
                sotto_test_ask_number(
                    t, db, "SELECT CASE current_setting('jit') WHEN 'off' THEN 1 ELSE 0 END"));
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_servers_sentence_names_what_is_missing),
        CASE(no_query_is_compiled),
        CASE(a_connection_killed_in_a_transaction_is_made_anew),
        CASE(patience_ends),
        CASE(idle_connections_that_were_killed_are_made_anew),
        CASE(a_commit_wakes_other_processes),
        CASE(a_commit_that_got_lost_is_run_again),
        CASE(a_commit_whose_answer_got_lost_is_not_run_again),
        CASE(a_commit_that_a_crash_took_is_run_again),
        CASE(a_commit_that_a_crash_left_is_not_run_again),
        CASE(a_deadlock_is_run_again),
        CASE(commits_wait_for_the_disk_whatever_the_server_says),
        CASE(a_server_that_does_not_sync_is_refused),
        CASE(writers_connect_when_they_have_work),
        CASE(a_writer_that_could_not_connect_tries_again),
        CASE(a_listener_tells_of_changes_and_not_of_every_try),
        CASE(a_backup_is_left_to_the_servers_own_tool),
    };
    return RUN_TESTS(argc, argv, cases);
}
