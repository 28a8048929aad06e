#include "account/local/sampling.h"

#include "account/local/checkin_check.h"

static double amplified(double eps, double rate)
{
    /* For large eps e^eps overflows, and the sum is the log of rate plus eps to the last digit. */
    return eps > 700 ? eps + log(rate) + exp(-700) : log1p(rate * expm1(eps));
}

sotto_status sotto_sampled_eps(sotto_bound *out, sotto_bound eps, double rate, sotto_err *err)
{
    if (!(eps.high >= 0 && eps.high < INFINITY && eps.low <= eps.high))
        return sotto_fail(err, SOTTO_MALFORMED, "eps = %g: accepted is 0 to below infinity",
                          eps.high);
    SOTTO_TRY(sotto_checkin_check_rate("rate", rate, err));
    out->low = fmax(0, sotto_round_down(amplified(fmax(0, eps.low), rate), 8));
    out->high = eps.high == 0 ? 0 : fmin(eps.high, sotto_round_up(amplified(eps.high, rate), 8));
    return SOTTO_OK;
}

sotto_status sotto_sampled_clone_eps(sotto_bound *out, const sotto_clone_law *law,
                                     const sotto_crowd *cohort, double rate, double log_delta,
                                     sotto_err *err)
{
    sotto_bound base = {0, 0};

    SOTTO_TRY(sotto_checkin_check_rate("rate", rate, err));
    SOTTO_TRY(sotto_checkin_check_log("delta", log_delta, err));
    double each = sotto_round_down(log_delta - log(rate), 4);

    if (each < 0) /* delta reaches the rate: then being in the sample at all is covered by it */
        SOTTO_TRY(sotto_clone_eps(&base, law, cohort, each, err));
    return sotto_sampled_eps(out, base, rate, err);
}

/* Chernoff's bound: more than this share of n devices is in the sample with a chance of at most e^-(n d). d is the distance
 * (Kullback-Leibler) of coins with these two chances. It falls as n grows, so that a population which is larger than stated does no
 * harm; the exact tail need not. */
static double distance(double share, double rate)
{
    double out = share < 1 ? (1 - share) * (log1p(-share) - log1p(-rate)) : 0;

    return share * log(share / rate) + out;
}

sotto_status sotto_sampled_share(double *out, double population, double rate, double log_miss,
                                 sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_count("population", population, err));
    SOTTO_TRY(sotto_checkin_check_rate("rate", rate, err));
    SOTTO_TRY(sotto_checkin_check_log("miss", log_miss, err));
    /* The distance is a difference of two that are close: its error is below 1e-14, absolute. */
    const double wanted = sotto_round_up(-log_miss / population, 8) + 1e-14;
    double low = rate, high = 1;

    *out = 1;
    if (rate == 1 || distance(1, rate) < wanted)
        return SOTTO_OK;
    for (unsigned i = 0; i < 60; i++) {
        double middle = low + (high - low) / 2;

        if (distance(middle, rate) >= wanted)
            high = middle;
        else
            low = middle;
    }
    *out = fmin(1, sotto_round_up(high, 8));
    return SOTTO_OK;
}

sotto_status sotto_sampled_fewest(double *out, double sample, double rate, double log_miss,
                                  sotto_err *err)
{
    double low = 0, high = sample, share;

    SOTTO_TRY(sotto_checkin_check_count("sample", sample, err));
    /* The most that n devices send grows with n; too few of them send fewer than `sample`. */
    for (unsigned i = 0; i < 100; i++) {
        SOTTO_TRY(sotto_sampled_share(&share, high, rate, log_miss, err));
        if (high * share >= sample)
            break;
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const double middle = floor(low + (high - low) / 2);

        SOTTO_TRY(sotto_sampled_share(&share, middle, rate, log_miss, err));
        *(middle * share >= sample ? &high : &low) = middle;
    }
    *out = fmax(1, low);
    return SOTTO_OK;
}

sotto_status sotto_importance_rates(sotto_importance *out, double wanted, double population,
                                    double gamma, sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_count("wanted", wanted, err));
    SOTTO_TRY(sotto_checkin_check_count("population", population, err));
    SOTTO_TRY(sotto_checkin_check_rate("gamma", gamma, err));
    if (wanted > 2 * population)
        return sotto_fail(err, SOTTO_MALFORMED, "wanted = %g: accepted is at most 2 x population",
                          wanted);
    out->rate_default = fmin(1, sotto_round_up(wanted / (2 * population), 1));
    out->rate_other = fmin(1, sotto_round_up(wanted / (2 * gamma * population), 2));
    return SOTTO_OK;
}

sotto_status sotto_importance_eps(sotto_bound *out, double *log_delta, sotto_bound eps,
                                  double log_delta_each, const sotto_importance *rates,
                                  sotto_importance_adjacency adjacency, sotto_err *err)
{
    double a = rates->rate_default, b = rates->rate_other;
    sotto_bound one, other;

    SOTTO_TRY(sotto_checkin_check_log("delta_each", log_delta_each, err));
    if (!(b >= a))
        return sotto_fail(err, SOTTO_MALFORMED, "rate_other = %g: accepted is at least %g", b, a);
    SOTTO_TRY(sotto_sampled_eps(&one, eps, a, err));
    SOTTO_TRY(sotto_sampled_eps(&other, eps, b, err));
    if (adjacency == SOTTO_IMPORTANCE_ADD_REMOVE) {
        *out = other;
        *log_delta = log_delta_each + log(b);
        return SOTTO_OK;
    }
    if (adjacency != SOTTO_IMPORTANCE_REPLACEMENT)
        return sotto_fail(err, SOTTO_MALFORMED, "adjacency %d: accepted is 1 or 2", (int)adjacency);
    /* Group privacy for two different steps, the costlier order of the two: delta_1 + e^eps_1 delta_2. */
    out->low = other.low;
    out->high = sotto_round_up(one.high + other.high, 1);
    *log_delta = sotto_round_up(log_delta_each + log(b + exp(other.high) * b), 8);
    return SOTTO_OK;
}

/* Of m rounds, each `round`-DP: the appendix's composition. */
static sotto_status compose(sotto_bound *out, double round, double m, double log_delta_each,
                            sotto_err *err)
{
    SOTTO_TRY(sotto_checkin_check_log("delta_each", log_delta_each, err));
    double x = round * sqrt(-2 * log_delta_each * m) + m * round * round / 2;

    *out = (sotto_bound){sotto_round_down(x, 16), sotto_round_up(x, 16)};
    return SOTTO_OK;
}

static sotto_status check_donation(double eps, double m, sotto_err *err)
{
    if (!(eps >= 1e-12 && eps <= 100))
        return sotto_fail(err, SOTTO_MALFORMED, "eps = %g: accepted is 1e-12 to 100", eps);
    return sotto_checkin_check_count("m", m, err);
}

static void at_most(sotto_bound *out, double eps)
{
    out->low = fmin(out->low, eps);
    out->high = fmin(out->high, eps);
}

sotto_status sotto_donation_eps(sotto_bound *out, double eps, double m, double log_delta_each,
                                sotto_err *err)
{
    SOTTO_TRY(check_donation(eps, m, err));
    return compose(out, log1p(expm1(eps) / m), m, log_delta_each, err);
}

sotto_status sotto_donation_promise(sotto_bound *out, double eps, double m, double log_delta_each,
                                    sotto_err *err)
{
    SOTTO_TRY(sotto_donation_eps(out, eps, m, log_delta_each, err));
    at_most(out, eps);
    return SOTTO_OK;
}

sotto_status sotto_donation_share_promise(sotto_bound *out, double eps, double m, double share,
                                          double log_delta_each, sotto_err *err)
{
    SOTTO_TRY(check_donation(eps, m, err));
    SOTTO_TRY(sotto_checkin_check_rate("share", share, err));
    const double round = log1p(expm1(eps) * share) - log1p(expm1(-eps) * share);

    SOTTO_TRY(compose(out, sotto_round_up(round, 8), m, log_delta_each, err));
    at_most(out, eps);
    return SOTTO_OK;
}
