/* learn/one_bit.h - a pure local randomizer of an update: the sign of one number of its rotation, by randomized response.
 *
 * Callers:  the simulator. Devices make no such report yet.
 * Memory:   the caller's.
 * Threads:  a randomizer never changes after init; each thread brings its entropy.
 * Secrets:  the update. A report takes the same steps whatever it holds.
 *
 * Rows of a Hadamard matrix with random signs, which everybody knows, turn an update so that its length is spread over all numbers.
 * A device draws one row and computes its number y. It rounds y to +bound or -bound so that the mean stays y, and turns the sign
 * round with chance 1 / (1 + e^epsilon). The report is row and sign: whatever the update was, each sign has a chance within e^epsilon
 * of any other update's, exactly. A number beyond the bound is cut, which costs accuracy and no privacy.
 */
#ifndef SOTTO_LEARN_ONE_BIT_H
#define SOTTO_LEARN_ONE_BIT_H

#include "noise/entropy.h"
#include "sotto/base.h"

typedef struct sotto_one_bit {
    size_t dimension;
    uint64_t rows;  /* a power of two, at least the dimension          */
    uint64_t flips; /* a sign is turned with chance flips / 2^64       */
    int64_t bound;  /* of a rotated number                             */
    int64_t size;   /* of each number of a decoded report: its mean is the update's */
    uint64_t seed;  /* of the public signs                             */
} sotto_one_bit;

typedef struct sotto_one_bit_report {
    uint64_t row;
    int sign; /* 1 or -1 */
} sotto_one_bit_report;

/* For updates of at most `length`, in integers. A number is cut where it is beyond twice what it would be were the length spread evenly.
 *   SOTTO_DENIED  epsilon: 0.01 to 12 wanted; length: 1 to 2^30 */
SOTTO_MUST_USE sotto_status sotto_one_bit_init(sotto_one_bit *out, size_t dimension, double length,
                                               double epsilon, uint64_t seed, sotto_err *err);
/* update: NULL is one of all zeros, as in a dummy. */
SOTTO_MUST_USE sotto_status sotto_one_bit_draw(const sotto_one_bit *randomizer,
                                               sotto_one_bit_report *out, const int64_t *update,
                                               sotto_entropy *entropy, sotto_err *err);
/* sum += what the report says about each number. */
void sotto_one_bit_add(const sotto_one_bit *randomizer, int64_t *sum,
                       const sotto_one_bit_report *report);

#endif
