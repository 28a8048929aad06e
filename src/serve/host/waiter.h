/* serve/host/waiter.h - a thread of one part, which waits for work under a lock until it is told to end.
 *
 * Callers:  serve/host/health.c, serve/leader/pace.c. The pool and the steps have threads of another kind: several, with a queue.
 * Memory:   the caller's.
 */
#ifndef SOTTO_SERVE_HOST_WAITER_H
#define SOTTO_SERVE_HOST_WAITER_H

#include "sotto/base.h"

#include <pthread.h>

typedef struct sotto_waiter {
    pthread_mutex_t lock;  /* over what the thread works on, and over `ending`          */
    pthread_cond_t change; /* by the monotonic clock: base/wait.h                       */
    bool ending;           /* the thread is to return; told by `change`                 */
    bool started;
    pthread_t thread;
} sotto_waiter;

/* False: no memory, and there is nothing to end. */
SOTTO_MUST_USE bool sotto_waiter_init(sotto_waiter *w);
/* run(context) on a thread of its own. False: there is none to be had; end it all the same. */
SOTTO_MUST_USE bool sotto_waiter_start(sotto_waiter *w, void *(*run)(void *context), void *context);
/* Tells the thread, and waits until it has returned. */
void sotto_waiter_end(sotto_waiter *w);

#endif
