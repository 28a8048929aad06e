/* aggregate/shared/dkg.h - a key that nobody has: made by a committee, and handed on to the next.
 *
 * Callers:  aggregate/keygen, which carries what members send. Pure functions.
 * Memory:   lists are in the arena; a deal's secrets are wiped by forget.
 * Secrets:  polynomials and shares. The dealer's side is constant-time.
 *
 * Gennaro et al. 2007. Members first commit with Pedersen's commitments, which hide everything, and agree on
 * who dealt correctly; only then do they show g^coefficient. With Feldman's commitments at once, whoever speaks last can see
 * where the key is going and drop its own deal, or somebody else's, until it likes the outcome.
 *
 *     deal       commitments to everybody, two values to each member, sealed on the way
 *     check      a member checks its values; a complaint is published, and answered by publishing the values
 *     qualified  the set of dealers that count; a quorum signs it
 *     reveal     qualified dealers show g^coefficient; whoever shows a wrong one has its polynomial rebuilt in the open
 *     share      the sum of a member's values: its share of the key
 *
 * Handing on: an old member deals its share with a fresh polynomial whose constant term is checked against the share's public
 * value. A new share is the weighted sum of what a set of old members dealt. The key stays, and shares of the two committees do
 * not add up.
 */
#ifndef SOTTO_AGGREGATE_SHARED_DKG_H
#define SOTTO_AGGREGATE_SHARED_DKG_H

#include "aggregate/shared/decryptors.h"

/* What a dealer publishes: Pedersen's commitments (g^a h^b) and later Feldman's (g^a), `threshold` points each. */
typedef struct sotto_dkg_commitments {
    uint32_t count;
    uint8_t (*at)[SOTTO_P256_WIDE];
} sotto_dkg_commitments;

typedef struct sotto_dkg_values {
    sotto_scalar a, b;
} sotto_dkg_values;

typedef struct sotto_dkg_dealer {
    uint32_t threshold;
    sotto_scalar *a, *b; /* coefficients, the constant first */
} sotto_dkg_dealer;

/* secret: NULL draws the constant term too; a hand-over gives its share instead. */
SOTTO_MUST_USE sotto_status sotto_dkg_deal(sotto_dkg_dealer *dealer, sotto_tdh2 *t,
                                           uint32_t threshold, const sotto_scalar *secret,
                                           sotto_keystream *stream, sotto_arena *arena,
                                           sotto_err *err);
void sotto_dkg_forget(sotto_dkg_dealer *dealer);
/* For the member at this place. */
void sotto_dkg_values_for(const sotto_dkg_dealer *dealer, sotto_tdh2 *t, uint32_t place,
                          sotto_dkg_values *out);
SOTTO_MUST_USE sotto_status sotto_dkg_commit(const sotto_dkg_dealer *dealer, sotto_tdh2 *t,
                                             sotto_dkg_commitments *out, sotto_arena *arena,
                                             sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_dkg_reveal(const sotto_dkg_dealer *dealer, sotto_tdh2 *t,
                                             sotto_dkg_commitments *out, sotto_arena *arena,
                                             sotto_err *err);

/* Whether values are what the dealer committed to, before (Pedersen) and after (Feldman: values->a alone). */
SOTTO_MUST_USE bool sotto_dkg_is_committed_vartime(sotto_tdh2 *t,
                                                   const sotto_dkg_commitments *pedersen,
                                                   uint32_t place, const sotto_dkg_values *values);
SOTTO_MUST_USE bool sotto_dkg_is_revealed_vartime(sotto_tdh2 *t,
                                                  const sotto_dkg_commitments *feldman,
                                                  uint32_t threshold, uint32_t place,
                                                  const sotto_dkg_values *values);

/* Which dealers count: those that answered every complaint with values that fit. A dealer with `threshold` complaints or more is
 * out: its answers would give its polynomial away.
 *   complaints  by dealer and member, count * count
 *   answers     the published values, in the same order; used where there is a complaint */
void sotto_dkg_qualify(sotto_tdh2 *t, bool *qualified, const sotto_dkg_commitments *pedersen,
                       uint32_t count, uint32_t threshold, const bool *complaints,
                       const sotto_dkg_values *answers, const bool *answered);

/* What members agree on: the set of dealers that count, and what those committed to. */
void sotto_dkg_agreed(uint8_t out[32], const bool *qualified, const sotto_dkg_commitments *pedersen,
                      uint32_t count);
/* A point of a commitment. Zeros are the identity. */
SOTTO_MUST_USE bool sotto_dkg_point_decode(sotto_group *g, sotto_point *out,
                                           const uint8_t bytes[SOTTO_P256_WIDE]);

/* Agreement: how many signatures on the same set, and on what its dealers committed to, are valid. Fewer than a quorum:
 * everybody stops, which costs a try. A member that complained takes the published values in the place of its own. */
SOTTO_MUST_USE sotto_status sotto_dkg_agree_sign(uint8_t out[SOTTO_SIGNATURE],
                                                 const bool *qualified,
                                                 const sotto_dkg_commitments *pedersen,
                                                 uint32_t count, const uint8_t session[32],
                                                 uint64_t epoch, const sotto_signer *signer,
                                                 sotto_err *err);
SOTTO_MUST_USE bool sotto_dkg_is_agreed(const bool *qualified,
                                        const sotto_dkg_commitments *pedersen, uint32_t count,
                                        const uint8_t session[32], uint64_t epoch,
                                        const uint8_t (*keys)[SOTTO_SIGN_PUBLIC],
                                        const uint8_t (*signatures)[SOTTO_SIGNATURE],
                                        const bool *is_signed);

/* For a qualified dealer that revealed something else, or nothing: what it should have revealed, from the values that members
 * show. Dropping it instead would let the last to reveal choose between two keys. Values that it did not commit to are skipped.
 *   values, is_there  by member
 *   SOTTO_AGAIN       fewer than the threshold are left */
SOTTO_MUST_USE sotto_status sotto_dkg_rebuild_vartime(sotto_tdh2 *t, sotto_dkg_commitments *out,
                                                      const sotto_dkg_commitments *pedersen,
                                                      const sotto_dkg_values *values,
                                                      const bool *is_there, uint32_t count,
                                                      sotto_arena *arena, sotto_err *err);

/* The key and every member's public value, from what the qualified dealers revealed or what was rebuilt for them. */
SOTTO_MUST_USE sotto_status sotto_dkg_publish_vartime(sotto_tdh2 *t, uint8_t key[SOTTO_P256_WIDE],
                                                      uint8_t (*verify)[SOTTO_P256_WIDE],
                                                      const sotto_dkg_commitments *feldman,
                                                      const bool *qualified, uint32_t count,
                                                      uint32_t threshold, sotto_err *err);
/* A member's share: the sum of the values that qualified dealers gave it. */
void sotto_dkg_share(sotto_tdh2 *t, sotto_scalar *out, const sotto_dkg_values *values,
                     const bool *qualified, uint32_t count);

/* ---- handing on ------------------------------------------------------------------------------------------- */

/* Whether an old member's deal begins with the share that it has. */
SOTTO_MUST_USE bool sotto_dkg_hands_on_vartime(sotto_tdh2 *t, const sotto_dkg_commitments *feldman,
                                               const uint8_t verify[SOTTO_P256_WIDE]);
/* What old members dealt to the members of the next committee. */
typedef struct sotto_dkg_handed {
    const sotto_dkg_commitments *feldman; /* by dealer; a count of 0: nothing */
    uint8_t (*verify)[SOTTO_P256_WIDE];   /* of the dealers' shares */
    uint32_t dealers, count, threshold;   /* old members; new members, and their threshold */
} sotto_dkg_handed;
/* As sotto_dkg_qualify; complaints and answers by dealer and new member, dealers * count. */
void sotto_dkg_qualify_handed(sotto_tdh2 *t, bool *qualified, const sotto_dkg_handed *handed,
                              const bool *complaints, const sotto_dkg_values *answers,
                              const bool *answered);
/* The key, which stays, and the new members' public values, from the deals at `places`: as many as the old threshold. */
SOTTO_MUST_USE sotto_status sotto_dkg_publish_handed_vartime(sotto_tdh2 *t,
                                                             uint8_t key[SOTTO_P256_WIDE],
                                                             uint8_t (*verify)[SOTTO_P256_WIDE],
                                                             const sotto_dkg_handed *handed,
                                                             const uint32_t *places, uint32_t count,
                                                             sotto_arena *arena, sotto_err *err);
/* A new member's share, from the values that `count` old members at `places` dealt to it. They are as many as the old
 * threshold, and agreed on. */
void sotto_dkg_take_over(sotto_tdh2 *t, sotto_scalar *out, const sotto_dkg_values *values,
                         const uint32_t *places, uint32_t count);

#endif
