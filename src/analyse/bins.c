#include "analyse/bins.h"

#include "recipe/deviation.h"

#include <math.h>

/* ---- laws ------------------------------------------------------------------------------------------- */

/* Variance of how many of `group` marked entries are among `drawn` of `all`. */
static double drawn_variance(double all, double drawn, double group)
{
    if (all <= 1)
        return 0;
    return drawn * (group / all) * (1 - group / all) * (all - drawn) / (all - 1);
}

/* A report of subset selection, with `others` entries of a group beside its own, which is in with chance p. If `inside`, its
 * own entry is in the group too. */
static double subset_variance(const sotto_randomizer *r, double others, bool inside)
{
    const double all = (double)r->bytes - 1, set = (double)r->set, p = r->p,
                 with = (set - 1) * others / all + (inside ? 1 : 0), without = set * others / all;

    return p * drawn_variance(all, set - 1, others) + (1 - p) * drawn_variance(all, set, others) +
           p * (1 - p) * (with - without) * (with - without);
}

/* Bits of one report that depend on each other: choice has one in all, subset selection a fixed number. */
static void tie(sotto_sum_law *law, const sotto_report_content *c, double reports, double bins)
{
    if (c->randomizer.kind == SOTTO_CHOICE_RESPONSE) {
        law->entries = reports;
        law->p = c->p + (bins - 1) * c->q;
        law->q = bins * c->q;
    }
    if (c->randomizer.kind == SOTTO_SUBSET_SELECTION && bins > 1) {
        const double out = subset_variance(&c->randomizer, bins, false);

        law->normal = true;
        law->variance = reports * out;
        law->slope = subset_variance(&c->randomizer, bins - 1, true) - out;
    }
}

sotto_sum_law sotto_result_law(const sotto_result *r, const sotto_report_content *c,
                               const sotto_recipe *recipe, double bins)
{
    const double n = (double)r->reports;
    const sotto_sum_noise noise = sotto_recipe_sum_noise(recipe, c, n);
    sotto_sum_law law = {.entries = n * bins, .p = c->p, .q = c->q, .rate = 1, .most = n};

    if (c->by == SOTTO_BY_CROWD)
        tie(&law, c, n, bins);
    law.gaussian = bins * noise.gaussian;
    law.sigma = noise.sigma;
    law.skellam = bins * noise.skellam;
    return law;
}

/* The same over all devices: drawn with a chance, and of any number, unless all were drawn. In a normal law that adds the square of
 * what one adds. */
static sotto_sum_law drawn_law(const sotto_sum_law *law, double rate)
{
    const double gain = sotto_law_gain(law);
    sotto_sum_law out = *law;

    out.rate = rate;
    if (rate < 1)
        out.most = INFINITY;
    out.slope += (1 - rate) * gain * gain;
    return out;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

typedef struct tables {
    sotto_interval_table one, all;
} tables;

static sotto_status make_tables(tables *out, const sotto_sum_law *law, double alpha,
                                double together, const int64_t *sums, size_t count,
                                sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(
        sotto_interval_table_init(&out->one, law, sotto_alpha_of(alpha), sums, count, arena, err));
    if (together == 1) {
        out->all = out->one;
        return SOTTO_OK;
    }
    return sotto_interval_table_init(&out->all, law, sotto_alpha_of(alpha / together), sums, count,
                                     arena, err);
}

/* A law's variance is a straight line over f. */
typedef struct line {
    double entries_q, gain, at_zero, slope;
} line;

static line line_of(const sotto_sum_law *law)
{
    const double zero = sotto_law_deviation(law, 0), one = sotto_law_deviation(law, 1);

    return (line){law->entries * law->q, sotto_law_gain(law), zero * zero, one * one - zero * zero};
}

static double variance_at(const line *l, double count, double most)
{
    const double f = fmin(fmax(count, 0), most);

    return fmax(l->at_zero + l->slope * f, 0) / (l->gain * l->gain);
}

static void fill_whole(sotto_result_whole *out, const sotto_result_bin *bin, double rate,
                       sotto_ends one, sotto_ends all)
{
    *out = (sotto_result_whole){.count = bin->count / rate,
                                .privacy = bin->deviation / rate,
                                .sampling = sqrt(fmax(bin->count, 0) * (1 - rate)) / rate,
                                .low = one.low / rate,
                                .high = one.high / rate,
                                .low_all = all.low / rate,
                                .high_all = all.high / rate};
}

sotto_status sotto_result_fill(sotto_result_bin *bins, sotto_result_whole *wholes,
                               const int64_t *sums, size_t count, const sotto_result *r,
                               const sotto_sum_law *law, double together, sotto_arena *arena,
                               sotto_err *err)
{
    const double alpha = 1 - r->confidence;
    const line l = line_of(law);
    tables of_reports, of_all;

    if (count == 0)
        return SOTTO_OK;
    SOTTO_TRY(make_tables(&of_reports, law, alpha, together, sums, count, arena, err));
    if (wholes) {
        const sotto_sum_law drawn = drawn_law(law, r->rate);

        SOTTO_TRY(make_tables(&of_all, &drawn, alpha, together, sums, count, arena, err));
    }
    for (size_t i = 0; i < count; i++) {
        const double s = (double)sums[i], value = (s - l.entries_q) / l.gain;
        const sotto_ends one = sotto_interval_look_up(&of_reports.one, s),
                         all = sotto_interval_look_up(&of_reports.all, s);

        bins[i] = (sotto_result_bin){.bin = i,
                                     .sum = sums[i],
                                     .count = value,
                                     .deviation = sqrt(variance_at(&l, value, law->most)),
                                     .low = one.low,
                                     .high = one.high,
                                     .low_all = all.low,
                                     .high_all = all.high};
        if (wholes)
            fill_whole(&wholes[i], &bins[i], r->rate, sotto_interval_look_up(&of_all.one, s),
                       sotto_interval_look_up(&of_all.all, s));
    }
    return SOTTO_OK;
}
