/* Sums of points of P-256 in AVX-512 IFMA, eight lanes. */
#include "aggregate/shared/p256_sum.h"

#include <immintrin.h>

typedef __m512i lane;
typedef __mmask8 choice;
enum { LANES = 8 };

#define ALL(n)          _mm512_set1_epi64(n)
#define ADD(a, b)       _mm512_add_epi64(a, b)
#define SUB(a, b)       _mm512_sub_epi64(a, b)
#define AND(a, b)       _mm512_and_si512(a, b)
#define SHL(a, n)       _mm512_slli_epi64(a, n)
#define SHR(a, n)       _mm512_srli_epi64(a, n)
#define SAR(a, n)       _mm512_srai_epi64(a, n)
#define LOW52(t, a, b)  _mm512_madd52lo_epu64(t, a, b)
#define HIGH52(t, a, b) _mm512_madd52hi_epu64(t, a, b)

#define EQUAL(a, b)   _mm512_cmpeq_epi64_mask(a, b)
#define PICK(c, a, b) _mm512_mask_mov_epi64(a, c, b)
#define BOTH(c, d)    ((choice)((c) & (d)))
#define EITHER(c, d)  ((choice)((c) | (d)))
#define OTHER(c)      ((choice) ~(c))

#include "aggregate/shared/p256_lanes.h"

const sotto_p256_set sotto_p256_ifma = {"ifma", sum_in_lanes};
