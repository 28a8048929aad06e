/* A bounded queue and the threads that empty it. */
#define _POSIX_C_SOURCE 200809L
#include "serve/host/pool.h"

#include "base/alloc.h"

#include <pthread.h>
#include <unistd.h>

typedef struct piece {
    sotto_work work;
    void *context;
} piece;

typedef struct thread {
    pthread_t id;
    sotto_pool *pool;
    sotto_worker worker;
    sotto_arena arena;
} thread;

struct sotto_pool {
    pthread_mutex_t lock;
    pthread_cond_t some;
    piece *queue; /* a ring of `cap` pieces */
    size_t cap, first, count;
    bool closing;
    thread *threads;
    unsigned thread_count, started;
};

/* The next piece, or none once the pool closes and nothing is left. */
static bool next_piece(sotto_pool *pool, piece *out)
{
    bool found;

    (void)pthread_mutex_lock(&pool->lock);
    while (pool->count == 0 && !pool->closing)
        (void)pthread_cond_wait(&pool->some, &pool->lock);
    found = pool->count > 0;
    if (found) {
        *out = pool->queue[pool->first];
        pool->first = (pool->first + 1) % pool->cap;
        pool->count--;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return found;
}

static void *run(void *argument)
{
    thread *self = argument;
    piece next;

    while (next_piece(self->pool, &next)) {
        next.work(next.context, &self->worker);
        sotto_arena_reset(&self->arena);
    }
    return NULL;
}

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > 256 ? 256 : (unsigned)n;
}

static sotto_status start_threads(sotto_pool *pool, const sotto_pool_options *options,
                                  sotto_err *err)
{
    for (; pool->started < pool->thread_count; pool->started++) {
        thread *t = &pool->threads[pool->started];

        t->pool = pool;
        sotto_arena_init(&t->arena, options->arena_ceiling);
        t->worker = (sotto_worker){.number = pool->started, .arena = &t->arena};
        if (pthread_create(&t->id, NULL, run, t) != 0)
            return sotto_fail(err, SOTTO_IO, "no thread for worker %u", pool->started);
    }
    return SOTTO_OK;
}

sotto_status sotto_pool_open(sotto_pool **out, const sotto_pool_options *options, sotto_err *err)
{
    sotto_pool *pool = sotto_alloc(sizeof *pool);
    sotto_status status;

    if (!pool)
        return sotto_fail(err, SOTTO_NO_MEMORY, "compute threads");
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->some, NULL);
    pool->cap = options->queue > 0 ? options->queue : 1;
    pool->thread_count = options->threads > 0 ? options->threads : cores();
    pool->queue = sotto_alloc(pool->cap * sizeof *pool->queue);
    pool->threads = sotto_alloc(pool->thread_count * sizeof *pool->threads);
    if (pool->queue && pool->threads)
        status = start_threads(pool, options, err);
    else
        status = sotto_fail(err, SOTTO_NO_MEMORY, "compute threads");
    if (status != SOTTO_OK) {
        sotto_pool_close(pool);
        return status;
    }
    *out = pool;
    return SOTTO_OK;
}

void sotto_pool_stop(sotto_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    (void)pthread_cond_broadcast(&pool->some);
    (void)pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++) {
        (void)pthread_join(pool->threads[i].id, NULL);
        sotto_arena_clear(&pool->threads[i].arena);
    }
    pool->started = 0;
}

void sotto_pool_close(sotto_pool *pool)
{
    if (!pool)
        return;
    sotto_pool_stop(pool);
    (void)pthread_cond_destroy(&pool->some);
    (void)pthread_mutex_destroy(&pool->lock);
    sotto_release(pool->threads, pool->threads ? pool->thread_count * sizeof *pool->threads : 0);
    sotto_release(pool->queue, pool->queue ? pool->cap * sizeof *pool->queue : 0);
    sotto_release(pool, sizeof *pool);
}

sotto_status sotto_pool_post(sotto_pool *pool, sotto_work work, void *context, sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    (void)pthread_mutex_lock(&pool->lock);
    if (pool->count == pool->cap || pool->closing) {
        status = sotto_fail(err, SOTTO_AGAIN, "the compute threads are busy");
    } else {
        pool->queue[(pool->first + pool->count) % pool->cap] = (piece){work, context};
        pool->count++;
        (void)pthread_cond_signal(&pool->some);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return status;
}

size_t sotto_pool_waiting(sotto_pool *pool)
{
    size_t count;

    (void)pthread_mutex_lock(&pool->lock);
    count = pool->count;
    (void)pthread_mutex_unlock(&pool->lock);
    return count;
}
