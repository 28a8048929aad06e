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

#ifndef __BMI__
/* Without an and-not, chi costs a complement for each word. Kept complemented between rounds, words 1, 2, 8, 12,
 * 17 and 20 spare all but a few of them: what follows is chi on rows of which some words are. */
#define COMPLEMENT(a)                                                                              \
    a[1] = ~a[1], a[2] = ~a[2], a[8] = ~a[8], a[12] = ~a[12], a[17] = ~a[17], a[20] = ~a[20]
#define KECCAK_CHI_0                                                                               \
    const V r0 = b0 ^ (b1 | b2), r1 = b1 ^ (~b2 | b3), r2 = b2 ^ (b3 & b4);                        \
    const V r3 = b3 ^ (b4 | b0), r4 = b4 ^ (b0 & b1)
#define KECCAK_CHI_5                                                                               \
    const V r0 = b0 ^ (b1 | b2), r1 = b1 ^ (b2 & b3), r2 = b2 ^ (b3 | ~b4);                        \
    const V r3 = b3 ^ (b4 | b0), r4 = b4 ^ (b0 & b1)
#define KECCAK_CHI_10                                                                              \
    const V n3 = ~b3;                                                                              \
    const V r0 = b0 ^ (b1 | b2), r1 = b1 ^ (b2 & b3), r2 = b2 ^ (n3 & b4);                         \
    const V r3 = n3 ^ (b4 | b0), r4 = b4 ^ (b0 & b1)
#define KECCAK_CHI_15                                                                              \
    const V n3 = ~b3;                                                                              \
    const V r0 = b0 ^ (b1 & b2), r1 = b1 ^ (b2 | b3), r2 = b2 ^ (n3 | b4);                         \
    const V r3 = n3 ^ (b4 & b0), r4 = b4 ^ (b0 | b1)
#define KECCAK_CHI_20                                                                              \
    const V n1 = ~b1;                                                                              \
    const V r0 = b0 ^ (n1 & b2), r1 = n1 ^ (b2 | b3), r2 = b2 ^ (b3 & b4);                         \
    const V r3 = b3 ^ (b4 | b0), r4 = b4 ^ (b0 & b1)
#else
#define COMPLEMENT(a) ((void)0)
#endif

#include "crypto/keccak_rounds.h"

static inline uint64_t rotate_left(uint64_t word, unsigned n)
{
    return word << n | word >> (64 - n);
}

/* Copied in a row, words go where the rounds want them: a tenth less time, and less code. */
#define EACH_WORD(w) _Pragma("GCC unroll 25") for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)

/* Apart from the loop over lanes, whose variables would take registers from the rounds. */
static __attribute__((noinline)) void permute_one(sotto_keccak_row *words, unsigned lane)
{
    uint64_t a[SOTTO_KECCAK_WORDS];

    EACH_WORD(w)
    a[w] = words[w][lane];
    COMPLEMENT(a);
    KECCAK_PERMUTE(a);
    COMPLEMENT(a);
    EACH_WORD(w)
    words[w][lane] = a[w];
}

static void permute(sotto_keccak_row *words, unsigned lanes)
{
    for (unsigned lane = 0; lane < lanes; lane++)
        permute_one(words, lane);
}

#endif
