/* aggregate/bbglr/client.h - the client's machine as its two files share it: state in client_state.c, steps in client.c. */
#ifndef SOTTO_AGGREGATE_BBGLR_CLIENT_H
#define SOTTO_AGGREGATE_BBGLR_CLIENT_H

#include "aggregate/bbglr/bbglr.h"
#include "aggregate/machine.h"

typedef enum client_phase {
    CLIENT_START,
    CLIENT_KEYS_SENT,
    CLIENT_DEALT,
    CLIENT_READY, /* the vector is wanted */
    CLIENT_SENT,
    CLIENT_VOTED,
    CLIENT_OVER,
} client_phase;

enum { PEER_KEYED = 1, PEER_DEALT = 2, PEER_HELD = 4 };

/* A neighbour. */
typedef struct client_peer {
    uint32_t index;
    uint8_t stage; /* PEER_... */
    uint8_t mask_key[SOTTO_BBGLR_KEY], channel_key[SOTTO_BBGLR_KEY];
    uint8_t held[SOTTO_BBGLR_DEALT]; /* its shares, if PEER_HELD */
} client_peer;

typedef struct bbglr_client {
    sotto_machine_part part; /* its seed is all the randomness there is */
    const sotto_round *round;
    sotto_arena *arena;
    sotto_bbglr_parameters parameters;
    sotto_bbglr_graph graph;
    client_peer *peers; /* parameters.degree of them, by index */
    uint8_t view[32];   /* what was voted for */
    uint8_t *online;    /* its bitmap */
} bbglr_client;

/* Secrets of this round, all made from the seed. */
enum { CLIENT_MASK_KEY = 1, CLIENT_CHANNEL_KEY, CLIENT_SELF_SEED, CLIENT_POLYNOMIALS };
SOTTO_MUST_USE sotto_status sotto_bbglr_client_secret(const bbglr_client *c, uint8_t out[32],
                                                      uint32_t which, sotto_err *err);
/* NULL: not a neighbour. */
client_peer *sotto_bbglr_client_peer(bbglr_client *c, uint32_t index);

SOTTO_MUST_USE sotto_status sotto_bbglr_client_join(sotto_machine **out, const sotto_round *round,
                                                    const sotto_self *self, sotto_arena *arena,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_bbglr_client_save(const sotto_machine *machine, sotto_buf *out,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_bbglr_client_restore(sotto_machine **out,
                                                       const sotto_round *round,
                                                       const sotto_self *self, sotto_bytes saved,
                                                       const sotto_message *kept, size_t count,
                                                       sotto_arena *arena, sotto_err *err);
void sotto_bbglr_client_leave(sotto_machine *machine);

#endif
