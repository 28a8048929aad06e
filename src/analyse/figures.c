#include "analyse/figures.h"

#include "recipe/accuracy.h"
#include "recipe/statistic.h"

#include <math.h>

static void add(sotto_result *r, const char *name, double value, double deviation, double low,
                double high)
{
    r->figures[r->figure_count++] = (sotto_result_figure){name, value, deviation, low, high};
}

static double within(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

/* ---- sum -------------------------------------------------------------------------------------------- */

static void add_sum(sotto_result *r, sotto_number_grid grid, const sotto_deviation_law *law,
                    int64_t sum, double z)
{
    const double n = law->reports, least = -n * law->none, most = n * (law->most - law->none),
                 steps = (double)sum - n * law->none, half = sotto_deviation_sum(law, z);

    add(r, "sum", grid.step * steps, grid.step * sqrt(law->noise),
        grid.step * within(steps - half, least, most),
        grid.step * within(steps + half, least, most));
}

/* ---- mean ------------------------------------------------------------------------------------------- */

static void add_mean(sotto_result *r, sotto_number_grid grid, const sotto_deviation_law *law,
                     const int64_t sums[2], double z)
{
    const double n = law->reports, middle = law->none, most = law->most,
                 off = (double)sums[0] - n * middle, count = (double)sums[1] / most,
                 of_count = sqrt(law->noise) / most,
                 x = count > 0 ? within(off / count, -middle, most - middle) : 0;
    const sotto_ends ends = sotto_deviation_mean_ends(law, off, count, z);

    add(r, "mean", grid.min + grid.step * (middle + x),
        grid.step * (count > 0 ? sotto_deviation_mean(law, x * count, count) : most),
        grid.min + grid.step * (middle + within(ends.low, -middle, most - middle)),
        grid.min + grid.step * (middle + within(ends.high, -middle, most - middle)));
    add(r, "count", count, of_count, within(count - z * of_count, 0, n),
        within(count + z * of_count, 0, n));
}

/* ---- quantiles -------------------------------------------------------------------------------------- */

/* Of the difference below, were the true counts the nearest possible ones. */
static double deviation_of(const sotto_deviation_law *law, double t, size_t bins, double up_to,
                           double above)
{
    const double n = law->reports, first = within(up_to, 0, n);

    return sqrt(
        fmax(sotto_deviation_rank(law, t, (double)bins, first, within(above, 0, n - first)), 0));
}

/* (1 - t) times what is counted up to a bin, less t times what is counted above it. It is below 0 before the bin of the
 * quantile, and not below 0 from there on. An end is where its interval leaves 0. */
static void add_quantile(sotto_result *r, sotto_number_grid grid, const sotto_deviation_law *law,
                         const char *name, double t, double z)
{
    double total = 0, above = 0;
    const size_t last = r->count - 1;
    size_t value = last, low = last, high = 0;

    for (size_t i = 0; i < r->count; i++)
        total += r->bins[i].count;
    for (size_t i = r->count; i-- > 0;) {
        /* Of bins 0 to i: what is above them was taken off. */
        const double up_to = total - above, d = (1 - t) * up_to - t * above,
                     deviation = deviation_of(law, t, i + 1, up_to, above);

        if (d >= 0)
            value = i;
        if (d + z * deviation >= 0)
            low = i;
        if (d - z * deviation <= 0 && high == 0)
            high = i < last ? i + 1 : i;
        above += r->bins[i].count;
    }
    high = high > value ? high : value;
    add(r, name, grid.min + grid.step * (double)value,
        grid.step * ((double)high - (double)low) / (2 * z), grid.min + grid.step * (double)low,
        grid.min + grid.step * (double)high);
}

void sotto_result_figures(sotto_result *r, const sotto_recipe *recipe,
                          const sotto_deviation_law *law, const int64_t *sums, double z)
{
    static const char *const names[SOTTO_QUANTILES] = {
        "quantile 0.05", "quantile 0.25", "quantile 0.5", "quantile 0.75", "quantile 0.95"};

    if (recipe->statistic == SOTTO_STATISTIC_SUM)
        add_sum(r, sotto_recipe_grid(recipe), law, sums[0], z);
    if (recipe->statistic == SOTTO_STATISTIC_MEAN)
        add_mean(r, sotto_recipe_grid(recipe), law, sums, z);
    for (size_t i = 0; i < SOTTO_QUANTILES; i++)
        if (recipe->statistic == SOTTO_STATISTIC_QUANTILES)
            add_quantile(r, sotto_recipe_grid(recipe), law, names[i], sotto_quantiles[i], z);
}
