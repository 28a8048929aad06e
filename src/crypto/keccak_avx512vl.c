#include <immintrin.h>

/* The last argument is the truth table of the three inputs: 0x96 their sum, 0xd2 a ^ (~b & c). */
#define XOR3(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0x96)
#define ROL(a, n)     _mm256_rol_epi64(a, n)
#define CHI(a, b, c)  _mm256_ternarylogic_epi64(a, b, c, 0xd2)
#define SETTLE(word)  ((void)0)

#include "crypto/keccak_x4.h"

const sotto_keccak_backend sotto_keccak_avx512vl = {"avx512vl", permute, absorb, squeeze};
