/* aggregate/aero/member.h - a member of the committee.
 *
 * It deals a part of the key and certifies the round. It opens its value once the roots are posted, judges the sums, and opens them with
 * its share. Where a round begins with the key of the one before, members of that one deal their shares to those of this one (member_hand.c).
 * Who was in that committee alone goes home then, and has nothing left.
 *
 * Secrets:  the share, and everything that comes from the seed. leave() wipes it: an old share is kept by nobody.
 */
#ifndef SOTTO_AGGREGATE_AERO_MEMBER_H
#define SOTTO_AGGREGATE_AERO_MEMBER_H

#include "aggregate/aero/machine.h"
#include "crypto/aead.h"

/* What it has done: saved. */
enum {
    SOTTO_AERO_HAS_SEALED = 1,
    SOTTO_AERO_HAS_DEALT = 2,
    SOTTO_AERO_HAS_CERTIFIED = 4,
    SOTTO_AERO_HAS_OPENED = 8,
    SOTTO_AERO_HAS_JUDGED = 16,
    SOTTO_AERO_TIME_IS_UP = 32,   /* the window for complaints is over */
    SOTTO_AERO_SUMS_IN_TIME = 64, /* they were posted while devices could still check them */
    SOTTO_AERO_NEVER_JUDGES =
        128, /* something was posted too late: it signs for no sum of this round */
};

/* The same of a key that is handed over. */
enum {
    SOTTO_AERO_HAS_HANDED = 1,     /* dealt its share of the last round's key */
    SOTTO_AERO_HAS_PROBED = 2,     /* said what it was dealt                  */
    SOTTO_AERO_HAS_ERASED = 4,     /* what it took along                      */
    SOTTO_AERO_HAS_BEQUEATHED = 8, /* put its share aside for the next round  */
    SOTTO_AERO_TAKES_NOTHING = 16, /* the set-up was over before the hand-over */
};

/* What its randomness is for. */
enum {
    SOTTO_AERO_FOR_KEY = 1,
    SOTTO_AERO_FOR_DEAL,
    SOTTO_AERO_FOR_SEALS,
    SOTTO_AERO_FOR_SMUDGE,
    SOTTO_AERO_FOR_CHANNEL,
    SOTTO_AERO_FOR_NOISES,
    SOTTO_AERO_FOR_HAND
};

/* Sums of a group, as far as a part of theirs is made of them. */
typedef struct sotto_aero_roots {
    bool is_there, is_right;
    sotto_aero_poly *c1;
} sotto_aero_roots;

typedef struct sotto_aero_committee_member {
    sotto_aero_base base;
    uint32_t committee, place; /* which one, and its place there */
    bool is_old;               /* it is in the last round's committee alone */
    uint8_t done, hand, tries;
    bool lacks; /* a dealer's share could not be opened: it can't take part in an opening */
    sotto_aero_share share;
    sotto_aero_pads pads;      /* of a key that is handed on */
    sotto_aero_carried *own;   /* what it took along; NULL: nothing that is of use here */
    sotto_aero_holding *dealt; /* to it, by place of the old member; NULL: it has not read any */
    bool *opened;              /* those of them that it could open */
    bool took;                 /* its share of them */
    sotto_aero_roots roots[SOTTO_AERO_MOST_GROUPS];
} sotto_aero_committee_member;

/* member_key.c */
SOTTO_MUST_USE sotto_status sotto_aero_member_seal(sotto_aero_committee_member *m,
                                                   sotto_effects *effects, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_member_deal(sotto_aero_committee_member *m,
                                                   sotto_effects *effects, sotto_err *err);
/* Takes the share that a dealer sealed to it, of a KEY record that counts. */
SOTTO_MUST_USE sotto_status sotto_aero_member_take(sotto_aero_committee_member *m, uint32_t dealer,
                                                   sotto_bytes own, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_member_value(sotto_aero_committee_member *m,
                                                    sotto_effects *effects, sotto_err *err);
/* What two members agree on; the same from both sides. First by the keys they are registered with, then by those of this round. So who takes
 * a member's registered keys later reads no share of an old board, once the seeds are gone. */
enum { SOTTO_AERO_AGREED = 64 };
SOTTO_MUST_USE sotto_status sotto_aero_round_key(sotto_dh *dh, const sotto_aero_committee_member *m,
                                                 sotto_err *err);
/* with: the other one's key of this round; NULL: that of its commitments, if there are any. */
SOTTO_MUST_USE sotto_status sotto_aero_agree(uint8_t out[SOTTO_AERO_AGREED],
                                             const sotto_aero_committee_member *m, uint32_t other,
                                             const uint8_t *with, bool is_channel, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_pair_secret(uint8_t out[SOTTO_AERO_AGREED],
                                                   const sotto_aero_committee_member *m,
                                                   uint32_t other, bool is_channel, sotto_err *err);

/* What one member seals to another, for one purpose: one message. Clear it after a failure too. */
SOTTO_MUST_USE sotto_status sotto_aero_share_cipher(sotto_aead *aead,
                                                    const sotto_aero_committee_member *m,
                                                    const char *purpose, uint32_t from, uint32_t to,
                                                    const uint8_t *with,
                                                    sotto_aead_direction direction, sotto_err *err);
/* One holding under such a cipher, on the wire. */
SOTTO_MUST_USE sotto_status sotto_aero_holding_seal(sotto_aero_committee_member *m, sotto_buf *out,
                                                    const char *purpose, uint32_t to,
                                                    const uint8_t *with,
                                                    const sotto_aero_holding *holding,
                                                    sotto_arena *scratch, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_holding_unseal(sotto_aero_committee_member *m,
                                                      sotto_aero_holding *out, const char *purpose,
                                                      uint32_t from, const uint8_t *with,
                                                      sotto_bytes sealed, sotto_arena *scratch,
                                                      sotto_err *err);

/* member_hand.c */
/* Reads what it took along; what is of no use in this round stays unread. */
SOTTO_MUST_USE sotto_status sotto_aero_member_inherit(sotto_aero_committee_member *m,
                                                      sotto_err *err);
/* What follows from a record of the hand-over that counts, for its own memory: the same after a restart. */
SOTTO_MUST_USE sotto_status sotto_aero_member_learn(sotto_aero_committee_member *m,
                                                    const sotto_message *known, sotto_err *err);
/* All that can be done for it now. */
SOTTO_MUST_USE sotto_status sotto_aero_member_hand_on(sotto_aero_committee_member *m,
                                                      sotto_effects *effects, sotto_err *err);
/* The round's set-up is over: what it took along is erased, whatever came of it. */
SOTTO_MUST_USE sotto_status sotto_aero_member_erase(sotto_aero_committee_member *m,
                                                    sotto_effects *effects, sotto_err *err);
/* The round is certified: what it takes to the next one, if the key may be used there. */
SOTTO_MUST_USE sotto_status sotto_aero_member_bequeath(sotto_aero_committee_member *m,
                                                       sotto_effects *effects, sotto_err *err);
void sotto_aero_member_forget(sotto_aero_committee_member *m);

/* member_open.c */
SOTTO_MUST_USE sotto_status sotto_aero_member_roots(sotto_aero_committee_member *m,
                                                    const sotto_message *message,
                                                    sotto_status *verdict, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_member_part(sotto_aero_committee_member *m,
                                                   const sotto_message *message,
                                                   sotto_status *verdict, sotto_effects *effects,
                                                   sotto_err *err);
/* Whether it may open now what it has signed for, and the attempt is a new one. `verdict` says why not. */
SOTTO_MUST_USE bool sotto_aero_member_may_open(const sotto_aero_committee_member *m,
                                               uint32_t attempt, sotto_status *verdict);

/* member_robust.c: deals its noise, where the board says so; and its point. */
SOTTO_MUST_USE sotto_status sotto_aero_member_noises(sotto_aero_committee_member *m,
                                                     sotto_effects *effects, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_member_point(sotto_aero_committee_member *m,
                                                    const sotto_message *message,
                                                    sotto_status *verdict, sotto_effects *effects,
                                                    sotto_err *err);

#endif
