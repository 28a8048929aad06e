/* noise/fixed_point.h - numbers below 2^128 with 256 bits behind the point, rounded down.
 *
 * Callers:  the tables of noise.c, while they are set up. Everything here depends on public parameters
 *           only and takes variable time.
 *
 * Every operation that rounds loses less than 2^-256 (a product: less than 2^-254 times its larger
 * factor). So the weights of a table of at most 2^14 rows are right to 2^-200 without further thought.
 */
#ifndef SOTTO_NOISE_FIXED_POINT_H
#define SOTTO_NOISE_FIXED_POINT_H

#include "math/wide.h"

#include <stdbool.h>

enum { SOTTO_FIXED_LIMBS = 6, SOTTO_FIXED_FRACTION = 4 };

/* Little endian; the two highest limbs stand before the point. */
typedef struct sotto_fixed {
    uint64_t w[SOTTO_FIXED_LIMBS];
} sotto_fixed;

sotto_fixed sotto_fixed_from(uint64_t integer);
/* num / den; den is at least 1. */
sotto_fixed sotto_fixed_ratio(uint64_t num, uint64_t den);
/* 2^-exponent, for exponent 0 to 256. */
sotto_fixed sotto_fixed_power_of_half(unsigned exponent);
bool sotto_fixed_less(const sotto_fixed *a, const sotto_fixed *b);
sotto_fixed sotto_fixed_add(const sotto_fixed *a, const sotto_fixed *b);
/* a - b, for b <= a. */
sotto_fixed sotto_fixed_sub(const sotto_fixed *a, const sotto_fixed *b);
/* The product must stay below 2^128. */
sotto_fixed sotto_fixed_mul(const sotto_fixed *a, const sotto_fixed *b);
sotto_fixed sotto_fixed_mul_small(const sotto_fixed *a, uint64_t b);
sotto_fixed sotto_fixed_div_small(const sotto_fixed *a, uint64_t b);
/* 1 / a, for a >= 2^-60. */
sotto_fixed sotto_fixed_inverse(const sotto_fixed *a);
/* e^(-num/den): too small by less than 2^-230, or too large by less than that. */
sotto_fixed sotto_fixed_exp_minus(uint64_t num, uint64_t den);
/* floor(2^bits * a / b) for a <= b and bits <= 127; what is left, 2^bits a - quotient b, goes to rest unless
 * that is NULL. Both are exact. */
sotto_u128 sotto_fixed_quotient(const sotto_fixed *a, const sotto_fixed *b, unsigned bits,
                                sotto_fixed *rest);

#endif
