#include <immintrin.h>

/* The last argument is the truth table of the three inputs: 0x96 their sum, 0xd2 a ^ (~b & c). */
#define XOR3(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0x96)
#define ROL(a, n)     _mm256_rol_epi64(a, n)
#define CHI(a, b, c)  _mm256_ternarylogic_epi64(a, b, c, 0xd2)
#define SETTLE(word)  ((void)0)

#include "crypto/keccak_x4.h"

#ifndef __OPTIMIZE_SIZE__

/* Two states of four in turn, a round each. A round must wait for nearly all of the one before it, a third of its time. What waits
 * here is worked on by the other. Their words stay in memory: two states are more than there are registers. */
#undef SETTLE
#define SETTLE(word) __asm__("" : "+m"(word))

static void permute_both(sotto_keccak_row *first, sotto_keccak_row *second)
{
    V *a = (V *)first, *b = (V *)second;
    V e[SOTTO_KECCAK_WORDS], f[SOTTO_KECCAK_WORDS];
    V c[5] = KECCAK_COLUMNS(a), g[5] = KECCAK_COLUMNS(b);

    for (unsigned k = 0; k < SOTTO_KECCAK_ROUNDS; k += 2) {
        KECCAK_ROUND(e, a, c, k);
        KECCAK_ROUND(f, b, g, k);
        KECCAK_ROUND(a, e, c, k + 1);
        KECCAK_ROUND(b, f, g, k + 1);
    }
}

static void exchange(sotto_keccak_row *from, uint8_t *const out[SOTTO_LANES], sotto_keccak_row *to,
                     const uint8_t *const in[SOTTO_LANES], unsigned rate, size_t blocks)
{
    for (size_t at = 0; blocks > 0; blocks--, at += rate) {
        take_block(to, rate, in, at);
        permute_both(from, to);
        give_block(from, rate, out, at);
    }
}

#else
#define exchange NULL
#endif

const sotto_keccak_backend sotto_keccak_avx512vl = {"avx512vl", permute, absorb, squeeze, exchange};
