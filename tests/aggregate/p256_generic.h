#ifndef SOTTO_TESTS_AGGREGATE_P256_GENERIC_H
#define SOTTO_TESTS_AGGREGATE_P256_GENERIC_H

#include "aggregate/shared/p256_sum.h"

extern const sotto_p256_set sotto_p256_generic;

/* The field by itself: a b / 2^260 and a^2 / 2^260, fully reduced, lowest word first; of limbs of 52 bits. */
void sotto_p256_generic_multiply(uint64_t product[4], uint64_t square[4], const uint64_t a[5],
                                 const uint64_t b[5]);

#endif
