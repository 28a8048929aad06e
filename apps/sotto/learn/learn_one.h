/* apps/sotto/learn/learn_one.h - a session over one server: what learn_one_server.c and learn_one_devices.c share.
 *
 * Every device is one of libsotto-device-full, with files for its events, its ledger and its journal. They all run in this process.
 * Each run is a new session of the server: witnesses, registry, beacon and committee are new, and devices keep their ledgers.
 */
#ifndef SOTTO_APPS_LEARN_ONE_H
#define SOTTO_APPS_LEARN_ONE_H

#include "learn_run.h"

#include "recipe/one_server.h"
#include "sotto/learn.h"
#include "sotto/rounds.h"
#include "support/fleet.h"

enum { LEARN_ONE_DEVICES = 256 }; /* files are open for each of them */

typedef struct learn_one_device {
    struct learn_one *of;
    sotto_device *device;
    sotto_rounds *rounds;
    uint8_t secret[SOTTO_ROUNDS_SECRET];
    uint64_t next_ms; /* UINT64_MAX: nothing is due */
    bool off;         /* in the round at hand */
} learn_one_device;

typedef struct learn_one {
    learn_run *run;
    demo_aggregator server;
    sotto_fleet
        epoch; /* without devices of its own: the beacon, the committee's board, and the client */
    sotto_one_server stated;
    sotto_one_server_graph graph;
    learn_one_device devices[LEARN_ONE_DEVICES];
    uint32_t count;
    uint64_t served;    /* rounds of the committee at hand */
    uint64_t window_ms; /* of the next round */
    uint8_t reported[LEARN_ONE_DEVICES];
    uint8_t id[SOTTO_ROUND_ID]; /* of the round at hand */
    sotto_bytes posting;
    sotto_arena scratch; /* of one exchange */
    sotto_arena asking;  /* of the operator's */
} learn_one;

/* learn_one_devices.c: the policy of all of them, into the deployment's policy_text. */
SOTTO_MUST_USE sotto_status learn_one_policy(learn_run *run, sotto_err *err);
/* All of them; their keys are the epoch's registry then. */
SOTTO_MUST_USE sotto_status learn_one_devices_open(learn_one *one, sotto_err *err);
void learn_one_devices_close(learn_one *one);
/* The record of the round at hand, for everybody. */
SOTTO_MUST_USE sotto_status learn_one_offer(learn_one *one, sotto_err *err);
/* Members of the committee that the call names join it. */
SOTTO_MUST_USE sotto_status learn_one_join(learn_one *one, sotto_bytes call, sotto_err *err);
/* Whoever is not switched off takes part in the posted round: trains, pays and keeps its vector. */
SOTTO_MUST_USE sotto_status learn_one_take(learn_one *one, sotto_err *err);
/* Whatever is due. A device that fails is asked again. */
void learn_one_tick(learn_one *one, uint64_t now_ms);

#endif
