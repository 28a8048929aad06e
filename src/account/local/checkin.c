#include "account/local/checkin.h"

#include "account/local/checkin_check.h"

#define LOG_2 0.69314718055994530942

/* ---- arguments ----------------------------------------------------------------------------------- */

sotto_status sotto_checkin_check_eps0(double eps0, sotto_err *err)
{
    if (!(eps0 >= 1e-9 && eps0 <= SOTTO_CHECKIN_MAX_EPS0))
        return sotto_fail(err, SOTTO_MALFORMED, "eps0 = %g: accepted is 1e-9 to %g", eps0,
                          SOTTO_CHECKIN_MAX_EPS0);
    return SOTTO_OK;
}

sotto_status sotto_checkin_check_log(const char *name, double log_delta, sotto_err *err)
{
    if (!(log_delta >= SOTTO_MIN_LOG_DELTA && log_delta < 0))
        return sotto_fail(err, SOTTO_MALFORMED, "%s = e^%g: accepted is e^%g to 1, 1 excluded",
                          name, log_delta, SOTTO_MIN_LOG_DELTA);
    return SOTTO_OK;
}

sotto_status sotto_checkin_check_count(const char *name, double count, sotto_err *err)
{
    if (!(count >= 1 && count <= SOTTO_CROWD_MAX && count == floor(count)))
        return sotto_fail(err, SOTTO_MALFORMED, "%s = %g: accepted is a whole number of 1 to 1e12",
                          name, count);
    return SOTTO_OK;
}

sotto_status sotto_checkin_check_rate(const char *name, double rate, sotto_err *err)
{
    if (!(rate >= 1e-300 && rate <= 1))
        return sotto_fail(err, SOTTO_MALFORMED, "%s = %g: accepted is above 0 to 1", name, rate);
    return SOTTO_OK;
}

/* ---- the theorems ---------------------------------------------------------------------------------- */

static sotto_bound around(double x)
{
    return (sotto_bound){sotto_round_down(x, 24), sotto_round_up(x, 24)};
}

/* All of them are a^2/2 + a sqrt(2 log 1/delta): heterogeneous advanced composition with a^2 the sum of the
 * squares. */
static sotto_bound advanced(double a, double log_delta)
{
    return around(a * a / 2 + a * sqrt(-2 * log_delta));
}

sotto_bound sotto_checkin_promise(sotto_bound theorem, double eps0)
{
    return (sotto_bound){fmin(theorem.low, eps0), fmin(theorem.high, eps0)};
}

static double fixed_step(double eps0, double m, double p0)
{
    return p0 * expm1(eps0) * sqrt(exp(eps0) / m);
}

sotto_status sotto_checkin_fixed_squares(sotto_bound *out, double eps0, double m, double p0,
                                         sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_rate("p0", p0, err));
    double a = fixed_step(eps0, m, p0);

    *out = around(a * a);
    return SOTTO_OK;
}

sotto_status sotto_checkin_fixed_window(sotto_bound *out, double eps0, double m, double p0,
                                        double log_delta, sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_rate("p0", p0, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    *out = advanced(fixed_step(eps0, m, p0), log_delta);
    return SOTTO_OK;
}

static double averaged_step(double eps0, double n, double m, double log_delta2)
{
    double eps1 = sqrt(1 / n + 1 / m) + sqrt(-log_delta2 / n);

    return exp(2 * eps0) * expm1(eps0) * eps1;
}

sotto_status sotto_checkin_averaged_squares(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                            double m, double log_delta2, sotto_err *err)
{
    double n;

    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_log("delta2", log_delta2, err));
    double a = averaged_step(eps0, n, m, log_delta2);

    *out = around(a * a);
    return SOTTO_OK;
}

sotto_status sotto_checkin_averaged(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                    double m, double log_delta, double log_delta2, sotto_err *err)
{
    double n;

    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    SOTTO_TRY(sotto_checkin_check_log("delta2", log_delta2, err));
    *out = advanced(averaged_step(eps0, n, m, log_delta2), log_delta);
    return SOTTO_OK;
}

sotto_status sotto_checkin_averaged_halves(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                           double m, double log_delta, sotto_err *err)
{
    double half = log_delta - LOG_2 - 1e-9;

    return sotto_checkin_averaged(out, eps0, crowd, m, half, half, err);
}

sotto_status sotto_checkin_sliding_window(sotto_bound *out, double eps0, double m, double log_delta,
                                          sotto_err *err)
{
    return sotto_checkin_fixed_window(out, eps0, m, 1, log_delta, err);
}

sotto_status sotto_checkin_shuffle(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                   double log_delta, sotto_err *err)
{
    double n;

    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    *out = advanced(exp(1.5 * eps0) * expm1(eps0) / sqrt(n), log_delta);
    return SOTTO_OK;
}

sotto_status sotto_checkin_shuffle_2019(sotto_bound *out, double eps0, const sotto_crowd *crowd,
                                        double log_delta, sotto_err *err)
{
    double n;

    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_crowd_honest(&n, crowd, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    double a = 2 * exp(2 * eps0) * expm1(eps0);
    double eps = a * expm1(a / n) + a * sqrt(-2 * log_delta / n);

    if (!(eps < 1e300))
        return sotto_fail(err, SOTTO_DENIED, "eps0 = %g, n = %g: the bound of 2019 overflows", eps0,
                          n);
    *out = around(eps);
    return SOTTO_OK;
}

sotto_status sotto_checkin_printed_max_delta0(sotto_bound *out, double eps0, double log_delta1,
                                              int exponent, sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_checkin_check_log("delta1", log_delta1, err));
    if (exponent != 5 && exponent != 8)
        return sotto_fail(err, SOTTO_MALFORMED, "exponent = %d: accepted is 5 or 8", exponent);
    /* log(1/(1 - e^-x)); for large x the difference from 1 would lose its digits */
    double steps = (LOG_2 - log_delta1) / -log1p(-exp(-exponent * eps0));

    *out = around(-expm1(-eps0) * exp(log_delta1) / (4 * exp(eps0) * (2 + steps)));
    return SOTTO_OK;
}

sotto_status sotto_checkin_approximate(sotto_bound *out, double eps0, double delta0, sotto_err *err)
{
    *out = (sotto_bound){0, INFINITY};
    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    if (!(delta0 > 0 && delta0 < 1))
        return sotto_fail(err, SOTTO_MALFORMED, "delta0 = %g: accepted is above 0 to below 1",
                          delta0);
    return sotto_fail(
        err, SOTTO_DENIED,
        "delta0 = %g: the theorems' condition on delta0 is not established; only pure "
        "randomizers are answered",
        delta0);
}

/* ---- dummy updates --------------------------------------------------------------------------------- */

sotto_status sotto_checkin_dummies_fixed(sotto_bound *out, double n, double m, double p0,
                                         sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_count("n", n, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_rate("p0", p0, err));
    double log_empty = n * log1p(-p0 / m), x = m == 1 && p0 == 1 ? 0 : m * exp(log_empty);
    double off = x * 4e-16 * (4 - (x > 0 ? log_empty : 0));

    *out = (sotto_bound){fmax(0, x - off), x + off};
    return SOTTO_OK;
}

sotto_status sotto_checkin_dummies_sliding(sotto_bound *out, double n, double m, sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_count("n", n, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    if (m > n)
        return sotto_fail(err, SOTTO_MALFORMED, "m = %g: accepted is at most n = %g", m, n);
    double x = m == 1 ? 0 : (n - m + 1) * exp(m * log1p(-1 / m));

    *out = (sotto_bound){x * (1 - 4e-15), x * (1 + 4e-15)};
    return SOTTO_OK;
}
