/* allocation_dd.h - numbers of twice a double's digits, and complex ones: about 31 decimals.
 *
 * Callers:  allocation_reference.c, whose answer is a small difference of two large integrals.
 * Errors:   relative 2^-102 for a product and 2^-104 for a sum of numbers of one sign; no NaN or infinity is
 *           looked after, callers keep their numbers within 1e+-250.
 */
#ifndef SOTTO_TESTS_ALLOCATION_DD_H
#define SOTTO_TESTS_ALLOCATION_DD_H

#include <math.h>

typedef struct dd {
    double hi, lo;
} dd;

typedef struct cdd {
    dd re, im;
} cdd;

static inline dd dd_of(double x)
{
    return (dd){x, 0};
}

static inline dd dd_renorm(double a, double b)
{
    double s = a + b;

    return (dd){s, b - (s - a)};
}

static inline dd dd_add(dd a, dd b)
{
    double s = a.hi + b.hi, v = s - a.hi;
    double e = (a.hi - (s - v)) + (b.hi - v);
    double t = a.lo + b.lo, w = t - a.lo;
    double f = (a.lo - (t - w)) + (b.lo - w);
    dd r = dd_renorm(s, e + t);

    return dd_renorm(r.hi, r.lo + f);
}

static inline dd dd_neg(dd a)
{
    return (dd){-a.hi, -a.lo};
}

static inline dd dd_sub(dd a, dd b)
{
    return dd_add(a, dd_neg(b));
}

static inline dd dd_mul(dd a, dd b)
{
    double p = a.hi * b.hi, e = fma(a.hi, b.hi, -p);

    return dd_renorm(p, e + (a.hi * b.lo + a.lo * b.hi));
}

static inline dd dd_scale(dd a, double power_of_two)
{
    return (dd){a.hi * power_of_two, a.lo * power_of_two};
}

static inline dd dd_div(dd a, dd b)
{
    double q = a.hi / b.hi;
    dd r = dd_sub(a, dd_mul(b, dd_of(q)));
    double q2 = r.hi / b.hi;

    r = dd_sub(r, dd_mul(b, dd_of(q2)));
    return dd_add(dd_renorm(q, q2), dd_of(r.hi / b.hi));
}

static inline cdd cdd_add(cdd a, cdd b)
{
    return (cdd){dd_add(a.re, b.re), dd_add(a.im, b.im)};
}

static inline cdd cdd_mul(cdd a, cdd b)
{
    return (cdd){dd_sub(dd_mul(a.re, b.re), dd_mul(a.im, b.im)),
                 dd_add(dd_mul(a.re, b.im), dd_mul(a.im, b.re))};
}

static inline cdd cdd_times(cdd a, dd b)
{
    return (cdd){dd_mul(a.re, b), dd_mul(a.im, b)};
}

/* z (z + 2): from e^x - 1 to e^2x - 1. */
static inline cdd cdd_double_expm1(cdd z)
{
    return cdd_mul(z, (cdd){dd_add(z.re, dd_of(2)), z.im});
}

/* 1/n for n = 2 .. SOTTO_DD_TERMS. */
#define SOTTO_DD_TERMS 14

static const dd dd_inverse[SOTTO_DD_TERMS - 1] = {{0x1.0000000000000p-1, 0x0.0p+0},
                                                  {0x1.5555555555555p-2, 0x1.5555555555555p-56},
                                                  {0x1.0000000000000p-2, 0x0.0p+0},
                                                  {0x1.999999999999ap-3, -0x1.999999999999ap-57},
                                                  {0x1.5555555555555p-3, 0x1.5555555555555p-57},
                                                  {0x1.2492492492492p-3, 0x1.2492492492492p-57},
                                                  {0x1.0000000000000p-3, 0x0.0p+0},
                                                  {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
                                                  {0x1.999999999999ap-4, -0x1.999999999999ap-58},
                                                  {0x1.745d1745d1746p-4, -0x1.745d1745d1746p-59},
                                                  {0x1.5555555555555p-4, 0x1.5555555555555p-58},
                                                  {0x1.3b13b13b13b14p-4, -0x1.3b13b13b13b14p-58},
                                                  {0x1.2492492492492p-4, 0x1.2492492492492p-58}};

/* How often z must be halved before SOTTO_DD_TERMS terms do: 2^-7 to the 14th over 14! is below 2^-110. */
static inline int dd_halvings(double size)
{
    return size > 0.0078125 ? ilogb(size) + 8 : 0;
}

/* e^z - 1, |z| up to some hundreds. */
static inline cdd cdd_expm1(cdd z)
{
    double size = fmax(fabs(z.re.hi), fabs(z.im.hi));
    int halvings = dd_halvings(size);
    double scale = ldexp(1, -halvings);
    cdd x = {dd_scale(z.re, scale), dd_scale(z.im, scale)};
    cdd sum = {dd_of(1), dd_of(0)};

    /* 1 + x/2 (1 + x/3 (1 + ...)) */
    for (int n = SOTTO_DD_TERMS; n >= 2; n--) {
        sum = cdd_times(cdd_mul(x, sum), dd_inverse[n - 2]);
        sum.re = dd_add(sum.re, dd_of(1));
    }
    sum = cdd_mul(x, sum);
    for (int i = 0; i < halvings; i++)
        sum = cdd_double_expm1(sum);
    return sum;
}

static inline dd dd_expm1(dd x)
{
    return cdd_expm1((cdd){x, {0, 0}}).re;
}

/* To relative precision on both sides of 0: e^-x is not formed as a difference from 1. */
static inline dd dd_exp(dd x)
{
    if (x.hi < 0)
        return dd_div(dd_of(1), dd_add(dd_expm1(dd_neg(x)), dd_of(1)));
    return dd_add(dd_expm1(x), dd_of(1));
}

static inline cdd cdd_exp(cdd z)
{
    cdd turn = cdd_expm1((cdd){{0, 0}, z.im});

    turn.re = dd_add(turn.re, dd_of(1));
    return cdd_times(turn, dd_exp(z.re));
}

static inline cdd cdd_power(cdd z, double whole)
{
    cdd r = {dd_of(1), dd_of(0)};

    for (; whole >= 1; whole = floor(whole / 2)) {
        if (fmod(whole, 2) == 1)
            r = cdd_mul(r, z);
        z = cdd_mul(z, z);
    }
    return r;
}

#endif
