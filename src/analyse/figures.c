#include "analyse/figures.h"

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

/* Whole steps, so the ends are moved outward by one half. */
static void add_sum(sotto_result *r, sotto_number_grid grid, const sotto_report_content *c,
                    int64_t sum, double z)
{
    const double n = (double)r->reports, deviation = sqrt(r->noise_variance),
                 zero = (double)c->none, least = -n * zero, most = n * ((double)c->most - zero),
                 steps = (double)sum - n * zero, half = z * deviation + (deviation > 0 ? 0.5 : 0);

    add(r, "sum", grid.step * steps, grid.step * deviation,
        grid.step * within(steps - half, least, most),
        grid.step * within(steps + half, least, most));
}

/* ---- mean ------------------------------------------------------------------------------------------- */

/* What numbers are off the middle, added up, over how many there are: values x with
 *     |off - x count| <= z sqrt(v + x^2 v / most^2)
 * (Fieller 1954), since off and count have independent noise of variance v and v / most^2. Without bounds where the
 * count may be 0. */
static void solve(double *low, double *high, double off, double count, double v, double w, double z)
{
    const double a = count * count - z * z * w, b = off * count, c = off * off - z * z * v;
    const double root = sqrt(fmax(b * b - a * c, 0));

    *low = -INFINITY;
    *high = INFINITY;
    if (!(a > 0) || !(count > 0))
        return;
    *low = (b - root) / a;
    *high = (b + root) / a;
}

static void add_mean(sotto_result *r, sotto_number_grid grid, const sotto_report_content *c,
                     const int64_t sums[2], double z)
{
    const double n = (double)r->reports, middle = (double)c->none, most = (double)c->most,
                 off = (double)sums[0] - n * middle, count = (double)sums[1] / most,
                 v = r->noise_variance, w = v / (most * most),
                 x = count > 0 ? within(off / count, -middle, most - middle) : 0;
    double low, high;

    solve(&low, &high, off, count, v, w, z);
    add(r, "mean", grid.min + grid.step * (middle + x),
        count > 0 ? grid.step * sqrt(v + x * x * w) / count : grid.step * most,
        grid.min + grid.step * (middle + within(low, -middle, most - middle)),
        grid.min + grid.step * (middle + within(high, -middle, most - middle)));
    add(r, "count", count, sqrt(w), within(count - z * sqrt(w), 0, n),
        within(count + z * sqrt(w), 0, n));
}

/* ---- quantiles -------------------------------------------------------------------------------------- */

/* (1 - t) times what is counted up to a bin, less t times what is counted above it. It is below 0 before the bin of the
 * quantile, and not below 0 from there on. An end is where its interval leaves 0. */
static void add_quantile(sotto_result *r, sotto_number_grid grid, const char *name, double t,
                         double z)
{
    double total = 0, all = 0, above = 0, noise_above = 0;
    const size_t last = r->count - 1;
    size_t value = last, low = last, high = 0;

    for (size_t i = 0; i < r->count; i++) {
        total += r->bins[i].count;
        all += r->bins[i].deviation * r->bins[i].deviation;
    }
    for (size_t i = r->count; i-- > 0;) {
        /* Of bins 0 to i: what is above them was taken off. */
        const double up_to = total - above, variance = all - noise_above,
                     d = (1 - t) * up_to - t * above,
                     deviation = sqrt(fmax((1 - t) * (1 - t) * variance + t * t * noise_above, 0));

        if (d >= 0)
            value = i;
        if (d + z * deviation >= 0)
            low = i;
        if (d - z * deviation <= 0 && high == 0)
            high = i < last ? i + 1 : i;
        above += r->bins[i].count;
        noise_above += r->bins[i].deviation * r->bins[i].deviation;
    }
    high = high > value ? high : value;
    add(r, name, grid.min + grid.step * (double)value,
        grid.step * ((double)high - (double)low) / (2 * z), grid.min + grid.step * (double)low,
        grid.min + grid.step * (double)high);
}

void sotto_result_figures(sotto_result *r, const sotto_recipe *recipe,
                          const sotto_report_content *content, const int64_t *sums, double z)
{
    static const struct {
        const char *name;
        double at;
    } quantiles[] = {{"quantile 0.05", 0.05},
                     {"quantile 0.25", 0.25},
                     {"quantile 0.5", 0.5},
                     {"quantile 0.75", 0.75},
                     {"quantile 0.95", 0.95}};

    if (recipe->statistic == SOTTO_STATISTIC_SUM)
        add_sum(r, sotto_recipe_grid(recipe), content, sums[0], z);
    if (recipe->statistic == SOTTO_STATISTIC_MEAN)
        add_mean(r, sotto_recipe_grid(recipe), content, sums, z);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        if (recipe->statistic == SOTTO_STATISTIC_QUANTILES)
            add_quantile(r, sotto_recipe_grid(recipe), quantiles[i].name, quantiles[i].at, z);
}
