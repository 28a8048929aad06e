/* Copies the WAL into the file beside the writer, so that no commit waits for megabytes to be copied and synced. It also cuts
 * the WAL off, since the WAL still holds what was erased from the file. */
#define _POSIX_C_SOURCE 200809L

#include "base/alloc.h"
#include "base/wait.h"
#include "db/sqlite.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { ERASE_MS = 10000, CUT_BUSY_MS = 100 };

struct sotto_lite_sweeper {
    sotto_conn *conn; /* of its own */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t change;
    pthread_cond_t rest;
    bool wanted, done, closing;
    bool busy;           /* copying at this moment     */
    bool cut;            /* ... when the time has come */
    struct timespec due; /* by the monotonic clock     */
    unsigned erase_ms;
    uint64_t syncs;
};

static unsigned checkpoint(sotto_lite_sweeper *s, int how, int *pages)
{
    return sqlite3_wal_checkpoint_v2(((sotto_lite *)s->conn)->db, NULL, how, pages, NULL) ==
           SQLITE_OK;
}

/* Passive: nobody waits for it. What is written meanwhile is copied in the next round, each shorter than the one before. So little
 * is left for the writer or the cut, and no commit is made while they copy. Returns how many rounds copied something. */
static unsigned copy_most(sotto_lite_sweeper *s)
{
    enum { ROUNDS = 8, LITTLE = 256 };
    unsigned rounds = 0;
    int before = 0, pages = 0;

    do {
        before = pages;
        if (!checkpoint(s, SQLITE_CHECKPOINT_PASSIVE, &pages))
            break;
        rounds++;
    } while (rounds < ROUNDS && pages - before > LITTLE);
    return rounds;
}

/* True when it is time to cut the WAL; the lock is held. */
static bool wait_for_work(sotto_lite_sweeper *s)
{
    while (!s->wanted && !s->closing) {
        if (!s->cut)
            (void)pthread_cond_wait(&s->change, &s->lock);
        else if (pthread_cond_timedwait(&s->change, &s->lock, &s->due) == ETIMEDOUT)
            return true;
    }
    return false;
}

static void *sweep(void *context)
{
    sotto_lite_sweeper *s = context;

    (void)pthread_mutex_lock(&s->lock);
    for (;;) {
        bool cut = wait_for_work(s);
        unsigned copied;

        if (s->closing)
            break;
        if (cut)
            s->cut = false; /* what is erased from now on asks again */
        s->busy = true;
        (void)pthread_mutex_unlock(&s->lock);
        copied = copy_most(s);
        if (cut && !checkpoint(s, SQLITE_CHECKPOINT_TRUNCATE, NULL))
            sotto_lite_sweeper_cut(s); /* somebody reads old pages: later, then */
        (void)pthread_mutex_lock(&s->lock);
        if (!cut) {
            s->wanted = false;
            s->done = true;
        }
        s->syncs += 2 * copied;
        s->busy = false;
        (void)pthread_cond_signal(&s->rest);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* A process that was killed may have left a WAL, with what it had erased in it: the first cut is due anyway. */
sotto_status sotto_lite_sweeper_open(sotto_lite_sweeper **out, const sotto_db_options *options,
                                     sotto_err *err)
{
    sotto_lite_sweeper *s = sotto_alloc(sizeof *s);
    sotto_status status;

    *out = NULL;
    if (!s || !sotto_wait_init(&s->change)) {
        sotto_release(s, s ? sizeof *s : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a connection");
    }
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->rest, NULL);
    s->erase_ms = options->erase_ms ? options->erase_ms : ERASE_MS;
    s->cut = true;
    s->due = sotto_wait_until(s->erase_ms);
    status = sotto_lite_connect(&s->conn, options, true, err);
    if (status == SOTTO_OK) {
        (void)sqlite3_busy_timeout(((sotto_lite *)s->conn)->db, CUT_BUSY_MS);
        if (pthread_create(&s->thread, NULL, sweep, s) != 0)
            status = sotto_fail(err, SOTTO_NO_MEMORY, "no thread for a store");
    }
    s->started = status == SOTTO_OK;
    if (status == SOTTO_OK)
        *out = s;
    else
        sotto_lite_sweeper_close(s);
    return status;
}

void sotto_lite_sweeper_close(sotto_lite_sweeper *s)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    s->closing = true;
    (void)pthread_cond_signal(&s->change);
    (void)pthread_mutex_unlock(&s->lock);
    if (s->started)
        (void)pthread_join(s->thread, NULL);
    sotto_lite_close(s->conn);
    (void)pthread_cond_destroy(&s->change);
    (void)pthread_cond_destroy(&s->rest);
    (void)pthread_mutex_destroy(&s->lock);
    sotto_release(s, sizeof *s);
}

void sotto_lite_sweeper_ask(sotto_lite_sweeper *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->wanted = true;
    (void)pthread_cond_signal(&s->change);
    (void)pthread_mutex_unlock(&s->lock);
}

void sotto_lite_sweeper_wait(sotto_lite_sweeper *s)
{
    (void)pthread_mutex_lock(&s->lock);
    while (s->busy)
        (void)pthread_cond_wait(&s->rest, &s->lock);
    (void)pthread_mutex_unlock(&s->lock);
}

void sotto_lite_sweeper_cut(sotto_lite_sweeper *s)
{
    (void)pthread_mutex_lock(&s->lock);
    if (!s->cut) {
        s->cut = true;
        s->due = sotto_wait_until(s->erase_ms);
        (void)pthread_cond_signal(&s->change);
    }
    (void)pthread_mutex_unlock(&s->lock);
}

bool sotto_lite_sweeper_done(sotto_lite_sweeper *s, uint64_t *syncs)
{
    bool done;

    (void)pthread_mutex_lock(&s->lock);
    done = s->done;
    s->done = false;
    *syncs += s->syncs;
    s->syncs = 0;
    (void)pthread_mutex_unlock(&s->lock);
    return done;
}
