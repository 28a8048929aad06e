/* tests/serve/aggregation.h - an aggregator in this process with a clock that the test moves, and devices with duties. */
#ifndef SOTTO_TESTS_SERVE_AGGREGATION_H
#define SOTTO_TESTS_SERVE_AGGREGATION_H

#include "serve/aggregator/aggregator_service.h"
#include "serve/host/host.h"
#include "sim/clock.h"
#include "support/database.h"
#include "support/fleet.h"

#define OPERATOR "Bearer operator-of-the-test"

enum { LENGTH = 6, MOST = 1000 };

typedef struct aggregation {
    sotto_host *host, *second; /* second: NULL unless there is one */
    sotto_sim_clock time;
    sotto_clock clock;
    sotto_signer signer;
    sotto_fleet fleet;
    const char *directory;
    uint64_t number;   /* of the last round */
    size_t length;     /* of vectors: LENGTH unless a test says otherwise */
    uint64_t opens_in; /* milliseconds, of the next round */
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes posting;
} aggregation;

/* more: lines of options. */
void aggregation_open(sotto_test *t, aggregation *a, uint32_t devices, uint32_t members,
                      const char *more);
void aggregation_close(aggregation *a);
/* The server ends, and another one starts over its database; devices are killed and revived, too. */
void aggregation_restart(sotto_test *t, aggregation *a);

/* Another server over the same database, which closes with this one. */
sotto_host *aggregation_second(sotto_test *t, aggregation *a);

uint64_t aggregation_now(const aggregation *a);
/* A round of everybody that opens now; least: contributions. Posts it: the answer's status. */
unsigned aggregation_post(sotto_test *t, aggregation *a, uint64_t least);
/* The entry of a device: something that tells it from all others. */
uint64_t aggregation_value(uint32_t device, size_t entry);
/* This device answers, and has the duty of a decryptor if it was drawn. */
void aggregation_answer(sotto_test *t, aggregation *a, uint32_t device, bool client);

sotto_http_response aggregation_ask(sotto_test *t, const aggregation *a, sotto_http_method method,
                                    const char *place, const char *who, const char *type,
                                    sotto_bytes body);
/* "rounds/ID" and what follows. */
const char *aggregation_place(sotto_test *t, const aggregation *a, const char *what);

/* Ticks everybody once, moves the clock by so much, and waits until the servers have done what is then due. */
void aggregation_turn(sotto_test *t, aggregation *a, unsigned ms);
/* Goes on until the round is over. "released" or "burnt": whether it ended like this. */
bool aggregation_ends(sotto_test *t, aggregation *a, const char *how);
/* Whether the sum is that of these devices, a bit for each. */
bool aggregation_sum_is(sotto_test *t, const aggregation *a, uint64_t devices);

/* What the journal of a device that is switched off would send first. */
sotto_bytes aggregation_waiting(sotto_test *t, const aggregation *a, uint32_t device);

#endif
