/* aggregate/flamingo/flamingo.h - secure aggregation over many rounds with one server and a committee of decryptors (Ma, Woods,
 * Angel, Polychroniadou, Rabin 2023): parameters, graph, kinds and bodies, as all machines know them.
 *
 * Callers:  the machines of this folder, their tests and fuzz targets. Everybody else sees sotto_method_flamingo.
 *
 *     client    -> server     REPORT  x + self mask + pair masks, as bulk; shares of the self mask's seed, sealed to each
 *                                     decryptor; the seed of each pair mask, sealed to the committee
 *     server    -> decryptor  LABELS  who is online, with the signature of each report
 *     decryptor -> server     VOTE    "these are the labels I was shown", signed, once a round
 *     server    -> decryptor  OPEN    a quorum of equal votes, what is to be opened, and who answers
 *     decryptor -> server     ANSWER  shares of seeds of online clients; parts of the seeds of edges to offline clients
 */
#ifndef SOTTO_AGGREGATE_FLAMINGO_FLAMINGO_H
#define SOTTO_AGGREGATE_FLAMINGO_FLAMINGO_H

#include "aggregate/method.h"
#include "aggregate/shared/decryptors.h"
#include "aggregate/shared/rows.h"

enum {
    SOTTO_FLAMINGO_REPORT = 1,
    SOTTO_FLAMINGO_LABELS,
    SOTTO_FLAMINGO_VOTE,
    SOTTO_FLAMINGO_OPEN,
    SOTTO_FLAMINGO_ANSWER,
};

enum {
    SOTTO_FLAMINGO_MOST_COHORT = 16384,
    SOTTO_FLAMINGO_MOST_DEGREE = 1024, /* neighbours of one client */
    SOTTO_FLAMINGO_SHARE_TEXT = SOTTO_SHAMIR_SHARE + SOTTO_AEAD_TAG_SIZE,
    SOTTO_FLAMINGO_SEALED_SHARE = SOTTO_FLAMINGO_SHARE_TEXT + 32, /* with the share's digest */
};

/* ---- parameters of a round --------------------------------------------------------------------------- */

typedef struct sotto_flamingo_parameters {
    uint32_t cohort;     /* clients drawn for the round; the round's `largest` is the same */
    uint32_t neighbours; /* online neighbours that each online client must have */
    uint64_t edge;       /* two clients are neighbours with chance (edge + 1) / 2^64 */
    uint8_t decryptors[32];
} sotto_flamingo_parameters;

enum { SOTTO_FLAMINGO_PARAMETERS = 4 + 4 + 8 + 32 };

SOTTO_MUST_USE sotto_status sotto_flamingo_parameters_encode(sotto_buf *out,
                                                             const sotto_flamingo_parameters *p,
                                                             sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_flamingo_parameters_decode(sotto_flamingo_parameters *p,
                                                             sotto_bytes wire, sotto_err *err);

/* SOTTO_DENIED: the parameters do not fit the round, or its decryptors are others. */
SOTTO_MUST_USE sotto_status sotto_flamingo_check_round(const sotto_round *round, sotto_err *err);

/* ---- cohort and graph ---------------------------------------------------------------------------------- */

/* Both come from the beacon. The graph is never written down: a row of it costs one block of AES for each client. */
typedef struct sotto_flamingo_graph {
    uint32_t count;
    uint32_t *cohort; /* registry indices, ascending */
    uint64_t edge;
    uint8_t key[32];
} sotto_flamingo_graph;

SOTTO_MUST_USE sotto_status sotto_flamingo_graph_init(sotto_flamingo_graph *graph,
                                                      const sotto_round *round,
                                                      const sotto_flamingo_parameters *p,
                                                      sotto_arena *arena, sotto_err *err);
/* Place in the cohort; -1: not drawn. */
int64_t sotto_flamingo_place(const sotto_flamingo_graph *graph, uint32_t index);
/* The neighbours of a drawn client: a byte for each place of the cohort. */
SOTTO_MUST_USE sotto_status sotto_flamingo_row(const sotto_flamingo_graph *graph, uint32_t place,
                                               uint8_t *row, sotto_err *err);
/* Judges labels, a bit for each registered client: the graph among those online.
 *   least   of online neighbours of an online client
 *   whole   whether they hang together */
SOTTO_MUST_USE sotto_status sotto_flamingo_judge(const sotto_flamingo_graph *graph,
                                                 const uint8_t *online, uint32_t *least,
                                                 bool *whole, sotto_arena *scratch, sotto_err *err);

/* What every machine begins with. SOTTO_DENIED: this method does not run such a round. */
SOTTO_MUST_USE sotto_status sotto_flamingo_read_round(const sotto_round *round,
                                                      sotto_flamingo_parameters *parameters,
                                                      sotto_flamingo_graph *graph,
                                                      uint8_t id[SOTTO_ROUND_ID],
                                                      sotto_arena *arena, sotto_err *err);

/* ---- bodies -------------------------------------------------------------------------------------------- */

enum {
    SOTTO_FLAMINGO_EDGE_ROW = 4 + SOTTO_TDH2_SEALED, /* neighbour, its seed */
    SOTTO_FLAMINGO_SEEN_ROW =
        4 + 4 + 32 + SOTTO_SIGNATURE, /* client, its report's length, digest and signature */
    SOTTO_FLAMINGO_VOTE_ROW = 4 + SOTTO_SIGNATURE,              /* decryptor */
    SOTTO_FLAMINGO_SHARE_ROW = 4 + SOTTO_FLAMINGO_SEALED_SHARE, /* client */
    SOTTO_FLAMINGO_WANT_ROW = 4 + 4 + SOTTO_TDH2_SEALED,        /* online client, offline client */
    SOTTO_FLAMINGO_GIVEN_ROW = 4 + SOTTO_SHAMIR_SHARE,          /* client */
    SOTTO_FLAMINGO_OPEN_HEAD =
        32 + 1 + 1 + 32, /* digest of labels, attempt, proof wanted, who answers */
    SOTTO_FLAMINGO_ANSWER_HEAD = 1 + 1 + SOTTO_DLEQ, /* attempt, proof there, proof */
};

/* Every body is a head of fixed size and up to three lists:
 *   REPORT  head: commitment to the seed   a: sealed share for each decryptor   b: edges
 *   LABELS  head: a bit for each registered client                              a: reports that were seen
 *   VOTE    head: SHA-256 of the labels
 *   OPEN    head: above                    a: votes    b: sealed shares    c: edges that are wanted
 *   ANSWER  head: above                    a: shares   b: a part for each wanted edge; zeros: it is not valid */
typedef struct sotto_flamingo_body {
    sotto_bytes head;
    sotto_rows a, b, c;
} sotto_flamingo_body;

/* SOTTO_MALFORMED for all that encode would not have written. */
SOTTO_MUST_USE sotto_status sotto_flamingo_body_decode(sotto_flamingo_body *body, unsigned kind,
                                                       uint64_t registered, sotto_bytes wire,
                                                       sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_flamingo_body_encode(sotto_buf *out, unsigned kind,
                                                       const sotto_flamingo_body *body,
                                                       sotto_err *err);
size_t sotto_flamingo_body_size(unsigned kind, const sotto_flamingo_body *body);
/* Where the rows of its second list begin. */
size_t sotto_flamingo_body_second(unsigned kind, const sotto_flamingo_body *body);

/* ---- what all machines do ------------------------------------------------------------------------------- */

/* An envelope of this round with an encoded body in the effects' arena, signed. */
SOTTO_MUST_USE sotto_status sotto_flamingo_send(sotto_effects *effects, const sotto_round *round,
                                                const sotto_self *self, uint32_t to, unsigned kind,
                                                const sotto_flamingo_body *body,
                                                const sotto_vector *bulk, sotto_err *err);
/* sotto_machine_ops.check of all parts. */
SOTTO_MUST_USE sotto_status sotto_flamingo_check(const sotto_round *round,
                                                 const sotto_message *message, sotto_arena *scratch,
                                                 sotto_err *err);
/* Commitment to a self mask's seed, and what the mask is stretched from. */
SOTTO_MUST_USE sotto_status sotto_flamingo_commit(uint8_t out[32], const uint8_t seed[32],
                                                  const uint8_t id[SOTTO_ROUND_ID], uint32_t client,
                                                  sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_flamingo_self_seed(uint8_t out[32], const uint8_t seed[32],
                                                     const uint8_t id[SOTTO_ROUND_ID],
                                                     uint32_t client, sotto_err *err);
/* The key under which a client's share is sealed to a decryptor, from their agreed secret. A key seals one message. */
SOTTO_MUST_USE sotto_status sotto_flamingo_share_key(uint8_t out[32], const uint8_t agreed[32],
                                                     const uint8_t id[SOTTO_ROUND_ID],
                                                     uint32_t client, uint32_t decryptor,
                                                     sotto_err *err);
/* A client signs this of each share, in its report. A decryptor that was dealt another one keeps it; one that shows another
 * one lies. */
void sotto_flamingo_share_digest(uint8_t out[32], const uint8_t share[SOTTO_SHAMIR_SHARE],
                                 uint32_t client, uint32_t decryptor);
/* What this participant and `other` agree on, with pair keys or channel keys; from the cache where there is one. */
enum { SOTTO_FLAMINGO_PAIR = 0, SOTTO_FLAMINGO_CHANNEL = 1 };
SOTTO_MUST_USE sotto_status sotto_flamingo_agree(uint8_t out[32], const sotto_self *self,
                                                 const sotto_round *round, uint32_t other,
                                                 unsigned which, sotto_err *err);
/* The same with many, up to eight times as fast where the machine has lanes for it. */
SOTTO_MUST_USE sotto_status sotto_flamingo_agree_many(uint8_t (*out)[32], const sotto_self *self,
                                                      const sotto_round *round,
                                                      const uint32_t *others, size_t count,
                                                      unsigned which, sotto_err *err);
/* The places of those who answer, from a head of OPEN: ascending. 0: not exactly as many as the threshold. */
uint32_t sotto_flamingo_answerers(const sotto_round *round, const uint8_t *set, uint32_t *places);
/* What a proof of parts is about. */
typedef struct sotto_flamingo_claim {
    uint8_t context[SOTTO_ROUND_ID + 32 + 4];
    sotto_dleq_claim of;
} sotto_flamingo_claim;
/* `wanted` and `parts` have as many rows; public_key: that of the weighted share. */
void sotto_flamingo_claim_parts(sotto_flamingo_claim *claim, const uint8_t id[SOTTO_ROUND_ID],
                                uint32_t decryptor, const uint8_t set[32], const sotto_rows *wanted,
                                const sotto_rows *parts, const sotto_point *public_key);

extern const sotto_machine_ops sotto_flamingo_client, sotto_flamingo_server,
    sotto_flamingo_decryptor;

#endif
