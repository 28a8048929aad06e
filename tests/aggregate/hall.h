/* tests/aggregate/hall.h - rounds of encrypted sums for tests: people, a round, inputs, and the simulated network with its board. */
#ifndef SOTTO_TESTS_AGGREGATE_HALL_H
#define SOTTO_TESTS_AGGREGATE_HALL_H

#include "aggregate/aero/client.h"
#include "aggregate/aero/member.h"
#include "aggregate/aero/server.h"
#include "sim/net.h"
#include "support/test.h"

enum { HALL_MOST = 24 };

typedef struct hall_plan {
    uint8_t committees; /* 0: 1 */
    uint32_t clients, committee, threshold, noise, missing, corrupt, liars, length;
    uint64_t rate;     /* 0: everybody contributes */
    uint64_t variance; /* of a share of noise */
    uint64_t seed, number, epsilon, norm2;
    uint8_t checks, opening;
    uint8_t rekey, handed; /* rekey: numbers are epochs, too */
    sotto_aero_origin origin;
    const char *set; /* NULL: b64 */
} hall_plan;

typedef struct hall {
    hall_plan plan;
    sotto_round round;
    sotto_sim_cast cast;
    sotto_aero_plan *derived; /* committees and draws */
    sotto_aero_account account;
    sotto_vector inputs[HALL_MOST];
} hall;

extern const hall_plan
    HALL_SMALL; /* eight devices, five members of whom three open, four shares of noise */

void hall_open(sotto_test *t, hall *h, hall_plan plan);
void hall_close(hall *h);
/* After a change to the round or its terms. */
void hall_set(sotto_test *t, hall *h, const sotto_aero_terms *terms);
sotto_aero_terms hall_terms(sotto_test *t, const hall *h);
sotto_sim_net *hall_net(sotto_test *t, const hall *h, uint64_t seed);
/* The session's next round, which begins with the key of this one, and its network: everybody brings along what it took from this one's. Change
 * the plan beforehand, or the network afterwards. */
void hall_follow(sotto_test *t, hall *next, const hall *h, hall_plan plan);
sotto_sim_net *hall_net_after(sotto_test *t, const hall *next, sotto_sim_net *before);
sotto_sim_report hall_run(sotto_test *t, const hall *h, sotto_sim_net *net);
/* Whether the sum is opened before members go home. */
bool hall_opens(sotto_test *t, const hall *h, sotto_sim_net *net);
/* Whether the sum is that of those who were counted. */
bool hall_is_exact(const hall *h, const sotto_sim_report *report);

/* One whole round, without faults or with one liar at this address. */
sotto_sim_report hall_play(sotto_test *t, const hall *h, uint64_t seed, uint32_t liar,
                           sotto_sim_liar *how, void *context);

/* The machines themselves, for those who lie with all they have. */
sotto_aero_aggregator *hall_server(sotto_sim_net *net);
sotto_aero_device *hall_device(sotto_sim_net *net, uint32_t index);
sotto_aero_committee_member *hall_member(const hall *h, sotto_sim_net *net, uint32_t place);
/* A member of this round's committee or of the one before, by registry index; NULL: it has no machine now. */
sotto_aero_committee_member *hall_speaker(sotto_sim_net *net, uint32_t index);
/* Steps so far. */
uint64_t hall_steps(const sotto_sim_net *net);
/* Lets time pass until just before promises are posted, before sums are, or until the end. */
enum { HALL_PROMISES = 1999, HALL_SUMS = 2999 };
void hall_until(sotto_test *t, sotto_sim_net *net, uint64_t until_ms);

#endif
