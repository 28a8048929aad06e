#define _POSIX_C_SOURCE 200809L

#include "base/clock.h"

#include <time.h>

static uint64_t nanoseconds(clockid_t which)
{
    struct timespec now = {0, 0};

    /* Cannot fail: all three clocks exist on every system that we build for. */
    (void)clock_gettime(which, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t system_wall(void *context)
{
    (void)context;
    return nanoseconds(CLOCK_REALTIME);
}

static uint64_t system_monotonic(void *context)
{
    (void)context;
    return nanoseconds(CLOCK_MONOTONIC);
}

const sotto_clock sotto_clock_system = {system_wall, system_monotonic, NULL};

uint64_t sotto_clock_thread_cpu(void)
{
    return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}
