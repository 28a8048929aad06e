#include "account/gauss/discrete_gaussian.h"

#include "account/gauss/gaussian.h"
#include "account/numeric/parameter.h"
#include "account/numeric/root.h"
#include "account/numeric/special.h"

#define U            SOTTO_UNIT_ROUNDOFF
#define BLOCK        64 /* terms by recurrence between two by exp */
#define COARSE_SIGMA 64.0
#define ROOT_SIGMA   4096.0
#define LEFT_SIGMAS  37.0 /* masses below -37 sigma are e^-684, and that one is still a double */
#define TAIL_STOP    1e-17
#define TERMS_MAX    2e6
#define TWO_PI_SQR   19.739208802178716 /* 2 pi^2 */
#define LOG_DROPPED  -680.0

typedef struct lattice {
    double sigma, sensitivity;
    double limit; /* largest sigma to be summed term by term */
    const double *scale;
} lattice;

/* log of the sum of exp(-x^2 / (2 sigma^2)) over all integers: directly, or by Poisson's summation. */
static double log_norm(double sigma)
{
    double s = 0;

    if (sigma < 1) {
        for (int x = 12; x >= 1; x--)
            s += 2 * exp(-0.5 * x * x / (sigma * sigma));
        return log1p(s);
    }
    for (int k = 3; k >= 1; k--)
        s += 2 * exp(-TWO_PI_SQR * sigma * sigma * k * k);
    return log(sigma) + SOTTO_LOG_SQRT_2PI + log1p(s);
}

typedef struct partial {
    double masses;   /* sum of w(x) / w(start)                    */
    double positive; /* the same, times 1 - exp(-kappa (x - edge)) */
    double rest;     /* bound on what follows                     */
    double count;
} partial;

/* From x = start on, relative to w(start) where start > 0. */
static partial sum_lattice(double start, double edge, double sigma, double kappa)
{
    double base = fmax(0, start), variance = sigma * sigma;
    double step = exp(-1 / variance), thin = -expm1(-kappa);
    partial p = {0, 0, 0, 0};

    for (double x = start; p.count < TERMS_MAX;) {
        double w = exp(-0.5 * (x - base) * (x + base) / variance);
        double ratio = exp(-(x + 0.5) / variance);
        double g = -expm1(-kappa * (x - edge));
        double masses = 0, positive = 0;

        for (int i = 0; i < BLOCK; i++) {
            masses += w;
            positive += w * g;
            w *= ratio;
            ratio *= step;
            g += (1 - g) * thin;
        }
        p.masses += masses;
        p.positive += positive;
        p.count += BLOCK;
        x += BLOCK;
        /* Masses fall by ratio < 1 and ever faster: what follows is at most w / (1 - ratio). */
        p.rest = ratio < 1 ? w / (-expm1(-(x + 0.5) / variance)) : INFINITY;
        if (p.rest <= TAIL_STOP * p.positive)
            break;
    }
    return p;
}

/* Just below the epsilon at which a mass stops counting, on a coarse lattice, very little is left. It may be
 * smaller than any double, or than the rounding of where that epsilon is. */
static sotto_bound nothing_left(const partial *p, double edge_error, double outside)
{
    double most = p->masses * edge_error + p->rest + 1e-300;

    return (sotto_bound){-INFINITY, fmin(0, log(most) - outside + 1e-12 * (1 + fabs(outside)))};
}

static sotto_bound exact_curve(const lattice *q, double eps, double *slope)
{
    double s = q->sigma, d = q->sensitivity;
    double lean = eps * (s * s / d), edge = lean - 0.5 * d;
    double start = fmax(ceil(edge), -floor(LEFT_SIGMAS * s)), kappa = d / (s * s);
    partial p = sum_lattice(start, edge, s, kappa);
    double square = start > 0 ? 0.5 * (start / s) * (start / s) : 0;
    double edge_error = 4 * U * (lean + d) * kappa;

    *slope = -fmax(0, p.masses - p.positive) / p.positive;
    if (!(p.positive > p.masses * edge_error))
        return nothing_left(&p, 2 * edge_error, square + log_norm(s));
    double value = log(p.positive) - square - log_norm(s);
    double terms[SOTTO_LATTICE_TERMS] = {
        /* 64 products: ratio is off by 64u at most, and a mass by their sum. */
        [SOTTO_LATTICE_TERM] = U * (BLOCK * BLOCK + 8 * BLOCK + p.count / BLOCK),
        [SOTTO_LATTICE_EXPONENT] = 4 * U * (2 * square + 50),
        [SOTTO_LATTICE_EDGE] = edge_error * (fmax(0, p.masses - p.positive) / p.positive + 1),
        [SOTTO_LATTICE_TAIL] = p.rest / p.positive,
        [SOTTO_LATTICE_NORM] = U * (16 + 4 * fabs(value) + 4 * log1p(s)),
    };
    double error = 0;

    for (int i = 0; i < SOTTO_LATTICE_TERMS; i++)
        error += terms[i] * (q->scale ? q->scale[i] : 1);
    /* What lies left of the start, if it was moved, is below e^-680 of everything. */
    double dropped = start > ceil(edge) ? exp(LOG_DROPPED) : 0;

    return (sotto_bound){error < 1 ? value + log1p(-error) : -INFINITY,
                         fmin(0, value + error + dropped)};
}

/* The positive part of w(x) - e^eps w(x + d) is log-concave, so its lattice sum is within its largest value of its
 * integral, which is the continuous Gaussian's delta. That value is at most w(edge) min(1, d / (e edge)). */
static sotto_bound wide_curve(const lattice *q, double eps)
{
    double s = q->sigma, d = q->sensitivity;
    double edge = eps * (s * s / d) - 0.5 * d;
    sotto_bound mu = {sotto_round_down(d / s, 1), sotto_round_up(d / s, 1)};
    sotto_bound b = {sotto_gaussian_curve(eps, mu.low, NULL).low,
                     sotto_gaussian_curve(eps, mu.high, NULL).high};
    double square = edge > 0 ? 0.5 * (edge / s) * (edge / s) : 0;
    double top = edge > 0 ? fmin(0, log(d / edge) - 1) : 0;
    double most = top - square * (1 - 8 * U) - log(s) - SOTTO_LOG_SQRT_2PI + 1e-14;

    b.low = b.low > most ? sotto_log_sub(b.low, most) - 1e-14 : -INFINITY;
    b.high = fmin(0, sotto_log_add(b.high, most) + 1e-14 + 4 * U * fabs(b.high));
    return b;
}

static sotto_point curve_in_eps(const void *self, double eps)
{
    const lattice *q = self;
    sotto_point p;

    if (q->sigma <= q->limit) {
        p.value = exact_curve(q, eps, &p.slope);
        return p;
    }
    p.value = wide_curve(q, eps);
    p.slope = sotto_gaussian_slope_eps(eps, q->sensitivity / q->sigma, p.value.high);
    return p;
}

static sotto_status check_lattice(double sigma, double sensitivity, sotto_err *err)
{
    SOTTO_TRY(sotto_check_range("sigma", sigma, 0.05, 1e9, err));
    SOTTO_TRY(sotto_check_count("sensitivity", sensitivity, 1, 1e9, err));
    return sotto_check_range("sensitivity / sigma", sensitivity / sigma, 0, 1000, err);
}

sotto_status sotto_discrete_gaussian_log_delta(sotto_bound *out, double sigma, double sensitivity,
                                               double eps, const double *scale, sotto_err *err)
{
    SOTTO_TRY(check_lattice(sigma, sensitivity, err));
    SOTTO_TRY(sotto_check_range("epsilon", eps, 0, 1e6, err));
    lattice q = {sigma, sensitivity, SOTTO_LATTICE_SIGMA, scale};

    *out = curve_in_eps(&q, eps).value;
    return SOTTO_OK;
}

sotto_status sotto_discrete_gaussian_epsilon(sotto_bound *out, double sigma, double sensitivity,
                                             double log_delta, sotto_err *err)
{
    SOTTO_TRY(check_lattice(sigma, sensitivity, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    lattice q = {sigma, sensitivity, ROOT_SIGMA, NULL};
    lattice wide = {sigma, sensitivity, 0, NULL};
    double mu = sotto_round_up(sensitivity / sigma, 1);
    bool narrow = sigma <= COARSE_SIGMA; /* there the wide curve says little */

    /* The wide curve costs next to nothing: the lattice is summed where that one can't tell. */
    if ((narrow || curve_in_eps(&wide, 0).value.low <= log_delta) &&
        curve_in_eps(&q, 0).value.high <= log_delta) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    /* mu^2/2 zCDP: rho + 2 sqrt(rho log(1/delta)) is enough. */
    double enough = sotto_round_up(mu * (0.5 * mu + sqrt(-2 * log_delta)), 6);
    sotto_bound start = {0, enough};

    if (!narrow && sigma <= q.limit)
        sotto_root_enclose(&start, curve_in_eps, &wide, log_delta, 0, enough);
    sotto_root_enclose(out, curve_in_eps, &q, log_delta, start.low, start.high);
    return SOTTO_OK;
}
