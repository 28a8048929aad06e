#include "account/numeric/special.h"

#define U               SOTTO_UNIT_ROUNDOFF
#define RATIO_STEPS     100000
#define RATIO_AGREEMENT 1e-13

double sotto_stirling_error(double n)
{
    static const double small[16] = {
        0.0,
        0.081061466795327258220,
        0.041340695955409294094,
        0.027677925684998339149,
        0.020790672103765093112,
        0.016644691189821192163,
        0.013876128823070747999,
        0.011896709945891770095,
        0.010411265261972096497,
        0.0092554621827127329177,
        0.0083305634333628712565,
        0.0075736754879518407950,
        0.0069428401072095298657,
        0.0064089941880042070684,
        0.0059513701127588477356,
        0.0055547335519628013710,
    };

    if (n < 16)
        return small[(int)n];
    /* Stirling's series envelopes; at 16 the next term is 1e-16 of the value. */
    double t = 1 / (n * n);
    double s = 1.0 / 1188;

    s = 1.0 / 1680 - s * t;
    s = 1.0 / 1260 - s * t;
    s = 1.0 / 360 - s * t;
    s = 1.0 / 12 - s * t;
    return s / n;
}

/* x log(x/m) + m - x >= 0, x >= 0, m > 0: the deviance. *error bounds the absolute error, for exact m. */
static double deviance(double x, double m, double *error)
{
    if (!(fabs(x - m) < 0.1 * (x + m))) {
        double value = (x > 0 ? x * log(x / m) : 0) + m - x;

        *error = 4 * U * (x + m) + 4 * U * fabs(value) + (x > 0 ? 4 * U * x * fabs(log(x / m)) : 0);
        return value;
    }
    /* With v = (x-m)/(x+m): (x-m) v + 2 x sum of v^(2j+1) / (2j+1). Where x < m the sum is negative, but at most
     * 4 % of the first term: nothing cancels. */
    double v = (x - m) / (x + m);
    double s = (x - m) * v;
    double e = 2 * x * v;

    for (int j = 1; j < 20; j++) {
        e *= v * v;
        double next = s + e / (2 * j + 1);
        if (next == s)
            break;
        s = next;
    }
    *error = 8 * U * s;
    return s;
}

double sotto_binomial_log_pmf(double k, double n, double p, double q, double *error)
{
    double above = 0, below = 0, unused = 0;

    error = error ? error : &unused;
    *error = 0;
    if (!(k >= 0 && k <= n))
        return -INFINITY;
    if (k == 0 || p == 0) {
        *error = 4 * U * n * p / q + 4 * U * n * p;
        return k == 0 ? n * (p < 0.5 ? log1p(-p) : log(q)) : -INFINITY;
    }
    if (k == n || q == 0) {
        *error = 4 * U * n * q / p + 4 * U * n * q;
        return k == n ? n * (q < 0.5 ? log1p(-q) : log(p)) : -INFINITY;
    }
    double d = deviance(k, n * p, &above) + deviance(n - k, n * q, &below);
    double c = sotto_stirling_error(n) - sotto_stirling_error(k) - sotto_stirling_error(n - k);
    double size = 0.5 * log(n / k / (n - k)) - SOTTO_LOG_SQRT_2PI;

    /* n p and n q carry a rounding and what p and q carried: 6u, times |k - n p| and |n - k - n q|. */
    *error = above + below + 6 * U * (fabs(k - n * p) + fabs(n - k - n * q)) +
             U * (16 + 4 * fabs(size) + 4 * fabs(d));
    return size + c - d;
}

/* The fraction's numerator and denominator of level i >= 0; the numerator of level 0 is 1. With a = k, b = n-k+1,
 * x = p and lambda = a - (a+b) x (Didonato and Morris 1992, equation 9). */
typedef struct level {
    double above;
    double below;
} level;

static level level_at(double i, double a, double b, double x, double y, double lambda)
{
    double odd = a + 2 * i - 1;
    double w = i * (b - i) * x;
    level l;

    l.above = i > 0 ? (a + i - 1) / odd * ((a + b + i - 1) / odd) * (w * x) : 1;
    l.below = i + (i > 0 ? w / odd : 0) + (a + i) / (odd + 2) * (lambda + 1 + i * (1 + y));
    return l;
}

/* From level `steps` down to level 0, with the tail between 0 and its first term. *error is relative. */
static sotto_bound fold_fraction(int steps, double a, double b, double x, double y, double lambda,
                                 double *error)
{
    level last = level_at(steps, a, b, x, y, lambda);
    sotto_bound t = {0, last.above / last.below};

    *error = 0;
    for (int i = steps - 1; i >= 0; i--) {
        level l = level_at(i, a, b, x, y, lambda);
        double low = l.above / (l.below + t.high);

        /* The error below enters through t / (below + t): contracted, never amplified. */
        *error = 16 * U + *error * (t.high / (l.below + t.high));
        t.high = l.above / (l.below + t.low);
        t.low = low;
    }
    return t;
}

static sotto_status enclose_ratio(sotto_bound *out, double k, double n, double p, double q,
                                  sotto_err *err)
{
    double b = n - k + 1;
    double lambda = fma(-(n + 1), p, k);
    double error = 0;
    sotto_bound t = {0, 0};

    for (int wanted = 32;; wanted *= 4) {
        /* Level b is 0: the fraction ends there. */
        int steps = (int)fmin(fmin(wanted, RATIO_STEPS), b);

        t = fold_fraction(steps, k, b, p, q, lambda, &error);
        if (t.high - t.low <= RATIO_AGREEMENT * t.low)
            break;
        if (steps < wanted)
            return sotto_fail(err, SOTTO_DENIED,
                              "tail of Bin(%g, %g) from %g: no agreement within %d steps", n, p, k,
                              RATIO_STEPS);
    }
    /* R grows with p/q at the rate of its mean excess, which is at most R - 1. */
    error += 4 * U * (k * q * t.high + 1) / q + 16 * U;
    out->low = fmax(1, k * q * t.low * (1 - error));
    out->high = k * q * t.high * (1 + error);
    return SOTTO_OK;
}

sotto_status sotto_binomial_tail_ratio(sotto_bound *out, double k, double n, double p, double q,
                                       sotto_err *err)
{
    if (!(k >= 0 && k <= n && n <= 0x1p53 && k == floor(k) && n == floor(n)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "k = %g, n = %g: accepted are integers 0 <= k <= n <= 2^53", k, n);
    if (!(p >= 0 && p <= 1 && q >= 0 && q <= 1 && fabs(p + q - 1) < 1e-15))
        return sotto_fail(err, SOTTO_MALFORMED, "p = %g: accepted is 0 to 1, with q = 1 - p", p);
    if (k == n || p == 0) {
        *out = (sotto_bound){1, 1};
        return SOTTO_OK;
    }
    if (!(k > (n + 1) * p - 1))
        return sotto_fail(err, SOTTO_DENIED, "k = %g: accepted is k > (n + 1) p - 1 = %g", k,
                          (n + 1) * p - 1);
    if (k == 0) {
        double error, log_pmf = sotto_binomial_log_pmf(0, n, p, q, &error);

        out->low = fmax(1, exp(-log_pmf) * (1 - error - 4 * U));
        out->high = exp(-log_pmf) * (1 + error + 4 * U);
        return SOTTO_OK;
    }
    return enclose_ratio(out, k, n, p, q, err);
}
