#include "account/numeric/special.h"

#define SERIES_FROM 10.0 /* erfcx by its asymptotic series from here on */
#define DROP_TERMS  8    /* odd powers of h in the series of mills_drop  */
#define DROP_LEVELS 150  /* of its continued fraction                    */

/* 1/(x sqrt(pi)) (1 - 1/(2x^2) + 3/(2x^2)^2 - ...): the series envelopes the function, and from x = 10 on the
 * fourteenth term is below 2^-56. */
static double erfcx_series(double x)
{
    double t = 0.5 / x / x;
    double s = 1;

    for (int k = 13; k >= 1; k--)
        s = 1 - (2 * k - 1) * t * s;
    return s * (0.56418958354775628695 / x);
}

double sotto_erfcx(double x)
{
    if (x >= SERIES_FROM)
        return erfcx_series(x);
    /* x^2 in two parts: exp of a rounded square would lose x^2 ulp. */
    double square = x * x;
    double rest = fma(x, x, -square);

    return isinf(square) ? INFINITY : exp(square) * (1 + rest) * erfc(x);
}

double sotto_mills(double x)
{
    return SOTTO_SQRT_HALF_PI * sotto_erfcx(x * 0.70710678118654752440);
}

double sotto_log_tail(double x)
{
    double y = x * 0.70710678118654752440;

    if (x <= 0)
        return log1p(-0.5 * erfc(-y));
    if (x < 1)
        return log(0.5 * erfc(y));
    return log(sotto_mills(x)) - 0.5 * x * x - SOTTO_LOG_SQRT_2PI;
}

double sotto_log_mills(double x)
{
    if (x > -5)
        return log(sotto_mills(x));
    return sotto_log_tail(x) + 0.5 * x * x + SOTTO_LOG_SQRT_2PI;
}

/* ratio[k] = I_k / I_(k-1), I_k(c) the integral of t^k exp(-ct - t^2/2) over t > 0, is k / (c + ratio[k+1]). For
 * c > 3 the start's error shrinks by more than e^-50 on its way down. */
static void moment_ratios(double *ratio, int count, double c)
{
    double r = 0.5 * (sqrt(c * c + 4.0 * DROP_LEVELS) - c);

    for (int k = DROP_LEVELS; k >= 1; k--) {
        r = k / (c + r);
        if (k <= count)
            ratio[k] = r;
    }
}

/* I_1 .. I_count with absolute errors. Forwards, I_(k+1) = k I_(k-1) - c I_k loses too much for large c. */
static void moments(double *value, double *error, int count, double c)
{
    double ratio[2 * DROP_TERMS + 1];

    value[0] = sotto_mills(c);
    error[0] = value[0] * SOTTO_MILLS_ERROR;
    if (c > 3) {
        moment_ratios(ratio, count, c);
        for (int k = 1; k <= count; k++) {
            value[k] = value[k - 1] * ratio[k];
            error[k] = value[k] * (SOTTO_MILLS_ERROR + 8 * k * SOTTO_UNIT_ROUNDOFF);
        }
        return;
    }
    value[1] = 1 - c * value[0];
    error[1] = c * error[0] + 2 * SOTTO_UNIT_ROUNDOFF;
    for (int k = 1; k < count; k++) {
        value[k + 1] = k * value[k - 1] - c * value[k];
        error[k + 1] = k * error[k - 1] + c * error[k] + 3 * k * value[k - 1] * SOTTO_UNIT_ROUNDOFF;
    }
}

/* 2 sum over odd k of h^k I_k(c) / k!, all terms positive. */
static double drop_series(double c, double h, double *error)
{
    double value[2 * DROP_TERMS + 1], slack[2 * DROP_TERMS + 1];
    double power = 2 * h, total = 0, wrong = 0, term = 0;

    moments(value, slack, 2 * DROP_TERMS - 1, c);
    for (int k = 1; k < 2 * DROP_TERMS; k += 2) {
        term = power * value[k];
        total += term;
        wrong += power * slack[k];
        power *= h * h / ((k + 1.0) * (k + 2.0));
    }
    /* I_(k+1)/I_k is at most (k+1)/c and at most sqrt(k+1): what follows falls geometrically. */
    double fall = fmin(h * h / (2.0 * DROP_TERMS), c > 0 ? h / c * (h / c) : 1.0);
    *error = wrong / total + fabs(term) / total * fall / (1 - fall) + 16 * SOTTO_UNIT_ROUNDOFF;
    return total;
}

double sotto_mills_drop(double c, double h, double *error)
{
    double a = c - h, b = c + h;
    double upper = sotto_mills(a), lower = sotto_mills(b);
    double drop = upper - lower;

    if (!(h > 0)) {
        *error = 0;
        return 0;
    }
    if (drop <= upper / 16)
        return drop_series(c, h, error);
    *error = (SOTTO_MILLS_ERROR * (upper + lower) +
              SOTTO_UNIT_ROUNDOFF * (upper * (2 + 2 * a * a) + 2 * lower)) /
             drop;
    return drop;
}

double sotto_log1mexp(double x)
{
    return x < 0.69314718055994530942 ? log(-expm1(-x)) : log1p(-exp(-x));
}

double sotto_log_add(double a, double b)
{
    double top = fmax(a, b), low = fmin(a, b);

    if (isinf(top))
        return top;
    return top + log1p(exp(low - top));
}

double sotto_log_sub(double a, double b)
{
    if (!(a > b))
        return a == b ? -INFINITY : (double)NAN;
    return b == -INFINITY ? a : a + sotto_log1mexp(a - b);
}

void sotto_sum_add(sotto_sum *s, double term)
{
    double next = s->sum + term;

    s->rest += fabs(s->sum) >= fabs(term) ? (s->sum - next) + term : (term - next) + s->sum;
    s->sum = next;
}

double sotto_log_sum(const double *x, size_t count)
{
    double top = -INFINITY;
    sotto_sum s = {0, 0};

    for (size_t i = 0; i < count; i++)
        top = fmax(top, x[i]);
    if (isinf(top))
        return top;
    for (size_t i = 0; i < count; i++)
        sotto_sum_add(&s, exp(x[i] - top));
    return top + log(sotto_sum_value(&s));
}
