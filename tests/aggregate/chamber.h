/* tests/aggregate/chamber.h - a committee that meets on a board: who is in it, what the server hides and who lies.
 */
#ifndef SOTTO_TESTS_AGGREGATE_CHAMBER_H
#define SOTTO_TESTS_AGGREGATE_CHAMBER_H

#include "aggregate/keygen/keygen.h"
#include "support/epoch.h"
#include "support/test.h"

enum { REGISTERED = 9, MEMBERS = 7, THRESHOLD = 3, QUORUM = 5, WITNESSES = 4 };

typedef struct chamber {
    sotto_epoch e;
    sotto_signer signers[REGISTERED];
    sotto_dh channels[REGISTERED];
    uint8_t seeds[REGISTERED][32], shares[REGISTERED][32];
    sotto_keygen k;
    sotto_decryptors_record record;           /* as the last who finished has it */
    sotto_keygen_board seen[REGISTERED], all; /* all: what was posted */
    bool stops[REGISTERED];                   /* by registry index: it said SOTTO_DENIED */
    unsigned shown;                           /* values in SHOW */
    /* What the server hides of a post from a member, and what a liar makes of its own. */
    bool (*hides)(const struct chamber *h, uint32_t from, unsigned step, uint32_t to);
    void (*lies)(struct chamber *h, uint32_t place, unsigned step, sotto_buf *body);
} chamber;

/* With a call of a first epoch. There is one at a time. */
chamber *chamber_open(sotto_test *t);
void chamber_close(chamber *h);
/* A call of this epoch; old: NULL, or whose key is handed on, with the beacon that drew them. */
void chamber_call(sotto_test *t, chamber *h, const sotto_decryptors_record *old,
                  const sotto_epoch *before);
void chamber_step(sotto_test *t, chamber *h, unsigned step);
/* All steps up to this one. */
void chamber_run(sotto_test *t, chamber *h, unsigned last);
/* How many said SOTTO_DENIED. */
unsigned chamber_stopped(const chamber *h);
/* The record is valid, and the shares at these three places are the key's. */
void chamber_check_key(sotto_test *t, chamber *h, const uint32_t places[THRESHOLD]);

#endif
