/* sim/clock.h - a clock that stands still until it is told to move.
 *
 * Threads:  one may move it while others read it, as a server's own threads do.
 */
#ifndef SOTTO_SIM_CLOCK_H
#define SOTTO_SIM_CLOCK_H

#include "base/clock.h"

#include <stdatomic.h>

typedef struct sotto_sim_clock {
    _Atomic uint64_t wall;
    _Atomic uint64_t monotonic;
} sotto_sim_clock;

/* The view that code under test takes; it follows every change made to state. */
sotto_clock sotto_sim_clock_of(sotto_sim_clock *state);
void sotto_sim_clock_advance(sotto_sim_clock *state, uint64_t nanoseconds);

#endif
