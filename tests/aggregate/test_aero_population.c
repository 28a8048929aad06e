/* Rounds with many more devices than machines: the short form of what the benchmark plays with a million. */
#include "aggregate/aero/aero.h"
#include "sim/population.h"
#include "support/test.h"

#include <string.h>

/* 1,500 devices, of which about 75 contribute, and 150 check. */
static sotto_sim_population_plan small(uint64_t seed)
{
    return (sotto_sim_population_plan){.devices = 1500,
                                       .rate = 0.05,
                                       .one_in = 10,
                                       .checks = 40,
                                       .committee = 5,
                                       .threshold = 3,
                                       .noise = 8,
                                       .missing = 4,
                                       .liars = 12,
                                       .length = 5,
                                       .seed = seed,
                                       .faults = {.delay_least_ms = 1, .delay_most_ms = 100},
                                       .memory = (uint64_t)1 << 28};
}

static sotto_sim_population_report play(sotto_test *t, const sotto_sim_population_plan *plan,
                                        uint64_t crash_at, sotto_sim_liar *liar, void *context)
{
    sotto_arena_mark mark = sotto_arena_here(&t->arena);
    sotto_sim_population_report report;
    sotto_sim_population *population;

    CHECK_OK(t, sotto_sim_population_new(&population, plan, &t->arena, &t->err));
    if (crash_at)
        sotto_sim_net_crash_at(sotto_sim_population_net(population), crash_at,
                               SOTTO_SIM_CRASH_AFTER);
    if (liar)
        sotto_sim_net_lie(sotto_sim_population_net(population), SOTTO_TO_SERVER, liar, context);
    CHECK_OK(t, sotto_sim_population_run(population, &report, &t->err));
    CHECK_EQUAL(t, 0, report.net.forgetful);
    CHECK_EQUAL(t, 0, report.net.vow_conflicts);
    sotto_sim_population_free(population);
    sotto_arena_rollback(&t->arena, mark);
    return report;
}

static void a_crowd_without_faults_is_added_up(sotto_test *t)
{
    const sotto_sim_population_plan plan = small(1); /* in which devices draw a leaf twice */
    sotto_sim_population_report r = play(t, &plan, 0, NULL, NULL);

    CHECK(t, r.net.released && r.is_exact);
    CHECK(t, r.drawn > 40 && r.drawn < 115); /* four standard deviations around 75 */
    CHECK_EQUAL(t, r.drawn, r.net.contributions);
    CHECK(t, r.asked >= 300); /* 150 devices ask for two leaves each, and for their own */
    CHECK_EQUAL(t, r.asked, r.answered);
    CHECK_EQUAL(t, 0, r.wrong);
    CHECK_EQUAL(t, 0, r.challenges);
}

/* All that the simulated network does. Whatever it is: the sum of those who were counted, and no leaf that is wrong. */
static void a_crowd_with_all_faults_is_added_up(sotto_test *t)
{
    sotto_sim_population_plan plan = small(2);

    plan.faults = (sotto_sim_faults){.drop = 0.01,
                                     .duplicate = 0.05,
                                     .late = 0.01,
                                     .late_ms = 2000,
                                     .delay_least_ms = 1,
                                     .delay_most_ms = 300,
                                     .crash_before = 0.002,
                                     .crash_after = 0.002};
    sotto_sim_population_report r = play(t, &plan, 400, NULL, NULL);
    CHECK(t, r.net.released && r.is_exact);
    CHECK(t, r.net.contributions >= r.drawn - r.drawn / 8);
    CHECK(t, r.net.contributions < r.drawn);   /* something was lost */
    CHECK(t, r.net.verdicts[SOTTO_STALE] > 0); /* ... and something came twice */
    CHECK(t, r.challenges > 0); /* who got no answer asked on the board, and was answered there */
    CHECK_EQUAL(t, 0, r.wrong);
}

/* The server shows another nonce of some leaves than was promised. */
static bool shows_another_leaf(void *context, sotto_sim_net *net, sotto_message *m,
                               sotto_bytes *bulk)
{
    static uint8_t copy[1 << 20];

    (void)context;
    (void)net;
    (void)bulk;
    if (m->kind != SOTTO_AERO_SAMPLE || m->to % 50 != 0 || m->body.len > sizeof copy)
        return true;
    memcpy(copy, m->body.data, m->body.len);
    copy[m->body.len / 2] ^= 1;
    m->body = sotto_bytes_of(copy, m->body.len);
    return true;
}

static void a_crowd_finds_what_a_server_made_up(sotto_test *t)
{
    const sotto_sim_population_plan plan = small(3);
    sotto_sim_population_report r = play(t, &plan, 0, shows_another_leaf, NULL);

    CHECK(t, r.wrong > 0);
    CHECK(t, !r.net.released);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_crowd_without_faults_is_added_up),
        CASE(a_crowd_with_all_faults_is_added_up),
        CASE(a_crowd_finds_what_a_server_made_up),
    };
    return RUN_TESTS(argc, argv, cases);
}
