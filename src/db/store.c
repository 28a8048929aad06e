#define _POSIX_C_SOURCE 200809L

#include "db/store.h"

#include "base/alloc.h"
#include "db/store_internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { WRITERS = 8, READERS = 2, PATIENCE_MS = 10000 };

/* ---- opening and closing ----------------------------------------------------------------------------- */

static const sotto_driver *driver_for(const char *address)
{
    if (strncmp(address, "sqlite:", 7) == 0)
        return &sotto_driver_sqlite;
    if (strncmp(address, "postgres", 8) == 0 || strchr(address, '='))
        return &sotto_driver_postgres;
    return NULL;
}

static unsigned between(unsigned value, unsigned otherwise, unsigned most)
{
    value = value ? value : otherwise;
    return value < most ? value : most;
}

static sotto_status take_options(sotto_db *db, const sotto_db_options *options, sotto_err *err)
{
    db->options = *options;
    db->driver = driver_for(options->address);
    if (!db->driver)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "the database's address begins with neither sqlite: nor postgresql:");
    db->address_size = strlen(options->address) + 1;
    db->address = sotto_alloc(db->address_size);
    if (!db->address)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a store");
    memcpy(db->address, options->address, db->address_size);
    db->options.address = db->address;
    db->options.writers =
        db->driver->group > 1 ? 1 : between(options->writers, WRITERS, SOTTO_DB_WRITERS);
    db->options.readers = between(options->readers, READERS, SOTTO_DB_READERS);
    db->options.patience_ms = options->patience_ms ? options->patience_ms : PATIENCE_MS;
    return SOTTO_OK;
}

/* The first writer shows that the database can be had. Others connect when there is work for them: a server of PostgreSQL has a
 * process for each connection. */
static sotto_status start_workers(sotto_db *db, sotto_err *err)
{
    sotto_db_worker *first = &db->workers[0];

    for (unsigned i = 0; i < db->options.writers; i++) {
        db->workers[i].db = db;
        db->workers[i].jitter = i * 2654435769U;
    }
    SOTTO_TRY(db->driver->connect(&first->conn, &db->options, false, err));
    if (pthread_create(&first->thread, NULL, sotto_db_worker_main, first) != 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no thread for a store");
    first->running = true;
    return SOTTO_OK;
}

/* Where more jobs wait than workers: one worker more. Without it the job waits for its turn. Under the lock. */
static void start_another(sotto_db *db)
{
    for (unsigned i = 1; i < db->options.writers && db->stats.waiting > db->idle; i++) {
        sotto_db_worker *worker = &db->workers[i];

        if (worker->running && !worker->gave_up)
            continue;
        if (worker->running)
            (void)pthread_join(worker->thread, NULL); /* it has nothing left to do */
        worker->gave_up = false;
        worker->running =
            pthread_create(&worker->thread, NULL, sotto_db_worker_late_main, worker) == 0;
        db->idle += worker->running;
        return;
    }
}

static sotto_status start_listener(sotto_db *db, sotto_err *err)
{
    if (!db->driver->listen)
        return SOTTO_OK;
    SOTTO_TRY(db->driver->connect(&db->listener_conn, &db->options, true, err));
    /* Not for children: one that kept the writing end would keep the listener from its end. */
    if (pipe(db->stop) != 0 || fcntl(db->stop[0], F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(db->stop[1], F_SETFD, FD_CLOEXEC) != 0)
        return sotto_fail(err, SOTTO_IO, "no pipe for a store");
    if (pthread_create(&db->listener, NULL, sotto_listener_main, db) != 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no thread for a store");
    db->listening = true;
    return SOTTO_OK;
}

static bool init_locks(sotto_db *db)
{
    if (!sotto_channels_init(&db->channels))
        return false;
    if (pthread_mutex_init(&db->lock, NULL) == 0) {
        if (pthread_cond_init(&db->work, NULL) == 0) {
            if (pthread_cond_init(&db->reader_free, NULL) == 0)
                return true;
            (void)pthread_cond_destroy(&db->work);
        }
        (void)pthread_mutex_destroy(&db->lock);
    }
    sotto_channels_clear(&db->channels);
    return false;
}

sotto_status sotto_db_open(sotto_db **out, const sotto_db_options *options, sotto_err *err)
{
    sotto_db *db = sotto_alloc(sizeof *db);

    *out = NULL;
    if (!db || !init_locks(db)) {
        sotto_release(db, sizeof *db);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a store");
    }
    db->last = &db->first;
    db->stop[0] = db->stop[1] = -1;
    sotto_status status = take_options(db, options, err);
    if (status == SOTTO_OK)
        status = start_workers(db, err);
    if (status == SOTTO_OK)
        status = start_listener(db, err);
    if (status == SOTTO_OK)
        *out = db;
    else
        sotto_db_close(db);
    return status;
}

static void stop_threads(sotto_db *db)
{
    (void)pthread_mutex_lock(&db->lock);
    db->closing = true;
    (void)pthread_cond_broadcast(&db->work);
    (void)pthread_mutex_unlock(&db->lock);
    for (size_t i = 0; i < SOTTO_DB_WRITERS; i++) {
        if (db->workers[i].running)
            (void)pthread_join(db->workers[i].thread, NULL);
    }
    sotto_channels_end(&db->channels);
    if (db->stop[1] >= 0)
        (void)close(db->stop[1]); /* the listener's end becomes readable */
    if (db->listening)
        (void)pthread_join(db->listener, NULL);
    if (db->stop[0] >= 0)
        (void)close(db->stop[0]);
}

void sotto_db_close(sotto_db *db)
{
    if (!db)
        return;
    stop_threads(db);
    if (db->driver) {
        for (size_t i = 0; i < SOTTO_DB_READERS; i++)
            db->driver->close(db->readers[i]);
        for (size_t i = 0; i < SOTTO_DB_WRITERS; i++)
            db->driver->close(db->workers[i].conn);
        db->driver->close(db->listener_conn);
    }
    sotto_release(db->address, db->address_size);
    sotto_channels_clear(&db->channels);
    (void)pthread_cond_destroy(&db->reader_free);
    (void)pthread_cond_destroy(&db->work);
    (void)pthread_mutex_destroy(&db->lock);
    sotto_release(db, sizeof *db);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

void sotto_db_post(sotto_db *db, sotto_db_job *job)
{
    job->next = NULL;
    job->status = SOTTO_OK;
    job->err = (sotto_err){0};
    (void)pthread_mutex_lock(&db->lock);
    *db->last = job;
    db->last = &job->next;
    db->stats.waiting++;
    start_another(db);
    (void)pthread_cond_signal(&db->work);
    (void)pthread_mutex_unlock(&db->lock);
}

/* Each caller waits on a condition of its own: one for all would wake those of the next group as well. */
typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
} waiter;

static void end_wait(void *context, sotto_status status, const sotto_err *err)
{
    waiter *w = context;

    (void)status;
    (void)err;
    (void)pthread_mutex_lock(&w->lock);
    w->done = true;
    (void)pthread_cond_signal(&w->ended); /* under the lock: afterwards the waiter may be gone */
    (void)pthread_mutex_unlock(&w->lock);
}

sotto_status sotto_db_run(sotto_db *db, sotto_db_fn *fn, void *context, sotto_err *err)
{
    waiter w = {.done = false};
    sotto_db_job job = {.fn = fn, .context = context, .done = end_wait, .done_context = &w};

    if (sotto_db_is_inside())
        return sotto_fail(err, SOTTO_BUG, "a function of the store waits for the store");
    if (pthread_mutex_init(&w.lock, NULL) != 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory to wait for the store");
    if (pthread_cond_init(&w.ended, NULL) != 0) {
        (void)pthread_mutex_destroy(&w.lock);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory to wait for the store");
    }
    sotto_db_post(db, &job);
    (void)pthread_mutex_lock(&w.lock);
    while (!w.done)
        (void)pthread_cond_wait(&w.ended, &w.lock);
    (void)pthread_mutex_unlock(&w.lock);
    (void)pthread_cond_destroy(&w.ended);
    (void)pthread_mutex_destroy(&w.lock);
    if (job.status == SOTTO_OK)
        return SOTTO_OK;
    return sotto_fail(err, job.status, "%s", job.err.reason);
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static size_t take_reader(sotto_db *db)
{
    (void)pthread_mutex_lock(&db->lock);
    for (;;) {
        for (size_t i = 0; i < db->options.readers; i++) {
            if (db->reader_busy[i])
                continue;
            db->reader_busy[i] = true;
            (void)pthread_mutex_unlock(&db->lock);
            return i;
        }
        (void)pthread_cond_wait(&db->reader_free, &db->lock);
    }
}

static void return_reader(sotto_db *db, size_t at)
{
    (void)pthread_mutex_lock(&db->lock);
    db->reader_busy[at] = false;
    (void)pthread_cond_signal(&db->reader_free);
    (void)pthread_mutex_unlock(&db->lock);
}

sotto_status sotto_db_read(sotto_db *db, sotto_db_fn *fn, void *context, sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    if (sotto_db_is_inside())
        return sotto_fail(err, SOTTO_BUG, "a function of the store waits for the store");
    size_t at = take_reader(db);
    if (!db->readers[at])
        status = db->driver->connect(&db->readers[at], &db->options, true, err);
    if (status == SOTTO_OK)
        status = sotto_db_worker_read(db, db->readers[at], fn, context, err);
    return_reader(db, at);
    return status;
}

/* ---- maintenance -------------------------------------------------------------------------------------------- */

void sotto_db_stats_get(sotto_db *db, sotto_db_stats *out)
{
    (void)pthread_mutex_lock(&db->lock);
    *out = db->stats;
    (void)pthread_mutex_unlock(&db->lock);
}

const char *sotto_db_kind(const sotto_db *db)
{
    return db->driver->name;
}

sotto_status sotto_db_backup(sotto_db *db, const char *path, sotto_err *err)
{
    sotto_conn *conn;

    if (!db->driver->backup)
        return sotto_fail(err, SOTTO_DENIED, "a PostgreSQL database is backed up with pg_dump");
    /* On a connection of its own: it may take long, and readers should not wait. */
    SOTTO_TRY(db->driver->connect(&conn, &db->options, true, err));
    sotto_status status = db->driver->backup(conn, path, err);
    db->driver->close(conn);
    return status;
}
