#define _POSIX_C_SOURCE 200809L
#include "base/wait.h"

bool sotto_wait_init(pthread_cond_t *change)
{
    pthread_condattr_t attributes;
    bool good;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(change, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return good;
}

struct timespec sotto_wait_until(uint64_t milliseconds)
{
    struct timespec until = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(milliseconds / 1000);
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}
