/* sim/random.h - bytes that anyone can repeat: for tests and simulations, never for a real report.
 *
 * Callers:  tests, benchmarks, demonstrations. The library and its release programs do not link it, and
 *           a test looks for its symbols in them.
 * Secrets:  none, by design.
 *
 * Number i of a stream is a mixing function of seed and i, so a stream can be split and repeated at will.
 */
#ifndef SOTTO_SIM_RANDOM_H
#define SOTTO_SIM_RANDOM_H

#include "sotto/base.h"

typedef struct sotto_sim_random {
    uint64_t seed;
    uint64_t counter;
} sotto_sim_random;

void sotto_sim_random_init(sotto_sim_random *random, uint64_t seed);
/* A stream of its own for each index, for instance one for each simulated device. */
sotto_sim_random sotto_sim_random_fork(const sotto_sim_random *random, uint64_t index);
uint64_t sotto_sim_random_u64(sotto_sim_random *random);
void sotto_sim_random_bytes(sotto_sim_random *random, void *out, size_t len);
/* As a sotto_entropy_fill, whose context is a sotto_sim_random; never fails. */
SOTTO_MUST_USE sotto_status sotto_sim_random_fill(void *random, void *out, size_t len,
                                                  sotto_err *err);
/* 0 to bound - 1, each equally likely; bound is at least 1. */
uint64_t sotto_sim_random_below(sotto_sim_random *random, uint64_t bound);
/* 0 <= x < 1. */
double sotto_sim_random_unit(sotto_sim_random *random);
/* True with the given probability. */
bool sotto_sim_random_chance(sotto_sim_random *random, double probability);

#endif
