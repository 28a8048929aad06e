#include "account/gauss/contour.h"

#include "account/numeric/elementary.h"
#include "account/numeric/wide.h"

#include <float.h>

#define U  (DBL_EPSILON / 2)
#define PI 3.14159265358979323846
/* Of larger phases nothing is known but that they are phases. */
#define MOST_PHASE 4e12

double sotto_contour_chernoff(double c)
{
    return -c * log1p(1 / c) - log1p(c);
}

/* 1/(s (s+1)), or for a lattice of spacing d the sum of exp(-s l)(1 - exp(-l)) over its losses l > 0,
 * times d: d (1 - e^-d) e^-sd / ((1 - e^-sd) (1 - e^-(s+1)d)). */
typedef struct kernel {
    double c, d;
    double e, f;        /* e^-cd, e^-(c+1)d */
    double less, lower; /* 1 - e, 1 - f     */
    double scale;
} kernel;

static kernel kernel_of(const sotto_contour *line)
{
    double c = line->c, d = line->lattice;
    kernel k = {.c = c, .d = d};

    k.e = exp(-c * d);
    k.f = exp(-(c + 1) * d);
    k.less = -expm1(-c * d);
    k.lower = -expm1(-(c + 1) * d);
    k.scale = -d * k.e * expm1(-d);
    return k;
}

/* Nodes that are filled together. */
#define GROUP 128

typedef struct group {
    size_t count;
    double size[GROUP], grown[GROUP], t[GROUP];
    double sine[GROUP], versine[GROUP]; /* of the phase              */
    double swing[GROUP], bend[GROUP];   /* of t over the spacing     */
    double angle[GROUP];
    double blind[GROUP]; /* 2 where the phase is no angle any more */
    double kernel_re[GROUP], kernel_im[GROUP], kernel_size[GROUP];
} group;

/* The kernel at t for continuous losses. */
static SOTTO_WIDE void kernels_over(group *restrict g, const kernel *k)
{
    double flat = k->c * (k->c + 1), rise = 2 * k->c + 1;

    for (size_t i = 0; i < g->count; i++) {
        double re = flat - g->t[i] * g->t[i], im = rise * g->t[i], scale = 1 / (re * re + im * im);
        g->kernel_re[i] = re * scale;
        g->kernel_im[i] = -im * scale;
        g->kernel_size[i] = sqrt(scale);
    }
}

/* The same on a lattice; swing, bend: sine and 1 - cosine of t times the spacing. */
static SOTTO_WIDE void lattice_kernels_over(group *restrict g, const kernel *k)
{
    for (size_t i = 0; i < g->count; i++) {
        double swing = g->swing[i], bend = g->bend[i];
        double a_re = k->e * bend + k->less, a_im = k->e * swing;
        double b_re = k->f * bend + k->lower, b_im = k->f * swing;
        double re = a_re * b_re - a_im * b_im, im = a_re * b_im + a_im * b_re;
        double scale = k->scale / (re * re + im * im);
        re *= scale;
        im *= -scale;
        g->kernel_re[i] = (1 - bend) * re + swing * im;
        g->kernel_im[i] = (1 - bend) * im - swing * re;
        g->kernel_size[i] = sqrt(re * re + im * im);
    }
}

static void group_fill(group *g, const sotto_contour *line, const kernel *shape, size_t from,
                       const double *log_modulus, const double *phase)
{
    g->count = line->nodes - from < GROUP ? line->nodes - from : GROUP;
    for (size_t i = 0; i < g->count; i++) {
        bool blind = !(fabs(phase[i]) < MOST_PHASE);
        g->t[i] = (double)(from + i) * line->step;
        g->size[i] = log_modulus[i] - line->log_scale;
        g->angle[i] = blind ? 0 : phase[i];
        g->blind[i] = blind ? 2 : 0;
    }
    sotto_exp_all(g->grown, g->size, g->count);
    sotto_turn_all(g->sine, g->versine, g->angle, g->count);
    if (line->lattice == 0) {
        kernels_over(g, shape);
        return;
    }
    for (size_t i = 0; i < g->count; i++)
        g->angle[i] = g->t[i] * line->lattice;
    sotto_turn_all(g->swing, g->bend, g->angle, g->count);
    lattice_kernels_over(g, shape);
}

/* One node of a group, into re[k] and im[k] and the errors; wrong: of M, relative. */
static inline void node_fill(sotto_contour *line, const group *g, size_t i, size_t k, double phase,
                             double wrong)
{
    double t = g->t[i], size = g->size[i];
    /* Too small to matter and too small for the sum: counted as an error instead. */
    bool gone = size < -80;
    bool middle = line->lattice > 0 && t > PI / line->lattice * (1 - 1e-9);
    double grown = gone ? 0 : g->grown[i] * line->step / (2 * PI) * (k == 0 || middle ? 1 : 2);
    double m_re = grown * (1 - g->versine[i]), m_im = grown * g->sine[i];
    double steady = 16 + 2 * fabs(size) + 4 * (g->blind[i] > 0 ? MOST_PHASE : fabs(phase));

    wrong += g->blind[i];
    line->re[k] = m_re * g->kernel_re[i] - m_im * g->kernel_im[i];
    line->im[k] = m_re * g->kernel_im[i] + m_im * g->kernel_re[i];
    double weight = grown * g->kernel_size[i] * (1 + 1e-14);
    line->transform_error += weight * wrong;
    line->rounding_error += weight * U * steady;
    line->phase_error += weight * U * 3 * t;
    if (gone)
        line->transform_error += exp(-80) * line->step * (1 + wrong) * g->kernel_size[i];
}

void sotto_contour_fill(sotto_contour *line, const double *log_modulus, const double *phase,
                        const double *error, double log_rest)
{
    double last = line->step * (double)(line->nodes - 1);
    const kernel shape = kernel_of(line);
    group g = {0};

    line->log_scale = log_modulus[0];
    line->transform_error = line->truncation_error = line->rounding_error = line->phase_error = 0;
    for (size_t from = 0; from < line->nodes; from += GROUP) {
        group_fill(&g, line, &shape, from, log_modulus + from, phase + from);
        for (size_t i = 0; i < g.count; i++)
            node_fill(line, &g, i, from + i, phase[from + i], error[from + i]);
    }
    while (line->nodes > 1 && line->re[line->nodes - 1] == 0 && line->im[line->nodes - 1] == 0)
        line->nodes--;
    line->rounding_error += U * 4 * fabs(line->log_scale) * fabs(line->re[0]);
    if (line->lattice == 0) {
        /* Beyond the last node: (h/pi) sum of 1/t^2 over the missing ones is below 1/(pi t). */
        line->truncation_error = exp(log_rest - line->log_scale) / (PI * last);
        if (last == 0)
            line->truncation_error = INFINITY;
    } else if (line->omitted > 0) {
        /* The kernel is largest on the real axis. */
        double most = shape.scale / (shape.less * shape.lower);
        line->truncation_error = exp(log_rest - line->log_scale) * most * line->step / PI *
                                 (double)line->omitted * (1 + 1e-9);
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

/* Angles within a block are the same for every block: BLOCK + nodes/BLOCK sines serve all nodes. */
#define BLOCK 64

typedef struct block_sum {
    double re, im;
} block_sum;

static SOTTO_WIDE void sum_block(block_sum *out, const double *restrict a, const double *restrict b,
                                 const double *restrict turn_re, const double *restrict turn_im,
                                 size_t count)
{
    double re[8] = {0}, im[8] = {0};

    for (size_t k = 0; k + 8 <= count; k += 8) {
        for (size_t i = 0; i < 8; i++) {
            re[i] += a[k + i] * turn_re[k + i] - b[k + i] * turn_im[k + i];
            im[i] += a[k + i] * turn_im[k + i] + b[k + i] * turn_re[k + i];
        }
    }
    for (size_t k = count / 8 * 8; k < count; k++) {
        re[0] += a[k] * turn_re[k] - b[k] * turn_im[k];
        im[0] += a[k] * turn_im[k] + b[k] * turn_re[k];
    }
    out->re = ((re[0] + re[1]) + (re[2] + re[3])) + ((re[4] + re[5]) + (re[6] + re[7]));
    out->im = ((im[0] + im[1]) + (im[2] + im[3])) + ((im[4] + im[5]) + (im[6] + im[7]));
}

static reading read_at(const sotto_contour *line, double eps)
{
    reading r = {0};
    double rest = 0, turn_re[BLOCK] = {0}, turn_im[BLOCK] = {0};
    size_t wide = line->nodes < BLOCK ? line->nodes : BLOCK;

    for (size_t k = 0; k < wide; k++) {
        double angle = -line->step * (double)k * eps;
        turn_re[k] = cos(angle);
        turn_im[k] = sin(angle);
    }
    for (size_t from = 0; from < line->nodes; from += BLOCK) {
        size_t count = from + BLOCK < line->nodes ? BLOCK : line->nodes - from;
        double angle = -line->step * (double)from * eps;
        block_sum part;
        sum_block(&part, line->re + from, line->im + from, turn_re, turn_im, count);
        double block = cos(angle) * part.re - sin(angle) * part.im;
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
    if (line->capped) {
        double whole = eps + line->origin <= line->sure_until ? exp(out.low) + line->sure : 0;
        out.low = whole > 0 ? log(whole) - pad : -INFINITY;
    }
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

/* expm1(part) / expm1(lattice), where neither may be a double. */
static double part_of_lattice(double part, double lattice)
{
    part = fmin(fmax(part, 0), lattice);
    return exp(part - lattice) * expm1(-part) / expm1(-lattice);
}

sotto_bound sotto_contour_log_delta(const sotto_contour *line, double eps)
{
    if (line->lattice == 0)
        return log_delta_at(line, eps);
    /* Where the lattice lies is known to within `blur`: high is read that much to the left, low to the
     * right. */
    double from = eps - line->origin, blur = line->origin_error, d = line->lattice;
    double left = floor((from - blur) / d) * d;
    double share = part_of_lattice(from - blur - left, d), right = from + blur - left;
    sotto_bound a = log_delta_at(line, left), b = log_delta_at(line, left + d), out;

    out.high = between(a.high, b.high, share) + 1e-13;
    if (right <= d)
        out.low = between(a.low, b.low, part_of_lattice(right, d)) - 1e-13;
    else /* delta falls: the next loss speaks for all before it, as far as it reaches */
        out.low = right <= 2 * d ? log_delta_at(line, left + 2 * d).low - 1e-13 : -INFINITY;
    return out;
}

/* ---- roots -------------------------------------------------------------------------------------------- */

static double high_at(const sotto_contour *line, double eps)
{
    return sotto_contour_log_delta(line, eps).high;
}

/* log delta falls and is convex enough for secants; a bracket keeps them honest. */
static double solve_high(const sotto_contour *line, double wanted, double start)
{
    double left = 0, right = INFINITY, x = start > 1e-300 ? start : 1e-6, slope = -line->c - 1;
    double f = high_at(line, x) - wanted;

    if (high_at(line, 0) <= wanted)
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
        double value = high_at(line, next) - wanted;
        double chord = (value - f) / (next - x);
        slope = chord < 0 && isfinite(chord) ? chord : slope;
        x = next;
        f = value;
    }
    /* Whatever the search did, only an eps that passes is returned. */
    double pad = 1e-11;
    for (int i = 0; i < 60; i++, pad *= 2) {
        double eps = x * (1 + pad);
        if (high_at(line, eps) <= wanted)
            return eps;
    }
    return right;
}

/* The largest eps found below `high` whose delta is certainly above. Begins where the width of the interval at
 * `high`, over the slope, says. */
static double solve_low(const sotto_contour *line, double wanted, double high)
{
    sotto_bound b = sotto_contour_log_delta(line, high);
    double gap = 1e-10, missing = (wanted - b.low) / (line->c * high);

    if (missing > gap && missing < 0.25)
        gap = missing;
    double fails = 0;
    while (gap < 1 && !(sotto_contour_log_delta(line, high * (1 - gap)).low >= wanted)) {
        fails = gap;
        gap *= fails < 1e-9 ? 4 : 2;
    }
    if (gap >= 1)
        return 0;
    for (int i = 0; i < 3 && fails > 0; i++) {
        double mid = sqrt(fails * gap);
        if (!(sotto_contour_log_delta(line, high * (1 - mid)).low >= wanted))
            fails = mid;
        else
            gap = mid;
    }
    return high * (1 - gap);
}

/* ---- roots on a lattice -------------------------------------------------------------------------------- */

typedef struct step_pair {
    double index;
    double left, right; /* one side of log delta at index and index + 1 */
} step_pair;

static double at_index(const sotto_contour *line, double index, bool high)
{
    sotto_bound b = log_delta_at(line, index * line->lattice);

    return high ? b.high : b.low;
}

/* The neighbours among which one side of log delta falls through `wanted`; secants over whole indices, with a
 * bracket. */
static step_pair straddle(const sotto_contour *line, double wanted, double start, bool high)
{
    double left = -INFINITY, right = INFINITY, f_left = 0, f_right = 0, pace = 1;
    double x = floor(start / line->lattice), slope = -(line->c + 1) * line->lattice;

    for (int i = 0; i < 120; i++) {
        double f = at_index(line, x, high) - wanted;
        if (f > 0) {
            left = x;
            f_left = f;
        } else {
            right = x;
            f_right = f;
        }
        if (right - left <= 1 || !(fabs(x) < 1e15))
            break;
        double next = isfinite(f) ? x - f / slope : x;
        if (isfinite(right - left)) {
            double chord = (f_right - f_left) / (right - left);
            next = isfinite(chord) && i % 3 != 2 ? left - f_left / chord : (left + right) / 2;
            next = fmin(fmax(floor(next), left + 1), right - 1);
        } else {
            /* Not yet a bracket: on, ever faster. */
            next = f > 0 ? fmax(ceil(next), x + pace) : fmin(floor(next), x - pace);
            pace *= 2;
        }
        x = next;
    }
    return (step_pair){left, f_left, f_right};
}

/* Between neighbours delta is linear in exp(eps): the root is there in closed form. */
static double within(const sotto_contour *line, const step_pair *s)
{
    double d = line->lattice;
    double share = expm1(s->left) / (expm1(s->left) - expm1(s->right));

    share = isfinite(share) ? fmin(fmax(share, 0), 1) : 1;
    return line->origin + s->index * d + log1p(share * expm1(d));
}

static double lattice_high(const sotto_contour *line, double wanted, double start)
{
    if (high_at(line, 0) <= wanted)
        return 0;
    step_pair s = straddle(line, wanted, start - line->origin, true);
    if (!isfinite(s.index))
        return INFINITY;
    double far = line->origin + (s.index + 1) * line->lattice;
    double eps = fmax(within(line, &s), 0), blur = 2 * line->origin_error + 1e-12 * (1e-300 + eps);
    /* Only an eps that passes is returned. */
    for (int i = 0; i < 3; i++, eps = fmax(far, eps)) {
        eps += blur;
        if (high_at(line, eps) <= wanted)
            return eps;
    }
    return INFINITY;
}

/* The largest eps at which the low side of a lattice's delta is above `wanted`, about; 0 if none is. */
static double lattice_low(const sotto_contour *line, double wanted, double start)
{
    step_pair s = straddle(line, wanted, start - line->origin, false);

    if (!isfinite(s.index))
        return 0;
    double at = line->origin + s.index * line->lattice, eps = within(line, &s);
    eps -= 2 * line->origin_error + 1e-12 * fabs(eps);
    if (eps > 0 && sotto_contour_log_delta(line, eps).low >= wanted)
        return eps;
    at -= line->origin_error;
    return at > 0 && sotto_contour_log_delta(line, at).low >= wanted ? at : 0;
}

double sotto_contour_low(const sotto_contour *line, double log_delta, double start)
{
    double low =
        line->lattice > 0 ? lattice_low(line, log_delta, start) : solve_low(line, log_delta, start);

    return low * (1 - SOTTO_ROOT_PAD);
}

double sotto_contour_high(const sotto_contour *line, double log_delta, double start)
{
    double high = line->lattice > 0 ? lattice_high(line, log_delta, start)
                                    : solve_high(line, log_delta, start);

    return high > 0 ? high * (1 + SOTTO_ROOT_PAD) : high;
}
