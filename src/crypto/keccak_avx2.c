#include <immintrin.h>

#define XOR3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define ROL(a, n)     rotate_left(a, n)
#define CHI(a, b, c)  _mm256_xor_si256(a, _mm256_andnot_si256(b, c))
/* Sixteen registers hold two thirds of a state at best. Left to themselves, compilers move words between
 * registers and stack more often than need be: gcc 12 and clang 14 gain 4 and 12 % by this. */
#define SETTLE(word) __asm__("" : "+m"(word))

/* A rotation by whole bytes is one shuffle; n is a constant wherever this is called. */
static inline __m256i rotate_left(__m256i a, int n)
{
    if (n == 8)
        return _mm256_shuffle_epi8(a, _mm256_setr_epi8(7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12,
                                                       13, 14, 7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10,
                                                       11, 12, 13, 14));
    if (n == 56)
        return _mm256_shuffle_epi8(a, _mm256_setr_epi8(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13,
                                                       14, 15, 8, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11,
                                                       12, 13, 14, 15, 8));
    return _mm256_or_si256(_mm256_slli_epi64(a, n), _mm256_srli_epi64(a, 64 - n));
}

#include "crypto/keccak_x4.h"

const sotto_keccak_backend sotto_keccak_avx2 = {"avx2", permute, absorb, squeeze, NULL};
