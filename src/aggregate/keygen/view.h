/* aggregate/keygen/view.h - what follows from a board for everybody who sees it: whose deals count, who is to be rebuilt, and the
 * record.
 *
 * Callers:  member.c of this folder.
 * Memory:   lists are in the arena given; the groups are the crypto library's until close.
 */
#ifndef SOTTO_AGGREGATE_KEYGEN_VIEW_H
#define SOTTO_AGGREGATE_KEYGEN_VIEW_H

#include "aggregate/keygen/keygen.h"

/* Bodies on a board were checked, so all of them decode. Views pass over others, since they can't ignore what a decoder says. */
typedef struct sotto_keygen_view {
    const sotto_keygen *call;
    const sotto_keygen_board *board;
    sotto_arena *arena;
    sotto_tdh2 t;
    /* By dealer. */
    sotto_dkg_commitments *deals; /* a count of 0: none */
    const uint8_t **sealed;       /* values for each member */
    sotto_dkg_commitments *revealed;
    bool *qualified, *missing; /* missing: qualified, and not revealed as it should be */
    uint32_t qualified_count, missing_count;
    /* By dealer and member. */
    bool *complaints, *answered;
    sotto_dkg_values *answers;
    uint8_t agreed[32];
} sotto_keygen_view;

/* Reads deals. Close after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_keygen_view_open(sotto_keygen_view *v, const sotto_keygen *call,
                                                   const sotto_keygen_board *board,
                                                   sotto_arena *arena, sotto_err *err);
void sotto_keygen_view_close(sotto_keygen_view *v);

/* Each goes on from where the one before ended. */
void sotto_keygen_view_complaints(sotto_keygen_view *v);
/* SOTTO_DENIED: too few deals count. */
SOTTO_MUST_USE sotto_status sotto_keygen_view_qualify(sotto_keygen_view *v, sotto_err *err);
/* SOTTO_DENIED: no quorum agrees with this view. */
SOTTO_MUST_USE sotto_status sotto_keygen_view_agree(sotto_keygen_view *v, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_keygen_view_reveals(sotto_keygen_view *v, sotto_err *err);
/* With the accusations: fills in missing. */
void sotto_keygen_view_accusations(sotto_keygen_view *v);
/* SOTTO_DENIED: somebody is missing, and no quorum voted for exactly those, or they are too many. */
SOTTO_MUST_USE sotto_status sotto_keygen_view_vote(sotto_keygen_view *v, sotto_err *err);
/* Rebuilds what is missing. SOTTO_AGAIN: from too few values. */
SOTTO_MUST_USE sotto_status sotto_keygen_view_rebuild(sotto_keygen_view *v, sotto_err *err);
/* Key, members and public values; no signatures. */
SOTTO_MUST_USE sotto_status sotto_keygen_view_record(sotto_keygen_view *v,
                                                     sotto_decryptors_record *out, sotto_err *err);

/* Whether values are what this dealer committed to for this member. */
SOTTO_MUST_USE bool sotto_keygen_view_fits(sotto_keygen_view *v, uint32_t dealer, uint32_t member,
                                           const sotto_dkg_values *values);
/* False: not two scalars. */
SOTTO_MUST_USE bool sotto_keygen_values_read(const sotto_keygen_view *v, sotto_dkg_values *out,
                                             const uint8_t bytes[2 * SOTTO_P256_SCALAR]);
/* Hand-over: the places of the dealers in the set, as many as the old threshold. */
uint32_t sotto_keygen_view_set(const sotto_keygen_view *v, uint32_t places[SOTTO_DECRYPTORS_MOST]);

#endif
