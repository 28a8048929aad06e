/* noise/table_scan.h - count, for each lane, the thresholds above a random number.
 *
 * One implementation an instruction set, chosen at run time; all give the same counts and read every row
 * for every lane.
 */
#ifndef SOTTO_NOISE_TABLE_SCAN_H
#define SOTTO_NOISE_TABLE_SCAN_H

#include "noise/noise.h"

/* Lanes come in multiples of this. */
enum { SOTTO_SCAN_STEP = 8 };

typedef struct sotto_scan {
    const char *name;
    /* counts[i] = how many rows exceed numbers[i]. */
    void (*head)(int64_t *counts, const int64_t *numbers, size_t lanes, const int64_t *rows,
                 size_t row_count);
    /* counts[i] = how many rows exceed high[i] * 2^63 + low[i]. */
    void (*rest)(int64_t *counts, const int64_t *high, const int64_t *low, size_t lanes,
                 const sotto_noise_row *rows, size_t row_count);
} sotto_scan;

#if defined(__x86_64__)
extern const sotto_scan sotto_scan_avx2;
#endif

const sotto_scan *sotto_scan_chosen(void);
/* For tests: false if this machine lacks it. NULL goes back to the best. */
bool sotto_scan_use(const char *name);

#endif
