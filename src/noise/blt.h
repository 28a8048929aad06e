/* noise/blt.h - a matrix of whole numbers that correlates noise over rounds by a few buffers, and what such noise costs.
 *
 * This is DP-FTRL with a buffered linear Toeplitz matrix (Dvijotham et al. 2024; McMahan, Xu and Zhang 2024).
 *
 * Callers:  recipe/ (what a learning recipe claims), serve/ and the simulator by noise/blt_noise.h, the search of learn/blt_choose.h.
 * Memory:   plain values.
 * Secrets:  none: the matrix is public.
 *
 * Let C be the lower triangular Toeplitz matrix with c_0 = 1 and c_i = sum over j of weight_j decay_j^(i-1). A round that is released
 * gets the noise w_t = z_t - q_t, where z_t is fresh. q_t is what C predicts of the noise before: the sum of c_(t-s) w_s over earlier
 * rounds s that were released. Where all are, w is C^-1 z. What is released tells as much as C x + z does (docs/decisions/0189 has
 * the proof for integers, 0300 that for rounds which are not released, or which a server forgot).
 */
#ifndef SOTTO_NOISE_BLT_H
#define SOTTO_NOISE_BLT_H

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

/* SOTTO_DENIED, with a reason for people. A decay or weight is out of its range. Or the weights add up to more than 1, so that C does not
 * fall. Or their square is more than c_2, so that a round would add noise of an earlier one in place of taking it away. */
SOTTO_MUST_USE sotto_status sotto_blt_check(const sotto_blt *blt, sotto_err *err);
/* Whether there is a price: 1 to SOTTO_BLT_ROUNDS rounds, with a separation and participations of 1 or more. */
bool sotto_blt_pattern_priced(const sotto_blt_pattern *pattern);
/* Most that C x changes by, where x has entries of length 1 in rounds of such a pattern, and zeros elsewhere; rounded up. Infinity: the
 * theorem is not about this matrix (sotto_blt_check) or this pattern. */
double sotto_blt_sensitivity(const sotto_blt *blt, const sotto_blt_pattern *pattern);
/* The same for the noise as it is computed, in longest updates of so many integers in so many numbers. */
double sotto_blt_priced(const sotto_blt *blt, const sotto_blt_pattern *pattern, double length,
                        size_t dimension);
/* What each participation is charged, so that any number of them up to the pattern's is paid for: the largest of the squares of
 * sotto_blt_priced, over their number. In times that of a round with fresh noise. */
double sotto_blt_each(const sotto_blt *blt, const sotto_blt_pattern *pattern, double length,
                      size_t dimension);
/* What is lost by rounding down, in units of 2^-SOTTO_BLT_FINE: each product, and each buffer in each round. Rounded up. */
double sotto_blt_lost(const sotto_blt *blt);
/* Root of the mean over rounds of the variance of all noise so far, for fresh noise of variance 1. */
double sotto_blt_error(const sotto_blt *blt, uint64_t rounds);

#endif
