#include "support/test.h"

#include "sim/clock.h"

static void system_clock_runs_forward(sotto_test *t)
{
    uint64_t before = sotto_clock_monotonic(&sotto_clock_system);
    uint64_t after = before;

    for (int tries = 0; after == before && tries < 1000000; tries++)
        after = sotto_clock_monotonic(&sotto_clock_system);
    CHECK(t, after > before);
}

static void wall_clock_knows_the_century(sotto_test *t)
{
    uint64_t now = sotto_clock_wall(&sotto_clock_system);

    CHECK(t, now > UINT64_C(1700000000) * 1000000000U);
    CHECK(t, now < UINT64_C(5000000000) * 1000000000U);
}

static void thread_cpu_time_grows_with_work(sotto_test *t)
{
    uint64_t start = sotto_clock_thread_cpu();
    volatile uint64_t work = 0;

    for (int i = 0; i < 3000000; i++)
        work = work + (uint64_t)i;
    CHECK(t, sotto_clock_thread_cpu() > start);
}

static void simulated_clock_moves_only_when_told(sotto_test *t)
{
    sotto_sim_clock state = {.wall = 1000, .monotonic = 5};
    sotto_clock clock = sotto_sim_clock_of(&state);

    CHECK_EQUAL(t, 1000, sotto_clock_wall(&clock));
    CHECK_EQUAL(t, 5, sotto_clock_monotonic(&clock));
    sotto_sim_clock_advance(&state, 10);
    CHECK_EQUAL(t, 1010, sotto_clock_wall(&clock));
    CHECK_EQUAL(t, 15, sotto_clock_monotonic(&clock));
    state.wall = 1; /* somebody set the clock back */
    CHECK_EQUAL(t, 1, sotto_clock_wall(&clock));
    CHECK_EQUAL(t, 15, sotto_clock_monotonic(&clock));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(system_clock_runs_forward),
        CASE(wall_clock_knows_the_century),
        CASE(thread_cpu_time_grows_with_work),
        CASE(simulated_clock_moves_only_when_told),
    };
    return RUN_TESTS(argc, argv, cases);
}
