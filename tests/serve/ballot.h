/* tests/serve/ballot.h - eight devices or more in rounds of encrypted sums, over an aggregator in this process. Proofs are doubles. */
#ifndef SOTTO_TESTS_SERVE_BALLOT_H
#define SOTTO_TESTS_SERVE_BALLOT_H

#include "aggregation.h"

#include "aggregate/aero/aero.h"

enum {
    BALLOT_MOST = 24, /* devices */
    DEVICES = 8,      /* unless a test says otherwise, as with what follows */
    COMMITTEE = 5,
    OPENING = 3, /* members that open */
    NOISE = 4,
    COMMIT_BY = 3000,
    CLOSES = 5000,
    VERIFY_BY = 8000,
    RELEASE_BY = 14000
};

/* Sizes that tests can afford protect nobody. */
extern const sotto_aero_account ballot_trial;

/* What devices heard of their vectors. */
extern unsigned ballot_leaves[BALLOT_MOST], ballot_arrives[BALLOT_MOST];

typedef struct ballot {
    aggregation a;
    uint32_t devices;
    uint32_t members, opening_members; /* of the committee; 0: COMMITTEE and OPENING */
    uint8_t set;                       /* of parameters; 0: the first one            */
    unsigned slow;                     /* how many times as long as above a round takes; 0: once */
    uint8_t committees;                /* with a place for everybody; 0: one, of the size above  */
    size_t length;                     /* of vectors; 0: LENGTH                                  */
    uint8_t
        rekey; /* rounds under one key: two open then, so that one may lie; 0: each has its own */
    struct {
        uint8_t handed; /* of the round that was written last */
        uint64_t number;
        sotto_aero_origin origin;
        uint32_t part_count;
        sotto_beacon_part parts[8];
    } last;
    uint8_t opening;       /* the path */
    uint32_t clears;       /* devices that must say that they found nothing wrong    */
    sotto_aero_plan *plan; /* who is drawn for what */
    sotto_round round;
    uint8_t parameters[SOTTO_AERO_TERMS_HANDED];
} ballot;

/* more: lines of the aggregator's options. */
void ballot_open(sotto_test *t, ballot *b, const char *more);
void ballot_open_many(sotto_test *t, ballot *b, const char *more, uint32_t devices);
/* Writes the posting of the next number, with a beacon of its own; the second posts it, too. */
void ballot_write(sotto_test *t, ballot *b);
void ballot_post(sotto_test *t, ballot *b);
/* Everybody checks; those of the bits contribute; members open. */
void ballot_join(sotto_test *t, ballot *b, unsigned contributors);
/* Whether the round's sum is that of these devices. */
bool ballot_sum_is(sotto_test *t, const ballot *b, unsigned contributors);

sotto_http_response ballot_read(sotto_test *t, const ballot *b, uint64_t since, uint32_t reader);
typedef struct ballot_seen {
    unsigned entries, excerpts;
    unsigned of[64]; /* by kind */
    size_t shown;    /* bytes of bodies, in excerpts */
} ballot_seen;
/* What is on the board, as this reader is shown it. */
ballot_seen ballot_look(sotto_test *t, const ballot *b, uint32_t reader);

#endif
