/* crypto/keccak_x1.h - one state after the other, in general registers.
 *
 * Included by keccak_scalar.c and keccak_bmi.c, which are the same code for different machines.
 */
#ifndef SOTTO_CRYPTO_KECCAK_X1_H
#define SOTTO_CRYPTO_KECCAK_X1_H

#include "crypto/keccak.h"

#define V             uint64_t
#define XOR(a, b)     ((a) ^ (b))
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define ROL(a, n)     rotate_left(a, n)
#define CHI(a, b, c)  ((a) ^ (~(b) & (c)))
#define CONSTANT(k)   sotto_keccak_round_constants[k]
#define SETTLE(word)  ((void)0)

#include "crypto/keccak_rounds.h"

static inline uint64_t rotate_left(uint64_t word, unsigned n)
{
    return word << n | word >> (64 - n);
}

/* Apart from the loop over lanes, whose variables would take registers from the rounds. */
static __attribute__((noinline)) void permute_one(sotto_keccak_row *words, unsigned lane)
{
    uint64_t a[SOTTO_KECCAK_WORDS];

    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        a[w] = words[w][lane];
    KECCAK_PERMUTE(a);
    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        words[w][lane] = a[w];
}

static void permute(sotto_keccak_row *words, unsigned lanes)
{
    for (unsigned lane = 0; lane < lanes; lane++)
        permute_one(words, lane);
}

#endif
