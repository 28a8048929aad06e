#include "analyse/figures.h"

#include "analyse/interval.h"
#include "recipe/deviation.h"
#include "recipe/statistic.h"

#include <math.h>

static sotto_result_figure *add(sotto_result *r, const char *name)
{
    sotto_result_figure *f = &r->figures[r->figure_count++];

    *f = (sotto_result_figure){.name = name};
    return f;
}

/* Where all devices took part, they are those that reported. */
static void copy_whole(sotto_result_figure *f)
{
    f->whole = (sotto_result_whole){
        .count = f->value, .privacy = f->deviation, .low = f->low, .high = f->high};
}

static double within(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

/* ---- sum -------------------------------------------------------------------------------------------- */

/* A sum of numbers with noise: f is how many steps they are above the least that they can be. */
static sotto_sum_law noise_law(const sotto_result *r, const sotto_recipe *recipe,
                               const sotto_report_content *c, double most)
{
    const sotto_sum_noise noise = sotto_recipe_sum_noise(recipe, c, (double)r->reports);

    return (sotto_sum_law){.p = 1,
                           .rate = 1,
                           .most = most,
                           .gaussian = noise.gaussian,
                           .sigma = noise.sigma,
                           .skellam = noise.skellam};
}

/* The draw of devices adds (1 - rate) times the squares of their numbers, which were not asked. Of numbers from 0 up to `far` they
 * are at most far times their sum, which is `each`; of others at most far^2 for each report. */
static void scale_sum(sotto_result *r, sotto_result_figure *f, sotto_number_grid grid,
                      const sotto_report_content *c, double steps)
{
    const double rate = r->rate, n = (double)r->reports, zero = (double)c->none,
                 far = fmax(zero, (double)c->most - zero), fixed = zero > 0 ? n * far * far : 0,
                 each = zero > 0 ? 0 : far;
    const sotto_sum_law law = {.p = 1,
                               .rate = 1,
                               .most = INFINITY,
                               .normal = true,
                               .variance = r->noise_variance + (1 - rate) * fixed + 1e-9,
                               .slope = (1 - rate) * each};
    /* Where numbers may be below 0, so may their sum: far enough above it, the law has no bound that matters. */
    const double shift = zero > 0 ? 1e3 * sqrt(law.variance) + fabs(steps) : 0;
    const sotto_ends range =
        sotto_interval_of(&law, sotto_alpha_of(1 - r->confidence), steps + shift);
    const double unit = grid.step / rate;

    f->sampling_most = true;
    f->whole = (sotto_result_whole){
        .count = unit * steps,
        .privacy = unit * sqrt(r->noise_variance),
        .sampling = unit * sqrt((1 - rate) * (fixed + each * fmax(steps, 0))),
        .low = unit * (range.low - shift),
        .high = unit * (range.high - shift),
    };
}

static void add_sum(sotto_result *r, const sotto_recipe *recipe, const sotto_report_content *c,
                    int64_t sum)
{
    const sotto_number_grid grid = sotto_recipe_grid(recipe);
    const double n = (double)r->reports, zero = (double)c->none, steps = (double)sum - n * zero;
    const sotto_sum_law law = noise_law(r, recipe, c, n * (double)c->most);
    const sotto_ends range =
        sotto_interval_of(&law, sotto_alpha_of(1 - r->confidence), (double)sum);
    sotto_result_figure *f = add(r, "sum");

    f->value = grid.step * steps;
    f->deviation = grid.step * sqrt(r->noise_variance);
    f->low = grid.step * (range.low - n * zero);
    f->high = grid.step * (range.high - n * zero);
    if (r->rate == 1)
        copy_whole(f);
    else if (r->rate > 0)
        scale_sum(r, f, grid, c, steps);
}

/* ---- mean ------------------------------------------------------------------------------------------- */

/* What numbers are off the middle, added up, over how many there are. A mean x agrees with both sums unless
 *     off - x count,    of variance v + x^2 w,
 * is too far from 0 (Fieller 1954), since off and count have independent noise of variance v and w. What is too far
 * is divided between both sides as for counts: a mean at the end of its range errs to one side only. */
typedef struct quotient {
    double off, count, v, w, low, high;
    sotto_alpha alpha;
    double spread; /* the draw of devices: at most this times (x - low) (high - x) */
} quotient;

static bool agrees(const quotient *q, double x)
{
    const double unit = sqrt(q->v + x * x * q->w +
                             q->spread * fmax((x - q->low) * (q->high - x), 0) * q->count),
                 far = unit > 0 ? (q->off - x * q->count) / unit : 0;
    const sotto_tail_split split = sotto_alpha_split(q->alpha, (x - q->low) * q->count / unit,
                                                     (q->high - x) * q->count / unit);

    return -split.lower_at <= far && far <= split.upper_at;
}

static double end_of_mean(const quotient *q, double in, double out)
{
    if (agrees(q, out))
        return out;
    for (int i = 0; i < 40; i++) {
        const double middle = (in + out) / 2;

        if (agrees(q, middle))
            in = middle;
        else
            out = middle;
    }
    return out;
}

/* All of the range where the count may be 0. */
static sotto_ends mean_range(const quotient *q, double x)
{
    const double z = q->alpha.z;

    if (!(q->count > 0) || q->count * q->count <= z * z * q->w)
        return (sotto_ends){q->low, q->high};
    return (sotto_ends){end_of_mean(q, x, q->low), end_of_mean(q, x, q->high)};
}

/* How many have a number: its sum has `most` for each of them. */
static void add_mean_count(sotto_result *r, const sotto_recipe *recipe,
                           const sotto_report_content *c, int64_t sum)
{
    const double most = (double)c->most, rate = r->rate;
    sotto_sum_law law = noise_law(r, recipe, c, (double)r->reports * most);
    sotto_ends range = sotto_interval_of(&law, sotto_alpha_of(1 - r->confidence), (double)sum);
    sotto_result_figure *f = add(r, "count");

    f->value = (double)sum / most;
    f->deviation = sqrt(r->noise_variance) / most;
    f->low = range.low / most;
    f->high = range.high / most;
    if (rate == 1)
        copy_whole(f);
    if (!(rate > 0 && rate < 1))
        return;
    law = (sotto_sum_law){.p = 1,
                          .rate = 1,
                          .most = INFINITY,
                          .normal = true,
                          .variance = r->noise_variance,
                          .slope = (1 - rate) * most};
    range = sotto_interval_of(&law, sotto_alpha_of(1 - r->confidence), (double)sum);
    f->whole = (sotto_result_whole){.count = f->value / rate,
                                    .privacy = f->deviation / rate,
                                    .sampling = sqrt(fmax(f->value, 0) * (1 - rate)) / rate,
                                    .low = range.low / most / rate,
                                    .high = range.high / most / rate};
}

static void add_mean(sotto_result *r, const sotto_recipe *recipe, const sotto_report_content *c,
                     const int64_t sums[2])
{
    const sotto_number_grid grid = sotto_recipe_grid(recipe);
    const double n = (double)r->reports, middle = (double)c->none, most = (double)c->most,
                 zero = grid.min + grid.step * middle;
    quotient q = {.off = (double)sums[0] - n * middle,
                  .count = (double)sums[1] / most,
                  .v = r->noise_variance,
                  .w = r->noise_variance / (most * most),
                  .low = -middle,
                  .high = most - middle,
                  .alpha = sotto_alpha_of(1 - r->confidence)};
    const double x = q.count > 0 ? within(q.off / q.count, q.low, q.high) : 0;
    sotto_ends range = mean_range(&q, x);
    sotto_result_figure *f = add(r, "mean");

    f->value = zero + grid.step * x;
    f->deviation = grid.step * (q.count > 0 ? sqrt(q.v + x * x * q.w) / q.count : most);
    f->low = zero + grid.step * range.low;
    f->high = zero + grid.step * range.high;
    if (r->rate > 0) { /* numbers with this mean vary most where each is at an end of the range */
        q.spread = 1 - r->rate;
        range = mean_range(&q, x);
        f->sampling_most = true;
        f->whole = (sotto_result_whole){
            .count = f->value,
            .privacy = f->deviation,
            .sampling =
                grid.step *
                (q.count > 0 ? sqrt(q.spread * (x - q.low) * (q.high - x) / q.count) : most),
            .low = zero + grid.step * range.low,
            .high = zero + grid.step * range.high};
    }
    add_mean_count(r, recipe, c, sums[1]);
}

/* ---- quantiles -------------------------------------------------------------------------------------- */

/* Where a quantile may be, in steps. */
typedef struct quantile {
    size_t value, low, high;
} quantile;

/* (1 - t) times what is counted up to a bin, less t times what is counted above it. It is below 0 before the bin of the
 * quantile, and not below 0 from there on. An end is where its interval leaves 0. A bin is judged by the variance that it
 * has if the quantile is there: that of price (recipe/deviation.h), which knows that bins of one report exclude each other.
 *   drawn  what the draw of devices adds to the variance: at the quantile, (1 - rate) t (1 - t) for each device */
static quantile find_quantile(const sotto_result *r, const sotto_deviation_law *law, double t,
                              double z, double drawn)
{
    double total = 0, above = 0;
    const size_t last = r->count - 1;
    quantile q = {last, last, 0};

    for (size_t i = 0; i < r->count; i++)
        total += r->bins[i].count;
    const double with = within(total, 0, law->reports);
    for (size_t i = r->count; i-- > 0;) {
        /* Of bins 0 to i: what is above them was taken off. */
        const double up_to = total - above, d = (1 - t) * up_to - t * above,
                     noise =
                         sotto_deviation_rank(law, t, (double)(i + 1), t * with, (1 - t) * with),
                     deviation = sqrt(fmax(noise + drawn * with, 0));

        if (d >= 0)
            q.value = i;
        if (d + z * deviation >= 0)
            q.low = i;
        if (d - z * deviation <= 0 && q.high == 0)
            q.high = i < last ? i + 1 : i;
        above += r->bins[i].count;
    }
    q.high = q.high > q.value ? q.high : q.value;
    return q;
}

static void add_quantile(sotto_result *r, const sotto_deviation_law *law, sotto_number_grid grid,
                         const char *name, double t)
{
    const double z = sotto_alpha_of(1 - r->confidence).z;
    const quantile q = find_quantile(r, law, t, z, 0);
    sotto_result_figure *f = add(r, name);

    f->value = grid.min + grid.step * (double)q.value;
    f->deviation = grid.step * ((double)q.high - (double)q.low) / (2 * z);
    f->low = grid.min + grid.step * (double)q.low;
    f->high = grid.min + grid.step * (double)q.high;
    if (r->rate > 0) {
        const quantile all = find_quantile(r, law, t, z, (1 - r->rate) * t * (1 - t));
        const double both = grid.step * ((double)all.high - (double)all.low) / (2 * z);

        f->whole = (sotto_result_whole){
            .count = f->value,
            .privacy = f->deviation,
            .sampling = sqrt(fmax(both * both - f->deviation * f->deviation, 0)),
            .low = grid.min + grid.step * (double)all.low,
            .high = grid.min + grid.step * (double)all.high};
    }
}

void sotto_result_figures(sotto_result *r, const sotto_recipe *recipe,
                          const sotto_report_content *content, const int64_t *sums)
{
    static const struct {
        const char *name;
        double at;
    } quantiles[] = {{"quantile 0.05", 0.05},
                     {"quantile 0.25", 0.25},
                     {"quantile 0.5", 0.5},
                     {"quantile 0.75", 0.75},
                     {"quantile 0.95", 0.95}};
    const sotto_deviation_law law = sotto_deviation_of(recipe, content, (double)r->reports);

    if (recipe->statistic == SOTTO_STATISTIC_SUM)
        add_sum(r, recipe, content, sums[0]);
    if (recipe->statistic == SOTTO_STATISTIC_MEAN)
        add_mean(r, recipe, content, sums);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        if (recipe->statistic == SOTTO_STATISTIC_QUANTILES)
            add_quantile(r, &law, sotto_recipe_grid(recipe), quantiles[i].name, quantiles[i].at);
}
