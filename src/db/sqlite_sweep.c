/* Copying the WAL into the file beside the writer, so that no commit waits for megabytes to be copied and synced. */
#define _POSIX_C_SOURCE 200809L

#include "base/alloc.h"
#include "db/sqlite.h"

#include <pthread.h>

struct sotto_lite_sweeper {
    sotto_conn *conn; /* of its own */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool wanted, done, closing;
    uint64_t syncs;
};

static void *sweep(void *context)
{
    sotto_lite_sweeper *s = context;

    (void)pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->wanted && !s->closing)
            (void)pthread_cond_wait(&s->change, &s->lock);
        if (s->closing)
            break;
        (void)pthread_mutex_unlock(&s->lock);
        /* Passive: nobody waits for it. What is written meanwhile is left to the writer. */
        int code = sqlite3_wal_checkpoint_v2(((sotto_lite *)s->conn)->db, NULL,
                                             SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
        (void)pthread_mutex_lock(&s->lock);
        s->wanted = false;
        s->done = true;
        s->syncs += code == SQLITE_OK ? 2U : 0U;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

sotto_status sotto_lite_sweeper_open(sotto_lite_sweeper **out, const sotto_db_options *options,
                                     sotto_err *err)
{
    sotto_lite_sweeper *s = sotto_alloc(sizeof *s);
    sotto_status status;

    *out = NULL;
    if (!s)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a connection");
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->change, NULL);
    status = sotto_lite_connect(&s->conn, options, true, err);
    if (status == SOTTO_OK && pthread_create(&s->thread, NULL, sweep, s) != 0)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "no thread for a store");
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
