#include "sim/random.h"

/* A finaliser in the manner of SplitMix64: a bijection, so the numbers of one period never repeat. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void sotto_sim_random_init(sotto_sim_random *random, uint64_t seed)
{
    /* Mixed, so that neighbouring seeds don't give streams that are shifts of each other. */
    *random = (sotto_sim_random){.seed = mix(seed + UINT64_C(0x632be59bd9b4e019))};
}

sotto_sim_random sotto_sim_random_fork(const sotto_sim_random *random, uint64_t index)
{
    sotto_sim_random child;

    sotto_sim_random_init(&child, random->seed ^ mix(index + 1));
    return child;
}

uint64_t sotto_sim_random_u64(sotto_sim_random *random)
{
    return mix(random->seed + UINT64_C(0x9e3779b97f4a7c15) * ++random->counter);
}

/* A simulation spends much of its time here, so whole words are written at once where the compiler can. */
void sotto_sim_random_bytes(sotto_sim_random *random, void *out, size_t len)
{
    uint8_t *bytes = out;
    uint64_t word = 0;

    for (; len >= 8; len -= 8, bytes += 8) {
        word = sotto_sim_random_u64(random);
        for (unsigned i = 0; i < 8; i++)
            bytes[i] = (uint8_t)(word >> 8 * i);
    }
    if (len > 0)
        word = sotto_sim_random_u64(random);
    for (; len > 0; len--, word >>= 8)
        *bytes++ = (uint8_t)word;
}

sotto_status sotto_sim_random_fill(void *random, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(random, out, len);
    return SOTTO_OK;
}

uint64_t sotto_sim_random_below(sotto_sim_random *random, uint64_t bound)
{
    /* The first 2^64 mod bound words are refused: what is left is a multiple of bound. */
    uint64_t refused = (0 - bound) % bound;
    uint64_t word;

    do
        word = sotto_sim_random_u64(random);
    while (word < refused);
    return word % bound;
}

double sotto_sim_random_unit(sotto_sim_random *random)
{
    return (double)(sotto_sim_random_u64(random) >> 11) * 0x1p-53;
}

bool sotto_sim_random_chance(sotto_sim_random *random, double probability)
{
    return sotto_sim_random_unit(random) < probability;
}
