/* How high noise alone reaches: the sum of two discrete Gaussians. */
#include "study/search.h"

#include <math.h>

enum {
    DEVIATIONS = 12,      /* beyond them one draw is in a table with a chance below 1e-31 */
    MOST_EXACT = 20000000 /* thousandths: a table of 480,001 masses */
};

/* Masses of one draw, and the chances to reach each value or more; both over -most .. most. */
typedef struct law {
    const double *mass, *reach;
    int64_t most;
} law;

static sotto_status tabulate(law *out, double sigma, sotto_arena *arena, sotto_err *err)
{
    const int64_t most = (int64_t)ceil(DEVIATIONS * sigma) + 1;
    const size_t count = (size_t)(2 * most + 1);
    double *mass = sotto_arena_take_array(arena, count, sizeof *mass),
           *reach = sotto_arena_take_array(arena, count + 1, sizeof *reach), total = 0;

    if (!mass || !reach)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the law of noise");
    for (size_t i = 0; i < count; i++) {
        const double x = ((double)i - (double)most) / sigma;

        mass[i] = exp(-x * x / 2);
        total += mass[i];
    }
    reach[count] = 0;
    for (size_t i = count; i-- > 0;) {
        mass[i] /= total;
        reach[i] = reach[i + 1] + mass[i];
    }
    *out = (law){mass, reach, most};
    return SOTTO_OK;
}

/* P(x + y >= t), rounded up: roundings of sums of positive terms, and what lies beyond the table, are within 1e-9 of it and 1e-30. */
static double reached(const law *l, int64_t t)
{
    double sum = 0;

    for (int64_t x = -l->most; x <= l->most; x++) {
        const int64_t from = t - x;

        if (from > l->most)
            continue;
        sum += l->mass[x + l->most] * (from <= -l->most ? 1 : l->reach[from + l->most]);
    }
    return sum * (1 + 1e-9) + 1e-30;
}

/* Both draws are subgaussian with their sigma (Canonne, Kamath and Steinke 2020): exp(-t^2 / (4 sigma^2)). */
static void bound(int64_t *out, double *chance, double sigma, double miss)
{
    *out = (int64_t)ceil(2 * sigma * sqrt(-log(miss)) * (1 + 1e-12));
    *chance = miss;
}

sotto_status sotto_search_threshold(int64_t *out, double *chance, uint64_t sigma_milli, double miss,
                                    sotto_arena *arena, sotto_err *err)
{
    const sotto_arena_mark here = sotto_arena_here(arena);
    const double sigma = (double)sigma_milli / 1000;
    law l;

    if (sigma_milli > MOST_EXACT) {
        bound(out, chance, sigma, miss);
        return SOTTO_OK;
    }
    SOTTO_TRY(tabulate(&l, sigma, arena, err));
    int64_t low = 0, high = 2 * l.most;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;

        *(reached(&l, middle) <= miss ? &high : &low) = middle;
    }
    *out = high;
    *chance = reached(&l, high);
    sotto_arena_rollback(arena, here);
    return SOTTO_OK;
}
