/* aggregate/bbglr/server.h - the server's machine as its files share it: state in server_state.c, steps in server.c, recovery in
 * server_recover.c. */
#ifndef SOTTO_AGGREGATE_BBGLR_SERVER_H
#define SOTTO_AGGREGATE_BBGLR_SERVER_H

#include "aggregate/bbglr/bbglr.h"

typedef enum server_phase {
    SERVER_KEYS,
    SERVER_DEAL,
    SERVER_COLLECT,
    SERVER_VOTE,
    SERVER_ANSWER,
    SERVER_RELEASED,
    SERVER_BURNT, /* there will be no sum in this round: the next one has another number */
} server_phase;

/* How far a client came. */
typedef enum server_stage {
    STAGE_NONE,
    STAGE_KEYED,
    STAGE_DEALT,
    STAGE_ONLINE,
    STAGE_VOTED,
    STAGE_ANSWERED,
} server_stage;

/* What a client said, in the machine's arena or among the kept messages. */
typedef struct server_client {
    uint8_t stage;
    sotto_bytes keys, keys_signature;
    sotto_bytes deal, vote_signature, answer;
} server_client;

typedef struct bbglr_server {
    sotto_machine machine;
    const sotto_round *round;
    sotto_self self;
    sotto_arena *arena;
    sotto_bbglr_parameters parameters;
    sotto_bbglr_graph graph;
    uint8_t id[SOTTO_ROUND_ID];
    server_phase phase;
    server_client *clients;
    uint8_t *online; /* bitmap of the view, from SERVER_VOTE on */
    sotto_buf opening;
    uint32_t *blamed;
    size_t blamed_count;
} bbglr_server;

/* Clients that came at least so far. */
uint32_t sotto_bbglr_server_count(const bbglr_server *s, server_stage least);

/* Puts every secret together and fills the opening. SOTTO_REJECTED or SOTTO_AGAIN: one of them can't be recovered. */
SOTTO_MUST_USE sotto_status sotto_bbglr_server_recover(bbglr_server *s, sotto_err *err);

SOTTO_MUST_USE sotto_status sotto_bbglr_server_join(sotto_machine **out, const sotto_round *round,
                                                    const sotto_self *self, sotto_arena *arena,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_bbglr_server_save(const sotto_machine *machine, sotto_buf *out,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_bbglr_server_restore(sotto_machine **out,
                                                       const sotto_round *round,
                                                       const sotto_self *self, sotto_bytes saved,
                                                       const sotto_message *kept, size_t count,
                                                       sotto_arena *arena, sotto_err *err);
void sotto_bbglr_server_leave(sotto_machine *machine);

/* Where a kept message belongs; false: nowhere. The bytes are borrowed. */
bool sotto_bbglr_server_file(bbglr_server *s, const sotto_message *message);

#endif
