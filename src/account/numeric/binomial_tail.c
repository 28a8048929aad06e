#include "account/numeric/special.h"

static sotto_bound times(sotto_bound ratio, double log_pmf, double error)
{
    return (sotto_bound){sotto_round_down(ratio.low * exp(log_pmf - error), 8),
                         fmin(1, sotto_round_up(ratio.high * exp(log_pmf + error), 8))};
}

/* From the mean on. */
static sotto_status above_mean(sotto_bound *out, double k, double n, double p, double q,
                               sotto_err *err)
{
    double error = 0, log_pmf = sotto_binomial_log_pmf(k, n, p, q, &error);
    sotto_bound ratio;

    SOTTO_TRY(sotto_binomial_tail_ratio(&ratio, k, n, p, q, err));
    *out = times(ratio, log_pmf, error);
    return SOTTO_OK;
}

sotto_status sotto_binomial_upper(sotto_bound *out, double k, double n, double p, double q,
                                  sotto_err *err)
{
    sotto_bound below;

    *out = (sotto_bound){k <= 0, k <= 0};
    if (k <= 0 || k > n)
        return SOTTO_OK;
    if (k > (n + 1) * p - 1)
        return above_mean(out, k, n, p, q, err);
    SOTTO_TRY(above_mean(&below, n - k + 1, n, q, p, err));
    *out = (sotto_bound){sotto_round_down(1 - below.high, 1), sotto_round_up(1 - below.low, 1)};
    return SOTTO_OK;
}
