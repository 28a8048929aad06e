/* Sums into counts with intervals. */
#include "sotto/analyse.h"

#include "analyse/bins.h"
#include "analyse/figures.h"
#include "base/arena.h"
#include "recipe/deviation.h"

#define DEFAULT_CONFIDENCE 0.95

/* A sum as a signed number, without the offsets that reports had; false where it can't be one. Noise by servers or a committee may put
 * it below 0 or above what reports can have; how far, the collector has judged. */
static bool read_sum(int64_t *out, sotto_uint128 sum, uint64_t reports,
                     const sotto_report_content *content)
{
    *out = (int64_t)sum.low;
    if (content->by == SOTTO_BY_SERVERS || content->by == SOTTO_BY_COMMITTEE)
        return sum.high == (sum.low >> 63 ? UINT64_MAX : 0);
    /* A leader may name any number of reports. */
    if (sum.high != 0 || sum.low > INT64_MAX || reports > INT64_MAX / content->max ||
        sum.low / content->max > reports ||
        (sum.low / content->max == reports && sum.low % content->max != 0))
        return false;
    *out -= (int64_t)(reports * content->offset);
    return true;
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

/* Importance sampling: the sum that devices with the default value are counted by; `entries`: none is. */
static size_t default_entry(const sotto_result *r, const sotto_report_content *content)
{
    const uint64_t at = r->default_bin == SOTTO_NO_VALUE ? content->values : r->default_bin;

    return r->rate_default > 0 && at < content->entries ? (size_t)at : content->entries;
}

/* Fills whole of one sum again, at the rate of the default value. What others are drawn at is no matter: they add to this
 * sum what "no value" adds, by the number of reports that there are. */
static sotto_status scale_default(sotto_result_whole *whole, const sotto_result *r,
                                  const sotto_sum_law *law, int64_t sum, double together,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_result other = *r;
    sotto_result_bin ignored;

    other.rate = r->rate_default;
    return sotto_result_fill(&ignored, whole, &sum, 1, &other, law, together, arena, err);
}

/* "No value" is one more sum of the same law. */
static sotto_status estimate_bins(sotto_result *out, const int64_t *sums,
                                  const sotto_report_content *content, const sotto_recipe *recipe,
                                  sotto_arena *arena, sotto_err *err)
{
    const sotto_sum_law law = sotto_result_law(out, content, recipe, 1);
    const size_t entries = content->entries;

    out->count = (size_t)content->values;
    out->has_no_value = entries > content->values;
    out->bins = sotto_arena_take_array(arena, entries, sizeof *out->bins);
    if (out->rate > 0)
        out->wholes = sotto_arena_take_array(arena, entries, sizeof *out->wholes);
    if (!out->bins || (out->rate > 0 && !out->wholes))
        return sotto_fail(err, SOTTO_NO_MEMORY, "a result of %zu bins", out->count);
    SOTTO_TRY(sotto_result_fill(out->bins, out->wholes, sums, entries, out, &law, (double)entries,
                                arena, err));
    const size_t at = default_entry(out, content);
    if (at < entries)
        SOTTO_TRY(
            scale_default(&out->wholes[at], out, &law, sums[at], (double)entries, arena, err));
    if (out->has_no_value)
        out->no_value = out->bins[out->count];
    return SOTTO_OK;
}

static sotto_status estimate_count(sotto_result *out, const int64_t *sums,
                                   const sotto_report_content *content, const sotto_recipe *recipe,
                                   sotto_arena *arena, sotto_err *err)
{
    const sotto_sum_law law = sotto_result_law(out, content, recipe, 1);
    sotto_result_figure *f = &out->figures[out->figure_count++];
    sotto_result_bin bin;

    *f = (sotto_result_figure){.name = "count"};
    SOTTO_TRY(sotto_result_fill(&bin, out->rate > 0 ? &f->whole : NULL, sums, 1, out, &law, 1,
                                arena, err));
    f->value = bin.count;
    f->deviation = bin.deviation;
    f->low = bin.low;
    f->high = bin.high;
    return SOTTO_OK;
}

static sotto_status check_options(const sotto_result *out, const sotto_recipe *recipe,
                                  sotto_err *err)
{
    if (!(out->confidence > 0 && out->confidence < 1))
        return sotto_fail(err, SOTTO_DENIED, "a confidence lies between 0 and 1");
    if (!(out->rate >= 0 && out->rate <= 1))
        return sotto_fail(err, SOTTO_DENIED, "a rate lies between 0 and 1");
    if (out->rate_default == 0)
        return SOTTO_OK;
    if (!(out->rate_default > 0 && out->rate_default <= 1 && out->rate > 0))
        return sotto_fail(err, SOTTO_DENIED, "two rates lie above 0, up to 1");
    if (recipe->participation.type != SOTTO_IMPORTANCE)
        return sotto_fail(err, SOTTO_DENIED, "the recipe has one rate for all values");
    return SOTTO_OK;
}

double sotto_recipe_rate(const sotto_recipe *recipe, uint64_t from, uint64_t until)
{
    const sotto_participation *p = &recipe->participation;
    const bool all =
        recipe->opens >= 0 && from <= (uint64_t)recipe->opens && until >= (uint64_t)recipe->closes;

    return all && p->type == SOTTO_POISSON ? p->rate : 0;
}

void sotto_recipe_rates(sotto_result_options *out, const sotto_recipe *recipe, uint64_t from,
                        uint64_t until)
{
    const sotto_participation *p = &recipe->participation;
    const bool all =
        recipe->opens >= 0 && from <= (uint64_t)recipe->opens && until >= (uint64_t)recipe->closes;

    out->rate = sotto_recipe_rate(recipe, from, until);
    out->rate_default = 0;
    if (all && p->type == SOTTO_IMPORTANCE) {
        out->rate = p->rate_other;
        out->rate_default = p->rate;
    }
}

sotto_status sotto_result_estimate(sotto_result *out, const sotto_recipe *recipe,
                                   const sotto_uint128 *sums, size_t count, uint64_t reports,
                                   const sotto_result_options *options, sotto_arena *arena,
                                   sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_result_options none = {0}, *asked = options ? options : &none;
    sotto_report_content content;
    int64_t *read;

    *out = (sotto_result){.statistic = recipe->statistic,
                          .reports = reports,
                          .confidence =
                              asked->confidence != 0 ? asked->confidence : DEFAULT_CONFIDENCE,
                          .rate = asked->rate,
                          .rate_default = asked->rate_default,
                          .default_bin = recipe->participation.default_bin};
    SOTTO_TRY(check_options(out, recipe, err));
    SOTTO_TRY(sotto_recipe_content(&content, recipe, err));
    SOTTO_TRY(read_sums(&read, sums, count, reports, &content, arena, err));
    out->p = content.p;
    out->q = content.q;
    const sotto_sum_noise noise = sotto_recipe_sum_noise(recipe, &content, (double)reports);
    out->noise_variance = noise.gaussian + noise.skellam;
    if (recipe->statistic == SOTTO_STATISTIC_HISTOGRAM ||
        recipe->statistic == SOTTO_STATISTIC_QUANTILES)
        SOTTO_TRY(estimate_bins(out, read, &content, recipe, arena, err));
    if (recipe->statistic == SOTTO_STATISTIC_COUNT)
        SOTTO_TRY(estimate_count(out, read, &content, recipe, arena, err));
    sotto_result_figures(out, recipe, &content, read);
    return asked->adjust && out->count > 0 ? sotto_result_adjust(out, arena, err) : SOTTO_OK;
}
