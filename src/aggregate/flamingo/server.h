/* aggregate/flamingo/server.h - the server's machine as its files share it: state in server_state.c, steps in server.c, what is told to
 * decryptors in server_send.c, what is put together in server_open.c. */
#ifndef SOTTO_AGGREGATE_FLAMINGO_SERVER_H
#define SOTTO_AGGREGATE_FLAMINGO_SERVER_H

#include "aggregate/flamingo/flamingo.h"

typedef enum server_phase {
    SERVER_COLLECT,
    SERVER_LABEL,
    SERVER_OPEN,
    SERVER_RELEASED,
    SERVER_BURNT, /* there will be no sum in this round: nobody is ever asked to sign other labels for it */
} server_phase;

/* What somebody said, in the machine's arena or among the kept messages. */
typedef struct server_client {
    sotto_bytes report, signature;
    uint8_t digest[32]; /* body.h's digest of the report: every vote is compared with all of them */
} server_client;

enum { DECRYPTOR_SLOW = 1, DECRYPTOR_OUT = 2 };

typedef struct server_decryptor {
    sotto_bytes vote;         /* its signature */
    sotto_bytes answer;       /* the last */
    sotto_flamingo_body body; /* of it, if it was well-formed: else its head is empty */
    uint8_t flags;
} server_decryptor;

typedef struct flamingo_server {
    sotto_machine machine;
    const sotto_round *round;
    sotto_self self;
    sotto_arena *arena;
    sotto_flamingo_parameters parameters;
    sotto_flamingo_graph graph;
    uint8_t id[SOTTO_ROUND_ID];
    server_phase phase;
    server_client *clients;
    uint32_t reports;             /* of clients that have one */
    server_decryptor *decryptors; /* by place */
    uint8_t *online;              /* bitmap, from SERVER_LABEL on */
    bool is_labelled;             /* `labels` is the digest of what decryptors were told to sign */
    uint8_t labels[32];
    uint8_t attempt; /* from 1 */
    bool prove;
    uint8_t set[32];   /* places of those who are asked together */
    uint64_t deadline; /* of this attempt; 0: not set yet */
    sotto_rows wanted; /* rows of OPEN, from SERVER_OPEN on */
    uint8_t *room;     /* for what is kept next */
    size_t room_left;
    sotto_buf opening;
    uint32_t *blamed;
    size_t blamed_count;
} flamingo_server;

uint32_t sotto_flamingo_server_reports(const flamingo_server *s);
uint32_t sotto_flamingo_server_votes(const flamingo_server *s);
void sotto_flamingo_server_blame(flamingo_server *s, uint32_t index);
/* Whether everybody who was asked in this attempt has answered it. */
bool sotto_flamingo_server_all_answered(const flamingo_server *s);
/* Its answer to this attempt; false: none. */
bool sotto_flamingo_server_answer(const flamingo_server *s, uint32_t place,
                                  sotto_flamingo_body *out);

/* Tells every decryptor who is online: whoever reported. */
SOTTO_MUST_USE sotto_status sotto_flamingo_server_send_labels(flamingo_server *s,
                                                              sotto_effects *effects,
                                                              sotto_err *err);
/* Computes `labels` where a restored machine does not have it yet. */
SOTTO_MUST_USE sotto_status sotto_flamingo_server_label(flamingo_server *s, sotto_arena *scratch,
                                                        sotto_err *err);
/* Tells those in the set what is to be opened in this attempt. */
SOTTO_MUST_USE sotto_status sotto_flamingo_server_send_open(flamingo_server *s,
                                                            sotto_effects *effects, sotto_err *err);

/* Lists the edges between online and offline clients. */
SOTTO_MUST_USE sotto_status sotto_flamingo_server_want(flamingo_server *s, sotto_err *err);

/* What came of putting everything together. */
typedef enum server_outcome {
    OUTCOME_WHOLE,
    OUTCOME_SHARES, /* too few shares of a self mask */
    OUTCOME_DEALT,  /* a client signed for shares that do not fit what it committed to */
    OUTCOME_PARTS,  /* an edge's parts do not open it */
} server_outcome;
SOTTO_MUST_USE sotto_status sotto_flamingo_server_recover(flamingo_server *s, server_outcome *out,
                                                          uint32_t *client, sotto_err *err);
/* Blames clients whose ciphertexts are not valid; false: there are none. */
bool sotto_flamingo_server_bad_clients(flamingo_server *s);
/* Checks the proofs of this attempt, and leaves out whoever lied; false: nobody did. */
bool sotto_flamingo_server_bad_decryptors(flamingo_server *s);

SOTTO_MUST_USE sotto_status sotto_flamingo_server_join(sotto_machine **out,
                                                       const sotto_round *round,
                                                       const sotto_self *self, sotto_arena *arena,
                                                       sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_flamingo_server_save(const sotto_machine *machine, sotto_buf *out,
                                                       sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_flamingo_server_restore(sotto_machine **out,
                                                          const sotto_round *round,
                                                          const sotto_self *self, sotto_bytes saved,
                                                          const sotto_message *kept, size_t count,
                                                          sotto_arena *arena, sotto_err *err);
void sotto_flamingo_server_leave(sotto_machine *machine);
/* Where a kept message belongs; false: nowhere. The bytes are borrowed. */
bool sotto_flamingo_server_file(flamingo_server *s, const sotto_message *message);

#endif
