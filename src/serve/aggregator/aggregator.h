/* serve/aggregator/aggregator.h - the aggregator as its files share it.
 *
 *     aggregator_service.c, aggregator_keygen.c, aggregator_results.c    routes
 *     aggregator_rounds.c                                                the list of rounds, and their clock
 *     uploads.c, upload_judge.c                                          reports that come in pieces
 *     heads.c                                                            cosigned heads of boards
 */
#ifndef SOTTO_SERVE_AGGREGATOR_AGGREGATOR_H
#define SOTTO_SERVE_AGGREGATOR_AGGREGATOR_H

#include "aggregate/shared/decryptors.h"
#include "serve/aggregator/aggregator_service.h"
#include "serve/aggregator/heads.h"
#include "serve/aggregator/running.h"
#include "serve/aggregator/uploads.h"
#include "serve/host/bearer.h"
#include "serve/host/host.h"
#include "tlog/key_file.h"

#include <pthread.h>
#include <stdatomic.h>

/* A round in the list. It goes once it is over and nobody uses it. */
typedef struct sotto_listed_round {
    struct sotto_listed_round *next;
    struct sotto_aggregator *of;
    sotto_running *running;
    unsigned users;
    bool ticking, heading;
    uint64_t next_head; /* when its board is looked at again, in milliseconds since 1970 */
    sotto_head *head;   /* of its board; NULL: not yet, or none is wanted */
} sotto_listed_round;

/* What a look at a board, and a post, need of their call. A device looks four times a second, anybody may post, and the whole call has the
 * registry. */
typedef struct sotto_board_call {
    uint8_t id[32];
    uint64_t ends; /* 0: none */
    uint32_t step_ms, count, dealers, threshold;
    bool hands_on;
    /* Of those who speak: members by place, and behind them, in a hand-over, those who deal. */
    uint8_t keys[2 * SOTTO_DECRYPTORS_MOST][SOTTO_SIGN_PUBLIC];
} sotto_board_call;
enum { SOTTO_AGGREGATOR_BOARDS = 16 };

typedef struct sotto_aggregator {
    sotto_host *host;
    sotto_aggregator_config config;
    sotto_signer_file key;
    sotto_bearer operator_token;
    sotto_key_file witnesses; /* of boards */
    sotto_running_context context;
    pthread_mutex_t lock; /* of the list, and of boards */
    sotto_listed_round *rounds;
    size_t count;
    bool looking;
    uint64_t next_look;
    sotto_board_call boards[SOTTO_AGGREGATOR_BOARDS]; /* with the lock; the oldest gives way */
    size_t next_board;
    sotto_uploads uploads;
    atomic_bool stopped;
    atomic_uint_fast64_t accepted, refused, over;
} sotto_aggregator;

uint64_t sotto_aggregator_now_ms(const sotto_aggregator *a);
/* With the list's lock. NULL: there is none. */
sotto_listed_round *sotto_aggregator_find(sotto_aggregator *a, const uint8_t id[SOTTO_ROUND_ID]);
/* Puts it into the list unless it is there; either way it is held afterwards. */
SOTTO_MUST_USE sotto_status sotto_aggregator_enlist(sotto_aggregator *a, sotto_listed_round **out,
                                                    sotto_running *running, sotto_err *err);
/* A round that runs, held; from the database where another replica has it, or after a start. SOTTO_MISSING: none.
 * SOTTO_STALE: it is over. */
SOTTO_MUST_USE sotto_status sotto_aggregator_hold(sotto_aggregator *a, sotto_listed_round **out,
                                                  const uint8_t id[SOTTO_ROUND_ID],
                                                  sotto_arena *arena, sotto_err *err);
void sotto_aggregator_let_go(sotto_aggregator *a, sotto_listed_round *one);
/* What a peer is told comes from the status alone. */
void sotto_aggregator_refuse(sotto_aggregator *a, sotto_http_request *request, sotto_status status);

/* Answers a message with what came of it. */
void sotto_aggregator_acknowledge(sotto_aggregator *a, sotto_http_request *request,
                                  sotto_status status);

/* aggregator_keygen.c: routes of key generations. */
void sotto_aggregator_call_keygen(void *state, sotto_http_request *request, sotto_arena *arena);
void sotto_aggregator_get_keygen(void *state, sotto_http_request *request, sotto_arena *arena);
void sotto_aggregator_put_post(void *state, sotto_http_request *request, sotto_arena *arena);
void sotto_aggregator_get_board(void *state, sotto_http_request *request, sotto_arena *arena);

/* aggregator_results.c: what became of a round, for its operator. */
void sotto_aggregator_get_result(void *state, sotto_http_request *request, sotto_arena *arena);
void sotto_aggregator_get_sum(void *state, sotto_http_request *request, sotto_arena *arena);

/* aggregator_board.c and heads.c: the board of a round, and its last cosigned head. */
void sotto_aggregator_get_head(void *state, sotto_http_request *request, sotto_arena *arena);
void sotto_aggregator_get_entries(void *state, sotto_http_request *request, sotto_arena *arena);

/* sotto_service.idle */
uint64_t sotto_aggregator_begin_due(void *state, bool looked);

#endif
