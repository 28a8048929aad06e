#include "account/gauss/gaussian.h"

#include "account/numeric/parameter.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#include <float.h>

#define U        SOTTO_UNIT_ROUNDOFF
#define MU_MIN   1e-150
#define MU_MAX   1e7
#define EPS_MAX  1e15
#define FAR_AWAY 1e100 /* eps/mu beyond which only -a^2/2 is left to say */

static double sum_of(const double *terms, const double *scale)
{
    double total = 0;

    for (int i = 0; i < SOTTO_GAUSSIAN_TERMS; i++)
        total += terms[i] * (scale ? scale[i] : 1);
    return total;
}

/* For a < 0 the complement is a sum: 1 - delta = phi(a) (m(-a) + m(b)). Used where that is below 1/2. */
static sotto_bound near_one(double complement, double c, double mu, double a, double b,
                            const double *scale)
{
    double density = exp(-0.5 * a * a - SOTTO_LOG_SQRT_2PI);
    double left = 1 - complement;
    double value = log1p(-complement);
    double terms[SOTTO_GAUSSIAN_TERMS] = {
        [SOTTO_GAUSSIAN_DROP] = complement * 2 * SOTTO_MILLS_ERROR / left,
        [SOTTO_GAUSSIAN_EXPONENT] = complement * U * (8 + 4 * a * a) / left,
        [SOTTO_GAUSSIAN_QUOTIENT] = 2 * U * c * mu * density * sotto_mills(b) / left,
        [SOTTO_GAUSSIAN_LOG] = -4 * U * value,
    };
    double error = sum_of(terms, scale);

    return (sotto_bound){value - error, fmin(0, value + error)};
}

sotto_bound sotto_gaussian_curve(double eps, double mu, const double *scale)
{
    double c = eps / mu, h = 0.5 * mu;
    double a = c - h, b = c + h;

    if (!(c < FAR_AWAY)) /* delta <= Q(a) <= exp(-a^2/2) */
        return (sotto_bound){-INFINITY, fmax(-DBL_MAX, -0.5 * a * a * (1 - 8 * U))};
    if (a < 0) {
        double complement =
            exp(-0.5 * a * a - SOTTO_LOG_SQRT_2PI) * (sotto_mills(-a) + sotto_mills(b));

        if (complement < 0.5)
            return near_one(complement, c, mu, a, b, scale);
    }
    double wrong, drop = sotto_mills_drop(c, h, &wrong);
    double square = 0.5 * a * a, log_drop = log(drop);
    double value = log_drop - square - SOTTO_LOG_SQRT_2PI;
    double terms[SOTTO_GAUSSIAN_TERMS] = {
        [SOTTO_GAUSSIAN_DROP] = wrong,
        [SOTTO_GAUSSIAN_EXPONENT] = 6 * U * square,
        [SOTTO_GAUSSIAN_QUOTIENT] = 2 * U * c * mu * sotto_mills(b) / drop,
        [SOTTO_GAUSSIAN_LOG] = U * (8 + 4 * fabs(log_drop) + 2 * fabs(value)),
    };
    double error = sum_of(terms, scale);

    return (sotto_bound){value - error, fmin(0, value + error)};
}

double sotto_gaussian_slope_eps(double eps, double mu, double log_delta)
{
    double a = eps / mu - 0.5 * mu, b = eps / mu + 0.5 * mu;

    return -exp(sotto_log_mills(b) - 0.5 * a * a - SOTTO_LOG_SQRT_2PI - log_delta);
}

double sotto_gaussian_slope_mu(double eps, double mu, double log_delta)
{
    double a = eps / mu - 0.5 * mu;

    return mu * exp(-0.5 * a * a - SOTTO_LOG_SQRT_2PI - log_delta);
}

sotto_status sotto_gaussian_mu(sotto_bound *out, double sigma, double sensitivity, double releases,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("sigma", sigma, 1e-100, 1e100, err));
    SOTTO_TRY(sotto_check_range("sensitivity", sensitivity, 1e-100, 1e100, err));
    SOTTO_TRY(sotto_check_count("releases", releases, 1, 1e18, err));
    double mu = sensitivity * sqrt(releases) / sigma;
    bool exact = releases == 1 && fma(mu, sigma, -sensitivity) == 0;

    SOTTO_TRY(sotto_check_range("sensitivity sqrt(releases) / sigma", mu, MU_MIN, MU_MAX, err));
    *out = exact ? (sotto_bound){mu, mu}
                 : (sotto_bound){sotto_round_down(mu, 2), sotto_round_up(mu, 2)};
    return SOTTO_OK;
}

static sotto_point curve_in_eps(const void *self, double eps)
{
    const sotto_bound *mu = self;
    sotto_point p;

    p.value.low = sotto_gaussian_curve(eps, mu->low, NULL).low;
    p.value.high = sotto_gaussian_curve(eps, mu->high, NULL).high;
    p.slope = sotto_gaussian_slope_eps(eps, mu->high, 0.5 * (p.value.low + p.value.high));
    return p;
}

sotto_status sotto_gaussian_epsilon(sotto_bound *out, double sigma, double sensitivity,
                                    double releases, double log_delta, sotto_err *err)
{
    sotto_bound mu;

    SOTTO_TRY(sotto_gaussian_mu(&mu, sigma, sensitivity, releases, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    if (sotto_gaussian_curve(0, mu.high, NULL).high <= log_delta) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    /* delta <= Q(a) <= exp(-a^2/2): enough where a = sqrt(2 log(1/delta)). */
    double enough = mu.high * (0.5 * mu.high + sqrt(-2 * log_delta));

    sotto_root_enclose(out, curve_in_eps, &mu, log_delta, 0, sotto_round_up(enough, 6));
    return SOTTO_OK;
}

sotto_status sotto_gaussian_log_delta(sotto_bound *out, double sigma, double sensitivity,
                                      double releases, double eps, sotto_err *err)
{
    sotto_bound mu;

    SOTTO_TRY(sotto_gaussian_mu(&mu, sigma, sensitivity, releases, err));
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, EPS_MAX, err));
    out->low = sotto_gaussian_curve(eps, mu.low, NULL).low;
    out->high = sotto_gaussian_curve(eps, mu.high, NULL).high;
    return SOTTO_OK;
}

/* In 1/mu, which falls as sigma grows. */
static sotto_point curve_in_noise(const void *self, double noise)
{
    const double *eps = self;
    double mu = 1 / noise;
    sotto_point p;

    p.value.low = sotto_gaussian_curve(*eps, sotto_round_down(mu, 1), NULL).low;
    p.value.high = sotto_gaussian_curve(*eps, sotto_round_up(mu, 1), NULL).high;
    p.slope = -mu * sotto_gaussian_slope_mu(*eps, mu, 0.5 * (p.value.low + p.value.high));
    return p;
}

sotto_status sotto_gaussian_sigma(sotto_bound *out, double eps, double log_delta,
                                  double sensitivity, double releases, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, EPS_MAX, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(sotto_check_range("sensitivity", sensitivity, 1e-100, 1e100, err));
    SOTTO_TRY(sotto_check_count("releases", releases, 1, 1e18, err));
    /* Small enough: eps/mu - mu/2 = z, as for epsilon; or delta(0) <= mu / sqrt(2 pi) <= delta. */
    double z = sqrt(-2 * log_delta);
    double by_tail = 2 * eps / (z + sqrt(z * z + 2 * eps));
    double mu = fmax(by_tail, 2.5 * exp(log_delta));
    double least = mu; /* too large a mu: found by doubling, delta -> 1 */

    for (int i = 0; i < 120 && !(sotto_gaussian_curve(eps, least, NULL).low >= log_delta); i++)
        least *= 2;
    if (!(mu >= MU_MIN && sotto_gaussian_curve(eps, least, NULL).low >= log_delta))
        return sotto_fail(
            err, SOTTO_DENIED,
            "epsilon = %g, delta = e^%g: no answer in doubles; accepted is delta >= 1e-150 at "
            "epsilon 0, and delta < 1 - 1e-15",
            eps, log_delta);
    sotto_root_enclose(out, curve_in_noise, &eps, log_delta, 1 / (least * (1 + 4 * U)),
                       1 / (mu * (1 - 16 * U)));
    double size = sensitivity * sqrt(releases);

    out->low = sotto_round_down(out->low * size, 4);
    out->high = sotto_round_up(out->high * size, 4);
    return SOTTO_OK;
}

sotto_status sotto_gaussian_classical_epsilon(sotto_bound *out, double sigma, double sensitivity,
                                              double log_delta, sotto_err *err)
{
    sotto_bound mu;

    SOTTO_TRY(sotto_gaussian_mu(&mu, sigma, sensitivity, 1, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    double eps = sotto_round_up(sqrt(2 * (0.22314355131420975577 - log_delta)) * mu.high, 6);

    if (!(eps <= 1))
        return sotto_fail(err, SOTTO_DENIED,
                          "the classical form gives epsilon %g: it is only proved up to 1", eps);
    *out = (sotto_bound){0, eps};
    return SOTTO_OK;
}

sotto_status sotto_sampled_epsilon(sotto_bound *out, sotto_bound eps, double rate, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon", eps.high, 0, EPS_MAX, err));
    SOTTO_TRY(sotto_check_range("rate", rate, 1e-300, 1, err));
    /* Above 700 e^eps overflows, and log(1 + q (e^eps - 1)) <= eps + log(q + e^-eps (1-q)). */
    double high =
        eps.high < 700 ? log1p(rate * expm1(eps.high)) : eps.high + log(rate + exp(-eps.high));
    double low = eps.low < 700 ? log1p(rate * expm1(fmax(0, eps.low))) : eps.low + log(rate);

    out->high = fmin(eps.high, eps.high < 700 ? sotto_round_up(high, 8)
                                              : high + 8 * U * (eps.high + fabs(log(rate))));
    out->low = fmax(0, eps.low < 700 ? sotto_round_down(low, 8)
                                     : low - 8 * U * (eps.low + fabs(log(rate))));
    return SOTTO_OK;
}
