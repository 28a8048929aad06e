/* tests/aggregate/rounds.h - rounds, people and inputs for tests of every method.
 *
 * A row states what the method must survive; nothing else in the suite knows which method it is.
 */
#ifndef SOTTO_TESTS_AGGREGATE_ROUNDS_H
#define SOTTO_TESTS_AGGREGATE_ROUNDS_H

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/flamingo/flamingo.h"
#include "sim/net.h"
#include "support/test.h"

struct round_case;
typedef struct method_row {
    const sotto_method *method;
    /* Fills parameters, least, `losses` and, where there are decryptors, those and how many of them may be lost. */
    void (*fit)(sotto_test *t, struct round_case *c, uint64_t seed);
    /* Above 1, its rounds are slow: the short form plays one of so many where faults are drawn, and every other step. */
    unsigned slow;
} method_row;

extern const method_row METHOD_ROWS[];
extern const size_t METHOD_ROW_COUNT;
extern const method_row *const BBGLR_ROW, *const FLAMINGO_ROW;

/* A round with its people and their inputs, all in the test's arena. */
typedef struct round_case {
    const method_row *row;
    sotto_round round;
    sotto_sim_cast cast;
    uint32_t clients, losses; /* clients that may fall silent at any time */
    uint32_t decryptors, decryptors_lost;
    sotto_vector *inputs;
} round_case;

void round_case_init(sotto_test *t, round_case *c, const method_row *row, uint32_t clients,
                     sotto_ring ring, size_t length, uint64_t seed);
void round_case_clear(round_case *c);
/* After a change to the round: its parameters are written anew. */
void round_case_set_bbglr(sotto_test *t, sotto_round *round, const sotto_bbglr_parameters *p);

void round_case_set_flamingo(sotto_test *t, sotto_round *round, const sotto_flamingo_parameters *p);

/* A network with everybody in it. */
sotto_sim_net *round_case_net(sotto_test *t, const round_case *c, uint64_t seed);
/* Runs it until long after the round's end. */
sotto_sim_report round_case_run(sotto_test *t, const round_case *c, sotto_sim_net *net);

/* Whether the sum is that of the inputs that were counted, and of no fewer than the round demands. */
bool sum_is_exact(const round_case *c, const sotto_sim_report *report);

#endif
