/* apps/sotto/demo/demo_board.h - an aggregator whose boards a witness cosigns, and what a board shows of a round of encrypted sums.
 *
 * Callers:  `sotto demo --trust aero`, and `sotto learn run` with such recipes.
 */
#ifndef SOTTO_APPS_DEMO_BOARD_H
#define SOTTO_APPS_DEMO_BOARD_H

#include "demo.h"

#include "aggregate/aero/aero.h"

enum { DEMO_BOARD_KINDS = SOTTO_AERO_TAKEN + 1 };

typedef struct demo_witness {
    demo_server process;
    char text[DEMO_NOTE_KEY];
    sotto_note_key key;
    char url[64];
    const char *urls[1];  /* that */
    sotto_policy_log log; /* as a policy would name it */
} demo_witness;

/* The aggregator gets a key, and a witness that knows it. */
SOTTO_MUST_USE sotto_status demo_witness_start(demo *d, demo_aggregator *a, demo_witness *w,
                                               sotto_err *err);

/* What the board showed of a round. */
typedef struct demo_board {
    uint64_t next;                   /* entry that was not read yet */
    uint64_t last[DEMO_BOARD_KINDS]; /* index of the last record of each kind, and 1 */
    uint64_t complaints;
    uint32_t first; /* device that complained */
} demo_board;

/* Reads on, as anybody may. What can't be had now is read later. */
void demo_board_read(demo_board *b, const demo_aggregator *a, struct sotto_http_client *client,
                     const sotto_round *round, const uint8_t id[SOTTO_ROUND_ID],
                     sotto_arena *scratch);
/* Where records of the round are, for its receipt. */
void demo_board_entries(sotto_stated_encryption *out, const demo_board *b);

/* How many times as long as alone this process needs for its work, since others use this machine: 1 to 8. */
unsigned demo_business(void);

#endif
