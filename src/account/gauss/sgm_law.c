#include "account/gauss/sgm_law.h"

#include "account/gauss/sgm_quadrature.h"
#include "account/gauss/sgm_sines.h"
#include "account/numeric/elementary.h"
#include "base/alloc.h"

#include <float.h>

/* Half of DBL_EPSILON: one rounding. */
#define U  (DBL_EPSILON / 2)
#define PI 3.14159265358979323846
/* Panels of a quadrature on the real axis, at most; they fit the stack. */
#define REAL_PANELS 1024
#define MOST_PANELS 8192
/* Sines of a whole line, at most: a tenth of a second. */
#define MOST_WORK 5e7
/* Sines that are computed one by one; of more, most are rotations. */
#define MOST_EXACT 2e5
/* Four, and the turns. */
#define LINE_ARRAYS (4 + 2 * SOTTO_SGM_REACH)

/* Sum with its running error kept: the masses of a quadrature span forty orders of magnitude. */
typedef struct total {
    double sum;
    double rest;
} total;

static void total_add(total *t, double x)
{
    double sum = t->sum + x, back = sum - t->sum;

    t->rest += (t->sum - (sum - back)) + (x - back);
    t->sum = sum;
}

static double total_of(const total *t)
{
    return t->sum + t->rest;
}

/* What one point x contributes; weights carry exp(-shift). */
typedef struct sample {
    double log_ratio;
    double excess;  /* r - 1 */
    double weight;  /* of the rule and the Gaussian                   */
    double tilted;  /* weight * r^power                               */
    double centred; /* weight * (r^power - 1 - power (r - 1))         */
    double linear;  /* weight * (r - 1), whose integral is zero       */
    double gross;   /* what `centred` was the difference of           */
    double worn;    /* ROUNDINGS times this is what each of these may have lost, in roundings */
} sample;

/* Of a term, at least: its weight and ratio, the angle, sine and product, 31 additions in a lane (sgm_sines.c). */
#define ROUNDINGS 48

/* Exponents are rounded before they are raised, and so is the x at which they are taken. That makes 16
 * roundings of x^2/2 var, which is no less than the tilt of r and no more than |log weight|. */
static double worn_at(const sotto_sgm_grid *g, size_t j)
{
    return 1 + fabs(g->log_weight[j]) / 3;
}

/* Points that are sampled together. */
#define GROUP 128
/* Of the binomial series. */
#define BINOMIALS 10

typedef struct samples {
    const sotto_sgm_grid *grid;
    double shift, scale;
    double binomial[BINOMIALS]; /* (power - k + 1)/k */
    double raised[GROUP];       /* power log r       */
    double tilted[GROUP];
    double grown[GROUP]; /* r^power - 1, where that is small */
} samples;

static void samples_begin(samples *s, const sotto_sgm_grid *g, double shift)
{
    s->grid = g;
    s->shift = shift;
    s->scale = exp(-shift);
    for (int k = 2; k < BINOMIALS; k++)
        s->binomial[k] = (g->power - k + 1) / k;
}

/* Of the points from `from` on; returns how many. */
static size_t samples_next(samples *s, size_t from)
{
    const sotto_sgm_grid *g = s->grid;
    size_t count = g->points - from < GROUP ? g->points - from : GROUP;

    for (size_t i = 0; i < count; i++) {
        s->raised[i] = g->power * g->log_ratio[from + i];
        s->tilted[i] = (g->log_weight[from + i] + s->raised[i]) - s->shift;
        s->grown[i] = fabs(s->raised[i]) < 0.5 ? s->raised[i] : 0;
    }
    sotto_exp_all(s->tilted, s->tilted, count);
    sotto_expm1_all(s->grown, s->grown, count);
    return count;
}

static sample sample_of(const samples *s, size_t from, size_t i)
{
    const sotto_sgm_grid *g = s->grid;
    size_t j = from + i;
    double power = g->power, e = fabs(s->raised[i]);
    sample p = {.log_ratio = g->log_ratio[j],
                .excess = g->excess[j],
                .tilted = s->tilted[i],
                .worn = worn_at(g, j)};

    p.weight = g->weight[j] * s->scale;
    p.linear = g->linear[j] * s->scale;
    if (fabs(p.excess) < 1e-3 && e < 1e-2 && fabs(power) < 1e9) {
        /* The binomial series: the difference below would lose what the mean-zero term cancels. */
        double y = p.excess, series = 0;
        for (int k = BINOMIALS - 1; k >= 3; k--)
            series = (series + 1) * s->binomial[k] * y;
        p.centred = p.weight * (power * s->binomial[2] * y * y) * (1 + series);
    } else if (e < 0.5) {
        p.centred = p.weight * s->grown[i] - power * p.linear;
    } else {
        p.centred = p.tilted - p.weight - power * p.linear;
    }
    p.gross = e < 0.5 ? fabs(p.centred) : p.tilted * (1 + e) + p.weight;
    return p;
}

/* Sums over the real axis that bound the rounding of every node. */
typedef struct sums {
    double centred;
    double tilted;
    double moved;  /* of tilted |log r|, and so on: each as often as it is worn */
    double linear; /* of |r - 1|                 */
    double gross;  /* of what centred cancels    */
    double shift;
} sums;

/* 0, unless a term is so large that all are scaled to the largest. */
static double shift_of(const sotto_sgm_grid *g)
{
    double largest = -INFINITY;

    for (size_t j = 0; j < g->points; j++) {
        double size = g->log_weight[j] + g->power * g->log_ratio[j];
        largest = size > largest ? size : largest;
    }
    return largest > 300 ? largest : 0;
}

static sums sums_over(const sotto_sgm_grid *g)
{
    total centred = {0}, tilted = {0};
    sums s = {.shift = shift_of(g)};
    samples at;

    samples_begin(&at, g, s.shift);
    for (size_t from = 0, count; from < g->points; from += count) {
        count = samples_next(&at, from);
        for (size_t i = 0; i < count; i++) {
            sample p = sample_of(&at, from, i);
            total_add(&centred, p.centred);
            total_add(&tilted, p.tilted);
            s.moved += p.worn * p.tilted * fabs(p.log_ratio);
            s.linear += p.worn * fabs(p.linear);
            s.gross += p.worn * p.gross;
        }
    }
    s.centred = total_of(&centred);
    s.tilted = total_of(&tilted);
    return s;
}

/* Near the atom |k (r-1)| is small and r^k - 1 - k(r-1) is its binomial series, whose terms are moments
 * of r-1 over the points so far. This needs no sine, and has no cancellation that the power T would
 * magnify. */
#define TERMS 15
#define SMALL 0.25

typedef struct near_part {
    size_t points;       /* the first ones                         */
    total moment[TERMS]; /* [n]: sum of weight (r-1)^n, n >= 2     */
    double even[TERMS];  /* the same of |r-1|^n                    */
    total centred;       /* what these points add on the real axis */
    double moved, linear, gross;
} near_part;

static double left_over(double all, double part)
{
    return fmax(all - part, 0) + 1e-12 * all;
}

/* Absolute error of M(c+it) exp(-shift), the series of the near part aside. A term is the difference of
 * weight r^k and weight k (r-1). */
static double node_error(const sotto_sgm_grid *g, const sums *s, const near_part *n, double t)
{
    double size = fabs(g->power) + t;
    double moved = left_over(s->moved, n->moved), linear = left_over(s->linear, n->linear);
    double rounding = ROUNDINGS * U * (left_over(s->gross, n->gross) + size * (moved + linear));
    double missing =
        8 * U * (fabs(g->missing_one) + size * fabs(g->missing_linear)) + size * g->missing_error;

    if (g->cap_error > 0) {
        size_t last = g->points - 1;
        double scale = exp(-s->shift), grown = g->log_weight[last] + g->power * g->log_ratio[last];
        rounding += g->cap_error * (exp(grown - s->shift) + g->weight[last] * scale +
                                    size * fabs(g->linear[last]) * scale);
    }
    /* The near part's share of the real axis was added and taken away again. */
    return rounding + 8 * U * fabs(s->centred) + exp(g->log_error - s->shift) +
           missing * exp(-s->shift);
}

static double cumulant_on(const sotto_sgm_grid *g, double *error)
{
    near_part none = {0};
    sums s = sums_over(g);
    double bad = node_error(g, &s, &none, 0);

    if (s.shift == 0) {
        double value = log1p(s.centred + g->missing_one + g->power * g->missing_linear);
        *error = 1.01 * bad / exp(value) + 2 * U * fabs(value);
        return value;
    }
    double value = s.shift + log(s.tilted);
    *error = 1.01 * bad / s.tilted + 4 * U * fabs(value);
    return value;
}

static double gaussian_cumulant(const sotto_sgm_law *law, double c, double *error)
{
    double value = c * (c + 1) / (2 * law->sigma * law->sigma);

    *error = 4 * U * value;
    return value;
}

struct sotto_sgm_real {
    size_t size; /* of this and its arrays */
    sotto_sgm_shape *shape;
    sotto_sgm_grid grid;
};

sotto_sgm_real *sotto_sgm_real_new(const sotto_sgm_law *law, double c)
{
    double edges[REAL_PANELS + 1], log_error;
    size_t panels = sotto_sgm_panels(law, c, 0, edges, REAL_PANELS, SOTTO_SGM_PANEL, &log_error);

    if (panels == 0)
        return NULL;
    size_t room = (panels + 1) * SOTTO_SGM_PANEL;
    size_t size = sizeof(sotto_sgm_real) + SOTTO_SGM_ARRAYS * room * sizeof(double);
    sotto_sgm_real *r = sotto_alloc(size);
    if (!r)
        return NULL;
    r->size = size;
    r->shape = sotto_sgm_shape_new(law, edges, panels);
    if (!r->shape) {
        sotto_sgm_real_free(r);
        return NULL;
    }
    sotto_sgm_grid_fill(&r->grid, law, (double *)(r + 1), room, edges, panels, SOTTO_SGM_PANEL);
    return r;
}

void sotto_sgm_real_free(sotto_sgm_real *r)
{
    if (!r)
        return;
    sotto_sgm_shape_free(r->shape);
    sotto_release(r, r->size);
}

double sotto_sgm_real_cumulant(sotto_sgm_real *r, const sotto_sgm_law *law, double c, double *error)
{
    r->grid.power = sotto_sgm_power(law, c);
    r->grid.log_error = sotto_sgm_shape_error(r->shape, law, c);
    return cumulant_on(&r->grid, error);
}

double sotto_sgm_cumulant(const sotto_sgm_law *law, double c, double *error)
{
    *error = 0;
    if (law->q == 1)
        return gaussian_cumulant(law, c, error);
    sotto_sgm_real *r = sotto_sgm_real_new(law, c);
    if (!r)
        return INFINITY;
    double value = sotto_sgm_real_cumulant(r, law, c, error);
    sotto_sgm_real_free(r);
    return value;
}

double sotto_sgm_whole_cumulant(const sotto_sgm_law *law, double c, double *error)
{
    /* Wide enough that what is cut, a Gaussian tail round 0 or c + 1, is below exp(-72) of the whole. */
    sotto_sgm_law whole = {.q = law->q, .sigma = law->sigma, .add = law->add};
    double reach = 12 * law->sigma;

    *error = 0;
    if (law->q == 1)
        return gaussian_cumulant(law, c, error);
    whole.low = -reach;
    whole.high = reach + 1;
    if (law->add)
        whole.low = fmax(-(c + reach), -law->sigma * sqrt(2 * (72 - c * log1p(-law->q))));
    else
        whole.high = c + 1 + reach;
    whole.low = fmin(whole.low, -reach);
    double value = sotto_sgm_cumulant(&whole, c, error);
    *error += 1e-30;
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

static void near_add(near_part *n, const sample *p)
{
    double excess = p->excess, power = p->weight * excess;

    for (int i = 2; i < TERMS; i++) {
        power *= excess;
        total_add(&n->moment[i], power);
        n->even[i] += p->worn * fabs(power);
    }
    total_add(&n->centred, p->centred);
    n->moved += p->worn * p->tilted * fabs(p->log_ratio);
    n->linear += p->worn * fabs(p->linear);
    n->gross += p->worn * p->gross;
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
        *size += (fabs(b_re) + fabs(b_im)) * n->even[i];
    }
}

static bool is_near(const sotto_sgm_grid *g, size_t j, double size)
{
    return fabs(g->log_ratio[j]) < 1 && (size + TERMS) * fabs(g->excess[j]) <= SMALL;
}

typedef struct node {
    double re, im, error;
} node;

/* M(c+it) - 1, or M(c+it) exp(-shift) where that is not 0, from the sums over the far points; wrong: what
 * these may err by beyond their own rounding. */
static node node_at(const sotto_sgm_law *law, const sotto_sgm_grid *g, const sums *s,
                    const near_part *n, double t, sotto_sgm_sums far, double wrong)
{
    double series_re, series_im, size;
    double sign = law->add ? -1 : 1;
    node out;

    near_sum(n, g->power, sign * t, &series_re, &series_im, &size);
    double rest = s->shift == 0 ? s->centred - total_of(&n->centred) : s->tilted;
    out.re = far.re + rest + series_re;
    out.im = sign * far.im + series_im;
    if (s->shift == 0) {
        out.re += g->missing_one + g->power * g->missing_linear;
        out.im += sign * t * g->missing_linear;
    }
    /* A remainder of 1e-21 a point, of total weight one, ends the series. */
    out.error = node_error(g, s, n, t) + wrong + ROUNDINGS * U * size + 2e-21;
    return out;
}

/* One node of the line as log-modulus, phase and relative error. */
static void keep_node(const sums *s, node m, double *log_modulus, double *phase, double *error)
{
    double whole = s->shift == 0 ? 1 + m.re : m.re;
    double modulus = fmax(hypot(whole, m.im), m.error);
    bool close = s->shift == 0 && fabs(m.re) < 0.5 && fabs(m.im) < 0.5;

    *log_modulus =
        close ? log1p(2 * m.re + m.re * m.re + m.im * m.im) / 2 : log(modulus) + s->shift;
    *phase = atan2(m.im, whole);
    *error = 1.01 * m.error / modulus;
}

static size_t room_for(size_t points)
{
    return (points + SOTTO_SGM_LANES - 1) / SOTTO_SGM_LANES * SOTTO_SGM_LANES;
}

/* What the points of a line are, and how many of them have joined the near part. */
typedef struct far_part {
    double *half, *tilted, *linear, *centred, *turns;
    size_t room;
} far_part;

/* Fewer points are near at a higher frequency, so the frequencies go down and points join. */
static void near_extend(near_part *near, const sotto_sgm_grid *g, double t, far_part *far)
{
    double size = sqrt(g->power * g->power + t * t);

    while (near->points < g->points && is_near(g, near->points, size)) {
        size_t j = near->points;
        double e = g->power * g->log_ratio[j];
        sample p = {.log_ratio = g->log_ratio[j],
                    .excess = g->excess[j],
                    .weight = g->weight[j],
                    .tilted = far->tilted[j],
                    .centred = far->centred[j],
                    .linear = far->linear[j],
                    .worn = worn_at(g, j)};
        p.gross = fabs(e) < 0.5 ? fabs(p.centred) : p.tilted * (1 + fabs(e)) + p.weight;
        near_add(near, &p);
        far->tilted[j] = far->linear[j] = 0;
    }
}

static void far_fill(far_part *far, const sotto_sgm_grid *g, double shift)
{
    samples at;

    for (size_t j = g->points; j < far->room; j++)
        far->half[j] = far->tilted[j] = far->linear[j] = far->centred[j] = 0;
    samples_begin(&at, g, shift);
    for (size_t from = 0, count; from < g->points; from += count) {
        count = samples_next(&at, from);
        for (size_t i = 0; i < count; i++) {
            sample p = sample_of(&at, from, i);
            far->half[from + i] = p.log_ratio / 2;
            far->tilted[from + i] = p.tilted;
            far->linear[from + i] = shift == 0 ? p.linear : 0;
            far->centred[from + i] = p.centred;
        }
    }
}

/* The sums of `run` nodes from t down; returns what they may err by beyond their own rounding. */
static double far_sums(sotto_sgm_sums *out, const far_part *f, size_t run, size_t skip, double t,
                       double step, const sums *s, double moved)
{
    if (run == 1) {
        *out =
            sotto_sgm_sines(t, f->half + skip, f->tilted + skip, f->linear + skip, f->room - skip);
        return 0;
    }
    double middle = t - SOTTO_SGM_REACH * step, most = fabs(middle) + SOTTO_SGM_REACH * step;
    sotto_sgm_points at = {f->half + skip,  f->tilted + skip, f->linear + skip,
                           f->turns + skip, f->room,          f->room - skip};
    sotto_sgm_sines_run(out, middle, step, &at);
    return 250 * U * fmin(most * moved, 4 * s->tilted);
}

static void fill_line(const sotto_sgm_law *law, const sotto_sgm_grid *g, double step, size_t nodes,
                      double *log_modulus, double *phase, double *error, far_part *f)
{
    sums s = sums_over(g);
    near_part near = {0};
    /* A line that costs much has few rounds, and can bear the error of products. */
    bool many = (double)nodes * (double)f->room > MOST_EXACT;

    far_fill(f, g, s.shift);
    if (many)
        sotto_sgm_turns(f->turns, step, f->half, f->room);
    for (size_t left = nodes; left > 0;) {
        sotto_sgm_sums far[SOTTO_SGM_RUN];
        size_t run = !many ? 1 : left < SOTTO_SGM_RUN ? left : SOTTO_SGM_RUN;
        double t = (double)(left - 1) * step;
        if (s.shift == 0)
            near_extend(&near, g, t, f);
        size_t skip = near.points / SOTTO_SGM_LANES * SOTTO_SGM_LANES;
        double wrong = far_sums(far, f, run, skip, t, step, &s, left_over(s.moved, near.moved));
        for (size_t i = 0; i < run; i++) {
            size_t k = --left;
            node m = node_at(law, g, &s, &near, (double)k * step, far[i], wrong);
            keep_node(&s, m, &log_modulus[k], &phase[k], &error[k]);
        }
    }
}

bool sotto_sgm_line(const sotto_sgm_law *law, double c, double step, size_t nodes,
                    double *log_modulus, double *phase, double *error, sotto_scratch *work)
{
    if (law->q == 1) {
        gaussian_line(law, c, step, nodes, log_modulus, phase, error);
        return true;
    }
    sotto_sgm_grid g = {0};
    double *edges = sotto_alloc((MOST_PANELS + 1) * sizeof(double)), *arrays = NULL;
    double top = step * (double)(nodes - 1);
    size_t panels = 0, room = 0, points = sotto_sgm_panel_points(law, top);
    if (edges)
        panels = sotto_sgm_panels(law, c, top, edges, MOST_PANELS, points, &g.log_error);
    if (panels > 0 && (double)(panels * points) * (double)nodes < MOST_WORK) {
        room = room_for(panels * points + 1);
        arrays = sotto_scratch_take(work, (LINE_ARRAYS + SOTTO_SGM_ARRAYS) * room);
    }
    if (arrays) {
        g.power = sotto_sgm_power(law, c);
        sotto_sgm_grid_fill(&g, law, arrays + LINE_ARRAYS * room, room, edges, panels, points);
        far_part f = {
            arrays, arrays + room, arrays + 2 * room, arrays + 3 * room, arrays + 4 * room, room};
        fill_line(law, &g, step, nodes, log_modulus, phase, error, &f);
    }
    sotto_release(edges, (MOST_PANELS + 1) * sizeof(double));
    return arrays != NULL;
}

double sotto_sgm_line_points(const sotto_sgm_law *law, double t)
{
    if (law->q == 1)
        return 0;
    double turns = t * (sotto_sgm_log_ratio(law, law->high) - sotto_sgm_log_ratio(law, law->low));
    return 60 + 14 * (law->high - law->low) / law->sigma + 0.8 * turns;
}
