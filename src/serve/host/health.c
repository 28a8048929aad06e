#define _POSIX_C_SOURCE 200809L
#include "serve/host/health.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rule.h"
#include "base/wait.h"
#include "serve/host/keys.h"
#include "serve/leader/collection.h"
#include "serve/leader/unreadable.h"
#include "serve/tasks/erase.h"
#include "serve/tasks/rate.h"
#include "serve/tasks/schema.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LOOK_EVERY_MS = 1000, RELEASES_EVERY = 10 };

/* Whoever looks is inside the store's patience while a database is gone: a look that does not come back says as much as one that
 * fails. Two looks may be late, since a busy machine makes them so. */
static const uint64_t SEEN_FOR_NS = 3 * UINT64_C(1000000000);

struct sotto_health {
    sotto_server *server;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool stopping;
    sotto_health_view view;
    uint64_t seen;   /* by the system's monotonic clock: when a look last succeeded */
    int64_t rotated; /* when keys were last looked after */
    unsigned looks;
};

/* ---- looking ------------------------------------------------------------------------------------------------------ */

typedef struct counting {
    sotto_role role;
    sotto_tasks *tasks;
    bool releases; /* these too: there may be many */
    sotto_health_view view;
} counting;

static sotto_status count_tasks(sotto_tx *tx, counting *c, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "SELECT count(*), CAST(coalesce(sum(CASE WHEN coalesce(population, 0)"
                          " = 0 THEN 1 ELSE 0 END), 0) AS BIGINT) FROM task WHERE role = ?1"
                          " AND n NOT IN (SELECT task FROM retired)",
                          err));
    sotto_sql_int(&q, 1, (int64_t)c->role);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    c->view.tasks = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    c->view.without_population = row ? (uint64_t)sotto_sql_column_int(&q, 1) : 0;
    return sotto_sql_run(&q, NULL, err);
}

/* A job that is held for the first time is on its way; any other was given back, or left behind by a process that ended. */
static sotto_status count_unanswered(sotto_tx *tx, counting *c, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT count(*) FROM sotto_lease WHERE queue = ?1 AND"
                                " (held = 0 OR attempts > 1)",
                                err));
    sotto_sql_int(&q, 1, SOTTO_QUEUE_JOBS);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    c->view.unanswered = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    /* Task by task, by the index on open jobs: joined to its task, SQLite would read every job there ever was. */
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT CAST(coalesce(sum((SELECT sum(j.reports) FROM job j WHERE"
                                " j.task = t.n AND j.state = ?2)), 0) AS BIGINT) FROM task t"
                                " WHERE t.role = ?1",
                                err));
    sotto_sql_int(&q, 1, (int64_t)c->role);
    sotto_sql_int(&q, 2, SOTTO_JOB_SENT);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    c->view.in_jobs = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status count_releases(sotto_tx *tx, counting *c, sotto_err *err)
{
    sotto_sql q;
    bool row;

    for (unsigned i = 0; i < SOTTO_HEALTH_STATES; i++)
        c->view.releases[i] = 0;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT state, count(*) FROM release GROUP BY state", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint64_t state = (uint64_t)sotto_sql_column_int(&q, 0);

        if (state < SOTTO_HEALTH_STATES)
            c->view.releases[state] = (uint64_t)sotto_sql_column_int(&q, 1);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

static sotto_status count_all(sotto_tx *tx, void *context, sotto_err *err)
{
    counting *c = context;

    SOTTO_TRY(count_tasks(tx, c, err));
    SOTTO_TRY(sotto_rate_count(tx, &c->view.held, c->role, err));
    SOTTO_TRY(sotto_unreadable_count(tx, &c->view.unreadable, err));
    if (c->role == SOTTO_LEADER)
        SOTTO_TRY(count_unanswered(tx, c, err));
    if (c->role == SOTTO_LEADER && c->releases)
        SOTTO_TRY(sotto_stalled_look(tx, &c->view.stalled, c->tasks, err));
    return c->releases ? count_releases(tx, c, err) : SOTTO_OK;
}

/* Another replica may have asked for it last. */
static void say_silence(const sotto_leader *leader, sotto_stalled *stalled)
{
    char reason[SOTTO_LEADER_REASON];

    if (sotto_collections_last_retry(leader->collections, stalled->n, reason))
        (void)snprintf(stalled->why, sizeof stalled->why, "%s", reason);
    else
        (void)snprintf(stalled->why, sizeof stalled->why, "the helper has not given its share");
}

static void look_at_database(sotto_health *health)
{
    sotto_server *s = health->server;
    counting c = {.role = s->options.role,
                  .tasks = s->tasks,
                  .releases = health->looks++ % RELEASES_EVERY == 0};
    bool reached = sotto_db_read(s->db, count_all, &c, NULL) == SOTTO_OK;
    uint64_t broken = sotto_tasks_broken(s->tasks);
    uint64_t known = sotto_tasks_count(s->tasks) + broken;

    if (s->leader)
        sotto_leader_last_retry(s->leader, c.view.retry);
    if (s->leader && c.view.stalled.closed)
        say_silence(s->leader, &c.view.stalled);
    (void)pthread_mutex_lock(&health->lock);
    health->view.database = reached;
    if (reached) {
        health->seen = sotto_clock_monotonic(&sotto_clock_system);
        health->view.tasks = c.view.tasks;
        health->view.unpaired = c.view.tasks > known ? c.view.tasks - known : 0;
        health->view.broken = broken;
        health->view.without_population = c.view.without_population;
        health->view.held = c.view.held;
        health->view.unreadable = c.view.unreadable;
        health->view.unanswered = c.view.unanswered;
        health->view.in_jobs = c.view.in_jobs;
        memcpy(health->view.retry, c.view.retry, sizeof c.view.retry);
        if (c.releases)
            health->view.stalled = c.view.stalled;
        for (unsigned i = 0; c.releases && i < SOTTO_HEALTH_STATES; i++)
            health->view.releases[i] = c.view.releases[i];
    }
    (void)pthread_mutex_unlock(&health->lock);
}

/* A clock that was set back counts as time passed: nothing is lost by looking. */
static void look_after_keys(sotto_health *health)
{
    sotto_server *s = health->server;
    int64_t now = sotto_server_seconds(s);
    sotto_err err = {0};

    if (now >= health->rotated && now < health->rotated + SOTTO_KEYS_EVERY_S)
        return;
    health->rotated = now;
    if (sotto_keys_rotate(s->keys, now, &err) != SOTTO_OK)
        sotto_log(&s->options.log, SOTTO_LOG_WARNING, "keys.not_rotated",
                  sotto_log_text("reason", err.reason));
}

/* One pass and no more: a late look would call the database unreachable. The next one goes on. */
static void forget_shares(sotto_health *health)
{
    bool more;
    sotto_err err = {0};

    if (sotto_erase_shares(health->server->db, &more, &err) != SOTTO_OK)
        sotto_log(&health->server->options.log, SOTTO_LOG_WARNING, "shares.not_erased",
                  sotto_log_text("reason", err.reason));
}

/* ---- the thread ----------------------------------------------------------------------------------------------------- */

/* False: stop. */
static bool wait_a_second(sotto_health *health)
{
    const struct timespec until = sotto_wait_until(LOOK_EVERY_MS);
    bool go_on;

    (void)pthread_mutex_lock(&health->lock);
    while (!health->stopping && pthread_cond_timedwait(&health->change, &health->lock, &until) == 0)
        ;
    go_on = !health->stopping;
    (void)pthread_mutex_unlock(&health->lock);
    return go_on;
}

static void *run(void *context)
{
    sotto_health *health = context;

    while (wait_a_second(health)) {
        look_after_keys(health);
        look_at_database(health);
        forget_shares(health);
    }
    return NULL;
}

sotto_status sotto_health_open(sotto_health **out, sotto_server *server, sotto_err *err)
{
    sotto_health *health = sotto_alloc(sizeof *health);

    if (!health || !sotto_wait_init(&health->change)) {
        sotto_release(health, health ? sizeof *health : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server's health");
    }
    health->server = server;
    health->rotated = sotto_server_seconds(server);
    (void)pthread_mutex_init(&health->lock, NULL);
    look_at_database(health);
    health->started = pthread_create(&health->thread, NULL, run, health) == 0;
    if (!health->started) {
        sotto_health_close(health);
        return sotto_fail(err, SOTTO_IO, "no thread for a server's health");
    }
    *out = health;
    return SOTTO_OK;
}

void sotto_health_close(sotto_health *health)
{
    if (!health)
        return;
    (void)pthread_mutex_lock(&health->lock);
    health->stopping = true;
    (void)pthread_cond_broadcast(&health->change);
    (void)pthread_mutex_unlock(&health->lock);
    if (health->started)
        (void)pthread_join(health->thread, NULL);
    (void)pthread_cond_destroy(&health->change);
    (void)pthread_mutex_destroy(&health->lock);
    sotto_release(health, sizeof *health);
}

/* Under the lock. */
static bool is_stale(const sotto_health *health)
{
    return SOTTO_RULE(reached_of_late) &&
           sotto_clock_monotonic(&sotto_clock_system) - health->seen > SEEN_FOR_NS;
}

void sotto_health_look(sotto_health *health, sotto_health_view *view)
{
    (void)pthread_mutex_lock(&health->lock);
    *view = health->view;
    view->database = view->database && !is_stale(health);
    (void)pthread_mutex_unlock(&health->lock);
}

void sotto_health_set_draining(sotto_health *health)
{
    if (!health)
        return;
    (void)pthread_mutex_lock(&health->lock);
    health->view.draining = true;
    (void)pthread_mutex_unlock(&health->lock);
}

/* ---- in words --------------------------------------------------------------------------------------------------------- */

static void say(sotto_buf *out, const char *text)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(text, strlen(text)));
    (void)(sotto_writer_finish(&w, "readiness", NULL) == SOTTO_OK);
}

static void say_number(sotto_buf *out, const char *before, uint64_t number, const char *after)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%" PRIu64, number);
    say(out, before);
    say(out, digits);
    say(out, after);
}

/* Ready all the same: uploads are taken and kept, and a balancer that sent them elsewhere would only lose them. */
static void say_unanswered(sotto_buf *out, const sotto_health_view *view)
{
    if (view->unanswered == 0)
        return;
    say_number(out, "jobs: ", view->unanswered, " wait for another try");
    say(out, view->retry[0] ? ", the last since: " : "");
    say(out, view->retry);
    say(out, "\n");
}

/* Rounded down: minutes, then hours, then days. */
static void say_time(sotto_buf *out, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, " d"}, {3600, " h"}, {60, " min"}};
    size_t i = 0;

    while (i < 2 && seconds < 2 * units[i].seconds)
        i++;
    say_number(out, "", (uint64_t)(seconds / units[i].seconds), units[i].name);
}

static void say_stalled(sotto_buf *out, const sotto_stalled *stalled)
{
    if (stalled->count == 0)
        return;
    say_number(out, "collections: ", stalled->count, " asked for, not answered; the oldest, ");
    say_time(out, stalled->seconds);
    say(out, " ago, of task ");
    say(out, stalled->task);
    say(out, ": ");
    say(out, stalled->why);
    say(out, "\n");
}

bool sotto_health_describe(const sotto_health_view *view, sotto_buf *out)
{
    bool ready = view->database && !view->draining;

    say(out, ready ? "ready\n" : "not ready\n");
    if (!view->database)
        say(out, "database: can't be reached\n");
    if (view->draining)
        say(out, "draining: told to stop, finishing what was accepted\n");
    if (view->tasks == 0)
        say(out, "tasks: none yet; `sotto admin task add` makes one\n");
    if (view->unpaired > 0)
        say_number(out, "pairing: ", view->unpaired, " tasks wait for `sotto admin pair take`\n");
    if (view->broken > 0)
        say_number(out, "tasks: ", view->broken,
                   " can't be read, or do not go with their pairing, and are not served: the log"
                   " says why\n");
    if (view->without_population > 0)
        say_number(out, "rate check: off for ", view->without_population,
                   " tasks without a population (`sotto admin task add --population N`)\n");
    if (view->held > 0)
        say_number(out, "batches: ", view->held,
                   " are held, since more reports came than expected (`sotto admin batch list`)\n");
    say_unanswered(out, view);
    say_stalled(out, &view->stalled);
    if (view->unreadable > 0)
        say_number(out, "segments: ", view->unreadable,
                   " can't be read, and their batches wait (`sotto admin segment list`)\n");
    return ready;
}
