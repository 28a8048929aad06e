/* Counts that are 0 or more and keep their total, for those who need such: the nearest ones by the sum of squares. */
#include "analyse/bins.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* The nearest point subtracts one number from all, and leaves nothing below 0: the number that makes the total right. */
sotto_status sotto_adjust(double *numbers, size_t count, double total, sotto_arena *arena,
                          sotto_err *err)
{
    double *sorted = sotto_arena_take_array(arena, count, sizeof *sorted), sum = 0, off = 0;

    if (!sorted)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an adjusted result of %zu bins", count);
    memcpy(sorted, numbers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, falling);
    for (size_t i = 0; i < count; i++) {
        sum += sorted[i];
        if (sorted[i] * (double)(i + 1) <= sum - total)
            break;
        off = (sum - total) / (double)(i + 1);
    }
    for (size_t i = 0; i < count; i++)
        numbers[i] = fmax(numbers[i] - off, 0);
    return SOTTO_OK;
}

/* All reports, where "no value" is counted as well; else the estimate of those that have a value. */
sotto_status sotto_result_adjust(sotto_result *r, sotto_arena *arena, sotto_err *err)
{
    const size_t all = r->count + (r->has_no_value ? 1 : 0);
    double *numbers = sotto_arena_take_array(arena, all, sizeof *numbers), total = 0;

    if (!numbers)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an adjusted result of %zu bins", all);
    for (size_t i = 0; i < r->count; i++)
        total += numbers[i] = r->bins[i].count;
    total = fmin(fmax(total, 0), (double)r->reports);
    if (r->has_no_value) {
        numbers[r->count] = r->no_value.count;
        total = (double)r->reports;
    }
    SOTTO_TRY(sotto_adjust(numbers, all, total, arena, err));
    for (size_t i = 0; i < r->count; i++)
        r->bins[i].adjusted = numbers[i];
    if (r->has_no_value)
        r->no_value.adjusted = numbers[r->count];
    r->adjusted = true;
    return SOTTO_OK;
}
