/* The m slots of theorem 3.2's proof, composed optimally.
 *
 * Slot i is a binary law with privacy loss +-eps_i, eps_i = log(1 + p0 q_i (e^eps0 - 1)); its transform is
 * E e^{sL} = cosh(eps_i (s + 1/2)) / cosh(eps_i / 2). delta is an integral of the product along a vertical line, and
 * the trapezoid rule overestimates it (its aliases are deltas, hence positive). One more release, a Gaussian one of
 * a vanishing mu, is given to the adversary: that can only add to delta, and makes the integrand fall fast enough
 * for the line to be cut with a bound. docs/decisions/0013 has the terms. */
#include "privacy/checkin.h"

#include "privacy/checkin_check.h"
#include "privacy/checkin_slots.h"
#include "privacy/special_check.h"
#include "privacy/special_root.h"

#include <complex.h>

#define NODES_MAX 8192
#define LOOKS_MAX 40000
#define PI        3.14159265358979323846
/* Twice what is charged instead of evaluated, as a logarithm. */
#define ENOUGH 64.0

/* A node of the line that matters. */
typedef struct node {
    double t, re, im;
} node;

typedef struct composition {
    sotto_slots slots;
    double c, step, log_peak;
    size_t nodes;
    double size; /* sum of |value| */
    double off;  /* of the sum, from what groups leave out */
    double cut;  /* the neglected part, relative to the peak */
    sotto_checkin_inflate inflate;
    node line[NODES_MAX];
} composition;

/* ---- delta ---------------------------------------------------------------------------------------------- */

/* RDP's own epsilon at order c + 1. */
static double chernoff_eps(const composition *x, double c, double log_delta)
{
    double off = 0, moment = sotto_slots_log_moment(&x->slots, c, &off);

    return (moment + off - log_delta + c * log(c) - (c + 1) * log1p(c)) / c;
}

typedef struct goal {
    const composition *x;
    double log_delta;
    double (*at)(const composition *, double);
} goal;

static double chernoff_at(const void *self, double log_c)
{
    const goal *g = self;

    return chernoff_eps(g->x, exp(log_c), g->log_delta);
}

static double choose_line(const composition *x, double log_delta)
{
    double size = sqrt(x->slots.squares + x->slots.extra), least;
    goal g = {x, log_delta, NULL};

    return exp(sotto_root_least(chernoff_at, &g, log(0.2 / size), log(1e4 / size), 1e-2, &least));
}

static void keep(composition *x, double t)
{
    sotto_slot_log at = sotto_slots_relative(&x->slots, t);
    double complex s = x->c + I * t;
    double complex v = exp(at.size) * (cos(at.angle) + I * sin(at.angle)) / (s * (s + 1));

    x->line[x->nodes++] = (node){t, creal(v), cimag(v)};
    x->size += cabs(v);
    x->off += cabs(v) * expm1(fmin(at.off, 700));
}

/* Where the integrand is certainly below e^-32 of its peak it is not evaluated but charged: such nodes, and all
 * behind the last, come to no more than e^-32 sum 1/t^2. False if the line takes too many nodes. */
static bool tabulate(composition *x, double log_delta)
{
    double period = (30 - log_delta) / x->c, last = sqrt(ENOUGH / x->slots.extra), off = 0;
    double slope = sotto_slots_damping_slope(&x->slots), k = 0;

    x->step = 2 * PI / period;
    x->log_peak = sotto_slots_log_moment(&x->slots, x->c, &off);
    x->nodes = 0;
    x->size = x->off = 0;
    x->cut = exp(-ENOUGH / 2) * 1.65 / (x->step * x->step);
    for (int looks = 0; k * x->step <= last; looks++, k++) {
        double t = k * x->step, damped = sotto_slots_damping(&x->slots, t);

        if (looks == LOOKS_MAX || x->nodes == NODES_MAX)
            return false;
        if (damped > ENOUGH)
            k = fmax(k, floor((t + (damped - ENOUGH) / slope) / x->step * (1 - 1e-12)) - 1);
        else
            keep(x, t);
    }
    x->log_peak += off;
    x->off += x->size * 2 * off;
    return true;
}

/* The trapezoid sum at eps, and what rounding, the moments of groups and the cut may hide; both relative to the peak. */
static double trapezoid(const composition *x, double eps, double *doubt)
{
    double sum = x->line[0].re / 2, scale = x->step / PI;

    for (size_t k = 1; k < x->nodes; k++) {
        double angle = x->line[k].t * eps;

        sum += x->line[k].re * cos(angle) + x->line[k].im * sin(angle);
    }
    *doubt = scale * (x->size * (1e-11 * x->inflate.rounding + 1e-8 * x->inflate.moments) +
                      x->off * x->inflate.moments + x->cut * x->inflate.cut);
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
    double doubt, off = 0, sum = trapezoid(x, eps, &doubt);
    double period = 2 * PI / x->step, once = exp(-x->c * period) / -expm1(-x->c * period);
    double back = exp(x->c * eps - x->log_peak);
    double far = sotto_slots_log_moment(&x->slots, 2 * x->c, &off);
    double above = exp(far + off - x->log_peak - x->c * eps);
    double rest = sum - doubt - once * (back + above);

    return rest > 0 ? log(rest) + x->log_peak - x->c * eps : -INFINITY;
}

static double miss(const void *self, double eps)
{
    const goal *g = self;

    return g->at(g->x, eps) - g->log_delta;
}

/* delta falls from `from`, where it must be above the goal (else 0, 0 comes back), to `most`. */
static sotto_bound solve(const composition *x, double (*at)(const composition *, double),
                         double log_delta, double from, double most)
{
    goal g = {x, log_delta, at};
    double at_low = miss(&g, from);

    if (!(at_low > 0))
        return (sotto_bound){0, 0};
    return sotto_root_narrow(miss, &g, (sotto_bound){from, most}, at_low, miss(&g, most), 1e-11);
}

/* given: what of the extra release is not extra, but was there. */
static void enclose(sotto_bound *out, composition *x, double given, double log_delta)
{
    x->c = choose_line(x, log_delta);
    sotto_slots_tilt(&x->slots, x->c);
    double most = fmax(0, chernoff_eps(x, x->c, log_delta)) * (1 + 1e-9);

    /* A few slots all but alike, at a large delta: Renyi's own epsilon still holds. */
    if (!tabulate(x, log_delta)) {
        *out = (sotto_bound){0, sotto_round_up(most, 1)};
        return;
    }
    double high = solve(x, log_delta_high, log_delta, 0, most).high;

    out->high = high > 0 ? sotto_round_up(high * (1 + SOTTO_ROOT_PAD), 1) : 0;
    /* Without the extra release: delta(eps) >= delta'(eps + g) - delta_extra(g), by basic composition. */
    double mu = sqrt(fmax(0, x->slots.extra - given)),
           g = mu * (sqrt(2 * (5 - log_delta)) + mu / 2);
    double low = solve(x, log_delta_low, log_delta + (mu > 0 ? 0.01 : 0), 0.9 * high, most).low - g;

    out->low = fmax(0, fmin(low, out->high) * (1 - SOTTO_ROOT_PAD));
}

static const sotto_checkin_inflate as_proved = {1, 1, 1};

sotto_status sotto_checkin_fixed_window_optimal(sotto_bound *out, double eps0, double m, double p0,
                                                double log_delta, sotto_err *err)
{
    return sotto_checkin_fixed_window_optimal_inflated(out, eps0, m, p0, log_delta, &as_proved,
                                                       err);
}

sotto_status sotto_checkin_fixed_window_optimal_inflated(sotto_bound *out, double eps0, double m,
                                                         double p0, double log_delta,
                                                         const sotto_checkin_inflate *inflate,
                                                         sotto_err *err)
{
    composition x;

    x.inflate = *inflate;
    SOTTO_TRY(sotto_checkin_check_eps0(eps0, err));
    SOTTO_TRY(sotto_checkin_check_count("m", m, err));
    SOTTO_TRY(sotto_checkin_check_rate("p0", p0, err));
    SOTTO_TRY(sotto_checkin_check_log("log_delta", log_delta, err));
    sotto_slots_open(&x.slots, eps0, m, p0);
    enclose(out, &x, 0, log_delta);
    out->high = fmin(out->high, x.slots.sum);
    return SOTTO_OK;
}

sotto_status sotto_compose_mixed_epsilon(sotto_bound *out, const sotto_binary_part *parts,
                                         size_t kinds, double mu_squared, double log_delta,
                                         sotto_err *err)
{
    composition x;

    SOTTO_TRY(sotto_check_count("kinds of parts", (double)kinds, 1, SOTTO_MIXED_MOST, err));
    SOTTO_TRY(sotto_check_range("mu squared", mu_squared, 0, 1e12, err));
    SOTTO_TRY(sotto_checkin_check_log("log_delta", log_delta, err));
    for (size_t i = 0; i < kinds; i++) {
        SOTTO_TRY(sotto_check_range("epsilon", parts[i].eps, 1e-9, 100, err));
        SOTTO_TRY(sotto_check_count("count", parts[i].count, 1, 1e12, err));
    }
    x.inflate = as_proved;
    sotto_slots_set(&x.slots, parts, kinds, mu_squared);
    enclose(out, &x, mu_squared, log_delta);
    if (mu_squared == 0)
        out->high = fmin(out->high, x.slots.sum);
    return SOTTO_OK;
}
