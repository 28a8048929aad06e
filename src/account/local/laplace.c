#include "account/local/laplace.h"

#include "account/numeric/parameter.h"
#include "account/numeric/root.h"

#include <complex.h>
#include <float.h>

#define U (DBL_EPSILON / 2)
/* Roundings of a transform: some twenty operations of a few each, and an angle of up to eps t. */
#define ROUNDINGS 64

typedef struct law {
    double eps, steps;
} law;

/* ---- one release ----------------------------------------------------------------------------------- */

/* (1 - a^j) + a^j (1 - e^-g)/(1 + a), a = e^-u, where eps - eps_total = 2 j u + g, 0 <= g < 2u: what the j largest losses
 * have, and the part of the next. On the real line 1 - e^(-(eps - eps_total)/2). Nothing cancels but the difference. */
static sotto_point curve_at(const void *self, double total)
{
    const law *l = self;
    double left = l->eps - total;

    if (!(left > 0))
        return (sotto_point){{-INFINITY, -INFINITY}, 0};
    double wrong = 2 * U * (l->eps + total) / left + 32 * U, mass = 0;
    if (isinf(l->steps)) {
        mass = -expm1(-left / 2);
    } else {
        double u = l->eps / l->steps, j = floor(left / (2 * u)), g = left - 2 * j * u;

        mass = -expm1(-j * u) + exp(-j * u) * -expm1(-g) / (1 + exp(-u));
        wrong += 8 * U * l->steps * u / left;
    }
    double value = log(mass);

    /* Where the difference is rounding itself the bound above says so, and below nothing is known. */
    return (sotto_point){{wrong < 0.5 ? value + log1p(-wrong) : -INFINITY, fmin(0, value + wrong)},
                         0};
}

static sotto_status check_law(double eps, double steps, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("epsilon of one release", eps, 1e-9, 100, err));
    if (!isinf(steps))
        SOTTO_TRY(sotto_check_count("sensitivity", steps, 1, 1e9, err));
    return SOTTO_OK;
}

sotto_status sotto_laplace_log_delta(sotto_bound *out, double eps, double steps, double eps_total,
                                     sotto_err *err)
{
    SOTTO_TRY(check_law(eps, steps, err));
    SOTTO_TRY(sotto_check_range("total epsilon", eps_total, 0, eps, err));
    *out = curve_at(&(law){eps, steps}, eps_total).value;
    return SOTTO_OK;
}

sotto_status sotto_laplace_epsilon(sotto_bound *out, double eps, double steps, double log_delta,
                                   sotto_err *err)
{
    const law l = {eps, steps};

    SOTTO_TRY(check_law(eps, steps, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    if (curve_at(&l, 0).value.high <= log_delta) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    sotto_root_enclose(out, curve_at, &l, log_delta, 0, eps);
    return SOTTO_OK;
}

/* ---- its transform --------------------------------------------------------------------------------- */

/* 2 e^(-Re(w) x) cosh(w x) and the same of sinh: nothing overflows. */
static double complex scaled_cosh(double x, double w, double t)
{
    double e = exp(-2 * w * x), b = t * x;

    return (1 + e) * cos(b) + I * ((1 - e) * sin(b));
}

static double complex scaled_sinh(double x, double w, double t)
{
    double less = -expm1(-2 * w * x), b = t * x;

    return less * cos(b) + I * ((2 - less) * sin(b));
}

/* 2 e^(-eps Re(w)) N(w + it). */
static double complex scaled(double eps, double steps, double w, double t)
{
    if (isinf(steps))
        return scaled_cosh(eps, w, t) + scaled_sinh(eps, w, t) / (2 * (w + I * t));
    double u = eps / steps;
    double complex middle = 0;

    if (steps > 1)
        middle = exp(-2 * w * u) * scaled_sinh(eps - u, w, t) / scaled_sinh(u, w, t);
    return 2 * (scaled_cosh(eps, w, t) - expm1(-u) * middle);
}

double sotto_laplace_log_transform(double eps, double steps, double w, double *off)
{
    *off += ROUNDINGS * U * (1 + eps * w);
    return eps * w + log(creal(scaled(eps, steps, w, 0)) / 2);
}

void sotto_laplace_turn(double *size, double *angle, double *off, double eps, double steps,
                        double w, double t)
{
    double complex z = scaled(eps, steps, w, t);
    double at_rest = creal(scaled(eps, steps, w, 0)), modulus = cabs(z);

    *size = modulus > 0 ? log(modulus / at_rest) : -700;
    *angle = atan2(cimag(z), creal(z));
    /* Beside a small modulus the roundings of what it is the sum of count. */
    *off = ROUNDINGS * U * (1 + eps * t) * (at_rest / fmax(modulus, 1e-300));
}
