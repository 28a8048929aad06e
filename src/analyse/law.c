/* Tails of sums by the saddlepoint: Lugannani and Rice 1980, in the form that Daniels 1987 gives for whole numbers. */
#include "analyse/law.h"

#include "account/numeric/special.h"

#include <math.h>

/* Cumulants of the law tilted by t, of the sum less entries q. */
typedef struct cumulants {
    double k, k1, k2;
} cumulants;

/* ---- parts of a sum --------------------------------------------------------------------------------- */

/* One bit less q: E exp(t (B - q)), and its derivatives. */
static cumulants bit(double chance, double q, double t)
{
    const double zero = (1 - chance) * exp(-q * t), one = chance * exp((1 - q) * t);

    return (cumulants){zero + one, (1 - q) * one - q * zero,
                       (1 - q) * (1 - q) * one + q * q * zero};
}

/* That of a device that has the value and is drawn with chance `rate`: its logarithm and derivatives. */
static cumulants drawn(double chance, double q, double rate, double t)
{
    const cumulants m = bit(chance, q, t);
    const double all = 1 - rate + rate * m.k, first = rate * m.k1 / all;

    return (cumulants){log(all), first, rate * m.k2 / all - first * first};
}

static void add(cumulants *to, double times, cumulants part)
{
    to->k += times * part.k;
    to->k1 += times * part.k1;
    to->k2 += times * part.k2;
}

/* Noise of one server of a deviation below 1.5, whose law is far from a bell. */
static cumulants small_gaussian(double sigma, double t)
{
    enum { REACH = 64 };
    const double middle = round(sigma * sigma * t);
    double sum = 0, first = 0, second = 0, none = 0, mean, top;

    top = middle * t - middle * middle / (2 * sigma * sigma);
    for (int i = -REACH; i <= REACH; i++) {
        const double x = middle + i, weight = exp(x * t - x * x / (2 * sigma * sigma) - top);

        sum += weight;
        first += weight * x;
        second += weight * x * x;
        none += exp(-(double)i * i / (2 * sigma * sigma));
    }
    mean = first / sum;
    return (cumulants){top + log(sum / none), mean, second / sum - mean * mean};
}

static void add_noise(cumulants *to, const sotto_sum_law *law, double t)
{
    const double v = law->gaussian;

    if (v > 0 && law->sigma < 1.5)
        add(to, v / (law->sigma * law->sigma), small_gaussian(law->sigma, t));
    else
        add(to, 1, (cumulants){v * t * t / 2, v * t, v});
    if (law->skellam > 0)
        add(to, law->skellam, (cumulants){cosh(t) - 1, sinh(t), cosh(t)});
}

static cumulants at(const sotto_sum_law *law, double f, double t)
{
    cumulants c = {0, 0, 0};

    if (law->normal) {
        const double v = law->variance + law->slope * f;

        add(&c, 1,
            (cumulants){f * (law->p - law->q) * t + v * t * t / 2, f * (law->p - law->q) + v * t,
                        v});
    } else if (law->p == 1 && law->q == 0 && law->rate == 1) {
        add(&c, f, (cumulants){t, 1, 0});
    } else {
        add(&c, f / law->rate, drawn(law->p, law->q, law->rate, t));
        if (law->q > 0)
            add(&c, fmax(law->entries - f, 0), drawn(law->q, law->q, 1, t));
    }
    add_noise(&c, law, t);
    return c;
}

double sotto_law_deviation(const sotto_sum_law *law, double f)
{
    return sqrt(fmax(at(law, f, 0).k2, 0));
}

/* ---- tails ------------------------------------------------------------------------------------------ */

/* t with k1(t) = x: k1 rises. Newton's steps within bounds that shrink. */
static double saddlepoint(const sotto_sum_law *law, double f, double x, cumulants *c)
{
    double low = -200, high = 200, t = 0;

    *c = at(law, f, 0);
    if (c->k2 > 0)
        t = fmin(fmax((x - c->k1) / c->k2, -1), 1);
    for (int i = 0; i < 100; i++) {
        *c = at(law, f, t);
        const double off = x - c->k1;
        if (fabs(off) <= 1e-9 * sqrt(c->k2) || !isfinite(off) || high - low < 1e-13)
            break;
        if (off > 0)
            low = t;
        else
            high = t;
        const double next = c->k2 > 0 ? t + off / c->k2 : high;
        t = next > low && next < high ? next : (low + high) / 2;
    }
    return t;
}

/* The tail on this side of x, which lies between two whole numbers. */
static double tail(const sotto_sum_law *law, double f, double x, int side)
{
    cumulants c;
    const double t = saddlepoint(law, f, x, &c), w2 = 2 * (t * x - c.k),
                 w = copysign(sqrt(fmax(w2, 0)), t), u = 2 * sinh(t / 2) * sqrt(c.k2);

    if (fabs(t) > 199) /* no sum is beyond x */
        return side * t > 0 ? 0 : 1;
    if (fabs(w) < 1e-4 || !isfinite(u))
        return sotto_normal_tail(side * w);
    const double more = exp(-w * w / 2) / sqrt(2 * acos(-1)) * (1 / u - 1 / w);
    return fmin(fmax(sotto_normal_tail(side * w) + side * more, 0), 1);
}

double sotto_law_upper(const sotto_sum_law *law, double f, double s)
{
    return tail(law, f, s - 0.5 - law->entries * law->q, 1);
}

double sotto_law_lower(const sotto_sum_law *law, double f, double s)
{
    return tail(law, f, s + 0.5 - law->entries * law->q, -1);
}
