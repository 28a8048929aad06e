#include <immintrin.h>
#include <stdint.h>

typedef uint64_t V __attribute__((vector_size(32)));

#define LOAD(at)     ((V)_mm256_loadu_si256((const void *)(at)))
#define STORE(at, v) _mm256_storeu_si256((void *)(at), (__m256i)(v))
#define LOW(a, b)    ((V)_mm256_unpacklo_epi64((__m256i)(a), (__m256i)(b)))
#define HIGH(a, b)   ((V)_mm256_unpackhi_epi64((__m256i)(a), (__m256i)(b)))
#include "math/vectors128_lanes.h"

void sotto_f128_vectors_add_avx2(uint8_t *total, size_t len, const uint8_t *const *others,
                                 size_t count)
{
    vectors_add(total, len, others, count);
}
