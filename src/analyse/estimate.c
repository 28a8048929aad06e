/* Sums into counts with intervals. */
#include "sotto/analyse.h"

#include "analyse/figures.h"

#include <math.h>

#define DEFAULT_CONFIDENCE 0.95

/* A sum as a signed number, without the offsets that reports had; false where it can't be one. Noise by servers may put it below 0 or
 * above what reports can have; how far, the collector has judged. */
static bool read_sum(int64_t *out, sotto_uint128 sum, uint64_t reports,
                     const sotto_report_content *content)
{
    *out = (int64_t)sum.low;
    if (content->by == SOTTO_BY_SERVERS)
        return sum.high == (sum.low >> 63 ? UINT64_MAX : 0);
    /* A leader may name any number of reports. */
    if (sum.high != 0 || sum.low > INT64_MAX || reports > INT64_MAX / content->max ||
        sum.low / content->max > reports ||
        (sum.low / content->max == reports && sum.low % content->max != 0))
        return false;
    *out -= (int64_t)(reports * content->offset);
    return true;
}

static double within(double x, double most)
{
    return fmin(fmax(x, 0), most);
}

/* The deviation is that of the nearest possible count. */
static sotto_result_bin estimate(uint64_t bin, int64_t sum, const sotto_deviation_law *law,
                                 double z)
{
    const double n = law->reports, s = (double)sum, count = (s - n * law->q) / (law->p - law->q);
    const sotto_ends ends = sotto_deviation_count_ends(law, s, z);

    return (sotto_result_bin){.bin = bin,
                              .sum = sum,
                              .count = count,
                              .deviation = sqrt(sotto_deviation_count(law, within(count, n))),
                              .low = within(ends.low, n),
                              .high = within(ends.high, n)};
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
                                  const sotto_report_content *content,
                                  const sotto_deviation_law *law, double z, sotto_arena *arena,
                                  sotto_err *err)
{
    out->count = (size_t)content->values;
    out->has_no_value = content->entries > content->values;
    out->bins = sotto_arena_take_array(arena, out->count, sizeof *out->bins);
    if (!out->bins)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a result of %zu bins", out->count);
    for (size_t i = 0; i < out->count; i++)
        out->bins[i] = estimate(i, sums[i], law, z);
    if (out->has_no_value)
        out->no_value = estimate(content->values, sums[content->values], law, z);
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
    const sotto_deviation_law law = sotto_deviation_of(recipe, &content, (double)reports);
    const double z = sotto_deviation_z(confidence);
    out->noise_variance = law.noise;
    if (recipe->statistic == SOTTO_STATISTIC_HISTOGRAM ||
        recipe->statistic == SOTTO_STATISTIC_QUANTILES)
        SOTTO_TRY(estimate_bins(out, read, &content, &law, z, arena, err));
    if (recipe->statistic == SOTTO_STATISTIC_COUNT) {
        const sotto_result_bin bin = estimate(0, read[0], &law, z);

        out->figures[out->figure_count++] =
            (sotto_result_figure){"count", bin.count, bin.deviation, bin.low, bin.high};
    }
    sotto_result_figures(out, recipe, &law, read, z);
    return SOTTO_OK;
}
