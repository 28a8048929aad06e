/* tests/aggregate/camp.h - a hostile server of a flamingo round, played by hand against honest clients and decryptors.
 *
 * It runs their machines, tells them whatever a test wants, signed with the server's key, and writes down all they say. Vows are not
 * enforced here: what a machine refuses, it refuses by itself. Sets of clients and of decryptors' places are bits of a number.
 */
#ifndef SOTTO_TESTS_AGGREGATE_CAMP_H
#define SOTTO_TESTS_AGGREGATE_CAMP_H

#include "rounds.h"

enum { CAMP_MOST = 8, CAMP_LENGTH = 4 };

typedef struct camp_part {
    bool is_there;
    uint32_t set;
    uint8_t sealed[SOTTO_TDH2_SEALED], part[SOTTO_TDH2_PART];
} camp_part;

typedef struct camp_vote {
    uint8_t digest[32], signature[SOTTO_SIGNATURE];
} camp_vote;

typedef struct camp {
    sotto_test *t;
    round_case c;
    sotto_flamingo_parameters parameters;
    sotto_flamingo_graph graph;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_machine *machines[CAMP_MOST]; /* of decryptors, by place */
    sotto_bytes report[CAMP_MOST], signature[CAMP_MOST];
    sotto_vector sent[CAMP_MOST];
    camp_vote votes[CAMP_MOST][2];
    unsigned voted[CAMP_MOST];
    sotto_vow vow; /* the last */
    unsigned answers;
    uint8_t shares[CAMP_MOST][CAMP_MOST][SOTTO_SHAMIR_SHARE]; /* client, place */
    bool has_share[CAMP_MOST][CAMP_MOST];
    camp_part parts[CAMP_MOST][CAMP_MOST][CAMP_MOST]; /* from, to, place */
    /* What the next question holds in place of the right thing. */
    const struct camp *shares_of;          /* sealed shares of another round */
    const struct camp *edges_of;           /* ciphertexts of another round */
    uint8_t (*instead)[SOTTO_TDH2_SEALED]; /* this ciphertext for all edges */
    bool
        turned; /* a decryptor is shown the shares that it sealed itself, as those of whom they are for */
    bool unlisted;      /* labels have no row for who never reported */
    uint32_t strangers; /* clients whose own signatures are passed off as votes */
} camp;

typedef struct camp_plan {
    uint32_t clients, members, neighbours, cohort;
    uint64_t edge, least, number, seed;
} camp_plan;

void camp_open(sotto_test *t, camp *s, camp_plan plan);
void camp_close(camp *s);
/* Everybody who is drawn reports; false: the machine would not. */
bool camp_report(camp *s, uint32_t client);
void camp_report_all(camp *s);

/* A decryptor that forgot everything, as a corrupt one may. */
void camp_forget(camp *s, uint32_t place);
sotto_status camp_show(camp *s, uint32_t place, uint32_t online);
void camp_show_all(camp *s, uint32_t places, uint32_t online);

/* What a decryptor is asked to open: labels with all votes for them, shares of these clients, edges from these clients to those. */
typedef struct camp_question {
    uint32_t labels, shares, from, to, set;
    bool forge_votes;
    bool twice; /* each vote is shown twice */
    bool drawn; /* of these edges, those of the graph */
} camp_question;
sotto_status camp_ask(camp *s, uint32_t place, const camp_question *q);
/* Of all places in the set. */
void camp_ask_set(camp *s, camp_question q);

/* From what was answered: the seed of a client's self mask, or of the pair mask that it shares with another. */
bool camp_knows_self(camp *s, uint32_t client, uint8_t seed[32]);
bool camp_knows_edge(camp *s, uint32_t from, uint32_t to, uint8_t seed[32]);
/* Takes a client's masks away, as far as they are known, and compares with what it had. */
bool camp_reads(camp *s, uint32_t client);
/* The same of the sum over a set of clients. The server's own clients tell it what they share with others. */
bool camp_sums(camp *s, uint32_t clients, uint32_t own);

#endif
