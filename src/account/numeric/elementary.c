#include "account/numeric/elementary.h"

#include "account/numeric/sine_terms.h"
#include "account/numeric/wide.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Adding it rounds to an integer, which then stands in the low bits. */
#define ROUNDER SOTTO_ROUNDER
#define ROUNDED UINT64_C(0x4338000000000000)

/* log 2 in two parts; multiples of the first up to 2^20 are exact. */
#define LN2_1 0.6931471803691238
#define LN2_2 1.9082149292705877e-10

static inline uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^n for the integer n, |n| < 1000, that was added to ROUNDER. */
static inline double power_of_two(double rounded)
{
    return double_of((bits_of(rounded) - ROUNDED + 1023) << 52);
}

/* exp(x) - 1 for |x| < 0.347: Taylor to 1e-18 of x. */
static inline double small_expm1(double x)
{
    double p = 1.0 / 87178291200.0;

    p = p * x + 1.0 / 6227020800.0;
    p = p * x + 1.0 / 479001600.0;
    p = p * x + 1.0 / 39916800.0;
    p = p * x + 1.0 / 3628800.0;
    p = p * x + 1.0 / 362880.0;
    p = p * x + 1.0 / 40320.0;
    p = p * x + 1.0 / 5040.0;
    p = p * x + 1.0 / 720.0;
    p = p * x + 1.0 / 120.0;
    p = p * x + 1.0 / 24.0;
    p = p * x + 1.0 / 6.0;
    return x + (x * x) * (0.5 + x * p);
}

static inline double exp_of(double x)
{
    x = x < -1000 ? -1000 : x;
    x = x > 1000 ? 1000 : x;
    double n = (x * 1.44269504088896340736 + ROUNDER) - ROUNDER;
    double r = (x - n * LN2_1) - n * LN2_2;
    /* In two factors: 2^n alone may not be a double. */
    double half = n * 0.5 + ROUNDER, rest = n - (half - ROUNDER);
    return (power_of_two(half) * (1 + small_expm1(r))) * power_of_two(rest + ROUNDER);
}

static inline double expm1_of(double x)
{
    x = x < -60 ? -60 : x;
    x = x > 700 ? 700 : x;
    double rounded = x * 1.44269504088896340736 + ROUNDER, n = rounded - ROUNDER;
    double r = (x - n * LN2_1) - n * LN2_2, scale = power_of_two(rounded);
    /* 2^n beyond 2^1000 is not made here. */
    return (scale - 1) + scale * small_expm1(r);
}

/* e^x - 1 - x: the series where that would cancel, to 1e-17 of its first term. */
static inline double exp_less_of(double x)
{
    double p = 1.0 / 15;

    p = 1.0 / 14 * (1 + x * p);
    p = 1.0 / 13 * (1 + x * p);
    p = 1.0 / 12 * (1 + x * p);
    p = 1.0 / 11 * (1 + x * p);
    p = 1.0 / 10 * (1 + x * p);
    p = 1.0 / 9 * (1 + x * p);
    p = 1.0 / 8 * (1 + x * p);
    p = 1.0 / 7 * (1 + x * p);
    p = 1.0 / 6 * (1 + x * p);
    p = 1.0 / 5 * (1 + x * p);
    p = 1.0 / 4 * (1 + x * p);
    p = 1.0 / 3 * (1 + x * p);
    double small = x * x * 0.5 * (1 + x * p), large = expm1_of(x) - x;
    large = x > 700 ? (double)INFINITY : large;
    return fabs(x) > 0.5 ? large : small;
}

/* log(1 + f) + k log 2 + rest, -0.2929 <= f < 0.4143: with s = f/(2 + f), log(1 + f) is 2 s times the series of
 * atanh, and 2 s = f - f^2/2 + s f^2/2. */
static inline double log_from(double f, double k, double rest)
{
    double s = f / (2 + f), z = s * s, h = 0.5 * f * f;
    double p = 2.0 / 25;

    p = p * z + 2.0 / 23;
    p = p * z + 2.0 / 21;
    p = p * z + 2.0 / 19;
    p = p * z + 2.0 / 17;
    p = p * z + 2.0 / 15;
    p = p * z + 2.0 / 13;
    p = p * z + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    return k * LN2_1 + (f - (h - (s * (h + z * p) + (k * LN2_2 + rest))));
}

/* x = 2^k m with m from sqrt(1/2) to sqrt(2). */
static inline double split(double x, double *k)
{
    const uint64_t low = UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t up = bits_of(x) - low + (UINT64_C(1023) << 52), exponent = up >> 52;

    *k = double_of(exponent | UINT64_C(0x4330000000000000)) - (4503599627370496.0 + 1023);
    return double_of((up & UINT64_C(0x000fffffffffffff)) + low);
}

static inline double log_of(double x)
{
    double k, m = split(x, &k);

    return log_from(m - 1, k, 0);
}

static inline double log1p_of(double x)
{
    /* 1 + x is u + lost exactly. */
    double u = 1 + x, back = u - x, lost = x < 1 ? x - (u - 1) : 1 - back, k;
    double m = split(u, &k), f = k == 0 ? x : m - 1;

    return log_from(f, k, k == 0 ? 0 : lost / u);
}

/* Multiples of 2^20 pi, up to 2^40 pi, are taken off first. */
static inline void far_sine_terms(double angle, double *square, double *product)
{
    double far = (angle * (0.31830988618379067154 * 0x1p-20) + ROUNDER) - ROUNDER;

    angle = ((angle - far * (SOTTO_PI_1 * 0x1p20)) - far * (SOTTO_PI_2 * 0x1p20)) -
            far * (SOTTO_PI_3 * 0x1p20);
    sotto_sine_terms(angle, square, product);
}

/* The angle whose tangent is small/large, 0 <= small <= large: counted from an eighth of a turn where it is nearer to
 * that. Taylor to 1e-17. Of (0, 0) it is 0. */
static inline double first_angle(double small, double large)
{
    double steep = small > 0.41421356237309504880 * large ? 1 : 0;
    double v = (small - steep * large) / (large + steep * small + 0x1p-1000);
    double z = v * v, p = 1.0 / 45;

    p = 1.0 / 43 - p * z;
    p = 1.0 / 41 - p * z;
    p = 1.0 / 39 - p * z;
    p = 1.0 / 37 - p * z;
    p = 1.0 / 35 - p * z;
    p = 1.0 / 33 - p * z;
    p = 1.0 / 31 - p * z;
    p = 1.0 / 29 - p * z;
    p = 1.0 / 27 - p * z;
    p = 1.0 / 25 - p * z;
    p = 1.0 / 23 - p * z;
    p = 1.0 / 21 - p * z;
    p = 1.0 / 19 - p * z;
    p = 1.0 / 17 - p * z;
    p = 1.0 / 15 - p * z;
    p = 1.0 / 13 - p * z;
    p = 1.0 / 11 - p * z;
    p = 1.0 / 9 - p * z;
    p = 1.0 / 7 - p * z;
    p = 1.0 / 5 - p * z;
    p = 1.0 / 3 - p * z;
    return steep * 0.78539816339744830962 + (steep * 3.061616997868383e-17 + (v - v * (z * p)));
}

/* No branches, so that lanes can go together: each reflection is a factor and a constant in two parts. */
static inline double angle_of(double y, double x)
{
    double a = fabs(x), b = fabs(y);
    double high = b > a ? 1 : 0, back = x < 0 ? 1 : 0, below = y < 0 ? -1 : 1;
    double angle = first_angle(b > a ? a : b, b > a ? b : a);

    angle = high * 1.57079632679489661923 + (high * 6.123233995736766e-17 + (1 - 2 * high) * angle);
    angle =
        back * 3.14159265358979323846 + (back * 1.2246467991473532e-16 + (1 - 2 * back) * angle);
    return below * angle;
}

/* Of each number of an array. The copies for each instruction set stay inside this file: a resolver is a symbol that
 * nobody else should see. */
#define OF_EACH(name)                                                                              \
    SOTTO_WIDE static void name##_over(double *out, const double *x, size_t count)                 \
    {                                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = name##_of(x[i]);                                                              \
    }                                                                                              \
    void sotto_##name##_all(double *out, const double *x, size_t count)                            \
    {                                                                                              \
        name##_over(out, x, count);                                                                \
    }

OF_EACH(exp)
OF_EACH(expm1)
OF_EACH(exp_less)
OF_EACH(log)
OF_EACH(log1p)

SOTTO_WIDE static void turn_over(double *sine, double *versine, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double square, product;
        far_sine_terms(x[i] * 0.5, &square, &product);
        sine[i] = product;
        versine[i] = square;
    }
}

SOTTO_WIDE static void angle_over(double *out, const double *y, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = angle_of(y[i], x[i]);
}

void sotto_turn_all(double *sine, double *versine, const double *x, size_t count)
{
    turn_over(sine, versine, x, count);
}

void sotto_angle_all(double *out, const double *y, const double *x, size_t count)
{
    angle_over(out, y, x, count);
}
