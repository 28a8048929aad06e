/* Sums into counts with intervals. */
#include "sotto/analyse.h"

#include "noise/estimate.h"
#include "recipe/claim.h"
#include "recipe/model.h"

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
 * with v for the noise that servers added.
 * Each f is judged by its own variance (a score interval) rather than by that of the estimate, which is too small where
 * few support a value. `sum` is a count, so its ends are moved outward by one half. */
static double end_of(const sotto_randomizer *r, double sum, double n, double v, double z, int side)
{
    double d = r->p - r->q, a = r->q * (1 - r->q), b = r->p * (1 - r->p);
    double x = (sum + side * 0.5 - n * r->q) / d; /* the estimate                  */
    double k = z * z * (b - a) / (d * d);         /* f^2 - (2x + k) f + x^2 - m = 0 */
    double m = z * z * (n * a + v) / (d * d);
    double root = sqrt(fmax(x * k + k * k / 4 + m, 0));

    return fmin(fmax(x + k / 2 + side * root, 0), n);
}

/* A sum as a signed number; false where it can't be one. Noise may put it below 0 or above the reports; how far, the
 * collector has judged. */
static bool read_sum(int64_t *out, sotto_uint128 sum, uint64_t reports, double noise)
{
    *out = (int64_t)sum.low;
    if (noise <= 0)
        return sum.high == 0 && sum.low <= reports && sum.low <= INT64_MAX;
    return sum.high == (sum.low >> 63 ? UINT64_MAX : 0);
}

static sotto_status estimate(sotto_result_bin *out, const sotto_randomizer *r, uint64_t bin,
                             sotto_uint128 sum, const sotto_result *result, double z,
                             sotto_err *err)
{
    double n = (double)result->reports, v = result->noise_variance, d = r->p - r->q, s;
    sotto_estimate e;

    *out = (sotto_result_bin){.bin = bin};
    if (!read_sum(&out->sum, sum, result->reports, v))
        return sotto_fail(err, SOTTO_MALFORMED, "bin %llu: more reports support it than there are",
                          (unsigned long long)bin);
    s = (double)out->sum;
    e = sotto_estimate_count(r, s, n);
    out->count = e.value;
    out->deviation = sqrt(e.variance + v / (d * d));
    out->low = end_of(r, s, n, v, z, -1);
    out->high = end_of(r, s, n, v, z, 1);
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
    double sigma = recipe->noise_milli / 1000.0, z;
    sotto_randomizer r;

    *out = (sotto_result){
        .reports = reports, .confidence = confidence, .noise_variance = 2 * sigma * sigma};
    if (!(confidence > 0 && confidence < 1))
        return sotto_fail(err, SOTTO_DENIED, "a confidence lies between 0 and 1");
    SOTTO_TRY(sotto_recipe_randomizer(&r, recipe, err));
    if (r.digits > 0)
        return sotto_fail(err, SOTTO_DENIED, "reports of %s are not added up by value",
                          sotto_randomizer_name(r.kind));
    if (count != r.bytes)
        return sotto_fail(err, SOTTO_MALFORMED, "%zu sums; a report of this recipe has %zu entries",
                          count, r.bytes);
    out->p = r.p;
    out->q = r.q;
    out->count = (size_t)r.values;
    out->has_no_value = r.bytes > r.values;
    out->bins = sotto_arena_take_array(arena, out->count, sizeof *out->bins);
    if (!out->bins)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a result of %zu bins", out->count);
    z = quantile(confidence);
    for (size_t i = 0; i < out->count; i++)
        SOTTO_TRY(estimate(&out->bins[i], &r, i, sums[i], out, z, err));
    if (out->has_no_value)
        SOTTO_TRY(estimate(&out->no_value, &r, r.values, sums[r.values], out, z, err));
    return SOTTO_OK;
}
