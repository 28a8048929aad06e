/* aggregate/aero/ledger.h - how much noise a sum may hold before it can't be opened, and how often a key may be used.
 *
 * Everything is a bound that holds whatever dealers and lying devices do within their ranges. Devices' ranges are proved (proof.h); those
 * of dealers, s ternary and e from -16 to 15, are assumed: a proof of a dealer's key does not exist yet.
 *
 *   noise      sum of r e + e2 - s e1. With D dealers no coefficient of s is above D, and none of e above 16 D. A liar adds at most
 *              4096 (16 D + 16 D) + 16. For honest devices r and e1, e2 are sub-Gaussian with variances 2/3 and 21/2.
 *   smudging   T members add a discrete Gaussian each: sub-Gaussian with variance T sigma^2.
 *   failure    both tails together are below 2^-failure for all coefficients of all sums under one key.
 *   hints      every opened ciphertext tells c1 s + noise, and so something of s, e, r, e1 and e2. B bounds, at every root of
 *              x^4096 + 1, the length of the row that they are multiplied with there. H hints leave the problem with sigma' where
 *              1/sigma'^2 = 2 (1/sigma^2 + H B^2 / smudge^2). That is the reduction of Kim, Lee, Seo and Song 2023 for Hint-MLWE.
 *              Only one member's noise is counted: the others of the set may be corrupt. The masks of threshold.h see to it that
 *              an opening is one hint, and not one for each honest member.
 *   robust     Members deal their noise (robust.h), and show 128 sums of half of its coefficients, each with a pad. Given what is
 *              shown, the noise is still a discrete Gaussian. Its covariance is at least sigma^2 / 2 in every direction, since a pad's
 *              variance is 128 x coefficients x sigma^2. Hints count with that half. A dealer's coefficient that is 2 x `look` or
 *              more stays unseen with 2^-128, so `threshold` dealers add at most so many times that.
 *
 * Callers:  who plans a round; members before they open.
 * Threads:  a ledger has one owner.
 */
#ifndef SOTTO_AGGREGATE_AERO_LEDGER_H
#define SOTTO_AGGREGATE_AERO_LEDGER_H

#include "aggregate/aero/encrypt.h"

typedef struct sotto_aero_wish {
    const sotto_aero_set *set;
    uint64_t devices;   /* contributions to a sum, at most                                       */
    uint64_t liars;     /* of them, at most                                                      */
    uint64_t most;      /* of |m[k]| of one contribution; also the largest number of a round     */
    uint64_t noise;     /* what the noise for privacy adds to a sum's coefficient, at most       */
    uint32_t dealers;   /* whose secrets are added to the key                                    */
    uint32_t threshold; /* members that open                                                     */
    uint64_t rounds;    /* under one key                                                         */
    uint64_t
        ciphertexts;  /* of one contribution                                                   */
    uint32_t tries;   /* to open a round's sums, at most 9: a first one and eight more         */
    unsigned failure; /* sums can't be opened with probability 2^-failure at most              */
    bool is_robust;   /* members deal their noise                                              */
} sotto_aero_wish;

enum {
    SOTTO_AERO_MOST_TRIES = 9,
    SOTTO_AERO_LOOKS = 128, /* sums of a dealer's noise that are shown */
};

typedef struct sotto_aero_ledger {
    const sotto_aero_set *set;
    unsigned log_t;
    uint64_t sigma;                 /* of one member's smudging: the widest that leaves room   */
    uint64_t hints, used;           /* rounds x ciphertexts x tries, and how many of them      */
    uint64_t pad;                   /* robust: of what hides a look; 0 otherwise               */
    double look;                    /* robust: no honest dealer's look is larger               */
    double half_gap;                /* delta / 2                                               */
    double liars, honest, smudging; /* bounds on a coefficient's noise, by cause   */
    double room;                    /* half_gap over the sum of the three, in bits             */
    double spectral;                /* B                                                       */
    double sigma_left;              /* sigma', rounded down                                    */
    double rho;                     /* zCDP of one device's randomness in one round's openings */
} sotto_aero_ledger;

/* SOTTO_DENIED  the messages, the noise or the hints do not fit the set; the reason says which, and what is missing */
SOTTO_MUST_USE sotto_status sotto_aero_ledger_plan(sotto_aero_ledger *ledger,
                                                   const sotto_aero_wish *wish, sotto_err *err);
/* The bound of sotto_aero_open_vartime. */
sotto_u128 sotto_aero_ledger_most(const sotto_aero_ledger *ledger);
/* Before members open `count` ciphertexts once. SOTTO_DENIED: so many hints are not left. */
SOTTO_MUST_USE sotto_status sotto_aero_ledger_spend(sotto_aero_ledger *ledger, uint64_t count,
                                                    sotto_err *err);

#endif
