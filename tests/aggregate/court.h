/* tests/aggregate/court.h - a hostile server of a bbglr round, played by hand against honest clients.
 *
 * It runs the clients' machines, tells them whatever a test wants, signed with the server's key, and writes down all they say. Vows
 * are not enforced here: what a machine refuses, it refuses by itself.
 */
#ifndef SOTTO_TESTS_AGGREGATE_COURT_H
#define SOTTO_TESTS_AGGREGATE_COURT_H

#include "rounds.h"

enum { COURT_MOST = 16, COURT_LENGTH = 4 };

typedef struct court_client {
    sotto_machine *machine;
    uint8_t keys[2 * SOTTO_BBGLR_KEY], keys_signature[SOTTO_SIGNATURE];
    sotto_bytes deal;    /* its body; empty: it did not deal */
    sotto_vector vector; /* what it sent; length 0: nothing */
    uint8_t vote[2][32], vote_signature[2][SOTTO_SIGNATURE];
    unsigned votes;
    sotto_bytes answer; /* its body; data NULL: none */
    sotto_vow vow;      /* the last */
    bool wants_vector, is_done;
} court_client;

typedef struct court {
    sotto_test *t;
    round_case c;
    sotto_bbglr_parameters parameters;
    sotto_bbglr_graph graph;
    uint8_t id[SOTTO_ROUND_ID];
    court_client clients[COURT_MOST];
} court;

/* least = 0: the quorum. */
void court_open(sotto_test *t, court *s, uint32_t clients, sotto_bbglr_parameters parameters,
                uint64_t least);
void court_close(court *s);

/* Says it to one client, and writes down what comes back. */
sotto_status court_tell(court *s, uint32_t to, unsigned kind, const sotto_bbglr_body *body);

/* A client's saved state, and the client as it was then. */
sotto_bytes court_save(court *s, uint32_t client);
void court_restore(court *s, uint32_t client, sotto_bytes saved);

/* Honest phases: everybody's keys; rosters and deals; shares and vectors. */
void court_keys(court *s);
sotto_bbglr_body court_roster(court *s, uint32_t to);
void court_deal(court *s);
sotto_bbglr_body court_shares(court *s, uint32_t to);
void court_collect(court *s);
sotto_status court_offer(court *s, uint32_t client);

/* A bitmap of all clients but those of `offline`, which ends with COURT_MOST. */
sotto_bytes court_view(court *s, const uint32_t *offline);
sotto_status court_show(court *s, uint32_t to, sotto_bytes view);

/* What a client is told to open: a view, the votes of those who voted for it, and what is wanted of each neighbour. */
enum { COURT_AS_LABELLED = 2, COURT_BOTH = 3 };
sotto_status court_ask(court *s, uint32_t to, sotto_bytes view, sotto_bytes labels, int what,
                       bool forge_votes);

/* From what was answered: whether a secret of a client can be put together, and which. */
bool court_learns(court *s, uint32_t client, unsigned what, uint8_t secret[32]);
/* Takes a client's masks away, as far as its secrets are known, and compares with what it had. */
bool court_reads(court *s, uint32_t client);

#endif
