#include "noise/table_scan.h"

#include <immintrin.h>

enum { LANES = 4, WIDE = 4 };

static inline __m256i load(const int64_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

/* `vectors` is a constant wherever this is inlined: all lanes then stay in registers. */
static inline __attribute__((always_inline)) void head_some(int64_t *counts, const int64_t *numbers,
                                                            const int64_t *rows, size_t row_count,
                                                            size_t vectors)
{
    __m256i n[WIDE], passed[WIDE];

    for (size_t v = 0; v < vectors; v++) {
        n[v] = load(numbers + v * LANES);
        passed[v] = _mm256_setzero_si256();
    }
    for (size_t r = 0; r < row_count; r++) {
        __m256i row = _mm256_set1_epi64x(rows[r]);

        for (size_t v = 0; v < vectors; v++)
            passed[v] = _mm256_sub_epi64(passed[v], _mm256_cmpgt_epi64(row, n[v]));
    }
    for (size_t v = 0; v < vectors; v++)
        _mm256_storeu_si256((__m256i *)(void *)(counts + v * LANES), passed[v]);
}

static void count_head(int64_t *counts, const int64_t *numbers, size_t lanes, const int64_t *rows,
                       size_t row_count)
{
    size_t at = 0;

    for (; at + WIDE * LANES <= lanes; at += WIDE * LANES)
        head_some(counts + at, numbers + at, rows, row_count, WIDE);
    for (; at < lanes; at += SOTTO_SCAN_STEP)
        head_some(counts + at, numbers + at, rows, row_count, SOTTO_SCAN_STEP / LANES);
}

/* high - [low < row low] < row high, all of them below 2^63: four instructions a row for four lanes. */
static inline __m256i pass(__m256i passed, __m256i high, __m256i low, __m256i row_high,
                           __m256i row_low)
{
    __m256i borrowed = _mm256_add_epi64(high, _mm256_cmpgt_epi64(row_low, low));

    return _mm256_sub_epi64(passed, _mm256_cmpgt_epi64(row_high, borrowed));
}

static inline __attribute__((always_inline)) void rest_some(int64_t *counts, const int64_t *high,
                                                            const int64_t *low,
                                                            const sotto_noise_row *rows,
                                                            size_t row_count, size_t vectors)
{
    __m256i h[WIDE], l[WIDE], passed[WIDE];

    for (size_t v = 0; v < vectors; v++) {
        h[v] = load(high + v * LANES);
        l[v] = load(low + v * LANES);
        passed[v] = _mm256_setzero_si256();
    }
    for (size_t r = 0; r < row_count; r++) {
        __m256i row_high = _mm256_set1_epi64x(rows[r].high);
        __m256i row_low = _mm256_set1_epi64x(rows[r].low);

        for (size_t v = 0; v < vectors; v++)
            passed[v] = pass(passed[v], h[v], l[v], row_high, row_low);
    }
    for (size_t v = 0; v < vectors; v++)
        _mm256_storeu_si256((__m256i *)(void *)(counts + v * LANES), passed[v]);
}

static void count_rest(int64_t *counts, const int64_t *high, const int64_t *low, size_t lanes,
                       const sotto_noise_row *rows, size_t row_count)
{
    size_t at = 0;

    for (; at + WIDE * LANES <= lanes; at += WIDE * LANES)
        rest_some(counts + at, high + at, low + at, rows, row_count, WIDE);
    for (; at < lanes; at += SOTTO_SCAN_STEP)
        rest_some(counts + at, high + at, low + at, rows, row_count, SOTTO_SCAN_STEP / LANES);
}

const sotto_scan sotto_scan_avx2 = {"avx2", count_head, count_rest};
