/* Uploads that wait for a compute thread: small ones are opened together, and none is left behind. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader/arrivals.h"
#include "support/database.h"

#include <pthread.h>
#include <stdatomic.h>

static sotto_upload_request uploads[SOTTO_ARRIVALS_MOST + 1];
static pthread_mutex_t gate; /* holds the one compute thread */
static atomic_uint chains, opened, longest;

static void nothing(void *context, sotto_worker *worker)
{
    (void)context;
    (void)worker;
}

static void hold(void *context, sotto_worker *worker)
{
    (void)worker;
    atomic_store((atomic_bool *)context, true);
    (void)pthread_mutex_lock(&gate);
    (void)pthread_mutex_unlock(&gate);
}

static void open_chain(sotto_upload_request *chain, sotto_worker *worker)
{
    unsigned count = 0;

    (void)worker;
    for (const sotto_upload_request *u = chain; u; u = u->next)
        count++;
    atomic_fetch_add(&chains, 1);
    atomic_fetch_add(&opened, count);
    if (count > atomic_load(&longest))
        atomic_store(&longest, count);
}

/* One compute thread, which is held, and room for so many pieces of work behind that. */
static sotto_pool *open_held(sotto_test *t, sotto_arrivals **arrivals, size_t queue)
{
    static atomic_bool held;
    sotto_pool *pool = NULL;

    atomic_store(&held, false);
    atomic_store(&chains, 0);
    atomic_store(&opened, 0);
    atomic_store(&longest, 0);
    CHECK_EQUAL(t, 0, pthread_mutex_init(&gate, NULL));
    (void)pthread_mutex_lock(&gate);
    CHECK_OK(t, sotto_pool_open(
                    &pool,
                    &(sotto_pool_options){.threads = 1, .queue = queue, .arena_ceiling = 1 << 20},
                    &t->err));
    CHECK_OK(t, sotto_arrivals_open(arrivals, pool, open_chain, &t->err));
    CHECK_OK(t, sotto_pool_post(pool, hold, &held, &t->err));
    while (!atomic_load(&held))
        sotto_test_pause_ms(1);
    return pool;
}

static void let_go(sotto_pool *pool, sotto_arrivals *arrivals)
{
    (void)pthread_mutex_unlock(&gate);
    sotto_pool_stop(pool); /* runs what is queued */
    sotto_arrivals_close(arrivals);
    sotto_pool_close(pool);
    (void)pthread_mutex_destroy(&gate);
}

static void put(sotto_test *t, sotto_arrivals *arrivals, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        uploads[i].body_bytes = bytes;
        CHECK_OK(t, sotto_arrivals_put(arrivals, &uploads[i], &t->err));
    }
}

static void small_ones_are_opened_together(sotto_test *t)
{
    sotto_arrivals *arrivals;
    sotto_pool *pool = open_held(t, &arrivals, 16);

    put(t, arrivals, 40, 600);
    let_go(pool, arrivals);
    CHECK_EQUAL(t, 40, atomic_load(&opened));
    CHECK_EQUAL(t, 1, atomic_load(&chains));
}

/* What does not fill the lanes of X25519 waits until the thread comes back. */
static void lanes_are_filled(sotto_test *t)
{
    sotto_arrivals *arrivals;
    sotto_pool *pool = open_held(t, &arrivals, 16);

    put(t, arrivals, 43, 600);
    let_go(pool, arrivals);
    CHECK_EQUAL(t, 43, atomic_load(&opened));
    CHECK_EQUAL(t, 40, atomic_load(&longest));
    CHECK_EQUAL(t, 2, atomic_load(&chains));
}

/* Another thread may have the next one. */
static void large_ones_are_opened_one_by_one(sotto_test *t)
{
    sotto_arrivals *arrivals;
    sotto_pool *pool = open_held(t, &arrivals, 16);

    put(t, arrivals, 5, 1 << 20);
    let_go(pool, arrivals);
    CHECK_EQUAL(t, 5, atomic_load(&opened));
    CHECK_EQUAL(t, 5, atomic_load(&chains));
}

static void only_so_many_wait(sotto_test *t)
{
    sotto_arrivals *arrivals;
    sotto_pool *pool = open_held(t, &arrivals, 16);

    put(t, arrivals, SOTTO_ARRIVALS_MOST, 1);
    CHECK_STATUS(t, SOTTO_AGAIN,
                 sotto_arrivals_put(arrivals, &uploads[SOTTO_ARRIVALS_MOST], &t->err));
    let_go(pool, arrivals);
    CHECK_EQUAL(t, SOTTO_ARRIVALS_MOST, atomic_load(&opened));
    CHECK_EQUAL(t, SOTTO_ARRIVALS_AT_ONCE, atomic_load(&longest));
}

static void a_full_pool_refuses_the_first(sotto_test *t)
{
    sotto_arrivals *arrivals;
    atomic_bool other;
    sotto_pool *pool = open_held(t, &arrivals, 1);

    CHECK_OK(t, sotto_pool_post(pool, hold, &other, &t->err));
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_arrivals_put(arrivals, &uploads[0], &t->err));
    let_go(pool, arrivals);
    CHECK_EQUAL(t, 0, atomic_load(&opened));
}

static void *stop(void *pool)
{
    sotto_pool_stop(pool);
    return NULL;
}

/* A pool that stops takes no more work, so the thread that has begun opens all of them. */
static void none_is_left_when_no_thread_can_be_called(sotto_test *t)
{
    sotto_arrivals *arrivals;
    sotto_pool *pool = open_held(t, &arrivals, 1 << 16);
    pthread_t stopper;

    put(t, arrivals, 200, 1);
    CHECK_EQUAL(t, 0, pthread_create(&stopper, NULL, stop, pool));
    while (sotto_pool_post(pool, nothing, NULL, NULL) == SOTTO_OK) /* until it stops */
        sotto_test_pause_ms(1);
    (void)pthread_mutex_unlock(&gate);
    CHECK_EQUAL(t, 0, pthread_join(stopper, NULL));
    sotto_arrivals_close(arrivals);
    sotto_pool_close(pool);
    (void)pthread_mutex_destroy(&gate);
    CHECK_EQUAL(t, 200, atomic_load(&opened));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(small_ones_are_opened_together),   CASE(lanes_are_filled),
        CASE(large_ones_are_opened_one_by_one), CASE(only_so_many_wait),
        CASE(a_full_pool_refuses_the_first),    CASE(none_is_left_when_no_thread_can_be_called),
    };

    return RUN_TESTS(argc, argv, cases);
}
