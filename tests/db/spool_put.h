/* What tests of the spool have in common: bytes are put, waited for and read back. */
#ifndef SOTTO_TESTS_DB_SPOOL_PUT_H
#define SOTTO_TESTS_DB_SPOOL_PUT_H

#include "db/spool.h"
#include "support/test.h"

#include <pthread.h>
#include <string.h>

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    sotto_status status;
    uint64_t (*look)(void); /* NULL: at nothing */
    uint64_t seen;          /* by that, when it was told */
} waiter;

#define UNDONE .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER

static inline void on_done(void *context, sotto_status status, const sotto_err *err)
{
    waiter *w = context;

    (void)err;
    (void)pthread_mutex_lock(&w->lock);
    w->done = true;
    w->status = status;
    w->seen = w->look ? w->look() : 0;
    (void)pthread_cond_signal(&w->ended);
    (void)pthread_mutex_unlock(&w->lock);
}

static inline sotto_status wait_for(waiter *w)
{
    (void)pthread_mutex_lock(&w->lock);
    while (!w->done)
        (void)pthread_cond_wait(&w->ended, &w->lock);
    (void)pthread_mutex_unlock(&w->lock);
    return w->status;
}

static inline void check_bytes(sotto_test *t, sotto_spool *spool, const sotto_spool_piece *piece)
{
    static uint8_t memory[2048 * SOTTO_SPOOL_BLOCK];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_OK(t, sotto_spool_get(spool, &out, &piece->place, &t->err));
    CHECK_EQUAL(t, piece->bytes.len, out.len);
    CHECK(t, memcmp(out.data, piece->bytes.data, out.len) == 0);
}

#endif
