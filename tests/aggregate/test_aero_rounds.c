/* Whole rounds of encrypted sums on the simulated network, with the proof double. */
#include "hall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lap {
    sotto_arena_mark mark;
} lap;

static lap begin(sotto_test *t)
{
    return (lap){sotto_arena_here(&t->arena)};
}

static void end(sotto_test *t, lap l, hall *h)
{
    hall_close(h);
    sotto_arena_rollback(&t->arena, l.mark);
}

static void the_sum_is_the_sum(sotto_test *t)
{
    static const struct {
        uint32_t clients, length;
        const char *set;
    } cases[] = {{8, 6, "b64"}, {6, 1, "b87"}, {5, 4096, "b64"}, {12, 4095, "b64"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lap l = begin(t);
        hall_plan p = HALL_SMALL;
        hall h;

        p.clients = cases[i].clients;
        p.length = cases[i].length;
        p.set = cases[i].set;
        p.seed = i;
        hall_open(t, &h, p);
        sotto_sim_report report = hall_play(t, &h, i, 0, NULL, NULL);
        CHECK(t, report.released);
        CHECK_EQUAL(t, p.clients, report.contributions);
        CHECK_EQUAL(t, 0, report.blamed_count);
        CHECK_EQUAL(t, 0, report.verdicts[SOTTO_REJECTED]);
        end(t, l, &h);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_sum_is_the_sum),
    };
    return RUN_TESTS(argc, argv, cases);
}
