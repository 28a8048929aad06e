/* serve/host/pool.h - compute threads, apart from those that do I/O.
 *
 * Callers:  handlers post work; nothing else runs proofs or opens shares.
 * Memory:   each worker has one arena with a ceiling, wiped after every piece of work.
 * Threads:  any thread may post. Work runs on one worker from beginning to end.
 * Secrets:  whatever a worker's arena holds.
 */
#ifndef SOTTO_SERVE_HOST_POOL_H
#define SOTTO_SERVE_HOST_POOL_H

#include "sotto/base.h"

typedef struct sotto_pool sotto_pool;

/* What a worker brings to a piece of work. */
typedef struct sotto_worker {
    unsigned number;    /* from 0, below the pool's threads                          */
    sotto_arena *arena; /* empty at the start of each piece, wiped at its end         */
} sotto_worker;

typedef void (*sotto_work)(void *context, sotto_worker *worker);

typedef struct sotto_pool_options {
    unsigned threads;     /* 0: one for each core                */
    size_t queue;         /* pieces that may wait                 */
    size_t arena_ceiling; /* bytes, for each worker               */
} sotto_pool_options;

SOTTO_MUST_USE sotto_status sotto_pool_open(sotto_pool **pool, const sotto_pool_options *options,
                                            sotto_err *err);
/* Runs what is queued, then ends the threads; from then on every post is SOTTO_AGAIN. NULL is fine. */
void sotto_pool_stop(sotto_pool *pool);
/* Stops it and gives its memory back. NULL is fine. */
void sotto_pool_close(sotto_pool *pool);
/* SOTTO_AGAIN: the queue is full or the pool is closing; the caller says 503 or tries later. Never blocks. */
SOTTO_MUST_USE sotto_status sotto_pool_post(sotto_pool *pool, sotto_work work, void *context,
                                            sotto_err *err);
size_t sotto_pool_waiting(sotto_pool *pool);

#endif
