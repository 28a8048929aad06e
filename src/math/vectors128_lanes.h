/* math/vectors128_lanes.h - the body of vectors_add for machines with vectors, once.
 *
 * The including file defines V, a vector of 64-bit words that knows the operators, and
 *
 *     LOAD(at), STORE(at, v)     at any address
 *     LOW(a, b), HIGH(a, b)      the even words of a and b, mixed in some way, and the odd ones; the same
 *                                two undo it
 *
 * Words are added as halves, so that carries wait until all shares are in.
 */
#include "math/kernels128.h"

#define HALF_MASK UINT64_C(0xffffffff)

/* Moves carries up; the last limb keeps its own. */
static inline void carry_halves(V limb[4])
{
    for (unsigned k = 0; k < 3; k++) {
        limb[k + 1] += limb[k] >> 32;
        limb[k] &= HALF_MASK;
    }
}

/* Adds 2^128 - p = 28 * 2^64 - 1, `times` times, written without a negative limb. */
static inline void add_complement(V limb[4], V times)
{
    V borrowed = (times << 32) - times;

    limb[0] += borrowed;
    limb[1] += borrowed;
    limb[2] += (times << 5) - (times << 2) - times;
    carry_halves(limb);
}

/* Below p: the bits above 2^128, h of them, are folded, which leaves less than 2p since h < 2^17. Then p
 * goes away once more if adding 2^128 - p reaches 2^128. */
static inline void reduce_halves(V limb[4])
{
    V less[4];

    carry_halves(limb);
    V h = limb[3] >> 32;
    limb[3] &= HALF_MASK;
    add_complement(limb, h);
    for (unsigned k = 0; k < 4; k++)
        less[k] = limb[k];
    add_complement(less, (limb[0] & 0) + 1);
    V reached = less[3] >> 32; /* 0, 1 or 2 */
    V mask = 0 - ((reached | reached >> 1) & 1);
    for (unsigned k = 0; k < 4; k++)
        limb[k] ^= (limb[k] ^ less[k]) & mask;
}

typedef struct halves {
    V low[2], high[2]; /* of each word */
} halves;

static inline void add_words(halves *sum, const uint8_t *at)
{
    for (unsigned i = 0; i < 2; i++) {
        V words = LOAD(at + i * sizeof(V));

        sum->low[i] += words & HALF_MASK;
        sum->high[i] += words >> 32;
    }
}

static inline void add_block(uint8_t *total, size_t at, const uint8_t *const *others, size_t count)
{
    halves sum = {{{0}, {0}}, {{0}, {0}}};

    add_words(&sum, total + at);
    for (size_t s = 0; s < count; s++)
        add_words(&sum, others[s] + at);

    V limb[4] = {LOW(sum.low[0], sum.low[1]), LOW(sum.high[0], sum.high[1]),
                 HIGH(sum.low[0], sum.low[1]), HIGH(sum.high[0], sum.high[1])};
    reduce_halves(limb);
    V low = limb[0] | limb[1] << 32, high = limb[2] | limb[3] << 32;
    STORE(total + at, LOW(low, high));
    STORE(total + at + sizeof(V), HIGH(low, high));
}

static inline void add_one(uint8_t *total, size_t at, const uint8_t *const *others, size_t count)
{
    sotto_f128_sum sum = {0};

    sotto_f128_sum_add(&sum, sotto_f128_load(total + at));
    for (size_t s = 0; s < count; s++)
        sotto_f128_sum_add(&sum, sotto_f128_load(others[s] + at));
    sotto_f128_store(total + at, sotto_f128_sum_reduce(&sum));
}

static inline void vectors_add(uint8_t *total, size_t len, const uint8_t *const *others,
                               size_t count)
{
    size_t at = 0, end = len * SOTTO_F128_SIZE;

    for (; end - at >= 2 * sizeof(V); at += 2 * sizeof(V))
        add_block(total, at, others, count);
    for (; at < end; at += SOTTO_F128_SIZE)
        add_one(total, at, others, count);
}
