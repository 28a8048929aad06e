#include "noise/table_scan.h"

#include "base/backends.h"
#include "base/cpu.h"

/* Eight lanes a row, so that a row is loaded once for them. a < b for 63-bit numbers is the sign of a - b:
 * arithmetic that no compiler has a reason to turn into a branch. */
static void count_head(int64_t *counts, const int64_t *numbers, size_t lanes, const int64_t *rows,
                       size_t row_count)
{
    for (size_t at = 0; at < lanes; at += SOTTO_SCAN_STEP) {
        uint64_t passed[SOTTO_SCAN_STEP] = {0};

        for (size_t r = 0; r < row_count; r++)
            for (size_t i = 0; i < SOTTO_SCAN_STEP; i++)
                passed[i] += ((uint64_t)numbers[at + i] - (uint64_t)rows[r]) >> 63;
        for (size_t i = 0; i < SOTTO_SCAN_STEP; i++)
            counts[at + i] = (int64_t)passed[i];
    }
}

static void count_rest(int64_t *counts, const int64_t *high, const int64_t *low, size_t lanes,
                       const sotto_noise_row *rows, size_t row_count)
{
    for (size_t at = 0; at < lanes; at += SOTTO_SCAN_STEP) {
        uint64_t passed[SOTTO_SCAN_STEP] = {0};

        for (size_t r = 0; r < row_count; r++) {
            uint64_t row_high = (uint64_t)rows[r].high, row_low = (uint64_t)rows[r].low;

            for (size_t i = 0; i < SOTTO_SCAN_STEP; i++) {
                uint64_t borrow = ((uint64_t)low[at + i] - row_low) >> 63;

                passed[i] += ((uint64_t)high[at + i] - row_high - borrow) >> 63;
            }
        }
        for (size_t i = 0; i < SOTTO_SCAN_STEP; i++)
            counts[at + i] = (int64_t)passed[i];
    }
}

static const sotto_scan portable = {"portable", count_head, count_rest};

/* AVX-512 was tried: its masks made it slower on Zen 4. */
static const sotto_backend rows[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_AVX2, &sotto_scan_avx2},
#endif
    {0, &portable},
};
static sotto_backends backends = {rows, sizeof rows / sizeof rows[0], NULL};

const sotto_scan *sotto_scan_chosen(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_scan_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}
