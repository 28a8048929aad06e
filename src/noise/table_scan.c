#include "noise/table_scan.h"

#include "base/cpu.h"

#include <stdatomic.h>
#include <string.h>

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

const sotto_scan sotto_scan_portable = {"portable", count_head, count_rest};

/* NULL until the first use. Two threads that meet here choose the same. */
static _Atomic(const sotto_scan *) chosen;

/* The best first; what this machine lacks is NULL. AVX-512 was tried: its masks made it slower on Zen 4. */
enum { KINDS = 2 };

static const sotto_scan *find(const char *name)
{
    const sotto_scan *found[KINDS] = {NULL, &sotto_scan_portable};

#if defined(__x86_64__)
    if (sotto_cpu() & SOTTO_CPU_AVX2)
        found[0] = &sotto_scan_avx2;
#endif
    for (unsigned i = 0; i < KINDS; i++)
        if (found[i] && (!name || strcmp(name, found[i]->name) == 0))
            return found[i];
    return NULL;
}

const sotto_scan *sotto_scan_chosen(void)
{
    const sotto_scan *scan = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (!scan) {
        scan = find(NULL);
        atomic_store_explicit(&chosen, scan, memory_order_relaxed);
    }
    return scan;
}

bool sotto_scan_use(const char *name)
{
    const sotto_scan *scan = find(name);

    if (scan)
        atomic_store_explicit(&chosen, scan, memory_order_relaxed);
    return scan != NULL;
}
