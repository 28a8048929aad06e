/* base/clock.h - the one place that asks what time it is.
 *
 * Callers:  servers and programs, which hand the time on. Parties, codecs and proofs read no clock.
 * Threads:  the system clock may be read from any thread.
 *
 * Whoever needs time takes a `const sotto_clock *`, so a test can give it another one.
 */
#ifndef SOTTO_BASE_CLOCK_H
#define SOTTO_BASE_CLOCK_H

#include "sotto/base.h"

typedef struct sotto_clock {
    uint64_t (*wall)(void *context);      /* ns since 1970; may jump           */
    uint64_t (*monotonic)(void *context); /* ns since some start; never goes back */
    void *context;
} sotto_clock;

extern const sotto_clock sotto_clock_system;

static inline uint64_t sotto_clock_wall(const sotto_clock *clock)
{
    return clock->wall(clock->context);
}

static inline uint64_t sotto_clock_monotonic(const sotto_clock *clock)
{
    return clock->monotonic(clock->context);
}

/* The system's monotonic clock in ms: for pauses and deadlines of servers. */
static inline uint64_t sotto_clock_ms(void)
{
    return sotto_clock_monotonic(&sotto_clock_system) / 1000000;
}

/* CPU time that the calling thread has used, in ns: what benchmarks measure. */
uint64_t sotto_clock_thread_cpu(void);

#endif
