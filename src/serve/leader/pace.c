#define _POSIX_C_SOURCE 200809L
#include "serve/leader/pace.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/wait.h"
#include "serve/host/waiter.h"

#include <errno.h>

struct sotto_pace {
    void (*due)(void *context);
    void *context;
    sotto_waiter waiter; /* its lock: over all that follows */
    uint64_t milliseconds, began_ms;
    bool
        begun; /* before, nothing is waited for: the machine may have started less than a pace ago */
    bool waiting;
    struct timespec until; /* while somebody waits */
};

/* True when somebody waited long enough; the lock is held. */
static bool wait_for_work(sotto_pace *pace)
{
    sotto_waiter *w = &pace->waiter;

    while (!w->ending) {
        if (!pace->waiting)
            (void)pthread_cond_wait(&w->change, &w->lock);
        else if (pthread_cond_timedwait(&w->change, &w->lock, &pace->until) == ETIMEDOUT)
            return true;
    }
    return false;
}

static void *run(void *context)
{
    sotto_pace *pace = context;

    (void)pthread_mutex_lock(&pace->waiter.lock);
    while (wait_for_work(pace)) {
        pace->waiting = false;
        (void)pthread_mutex_unlock(&pace->waiter.lock);
        pace->due(pace->context);
        (void)pthread_mutex_lock(&pace->waiter.lock);
    }
    (void)pthread_mutex_unlock(&pace->waiter.lock);
    return NULL;
}

sotto_status sotto_pace_open(sotto_pace **out, uint64_t milliseconds, void (*due)(void *context),
                             void *context, sotto_err *err)
{
    sotto_pace *pace = sotto_alloc(sizeof *pace);

    *out = NULL;
    if (!pace || !sotto_waiter_init(&pace->waiter)) {
        sotto_release(pace, pace ? sizeof *pace : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "the intake");
    }
    pace->due = due;
    pace->context = context;
    pace->milliseconds = milliseconds;
    if (!sotto_waiter_start(&pace->waiter, run, pace)) {
        sotto_pace_close(pace);
        return sotto_fail(err, SOTTO_IO, "no thread for the intake");
    }
    *out = pace;
    return SOTTO_OK;
}

void sotto_pace_close(sotto_pace *pace)
{
    if (!pace)
        return;
    sotto_waiter_end(&pace->waiter);
    sotto_release(pace, sizeof *pace);
}

bool sotto_pace_begin(sotto_pace *pace, bool at_once)
{
    uint64_t now = sotto_clock_ms(), end;
    bool may;

    (void)pthread_mutex_lock(&pace->waiter.lock);
    end = pace->began_ms + pace->milliseconds;
    may = at_once || !pace->begun || now >= end;
    if (may) {
        pace->begun = true;
        pace->began_ms = now;
        pace->waiting = false; /* what comes later asks again */
    } else if (!pace->waiting) {
        pace->waiting = true;
        pace->until = sotto_wait_until(end - now);
        (void)pthread_cond_signal(&pace->waiter.change);
    }
    (void)pthread_mutex_unlock(&pace->waiter.lock);
    return may;
}

void sotto_pace_set(sotto_pace *pace, uint64_t milliseconds)
{
    (void)pthread_mutex_lock(&pace->waiter.lock);
    pace->milliseconds = milliseconds;
    if (pace->waiting)
        pace->until = sotto_wait_until(milliseconds);
    (void)pthread_cond_signal(&pace->waiter.change);
    (void)pthread_mutex_unlock(&pace->waiter.lock);
}
