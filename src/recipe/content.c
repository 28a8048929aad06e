#include "recipe/content.h"

#include "account/honest.h"
#include "account/numeric/bound.h"
#include "recipe/statistic.h"

#include <math.h>

enum { SLACK = 8, LOG2_CUT = -40 };

double sotto_recipe_sigma(const sotto_recipe *recipe)
{
    return recipe->sigma_milli / 1000.0;
}

/* ---- by SOTTO_BY_CROWD ------------------------------------------------------------------------------ */

static sotto_status set_randomized(sotto_report_content *out, const sotto_recipe *recipe,
                                   sotto_err *err)
{
    const sotto_randomizer *r = &out->randomizer;

    SOTTO_TRY(sotto_randomizer_init(&out->randomizer, recipe->randomizer, recipe->encoding.bins,
                                    sotto_decimal_down(recipe->epsilon_local), recipe->adjacency,
                                    err));
    out->name = sotto_randomizer_name(r->kind);
    out->p = r->p;
    out->q = r->q;
    out->entries = r->bytes;
    out->one = r->kind == SOTTO_CHOICE_RESPONSE;
    out->weight = r->weight;
    /* Another report in its place differs in at most twice as many entries, by one each. */
    out->distance_l1 = fmin(2 * (double)r->weight, (double)r->bytes);
    return SOTTO_OK;
}

/* ---- values themselves ------------------------------------------------------------------------------ */

/* By servers, "no value" is one more bin: the proof says that exactly one has a 1. Noise in shares leaves no such proof. */
static void set_bins(sotto_report_content *out)
{
    out->bins = true;
    out->one = out->by == SOTTO_BY_SERVERS;
    out->entries = (size_t)out->values + (out->one ? 1 : 0);
    out->distance_l1 = 2;
}

static void set_sum(sotto_report_content *out, const sotto_recipe *recipe)
{
    out->numbers = true;
    out->most = out->values - 1;
    out->none = sotto_recipe_zero(recipe);
    out->distance_l1 = (double)out->most;
}

/* The number, and whether there is one, in the same range, so that a liar counts as one device at most. Without a number
 * the first entry is in the middle: nearest to all others (docs/decisions/0101). */
static void set_mean(sotto_report_content *out)
{
    const uint64_t far = out->values - 1 - (out->values - 1) / 2;

    out->entries = 2;
    out->numbers = true;
    out->most = out->values - 1;
    out->none = out->most / 2;
    out->distance_l1 = (double)out->most + (double)far;
    out->distance = sqrt((double)out->most * (double)out->most + (double)far * (double)far);
}

static void set_values(sotto_report_content *out, const sotto_recipe *recipe)
{
    out->name = "none";
    out->p = 1;
    out->entries = 1;
    out->distance_l1 = 1;
    switch (out->statistic) {
    case SOTTO_STATISTIC_HISTOGRAM:
    case SOTTO_STATISTIC_QUANTILES:
        set_bins(out);
        break;
    case SOTTO_STATISTIC_SUM:
        set_sum(out, recipe);
        break;
    case SOTTO_STATISTIC_MEAN:
        set_mean(out);
        break;
    case SOTTO_STATISTIC_COUNT:
        break;
    }
    out->weight = out->one || (out->bins && out->by == SOTTO_BY_COMMITTEE) ? 1 : out->entries;
}

/* ---- noise in shares -------------------------------------------------------------------------------- */

/* log of a bound on P(|X| > t) for a difference X of two Poisson numbers with this variance. It is Chernoff's,
 * with E exp(s X) = exp(variance (cosh s - 1)), at sinh s = t / variance. */
static double log_tail(double t, double variance)
{
    const double x = t / variance;

    return log(2) + variance * (sqrt(1 + x * x) - 1) - t * asinh(x) + 1e-9 * (1 + t);
}

/* log of the chance that any noise is cut at all: far below delta even behind the factor 1 + exp(epsilon) at which a
 * claim charges it (account/claims.h). */
static double log_cut_wanted(const sotto_recipe *recipe)
{
    enum { BESIDE_DELTA = 10 };

    return fmin(LOG2_CUT * log(2), log(sotto_decimal_down(recipe->delta)) -
                                       sotto_decimal_up(recipe->epsilon) - BESIDE_DELTA);
}

/* The mean of each of both numbers, as a fraction, rounded up: more noise than asked for, never less. */
static sotto_status set_shares(sotto_report_content *out, const sotto_recipe *recipe,
                               sotto_err *err)
{
    const double honest = (double)sotto_honest_count(recipe->min_cohort, recipe->honest),
                 sigma = sotto_recipe_sigma(recipe),
                 mean = sotto_round_up(sigma * sigma / (2 * honest), SLACK);
    unsigned shift = 31;

    if (!(honest >= 1) || !(mean < 100000))
        return sotto_fail(err, SOTTO_DENIED,
                          "privacy.sigma: each device's part of the noise is too large");
    while (shift > 0 && ldexp(mean, (int)shift) > 0x1p31)
        shift--;
    out->num = (uint64_t)ceil(ldexp(mean, (int)shift));
    out->den = (uint64_t)1 << shift;
    out->variance = 2 * (double)out->num / (double)out->den;
    const double wanted = log_cut_wanted(recipe) - log(honest * (double)out->entries);
    out->offset = 1;
    while (log_tail((double)out->offset + 1, out->variance) > wanted)
        out->offset += 1 + out->offset / 64;
    out->log_cut = log_tail((double)out->offset + 1, out->variance);
    out->max = out->most + 2 * out->offset;
    out->weight = out->entries;
    return SOTTO_OK;
}

sotto_status sotto_recipe_content(sotto_report_content *out, const sotto_recipe *recipe,
                                  sotto_err *err)
{
    *out = (sotto_report_content){.statistic = recipe->statistic,
                                  .by = recipe->by,
                                  .values = recipe->encoding.bins,
                                  .most = 1};
    if (recipe->by == SOTTO_BY_CROWD)
        SOTTO_TRY(set_randomized(out, recipe, err));
    else
        set_values(out, recipe);
    if (out->distance == 0) /* entries that are 0 or 1, or a single one */
        out->distance = out->entries == 1 ? out->distance_l1 : sqrt(out->distance_l1);
    out->distance = sotto_round_up(out->distance, 1);
    out->max = out->most;
    return recipe->by == SOTTO_BY_SHARES ? set_shares(out, recipe, err) : SOTTO_OK;
}
