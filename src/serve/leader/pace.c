#define _POSIX_C_SOURCE 200809L
#include "serve/leader/pace.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/wait.h"

#include <errno.h>
#include <pthread.h>

struct sotto_pace {
    void (*due)(void *context);
    void *context;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* over all that follows */
    pthread_cond_t change;
    uint64_t milliseconds, began_ms;
    bool waiting, closing;
    struct timespec until; /* while somebody waits */
};

static uint64_t now_ms(void)
{
    return sotto_clock_monotonic(&sotto_clock_system) / 1000000U;
}

/* True when somebody waited long enough; the lock is held. */
static bool wait_for_work(sotto_pace *pace)
{
    while (!pace->closing) {
        if (!pace->waiting)
            (void)pthread_cond_wait(&pace->change, &pace->lock);
        else if (pthread_cond_timedwait(&pace->change, &pace->lock, &pace->until) == ETIMEDOUT)
            return true;
    }
    return false;
}

static void *run(void *context)
{
    sotto_pace *pace = context;

    (void)pthread_mutex_lock(&pace->lock);
    while (wait_for_work(pace)) {
        pace->waiting = false;
        (void)pthread_mutex_unlock(&pace->lock);
        pace->due(pace->context);
        (void)pthread_mutex_lock(&pace->lock);
    }
    (void)pthread_mutex_unlock(&pace->lock);
    return NULL;
}

sotto_status sotto_pace_open(sotto_pace **out, uint64_t milliseconds, void (*due)(void *context),
                             void *context, sotto_err *err)
{
    sotto_pace *pace = sotto_alloc(sizeof *pace);

    *out = NULL;
    if (!pace || !sotto_wait_init(&pace->change)) {
        sotto_release(pace, pace ? sizeof *pace : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "the intake");
    }
    (void)pthread_mutex_init(&pace->lock, NULL);
    pace->due = due;
    pace->context = context;
    pace->milliseconds = milliseconds;
    pace->started = pthread_create(&pace->thread, NULL, run, pace) == 0;
    if (!pace->started) {
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
    (void)pthread_mutex_lock(&pace->lock);
    pace->closing = true;
    (void)pthread_cond_signal(&pace->change);
    (void)pthread_mutex_unlock(&pace->lock);
    if (pace->started)
        (void)pthread_join(pace->thread, NULL);
    (void)pthread_cond_destroy(&pace->change);
    (void)pthread_mutex_destroy(&pace->lock);
    sotto_release(pace, sizeof *pace);
}

bool sotto_pace_begin(sotto_pace *pace, bool at_once)
{
    uint64_t now = now_ms(), end;
    bool may;

    (void)pthread_mutex_lock(&pace->lock);
    end = pace->began_ms + pace->milliseconds;
    may = at_once || now >= end;
    if (may) {
        pace->began_ms = now;
        pace->waiting = false; /* what comes later asks again */
    } else if (!pace->waiting) {
        pace->waiting = true;
        pace->until = sotto_wait_until(end - now);
        (void)pthread_cond_signal(&pace->change);
    }
    (void)pthread_mutex_unlock(&pace->lock);
    return may;
}

void sotto_pace_set(sotto_pace *pace, uint64_t milliseconds)
{
    (void)pthread_mutex_lock(&pace->lock);
    pace->milliseconds = milliseconds;
    if (pace->waiting)
        pace->until = sotto_wait_until(milliseconds);
    (void)pthread_cond_signal(&pace->change);
    (void)pthread_mutex_unlock(&pace->lock);
}
