/* The m slots of theorem 3.2's proof, composed optimally.
 *
 * Slot i is a binary law with privacy loss +-eps_i, eps_i = log(1 + p0 q_i (e^eps0 - 1)); its transform is
 * E e^{sL} = cosh(eps_i (s + 1/2)) / cosh(eps_i / 2). delta is an integral of the product along a vertical line, and
 * the trapezoid rule overestimates it (its aliases are deltas, hence positive). One more release, a Gaussian one of
 * a vanishing mu, is given to the adversary: that can only add to delta, and makes the integrand fall fast enough
 * for the line to be cut with a bound. docs/decisions/0013 has the terms. */
#include "privacy/checkin.h"

#include "privacy/checkin_check.h"
#include "privacy/special.h"

#include <complex.h>

#define GROUPS_MAX 1400
#define NODES_MAX  16384
#define PI         3.14159265358979323846
/* mu^2 of the extra release, relative to the sum of the eps_i^2: costs half of it in epsilon. */
#define EXTRA 1e-5

/* Slots with nearly the same epsilon: `count` of them around `eps`, within +-width, of variance `variance`. */
typedef struct group {
    double count, eps, width, variance;
    double lift; /* 1 / cosh^2(eps (c + 1/2)) */
} group;

typedef struct composition {
    size_t count;
    group groups[GROUPS_MAX];
    double squares; /* sum of eps_i^2 */
    double sum;     /* sum of eps_i, rounded up */
    double extra;   /* mu^2 of the extra release */
    double slope;   /* sum of eps_i / cosh^2: how fast `damping` can fall */
    double c, step, log_peak;
    size_t nodes;
    double cut; /* the neglected part, relative to the peak */
    double complex *values;
} composition;

/* ---- the slots ---------------------------------------------------------------------------------------- */

typedef struct slots {
    double eps0, m, p0;
} slots;

/* i need not be whole. */
static double slot_eps(const slots *s, double i)
{
    double e = exp(s->eps0), rise = expm1(s->eps0);
    double q = e / (s->m * e - rise * (i - 1));

    return log1p(s->p0 * q * rise);
}

/* Mean and variance over slots first..last by five-point Gauss-Legendre on [first - 1/2, last + 1/2]: within a group
 * epsilon changes by a fraction of a percent, smoothly, so that the sum and the integral agree to 1e-12. */
static group group_of(const slots *s, double first, double last)
{
    static const double node[5] = {-0.90617984593866399, -0.53846931010568309, 0,
                                   0.53846931010568309, 0.90617984593866399};
    static const double weight[5] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                     0.23931433524968324, 0.11846344252809454};
    double middle = (first + last) / 2, half = (last - first + 1) / 2;
    double low = slot_eps(s, first), high = slot_eps(s, last), centre = slot_eps(s, middle);
    double mean = 0, square = 0;
    group g = {last - first + 1, centre, high - low, 0, 0};

    if (first == last)
        return g;
    if (g.count <= 32) {
        for (double i = first; i <= last; i++) {
            double off = slot_eps(s, i) - centre;

            mean += off / g.count;
            square += off * off / g.count;
        }
    } else {
        for (int k = 0; k < 5; k++) {
            double off = slot_eps(s, middle + half * node[k]) - centre;

            mean += weight[k] * off;
            square += weight[k] * off * off;
        }
    }
    g.eps += mean;
    g.variance = fmax(0, square - mean * mean);
    return g;
}

static void group_slots(composition *x, const slots *s)
{
    double e = exp(s->eps0), rise = expm1(s->eps0);
    double fine = s->m <= 1000 ? 0 : s->eps0 / 1000;

    *x = (composition){0};
    for (double first = 1; first <= s->m && x->count < GROUPS_MAX;) {
        double left = s->m * e / rise - (first - 1); /* q_i is in proportion to its inverse */
        double length = fmax(1, floor(fine * left));
        double last = x->count == GROUPS_MAX - 1 ? s->m : fmin(s->m, first + length - 1);
        group g = group_of(s, first, last);

        x->groups[x->count++] = g;
        x->squares += g.count * (g.eps * g.eps + g.variance);
        x->sum += g.count * g.eps;
        first = last + 1;
    }
    x->sum *= 1 + 1e-12;
    x->extra = EXTRA * x->squares;
}

/* ---- the transform ------------------------------------------------------------------------------------ */

static double log_cosh(double x)
{
    x = fabs(x);
    return x < 1e-3 ? x * x / 2 - x * x * x * x / 12 : x + log1p(exp(-2 * x)) - 0.69314718055994531;
}

/* log E e^{cL}, real c > 0, with the extra release. */
static double log_moment(const composition *x, double c)
{
    double sum = x->extra * c * (c + 1) / 2;

    for (size_t i = 0; i < x->count; i++) {
        const group *g = &x->groups[i];
        double w = c + 0.5, a = 1 / cosh(fmin(g->eps * w, 300)), b = 1 / cosh(g->eps / 2);

        sum += g->count * (log_cosh(g->eps * w) - log_cosh(g->eps / 2) +
                           g->variance / 2 * (w * w * a * a - b * b / 4));
    }
    return sum;
}

/* The same at c + it, relative to its value at c. */
static double complex relative_moment(const composition *x, double t)
{
    double log_size = -x->extra * t * t / 2, angle = x->extra * t * (2 * x->c + 1) / 2;

    for (size_t i = 0; i < x->count; i++) {
        const group *g = &x->groups[i];
        double a = g->eps * (x->c + 0.5), b = g->eps * t;
        double thin = tanh(a), sine = sin(b), cosine = cos(b);

        /* |cosh(a + ib)|^2 / cosh(a)^2 = 1 - sin(b)^2 / cosh(a)^2 */
        log_size += g->count * 0.5 * log1p(-sine * sine * g->lift);
        angle += g->count * atan2(thin * sine, cosine);
        if (g->variance > 0) {
            double complex w = x->c + 0.5 + I * t, slope = 1 / (cosine + I * thin * sine);
            double complex bend =
                w * w * slope * slope * g->lift - (x->c + 0.5) * (x->c + 0.5) * g->lift;

            log_size += g->count * g->variance / 2 * creal(bend);
            angle += g->count * g->variance / 2 * cimag(bend);
        }
    }
    return exp(log_size) * (cos(angle) + I * sin(angle));
}

/* At least -2 log of the relative size at t, but for the extra release. */
static double damping(const composition *x, double t)
{
    double sum = 0;

    for (size_t i = 0; i < x->count; i++) {
        const group *g = &x->groups[i];
        double sine = sin(g->eps * t);

        sum += g->count * g->lift * fmax(0, sine * sine - g->width * t);
    }
    return sum;
}

/* ---- delta ---------------------------------------------------------------------------------------------- */

/* RDP's own epsilon at order c + 1. */
static double chernoff_eps(const composition *x, double c, double log_delta)
{
    return (log_moment(x, c) - log_delta + c * log(c) - (c + 1) * log1p(c)) / c;
}

static double choose_line(const composition *x, double log_delta)
{
    double a = log(1e-3 / sqrt(x->squares)), b = log(1e4 / sqrt(x->squares));
    double g = 0.61803398874989484820, c = b - g * (b - a), d = a + g * (b - a);
    double at_c = chernoff_eps(x, exp(c), log_delta), at_d = chernoff_eps(x, exp(d), log_delta);

    for (int i = 0; i < 40 && b - a > 1e-3; i++) {
        if (at_c < at_d) {
            b = d;
            d = c;
            at_d = at_c;
            c = b - g * (b - a);
            at_c = chernoff_eps(x, exp(c), log_delta);
        } else {
            a = c;
            c = d;
            at_c = at_d;
            d = a + g * (b - a);
            at_d = chernoff_eps(x, exp(d), log_delta);
        }
    }
    return exp((a + b) / 2);
}

/* Where the integrand is certainly below e^-50 of its peak it is not evaluated but charged. */
static sotto_status tabulate(composition *x, double log_delta, sotto_err *err)
{
    const double enough = 100;
    double period = (30 - log_delta) / x->c, clear = 0;

    x->step = 2 * PI / period;
    x->log_peak = log_moment(x, x->c);
    for (size_t i = 0; i < x->count; i++) {
        double wide = cosh(fmin(x->groups[i].eps * (x->c + 0.5), 300));

        x->groups[i].lift = 1 / (wide * wide);
        x->slope +=
            x->groups[i].count * (x->groups[i].eps + 2 * x->groups[i].width) * x->groups[i].lift;
    }
    double last = sqrt(enough / x->extra), nodes = ceil(last / x->step);

    if (nodes >= NODES_MAX)
        return sotto_fail(err, SOTTO_DENIED, "m = %g slots at this delta take more than %d nodes",
                          x->sum, NODES_MAX);
    x->nodes = (size_t)nodes;
    x->cut = 0;
    for (size_t k = 0; k < x->nodes; k++) {
        double t = (double)k * x->step;
        double complex s = x->c + I * t;

        x->values[k] = 0;
        if (t < clear) {
            x->cut += exp(-enough / 2) / (t * t);
            continue;
        }
        double damped = damping(x, t);

        if (damped > enough) {
            clear = t + (damped - enough) / x->slope;
            x->cut += exp(-enough / 2) / (t * t);
            continue;
        }
        x->values[k] = relative_moment(x, t) / (s * (s + 1));
    }
    x->cut += exp(-enough / 2) / (last * x->step) * 2;
    return SOTTO_OK;
}

/* The trapezoid sum at eps, and what rounding and the cut may hide; both times e^-log_scale. */
static double trapezoid(const composition *x, double eps, double *doubt)
{
    double sum = creal(x->values[0]) / 2, size = cabs(x->values[0]);
    double scale = x->step / PI;

    for (size_t k = 1; k < x->nodes; k++) {
        double complex v = x->values[k];

        if (v == 0)
            continue;
        double angle = (double)k * x->step * eps;

        sum += creal(v) * cos(angle) + cimag(v) * sin(angle);
        size += cabs(v);
    }
    *doubt = scale * (size * 1e-11 + x->cut);
    return scale * sum;
}

static double log_delta_high(const composition *x, double eps)
{
    double doubt, sum = trapezoid(x, eps, &doubt);

    return log(fmax(0, sum) + doubt) + x->log_peak - x->c * eps;
}

/* Less the aliases: below, at most e^-cP each; above, by Chernoff's bound at 2c. */
static double log_delta_low(const composition *x, double eps)
{
    double doubt, sum = trapezoid(x, eps, &doubt);
    double period = 2 * PI / x->step, once = exp(-x->c * period) / -expm1(-x->c * period);
    double back = exp(x->c * eps - x->log_peak);
    double above = exp(log_moment(x, 2 * x->c) - x->log_peak - x->c * eps);
    double rest = sum - doubt - once * (back + above);

    return rest > 0 ? log(rest) + x->log_peak - x->c * eps : -INFINITY;
}

/* delta falls from `from`, where it must be above the goal (else 0, 0 comes back), to `most`. */
static sotto_bound solve(const composition *x, double (*at)(const composition *, double),
                         double log_delta, double from, double most)
{
    sotto_bound in = {from, most};
    double f_low = at(x, from) - log_delta, f_high = at(x, most) - log_delta;

    if (!(f_low > 0))
        return (sotto_bound){0, 0};
    int side = 0;

    for (int i = 0; i < 60 && in.high - in.low > 1e-11 * in.high; i++) {
        double share = fmin(0.97, fmax(0.03, f_low / (f_low - f_high)));
        double eps = in.low + (in.high - in.low) * (i % 5 == 4 || !(f_high < 0) ? 0.5 : share);
        double f = at(x, eps) - log_delta;

        if (f <= 0) {
            in.high = eps;
            f_high = fmax(f, -1e3);
            f_low = side == 1 ? f_low / 2 : f_low;
            side = 1;
        } else {
            in.low = eps;
            f_low = f;
            f_high = side == -1 ? f_high / 2 : f_high;
            side = -1;
        }
    }
    return in;
}

sotto_status sotto_checkin_fixed_window_optimal(sotto_bound *out, double eps0, double m, double p0,
                                                double log_delta, sotto_err *err)
{
    double complex values[NODES_MAX];
    slots s = {eps0, m, p0};
    composition x;

    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_rate("p0", p0, err));
    SOTTO_TRY(sotto_checkin_check_log("log_delta", log_delta, err));
    group_slots(&x, &s);
    x.values = values;
    x.c = choose_line(&x, log_delta);
    SOTTO_TRY(tabulate(&x, log_delta, err));

    double most = fmin(x.sum, fmax(0, chernoff_eps(&x, x.c, log_delta)) * (1 + 1e-9));
    double high = solve(&x, log_delta_high, log_delta, 0, most).high;

    out->high = high > 0 ? fmin(x.sum, sotto_round_up(high * (1 + SOTTO_ROOT_PAD), 1)) : 0;
    /* Without the extra release: delta(eps) >= delta'(eps + g) - delta_extra(g), by basic composition. */
    double mu = sqrt(x.extra), g = mu * (sqrt(2 * (5 - log_delta)) + mu / 2);
    double low = solve(&x, log_delta_low, log_delta + 0.01, 0.9 * high, most).low - g;

    out->low = fmax(0, fmin(low, out->high) * (1 - SOTTO_ROOT_PAD));
    return SOTTO_OK;
}
