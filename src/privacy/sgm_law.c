#include "privacy/sgm_law.h"

#include "privacy/sgm_sines.h"

#include <float.h>

/* Half of DBL_EPSILON: one rounding. */
#define U  (DBL_EPSILON / 2)
#define PI 3.14159265358979323846
/* Deviations kept on either side: the Gaussian tail beyond is below exp(-57). */
#define REACH       10.7
#define MOST_POINTS 1000000

/* (2x-1)/(2 sigma^2): log of the ratio of the two Gaussians. */
static double tilt_at(const sotto_sgm_law *law, double x)
{
    return (2 * x - 1) / (2 * law->sigma * law->sigma);
}

static double log_of_ratio(double q, double tilt)
{
    return tilt < 500 ? log1p(q * expm1(tilt)) : log(q) + tilt;
}

double sotto_sgm_log_ratio(const sotto_sgm_law *law, double x)
{
    return log_of_ratio(law->q, tilt_at(law, x));
}

static double log_density(const sotto_sgm_law *law, double x)
{
    double z = x / law->sigma;
    return -z * z / 2 - log(law->sigma) - 0.91893853320467274178;
}

/* The widest step that still integrates frequency t: the trapezoid rule on a function analytic in the
 * strip |Im x| < y errs by at most 2 N / (exp(2 pi y/h) - 1), N its integral along the strip's edge.
 * On that edge the Gaussian grows by exp(y^2/2 sigma^2), the phase by exp(t y/sigma^2), and r^-c by
 * cos(y/2 sigma^2)^-c. */
static double widest_step(const sotto_sgm_law *law, double c, double t)
{
    double widest = 0;
    double var = law->sigma * law->sigma;

    for (int i = 1; i <= 24; i++) {
        double angle = 0.97 * PI * i / 24;
        double y = angle * var;
        if (y > 9 * law->sigma) {
            y = 9 * law->sigma * i / 24;
            angle = y / var;
        }
        double need = SOTTO_SGM_DIGITS + y * y / (2 * var) + t * angle;
        if (law->add)
            need -= c * log(cos(angle / 2));
        double step = 2 * PI * y / need;
        if (step > widest)
            widest = step;
    }
    return widest;
}

/* Moves a far end of the samples inward while what is left out, bounded cell by cell by the largest
 * density at one side and the largest r^power at the other, stays below exp(-57). */
static double pull_in(const sotto_sgm_law *law, double power, double end, double keep)
{
    double pace = (keep - end) / 256, floor_log = -56 - 6;

    if (fabs(pace) < law->sigma / 8)
        pace = copysign(law->sigma / 8, pace);
    double far = sotto_sgm_log_ratio(law, end);
    for (;;) {
        double next = end + pace;
        if ((keep - next) * pace <= 0)
            return end;
        double near = sotto_sgm_log_ratio(law, next);
        double most = log_density(law, next) + fmax(power * far, power * near) + log(fabs(pace));
        if (most > floor_log)
            return end;
        end = next;
        far = near;
    }
}

sotto_sgm_grid sotto_sgm_grid_for(const sotto_sgm_law *law, double c, double t)
{
    sotto_sgm_grid g = {0};
    double s = law->sigma;
    double low = -REACH * s, high = 1 + REACH * s;

    g.power = law->add ? -c : c + 1;
    g.log_cut = -56;
    if (law->add) {
        /* r^-c stops growing at (1-q)^-c; far from there it grows no faster than exp(-c x/sigma^2). */
        double flat = -s * sqrt(2 * (57 - c * log1p(-law->q)));
        double steep = -(c + REACH * s);
        if (steep > flat) {
            low = steep < low ? steep : low;
            g.log_cut = log_density(law, low) + g.power * sotto_sgm_log_ratio(law, low) +
                        log(s * s / (-low - c)) + 0.01;
        } else {
            low = flat < low ? flat : low;
        }
    } else {
        high = g.power + REACH * s;
        g.log_cut = log_density(law, high) + g.power * sotto_sgm_log_ratio(law, high) +
                    log(s / REACH) + 0.01;
    }
    if (g.log_cut < -56)
        g.log_cut = -56;
    if (law->add)
        low = pull_in(law, g.power, low, -REACH * s);
    else
        high = pull_in(law, g.power, high, 1 + REACH * s);
    g.log_cut += 0.7; /* both cuts */
    g.step = widest_step(law, c, t);
    double points = ceil((high - low) / g.step) + 1;
    g.points = points < MOST_POINTS ? (size_t)points : MOST_POINTS + 1;
    g.low = low;
    return g;
}

/* Sum with its running error kept: the masses of a quadrature span forty orders of magnitude. */
typedef struct total {
    double sum;
    double rest;
} total;

static void total_add(total *t, double x)
{
    double sum = t->sum + x;
    t->rest += fabs(t->sum) >= fabs(x) ? (t->sum - sum) + x : (x - sum) + t->sum;
    t->sum = sum;
}

static double total_of(const total *t)
{
    return t->sum + t->rest;
}

/* What one point x contributes; weights carry exp(-shift). */
typedef struct sample {
    double log_ratio;
    double weight;   /* of the Gaussian times the step                 */
    double tilted;   /* weight * r^power                               */
    double centred;  /* weight * (r^power - 1 - power (r - 1))         */
    double linear;   /* weight * (r - 1), whose integral is zero       */
    double log_size; /* log tilted before the shift                    */
} sample;

static sample sample_at(const sotto_sgm_law *law, const sotto_sgm_grid *g, size_t j, double shift)
{
    sample p;
    double x = g->low + (double)j * g->step;
    double tilt = tilt_at(law, x);
    double excess = tilt < 500 ? law->q * expm1(tilt) : 0;

    p.log_ratio = log_of_ratio(law->q, tilt);
    double log_weight = log_density(law, x) + log(g->step);
    double e = g->power * p.log_ratio;
    p.log_size = log_weight + e;
    p.weight = exp(log_weight - shift);
    p.tilted = exp(p.log_size - shift);
    p.linear = tilt < 500 ? p.weight * excess : exp(log_weight + log(law->q) + tilt - shift);
    if (fabs(excess) < 1e-3 && fabs(e) < 1e-2 && fabs(g->power) < 1e6) {
        /* The binomial series: the difference below would lose what the mean-zero term cancels. */
        double a = g->power, y = excess, series = 0;
        for (int k = 9; k >= 3; k--)
            series = (series + 1) * (a - k + 1) / k * y;
        p.centred = p.weight * (a * (a - 1) / 2 * y * y) * (1 + series);
    } else if (fabs(e) < 0.5) {
        p.centred = p.weight * expm1(e) - g->power * p.linear;
    } else {
        p.centred = p.tilted - p.weight - g->power * p.linear;
    }
    return p;
}

/* Sums over the real axis that bound the rounding of every node. */
typedef struct sums {
    double centred;
    double tilted;
    double moved;  /* of tilted |log r|          */
    double linear; /* of |r - 1|                 */
    double gross;  /* of what centred cancels    */
    double shift;
} sums;

/* What `centred` was the difference of. */
static double gross_of(const sotto_sgm_grid *g, const sample *p)
{
    double e = g->power * p->log_ratio;

    return fabs(e) < 0.5 ? fabs(p->centred) : p->tilted * (1 + fabs(e)) + p->weight;
}

static sums sums_over(const sotto_sgm_law *law, const sotto_sgm_grid *g, double shift)
{
    total centred = {0}, tilted = {0};
    sums s = {.shift = shift};

    for (size_t j = 0; j < g->points; j++) {
        sample p = sample_at(law, g, j, shift);
        if (shift == 0 && p.log_size > 300) {
            /* Start again, scaled to the largest term. */
            double largest = p.log_size;
            for (; j < g->points; j++) {
                double size = sample_at(law, g, j, largest).log_size;
                largest = size > largest ? size : largest;
            }
            return sums_over(law, g, largest);
        }
        total_add(&centred, p.centred);
        total_add(&tilted, p.tilted);
        s.moved += p.tilted * fabs(p.log_ratio);
        s.linear += fabs(p.linear);
        s.gross += gross_of(g, &p);
    }
    s.centred = total_of(&centred);
    s.tilted = total_of(&tilted);
    return s;
}

/* Near the atom |k (r-1)| is small and r^k - 1 - k(r-1) is its binomial series, whose terms are moments
 * of r-1 over the points so far: no sine, and no cancellation that the power T would magnify. */
#define TERMS 15
#define SMALL 0.25

typedef struct near_part {
    size_t points;       /* the first ones                         */
    total moment[TERMS]; /* [n]: sum of weight (r-1)^n, n >= 2     */
    double even[TERMS];  /* the same of |r-1|^n                    */
    total centred;       /* what these points add on the real axis */
    double moved, linear, gross;
} near_part;

static double left(double all, double part)
{
    return fmax(all - part, 0) + 1e-12 * all;
}

/* Absolute error of M(c+it) exp(-shift), the series of the near part aside. A term is the difference of
 * weight r^k and weight k (r-1): three roundings of the angle, three of the sine, two each of the
 * weights, and the sum's own. */
static double node_error(const sotto_sgm_grid *g, const sums *s, const near_part *n, double t)
{
    double size = fabs(g->power) + t, scale = exp(-s->shift);
    double moved = left(s->moved, n->moved), linear = left(s->linear, n->linear);
    double rounding = 16 * U * (left(s->gross, n->gross) + size * (moved + linear));
    double quadrature = 2.01 * exp(-SOTTO_SGM_DIGITS) * (s->tilted + (1 + 2 * size) * scale);
    double cut = 2 * exp(g->log_cut - s->shift) + exp(-56.0) * (2 + size) * scale;

    /* The near part's share of the real axis was added and taken away again. */
    return rounding + 8 * U * fabs(s->centred) + quadrature + cut;
}

double sotto_sgm_cumulant(const sotto_sgm_law *law, double c, double *error)
{
    *error = 0;
    if (law->q == 1) {
        double value = c * (c + 1) / (2 * law->sigma * law->sigma);
        *error = 4 * U * value;
        return value;
    }
    sotto_sgm_grid g = sotto_sgm_grid_for(law, c, 0);
    if (g.points > MOST_POINTS)
        return INFINITY;
    sums s = sums_over(law, &g, 0);
    near_part none = {0};
    double bad = node_error(&g, &s, &none, 0);
    if (s.shift == 0) {
        double value = log1p(s.centred);
        *error = 1.01 * bad / (1 + s.centred) + 2 * U * fabs(value);
        return value;
    }
    double value = s.shift + log(s.tilted);
    *error = 1.01 * bad / s.tilted + 4 * U * fabs(value);
    return value;
}

static void gaussian_line(const sotto_sgm_law *law, double c, double step, size_t nodes,
                          double *log_modulus, double *phase, double *error)
{
    double v = 1 / (2 * law->sigma * law->sigma);

    for (size_t k = 0; k < nodes; k++) {
        double t = (double)k * step;
        log_modulus[k] = (c * (c + 1) - t * t) * v;
        phase[k] = t * (2 * c + 1) * v;
        error[k] = 8 * U * (c * (c + 1) + t * t + t * (2 * c + 1)) * v;
    }
}

size_t sotto_sgm_line_room(size_t points)
{
    return (points + SOTTO_SGM_LANES - 1) / SOTTO_SGM_LANES * SOTTO_SGM_LANES;
}

static void near_add(near_part *n, const sotto_sgm_grid *g, const sample *p)
{
    double excess = expm1(p->log_ratio), power = p->weight * excess;

    for (int i = 2; i < TERMS; i++) {
        power *= excess;
        total_add(&n->moment[i], power);
        n->even[i] += fabs(power);
    }
    total_add(&n->centred, p->centred);
    n->moved += p->tilted * fabs(p->log_ratio);
    n->linear += fabs(p->linear);
    n->gross += gross_of(g, p);
    n->points++;
}

/* Sum of the series for k = power + i t; *size is the sum of its terms' sizes. */
static void near_sum(const near_part *n, double power, double t, double *re, double *im,
                     double *size)
{
    double b_re = power, b_im = t; /* k over n */

    *re = *im = *size = 0;
    for (int i = 2; i < TERMS; i++) {
        double f = power - (i - 1), m = total_of(&n->moment[i]);
        double next = (b_re * f - b_im * t) / i;
        b_im = (b_re * t + b_im * f) / i;
        b_re = next;
        *re += b_re * m;
        *im += b_im * m;
        *size += hypot(b_re, b_im) * n->even[i];
    }
}

static bool is_near(const sample *p, double power, double t)
{
    return (hypot(power, t) + TERMS) * fabs(expm1(p->log_ratio)) <= SMALL;
}

typedef struct node {
    double re, im, error;
} node;

/* M(c+it) - 1, or M(c+it) exp(-shift) where that is not 0. */
static node node_at(const sotto_sgm_law *law, const sotto_sgm_grid *g, const sums *s,
                    const near_part *n, double t, const double *arrays[3], size_t room)
{
    double series_re, series_im, size;
    double sign = law->add ? -1 : 1;
    size_t skip = n->points / SOTTO_SGM_LANES * SOTTO_SGM_LANES;
    sotto_sgm_sums far =
        sotto_sgm_sines(t, arrays[0] + skip, arrays[1] + skip, arrays[2] + skip, room - skip);
    node out;

    near_sum(n, g->power, sign * t, &series_re, &series_im, &size);
    double rest = s->shift == 0 ? s->centred - total_of(&n->centred) : s->tilted;
    out.re = far.re + rest + series_re;
    out.im = sign * far.im + series_im;
    /* A remainder of 1e-21 a point, of total weight one, ends the series. */
    out.error = node_error(g, s, n, t) + 48 * U * size + 2e-21;
    return out;
}

void sotto_sgm_line(const sotto_sgm_law *law, double c, double step, size_t nodes,
                    double *log_modulus, double *phase, double *error, double *scratch)
{
    if (law->q == 1) {
        gaussian_line(law, c, step, nodes, log_modulus, phase, error);
        return;
    }
    sotto_sgm_grid g = sotto_sgm_grid_for(law, c, step * (double)(nodes - 1));
    sums s = sums_over(law, &g, 0);
    size_t room = sotto_sgm_line_room(g.points);
    double *half = scratch, *tilted = half + room, *linear = tilted + room;
    near_part near = {0};

    for (size_t j = 0; j < g.points; j++) {
        sample p = sample_at(law, &g, j, s.shift);
        half[j] = p.log_ratio / 2;
        tilted[j] = p.tilted;
        linear[j] = s.shift == 0 ? p.linear : 0;
    }
    for (size_t j = g.points; j < room; j++)
        half[j] = tilted[j] = linear[j] = 0;
    const double *arrays[3] = {half, tilted, linear};
    for (size_t k = nodes; k-- > 0;) {
        double t = (double)k * step;
        /* Fewer points are near at a higher frequency, so the frequencies go down. */
        while (s.shift == 0 && near.points < g.points) {
            sample p = sample_at(law, &g, near.points, 0);
            if (!is_near(&p, g.power, t))
                break;
            tilted[near.points] = linear[near.points] = 0;
            near_add(&near, &g, &p);
        }
        node m = node_at(law, &g, &s, &near, t, arrays, room);
        double whole = s.shift == 0 ? 1 + m.re : m.re;
        double modulus = fmax(hypot(whole, m.im), m.error);
        bool close = s.shift == 0 && fabs(m.re) < 0.5 && fabs(m.im) < 0.5;
        log_modulus[k] =
            close ? log1p(2 * m.re + m.re * m.re + m.im * m.im) / 2 : log(modulus) + s.shift;
        phase[k] = atan2(m.im, whole);
        error[k] = 1.01 * m.error / modulus;
    }
}

/* ---- decay away from the real axis ------------------------------------------------------------ */

/* sup over v' >= v of |sin v'/v'|, from above; as one minus it, from below. */
static double one_minus_sinc(double v)
{
    if (v < 0.1)
        return v * v / 6 * (1 - v * v / 20);
    if (v < 2.5)
        return 1 - sin(v) / v;
    return v < 4.6 ? 0.76 : 1 - 1 / v;
}

typedef struct cells {
    size_t count;
    double width[SOTTO_SGM_CELLS];
    double height[SOTTO_SGM_CELLS];
} cells;

/* The stretch round the mode where the tilted density exceeds exp(-14) of its largest value. */
static void main_stretch(const sotto_sgm_law *law, const sotto_sgm_grid *g, double *from,
                         double *to)
{
    double best = -INFINITY;
    size_t stride = g->points / 2000 + 1, mode = 0;

    for (size_t j = 0; j < g->points; j += stride) {
        double x = g->low + (double)j * g->step;
        double size = log_density(law, x) + g->power * sotto_sgm_log_ratio(law, x);
        if (size > best) {
            best = size;
            mode = j;
        }
    }
    double pace = law->sigma / 16;
    for (int side = -1; side <= 1; side += 2) {
        double x = g->low + (double)mode * g->step;
        for (int i = 0; i < 400; i++) {
            x += side * pace;
            if (log_density(law, x) + g->power * sotto_sgm_log_ratio(law, x) < best - 14)
                break;
        }
        *(side < 0 ? from : to) = x;
    }
}

/* On each cell of x the Gaussian is smallest at an end, r^power is monotone, and the loss moves fastest
 * at the right end: three true minima whose product is below the density of the loss. */
static void cells_fill(cells *out, const sotto_sgm_law *law, double c, double cumulant)
{
    sotto_sgm_grid g = sotto_sgm_grid_for(law, c, 0);
    double from = 0, to = 0;

    main_stretch(law, &g, &from, &to);
    double pace = (to - from) / SOTTO_SGM_CELLS;
    double x0 = from, l0 = sotto_sgm_log_ratio(law, x0), d0 = log_density(law, x0);
    out->count = SOTTO_SGM_CELLS;
    for (size_t i = 0; i < SOTTO_SGM_CELLS; i++) {
        double x1 = from + pace * (double)(i + 1);
        double l1 = sotto_sgm_log_ratio(law, x1), d1 = log_density(law, x1);
        double speed = log(law->q) + tilt_at(law, x1) - 2 * log(law->sigma) - l1;
        double low = fmin(d0, d1) + fmin(g.power * l0, g.power * l1) - speed - cumulant;
        out->width[i] = (l1 - l0) * (1 - 1e-9);
        out->height[i] = exp(low - 1e-9);
        x0 = x1;
        l0 = l1;
        d0 = d1;
    }
}

/* Cuts the histogram into horizontal slabs, each as wide as the run of cells that reach its height. */
void sotto_sgm_boxes_fill(sotto_sgm_boxes *boxes, const sotto_sgm_law *law, double c,
                          double cumulant)
{
    cells h;
    double start[SOTTO_SGM_CELLS + 1], level[SOTTO_SGM_CELLS + 1], at = 0;
    size_t depth = 0;

    cells_fill(&h, law, c, cumulant);
    boxes->count = 0;
    for (size_t i = 0; i <= h.count; i++) {
        double height = i < h.count ? h.height[i] : 0, begin = at;
        while (depth > 0 && level[depth - 1] >= height) {
            depth--;
            double below = depth > 0 && level[depth - 1] > height ? level[depth - 1] : height;
            double width = at - start[depth];
            if (boxes->count < SOTTO_SGM_CELLS && width > 0) {
                boxes->width[boxes->count] = width;
                boxes->mass[boxes->count++] = (level[depth] - below) * width;
            }
            begin = start[depth];
        }
        if (i < h.count) {
            start[depth] = begin;
            level[depth++] = height;
            at += h.width[i];
        }
    }
}

double sotto_sgm_boxes_decay(const sotto_sgm_boxes *boxes, double t)
{
    double gone = 0;

    for (size_t i = 0; i < boxes->count; i++)
        gone += boxes->mass[i] * one_minus_sinc(t * boxes->width[i] / 2);
    gone *= 1 - 1e-9;
    return gone >= 1 ? -40 : log1p(-gone);
}
