/* apps/sotto/demo/demo_aero.h - what the files of `sotto demo --trust aero` share.
 *
 *     demo_aero.c        the question, the people, and what is printed
 *     demo_board.c       witness and boards
 *     demo_aero_round.c  a round over HTTP, with a server that lies or one that does not
 */
#ifndef SOTTO_APPS_DEMO_AERO_H
#define SOTTO_APPS_DEMO_AERO_H

#include "demo.h"
#include "demo_board.h"

#include "aggregate/aero/aero.h"
#include "aggregate/aero/proof_known.h"
#include "recipe/content.h"
#include "recipe/encrypted.h"
#include "recipe/model.h"
#include "support/fleet.h"
#include "support/liar.h"

enum {
    DEMO_AERO_COMMITTEE = 15,
    DEMO_AERO_CORRUPT = 8,
    DEMO_AERO_NOISE = 16,
    DEMO_AERO_NOISE_CORRUPT = 8,
    DEMO_AERO_NOISE_MISSING = 2
};

typedef struct demo_aero_scene {
    demo *d;
    demo_aggregator server;
    demo_witness witness;
    sotto_fleet fleet;
    sotto_report_content content;
    sotto_encrypted plan;
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED];
    sotto_round round;
    sotto_aero_account account;
    sotto_aero_known known;
    sotto_aero_plan *drawn; /* who is drawn for what */
    uint64_t *bins;
    const uint64_t **vectors;
    uint8_t *reported; /* by device */
    sotto_bytes posting;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_arena memory, scratch; /* of a round, of an answer */
    demo_board board;
    unsigned patience;  /* of the last round: see demo_aero_play */
    uint32_t off_drawn; /* of those switched off, how many would have contributed */
    bool lies;          /* the server of this round is to lie */
    bool has_lied;
    unsigned kept_off; /* complaints that the liar did not take */
    sotto_lie lie;
    uint64_t members_at,
        asked_at; /* milliseconds since 1970: when they were ticked, and the server asked, last */
} demo_aero_scene;

/* Witness, aggregator and devices; then witnesses of the beacon, and everybody's keys. */
SOTTO_MUST_USE sotto_status demo_aero_open(demo_aero_scene *s, sotto_err *err);
void demo_aero_close(demo_aero_scene *s);
/* A round, from its posting to its end. patience: how many times as long as the shortest round it takes. */
SOTTO_MUST_USE sotto_status demo_aero_play(demo_aero_scene *s, unsigned patience, bool *released,
                                           sotto_err *err);

#endif
