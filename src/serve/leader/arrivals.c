#include "serve/leader/arrivals.h"

#include "base/alloc.h"
#include "base/rule.h"

#include <pthread.h>

/* Beyond this, an upload is enough work for one thread, and the next upload goes to another
 * thread. */
enum { ENOUGH_BYTES = 192 << 10 };
/* Of X25519. Where more uploads wait than fill the lanes, a thread takes a multiple of that. The rest would be opened one
 * by one, each at five times the price; others will have joined it when the thread comes back. */
enum { LANES = 8 };

struct sotto_arrivals {
    sotto_pool *pool;
    void (*open)(sotto_upload_request *chain, sotto_worker *worker);
    pthread_mutex_t lock; /* over all that follows */
    sotto_upload_request *first, **end;
    size_t count;
    bool called; /* a compute thread has been called */
};

/* The oldest, as a chain. *more: others are left, and no thread has been called for them. *few: they don't fill the
 * lanes. */
static sotto_upload_request *take(sotto_arrivals *a, bool *more, bool *few)
{
    sotto_upload_request *chain, **at = &a->first, **full = NULL;
    size_t count = 0, bytes = 0;

    (void)pthread_mutex_lock(&a->lock);
    chain = a->first;
    for (; *at && count < SOTTO_ARRIVALS_AT_ONCE && bytes < ENOUGH_BYTES; at = &(*at)->next) {
        if (count > 0 && count % LANES == 0)
            full = at;
        bytes += (*at)->body_bytes;
        count++;
    }
    *few = full && count % LANES != 0;
    if (*few) {
        at = full;
        count -= count % LANES;
    }
    a->first = *at;
    *at = NULL;
    if (!a->first)
        a->end = &a->first;
    a->count -= count;
    *few = *few && a->count < LANES;
    *more = a->called = a->first != NULL;
    (void)pthread_mutex_unlock(&a->lock);
    return count > 0 ? chain : NULL;
}

/* Another thread is called for what is left. If none can be, or it isn't worth it, this one goes on with it: nothing is left behind. */
static void work(void *context, sotto_worker *worker)
{
    sotto_arrivals *a = context;
    sotto_upload_request *chain;
    bool more, few;

    do {
        chain = take(a, &more, &few);
        if (more && !few && sotto_pool_post(a->pool, work, a, NULL) == SOTTO_OK)
            more = false;
        if (chain)
            a->open(chain, worker);
        if (more)
            sotto_arena_reset(worker->arena);
    } while (more);
}

/* No upload waits unless a thread was called. So if the pool refuses, only this upload is
 * refused. */
sotto_status sotto_arrivals_put(sotto_arrivals *a, sotto_upload_request *upload, sotto_err *err)
{
    sotto_status status = SOTTO_OK;

    upload->next = NULL;
    (void)pthread_mutex_lock(&a->lock);
    if (SOTTO_RULE(arrivals_bounded) && a->count >= SOTTO_ARRIVALS_MOST)
        status = sotto_fail(err, SOTTO_AGAIN, "the compute threads are busy");
    if (status == SOTTO_OK && !a->called)
        status = sotto_pool_post(a->pool, work, a, err);
    if (status == SOTTO_OK) {
        a->called = true;
        *a->end = upload;
        a->end = &upload->next;
        a->count++;
    }
    (void)pthread_mutex_unlock(&a->lock);
    return status;
}

sotto_status sotto_arrivals_open(sotto_arrivals **out, sotto_pool *pool,
                                 void (*open)(sotto_upload_request *chain, sotto_worker *worker),
                                 sotto_err *err)
{
    sotto_arrivals *a = sotto_alloc(sizeof *a);

    if (!a)
        return sotto_fail(err, SOTTO_NO_MEMORY, "uploads that wait");
    a->pool = pool;
    a->open = open;
    a->end = &a->first;
    (void)pthread_mutex_init(&a->lock, NULL);
    *out = a;
    return SOTTO_OK;
}

void sotto_arrivals_close(sotto_arrivals *arrivals)
{
    if (!arrivals)
        return;
    (void)pthread_mutex_destroy(&arrivals->lock);
    sotto_release(arrivals, sizeof *arrivals);
}
