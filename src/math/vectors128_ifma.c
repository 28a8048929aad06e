#include <immintrin.h>
#include <stdint.h>

typedef uint64_t V __attribute__((vector_size(64)));

#define LOAD(at)     ((V)_mm512_loadu_si512((const void *)(at)))
#define STORE(at, v) _mm512_storeu_si512((void *)(at), (__m512i)(v))
#define LOW(a, b)    ((V)_mm512_unpacklo_epi64((__m512i)(a), (__m512i)(b)))
#define HIGH(a, b)   ((V)_mm512_unpackhi_epi64((__m512i)(a), (__m512i)(b)))
#include "math/vectors128_lanes.h"

void sotto_f128_vectors_add_ifma(uint8_t *total, size_t len, const uint8_t *const *others,
                                 size_t count)
{
    vectors_add(total, len, others, count);
}
