/* Expected reports of each round, against devices that draw. */
#include "base/arena.h"
#include "recipe/learning_turns.h"
#include "sim/random.h"
#include "support/judged.h"

#include <math.h>
#include <string.h>

enum { DEVICES = 200000, ROUNDS = 24 };

static sotto_learning session(uint64_t participations, uint64_t separation, double rate)
{
    sotto_learning l = {.rounds = ROUNDS,
                        .participations = participations,
                        .separation = separation,
                        .head = {.population = DEVICES}};

    l.head.participation.type = SOTTO_POISSON;
    l.head.participation.rate = rate;
    return l;
}

static void simulate(uint64_t reports[ROUNDS], const sotto_learning *l)
{
    sotto_sim_random random;

    memset(reports, 0, ROUNDS * sizeof *reports);
    sotto_sim_random_init(&random, 5);
    for (unsigned device = 0; device < DEVICES; device++) {
        uint64_t had = 0, again = 0;

        for (uint64_t t = 0; t < ROUNDS; t++)
            if (sotto_sim_random_chance(&random, l->head.participation.rate) && t >= again &&
                had < l->participations) {
                reports[t]++;
                had++;
                again = t + l->separation;
            }
    }
}

/* Six deviations: by chance once in 10^8 for a figure, and there are 144. */
static void rounds_expect_what_devices_draw(sotto_test *t)
{
    static const struct {
        uint64_t participations, separation;
        double rate;
    } cases[] = {{3, 4, 0.15}, {3, 1, 0.15}, {24, 5, 0.3}, {1, 1, 0.2}, {2, 9, 0.5}, {5, 4, 1}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sotto_learning l =
            session(cases[i].participations, cases[i].separation, cases[i].rate);
        uint64_t seen[ROUNDS];
        sotto_turns turns;

        simulate(seen, &l);
        CHECK_OK(t, sotto_learning_turns(&turns, &l, &t->arena, &t->err));
        CHECK_EQUAL(t, ROUNDS, turns.rounds);
        for (size_t r = 0; r < ROUNDS; r++) {
            const double p = turns.reports[r] / DEVICES;

            CHECK_NEAR(t, turns.reports[r], (double)seen[r],
                       6 * sqrt(DEVICES * p * fmax(1 - p, 0)) + 1e-3);
        }
    }
}

static void zeros_are_reports(sotto_test *t)
{
    sotto_learning l = session(3, 4, 0.15);
    sotto_turns turns;

    l.zeros = true;
    CHECK_OK(t, sotto_learning_turns(&turns, &l, &t->arena, &t->err));
    CHECK_NEAR(t, 0.15 * DEVICES, turns.reports[ROUNDS - 1], 1e-6);
}

/* A recipe of a stranger takes no more than this of a device's time and memory. */
static void long_sessions_are_looked_at_in_part(sotto_test *t)
{
    sotto_learning l = session(1000000, 1, 0.15);
    sotto_turns turns;
    sotto_arena arena;

    l.rounds = 1000000;
    for (unsigned i = 0; i < 2; i++) {
        sotto_arena_init(&arena, sotto_learning_turns_room(&l));
        CHECK_OK(t, sotto_learning_turns(&turns, &l, &arena, &t->err));
        CHECK_EQUAL(t, i == 0 ? 67 : SOTTO_TURNS_ROUNDS, turns.rounds);
        sotto_arena_clear(&arena);
        l.participations = 3;
    }
}

static void rounds_that_may_burn_are_warned_of(sotto_test *t)
{
    const sotto_mistake *m =
        sotto_test_mistake(sotto_test_judge(t, sotto_test_learning_with(t, NULL, NULL), NULL),
                           "privacy.min_cohort", SOTTO_WARNING);

    CHECK(t, m && strstr(m->what, "of the first 150 rounds fewer reports are expected"));
    CHECK(t, !sotto_test_mistake(
                 sotto_test_judge(t,
                                  sotto_test_learning_with(t, "\"population\": 1000000",
                                                           "\"population\": 9000000"),
                                  NULL),
                 "privacy.min_cohort", SOTTO_WARNING));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(rounds_expect_what_devices_draw),
        CASE(zeros_are_reports),
        CASE(long_sessions_are_looked_at_in_part),
        CASE(rounds_that_may_burn_are_warned_of),
    };

    return RUN_TESTS(argc, argv, cases);
}
