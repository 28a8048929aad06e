/* aggregate/keygen/meeting.h - a key generation of everybody who is listed, such as the witnesses of a beacon. No server keeps a
 * board: whoever asks carries the posts from one to the other.
 *
 * Callers:  serve/witness for one member; apps/support/witnesses.c carries the posts.
 * Memory:   borrowed from the wire bytes; lists are in the arena given.
 * Wire:     canonical. All of it is public.
 *
 * The call is one of keygen.h that draws everybody. No beacon draws them, since this makes the beacon: each member knows all
 * others' signing keys from its operator. Channel keys are made for one meeting, and each is signed by its member. So whoever
 * carries the posts can't put in its own, and later theft of a member's files opens nothing that was sealed.
 */
#ifndef SOTTO_AGGREGATE_KEYGEN_MEETING_H
#define SOTTO_AGGREGATE_KEYGEN_MEETING_H

#include "aggregate/keygen/keygen.h"

enum {
    SOTTO_MEETING_ASK = 32 + 8, /* session and epoch, on the wire */
    SOTTO_MEETING_SEAT = 32 + SOTTO_SIGNATURE,
    SOTTO_MEETING_MOST_BYTES = 1 << 20,
};

/* What a member says when it is asked to meet: its channel key, with its signature. */
typedef struct sotto_meeting_seat {
    uint8_t channel[32], signature[SOTTO_SIGNATURE];
} sotto_meeting_seat;

SOTTO_MUST_USE sotto_status sotto_meeting_seat_sign(sotto_meeting_seat *seat,
                                                    const uint8_t session[32], uint64_t epoch,
                                                    const sotto_signer *signer, sotto_err *err);
/* SOTTO_REJECTED: not signed with this key for this meeting. */
SOTTO_MUST_USE sotto_status sotto_meeting_seat_check(const sotto_meeting_seat *seat,
                                                     const uint8_t session[32], uint64_t epoch,
                                                     const uint8_t key[SOTTO_SIGN_PUBLIC],
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_meeting_seat_decode(sotto_meeting_seat *seat, sotto_bytes wire,
                                                      sotto_err *err);

/* The call, why members believe it, and what was said so far. */
typedef struct sotto_meeting {
    sotto_bytes call;
    uint32_t count;
    const uint8_t *signatures; /* of each channel key, one after the other */
    unsigned step;             /* that is open */
    sotto_bytes posts;         /* each with its length before it */
} sotto_meeting;

SOTTO_MUST_USE sotto_status sotto_meeting_encode(sotto_buf *out, const sotto_meeting *meeting,
                                                 sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_meeting_decode(sotto_meeting *meeting, sotto_bytes wire,
                                                 sotto_err *err);
/* The next post in a list of them; false: there is none, or it is cut. */
SOTTO_MUST_USE bool sotto_meeting_next(sotto_bytes *posts, sotto_bytes *post);

/* Opens the call. Everybody is there, nobody else, in this order, each with its own channel key.
 *   keys  of all members, from their operators
 *   SOTTO_REJECTED  it is a meeting of others, or somebody's channel key is not its own */
SOTTO_MUST_USE sotto_status sotto_meeting_open(sotto_keygen *call, const sotto_meeting *meeting,
                                               const uint8_t (*keys)[SOTTO_SIGN_PUBLIC],
                                               uint32_t count, sotto_arena *arena, sotto_err *err);

/* Whether a quorum of these members signed the record of their key.
 *   SOTTO_REJECTED  they did not */
SOTTO_MUST_USE sotto_status sotto_meeting_check_record(const sotto_decryptors_record *record,
                                                       const uint8_t (*keys)[SOTTO_SIGN_PUBLIC],
                                                       uint32_t count, sotto_err *err);

#endif
