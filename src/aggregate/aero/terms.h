/* aggregate/aero/terms.h - what a round of encrypted sums agrees on beside the round itself: sizes of committees, sampling rate,
 * number of spot checks, and who is drawn for what.
 *
 * Callers:  every machine of this folder, and whoever plans a round.
 * Memory:   lists are in the arena.
 * Secrets:  none: all of it is public, and everybody repeats the draws.
 * Wire:     canonical; a round's `parameters`.
 */
#ifndef SOTTO_AGGREGATE_AERO_TERMS_H
#define SOTTO_AGGREGATE_AERO_TERMS_H

#include "aggregate/aero/ledger.h"
#include "aggregate/aero/proof.h"
#include "aggregate/aero/sum_tree.h"
#include "aggregate/method.h"

enum {
    SOTTO_AERO_SLOTS = SOTTO_AERO_N - 1, /* entries of a ciphertext: slot 0 has the round */
    SOTTO_AERO_MOST_GROUPS = 16,
    SOTTO_AERO_MOST_COMMITTEE = 250, /* members of all committees together */
    SOTTO_AERO_MOST_COMMITTEES = 8,
    SOTTO_AERO_MOST_NOISE = 1024,
    SOTTO_AERO_MOST_ASKS = 1024, /* leaves that one device asks for */
    SOTTO_AERO_LONG = 15 << 20,  /* bytes of a message: just below what an envelope may hold */
    SOTTO_AERO_TERMS = 4 + 7 * 4 + 8 + 8 + 4 + 1 + 1 + 1 + 1 + 4,
    SOTTO_AERO_TERMS_HANDED = SOTTO_AERO_TERMS + 32 + 32, /* with the round before */
    SOTTO_AERO_MOST_REKEY = 16, /* rounds under one key: pads last for so many */
};

enum { SOTTO_AERO_STANDARD = 1, SOTTO_AERO_HIGH };
enum { SOTTO_AERO_FAST, SOTTO_AERO_ROBUST }; /* paths of an opening: a round has one */
enum {
    SOTTO_AERO_NOISE = 1,
    SOTTO_AERO_CONTRIBUTOR
}; /* roles of a leaf; they sort in this order */

/* The round before this one, whose committee hands its key over. */
typedef struct sotto_aero_origin {
    uint8_t round[32];  /* its id                               */
    uint8_t beacon[32]; /* that drew its committee: who joins checks it, as it does this round's */
} sotto_aero_origin;

typedef struct sotto_aero_terms {
    uint8_t set;     /* row of sotto_aero_sets                                                   */
    uint8_t profile; /* of proofs                                                                */
    uint8_t bits;    /* of a message                                                             */
    uint8_t checks;  /* s: how many spot checks a leaf expects                                   */
    uint32_t committee, threshold; /* C and A + 1, of each committee                             */
    uint32_t noise_members, noise_corrupt, noise_missing; /* of the noise committee              */
    uint32_t liars;      /* contributors that may lie within what is proved: for the noise ledger */
    uint32_t clears;     /* devices that must say that they found nothing wrong; 0: nobody counts */
    uint64_t rate;       /* a device is drawn if its ticket is below; UINT64_MAX: everybody is    */
    uint64_t epsilon;    /* of the whole session, in millionths                                   */
    uint32_t delta_bits; /* its delta is 2^-delta_bits                                            */
    uint8_t opening;     /* SOTTO_AERO_FAST or SOTTO_AERO_ROBUST                                  */
    uint8_t
        committees; /* each has a key of its own, and opens its groups: g, g + committees, ... */
    uint8_t rekey;  /* rounds under one key, at most; 0: each has its own                     */
    uint8_t
        handed; /* how often this round's key was handed over, this time included; 0: it is new */
    uint32_t
        participations; /* rounds of the session that a device contributes to, at most; 0: all of them */
    sotto_aero_origin origin; /* of a key that is handed over */
} sotto_aero_terms;

/* What a participant knows of itself, and no server tells it. A certificate counts on from what the board says of earlier rounds. */
struct sotto_aero_account {
    double rho;      /* zCDP that rounds before this one spent, as their certificates say */
    const char *set; /* below 128 bits, and it was agreed to by this name; NULL: none */
    struct sotto_aero_known *known; /* one process plays many devices: proofs that it verified */
    /* All committees' members in this round, where it was drawn before; NULL: whoever asks draws it, over all who are registered. Those of
     * the round before follow, where they hand over a key. */
    const uint32_t *members;
    bool is_trial; /* tests and simulators: a round may be without a claim, and odds as they are */
};
typedef struct sotto_aero_account sotto_aero_account;

SOTTO_MUST_USE sotto_status sotto_aero_terms_encode(sotto_buf *out, const sotto_aero_terms *terms,
                                                    sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_terms_decode(sotto_aero_terms *terms, sotto_bytes wire,
                                                    sotto_err *err);

/* A round as this method knows it. */
typedef struct sotto_aero_plan {
    const sotto_round *round;
    sotto_aero_terms terms;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_aero aero;
    sotto_aero_ledger ledger;
    const sotto_aero_profile *profile;
    uint32_t ciphertexts, groups;
    uint32_t *committee,
        *noise;       /* registry indices; ascending in each committee, which follow one another */
    uint32_t members; /* of all committees */
    const uint32_t *old;  /* the committee before, which hands its key over */
    uint32_t old_members; /* 0: the round begins with a new key            */
    uint8_t a_seed[32];   /* of the public key: from the beacon, or handed over with it */
    sotto_aero_poly a;
    double rho; /* what the round costs, at most */
    /* The round as its records are judged by: the committee is known. */
    sotto_round judged;
    sotto_aero_account account;
} sotto_aero_plan;

/* SOTTO_DENIED: the terms contradict each other or the round. */
SOTTO_MUST_USE sotto_status sotto_aero_check_round(const sotto_round *round, sotto_err *err);
/* Everything that is derived. The plan stays where it is: it is large, and parts of it point to others. */
SOTTO_MUST_USE sotto_status sotto_aero_plan_init(sotto_aero_plan *plan, const sotto_round *round,
                                                 sotto_arena *arena, sotto_err *err);

/* Whether somebody may join: the session has a budget that is not spent, and the sizes protect. SOTTO_DENIED: not. */
SOTTO_MUST_USE sotto_status sotto_aero_admit(const sotto_aero_plan *plan, sotto_err *err);
/* What was spent before, by the board, and this round, within epsilon and delta of the session. SOTTO_DENIED: not. */
SOTTO_MUST_USE sotto_status sotto_aero_budget(const sotto_aero_plan *plan, sotto_err *err);

/* Self-sampling: whether the beacon draws the device with this key (Liu and Gupta 2023, 4.2). 64 bits are compared, so that the
 * rate is never above what was asked for. */
bool sotto_aero_is_sampled(const sotto_aero_plan *plan, uint32_t index);
/* Proofs that this process verified before; NULL: it remembers none. */
struct sotto_aero_known *sotto_aero_known_of(const sotto_aero_plan *plan);
/* Place in a committee; -1: none. */
int sotto_aero_place_of(const uint32_t *members, uint32_t count, uint32_t index);
int sotto_aero_committee_place(const sotto_aero_plan *plan, uint32_t index);
int sotto_aero_noise_place(const sotto_aero_plan *plan, uint32_t index);
/* In the committee that hands over its key. */
int sotto_aero_old_place(const sotto_aero_plan *plan, uint32_t index);
/* What must be the same in all rounds under one key: everything that hints, odds and the committee depend on. */
SOTTO_MUST_USE sotto_status sotto_aero_key_terms(uint8_t out[32], const sotto_aero_plan *plan,
                                                 sotto_err *err);
/* Members of this round's committees, one after the other, and then of the one that hands over its key. At most SOTTO_AERO_MOST_SPEAKERS. */
enum { SOTTO_AERO_MOST_SPEAKERS = 2 * SOTTO_AERO_MOST_COMMITTEE };
SOTTO_MUST_USE sotto_status sotto_aero_draw_members(uint32_t *out, const sotto_round *round,
                                                    const sotto_aero_terms *terms,
                                                    sotto_arena *scratch, sotto_err *err);
/* Whether this device may have a leaf in this role. */
bool sotto_aero_may(const sotto_aero_plan *plan, uint8_t role, uint32_t index);
/* Which committee opens a group, and which one a place belongs to. */
uint32_t sotto_aero_committee_of_group(const sotto_aero_plan *plan, uint32_t group);
uint32_t sotto_aero_committee_of_place(const sotto_aero_plan *plan, uint32_t place);
/* Whether a dealer's share of the key for this place comes as a seed; which takes 48 bytes. Places in one committee. A key that is handed on
 * has pads, too: then all shares come whole. */
bool sotto_aero_is_seeded(const sotto_aero_terms *terms, uint32_t dealer, uint32_t place);
/* Ciphertexts that a committee opens. */
uint32_t sotto_aero_committee_opens(const sotto_aero_plan *plan, uint32_t committee);
/* Ciphertexts of a group. */
size_t sotto_aero_group_size(const sotto_aero_plan *plan, uint32_t group);
/* The bound on the squares of a group's entries that a role proves. */
uint64_t sotto_aero_norm2(const sotto_aero_plan *plan, uint8_t role, uint32_t group);

#endif
