/* aggregate/aero/member.h - a member of the committee.
 *
 * It deals a part of the key and certifies the round. It opens its value once the roots are posted, judges the sums, and opens them with
 * its share.
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

/* What its randomness is for. */
enum {
    SOTTO_AERO_FOR_KEY = 1,
    SOTTO_AERO_FOR_DEAL,
    SOTTO_AERO_FOR_SEALS,
    SOTTO_AERO_FOR_SMUDGE,
    SOTTO_AERO_FOR_CHANNEL,
    SOTTO_AERO_FOR_NOISES
};

typedef struct sotto_aero_roots {
    bool is_there, is_right;
    sotto_aero_cipher *totals;
} sotto_aero_roots;

typedef struct sotto_aero_committee_member {
    sotto_aero_base base;
    uint32_t committee, place; /* which one, and its place there */
    uint8_t done, tries;
    bool lacks; /* a dealer's share could not be opened: it can't take part in an opening */
    sotto_aero_share share;
    sotto_aero_roots roots[SOTTO_AERO_MOST_GROUPS];
} sotto_aero_committee_member;

/* member_key.c */
SOTTO_MUST_USE sotto_status sotto_aero_member_seal(sotto_aero_committee_member *m,
                                                   sotto_effects *effects, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_member_deal(sotto_aero_committee_member *m,
                                                   sotto_effects *effects, sotto_err *err);
/* Takes the share out of a KEY record that counts. */
SOTTO_MUST_USE sotto_status sotto_aero_member_take(sotto_aero_committee_member *m,
                                                   const sotto_message *key, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_member_value(sotto_aero_committee_member *m,
                                                    sotto_effects *effects, sotto_err *err);
/* What two members agree on; the same from both sides. First by the keys they are registered with, then by those of this round. So who takes
 * a member's registered keys later reads no share of an old board, once the seeds are gone. */
enum { SOTTO_AERO_AGREED = 64 };
SOTTO_MUST_USE sotto_status sotto_aero_pair_secret(uint8_t out[SOTTO_AERO_AGREED],
                                                   const sotto_aero_committee_member *m,
                                                   uint32_t other, bool is_channel, sotto_err *err);

/* What one member seals to another, for one purpose: one message. Clear it after a failure too. */
SOTTO_MUST_USE sotto_status sotto_aero_share_cipher(sotto_aead *aead,
                                                    const sotto_aero_committee_member *m,
                                                    const char *purpose, uint32_t from, uint32_t to,
                                                    sotto_aead_direction direction, sotto_err *err);

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
