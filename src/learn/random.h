/* learn/random.h - numbers that a seed repeats: first weights and the order of examples, which protect nobody.
 *
 * Number i of a seed is a mixing function of both (splitmix64), so it is the same on every machine.
 */
#ifndef SOTTO_LEARN_RANDOM_H
#define SOTTO_LEARN_RANDOM_H

#include "sotto/base.h"

static inline uint64_t sotto_learn_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t sotto_learn_number(uint64_t *state)
{
    return sotto_learn_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* A seed of its own for each index. */
static inline uint64_t sotto_learn_seed(uint64_t seed, uint64_t index)
{
    return sotto_learn_mix(sotto_learn_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^
                           (index * UINT64_C(0xd1342543de82ef95) + 1));
}

/* 0 to bound - 1; bound below 2^32. How far it is from uniform, 2^-32, is of no account here. */
static inline uint32_t sotto_learn_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(((sotto_learn_number(state) >> 32) * bound) >> 32);
}

#endif
