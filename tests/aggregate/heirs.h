/* tests/aggregate/heirs.h - two rounds of one key for tests: the second one's committee takes it over from the first one's. */
#ifndef SOTTO_TESTS_AGGREGATE_HEIRS_H
#define SOTTO_TESTS_AGGREGATE_HEIRS_H

#include "hall.h"

/* A round that made a key, and the one that is to take it over. */
typedef struct heirs {
    hall first, second;
    sotto_sim_net *before, *net;
} heirs;

/* Eight devices, five members of whom two open: one of them may lie, and three have to agree. */
hall_plan heirs_plan(void);
/* Plays the first round, and opens the second one by a plan. */
void heirs_open_as(sotto_test *t, heirs *p, hall_plan plan);
void heirs_open(sotto_test *t, heirs *p);
void heirs_close(heirs *p);
/* What the server reads. */
const sotto_aero_view *heirs_view(sotto_sim_net *net);
/* The second round has the first one's key. */
bool heirs_have_key(const heirs *p);
/* Nobody who was in a committee before this round's has anything left of it. */
bool heirs_have_nothing(const heirs *p);
/* Whether these two shares open what a device revealed in the second round. */
bool heirs_read(sotto_test *t, const heirs *p, const sotto_aero_share *const shares[2],
                const uint32_t places[2]);
/* A liar that keeps messages of one kind back; context: the kind, an unsigned. */
bool heirs_say_no_more(void *context, sotto_sim_net *net, sotto_message *m, sotto_bytes *bulk);

#endif
