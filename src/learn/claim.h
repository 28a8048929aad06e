/* learn/claim.h - what may be said of a model that was trained with noise: epsilon, the theorem, and who must be honest.
 *
 * Callers:  the simulator, programs.
 * Secrets:  none.
 *
 * Noise is a discrete Gaussian on integers, and updates are integers. Then the moments of the privacy loss at whole orders
 * are exactly those of the real Gaussian, since a sum over all integers does not change by an integer shift.
 * So the bound of Mironov, Talwar and Zhang (2019) for a sampled Gaussian holds at its whole orders, in any number of
 * dimensions (docs/decisions/0129). Where integers are fine enough to stand for a real Gaussian that is rounded, its rounds are also
 * composed optimally, and the smaller bound is claimed (docs/decisions/0173).
 */
#ifndef SOTTO_LEARN_CLAIM_H
#define SOTTO_LEARN_CLAIM_H

#include "sotto/base.h"

typedef enum sotto_learn_law {
    SOTTO_LEARN_SAMPLED =
        1, /* each round a fresh Poisson sample, and nobody sees who is in it        */
    SOTTO_LEARN_COUNTED, /* somebody sees who takes part: at most `participations` rounds a person */
    SOTTO_LEARN_TREE, /* DP-FTRL: at most once in each tree, and in at most `participations` trees */
    SOTTO_LEARN_BLT /* DP-FTRL: noise of noise/blt.h, for rounds of a pattern                     */
} sotto_learn_law;

typedef struct sotto_learn_question {
    sotto_learn_law law;
    double multiplier; /* deviation of the noise over the longest update, after rounding of both */
    double delta;
    uint64_t numbers; /* drawn in all, each a little off its law (0: none is counted)    */
    double sigma;     /* sampled: deviation of the noise in integers, rounded down; 0: not said.
                         Without `numbers` it is not used                                    */
    double rate;      /* sampled                              */
    uint64_t rounds;  /* sampled                              */
    uint64_t participations, levels; /* counted; tree        */
    double sensitivity;              /* blt: sotto_blt_priced */
} sotto_learn_question;

typedef struct sotto_learn_claim {
    double epsilon;                   /* an upper bound */
    double order;                     /* of Renyi divergence that gave it */
    const char *theorem, *assumption; /* constants */
    const char *adjacency;            /* in words  */
} sotto_learn_claim;

/* Adjacency is add-remove of updates: with a person's, or without. How many persons there are is public, since rates and divisors follow
 * from it.
 * SOTTO_DENIED names a number out of its range. */
SOTTO_MUST_USE sotto_status sotto_learn_claim_of(sotto_learn_claim *out,
                                                 const sotto_learn_question *question,
                                                 sotto_err *err);

#endif
