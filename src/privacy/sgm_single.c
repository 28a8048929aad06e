#include "privacy/sgm_single.h"

#include <float.h>

#define U (DBL_EPSILON / 2)

/* Mills ratio Q(x)/phi(x), x >= 0. */
static double mills(double x)
{
    if (x < 12)
        return 1.25331413731550025121 * exp(x * x / 2) * erfc(x / 1.41421356237309504880);
    double tail = x;
    for (int k = 40; k >= 1; k--)
        tail = x + k / tail;
    return 1 / tail;
}

static double upper(double z)
{
    return erfc(z / 1.41421356237309504880) / 2;
}

static sotto_bound padded(double log_delta, double pad)
{
    sotto_bound b = {log_delta - pad, fmin(log_delta + pad, 0)};
    return b;
}

/* weight * Q(a) - other * Q(b), b > a, where other * phi(b) = weight * phi(a). */
static sotto_bound difference(double log_weight, double log_other, double a, double b)
{
    double pad = 32 * U * (4 + a * a + b * b + fabs(log_weight));

    if (a < 0) {
        double part = exp(log_other - log_weight) * upper(b) / upper(a);
        if (!(part < 1))
            return padded(-INFINITY, 0);
        return padded(log_weight + log(upper(a)) + log1p(-part), pad * (1 + part / (1 - part)));
    }
    double near = mills(a), gap = near - mills(b);
    double value = log_weight - a * a / 2 - 0.91893853320467274178 + log(gap);
    return padded(value, pad + 4 * U * (4 + fmin(a * a, 144)) * near / gap);
}

sotto_bound sotto_sgm_single_log_delta(const sotto_sgm_law *law, double eps)
{
    double s = law->sigma, q = law->q;

    if (!law->add) {
        double other = log1p(expm1(eps) / q);
        double x = 0.5 + s * s * other;
        return difference(log(q), other + log(q), (x - 1) / s, x / s);
    }
    double room = q + expm1(-eps);
    if (!(room > 4 * U * q))
        return padded(-INFINITY, 0);
    double ratio = log1p(expm1(-eps) / q), x = 0.5 + s * s * ratio;
    sotto_bound b = difference(eps + log(q) + ratio, eps + log(q), -x / s, (1 - x) / s);
    /* Near the largest loss the cancellation in `room` moves x, and delta with it. */
    double moved = 8 * U * (1 + q / room) * (2 + fabs(x) + s);
    b.low -= moved * (1 + fabs(x) / (s * s)) * (1 + s * s);
    b.high += moved * (1 + fabs(x) / (s * s)) * (1 + s * s);
    return b;
}

/* The least eps whose high side is below, or the largest whose low side is above. */
static double search(const sotto_sgm_law *law, double wanted, bool high)
{
    double left = 0, right = 1e-3 * law->q;
    sotto_bound b = sotto_sgm_single_log_delta(law, 0);

    if ((high ? b.high : b.low) <= wanted)
        return 0;
    for (int i = 0; i < 200; i++) {
        b = sotto_sgm_single_log_delta(law, right);
        if ((high ? b.high : b.low) <= wanted)
            break;
        left = right;
        right *= 2;
    }
    for (int i = 0; i < 100 && right - left > 1e-15 * right; i++) {
        double mid = left + (right - left) / 2;
        b = sotto_sgm_single_log_delta(law, mid);
        if ((high ? b.high : b.low) <= wanted)
            right = mid;
        else
            left = mid;
    }
    return high ? right : left;
}

sotto_bound sotto_sgm_single_epsilon(const sotto_sgm_law *law, double log_delta)
{
    sotto_bound out = {search(law, log_delta, false), search(law, log_delta, true)};
    return out;
}
