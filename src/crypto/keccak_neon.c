#include "crypto/keccak.h"

#include <arm_neon.h>

#define V             uint64x2_t
#define XOR(a, b)     veorq_u64(a, b)
#define XOR3(a, b, c) veorq_u64(a, veorq_u64(b, c))
#define ROL(a, n)     vsriq_n_u64(vshlq_n_u64(a, n), a, 64 - (n))
#define CHI(a, b, c)  veorq_u64(a, vbicq_u64(c, b))
#define CONSTANT(k)   vdupq_n_u64(sotto_keccak_round_constants[k])
#define SETTLE(word)  ((void)0)

#include "crypto/keccak_rounds.h"

/* The states of two neighbouring lanes. */
static void permute_two(sotto_keccak_row *words, unsigned first)
{
    uint64x2_t a[SOTTO_KECCAK_WORDS];

    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        a[w] = vld1q_u64(&words[w][first]);
    KECCAK_PERMUTE(a);
    for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
        vst1q_u64(&words[w][first], a[w]);
}

/* One state alone is cheaper in general registers. */
static void permute(sotto_keccak_row *words, unsigned lanes)
{
    if (lanes == 1) {
        sotto_keccak_scalar.permute(words, 1);
        return;
    }
    for (unsigned first = 0; first < lanes; first += 2)
        permute_two(words, first);
}

const sotto_keccak_backend sotto_keccak_neon = {"neon", permute, NULL, NULL, NULL};
