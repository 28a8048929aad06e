#define _POSIX_C_SOURCE 200809L
#include "base/wait.h"
#include "support/test.h"

#include <errno.h>

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec now(void)
{
    struct timespec t = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

static void a_moment_is_so_many_milliseconds_from_now(sotto_test *t)
{
    static const uint64_t waits[] = {0, 1, 999, 1000, 1001, 3599999};

    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        int64_t before = ns_of(now()), wait = (int64_t)waits[i] * 1000000;
        struct timespec until = sotto_wait_until(waits[i]);
        int64_t after = ns_of(now());

        CHECK(t, until.tv_nsec >= 0 && until.tv_nsec < 1000000000);
        CHECK(t, ns_of(until) >= before + wait && ns_of(until) <= after + wait);
    }
}

static void a_wait_ends_when_its_time_is_up(sotto_test *t)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t change;
    struct timespec until;
    int code = 0;

    CHECK(t, sotto_wait_init(&change));
    until = sotto_wait_until(20);
    (void)pthread_mutex_lock(&lock);
    while (code == 0)
        code = pthread_cond_timedwait(&change, &lock, &until);
    (void)pthread_mutex_unlock(&lock);
    CHECK_EQUAL(t, ETIMEDOUT, code);
    CHECK(t, ns_of(now()) >= ns_of(until)); /* by this clock, and no other */
    (void)pthread_cond_destroy(&change);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_moment_is_so_many_milliseconds_from_now),
        CASE(a_wait_ends_when_its_time_is_up),
    };

    return RUN_TESTS(argc, argv, cases);
}
