#include "account/local/count.h"

#include "account/numeric/parameter.h"
#include "account/numeric/special.h"

/* ---- delta ------------------------------------------------------------------------------------------ */

/* a - e^eps b, where a wrong last digit of the threshold leaves out a cell that adds next to nothing. */
static sotto_bound beyond(sotto_bound a, double eps, sotto_bound b)
{
    const double factor = exp(eps), slack = 1e-14 * a.high;

    return (sotto_bound){fmax(0, a.low - sotto_round_up(factor, 4) * b.high - slack),
                         fmax(0, a.high - sotto_round_down(factor, 4) * b.low + slack)};
}

static sotto_status taking_part_seen(sotto_bound *out, double n, double rate, double eps,
                                     sotto_err *err)
{
    const double last = floor(exp(eps) * (n + 1) * rate); /* k beyond it tells of taking part */
    sotto_bound in, not_in;

    *out = (sotto_bound){0, 0};
    if (last > n)
        return SOTTO_OK;
    SOTTO_TRY(sotto_binomial_upper(&in, last, n, rate, 1 - rate, err)); /* 1 + Bin(n) > last */
    SOTTO_TRY(sotto_binomial_upper(&not_in, last + 1, n + 1, rate, 1 - rate, err));
    *out = beyond(in, eps, not_in);
    return SOTTO_OK;
}

static sotto_status staying_out_seen(sotto_bound *out, double n, double rate, double eps,
                                     sotto_err *err)
{
    const double last = ceil(exp(-eps) * (n + 1) * rate) - 1; /* k up to it tells of staying out */
    sotto_bound in, not_in;

    *out = (sotto_bound){0, 0};
    if (last < 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_binomial_upper(&not_in, n + 1 - last, n + 1, 1 - rate, rate, err));
    /* 1 + Bin(n) <= last */
    SOTTO_TRY(sotto_binomial_upper(&in, n + 1 - last, n, 1 - rate, rate, err));
    *out = beyond(not_in, eps, in);
    return SOTTO_OK;
}

sotto_status sotto_count_delta(sotto_bound *out, double others, double rate, double eps,
                               sotto_err *err)
{
    sotto_bound in, not_in;

    SOTTO_TRY(sotto_check_count("others", others, 1, SOTTO_COUNT_MOST, err));
    SOTTO_TRY(sotto_check_range("rate", rate, 1e-12, 1, err));
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, 100, err));
    *out = (sotto_bound){0, 0};
    if (rate == 1) /* everybody sends: the number says nothing */
        return SOTTO_OK;
    SOTTO_TRY(taking_part_seen(&in, others, rate, eps, err));
    SOTTO_TRY(staying_out_seen(&not_in, others, rate, eps, err));
    *out = (sotto_bound){fmax(in.low, not_in.low), fmin(1, fmax(in.high, not_in.high))};
    return SOTTO_OK;
}

/* ---- the other way round ---------------------------------------------------------------------------- */

static sotto_status keeps(bool *out, double others, double rate, double eps, double log_delta,
                          sotto_err *err)
{
    sotto_bound delta;

    SOTTO_TRY(sotto_count_delta(&delta, others, rate, eps, err));
    *out = delta.high <= sotto_round_down(exp(log_delta), 4);
    return SOTTO_OK;
}

sotto_status sotto_count_eps(sotto_bound *out, double others, double rate, double log_delta,
                             sotto_err *err)
{
    double low = 0, high = 100;
    bool kept;

    *out = (sotto_bound){0, 0};
    SOTTO_TRY(keeps(&kept, others, rate, 0, log_delta, err));
    if (kept)
        return SOTTO_OK;
    *out = (sotto_bound){INFINITY, INFINITY};
    SOTTO_TRY(keeps(&kept, others, rate, high, log_delta, err));
    if (!kept)
        return SOTTO_OK;
    while (high - low > 1e-10 * high) {
        const double middle = low + (high - low) / 2;

        SOTTO_TRY(keeps(&kept, others, rate, middle, log_delta, err));
        *(kept ? &high : &low) = middle;
    }
    *out = (sotto_bound){sotto_round_down(low * (1 - 1e-9), 1), high};
    return SOTTO_OK;
}

sotto_status sotto_count_rate(double *out, double others, double eps, double log_delta,
                              sotto_err *err)
{
    double low = fmax(1e-12, 1e-3 / others), high = 1;
    bool kept;

    *out = 1;
    SOTTO_TRY(keeps(&kept, others, high, eps, log_delta, err)); /* the arguments are accepted */
    while (high > low * (1 + 1e-6)) {
        const double middle = sqrt(low * high);

        SOTTO_TRY(keeps(&kept, others, middle, eps, log_delta, err));
        *(kept ? &high : &low) = middle;
    }
    *out = high;
    return SOTTO_OK;
}
