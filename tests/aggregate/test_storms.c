/* Random schedules of every way to add up: messages that are lost, late or doubled, participants that crash or come back from a
 * backup. No two results, and no wrong one. */
#include "prio_rounds.h"
#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>

/* One in four has somebody who comes back from a backup. */
static bool has_backup(uint64_t seed)
{
    return seed % 4 == 3;
}

static sotto_sim_faults faults_of(uint64_t seed, sotto_sim_random *random)
{
    return (sotto_sim_faults){.drop = 0.02 * (double)(seed % 4),
                              .duplicate = sotto_sim_random_unit(random) / 2,
                              .late = 0.05 * (double)(seed % 3),
                              .late_ms = 1500,
                              .delay_least_ms = 1,
                              .delay_most_ms = 1 + sotto_sim_random_below(random, 400),
                              .crash_before = 0.05,
                              .crash_after = 0.05};
}

/* Whether it has a sum, which round_case_run has checked then. */
static bool play(sotto_test *t, const method_row *row, uint64_t seed)
{
    const sotto_arena_mark mark = sotto_arena_here(&t->arena);
    sotto_sim_random random;
    round_case c;

    sotto_sim_random_init(&random, seed);
    const sotto_sim_faults faults = faults_of(seed, &random);
    round_case_init(t, &c, row, 5 + (uint32_t)sotto_sim_random_below(&random, 8),
                    seed % 2 ? SOTTO_RING_Z32 : SOTTO_RING_Z64, 4, seed);
    sotto_sim_net *net = round_case_net(t, &c, seed);
    sotto_sim_net_faults(net, &faults);
    if (has_backup(seed))
        sotto_sim_net_crash_at(net, 1 + sotto_sim_random_below(&random, 60), SOTTO_SIM_ROLLBACK);
    const sotto_sim_report report = round_case_run(t, &c, net);
    CHECK(t, report.outcome != SOTTO_AGAIN);
    CHECK(t, report.vow_conflicts == 0 || has_backup(seed));
    sotto_sim_net_free(net);
    round_case_clear(&c);
    sotto_arena_rollback(&t->arena, mark);
    return report.released;
}

static void storm(sotto_test *t, const method_row *row)
{
    const char *more = getenv("SOTTO_CHAOS_ROUNDS");
    const uint64_t rounds = more ? strtoull(more, NULL, 10) : 80 / row->slow;
    uint64_t released = 0;

    for (uint64_t seed = 0; seed < rounds; seed++)
        released += play(t, row, seed);
    (void)printf("%s: %llu of %llu schedules have a sum\n", row->method->name,
                 (unsigned long long)released, (unsigned long long)rounds);
    CHECK(t, released > rounds / 4);
}

static void no_schedule_gives_a_wrong_sum(sotto_test *t)
{
    for (size_t i = 0; i < METHOD_ROW_COUNT; i++) {
        sotto_arena_reset(&t->arena);
        storm(t, &METHOD_ROWS[i]);
    }
    prio_storm(t);
}

/* In this schedule a client comes back from a backup, contradicts its vow, and crashes: nothing of that step was stored, so
 * nothing of it may leave afterwards. The simulated network once sent it. */
static void what_a_vow_forbade_does_not_leave_after_a_crash(sotto_test *t)
{
    (void)play(t, &METHOD_ROWS[0], 483);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_schedule_gives_a_wrong_sum),
        CASE(what_a_vow_forbade_does_not_leave_after_a_crash),
    };

    return RUN_TESTS(argc, argv, cases);
}
