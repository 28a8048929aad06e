/* learn/blt.h - noise that is correlated over rounds by a few buffers, so that it largely cancels.
 *
 * This is DP-FTRL with a buffered linear Toeplitz matrix (Dvijotham et al. 2024; McMahan, Xu and Zhang 2024).
 *
 * Callers:  sotto-sim: the noise of one server, from its own secret.
 * Memory:   a few numbers for each parameter, in the arena given at set-up.
 * Secrets:  the buffers and all that is drawn. Time and addresses do not depend on them.
 *
 * Let C be the lower triangular Toeplitz matrix with c_0 = 1 and c_i = sum over j of weight_j decay_j^(i-1). Round t gets the noise w_t
 * = z_t - q_t, where z_t is fresh. q_t is what C predicts of the noise before: the sum of c_(t-s) w_s over earlier rounds s.
 * So w is C^-1 z, and what is released tells as much as C x + z does (docs/decisions/0189 has the proof, for integers).
 */
#ifndef SOTTO_LEARN_BLT_H
#define SOTTO_LEARN_BLT_H

#include "noise/noise.h"
#include "sotto/base.h"

enum {
    SOTTO_BLT_BUFFERS = 3,
    SOTTO_BLT_BITS = 30,      /* decays and weights are multiples of 2^-30            */
    SOTTO_BLT_FINE = 20,      /* noise is drawn in units of 2^-20 of a sum's integers */
    SOTTO_BLT_ROUNDS = 16384, /* most rounds                                          */
};

typedef struct sotto_blt {
    int64_t decay[SOTTO_BLT_BUFFERS], weight[SOTTO_BLT_BUFFERS];
} sotto_blt;

/* Who takes part when: at most `participations` of `rounds`, any two of them at least `separation` apart. */
typedef struct sotto_blt_pattern {
    uint64_t rounds, separation, participations;
} sotto_blt_pattern;

/* SOTTO_DENIED: a decay or weight is out of its range; or the weights add up to more than 1, so that C does not fall. */
SOTTO_MUST_USE sotto_status sotto_blt_check(const sotto_blt *blt, sotto_err *err);
/* The best that a search finds: least error for a claim. No claim depends on how good it is. */
SOTTO_MUST_USE sotto_status sotto_blt_choose(sotto_blt *out, const sotto_blt_pattern *pattern,
                                             sotto_err *err);
/* Whether there is a price: 1 to SOTTO_BLT_ROUNDS rounds, with a separation and participations of 1 or more. */
bool sotto_blt_pattern_priced(const sotto_blt_pattern *pattern);
/* Most that C x changes by, where x has entries of length 1 in rounds of such a pattern, and zeros elsewhere; rounded up. Infinity: the
 * theorem is not about this matrix (sotto_blt_check) or this pattern. */
double sotto_blt_sensitivity(const sotto_blt *blt, const sotto_blt_pattern *pattern);
/* The same for the noise as it is computed, in longest updates of so many integers in so many numbers. */
double sotto_blt_priced(const sotto_blt *blt, const sotto_blt_pattern *pattern, double length,
                        size_t dimension);
/* Root of the mean over rounds of the variance of all noise so far, for fresh noise of variance 1. */
double sotto_blt_error(const sotto_blt *blt, uint64_t rounds);

/* What C predicts from the buffers of one number; and the buffers after noise w. */
int64_t sotto_blt_predict(const sotto_blt *blt, const int64_t buffers[SOTTO_BLT_BUFFERS]);
void sotto_blt_keep(const sotto_blt *blt, int64_t buffers[SOTTO_BLT_BUFFERS], int64_t w);

typedef struct sotto_blt_noise {
    sotto_blt blt;
    sotto_noise fresh;
    size_t dimension;
    int64_t *buffers;
    double reach; /* no number of a round's noise is further from 0, in integers of a sum */
} sotto_blt_noise;

/* sigma: least deviation of fresh noise, in integers of a sum. SOTTO_DENIED: noise that an integer can't hold. */
SOTTO_MUST_USE sotto_status sotto_blt_noise_init(sotto_blt_noise *out, const sotto_blt *blt,
                                                 uint64_t rounds, size_t dimension, double sigma,
                                                 sotto_arena *arena, sotto_err *err);
/* Adds the noise of the next round to sum; with NULL, passes over the round. Rounds come in order, each once. */
SOTTO_MUST_USE sotto_status sotto_blt_noise_add(sotto_blt_noise *noise, int64_t *sum,
                                                sotto_entropy *entropy, sotto_err *err);

#endif
