/* apps/sotto/learn/learn_one.h - a session over one server: what learn_one_server.c and learn_one_devices.c share.
 *
 * Every device is one of libsotto-device-full, with files for its events, its ledger and its journal. They all run in this process.
 * Each run is a new session of the server: witnesses, registry, beacon and committee are new, and devices keep their ledgers.
 */
#ifndef SOTTO_APPS_LEARN_ONE_H
#define SOTTO_APPS_LEARN_ONE_H

#include "demo_witnesses.h"
#include "learn_run.h"

#include "aggregate/aero/proof_known.h"
#include "demo_board.h"
#include "recipe/learning_encrypted.h"
#include "recipe/one_server.h"
#include "sotto/learn.h"
#include "sotto/rounds.h"
#include "support/fleet.h"

enum {
    LEARN_ONE_DEVICES = 256,      /* files are open for each of them */
    LEARN_ENCRYPTED_WITNESSES = 4 /* of the beacon of encrypted sums, in this process */
};

typedef struct learn_one_device {
    struct learn_one *of;
    sotto_device *device;
    sotto_rounds *rounds;
    uint8_t secret[SOTTO_ROUNDS_SECRET];
    uint64_t next_ms; /* UINT64_MAX: nothing is due */
    bool off;         /* in the round at hand */
    bool opens;       /* the sum of the round at hand, with others */
} learn_one_device;

/* A session of encrypted sums: learn_one_encrypted.c. */
typedef struct learn_encrypted {
    demo_witness witness; /* of the aggregator's boards */
    sotto_encrypted plan;
    sotto_aero_account own; /* of every device: they share what proofs were verified */
    sotto_aero_known known;
    sotto_arena proofs; /* that are known */
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED];
    sotto_round round;
    sotto_aero_plan *drawn; /* in the round's arena */
    /* The round that was posted last, whose key this one may take over. */
    struct {
        uint64_t number; /* 0: there is none */
        uint8_t handed;  /* how often its key had been handed over */
        sotto_aero_origin origin;
        uint32_t part_count;
        sotto_beacon_part parts[LEARN_ENCRYPTED_WITNESSES];
    } last;
    demo_board board;
    uint64_t members_at,
        read_at;       /* milliseconds since 1970: when they were ticked, and it was read, last */
    uint64_t lost;     /* of those drawn to contribute, how many are off */
    unsigned patience; /* how many times as long as the shortest a round takes */
} learn_encrypted;

typedef struct learn_one {
    learn_run *run;
    demo_aggregator server;
    demo_witnesses witnesses;
    sotto_fleet
        epoch; /* without devices of its own: the beacon, the committee's board, and the client */
    sotto_one_server stated;
    sotto_one_server_graph graph;
    struct learn_encrypted *encrypted; /* NULL: sums are masked */
    learn_one_device devices[LEARN_ONE_DEVICES];
    uint32_t count;
    unsigned witness_port; /* of encrypted sums, where it ran before; else 0 */
    uint64_t served;       /* rounds of the committee at hand */
    uint64_t window_ms;    /* of the next round */
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
void learn_one_tick(learn_one *one);
void learn_one_tick_device(learn_one *one, uint32_t device);

/* learn_one_encrypted.c: aggregator and witness; what can't be run here; the session's plan and what all devices know. */
SOTTO_MUST_USE sotto_status learn_encrypted_open(learn_one *one, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_encrypted_check(const learn_run *run, sotto_err *err);
SOTTO_MUST_USE sotto_status learn_encrypted_begin(learn_one *one, sotto_err *err);
void learn_encrypted_close(learn_one *one);
/* A device knows what all know, and reads no board that the witness did not cosign. */
void learn_encrypted_tell(learn_one *one, sotto_duties *duties);
/* Whether a run that was killed had posted the round at hand. */
bool learn_encrypted_was_posted(learn_run *run);
/* Draws and posts the round at hand. */
SOTTO_MUST_USE sotto_status learn_encrypted_post(learn_one *one, sotto_err *err);
/* Whether a device is in a committee of the round at hand: --drop leaves those alone. */
bool learn_encrypted_serves(const learn_one *one, uint32_t device);
void learn_encrypted_say(const learn_one *one);
/* What can't wait until all devices had their turn: members, and the board. */
void learn_encrypted_look(learn_one *one);

#endif
