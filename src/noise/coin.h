/* noise/coin.h - yes or no with a stated probability, and one number of n.
 *
 * Callers:  randomizer.c; participation coins.
 * Secrets:  what falls. A flip always takes the same bytes and the same steps; what is public is the coin.
 */
#ifndef SOTTO_NOISE_COIN_H
#define SOTTO_NOISE_COIN_H

#include "math/wide.h"
#include "noise/entropy.h"

/* Falls on 1 with probability threshold / 2^127. */
typedef struct sotto_coin {
    sotto_u128 threshold;
} sotto_coin;

/* num/den <= 1, rounded down by less than 2^-127. SOTTO_DENIED otherwise. */
SOTTO_MUST_USE sotto_status sotto_coin_rational(sotto_coin *out, uint64_t num, uint64_t den,
                                                sotto_err *err);
/* exp(-num/den), within 2^-126. */
SOTTO_MUST_USE sotto_status sotto_coin_exp(sotto_coin *out, uint64_t num, uint64_t den,
                                           sotto_err *err);
/* k/2^64, exactly. */
sotto_coin sotto_coin_of(uint64_t k);

/* *out is 0 or 1. */
SOTTO_MUST_USE sotto_status sotto_coin_flip(const sotto_coin *coin, uint8_t *out,
                                            sotto_entropy *entropy, sotto_err *err);

/* Independent flips, each 1 with probability k/2^64 exactly: eight random bytes each. */
SOTTO_MUST_USE sotto_status sotto_coin_flips(uint8_t *out, size_t count, uint64_t k,
                                             sotto_entropy *entropy, sotto_err *err);

/* 0 to n - 1, n at least 1, within a total variation of n 2^-192 of equally likely: exactly, where n is a
 * power of two. */
SOTTO_MUST_USE sotto_status sotto_uniform_below(uint64_t *out, uint64_t n, sotto_entropy *entropy,
                                                sotto_err *err);

#endif
