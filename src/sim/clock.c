#include "sim/clock.h"

static uint64_t sim_wall(void *context)
{
    return ((const sotto_sim_clock *)context)->wall;
}

static uint64_t sim_monotonic(void *context)
{
    return ((const sotto_sim_clock *)context)->monotonic;
}

sotto_clock sotto_sim_clock_of(sotto_sim_clock *state)
{
    return (sotto_clock){sim_wall, sim_monotonic, state};
}

void sotto_sim_clock_advance(sotto_sim_clock *state, uint64_t nanoseconds)
{
    state->wall += nanoseconds;
    state->monotonic += nanoseconds;
}
