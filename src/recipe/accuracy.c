#include "recipe/accuracy.h"

#include "account/numeric/special.h"
#include "recipe/statistic.h"

#include <math.h>

const double sotto_quantiles[SOTTO_QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};

double sotto_recipe_release_reports(const sotto_recipe *recipe, const sotto_forecast *forecast)
{
    return forecast->devices > 0 ? fmax(forecast->expected, (double)recipe->min_cohort) : 0;
}

/* Given their number, reports are a sample without replacement. */
double sotto_accuracy_sampling(double reports, double devices, double confidence)
{
    const double left = devices > 1 ? fmax(0, devices - reports) / (devices - 1) : 0;

    return sotto_deviation_z(confidence) * sqrt(left / (4 * reports));
}

/* ---- bins ------------------------------------------------------------------------------------------- */

/* Half of the interval around the sum that is expected where f reports have the value. */
static double half_width(const sotto_deviation_law *law, double f, double z)
{
    const double sum = law->reports * law->q + f * (law->p - law->q);
    const sotto_ends ends = sotto_deviation_count_ends(law, sum, z);

    return (ends.high - ends.low) / 2;
}

/* Chance that a normal number is further from its mean than x. */
static double tails(double x, double deviation)
{
    return deviation > 0 ? 2 * sotto_normal_tail(x / deviation) : 0;
}

/* The smallest x that all bins together pass with a chance of 1 - confidence at most, whatever ties them. The worst spread
 * has all reports in one bin, or in none, whichever has more noise: a tail is convex in the variance from 1.74 deviations
 * on. Sums are whole numbers, hence the half. */
static double largest_of(const sotto_deviation_law *law, double confidence)
{
    const double empty = sqrt(sotto_deviation_count(law, 0)),
                 full = fmax(empty, sqrt(sotto_deviation_count(law, law->reports)));
    double low = 0, high = 60 * full;

    for (int i = 0; i < 80; i++) {
        const double x = (low + high) / 2,
                     chance = tails(x, full) + (law->values - 1) * tails(x, empty);

        *(chance > 1 - confidence ? &low : &high) = x;
    }
    return high + 0.5 / (law->p - law->q);
}

/* An interval is above 0 where the sum is above n q + 1/2 by z deviations of an empty bin, on that side alone (docs/decisions/0118).
 * A count is seen if its sum passes that with this chance. */
static double seen_of(const sotto_deviation_law *law, double confidence)
{
    const double d = law->p - law->q,
                 one_sided = confidence > 0.5 ? sotto_deviation_z(2 * confidence - 1) : 0,
                 least = one_sided * d * sqrt(sotto_deviation_count(law, 0)) + 0.5;
    double low = 0, high = law->reports;

    if (high * d - least < one_sided * d * sqrt(sotto_deviation_count(law, high)))
        return INFINITY;
    for (int i = 0; i < 80; i++) {
        const double f = (low + high) / 2;

        *(f * d - least < one_sided * d * sqrt(sotto_deviation_count(law, f)) ? &low : &high) = f;
    }
    return high;
}

/* ---- quantiles -------------------------------------------------------------------------------------- */

static double rank_at(const sotto_deviation_law *law, double t, double bins, double with, double z)
{
    return z * sqrt(sotto_deviation_rank(law, t, bins, t * with, (1 - t) * with)) / with;
}

double sotto_accuracy_rank(const sotto_deviation_law *law, double t, double with, double z)
{
    return rank_at(law, t, t * law->values, with, z);
}

/* The variance is a parabola in the number of bins: 65 places are within a part in 4,000 of its top. */
static double rank_most(const sotto_deviation_law *law, double with, double z)
{
    double most = 0;

    for (int i = 0; i < SOTTO_QUANTILES; i++)
        for (int part = 0; part <= 64; part++)
            most = fmax(most, rank_at(law, sotto_quantiles[i],
                                      fmax(1, floor(law->values * part / 64)), with, z));
    return most;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static void expect_bins(sotto_accuracy *out, const sotto_deviation_law *law, double z, double share)
{
    const double f = law->reports * share;

    out->deviation = sqrt(sotto_deviation_count(law, f));
    out->half_width = half_width(law, f, z);
    out->seen = seen_of(law, out->confidence);
}

static void expect_mean(sotto_accuracy *out, const sotto_deviation_law *law, double z, double with,
                        double step)
{
    const double off = fmax(law->none, law->most - law->none) * with;
    const sotto_ends ends = sotto_deviation_mean_ends(law, off, with, z);

    out->deviation = step * sotto_deviation_mean(law, off, with);
    out->half_width = step * (ends.high - ends.low) / 2;
}

sotto_status sotto_recipe_accuracy(sotto_accuracy *out, const sotto_recipe *recipe, double reports,
                                   const sotto_accuracy_options *options, sotto_err *err)
{
    const double confidence = options && options->confidence > 0 ? options->confidence : 0.95,
                 have = options && options->have > 0 ? options->have : 1,
                 z = sotto_deviation_z(confidence);
    sotto_report_content content;

    *out = (sotto_accuracy){.reports = reports, .confidence = confidence};
    if (!(reports > 0))
        return SOTTO_OK;
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    const sotto_deviation_law law = sotto_deviation_of(recipe, &content, reports);
    switch (recipe->statistic) {
    case SOTTO_STATISTIC_HISTOGRAM:
        expect_bins(out, &law, z, 1 / law.values);
        out->half_width_most = half_width(&law, reports, z);
        out->largest = largest_of(&law, confidence);
        break;
    case SOTTO_STATISTIC_COUNT: /* at the count whose error is largest */
        expect_bins(out, &law, z,
                    sotto_deviation_count(&law, reports) > sotto_deviation_count(&law, 0));
        break;
    case SOTTO_STATISTIC_SUM:
        out->deviation = sotto_recipe_grid(recipe).step * sqrt(law.noise);
        out->half_width = sotto_recipe_grid(recipe).step * sotto_deviation_sum(&law, z);
        break;
    case SOTTO_STATISTIC_MEAN:
        expect_mean(out, &law, z, reports * have, sotto_recipe_grid(recipe).step);
        break;
    case SOTTO_STATISTIC_QUANTILES:
        out->half_width =
            sotto_accuracy_rank(&law, sotto_quantiles[SOTTO_MEDIAN], reports * have, z);
        out->deviation = out->half_width / z;
        out->rank_most = rank_most(&law, reports * have, z);
        break;
    }
    return SOTTO_OK;
}
