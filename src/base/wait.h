/* base/wait.h - waiting for a change, but not for ever.
 *
 * Callers:  threads of servers and stores, around pthread_cond_timedwait.
 *
 * By the monotonic clock: a wall clock that jumps must make nobody wait longer.
 */
#ifndef SOTTO_BASE_WAIT_H
#define SOTTO_BASE_WAIT_H

#include "sotto/base.h"

#include <pthread.h>
#include <time.h>

/* False: it can't be had, and there is nothing to destroy. */
SOTTO_MUST_USE bool sotto_wait_init(pthread_cond_t *change);
/* The moment so many milliseconds from now, for a condition of that kind. */
struct timespec sotto_wait_until(uint64_t milliseconds);

#endif
