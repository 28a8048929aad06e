#include "recipe/price_rates.h"

#include "account/numeric/shown.h"
#include "base/arena.h"
#include "base/rule.h"
#include "recipe/participation.h"

#include <math.h>

/* What all pairs of rates have in common. */
typedef struct plan {
    const sotto_price_question *question;
    const sotto_recipe *recipe;
    sotto_decimal local_most;
    double devices, rare_share, reports;
} plan;

/* Rates that devices draw exactly enough, and that people can read. */
static double three_digits(double rate)
{
    const double unit = pow(10, floor(log10(rate)) - 2);

    return floor(rate / unit * (1 + 1e-12)) * unit;
}

/* The rate of the default value at which so many reports come in all. */
static double rest_of(const plan *p, double rate_other)
{
    return (p->reports / p->devices - p->rare_share * rate_other) / (1 - p->rare_share);
}

/* ---- one pair --------------------------------------------------------------------------------------- */

/* Squared errors of all bins but the default's, in devices: each count is divided by rate_other. The variance of a
 * count is a straight line over the reports that have it. */
static sotto_status judge_error(sotto_rates *out, const plan *p, double bins, sotto_err *err)
{
    const double s = out->rate_other, rare = p->rare_share * p->devices;
    sotto_report_content content;

    SOTTO_TRY(sotto_recipe_content(&content, &out->recipe, err));
    const sotto_deviation_law law = sotto_deviation_of(&out->recipe, &content, out->reports);
    const double empty = sotto_deviation_count(&law, 0),
                 slope = sotto_deviation_count(&law, 1) - empty;
    out->noise = (bins * empty + slope * rare * s) / (s * s);
    out->draw = rare * (1 - s) / s;
    out->off = sqrt((out->noise + out->draw) / bins);
    return SOTTO_OK;
}

/* The epsilon that is left for a report, and what it comes to. */
static sotto_status try_rates(sotto_rates *out, const plan *p, double rate_default,
                              double rate_other, double bins, sotto_err *err)
{
    sotto_price_question q = *p->question;
    sotto_price_search s;
    sotto_recipe recipe = *p->recipe;

    *out = (sotto_rates){.rate_default = rate_default, .rate_other = rate_other};
    recipe.participation.rate = rate_default;
    recipe.participation.rate_other = rate_other;
    if (rate_default == rate_other)
        recipe.participation = (sotto_participation){.type = SOTTO_POISSON, .rate = rate_other};
    out->silence = sotto_importance_extra(&recipe.participation);
    out->reports = p->devices * (p->rare_share * rate_other + (1 - p->rare_share) * rate_default);
    const uint64_t taken = (uint64_t)ceil(out->silence * 1e12);
    if (taken >= p->local_most.units)
        return SOTTO_OK;
    q.find = SOTTO_PRICE_FIND_ACCURACY;
    q.goal = SOTTO_GOAL_NONE;
    q.rate = rate_other;
    sotto_price_begin(&s, &q, &recipe, SOTTO_BY_CROWD, recipe.randomizer,
                      (sotto_decimal){p->local_most.units - taken});
    SOTTO_TRY(sotto_price_run(&s, err));
    out->found = s.found;
    out->recipe = s.recipe;
    out->epsilon_local = sotto_decimal_up(s.recipe.epsilon_local);
    return s.found ? judge_error(out, p, bins, err) : SOTTO_OK;
}

/* ---- the best --------------------------------------------------------------------------------------- */

static bool is_better(const sotto_rates *a, const sotto_rates *b)
{
    return a->found && (!b->found || a->off < b->off);
}

/* Over the rate of rare values, from one rate for all up to where hardly anybody else answers. The error falls and rises once but for
 * steps of the epsilon, which is in hundredths: a coarse look at all of it, and finer ones around the best. */
static sotto_status search(sotto_rates *best, const plan *p, double bins, sotto_err *err)
{
    enum { STEPS = 24, LOOKS = 3 };
    const double even = p->reports / p->devices;
    double low = even, high = fmin(0.999, 0.9999 * even / p->rare_share);

    for (int look = 0; look < LOOKS && high > low; look++) {
        const double step = pow(high / low, 1.0 / STEPS);

        for (int i = 0; i <= STEPS; i++) {
            const double other = three_digits(low * pow(step, i));
            const double rest = rest_of(p, other);
            sotto_rates at;

            if (!(rest >= 1e-6) || !(rest < other))
                continue;
            SOTTO_TRY(try_rates(&at, p, three_digits(rest), other, bins, err));
            if (is_better(&at, best))
                *best = at;
        }
        if (!best->found)
            return SOTTO_OK;
        low = fmax(low, best->rate_other / step);
        high = fmin(high, best->rate_other * step);
    }
    return SOTTO_OK;
}

/* ---- the plan --------------------------------------------------------------------------------------- */

static sotto_status check(const sotto_price_question *q, const sotto_recipe *recipe, sotto_err *err)
{
    const char *refused = sotto_importance_refused(recipe);
    const double share = recipe->participation.default_share;

    if (SOTTO_RULE(rates_share_known) && !(share > 0 && share < 1))
        return sotto_fail(err, SOTTO_DENIED,
                          "participation: how many answer by importance depends on their values; "
                          "default_share says how many devices have the default one");
    if (SOTTO_RULE(rates_not_refused) && refused)
        return sotto_fail(err, SOTTO_DENIED, "participation: %s", refused);
    if (q->population < recipe->min_cohort)
        return sotto_fail(err, SOTTO_DENIED, "fewer devices than min_cohort");
    return SOTTO_OK;
}

/* The part of delta that a cohort is not filled with is the same for all rates: they expect as many reports. */
static sotto_status check_filling(const plan *p, sotto_err *err)
{
    double chance;

    SOTTO_TRY(sotto_forecast_chance(&chance, (double)p->question->cohort, p->devices,
                                    p->reports / p->devices, err));
    if (SOTTO_RULE(rates_fill_cohorts) && chance < SOTTO_PRICE_FILLED)
        return sotto_fail(err, SOTTO_DENIED,
                          "a cohort of %llu is not filled by %.0f expected reports; ask for a "
                          "smaller --cohort or a larger --rate",
                          (unsigned long long)p->question->cohort, p->reports);
    return SOTTO_OK;
}

static double even_other(const plan *p)
{
    return fmin(0.999, p->reports / (2 * p->rare_share * p->devices));
}

static sotto_status try_all(sotto_rates_plan *out, const plan *p, sotto_err *err)
{
    const double all = p->reports / p->devices;
    const sotto_participation *written = &p->recipe->participation;
    sotto_rates *rates = out->rates, *best = &rates[SOTTO_RATES_BEST];

    SOTTO_TRY(try_rates(&rates[SOTTO_RATES_ONE], p, all, all, out->bins, err));
    SOTTO_TRY(try_rates(&rates[SOTTO_RATES_EVEN], p, all / 2, even_other(p), out->bins, err));
    SOTTO_TRY(try_rates(&rates[SOTTO_RATES_WRITTEN], p, written->rate, written->rate_other,
                        out->bins, err));
    SOTTO_TRY(search(best, p, out->bins, err));
    if (is_better(&rates[SOTTO_RATES_ONE], best))
        *best = rates[SOTTO_RATES_ONE];
    return SOTTO_OK;
}

sotto_status sotto_price_rates(sotto_rates_plan *out, const sotto_price_question *q,
                               const sotto_recipe *recipe, sotto_arena *arena, sotto_err *err)
{
    const sotto_participation *p = &recipe->participation;
    sotto_recipe_verdict *verdict = sotto_arena_take(arena, sizeof *verdict);
    sotto_mistakes *list = sotto_arena_take(arena, sizeof *list);
    sotto_recipe_claim claim;

    *out = (sotto_rates_plan){0};
    if (!verdict || !list)
        return sotto_fail(err, SOTTO_NO_MEMORY, "price");
    SOTTO_TRY(check(q, recipe, err));
    /* For what the query reads; what else it says is about numbers that will change. */
    sotto_err why = {0};
    const sotto_status status =
        sotto_recipe_judge(verdict, &claim, recipe, q->policy, q->streams, list, &why);
    if (status == SOTTO_NO_MEMORY || status == SOTTO_BUG)
        return sotto_fail(err, status, "%s", why.reason);
    plan at = {.question = q,
               .recipe = recipe,
               .local_most = sotto_price_local_most(q->policy, verdict),
               .devices = floor((double)q->population / (double)sotto_recipe_cohorts(recipe)),
               .rare_share = 1 - p->default_share};
    at.reports =
        at.devices *
        (q->rate > 0 ? q->rate : p->default_share * p->rate + at.rare_share * p->rate_other);
    SOTTO_TRY(check_filling(&at, err));
    out->devices = at.devices;
    out->rare = at.rare_share * at.devices;
    const bool own = p->default_bin != SOTTO_NO_VALUE; /* the default is one of the bins */
    out->bins = fmax(
        1, (double)(recipe->statistic == SOTTO_STATISTIC_COUNT ? 1 : recipe->encoding.bins - own));
    SOTTO_TRY(try_all(out, &at, err));
    const sotto_rates *best = &out->rates[SOTTO_RATES_BEST];
    if (!best->found)
        return SOTTO_OK;
    return sotto_price_write(&out->text, &out->fragment, recipe, &best->recipe, arena, err);
}
