/* aggregate/aero/threshold.h - a secret key among members of a committee, any `threshold` of whom open a sum together.
 *
 * A member of the chosen set publishes lambda c1 s_j + noise + masks: its share's part of c1 s, already weighted for this set, and wide
 * Gaussian noise (smudging). Weighting before the noise keeps it small modulo q. A set that lost a member starts again with another
 * one and fresh noise; every such try is one more hint in the ledger (aggregate/aero/ledger.h).
 *
 * Masks of pairs of members cancel out in the sum, and hide all else. Without them each honest part tells threshold - 1 corrupt members
 * outside the set a known multiple of c1 s, with noise. Of a committee of 45, four such parts give c1 s exactly, and so the key.
 *
 * Callers:  who deals a key, committee members, who combines.
 * Secrets:  shares, secrets and noise, in constant time. Weights and combined sums are public.
 */
#ifndef SOTTO_AGGREGATE_AERO_THRESHOLD_H
#define SOTTO_AGGREGATE_AERO_THRESHOLD_H

#include "aggregate/aero/encrypt.h"

enum { SOTTO_AERO_MOST_MEMBERS = 254 };

/* Member j's: the value at j + 1 of a polynomial of degree threshold - 1 whose constant term is the key; in coefficients. Wipe it. */
typedef struct sotto_aero_share {
    sotto_aero_poly s;
} sotto_aero_share;

/* Shares of one dealer's secret for members 0 to count - 1. Shares of several dealers are added, as their secrets are.
 *   SOTTO_BUG  not 2 <= threshold <= count <= SOTTO_AERO_MOST_MEMBERS */
SOTTO_MUST_USE sotto_status sotto_aero_deal(const sotto_aero *aero, sotto_aero_share *shares,
                                            size_t count, size_t threshold,
                                            const sotto_aero_secret *secret, sotto_entropy *entropy,
                                            sotto_err *err);
/* The same of any polynomial, small or not. */
SOTTO_MUST_USE sotto_status sotto_aero_deal_poly(const sotto_aero *aero, sotto_aero_share *shares,
                                                 size_t count, size_t threshold,
                                                 const sotto_aero_poly *secret,
                                                 sotto_entropy *entropy, sotto_err *err);
/* The same, where `threshold` - 1 members' shares are drawn from a seed each, which is all that they have to be sent: the places after `first`,
 * round the end. The polynomial goes through these shares and the secret, so it is as random as the seeds' streams are. */
SOTTO_MUST_USE sotto_status sotto_aero_deal_seeded(const sotto_aero *aero, sotto_aero_share *shares,
                                                   size_t count, size_t threshold, size_t first,
                                                   const sotto_aero_secret *secret,
                                                   const uint8_t (*seeds)[SOTTO_AERO_SEED],
                                                   sotto_err *err);
/* The share of a seed: the same for dealer and member. */
SOTTO_MUST_USE sotto_status sotto_aero_share_of_seed(const sotto_aero *aero, sotto_aero_share *out,
                                                     const uint8_t seed[SOTTO_AERO_SEED],
                                                     sotto_err *err);
void sotto_aero_share_add(const sotto_aero *aero, sotto_aero_share *sum,
                          const sotto_aero_share *more);

/* What a member's share counts in a set of members. */
typedef struct sotto_aero_weight {
    sotto_f64 first;
    uint64_t second;
} sotto_aero_weight;

/* SOTTO_REJECTED  a member is there twice, or is none */
SOTTO_MUST_USE sotto_status sotto_aero_weights_vartime(const sotto_aero *aero,
                                                       sotto_aero_weight *weights,
                                                       const uint32_t *members, size_t count,
                                                       sotto_err *err);

/* A member's place in a set. */
typedef struct sotto_aero_place {
    const uint32_t
        *members;      /* all of them, in the order that everybody has                        */
    size_t count, own; /* of them, and which one it is                                        */
    /* What it shares with each of them and nobody else knows, from a key exchange; its own row is not read. Secret. */
    const uint8_t (*seeds)[SOTTO_AERO_SEED];
} sotto_aero_place;

/* One member's part for one ciphertext. smudge is a law of sotto_noise_gaussian_wide. Masks are of this set and this c1, so members
 * that were told different ones publish nothing of use.
 *   SOTTO_BUG  no such place in a set */
SOTTO_MUST_USE sotto_status sotto_aero_partial(const sotto_aero *aero, sotto_aero_poly *out,
                                               const sotto_aero_share *share,
                                               sotto_aero_weight weight,
                                               const sotto_aero_place *place,
                                               const sotto_aero_poly *c1, const sotto_noise *smudge,
                                               sotto_entropy *entropy, sotto_err *err);

/* c1 s_j + n_j: a member's point of a polynomial whose constant term is c1 s + n, where n_j is its share of noise that was dealt
 * (robust.h). */
void sotto_aero_point_of(const sotto_aero *aero, sotto_aero_poly *out,
                         const sotto_aero_share *share, const sotto_aero_poly *c1,
                         const sotto_aero_poly *noise);

/* The sum of all messages, from c2 and the parts of the whole set. `most` is the ledger's bound on the noise.
 *   SOTTO_REJECTED  a coefficient is further from a multiple of delta than that: a part is wrong, or one is missing */
SOTTO_MUST_USE sotto_status sotto_aero_open_vartime(const sotto_aero *aero, int64_t *sum,
                                                    const sotto_aero_poly *c2,
                                                    const sotto_aero_poly *const *parts,
                                                    size_t count, sotto_u128 most, sotto_err *err);

#endif
