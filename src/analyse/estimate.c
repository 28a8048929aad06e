/* Sums into counts with intervals. */
#include "sotto/analyse.h"

#include "analyse/figures.h"
#include "noise/estimate.h"

#include <math.h>

#define DEFAULT_CONFIDENCE 0.95

/* z with P(|N| > z) = 1 - confidence, by halving: the tail falls steadily. */
static double quantile(double confidence)
{
    double low = 0, high = 40;

    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;

        if (erfc(middle / sqrt(2)) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The true counts f for which a sum as far off as this one is no surprise: where
 *     (sum - n q - f d)^2 <= z^2 (n a + v + f (b - a)),    d = p - q, a = q (1-q), b = p (1-p)
 * with v for noise that others than the randomizer added.
 * Each f is judged by its own variance (a score interval) rather than by that of the estimate, which is too small where
 * few support a value. `sum` is a count, so its ends are moved outward by one half. */
static double end_of(const sotto_result *r, double sum, double z, int side)
{
    double n = (double)r->reports, v = r->noise_variance;
    double d = r->p - r->q, a = r->q * (1 - r->q), b = r->p * (1 - r->p);
    double x = (sum + side * 0.5 - n * r->q) / d; /* the estimate                  */
    double k = z * z * (b - a) / (d * d);         /* f^2 - (2x + k) f + x^2 - m = 0 */
    double m = z * z * (n * a + v) / (d * d);
    double root = sqrt(fmax(x * k + k * k / 4 + m, 0));

    return fmin(fmax(x + k / 2 + side * root, 0), n);
}

/* A sum as a signed number, without the offsets that reports had; false where it can't be one. Noise by servers may put it below 0 or
 * above what reports can have; how far, the collector has judged. */
static bool read_sum(int64_t *out, sotto_uint128 sum, uint64_t reports,
                     const sotto_report_content *content)
{
    *out = (int64_t)sum.low;
    if (content->by == SOTTO_BY_SERVERS)
        return sum.high == (sum.low >> 63 ? UINT64_MAX : 0);
    if (sum.high != 0 || sum.low > INT64_MAX || sum.low / content->max > reports ||
        (sum.low / content->max == reports && sum.low % content->max != 0))
        return false;
    *out -= (int64_t)(reports * content->offset);
    return true;
}

static void estimate(sotto_result_bin *out, uint64_t bin, int64_t sum, const sotto_result *result,
                     double z)
{
    const double d = result->p - result->q, s = (double)sum;
    const sotto_randomizer chances = {.p = result->p, .q = result->q};
    const sotto_estimate e = sotto_estimate_count(&chances, s, (double)result->reports);

    *out = (sotto_result_bin){.bin = bin,
                              .sum = sum,
                              .count = e.value,
                              .deviation = sqrt(e.variance + result->noise_variance / (d * d)),
                              .low = end_of(result, s, z, -1),
                              .high = end_of(result, s, z, 1)};
}

/* Variance of what is in each sum beside the values: both servers add all of it; every device that reports adds its part. */
static double noise_of(const sotto_report_content *content, const sotto_recipe *recipe,
                       uint64_t reports)
{
    const double sigma = sotto_recipe_sigma(recipe);

    return content->by == SOTTO_BY_SERVERS ? 2 * sigma * sigma
                                           : (double)reports * content->variance;
}

static sotto_status read_sums(int64_t **out, const sotto_uint128 *sums, size_t count,
                              uint64_t reports, const sotto_report_content *content,
                              sotto_arena *arena, sotto_err *err)
{
    if (content->randomizer.digits > 0)
        return sotto_fail(err, SOTTO_DENIED, "reports of %s are not added up by value",
                          content->name);
    if (count != content->entries)
        return sotto_fail(err, SOTTO_MALFORMED, "%zu sums; a report of this recipe has %zu entries",
                          count, content->entries);
    *out = sotto_arena_take_array(arena, count, sizeof **out);
    if (!*out)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a result of %zu sums", count);
    for (size_t i = 0; i < count; i++)
        if (!read_sum(&(*out)[i], sums[i], reports, content))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "sum %zu: more than so many reports can add up to", i);
    return SOTTO_OK;
}

static sotto_status estimate_bins(sotto_result *out, const int64_t *sums,
                                  const sotto_report_content *content, double z, sotto_arena *arena,
                                  sotto_err *err)
{
    out->count = (size_t)content->values;
    out->has_no_value = content->entries > content->values;
    out->bins = sotto_arena_take_array(arena, out->count, sizeof *out->bins);
    if (!out->bins)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a result of %zu bins", out->count);
    for (size_t i = 0; i < out->count; i++)
        estimate(&out->bins[i], i, sums[i], out, z);
    if (out->has_no_value)
        estimate(&out->no_value, content->values, sums[content->values], out, z);
    return SOTTO_OK;
}

sotto_status sotto_result_estimate(sotto_result *out, const sotto_recipe *recipe,
                                   const sotto_uint128 *sums, size_t count, uint64_t reports,
                                   const sotto_result_options *options, sotto_arena *arena,
                                   sotto_err *err)
{
    sotto_err_clear(err);

    double confidence =
        options && options->confidence != 0 ? options->confidence : DEFAULT_CONFIDENCE;
    sotto_report_content content;
    int64_t *read;

    *out = (sotto_result){
        .statistic = recipe->statistic, .reports = reports, .confidence = confidence};
    if (!(confidence > 0 && confidence < 1))
        return sotto_fail(err, SOTTO_DENIED, "a confidence lies between 0 and 1");
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    SOTTO_TRY(read_sums(&read, sums, count, reports, &content, arena, err));
    out->p = content.p;
    out->q = content.q;
    out->noise_variance = noise_of(&content, recipe, reports);
    const double z = quantile(confidence);
    if (recipe->statistic == SOTTO_STATISTIC_HISTOGRAM ||
        recipe->statistic == SOTTO_STATISTIC_QUANTILES)
        SOTTO_TRY(estimate_bins(out, read, &content, z, arena, err));
    if (recipe->statistic == SOTTO_STATISTIC_COUNT) {
        sotto_result_bin bin;

        estimate(&bin, 0, read[0], out, z);
        out->figures[out->figure_count++] =
            (sotto_result_figure){"count", bin.count, bin.deviation, bin.low, bin.high};
    }
    sotto_result_figures(out, recipe, &content, read, z);
    return SOTTO_OK;
}
