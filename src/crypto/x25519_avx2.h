/* crypto/x25519_avx2.h - what lanes of 64 bits do in AVX2, four lanes, and the field over them.
 *
 * Included by x25519_avx2.c and ed25519_avx2.c, which are compiled for these instructions.
 */
#ifndef SOTTO_CRYPTO_X25519_AVX2_H
#define SOTTO_CRYPTO_X25519_AVX2_H

#include <immintrin.h>

typedef __m256i lane;
typedef __m256i choice; /* all bits of a lane, or none */
enum { LANES = 4 };

#define ALL(n)      _mm256_set1_epi64x(n)
#define ADD(a, b)   _mm256_add_epi64(a, b)
#define SUB(a, b)   _mm256_sub_epi64(a, b)
#define AND(a, b)   _mm256_and_si256(a, b)
#define SHL(a, n)   _mm256_slli_epi64(a, n)
#define SHR(a, n)   _mm256_srli_epi64(a, n)
#define MUL32(a, b) _mm256_mul_epu32(a, b)

#define CHOOSE(word, bit)                                                                          \
    SUB(ALL(0), AND(_mm256_srl_epi64(word, _mm_cvtsi32_si128((int)(bit))), ALL(1)))
#define SWAP(swap, a, b)                                                                           \
    do {                                                                                           \
        const lane differ = AND(swap, _mm256_xor_si256(a, b));                                     \
        a = _mm256_xor_si256(a, differ);                                                           \
        b = _mm256_xor_si256(b, differ);                                                           \
    } while (0)

/* A product needs ten sums and two or three registers more, of sixteen. gcc 12 takes all products before it adds any,
 * which puts most of them on the stack: without this, four lanes take 24 us a key instead of 15. clang 14 is slower by
 * it. */
#if defined(__clang__)
#define IN_REGISTERS(r) ((void)(r))
#else
#define IN_REGISTERS(r)                                                                            \
    __asm__(""                                                                                     \
            : "+x"((r)[0]), "+x"((r)[1]), "+x"((r)[2]), "+x"((r)[3]), "+x"((r)[4]), "+x"((r)[5]),  \
              "+x"((r)[6]), "+x"((r)[7]), "+x"((r)[8]), "+x"((r)[9]))
#endif

#define EQUAL(a, b)   _mm256_cmpeq_epi64(a, b)
#define PICK(c, a, b) _mm256_blendv_epi8(a, b, c)

#include "crypto/x25519_field26.h"

#endif
