#include "account/gauss/discrete_gaussian.h"

#include "account/numeric/parameter.h"
#include "account/numeric/special.h"

#define U          SOTTO_UNIT_ROUNDOFF
#define TWO_PI_SQR 19.739208802178716 /* 2 pi^2 */
#define EXPLICIT   16384.0            /* terms summed one by one           */
#define FEW        64.0               /* enough of them where a is large   */
#define LARGE      1000.0

/* The integral of exp(a / (x+1)) from `from` to `to` for a <= 1000, from >= 16383: ten terms of the series in
 * a / (x+1) <= 0.062 leave less than 1e-17. */
static double smooth_part(double a, double from, double to)
{
    double p = from + 1, q = to + 1;
    double s = (q - p) + a * log1p((q - p) / p), power = a;

    for (int j = 2; j <= 10; j++) {
        power *= a / j;
        s += power * (pow(p, 1 - j) - pow(q, 1 - j)) / (j - 1);
    }
    return s;
}

/* The terms k = from .. n-1, with e^-a taken out: a convex falling function, so that each is at most its mean over
 * [k - 1/2, k + 1/2], and the trapezoids are at least the integral. */
static sotto_bound many_terms(double a, double from, double n)
{
    double ends = 0.5 * (exp(a / (from + 1)) + exp(a / n));
    sotto_bound b = {smooth_part(a, from, n - 1) + ends, smooth_part(a, from - 0.5, n - 0.5)};

    return b;
}

sotto_status sotto_discrete_gaussian_sum_tau(sotto_bound *out, double sigma, double n,
                                             sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("sigma", sigma, 0.5, 1e9, err));
    SOTTO_TRY(sotto_check_count("n", n, 1, 0x1p53, err));
    double a = TWO_PI_SQR * sigma * sigma;
    int terms = (int)fmin(n, a > LARGE ? FEW : EXPLICIT);
    double stop = terms;
    sotto_sum s = {0, 0};

    for (int k = 1; k < terms; k++)
        sotto_sum_add(&s, exp(-a * (k / (k + 1.0))));
    sotto_bound tau = {sotto_sum_value(&s), sotto_sum_value(&s)};

    if (stop < n && a > LARGE) { /* each is at most the first left out */
        tau.high += n * exp(-a * (stop / (stop + 1)));
    } else if (stop < n) {
        sotto_bound more = many_terms(a, stop, n);

        tau.low += exp(-a) * more.low;
        tau.high += exp(-a) * more.high;
    }
    double error = U * (32 + 8 * a);

    /* exp underflows for large sigma; the smallest double is still an upper bound. */
    out->low = 10 * tau.low * (1 - error);
    out->high = sotto_round_up(10 * tau.high * (1 + error), n > 1 ? 1 : 0);
    return SOTTO_OK;
}

sotto_status sotto_discrete_sum_open(sotto_discrete_sum *out, double sigma, double n,
                                     double dimension, double l1, double l2, sotto_err *err)
{
    sotto_bound tau;

    SOTTO_TRY(sotto_discrete_gaussian_sum_tau(&tau, sigma, n, err));
    SOTTO_TRY(sotto_check_count("dimension", dimension, 1, 1e12, err));
    SOTTO_TRY(sotto_check_range("L2 sensitivity", l2, 1e-9, 1e15, err));
    SOTTO_TRY(sotto_check_range("L1 sensitivity", l1, l2 * (1 - 1e-9),
                                l2 * sqrt(dimension) * (1 + 1e-9), err));
    double size = sqrt(n) * sigma, x = l2 / size, y = l1 / size, d = dimension, t = tau.high;
    double mixed = 0.5 * (x * x + 2 * t * y + t * t * d);
    double apart = 0.5 * (x + t * sqrt(d)) * (x + t * sqrt(d));

    *out = (sotto_discrete_sum){0.5 * x * x, t * d, fmin(mixed, apart)};
    return SOTTO_OK;
}

double sotto_discrete_sum_divergence(const sotto_discrete_sum *sum, double alpha)
{
    return sotto_round_up(fmin(alpha * sum->square + sum->shift, alpha * sum->linear), 16);
}

sotto_status sotto_discrete_gaussian_sum_rdp(sotto_bound *out, double sigma, double n,
                                             double dimension, double l1, double l2, double alpha,
                                             sotto_err *err)
{
    sotto_discrete_sum sum;

    SOTTO_TRY(sotto_discrete_sum_open(&sum, sigma, n, dimension, l1, l2, err));
    SOTTO_TRY(sotto_check_range("order", alpha, 1 + 1e-9, 1e9, err));
    *out = (sotto_bound){0, sotto_discrete_sum_divergence(&sum, alpha)};
    return SOTTO_OK;
}

sotto_status sotto_noise_share(double *out, double sigma, double n, double honest_fraction,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("sigma", sigma, 1e-9, 1e15, err));
    SOTTO_TRY(sotto_check_count("n", n, 1, 0x1p53, err));
    SOTTO_TRY(sotto_check_range("honest fraction", honest_fraction, 0, 1, err));
    /* 0.7 * 10 rounds to 7 although 0.7 is below 7/10: count what is surely there. */
    double honest = fmin(n, floor(honest_fraction * n));

    if (fma(honest_fraction, n, -honest) < 0)
        honest -= 1;
    if (!(honest >= 1))
        return sotto_fail(err, SOTTO_DENIED, "%g honest of %g: nobody is left to bring noise",
                          honest_fraction, n);
    *out = sotto_round_up(sigma / sqrt(honest), 2);
    return SOTTO_OK;
}
