#define _POSIX_C_SOURCE 200809L
#include "serve/host/health.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/wait.h"
#include "serve/host/waiter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LOOK_EVERY_MS = 1000 };

/* While a database is gone, a check waits for the store's timeout. So a check that does not return counts as failed. Two may be
 * late, since that happens on a busy machine. */
static const uint64_t SEEN_FOR_NS = 3 * UINT64_C(1000000000);

struct sotto_health {
    sotto_host *host;
    sotto_waiter waiter;
    sotto_health_view view;
    uint64_t seen; /* by the system's monotonic clock: when a look last succeeded */
};

/* ---- looking ------------------------------------------------------------------------------------------------------ */

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_host *host = context;
    sotto_sql q;
    bool row;

    if (host->service->look)
        return host->service->look(tx, host->state, err);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT role FROM owner WHERE one = 1", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    return sotto_sql_run(&q, NULL, err);
}

static void look_at_database(sotto_health *health)
{
    bool reached = sotto_db_read(health->host->db, look, health->host, NULL) == SOTTO_OK;

    (void)pthread_mutex_lock(&health->waiter.lock);
    health->view.database = reached;
    if (reached)
        health->seen = sotto_clock_monotonic(&sotto_clock_system);
    (void)pthread_mutex_unlock(&health->waiter.lock);
}

/* ---- the thread ----------------------------------------------------------------------------------------------------- */

/* False: stop. */
static bool wait_a_second(sotto_waiter *w)
{
    const struct timespec until = sotto_wait_until(LOOK_EVERY_MS);
    bool go_on;

    (void)pthread_mutex_lock(&w->lock);
    while (!w->ending && pthread_cond_timedwait(&w->change, &w->lock, &until) == 0)
        ;
    go_on = !w->ending;
    (void)pthread_mutex_unlock(&w->lock);
    return go_on;
}

static void *run(void *context)
{
    sotto_health *health = context;
    const sotto_host *host = health->host;

    while (wait_a_second(&health->waiter)) {
        if (host->service->tick)
            host->service->tick(host->state);
        look_at_database(health);
    }
    return NULL;
}

sotto_status sotto_health_open(sotto_health **out, sotto_host *host, sotto_err *err)
{
    sotto_health *health = sotto_alloc(sizeof *health);

    if (!health || !sotto_waiter_init(&health->waiter)) {
        sotto_release(health, health ? sizeof *health : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "a server's health");
    }
    health->host = host;
    look_at_database(health);
    if (!sotto_waiter_start(&health->waiter, run, health)) {
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
    sotto_waiter_end(&health->waiter);
    sotto_release(health, sizeof *health);
}

/* Under the lock. */
static bool is_stale(const sotto_health *health)
{
    return sotto_clock_monotonic(&sotto_clock_system) - health->seen > SEEN_FOR_NS;
}

void sotto_health_look(sotto_health *health, sotto_health_view *view)
{
    (void)pthread_mutex_lock(&health->waiter.lock);
    *view = health->view;
    view->database = view->database && !is_stale(health);
    (void)pthread_mutex_unlock(&health->waiter.lock);
}

void sotto_health_set_draining(sotto_health *health)
{
    if (!health)
        return;
    (void)pthread_mutex_lock(&health->waiter.lock);
    health->view.draining = true;
    (void)pthread_mutex_unlock(&health->waiter.lock);
}

/* ---- in words --------------------------------------------------------------------------------------------------------- */

void sotto_health_say(sotto_buf *out, const char *text)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(text, strlen(text)));
    (void)(sotto_writer_finish(&w, "readiness", NULL) == SOTTO_OK);
}

void sotto_health_say_number(sotto_buf *out, const char *before, uint64_t number, const char *after)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%" PRIu64, number);
    sotto_health_say(out, before);
    sotto_health_say(out, digits);
    sotto_health_say(out, after);
}

bool sotto_health_view_describe(const sotto_health_view *view, sotto_buf *out)
{
    bool ready = view->database && !view->draining;

    sotto_health_say(out, ready ? "ready\n" : "not ready\n");
    if (!view->database)
        sotto_health_say(out, "database: can't be reached\n");
    if (view->draining)
        sotto_health_say(out, "draining: told to stop, finishing what was accepted\n");
    return ready;
}

bool sotto_health_describe(sotto_host *host, sotto_buf *out)
{
    sotto_health_view view;
    bool ready;

    sotto_health_look(host->health, &view);
    ready = sotto_health_view_describe(&view, out);
    if (host->service->describe)
        host->service->describe(host->state, out);
    return ready;
}
