/* aggregate/aero/hand_over.h - a key goes from one committee to the next, and no member can spoil it unseen: verifiable redistribution.
 *
 * Each old member deals its share among the new members. A new member adds up what `threshold` old ones dealt, weighted: it then has a
 * share of the same key, and old shares are worth nothing beside new ones. Old members wipe theirs.
 *
 *   probes     Of what each old member dealt, new members publish six random combinations of all numbers, each hidden by a pad. The
 *              combinations are drawn when everything is dealt. A dealer whose shares are on no polynomial is seen. So is one
 *              that dealt something else than its share: probes of all old members are points of the old polynomial.
 *   pads       come with the key, are dealt on with it, and each is used once: they limit how often a key is handed over.
 *   soundness  six combinations modulo a prime of 23 bits or more: a wrong dealer passes with 2^-137.
 *
 * Who wants a key for N rounds plans the noise ledger with rounds = N.
 *
 * Callers:  members and readers of a board whose round begins with a key that is handed over (member_hand.c, view_hand.c).
 * Secrets:  holdings, in constant time. Probes are public.
 */
#ifndef SOTTO_AGGREGATE_AERO_HAND_OVER_H
#define SOTTO_AGGREGATE_AERO_HAND_OVER_H

#include "aggregate/aero/threshold.h"

enum {
    SOTTO_AERO_PROBES = 6,
    SOTTO_AERO_MOST_HAND_OVERS = 15,
    SOTTO_AERO_PADS = SOTTO_AERO_PROBES * SOTTO_AERO_MOST_HAND_OVERS,
};

/* Numbers modulo both primes. */
typedef struct sotto_aero_pads {
    sotto_f64 first[SOTTO_AERO_PADS];
    uint64_t second[SOTTO_AERO_PADS];
} sotto_aero_pads;

/* What a member holds of a key that is handed over: its share, and shares of pads. Wipe it. */
typedef struct sotto_aero_holding {
    sotto_aero_share share;
    sotto_aero_pads pads;
} sotto_aero_holding;

typedef struct sotto_aero_probe {
    sotto_f64 first[SOTTO_AERO_PROBES];
    uint64_t second[SOTTO_AERO_PROBES];
} sotto_aero_probe;

void sotto_aero_pads_add(const sotto_aero *aero, sotto_aero_pads *sum, const sotto_aero_pads *more);
/* Pads of one dealer of the key, which all its dealers' are added to. */
SOTTO_MUST_USE sotto_status sotto_aero_pads_deal(const sotto_aero *aero,
                                                 sotto_aero_holding *holdings, size_t count,
                                                 size_t threshold, sotto_entropy *entropy,
                                                 sotto_err *err);
/* An old member's holding, dealt among `count` new ones. */
SOTTO_MUST_USE sotto_status sotto_aero_hand_deal(const sotto_aero *aero, sotto_aero_holding *dealt,
                                                 size_t count, size_t threshold,
                                                 const sotto_aero_holding *own,
                                                 sotto_entropy *entropy, sotto_err *err);
/* A new member's probes of what each of `count` old members dealt to it.
 *   before  hand-overs of this key before this one
 *   seed    drawn after everything was dealt
 *   SOTTO_DENIED  no pad is left */
SOTTO_MUST_USE sotto_status sotto_aero_hand_probe(const sotto_aero *aero, sotto_aero_probe *out,
                                                  const sotto_aero_holding *const *dealt,
                                                  size_t count, uint32_t before,
                                                  const uint8_t seed[SOTTO_AERO_SEED],
                                                  sotto_err *err);

/* Probes of a hand-over: all new members' of each dealer. */
typedef struct sotto_aero_probes {
    const sotto_aero_probe *at; /* dealer by dealer, a row of all new members each */
    const uint32_t *dealers;    /* old members                                     */
    const uint32_t *members;    /* new ones; NULL: 0 to count - 1                  */
    size_t dealer_count, old_threshold, count, threshold;
    bool *
        wrong; /* as `at`: set for probes that do not fit their dealer's others; NULL: nobody asks */
} sotto_aero_probes;

/* Anybody's judgement, the same for all: sets bad[i] for dealers that dealt something else than their share.
 *   SOTTO_REJECTED  fewer than 2 old_threshold - 1 dealers agree, or too many new members gave probes that do not fit */
SOTTO_MUST_USE sotto_status sotto_aero_hand_judge_vartime(const sotto_aero *aero, bool *bad,
                                                          const sotto_aero_probes *probes,
                                                          sotto_arena *scratch, sotto_err *err);
/* Whether a new member's probe of a dealer, which was not among those that were judged, agrees with `count` of those, as many as the threshold.
 *   members  who gave these; in the order of `others` */
SOTTO_MUST_USE bool sotto_aero_hand_fits_vartime(const sotto_aero *aero,
                                                 const sotto_aero_probe *own, uint32_t member,
                                                 const sotto_aero_probe *others,
                                                 const uint32_t *members, size_t count);
/* A new member's holding, from what `count` dealers dealt to it: as many as the old threshold, none of them bad. */
SOTTO_MUST_USE sotto_status sotto_aero_hand_take(const sotto_aero *aero, sotto_aero_holding *out,
                                                 const sotto_aero_holding *const *dealt,
                                                 const uint32_t *dealers, size_t count,
                                                 sotto_err *err);

/* ---- on the wire (hand_wire.c) ---------------------------------------------------------------------------- */

/* Bytes of what one member deals to another. */
size_t sotto_aero_holding_size(const sotto_aero *aero);
SOTTO_MUST_USE sotto_status sotto_aero_holding_encode(const sotto_aero *aero, sotto_buf *out,
                                                      const sotto_aero_holding *holding,
                                                      sotto_err *err);
/* SOTTO_MALFORMED  of another size, or a residue is not below its prime */
SOTTO_MUST_USE sotto_status sotto_aero_holding_decode(const sotto_aero *aero,
                                                      sotto_aero_holding *out, sotto_bytes wire,
                                                      sotto_err *err);
void sotto_aero_probe_write(const sotto_aero *aero, sotto_writer *w, const sotto_aero_probe *probe);
void sotto_aero_probe_read(const sotto_aero *aero, sotto_reader *in, sotto_aero_probe *probe,
                           bool *malformed);

/* What a member keeps from one round to the next: its holding, and which rounds it may hand it to. Wipe it. */
typedef struct sotto_aero_carried {
    uint8_t round[32]; /* id of the round that it held it in           */
    uint8_t terms[32]; /* sotto_aero_key_terms of it                   */
    uint8_t key[32];   /* digest of the public key                     */
    uint64_t number;   /* of that round                                */
    uint32_t handed;   /* how often the key was handed over until then */
    sotto_aero_holding holding;
} sotto_aero_carried;

size_t sotto_aero_carried_size(const sotto_aero *aero);
SOTTO_MUST_USE sotto_status sotto_aero_carried_encode(const sotto_aero *aero, sotto_buf *out,
                                                      const sotto_aero_carried *carried,
                                                      sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_carried_decode(const sotto_aero *aero,
                                                      sotto_aero_carried *out, sotto_bytes wire,
                                                      sotto_err *err);

/* A public key as it is handed over: what a was drawn from, and b. */
enum { SOTTO_AERO_A_SEED = 32 };
void sotto_aero_key_digest(uint8_t out[32], sotto_bytes key);

#endif
