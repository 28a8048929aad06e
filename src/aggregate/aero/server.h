/* aggregate/aero/server.h - the aggregator: it collects promises and what was promised, adds up, answers for every leaf, and puts the
 * committee's parts together. Nothing that it says is believed.
 *
 * Memory:   what devices revealed stays as bytes in the machine's arena; trees beside it.
 * Secrets:  none: it sees ciphertexts, and the sum.
 */
#ifndef SOTTO_AGGREGATE_AERO_SERVER_H
#define SOTTO_AGGREGATE_AERO_SERVER_H

#include "aggregate/aero/machine.h"

/* What it has posted: saved. */
enum {
    SOTTO_AERO_POSTED_SEALED = 1,
    SOTTO_AERO_POSTED_KEYED = 2,
    SOTTO_AERO_POSTED_COMMITTED = 4,
    SOTTO_AERO_POSTED_ADDED = 8,
    SOTTO_AERO_POSTED_SUMMED = 16,
    SOTTO_AERO_SENT_ROOTS = 32,
    SOTTO_AERO_RELEASED = 64,
    SOTTO_AERO_FAILED = 128,
};
/* The same of a key that is handed over. */
enum { SOTTO_AERO_POSTED_HANDED = 1, SOTTO_AERO_POSTED_TAKEN = 2 };
enum { SOTTO_AERO_NOT_OPENING = 0xff };

typedef struct sotto_aero_revealed {
    bool is_there;
    uint8_t nonce[32];
    sotto_bytes ciphers, proof;
} sotto_aero_revealed;

/* How often a device may ask for all leaves that it checks. */
enum { SOTTO_AERO_ASKS_AGAIN = 4 };

/* A device in a role. */
typedef struct sotto_aero_entrant {
    sotto_aero_promise promise;
    sotto_aero_sealed of;
    sotto_aero_revealed *groups;
} sotto_aero_entrant;

typedef struct sotto_aero_aggregator {
    sotto_aero_base base;
    uint8_t posted, hand;
    /* Noise members by place, then contributors as they came; sorted when the promises are posted. */
    sotto_aero_entrant *entrants;
    uint32_t count, most;
    uint32_t *place; /* of a contributor, by registry index: 1 more than its entrant */
    /* Questions that a device had answered, by registry index; since the last start. */
    uint16_t *asked;
    sotto_aero_sum_tree promises, leaves[SOTTO_AERO_MOST_GROUPS], sums[SOTTO_AERO_MOST_GROUPS];
    sotto_aero_cipher *totals[SOTTO_AERO_MOST_GROUPS];
    uint32_t present, noise;
    uint64_t before; /* values that were opened before this entry give the points */
    /* The opening. */
    uint8_t attempts[SOTTO_AERO_MOST_COMMITTEES]; /* of each committee */
    bool opened[SOTTO_AERO_MOST_COMMITTEES];      /* its groups, by these parts */
    /* A committee's own begin where it begins: at its number times the size of one. */
    uint8_t set[SOTTO_AERO_MOST_COMMITTEE], missed[SOTTO_AERO_MOST_COMMITTEE];
    sotto_bytes parts[SOTTO_AERO_MOST_COMMITTEE]; /* by place in the set; empty: not there */
    /* Robust: the set deals noise, which is what parts are; and points, by place in the committee. */
    sotto_bytes points[SOTTO_AERO_MOST_COMMITTEE];
    uint8_t *part_room[SOTTO_AERO_MOST_COMMITTEE], *point_room[SOTTO_AERO_MOST_COMMITTEE];
    uint8_t *sum; /* once it is released */
    uint32_t *counted, counted_count, *blamed, blamed_count;
} sotto_aero_aggregator;

/* server_open.c: what came of one attempt, in the room of what came of the one before. Each place has messages of one size. */
SOTTO_MUST_USE sotto_status sotto_aero_server_hold(sotto_aero_aggregator *s, sotto_bytes *at,
                                                   uint8_t **room, sotto_bytes what,
                                                   sotto_err *err);

/* server_hand.c: ends the hand-over's phases, and says which key it was. */
SOTTO_MUST_USE sotto_status sotto_aero_server_handed(sotto_aero_aggregator *s,
                                                     sotto_effects *effects, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_taken(sotto_aero_aggregator *s,
                                                    sotto_effects *effects, sotto_err *err);
/* Where everybody has spoken. */
SOTTO_MUST_USE sotto_status sotto_aero_server_hand_on(sotto_aero_aggregator *s,
                                                      sotto_effects *effects, sotto_err *err);
/* Old members that dealt something else than their share. */
void sotto_aero_server_blame_dealers(sotto_aero_aggregator *s);
/* The public key, for the next round. */
SOTTO_MUST_USE sotto_status sotto_aero_server_bequeath(sotto_aero_aggregator *s,
                                                       sotto_effects *effects, sotto_err *err);

/* server_add.c */
/* Once, whatever it did. */
void sotto_aero_server_blame(sotto_aero_aggregator *s, uint32_t index);
SOTTO_MUST_USE sotto_status sotto_aero_server_commit(sotto_aero_aggregator *s,
                                                     const sotto_message *message,
                                                     sotto_status *verdict, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_reveal(sotto_aero_aggregator *s,
                                                     const sotto_message *message, bool is_checked,
                                                     sotto_status *verdict, sotto_err *err);
/* Trees; the same after a restart. */
SOTTO_MUST_USE sotto_status sotto_aero_server_order(sotto_aero_aggregator *s, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_add(sotto_aero_aggregator *s, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_sum(sotto_aero_aggregator *s, sotto_err *err);

/* A leaf as it is posted. */
void sotto_aero_leaf_of(const sotto_aero_aggregator *s, sotto_aero_leaf *leaf, uint32_t group,
                        uint32_t position);

/* server_answer.c */
SOTTO_MUST_USE sotto_status sotto_aero_server_sample(sotto_aero_aggregator *s, sotto_buf *out,
                                                     uint32_t group, uint32_t position,
                                                     sotto_arena *arena, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_answer(sotto_aero_aggregator *s,
                                                     const sotto_message *ask,
                                                     sotto_status *verdict, sotto_effects *effects,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_answer_all(sotto_aero_aggregator *s, uint32_t group,
                                                         uint32_t position, sotto_effects *effects,
                                                         sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_roots(sotto_aero_aggregator *s,
                                                    sotto_effects *effects, sotto_err *err);

/* server_open.c */
SOTTO_MUST_USE sotto_status sotto_aero_server_try(sotto_aero_aggregator *s, sotto_effects *effects,
                                                  sotto_err *err);
/* The next attempt, where this one did not end. */
SOTTO_MUST_USE sotto_status sotto_aero_server_late(sotto_aero_aggregator *s, sotto_effects *effects,
                                                   sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_part(sotto_aero_aggregator *s,
                                                   const sotto_message *message,
                                                   sotto_status *verdict, sotto_err *err);
/* Once all parts are there. */
SOTTO_MUST_USE sotto_status sotto_aero_server_open(sotto_aero_aggregator *s, sotto_effects *effects,
                                                   sotto_err *err);
/* The sum of one ciphertext, from c1 s and noise in so many parts: into its place of s->sum. */
SOTTO_MUST_USE sotto_status sotto_aero_server_read(sotto_aero_aggregator *s, uint32_t cipher,
                                                   const sotto_aero_poly *const *parts,
                                                   size_t count, sotto_arena *scratch,
                                                   sotto_err *err);
/* What comes of an attempt: the round is over, or another one begins. */
SOTTO_MUST_USE sotto_status sotto_aero_server_released(sotto_aero_aggregator *s,
                                                       sotto_effects *effects);
SOTTO_MUST_USE sotto_status sotto_aero_server_again(sotto_aero_aggregator *s, uint32_t committee,
                                                    sotto_effects *effects, sotto_err *err);

/* server_robust.c. The set is chosen: it is called to deal. */
SOTTO_MUST_USE sotto_status sotto_aero_server_call(sotto_aero_aggregator *s, sotto_effects *effects,
                                                   sotto_err *err);
/* NOISES or POINT. */
SOTTO_MUST_USE sotto_status sotto_aero_server_dealt(sotto_aero_aggregator *s,
                                                    const sotto_message *message,
                                                    sotto_status *verdict, sotto_err *err);
/* What follows from what is there. */
SOTTO_MUST_USE sotto_status sotto_aero_server_deal_on(sotto_aero_aggregator *s, bool is_late,
                                                      sotto_effects *effects, sotto_err *err);
/* To each member its shares, once the board has the digests. */
SOTTO_MUST_USE sotto_status sotto_aero_server_hand_out(sotto_aero_aggregator *s,
                                                       sotto_effects *effects, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_server_open_points(sotto_aero_aggregator *s,
                                                          sotto_effects *effects, sotto_err *err);

#endif
