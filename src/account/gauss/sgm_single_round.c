#include "account/gauss/sgm_single_round.h"

#include "account/numeric/special.h"

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

static sotto_bound padded(double log_delta, double pad)
{
    sotto_bound b = {log_delta - pad, fmin(log_delta + pad, 0)};
    return b;
}

static double log_upper(double z)
{
    return z < 5 ? log(sotto_normal_tail(z)) : -z * z / 2 - 0.91893853320467274178 + log(mills(z));
}

/* weight * Q(a) - other * Q(b), b > a, where other * phi(b) = weight * phi(a). */
static sotto_bound difference(double log_weight, double log_other, double a, double b)
{
    double pad = 32 * U * (4 + a * a + b * b + fabs(log_weight) + fabs(log_other));

    if (a < 0) {
        double whole = log_weight + log_upper(a);
        double part = exp(log_other + log_upper(b) - whole), left = 1 - part;
        /* What is subtracted may be all but everything, or more after rounding: then only its absence
         * is certain. */
        if (!(left > 0 && pad < left / 4))
            return (sotto_bound){-INFINITY, fmin(whole + pad, 0)};
        return padded(whole + log1p(-part), pad * (1 + 2 * part / left));
    }
    double near = mills(a), gap = near - mills(b);
    double wrong = 4 * U * (4 + fmin(a * a, 144)) * near;
    if (!(gap > 4 * wrong))
        return (sotto_bound){-INFINITY, fmin(log_weight - a * a / 2 - 0.918 + log(near) + pad, 0)};
    double value = log_weight - a * a / 2 - 0.91893853320467274178 + log(gap);
    return padded(value, pad + 2 * wrong / gap);
}

static sotto_bound removed(double q, double s, double eps)
{
    /* log of (e^eps - 1 + q)/q, without forming e^eps where it is large. */
    double other = eps < 40 ? log1p(expm1(eps) / q) : eps - log(q) + log1p((q - 1) * exp(-eps));
    double x = 0.5 + s * s * other;

    return difference(log(q), other + log(q), (x - 1) / s, x / s);
}

/* delta where e^-eps - 1 + q is `room`; it grows with room. */
static sotto_bound added(double q, double s, double eps, double room)
{
    double gone = expm1(-eps) / q;
    double ratio = gone > -0.5 ? log1p(gone) : log(room / q), x = 0.5 + s * s * ratio;

    return difference(eps + log(q) + ratio, eps + log(q), -x / s, (1 - x) / s);
}

sotto_bound sotto_sgm_single_log_delta(const sotto_sgm_law *law, double eps)
{
    double q = law->q;

    /* Without sampling both directions are the same Gaussian. */
    if (!law->add || q == 1)
        return removed(q, law->sigma, eps);
    /* room vanishes at the largest loss, -log(1-q): its rounding is carried to both sides. */
    double room = q < 0.5 ? q + expm1(-eps) : exp(-eps) - (1 - q);
    double blur = 4 * U * (q < 0.5 ? q - expm1(-eps) : exp(-eps) + (1 - q));
    sotto_bound out = {-INFINITY, -INFINITY};
    if (room + blur > 0)
        out.high = added(q, law->sigma, eps, room + blur).high;
    if (room - blur > 0)
        out.low = added(q, law->sigma, eps, room - blur).low;
    return out;
}

static double excess_at(const sotto_sgm_law *law, double eps, double wanted, bool high)
{
    sotto_bound b = sotto_sgm_single_log_delta(law, eps);

    return (high ? b.high : b.low) - wanted;
}

/* A bracket of one side's root round `guess`, which is good to about `reach` of itself, in *left and *right; false if the
 * root lies at 0. */
static bool bracket(const sotto_sgm_law *law, double wanted, bool high, double guess, double reach,
                    double *left, double *right)
{
    double first = reach;

    if (excess_at(law, 0, wanted, high) <= 0)
        return false;
    *left = *right = guess;
    for (int i = 0; i < 60 && *left > 0; i++, reach *= 8) {
        *left = reach < 0.5 ? guess * (1 - reach) : reach < 1e6 ? guess / (2 * reach) : 0;
        if (excess_at(law, *left, wanted, high) > 0)
            break;
        *right = *left;
    }
    if (*right < guess)
        return true;
    reach = first;
    for (int i = 0; i < 400 && excess_at(law, *right, wanted, high) > 0; i++, reach *= 8) {
        *left = *right;
        *right *= 1 + reach;
    }
    return true;
}

/* The least eps whose high side is below, or the largest whose low side is above. Secants with the retained end
 * halved; every third step halves the bracket. */
static double search(const sotto_sgm_law *law, double wanted, bool high, double guess, double reach)
{
    double left = 0, right = 0;

    if (!bracket(law, wanted, high, guess, reach, &left, &right))
        return 0;
    double f_left = excess_at(law, left, wanted, high);
    double f_right = excess_at(law, right, wanted, high);
    for (int i = 0; i < 300 && right - left > 1e-15 * right; i++) {
        double mid = left + (right - left) * (f_left / (f_left - f_right));
        if (!(mid > left && mid < right) || i % 3 == 2)
            mid = left + (right - left) / 2;
        double f = excess_at(law, mid, wanted, high);
        if (f <= 0) {
            right = mid;
            f_right = f;
            f_left /= 2;
        } else {
            left = mid;
            f_left = f;
            f_right /= 2;
        }
    }
    return high ? right : left;
}

double sotto_sgm_single_high(const sotto_sgm_law *law, double log_delta)
{
    return search(law, log_delta, true, fmax(law->q / law->sigma, 1e-12), 0.3);
}

sotto_bound sotto_sgm_single_epsilon(const sotto_sgm_law *law, double log_delta)
{
    sotto_bound out = {.high = sotto_sgm_single_high(law, log_delta)};

    out.low = search(law, log_delta, false, out.high > 0 ? out.high : 1e-12, 1e-12);
    return out;
}
