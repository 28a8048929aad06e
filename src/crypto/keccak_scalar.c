#include "crypto/keccak.h"

#define V uint64_t
#define XOR(a, b) ((a) ^ (b))
#define XOR3(a, b, c) ((a) ^ ((b) ^ (c)))
#define ROL(a, n) rotate_left(a, n)
#define CHI(a, b, c) ((a) ^ (~(b) & (c)))
#define CONSTANT(k) sotto_keccak_round_constants[k]

static inline uint64_t rotate_left(uint64_t word, unsigned n)
{
    return word << n | word >> (64 - n);
}

#include "crypto/keccak_rounds.h"

static void permute(sotto_keccak_row *words, unsigned lanes)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        uint64_t a[SOTTO_KECCAK_WORDS], e[SOTTO_KECCAK_WORDS];

        for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
            a[w] = words[w][lane];
        for (unsigned k = 0; k < SOTTO_KECCAK_ROUNDS; k += 2) {
            KECCAK_ROUND(e, a, k);
            KECCAK_ROUND(a, e, k + 1);
        }
        for (unsigned w = 0; w < SOTTO_KECCAK_WORDS; w++)
            words[w][lane] = a[w];
    }
}

const sotto_keccak_backend sotto_keccak_scalar = {"scalar", permute, NULL, NULL};
