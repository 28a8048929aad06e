/* aggregate/bbglr/bbglr.h - single-round secure aggregation with one server (Bell, Bonawitz, Gascon, Lepoint, Raykova,
 * CCS 2020): parameters, graph, kinds and bodies, as both machines know them.
 *
 * Callers:  the machines of this folder, their tests and fuzz targets. Everybody else sees sotto_method_bbglr.
 *
 *     client -> server  KEYS     two fresh X25519 keys
 *     server -> client  ROSTER   the neighbours' KEYS, with their signatures
 *     client -> server  DEAL     for each neighbour, sealed to it: shares of the mask key and of the self mask's seed
 *     server -> client  SHARES   what the neighbours dealt to this client
 *     client -> server  MASKED   x + self mask + pair masks, as bulk
 *     server -> client  VIEW     who is online: one bit for each registered client
 *     client -> server  VOTE     "this is the view I was shown", signed, once
 *     server -> client  OPEN     a quorum of equal votes, and which shares are wanted
 *     client -> server  ANSWER   the seed's share of online neighbours, the key's share of offline ones
 */
#ifndef SOTTO_AGGREGATE_BBGLR_BBGLR_H
#define SOTTO_AGGREGATE_BBGLR_BBGLR_H

#include "aggregate/method.h"
#include "aggregate/shared/rows.h"
#include "aggregate/shared/shamir.h"
#include "crypto/aead.h"

enum {
    SOTTO_BBGLR_KEYS = 1,
    SOTTO_BBGLR_ROSTER,
    SOTTO_BBGLR_DEAL,
    SOTTO_BBGLR_SHARES,
    SOTTO_BBGLR_MASKED,
    SOTTO_BBGLR_VIEW,
    SOTTO_BBGLR_VOTE,
    SOTTO_BBGLR_OPEN,
    SOTTO_BBGLR_ANSWER,
};

enum {
    SOTTO_BBGLR_MOST_CLIENTS = 4096, /* each of them checks a quorum of votes */
    SOTTO_BBGLR_MOST_DEGREE = SOTTO_SHAMIR_MOST_HOLDERS,
    SOTTO_BBGLR_KEY = 32,
    SOTTO_BBGLR_DEALT = 2 * SOTTO_SHAMIR_SHARE, /* of the mask key, then of the seed */
    SOTTO_BBGLR_SEALED = SOTTO_BBGLR_DEALT + SOTTO_AEAD_TAG_SIZE,
};

/* What a neighbour may be asked for. */
enum { SOTTO_BBGLR_WANT_KEY = 0, SOTTO_BBGLR_WANT_SEED = 1 };

/* ---- parameters of a round --------------------------------------------------------------------------- */

typedef struct sotto_bbglr_parameters {
    uint16_t degree; /* neighbours of each client: even */
    uint16_t
        threshold;   /* shares that give a secret, and online neighbours that each client demands */
    uint32_t quorum; /* equal votes that each client demands */
    uint32_t corrupt; /* clients that may work for the server */
    uint64_t keys_by; /* KEYS until here, DEAL until the round's commit_by */
} sotto_bbglr_parameters;

enum { SOTTO_BBGLR_PARAMETERS = 2 + 2 + 4 + 4 + 8 };

SOTTO_MUST_USE sotto_status sotto_bbglr_parameters_encode(sotto_buf *out,
                                                          const sotto_bbglr_parameters *p,
                                                          sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_bbglr_parameters_decode(sotto_bbglr_parameters *p,
                                                          sotto_bytes wire, sotto_err *err);
/* SOTTO_DENIED: the parameters do not fit the round. */
SOTTO_MUST_USE sotto_status sotto_bbglr_check_round(const sotto_round *round, sotto_err *err);

/* ---- graph --------------------------------------------------------------------------------------------- */

/* Clients on a ring in an order that the beacon gives; neighbours are at most degree / 2 places apart. */
typedef struct sotto_bbglr_graph {
    uint32_t count, degree;
    uint32_t *order; /* by place */
    uint32_t *place; /* by client */
} sotto_bbglr_graph;

SOTTO_MUST_USE sotto_status sotto_bbglr_graph_init(sotto_bbglr_graph *graph,
                                                   const sotto_round *round, uint32_t degree,
                                                   sotto_arena *arena, sotto_err *err);
/* Writes degree clients, in ascending order. */
void sotto_bbglr_neighbours(const sotto_bbglr_graph *graph, uint32_t client, uint32_t *out);
bool sotto_bbglr_are_neighbours(const sotto_bbglr_graph *graph, uint32_t a, uint32_t b);
/* Whether the clients of a bitmap, with the edges between them, hang together. */
bool sotto_bbglr_connected(const sotto_bbglr_graph *graph, const uint8_t *bitmap);

/* What both machines begin with: the round is checked, and its parameters, graph and id are read.
 *   SOTTO_DENIED  this method does not run such a round */
SOTTO_MUST_USE sotto_status sotto_bbglr_read_round(const sotto_round *round,
                                                   sotto_bbglr_parameters *parameters,
                                                   sotto_bbglr_graph *graph,
                                                   uint8_t id[SOTTO_ROUND_ID], sotto_arena *arena,
                                                   sotto_err *err);

/* ---- bodies -------------------------------------------------------------------------------------------- */

/* Rows start with a client's index and ascend. */
enum {
    SOTTO_BBGLR_ROSTER_ROW = 4 + 2 * SOTTO_BBGLR_KEY + SOTTO_SIGNATURE,
    SOTTO_BBGLR_SEALED_ROW = 4 + SOTTO_BBGLR_SEALED,
    SOTTO_BBGLR_VOTE_ROW = 4 + SOTTO_SIGNATURE,
    SOTTO_BBGLR_WANT_ROW = 4 + 1,
    SOTTO_BBGLR_ANSWER_ROW = 4 + 1 + SOTTO_SHAMIR_SHARE,
};

/* Every body is a head of fixed size and up to two lists:
 *   KEYS    head: mask key, channel key            ROSTER  rows: client, its two keys, its signature
 *   DEAL    head: commitment to the seed           rows: neighbour, sealed shares
 *   SHARES  rows: dealer, sealed shares            MASKED  nothing
 *   VIEW    head: bitmap                           VOTE    head: SHA-256 of the view
 *   OPEN    head: SHA-256 of the view              rows: voter, signature     more: client, what is wanted
 *   ANSWER  rows: client, what, share */
typedef struct sotto_bbglr_body {
    sotto_bytes head;
    sotto_rows rows, more;
} sotto_bbglr_body;

/* SOTTO_MALFORMED for all that encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_bbglr_body_decode(sotto_bbglr_body *body, unsigned kind,
                                                    uint64_t registered, sotto_bytes wire,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_bbglr_body_encode(sotto_buf *out, unsigned kind,
                                                    const sotto_bbglr_body *body, sotto_err *err);
size_t sotto_bbglr_body_size(unsigned kind, const sotto_bbglr_body *body);

/* ---- what both machines do ------------------------------------------------------------------------------ */

/* An envelope of this round with an encoded body in the effects' arena, signed. */
SOTTO_MUST_USE sotto_status sotto_bbglr_send(sotto_effects *effects, const sotto_round *round,
                                             const sotto_self *self, uint32_t to, unsigned kind,
                                             const sotto_bbglr_body *body, const sotto_vector *bulk,
                                             sotto_err *err);
/* sotto_machine_ops.check of both parts. */
SOTTO_MUST_USE sotto_status sotto_bbglr_check(const sotto_round *round,
                                              const sotto_message *message, sotto_arena *scratch,
                                              sotto_err *err);
/* Commitment to a self mask's seed. */
SOTTO_MUST_USE sotto_status sotto_bbglr_commit(uint8_t out[32], const uint8_t seed[32],
                                               const uint8_t id[SOTTO_ROUND_ID], uint32_t client,
                                               sotto_err *err);
/* What a self mask is stretched from. */
SOTTO_MUST_USE sotto_status sotto_bbglr_self_seed(uint8_t out[32], const uint8_t seed[32],
                                                  const uint8_t id[SOTTO_ROUND_ID], uint32_t client,
                                                  sotto_err *err);

extern const sotto_machine_ops sotto_bbglr_client, sotto_bbglr_server;

#endif
