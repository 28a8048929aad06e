/* apps/support/gathering.h - a round with all its participants in this process: post, board and a clock that nobody waits for.
 *
 * Callers:  `sotto demo --trust aero`, and its test.
 * Memory:   participants have arenas of their own, which close clears. Letters are freed once they were delivered.
 * Threads:  one.
 *
 * Every message is encoded, decoded and checked as one from a stranger. Nothing is stored: no participant survives this process.
 * There are no faults here; src/sim has those.
 */
#ifndef SOTTO_APPS_SUPPORT_GATHERING_H
#define SOTTO_APPS_SUPPORT_GATHERING_H

#include "aggregate/method.h"

/* Who takes part, with fresh keys. */
typedef struct sotto_company {
    uint32_t count;
    sotto_signer server, *devices;
    sotto_self_secrets *secrets;
    sotto_registry registry;
} sotto_company;

SOTTO_MUST_USE sotto_status sotto_company_init(sotto_company *people, uint32_t count,
                                               sotto_arena *arena, sotto_err *err);
void sotto_company_clear(sotto_company *people);

/* Sees every record that the board takes. */
typedef void sotto_board_reader(void *context, uint64_t index, const sotto_message *record);

typedef struct sotto_gathering sotto_gathering;
/* Everybody joins. The round and the people are borrowed.
 *   SOTTO_DENIED  somebody does not join such a round */
SOTTO_MUST_USE sotto_status sotto_gathering_open(sotto_gathering **out, const sotto_method *method,
                                                 const sotto_round *round,
                                                 const sotto_company *people, sotto_arena *arena,
                                                 sotto_err *err);
void sotto_gathering_close(sotto_gathering *g);

/* What this device has to say, if it is asked: borrowed. */
void sotto_gathering_give(sotto_gathering *g, uint32_t device, const sotto_vector *vector);
/* In whatever part, it neither hears nor says anything from now on; letters that it sent are lost, too. */
void sotto_gathering_switch_off(sotto_gathering *g, uint32_t device);
void sotto_gathering_read_board(sotto_gathering *g, sotto_board_reader *reader, void *context);

/* Until nothing is left to do before this time, or the server is done. */
SOTTO_MUST_USE sotto_status sotto_gathering_run(sotto_gathering *g, uint64_t until_ms,
                                                sotto_err *err);
/* The server's end.
 *   SOTTO_AGAIN   it has not come to one
 *   SOTTO_DENIED  it opened no sum; the reason is its */
SOTTO_MUST_USE sotto_status sotto_gathering_result(const sotto_gathering *g,
                                                   sotto_round_result *result, sotto_err *err);
/* The server's machine, for those who play a server that lies. */
sotto_machine *sotto_gathering_server(sotto_gathering *g);

#endif
