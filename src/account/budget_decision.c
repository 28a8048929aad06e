#include "account/budget_decision.h"

#include "account/local/filter.h"

#include <math.h>

/* What SQLite's integers hold. */
#define MOST ((uint64_t)INT64_MAX)

/* An (epsilon, delta)-DP release is delta-approximate zCDP with rho = epsilon^2 / 2 (Bun and Steinke 2016, Proposition 1.4 and
 * section 8; Kairouz et al. 2015 for delta above 0). Rhos that are chosen one after the other and add up to no more than a
 * limit are zCDP with that limit. The condition is a Renyi filter's at every order at once (Feldman and Zrnic 2021). It
 * becomes an epsilon by the best order (Canonne et al. 2020, Proposition 12), where the other filter has a closed form. Where
 * the epsilons' sum is within its limit the loss can't pass it, and adds nothing to delta: either is enough here too. */
static sotto_status limit_rho(sotto_pure_filter *filter, double epsilon, double log_slack,
                              sotto_err *err)
{
    sotto_zcdp_filter rho;

    SOTTO_TRY(sotto_zcdp_filter_open(&rho, epsilon, log_slack, err));
    filter->squares_limit = 2 * rho.limit;
    return SOTTO_OK;
}

/* Basic composition is the filter with delta 0. */
static sotto_status open_filter(sotto_pure_filter *filter, const sotto_budget_limit *limit,
                                const sotto_spent *spent, sotto_err *err)
{
    sotto_decimal releases = limit->delta;
    double log_slack = -INFINITY;

    if (limit->composition != SOTTO_COMPOSITION_BASIC) {
        sotto_decimal slack =
            limit->slack.units ? limit->slack : (sotto_decimal){limit->delta.units / 2};

        if (slack.units > 0 && slack.units <= limit->delta.units) {
            releases.units -= slack.units;
            log_slack = log(sotto_decimal_down(slack));
            log_slack = nextafter(nextafter(log_slack, -INFINITY), -INFINITY);
        }
    }
    SOTTO_TRY(sotto_pure_filter_open(filter, limit->epsilon, log_slack, releases, err));
    if (limit->composition == SOTTO_COMPOSITION_ZCDP && filter->squares_limit > 0)
        SOTTO_TRY(limit_rho(filter, sotto_decimal_down(limit->epsilon), log_slack, err));
    filter->eps_spent = spent->epsilon;
    filter->delta_spent = spent->delta;
    filter->squares_spent = spent->squares;
    return SOTTO_OK;
}

/* Deltas are judged separately, so that a refusal names the right one. */
static bool admits(sotto_pure_filter filter, sotto_decimal epsilon)
{
    filter.delta_spent.units = 0;
    return sotto_pure_filter_spend(&filter, epsilon, (sotto_decimal){0}, NULL) == SOTTO_OK;
}

/* The largest epsilon that the filter itself would admit. */
static sotto_decimal still_fits(const sotto_pure_filter *filter)
{
    uint64_t low = 0, high = filter->eps_limit.units;

    while (low < high) {
        uint64_t middle = high - (high - low) / 2;

        if (admits(*filter, (sotto_decimal){middle}))
            low = middle;
        else
            high = middle - 1;
    }
    return (sotto_decimal){low};
}

sotto_status sotto_budget_decide(sotto_budget_decision *out, const sotto_budget_limit *limit,
                                 const sotto_spent *spent, sotto_decimal epsilon,
                                 sotto_decimal delta, sotto_err *err)
{
    sotto_pure_filter filter;

    *out = (sotto_budget_decision){0};
    if (spent->unknown) {
        out->against = SOTTO_BUDGET_UNKNOWN;
        return SOTTO_OK;
    }
    SOTTO_TRY(open_filter(&filter, limit, spent, err));
    out->by_filter = filter.squares_limit > 0;
    out->delta_limit = filter.delta_limit;
    if (filter.delta_spent.units < filter.delta_limit.units)
        out->delta_fits.units = filter.delta_limit.units - filter.delta_spent.units;
    if (spent->reports >= limit->reports)
        out->against |= SOTTO_BUDGET_REPORTS;
    if (!sotto_decimal_fits(spent->delta, delta, filter.delta_limit))
        out->against |= SOTTO_BUDGET_DELTA;
    if (!admits(filter, epsilon)) {
        out->against |= SOTTO_BUDGET_EPSILON;
        out->epsilon_fits = still_fits(&filter);
    }
    return SOTTO_OK;
}

sotto_status sotto_spent_add(sotto_spent *spent, sotto_decimal epsilon, sotto_decimal delta,
                             sotto_err *err)
{
    double e = sotto_decimal_up(epsilon);
    sotto_decimal epsilons, deltas;

    SOTTO_TRY(sotto_decimal_add(&epsilons, spent->epsilon, epsilon, err));
    SOTTO_TRY(sotto_decimal_add(&deltas, spent->delta, delta, err));
    if (epsilons.units > MOST || deltas.units > MOST || spent->reports >= MOST)
        return sotto_fail(err, SOTTO_TOO_LARGE, "more is spent than can be counted");
    spent->epsilon = epsilons;
    spent->delta = deltas;
    spent->squares = nextafter(spent->squares + nextafter(e * e, INFINITY), INFINITY);
    spent->reports++;
    return SOTTO_OK;
}

bool sotto_budget_local_fits(sotto_decimal *asked, sotto_decimal local, sotto_adjacency adjacency,
                             sotto_decimal allowed)
{
    *asked = local;
    if (adjacency == SOTTO_ADJACENCY_DELETION) {
        if (local.units > MOST / 2)
            return false;
        asked->units *= 2;
    }
    return asked->units <= allowed.units;
}
