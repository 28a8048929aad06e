/* learn/update.h - an update as integers, so that sums are exact, and the noise on their sum.
 *
 * Callers:  the simulator and benchmarks.
 * Memory:   the caller's; tables of noise live in the arena given at set-up.
 * Threads:  an update never changes after set-up; each thread brings its entropy.
 * Secrets:  updates, integers and noise.
 *
 * An update becomes integers by the function that devices call (noise/randomizer_vector.h), where servers add the noise: clipped,
 * weighed, scaled and rounded at random. Sums of integers are the same in any order, so the same seed gives the same model at any
 * number of threads.
 *
 * The sum is divided by a public number: with noise, the expected number of devices. Dividing by the number that came would
 * release it. With `count` the divisor is the number of examples that came.
 */
#ifndef SOTTO_LEARN_UPDATE_H
#define SOTTO_LEARN_UPDATE_H

#include "noise/noise.h"
#include "noise/randomizer_vector.h"
#include "noise/weights.h"
#include "sotto/base.h"

typedef struct sotto_update_config {
    size_t dimension; /* 1 to 2^24 */
    sotto_update_weights weights;
    uint64_t cap; /* capped: examples from which on a device counts fully; count: most examples */
    double clip;  /* longest update                                                        */
    double scale; /* integers in one unit; clip * scale is 1 to 2^30                       */
    double multiplier; /* standard deviation of the noise, in clips; 0: no noise, and no privacy */
    unsigned draws;    /* of noise that one sum can hold: 1, or a tree's levels                 */
    uint64_t most;     /* devices whose updates are ever in one sum                             */
    unsigned bits;     /* of an integer of the sum, with its sign: 2 to 63                      */
} sotto_update_config;

typedef struct sotto_update {
    sotto_update_config config;
    sotto_vector_randomizer randomizer; /* of a device that adds no noise itself           */
    sotto_noise noise;
    double length;    /* most that the norm of an update's integers can be, rounded up     */
    double sigma;     /* of the noise on the sum, in integers, rounded down; 0: there is none */
    uint64_t largest; /* no number of a sum with noise is further from 0                   */
    unsigned bits;    /* that a sum really needs                                           */
} sotto_update;

/* SOTTO_DENIED: a number is out of its range; or `count` is asked for with noise; or a sum does not fit into `bits`. Then the reason
 * says both sides of the inequality, and how many bits would do. */
SOTTO_MUST_USE sotto_status sotto_update_init(sotto_update *out, const sotto_update_config *config,
                                              sotto_arena *arena, sotto_err *err);

/* Writes `dimension` integers; *weight is what the device adds to the divisor of `count`, and 1 otherwise. An update that is not
 * finite is sent as zeros. */
SOTTO_MUST_USE sotto_status sotto_update_encode(const sotto_update *update, int64_t *out,
                                                uint64_t *weight, const double *x,
                                                uint64_t examples, sotto_entropy *entropy,
                                                sotto_err *err);

/* sum += other. Both keep to the budget, so nothing overflows. */
void sotto_update_add(int64_t *sum, const int64_t *other, size_t count);

/* Adds discrete Gaussian noise to a sum, one draw for each number. With no noise in the config, nothing. */
SOTTO_MUST_USE sotto_status sotto_update_add_noise(const sotto_update *update, int64_t *sum,
                                                   sotto_entropy *entropy, sotto_err *err);

#endif
