/* Running functions in transactions: one alone, or a group that shares a commit. */
#define _POSIX_C_SOURCE 200809L

#include "base/log.h"
#include "db/store_internal.h"

#include <string.h>
#include <time.h>

/* How a transaction ended, and what to do with its functions. */
typedef enum outcome {
    COMMITTED,
    REFUSED, /* every function said no: nothing to commit                  */
    AGAIN,   /* a conflict, or the connection is gone: all of them again   */
    APART,   /* one took its neighbours with it: each by itself            */
    FAILED   /* alone, and no use in trying again                          */
} outcome;

static _Thread_local bool inside;

bool sotto_db_is_inside(void)
{
    return inside;
}

static sotto_status call(sotto_conn *conn, sotto_db_fn *fn, void *context, sotto_err *err)
{
    sotto_conn_refresh(conn);
    *err = (sotto_err){0};
    inside = true;
    sotto_status status = fn(sotto_conn_tx(conn), context, err);
    inside = false;
    if (conn->trouble == SOTTO_TROUBLE_NONE)
        return status;
    /* Whatever the function made of it, the database's word counts. */
    *err = (sotto_err){0};
    return sotto_fail(err, conn->status, "%s", conn->reason);
}

static outcome what_trouble_means(const sotto_conn *conn, bool alone)
{
    if (conn->trouble == SOTTO_TROUBLE_CONFLICT || conn->trouble == SOTTO_TROUBLE_LOST)
        return AGAIN;
    return alone ? FAILED : APART;
}

/* Runs the function inside a savepoint. COMMITTED, REFUSED: the transaction goes on. */
static outcome run_in_savepoint(sotto_conn *conn, sotto_db_job *job)
{
    if (conn->driver->mark(conn, NULL) != SOTTO_OK)
        return what_trouble_means(conn, false);
    job->status = call(conn, job->fn, job->context, &job->err);
    if (conn->trouble > SOTTO_TROUBLE_FAILED)
        return what_trouble_means(conn, false);
    bool keep = job->status == SOTTO_OK;
    if (!keep)
        sotto_conn_refresh(conn); /* rows being read would keep the savepoint from going */
    if ((keep ? conn->driver->keep : conn->driver->undo)(conn, NULL) != SOTTO_OK)
        return what_trouble_means(conn, false);
    return keep ? COMMITTED : REFUSED;
}

static outcome run_alone(sotto_conn *conn, sotto_db_job *job)
{
    job->status = call(conn, job->fn, job->context, &job->err);
    if (conn->trouble > SOTTO_TROUBLE_FAILED)
        return what_trouble_means(conn, true);
    return job->status == SOTTO_OK ? COMMITTED : REFUSED;
}

static outcome run_each(sotto_db_worker *worker, sotto_db_job *jobs, bool alone)
{
    outcome result = REFUSED;

    for (sotto_db_job *job = jobs; job; job = job->next) {
        outcome one = alone ? run_alone(worker->conn, job) : run_in_savepoint(worker->conn, job);

        if (one > REFUSED)
            return one;
        if (one == COMMITTED) {
            worker->wakes |= sotto_channels_bits(&worker->db->channels, worker->conn);
            result = COMMITTED;
        }
    }
    return result;
}

static void fail_all(const sotto_conn *conn, sotto_db_job *jobs)
{
    sotto_status status = conn->status == SOTTO_OK ? SOTTO_IO : conn->status;

    for (sotto_db_job *job = jobs; job; job = job->next) {
        job->err = (sotto_err){0};
        job->status = sotto_fail(&job->err, status, "%s", conn->reason);
    }
}

static outcome transact(sotto_db_worker *worker, sotto_db_job *jobs)
{
    sotto_conn *conn = worker->conn;
    bool alone = !jobs->next;

    worker->wakes = 0;
    sotto_conn_refresh(conn);
    outcome result = FAILED;
    if (conn->driver->begin(conn, false, NULL) != SOTTO_OK) {
        result = what_trouble_means(conn, true); /* nothing ran: nobody is to blame */
        fail_all(conn, jobs);
    } else {
        result = run_each(worker, jobs, alone);
    }
    if (result == COMMITTED) {
        sotto_conn_refresh(conn);
        if (conn->driver->commit(conn, NULL) == SOTTO_OK)
            return COMMITTED;
        result = what_trouble_means(conn, alone);
        fail_all(conn, jobs);
        worker->in_doubt = conn->trouble == SOTTO_TROUBLE_LOST && conn->driver->resolve;
    }
    conn->driver->rollback(conn);
    return result;
}

/* ---- patience ---------------------------------------------------------------------------------------- */

typedef struct patience {
    uint64_t until;
    unsigned tries;
} patience;

static patience patience_of(const sotto_db *db)
{
    uint64_t ms = db->options.patience_ms;

    return (patience){.until = sotto_clock_monotonic(&sotto_clock_system) + ms * 1000000U};
}

/* Sleeps, longer each time and never the same for two workers; false once patience has ended. */
static bool wait_a_little(patience *p, uint32_t *jitter)
{
    unsigned most = 1U << (p->tries < 8 ? p->tries : 8); /* ms */

    if (sotto_clock_monotonic(&sotto_clock_system) >= p->until)
        return false;
    p->tries++;
    *jitter = *jitter * 1664525U + 1013904223U;
    long ns = (long)most * 500000L + (long)((*jitter >> 8) % (most * 500U)) * 1000L;
    const struct timespec pause = {.tv_sec = ns / 1000000000L, .tv_nsec = ns % 1000000000L};
    (void)nanosleep(&pause, NULL);
    return true;
}

static void count(sotto_db *db, uint64_t *counter, uint64_t by)
{
    (void)pthread_mutex_lock(&db->lock);
    *counter += by;
    (void)pthread_mutex_unlock(&db->lock);
}

/* Afterwards the connection is sound, or still lost and says why. */
static void make_anew(sotto_db *db, sotto_conn *conn)
{
    sotto_err err = {0};

    sotto_conn_refresh(conn);
    sotto_conn_forget(conn);
    if (conn->driver->reconnect(conn, &err) == SOTTO_OK)
        count(db, &db->stats.reconnects, 1);
    else
        (void)sotto_conn_fail(conn, NULL, SOTTO_TROUBLE_LOST, SOTTO_IO, "%s", err.reason);
}

/* The connection broke while the commit was under way. Only the database knows how that ended. */
static bool did_commit(sotto_db_worker *worker)
{
    sotto_conn *conn = worker->conn;
    bool committed = false;

    if (!worker->in_doubt || conn->trouble == SOTTO_TROUBLE_LOST)
        return false;
    if (conn->driver->resolve(conn, &committed, NULL) != SOTTO_OK)
        return false; /* still in doubt, and asked again on the next connection */
    worker->in_doubt = false;
    return committed;
}

static void say_retry(sotto_db_worker *worker)
{
    count(worker->db, &worker->db->stats.retries, 1);
    sotto_log(worker->db->options.log, SOTTO_LOG_DEBUG, "db.retry",
              sotto_log_text("reason", worker->conn->reason));
}

/* A commit whose answer was lost did happen: what fail_all wrote is taken back. Only a function alone comes here,
 * since only a database with savepoints has groups, and its answers can't be lost. */
static void restore_good(sotto_db_job *job)
{
    job->status = SOTTO_OK;
    job->err = (sotto_err){0};
}

/* Until it is done or patience ends. */
static outcome persist(sotto_db_worker *worker, sotto_db_job *jobs)
{
    sotto_conn *conn = worker->conn;
    patience p = patience_of(worker->db);
    outcome result = AGAIN;

    worker->in_doubt = false;
    for (;;) {
        if (!worker->in_doubt && conn->trouble != SOTTO_TROUBLE_LOST)
            result = transact(worker, jobs);
        if (result != AGAIN)
            return result;
        say_retry(worker);
        if (!wait_a_little(&p, &worker->jitter)) {
            fail_all(conn, jobs);
            return FAILED;
        }
        if (conn->trouble == SOTTO_TROUBLE_LOST)
            make_anew(worker->db, conn);
        if (did_commit(worker)) {
            restore_good(jobs);
            return COMMITTED;
        }
    }
}

/* ---- the queue --------------------------------------------------------------------------------------- */

static void account(sotto_db_worker *worker, const sotto_db_job *jobs, outcome result)
{
    sotto_db *db = worker->db;
    uint64_t good = 0, bad = 0;
    uint64_t syncs = db->driver->syncs ? db->driver->syncs(worker->conn) : 0;

    for (const sotto_db_job *job = jobs; job; job = job->next) {
        good += job->status == SOTTO_OK;
        bad += job->status != SOTTO_OK;
    }
    (void)pthread_mutex_lock(&db->lock);
    db->stats.functions += good;
    db->stats.failed += bad;
    db->stats.transactions += result == COMMITTED;
    db->stats.syncs += syncs - worker->syncs;
    if (result == COMMITTED && good > db->stats.largest)
        db->stats.largest = good;
    (void)pthread_mutex_unlock(&db->lock);
    worker->syncs = syncs;
}

static void deliver(sotto_db_job *jobs)
{
    inside = true;
    while (jobs) {
        sotto_db_job *job = jobs;
        jobs = job->next; /* the job is gone once its owner hears of it */
        job->next = NULL;
        job->done(job->done_context, job->status, &job->err);
    }
    inside = false;
}

static void serve(sotto_db_worker *worker, sotto_db_job *jobs)
{
    outcome result = persist(worker, jobs);

    if (result == APART) {
        while (jobs) {
            sotto_db_job *job = jobs;
            jobs = job->next;
            job->next = NULL;
            serve(worker, job);
        }
        return;
    }
    account(worker, jobs, result);
    if (result == COMMITTED)
        sotto_channels_wake(&worker->db->channels, worker->wakes);
    deliver(jobs);
}

/* As many as one transaction may hold, in the order in which they came; NULL at the end. */
static sotto_db_job *take_group(sotto_db *db)
{
    sotto_db_job *jobs, *end;
    uint64_t taken = 1;

    (void)pthread_mutex_lock(&db->lock);
    db->idle++;
    while (!db->first && !db->closing)
        (void)pthread_cond_wait(&db->work, &db->lock);
    db->idle--;
    jobs = end = db->first;
    if (jobs) {
        for (; end->next && taken < db->driver->group; taken++)
            end = end->next;
        db->first = end->next;
        if (!db->first)
            db->last = &db->first;
        end->next = NULL;
        db->stats.waiting -= taken;
    }
    (void)pthread_mutex_unlock(&db->lock);
    return jobs;
}

void *sotto_db_worker_main(void *context)
{
    sotto_db_worker *worker = context;
    sotto_db_job *jobs;

    while ((jobs = take_group(worker->db))) {
        serve(worker, jobs);
        if (worker->db->driver->tidy)
            worker->db->driver->tidy(worker->conn);
    }
    return NULL;
}

/* A worker that can't connect takes no job: another post tries again, and the workers that are there have patience. */
void *sotto_db_worker_late_main(void *context)
{
    sotto_db_worker *worker = context;
    sotto_db *db = worker->db;
    sotto_err err = {0};

    const bool good = db->driver->connect(&worker->conn, &db->options, false, &err) == SOTTO_OK;
    if (!good)
        sotto_log(db->options.log, SOTTO_LOG_DEBUG, "db.retry",
                  sotto_log_text("reason", err.reason));
    (void)pthread_mutex_lock(&db->lock);
    db->idle--; /* a worker that is there counts itself */
    worker->gave_up = !good;
    (void)pthread_mutex_unlock(&db->lock);
    return good ? sotto_db_worker_main(worker) : NULL;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

static sotto_status read_once(sotto_conn *conn, sotto_db_fn *fn, void *context, sotto_err *err)
{
    sotto_conn_refresh(conn);
    if (conn->driver->begin(conn, true, err) != SOTTO_OK)
        return conn->status;
    sotto_status status = call(conn, fn, context, err);
    sotto_trouble trouble = conn->trouble;
    sotto_conn_refresh(conn);
    conn->driver->rollback(conn); /* nothing to keep */
    if (trouble != SOTTO_TROUBLE_NONE)
        conn->trouble = trouble;
    return status;
}

sotto_status sotto_db_worker_read(sotto_db *db, sotto_conn *conn, sotto_db_fn *fn, void *context,
                                  sotto_err *err)
{
    patience p = patience_of(db);
    uint32_t jitter = (uint32_t)(uintptr_t)conn;
    sotto_err mine = {0};
    sotto_status status = SOTTO_IO;

    for (;;) {
        if (conn->trouble != SOTTO_TROUBLE_LOST) {
            mine = (sotto_err){0};
            status = read_once(conn, fn, context, &mine);
            if (conn->trouble != SOTTO_TROUBLE_CONFLICT && conn->trouble != SOTTO_TROUBLE_LOST)
                break;
        }
        if (!wait_a_little(&p, &jitter))
            break;
        if (conn->trouble == SOTTO_TROUBLE_LOST)
            make_anew(db, conn);
    }
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", mine.reason[0] ? mine.reason : conn->reason);
    return SOTTO_OK;
}
