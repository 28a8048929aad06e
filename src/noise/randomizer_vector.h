/* noise/randomizer_vector.h - a vector clipped, put on the integer grid, with this device's share of noise.
 *
 * Callers:  recipe/learning_claim.c prices it, device/answer/update.c runs it on devices, learn/update.c in the simulator. So an
 *           update has the same integers in both. estimate.h turns sums back.
 * Memory:   rows of the noise live in the arena given at set-up; a run allocates nothing.
 * Secrets:  vector, its weight, randomness and report. Every path over them is constant-time.
 *
 * No device protects itself by this: together, `honest` of them add noise of standard deviation sigma. What
 * each must keep is the norm *after* rounding to the grid. Rounding is random and keeps the mean; where it
 * makes a vector longer than the bound, the zero vector takes its place, so that the bound always holds.
 * Reducing the sum modulo anything is a function of the sum, and changes neither bound nor claim. The
 * answer survives if the modulus exceeds twice the number of reports times `most`.
 */
#ifndef SOTTO_NOISE_RANDOMIZER_VECTOR_H
#define SOTTO_NOISE_RANDOMIZER_VECTOR_H

#include "noise/noise.h"
#include "sotto/privacy.h"

typedef enum sotto_share_law {
    SOTTO_SHARE_GAUSSIAN = 1,
    SOTTO_SHARE_SKELLAM,
    SOTTO_SHARE_NONE /* servers add the noise: sigma and honest are not looked at */
} sotto_share_law;

typedef struct sotto_vector_config {
    sotto_share_law law;
    sotto_adjacency
        adjacency;    /* replacement or add-remove; a vector of zeros stands for "no value" */
    size_t dimension; /* 1 to 2^24                                                          */
    double clip;      /* longest vector, in its own units                                   */
    double scale;     /* grid units in one of those; clip * scale at most 2^30               */
    double sigma;     /* of the honest devices' noise together, in the vector's units        */
    uint64_t honest;  /* how many devices' noise is counted on: never all that report        */
} sotto_vector_config;

typedef struct sotto_vector_randomizer {
    sotto_vector_config config;
    sotto_noise noise;
    uint64_t norm2;      /* most that the square of a rounded vector's norm can be          */
    double log2_miss;    /* how likely rounding exceeds it, at most                         */
    double sensitivity;  /* of the sum, in the vector's units, rounded up                   */
    double device_sigma; /* one device's noise in grid units, rounded down                  */
    double sigma;        /* the honest devices' together, in the vector's units, rounded down */
    double tau;          /* added to the divergence: a sum of such laws is not exactly one */
    double delta;        /* what one report's inexact draws add                             */
    uint64_t most;       /* no coordinate of a report is further from 0                     */
} sotto_vector_randomizer;

/* Most that the square of a vector's norm is after random rounding, of `clip` grid units before it; rounded up. It holds but for a
 * chance of 2^-40, so whoever rounds has to enforce it: no claim rests on the chance. */
double sotto_vector_rounded_norm2(double clip, double dimension);

/* SOTTO_DENIED names the parameter; a device's share below 2 grid units asks for a larger scale. */
SOTTO_MUST_USE sotto_status sotto_vector_randomizer_init(sotto_vector_randomizer *out,
                                                         const sotto_vector_config *config,
                                                         sotto_arena *arena, sotto_err *err);

/* Writes `dimension` numbers. weight is 0 to 1, and of the clipped vector, so that no weight makes it longer. 0 stands for "no value":
 * x is read and has no effect. A vector with an infinity or NaN in it counts as zeros. */
SOTTO_MUST_USE sotto_status sotto_vector_randomizer_run(const sotto_vector_randomizer *r,
                                                        int64_t *out, const double *x,
                                                        double weight, sotto_entropy *entropy,
                                                        sotto_err *err);

#endif
