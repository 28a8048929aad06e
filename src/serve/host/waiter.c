#define _POSIX_C_SOURCE 200809L
#include "serve/host/waiter.h"

#include "base/wait.h"

bool sotto_waiter_init(sotto_waiter *w)
{
    w->ending = w->started = false;
    if (!sotto_wait_init(&w->change))
        return false;
    (void)pthread_mutex_init(&w->lock, NULL);
    return true;
}

bool sotto_waiter_start(sotto_waiter *w, void *(*run)(void *context), void *context)
{
    w->started = pthread_create(&w->thread, NULL, run, context) == 0;
    return w->started;
}

void sotto_waiter_end(sotto_waiter *w)
{
    (void)pthread_mutex_lock(&w->lock);
    w->ending = true;
    (void)pthread_cond_broadcast(&w->change);
    (void)pthread_mutex_unlock(&w->lock);
    if (w->started)
        (void)pthread_join(w->thread, NULL);
    (void)pthread_cond_destroy(&w->change);
    (void)pthread_mutex_destroy(&w->lock);
}
