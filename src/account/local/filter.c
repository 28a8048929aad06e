#include "account/local/filter.h"

#include "account/gauss/rdp.h"
#include "account/numeric/parameter.h"

#define LOG_UP_ULPS 4

/* Sums of what isn't decimal only ever round up. */
static double add_up(double a, double b)
{
    return b > 0 ? sotto_round_up(a + b, 1) : a;
}

sotto_status sotto_pure_filter_open(sotto_pure_filter *f, sotto_decimal eps, double log_delta,
                                    sotto_decimal releases_delta, sotto_err *err)
{
    double squares = 0;

    if (log_delta != -INFINITY) {
        SOTTO_TRY(sotto_check_log_delta(log_delta, err));
        /* x^2/2 + x sqrt(2 L) <= eps, solved for x without a difference. */
        double e = sotto_decimal_down(eps), l = sqrt(-2 * log_delta);
        double x = 2 * e / (l + sqrt(2 * e - 2 * log_delta));

        squares = sotto_round_down(x * x, e > 0 ? 12 : 0);
    }
    if (releases_delta.units >= UINT64_C(1000000000000))
        return sotto_fail(err, SOTTO_MALFORMED, "delta of the releases: accepted is below 1");
    *f = (sotto_pure_filter){eps, {0}, releases_delta, {0}, squares, 0};
    return SOTTO_OK;
}

sotto_status sotto_pure_filter_spend(sotto_pure_filter *f, sotto_decimal eps, sotto_decimal delta,
                                     sotto_err *err)
{
    double e = sotto_decimal_up(eps);
    double squares = add_up(f->squares_spent, eps.units ? sotto_round_up(e * e, 1) : 0);
    bool basic = sotto_decimal_fits(f->eps_spent, eps, f->eps_limit);
    sotto_decimal sum;

    if (!sotto_decimal_fits(f->delta_spent, delta, f->delta_limit))
        return sotto_fail(err, SOTTO_DENIED, "the releases' own deltas would pass their limit");
    if (!basic && !(squares <= f->squares_limit))
        return sotto_fail(err, SOTTO_DENIED, "epsilon %g would pass the limit of %g", e,
                          sotto_decimal_up(f->eps_limit));
    SOTTO_TRY(sotto_decimal_add(&sum, f->eps_spent, eps, err));
    f->eps_spent = sum;
    f->squares_spent = squares;
    f->delta_spent.units += delta.units;
    return SOTTO_OK;
}

sotto_status sotto_zcdp_filter_open(sotto_zcdp_filter *f, double eps, double log_delta,
                                    sotto_err *err)
{
    sotto_bound rho;

    SOTTO_TRY(sotto_zcdp_rho(&rho, eps, log_delta, err));
    *f = (sotto_zcdp_filter){rho.low, 0};
    return SOTTO_OK;
}

sotto_status sotto_zcdp_filter_spend(sotto_zcdp_filter *f, double rho, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("rho", rho, 0, 1e12, err));
    double spent = add_up(f->spent, rho);

    if (!(spent <= f->limit))
        return sotto_fail(err, SOTTO_DENIED, "rho %g would pass the limit of %g: %g is spent", rho,
                          f->limit, f->spent);
    f->spent = spent;
    return SOTTO_OK;
}

sotto_status sotto_rdp_filter_open(sotto_rdp_filter *f, const double *orders, size_t count,
                                   double eps, double log_delta, sotto_err *err)
{
    bool usable = false;

    SOTTO_TRY(sotto_check_range("count of orders", (double)count, 1, SOTTO_FILTER_ORDERS, err));
    double share =
        count > 1 ? sotto_round_down(log_delta - log((double)count), LOG_UP_ULPS) : log_delta;

    *f = (sotto_rdp_filter){.count = count};
    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_rdp_allowance(&f->limit[i], orders[i], eps, share, err));
        f->order[i] = orders[i];
        usable = usable || f->limit[i] > 0;
    }
    if (!usable)
        return sotto_fail(
            err, SOTTO_DENIED,
            "no order given reaches epsilon %g: accepted are orders above 1 + log(1/delta)/epsilon",
            eps);
    return SOTTO_OK;
}

sotto_status sotto_rdp_filter_spend(sotto_rdp_filter *f, const double *r, size_t count,
                                    sotto_err *err)
{
    double spent[SOTTO_FILTER_ORDERS];
    bool within = false;

    if (count != f->count)
        return sotto_fail(err, SOTTO_MALFORMED, "%zu orders: accepted are the filter's %zu", count,
                          f->count);
    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(sotto_check_range("Renyi divergence", r[i], 0, INFINITY, err));
        spent[i] = add_up(f->spent[i], r[i]);
        within = within || spent[i] <= f->limit[i];
    }
    if (!within)
        return sotto_fail(err, SOTTO_DENIED, "the release would pass the limit at every order");
    for (size_t i = 0; i < count; i++)
        f->spent[i] = spent[i];
    return SOTTO_OK;
}

sotto_status sotto_filter_running_epsilon(sotto_bound *out, sotto_err *err)
{
    *out = (sotto_bound){0, INFINITY};
    return sotto_fail(
        err, SOTTO_DENIED,
        "a filter is not an odometer: its formula does not hold at a time chosen by looking; "
        "open an odometer");
}

sotto_status sotto_odometer_open(sotto_odometer *o, double first, unsigned levels, double log_delta,
                                 sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("first level", first, 1e-12, 1e6, err));
    SOTTO_TRY(sotto_check_range("levels", levels, 1, 60, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    *o = (sotto_odometer){first, 0, sotto_round_down(log_delta - log((double)levels), LOG_UP_ULPS),
                          levels};
    return SOTTO_OK;
}

sotto_status sotto_odometer_spend(sotto_odometer *o, double rho, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("rho", rho, 0, 1e12, err));
    o->spent = add_up(o->spent, rho);
    return SOTTO_OK;
}

sotto_status sotto_odometer_read(sotto_bound *out, const sotto_odometer *o, sotto_err *err)
{
    double rho = 0;

    *out = (sotto_bound){0, 0};
    if (o->spent == 0)
        return SOTTO_OK;
    for (int i = 0; i < (int)o->levels; i++) {
        rho = ldexp(o->first, i);
        if (!(o->spent <= rho))
            continue;
        /* Ville's inequality at this level: the tail form of the conversion, which bounds the loss itself. */
        out->high = sotto_round_up(rho + 2 * sqrt(-rho * o->log_delta), 8);
        return SOTTO_OK;
    }
    out->high = INFINITY;
    return sotto_fail(err, SOTTO_DENIED, "rho %g is beyond the odometer's last level, %g", o->spent,
                      rho);
}
