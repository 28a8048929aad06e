#include "account/local/compose_pure.h"

#include "account/numeric/parameter.h"

/* Ulps that one formula may be off by: fewer than a dozen roundings, none of them cancelling. */
#define SLACK 12

static sotto_status add_deltas(double *total, double each, double times, double log_delta,
                               sotto_err *err)
{
    double sum = sotto_round_up(each * times + exp(log_delta), 4);

    if (!(sum < 1))
        return sotto_fail(err, SOTTO_DENIED, "total delta %g: accepted is below 1", sum);
    if (total)
        *total = sum;
    return SOTTO_OK;
}

sotto_status sotto_compose_advanced(sotto_bound *out, double *total_delta, sotto_advanced form,
                                    double eps, double delta_each, double T, double log_delta,
                                    sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, 700, err));
    SOTTO_TRY(sotto_check_range("delta of one release", delta_each, 0, 1, err));
    SOTTO_TRY(sotto_check_count("T", T, 1, 1e18, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(add_deltas(total_delta, delta_each, T, log_delta, err));
    double drift = form == SOTTO_ADVANCED_DRV ? T * eps * expm1(eps) : 0.5 * T * eps * eps;
    double value = eps * sqrt(-2 * T * log_delta) + drift;

    *out = (sotto_bound){0, sotto_round_up(value, eps > 0 ? SLACK : 0)};
    return SOTTO_OK;
}

sotto_status sotto_donation_formula(sotto_bound *out, double *total_delta, double eps, double m,
                                    double log_delta, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, 700, err));
    SOTTO_TRY(sotto_check_count("slots", m, 1, 1e15, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(add_deltas(total_delta, exp(log_delta), m, log_delta, err));
    double round = log1p(expm1(eps) / m);
    double value = round * sqrt(-2 * m * log_delta) + 0.5 * m * round * round;

    *out = (sotto_bound){0, sotto_round_up(value, eps > 0 ? 2 * SLACK : 0)};
    return SOTTO_OK;
}

sotto_status sotto_donation_epsilon(sotto_bound *out, double *total_delta, double eps, double m,
                                    double log_delta, sotto_err *err)
{
    SOTTO_TRY(sotto_donation_formula(out, total_delta, eps, m, log_delta, err));
    out->high = fmin(out->high, eps); /* a device takes part once: no slot costs more than itself */
    return SOTTO_OK;
}
