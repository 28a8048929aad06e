/* crypto/x25519_ifma.h - what lanes of 64 bits do in AVX-512 IFMA, eight lanes, and the field over them.
 *
 * Included by x25519_ifma.c and ed25519_ifma.c, which are compiled for these instructions.
 */
#ifndef SOTTO_CRYPTO_X25519_IFMA_H
#define SOTTO_CRYPTO_X25519_IFMA_H

#include <immintrin.h>

typedef __m512i lane;
typedef __mmask8 choice;
enum { LANES = 8 };

#define ALL(n)          _mm512_set1_epi64(n)
#define ADD(a, b)       _mm512_add_epi64(a, b)
#define SUB(a, b)       _mm512_sub_epi64(a, b)
#define AND(a, b)       _mm512_and_si512(a, b)
#define SHR(a, n)       _mm512_srli_epi64(a, n)
#define TIMES19(a)      ADD(ADD(a, ADD(a, a)), _mm512_slli_epi64(a, 4))
#define LOW52(t, a, b)  _mm512_madd52lo_epu64(t, a, b)
#define HIGH52(t, a, b) _mm512_madd52hi_epu64(t, a, b)

#define CHOOSE(word, bit) _mm512_test_epi64_mask(word, _mm512_slli_epi64(ALL(1), bit))
#define SWAP(swap, a, b)                                                                           \
    do {                                                                                           \
        const lane first = a;                                                                      \
        a = _mm512_mask_mov_epi64(a, swap, b);                                                     \
        b = _mm512_mask_mov_epi64(b, swap, first);                                                 \
    } while (0)

#define EQUAL(a, b)   _mm512_cmpeq_epi64_mask(a, b)
#define PICK(c, a, b) _mm512_mask_mov_epi64(a, c, b)

#include "crypto/x25519_field51.h"

#endif
