/* tests/serve/ballot.h - rounds of encrypted sums over HTTP: an aggregator with its board, and eight devices. Proofs are doubles. */
#ifndef SOTTO_TESTS_SERVE_BALLOT_H
#define SOTTO_TESTS_SERVE_BALLOT_H

#include "aggregate/aero/aero.h"
#include "aggregate/excerpt.h"
#include "aggregation.h"

enum {
    DEVICES = 8,
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
/* What devices heard of their vectors since the ballot was opened. */
extern unsigned ballot_leaves[DEVICES], ballot_arrives[DEVICES];

typedef struct ballot {
    aggregation a;
    sotto_aero_plan *plan; /* who is drawn for what */
    sotto_round round;
    uint8_t parameters[SOTTO_AERO_TERMS];
} ballot;

void ballot_open(sotto_test *t, ballot *b);
/* Writes the posting of the next number, with a beacon of its own. */
void ballot_write(sotto_test *t, ballot *b);
/* The same until a round has a device that is in no committee: its index. */
uint32_t ballot_write_with_bystander(sotto_test *t, ballot *b);
/* Writes it, and posts it. */
void ballot_post(sotto_test *t, ballot *b);
/* Everybody checks; those of the bits contribute; members open. */
void ballot_join(sotto_test *t, ballot *b, unsigned contributors);
bool ballot_sum_is(sotto_test *t, const ballot *b, unsigned contributors);

/* whole: 1 asks for records with their shares. */
sotto_http_response ballot_read(sotto_test *t, const ballot *b, uint64_t since, uint8_t whole);

/* What is on the board, by kinds. */
typedef struct ballot_seen {
    unsigned entries, excerpts;
    unsigned of[SOTTO_AERO_PART + 1];
} ballot_seen;

ballot_seen ballot_look(sotto_test *t, const ballot *b, uint8_t whole);

/* Not signed; it borrows the body. */
sotto_message ballot_message(const ballot *b, unsigned kind, uint32_t from, uint32_t to,
                             sotto_bytes body);
/* The answer's status. */
unsigned ballot_send(sotto_test *t, const ballot *b, const sotto_message *m);
/* A signer with a device's own keys. */
void ballot_signer(sotto_test *t, const ballot *b, uint32_t device, sotto_signer *out);

#endif
