#include "privacy/contour.h"

#include <float.h>

#define U  (DBL_EPSILON / 2)
#define PI 3.14159265358979323846

double sotto_contour_chernoff(double c)
{
    return -c * log1p(1 / c) - log1p(c);
}

typedef struct complex_pair {
    double re, im;
} pair;

static pair times(pair a, pair b)
{
    pair p = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return p;
}

static pair over(double x, pair a)
{
    double scale = x / (a.re * a.re + a.im * a.im);
    pair p = {a.re * scale, -a.im * scale};
    return p;
}

/* 1/(s (s+1)), or for a lattice of spacing d the sum of exp(-s l)(1 - exp(-l)) over its losses l > 0,
 * times d: d (1 - e^-d) e^-sd / ((1 - e^-sd) (1 - e^-(s+1)d)). */
static pair kernel_at(const sotto_contour *line, double t)
{
    double c = line->c, d = line->lattice;

    if (d == 0) {
        pair s = {c, t}, next = {c + 1, t};
        return over(1, times(s, next));
    }
    double half = t * d / 2, sine = sin(half), cosine = cos(half);
    double bend = 2 * sine * sine, swing = 2 * sine * cosine;
    double e = exp(-c * d), f = exp(-(c + 1) * d);
    pair a = {e * bend - expm1(-c * d), e * swing}, b = {f * bend - expm1(-(c + 1) * d), f * swing};
    pair turn = {1 - bend, -swing};
    return times(turn, over(-d * e * expm1(-d), times(a, b)));
}

void sotto_contour_fill(sotto_contour *line, const double *log_modulus, const double *phase,
                        const double *error, double log_rest)
{
    double last = line->step * (double)(line->nodes - 1);

    line->log_scale = log_modulus[0];
    line->transform_error = line->truncation_error = line->rounding_error = line->phase_error = 0;
    for (size_t k = 0; k < line->nodes; k++) {
        double t = (double)k * line->step, size = log_modulus[k] - line->log_scale;
        double wrong = error[k];
        /* Too small to matter and too small for the sum: counted as an error instead. */
        bool gone = size < -80;
        pair kernel = kernel_at(line, t);
        bool middle = line->lattice > 0 && t > PI / line->lattice * (1 - 1e-9);
        double grown = gone ? 0 : exp(size) * line->step / (2 * PI) * (k == 0 || middle ? 1 : 2);
        pair m = {grown * cos(phase[k]), grown * sin(phase[k])};
        double steady = 16 + 2 * fabs(size) + 4 * fabs(phase[k]);
        m = times(m, kernel);
        line->re[k] = m.re;
        line->im[k] = m.im;
        double weight = sqrt(m.re * m.re + m.im * m.im);
        line->transform_error += weight * wrong;
        line->rounding_error += weight * U * steady;
        line->phase_error += weight * U * 3 * t;
        if (gone)
            line->transform_error += exp(-80) * line->step * (1 + wrong) *
                                     sqrt(kernel.re * kernel.re + kernel.im * kernel.im);
    }
    while (line->nodes > 1 && line->re[line->nodes - 1] == 0 && line->im[line->nodes - 1] == 0)
        line->nodes--;
    line->rounding_error += U * 4 * fabs(line->log_scale) * fabs(line->re[0]);
    if (line->lattice == 0) {
        /* Beyond the last node: (h/pi) sum of 1/t^2 over the missing ones is below 1/(pi t). */
        line->truncation_error = exp(log_rest - line->log_scale) / (PI * last);
        if (last == 0)
            line->truncation_error = INFINITY;
    }
}

/* Aliases above eps, from a Chernoff point right of c; over exp(log_scale - c eps). */
static double aliases_above(const sotto_contour *line, double eps)
{
    double period = 2 * PI / line->step, best = INFINITY;

    for (size_t i = 0; i < line->aliases; i++) {
        double c = line->alias_c[i], gap = (c - line->c) * period;
        double size = line->alias_log[i] - line->log_scale - (c - line->c) * eps - gap +
                      sotto_contour_chernoff(c);
        double sum = exp(size) / -expm1(-gap);
        if (sum < best)
            best = sum;
    }
    return best;
}

static double aliases_of(const sotto_contour *line, double eps)
{
    double fall = line->c * 2 * PI / line->step;
    /* Below eps delta is at most one. */
    double below = exp(-fall - (line->log_scale - line->c * eps)) / -expm1(-fall);

    return aliases_above(line, eps) + below;
}

/* The sum at one eps and what may be wrong with it, both over exp(log_scale - c eps). */
typedef struct reading {
    double sum;
    double error;
    double aliasing;
} reading;

static reading read_at(const sotto_contour *line, double eps)
{
    reading r = {0};
    double rest = 0;
    /* A rotation by a fixed angle, begun afresh every 16 nodes: its error is in rounding_error. */
    double turn_re = cos(line->step * eps), turn_im = -sin(line->step * eps);

    for (size_t from = 0; from < line->nodes; from += 16) {
        size_t to = from + 16 < line->nodes ? from + 16 : line->nodes;
        double angle = -line->step * (double)from * eps;
        double re = cos(angle), im = sin(angle), block = 0;
        for (size_t k = from; k < to; k++) {
            block += line->re[k] * re - line->im[k] * im;
            double next = re * turn_re - im * turn_im;
            im = re * turn_im + im * turn_re;
            re = next;
        }
        double sum = r.sum + block;
        rest += fabs(r.sum) >= fabs(block) ? (r.sum - sum) + block : (block - sum) + r.sum;
        r.sum = sum;
    }
    r.sum += rest;
    r.error = line->terms.transform * line->transform_error +
              line->terms.truncation * line->truncation_error +
              line->terms.rounding * (6 * line->rounding_error + fabs(eps) * line->phase_error);
    r.aliasing = aliases_of(line, eps);
    return r;
}

/* On a lattice eps counts from its origin. */
static sotto_bound log_delta_at(const sotto_contour *line, double eps)
{
    sotto_bound out;
    reading r = read_at(line, eps);
    double base = line->log_scale - line->c * eps;
    double pad = 8 * U * (1 + fabs(base) + line->c * fabs(eps));
    double high = r.sum + r.error;
    /* Aliases only ever add, so `high` has them already; a test may ask for more of them. */
    if (line->terms.aliasing > 1)
        high += (line->terms.aliasing - 1) * r.aliasing;
    double low = r.sum - r.error - line->terms.aliasing * r.aliasing;

    out.high = high > 0 ? base + log(high) + pad : INFINITY;
    if (high <= 0 || isnan(high))
        out.high = 0; /* the sum is not even positive: say nothing */
    out.low = low > 0 ? base + log(low) - pad : -INFINITY;
    if (line->lost > 0)
        out.high = log(exp(out.high) + line->lost) + pad;
    if (out.high > 0)
        out.high = 0;
    return out;
}

/* Between two losses of a lattice, delta is linear in exp(eps). */
static double between(double a, double b, double share)
{
    double top = fmax(a, b);

    if (top == -INFINITY)
        return top;
    return top + log((1 - share) * exp(a - top) + share * exp(b - top));
}

sotto_bound sotto_contour_log_delta(const sotto_contour *line, double eps)
{
    if (line->lattice == 0)
        return log_delta_at(line, eps);
    double from = eps - line->origin;
    double left = floor(from / line->lattice) * line->lattice;
    /* expm1(part) / expm1(lattice), where neither may be a double. */
    double part = fmin(fmax(from - left, 0), line->lattice);
    double share = exp(part - line->lattice) * expm1(-part) / expm1(-line->lattice);
    sotto_bound a = log_delta_at(line, left), b = log_delta_at(line, left + line->lattice), out;

    share = share < 0 ? 0 : share > 1 ? 1 : share;
    out.high = between(a.high, b.high, share) + 1e-13;
    out.low = between(a.low, b.low, share) - 1e-13;
    return out;
}

static double side_of(const sotto_contour *line, double eps, bool high)
{
    sotto_bound b = sotto_contour_log_delta(line, eps);
    return high ? b.high : b.low;
}

/* log delta falls and is convex enough for secants; a bracket keeps them honest. */
static double solve_high(const sotto_contour *line, double wanted, double start)
{
    double left = 0, right = INFINITY, x = start > 1e-300 ? start : 1e-6, slope = -line->c - 1;
    double f = side_of(line, x, true) - wanted;

    if (side_of(line, 0, true) <= wanted)
        return 0;
    for (int i = 0; i < 80; i++) {
        if (f <= 0)
            right = x;
        else /* what is no number is not small enough */
            left = x;
        double next = x - f / slope;
        if (fabs(next - x) < 1e-11 * x)
            break;
        if (!(next > left && next < right))
            next = right < INFINITY ? (left + right) / 2 : fmin(next, 2 * left);
        if (!(next > left))
            next = 2 * left;
        if (!(next < 1e300))
            break;
        double value = side_of(line, next, true) - wanted;
        double chord = (value - f) / (next - x);
        slope = chord < 0 && isfinite(chord) ? chord : slope;
        x = next;
        f = value;
    }
    /* Whatever the search did, only an eps that passes is returned. */
    double pad = 1e-11;
    for (int i = 0; i < 60; i++, pad *= 2) {
        double eps = x * (1 + pad);
        if (side_of(line, eps, true) <= wanted)
            return eps;
    }
    return right;
}

/* The largest eps found below `high` whose delta is certainly above. */
static double solve_low(const sotto_contour *line, double wanted, double high)
{
    double gap = 1e-10, fails = 0;

    while (gap < 1 && !(side_of(line, high * (1 - gap), false) >= wanted)) {
        fails = gap;
        gap *= 4;
    }
    if (gap >= 1)
        return 0;
    for (int i = 0; i < 4 && fails > 0; i++) {
        double mid = sqrt(fails * gap);
        if (!(side_of(line, high * (1 - mid), false) >= wanted))
            fails = mid;
        else
            gap = mid;
    }
    return high * (1 - gap);
}

sotto_bound sotto_contour_epsilon(const sotto_contour *line, double log_delta, double start)
{
    sotto_bound out;

    out.high = solve_high(line, log_delta, start);
    out.low = out.high < INFINITY ? solve_low(line, log_delta, out.high) : 0;
    if (out.high > 0)
        out.high *= 1 + SOTTO_ROOT_PAD;
    out.low *= 1 - SOTTO_ROOT_PAD;
    if (out.low > out.high)
        out.low = out.high;
    return out;
}
