#include "account/gauss/sgm_quadrature.h"

#include "account/numeric/elementary.h"
#include "account/numeric/special.h"
#include "base/alloc.h"

/* Gauss-Legendre rules of 16 and 32 points: the places of one half, largest first, and the logarithms of their
 * weights. */
static const double places_16[8] = {0.9894009349916499326,  0.94457502307323257608,
                                    0.86563120238783174388, 0.7554044083550030339,
                                    0.61787624440264374845, 0.45801677765722738634,
                                    0.28160355077925891323, 0.095012509837637440185};
static const double weights_16[8] = {
    -3.6062876506365719437, -2.7765401357833838029, -2.3522112338284446227, -2.0824141855666388489,
    -1.8998170265246452439, -1.7769308424053149138, -1.7004386086690819741, -1.6636269192737427147};
static const double places_32[16] = {
    0.99726386184948156354, 0.9856115115452683354,  0.96476225558750643077,
    0.93490607593773968917, 0.89632115576605212397, 0.84936761373256997013,
    0.79448379596794240696, 0.73218211874028968039, 0.66304426693021520098,
    0.58771575724076232904, 0.50689990893222939002, 0.42135127613063534536,
    0.33186860228212764978, 0.23928736225213707454, 0.14447196158279649349,
    0.048307665687738316235};
static const double weights_32[16] = {
    -4.9591900848988555168, -4.1181622816923963741, -3.6733185431605101264, -3.373372229488263534,
    -3.1503787891021765526, -2.975967700660769394,  -2.8355865687925130331, -2.7207977655059811163,
    -2.6262979601604265517, -2.548563693466503841,  -2.485163592071480756,  -2.4343797887852910046,
    -2.3949868407368724974, -2.3661171972104829094, -2.3471775191742130897, -2.3377969318791954068};

#define PI 3.14159265358979323846
/* What a panel may miss, against the largest term, as a power of e; and where the phase turns so often that panels are
 * what costs. */
#define TARGET      (-58.0)
#define TARGET_MANY (-48.0)
#define MANY_TURNS  200.0

/* What the exponent -x^2/2var + power log r does at the panel's centre. */
typedef struct centre {
    double x, log_density, log_ratio;
    double speed; /* of log r */
    double odds;  /* q/(1-q) */
    double half;  /* of the panel's width, and its logarithm */
    double log_half;
} centre;

static centre centre_at(const sotto_sgm_law *law, double from, double to)
{
    double x = (from + to) / 2, half = (to - from) / 2;
    centre m = {.x = x, .log_density = sotto_sgm_log_density(law, x), .half = half};

    m.log_ratio = sotto_sgm_log_ratio(law, x);
    m.odds = law->q / (1 - law->q);
    m.speed = law->q * exp(sotto_sgm_tilt(law, x) - m.log_ratio) / (law->sigma * law->sigma);
    m.log_half = log(half);
    return m;
}

/* The ellipse has its foci at the panel's ends and the parameter rho. It lies in |Re - centre| <= wide, |Im| <=
 * tall, where r/(1-q) = 1 + v with v between two values on the real axis. What of it bounds an integrand, for
 * every power. */
typedef struct region {
    bool outside; /* r has a zero in it, or nearly */
    double wide;
    double tall; /* squared, over twice the variance */
    double turn; /* that log r makes at most           */
    double bend; /* largest (log r)'' */
    double dent; /* log of the least |1 + v e^{ia}|^2/(1 + v)^2 */
} region;

static const struct {
    double rho, log_rho;
} tries[] = {{5, 1.6094379}, {7.5, 2.0149030}, {3.2, 1.1631508}, {12, 2.4849066}};
#define TRIES (sizeof tries / sizeof tries[0])

static double at_most(double x, double most)
{
    return x < most ? x : most;
}

static region region_of(const sotto_sgm_law *law, const centre *m, double rho)
{
    double var = law->sigma * law->sigma, tall = m->half * (rho - 1 / rho) / 2, angle = tall / var;
    region g = {.outside = angle > 0.95 * PI, .wide = m->half * (rho + 1 / rho) / 2};

    if (g.outside)
        return g;
    double least = m->odds * exp(at_most(sotto_sgm_tilt(law, m->x - g.wide), 600));
    double most = m->odds * exp(at_most(sotto_sgm_tilt(law, m->x + g.wide), 600));
    /* The value of v that is nearest to 1: where 1 + v e^{ia} bends most. */
    double v = least > 1 ? least : most < 1 ? most : 1, part = v / ((1 + v) * (1 + v));
    g.tall = tall * tall / (2 * var);
    /* |arg(1 + v e^{ia})| <= a v/(1+v) for v <= 1, and never above a. */
    g.turn = most < 1 ? angle * most / (1 + most) : angle;
    g.bend = part / (var * var);
    if (law->add) {
        /* |1 + v e^{ia}|^2 = (1+v)^2 - 4 v sin^2(a/2) */
        double s = sin(angle / 2);
        g.dent = log1p(-4 * part * s * s);
    }
    return g;
}

/* Log of a bound on |density(z)| r(Re z)^power in the region: the exponent's tangent at the centre, and
 * half its second derivative, -1/var + power v/(1+v)^2/var^2, where that is positive. */
static double log_joint(const sotto_sgm_law *law, double power, const centre *m, const region *g)
{
    double precision = 1 / (law->sigma * law->sigma), slope = power * m->speed - m->x * precision;
    double curve = (power > 0 ? power * g->bend : 0) - precision;

    return m->log_density + power * m->log_ratio + fabs(slope) * g->wide +
           (curve > 0 ? curve * g->wide * g->wide / 2 : 0) + g->tall;
}

/* An integrand, r^(power + it), and the points of the rule for it. */
typedef struct wave {
    double power, t;
    double log_size; /* log(2 + 2 (|power| + t)) */
    double points;
} wave;

static wave wave_of(const sotto_sgm_law *law, double c, double t, size_t points)
{
    double power = sotto_sgm_power(law, c);

    return (wave){power, t, log(2 + 2 * (fabs(power) + t)), (double)points};
}

/* Log of a bound on |density (r^k - 1 - k(r-1))|, k = power + it, inside the region. */
static double log_height(const sotto_sgm_law *law, const wave *w, const centre *m, const region *g)
{
    if (g->outside)
        return INFINITY;
    double size = log_joint(law, w->power, m, g) + w->t * g->turn + w->power / 2 * g->dent;
    double zero = log_joint(law, 0, m, g), one = log_joint(law, 1, m, g);
    double rest = w->log_size + (zero > one ? zero : one);
    return (size > rest ? size : rest) + 0.7;
}

/* Log of the error of the n-point rule on one panel: (64/15) height rho^-2n/(1 - rho^-2). */
static double log_error_at(const sotto_sgm_law *law, const wave *w, const centre *m,
                           const region *g, size_t i)
{
    return log_height(law, w, m, g) - 2 * w->points * tries[i].log_rho + m->log_half + 1.46 + 0.11;
}

/* The first found that is at most `enough`, or the least. */
static double log_panel_error(const sotto_sgm_law *law, const wave *w, double from, double to,
                              double enough)
{
    double best = INFINITY;
    centre m = centre_at(law, from, to);

    for (size_t i = 0; i < TRIES && best > enough; i++) {
        region g = region_of(law, &m, tries[i].rho);
        best = at_most(log_error_at(law, w, &m, &g, i), best);
    }
    return best;
}

/* Log of the largest tilted density, about. */
static double log_peak(const sotto_sgm_law *law, double power)
{
    double best = -INFINITY;

    int most = (int)fmin(fmax(2 * (law->high - law->low) / law->sigma, 48), 4000);

    for (int i = 0; i <= most; i++) {
        double x = law->low + (law->high - law->low) * i / most;
        best = fmax(best, sotto_sgm_log_density(law, x) + power * sotto_sgm_log_ratio(law, x));
    }
    return best;
}

size_t sotto_sgm_panel_points(const sotto_sgm_law *law, double t)
{
    double span = sotto_sgm_log_ratio(law, law->high) - sotto_sgm_log_ratio(law, law->low);

    return t * span > MANY_TURNS ? SOTTO_SGM_WIDE_PANEL : SOTTO_SGM_PANEL;
}

size_t sotto_sgm_panels(const sotto_sgm_law *law, double c, double t, double *edges, size_t most,
                        size_t points, double *log_error)
{
    wave w = wave_of(law, c, t, points);
    double at = law->low;
    double width = fmin(2 * law->sigma, 2 * law->sigma * law->sigma);
    double turns = t * (sotto_sgm_log_ratio(law, law->high) - sotto_sgm_log_ratio(law, at));
    double allowed =
               (turns > MANY_TURNS ? TARGET_MANY : TARGET) + fmax(log_peak(law, w.power) - 1, 0),
           sum = 0;
    size_t count = 0;

    edges[0] = at;
    while (at < law->high) {
        double error = 0, to = 0;
        for (int i = 0; i < 60; i++, width *= 0.75) {
            to = fmin(at + width, law->high);
            error = log_panel_error(law, &w, at, to, allowed);
            if (error <= allowed)
                break;
        }
        if (count == most || !(to > at))
            return 0;
        sum += exp(error - allowed);
        edges[++count] = at = to;
        width *= 1.4;
    }
    *log_error = allowed + log(sum);
    return count;
}

/* ---- panels that are used for many powers -------------------------------------------------------------- */

typedef struct panel {
    centre centre;
    region region[TRIES];
} panel;

struct sotto_sgm_shape {
    size_t panels;
    panel at[];
};

sotto_sgm_shape *sotto_sgm_shape_new(const sotto_sgm_law *law, const double *edges, size_t panels)
{
    sotto_sgm_shape *s = sotto_alloc(sizeof *s + panels * sizeof s->at[0]);

    if (!s)
        return NULL;
    s->panels = panels;
    for (size_t i = 0; i < panels; i++) {
        s->at[i].centre = centre_at(law, edges[i], edges[i + 1]);
        for (size_t k = 0; k < TRIES; k++)
            s->at[i].region[k] = region_of(law, &s->at[i].centre, tries[k].rho);
    }
    return s;
}

void sotto_sgm_shape_free(sotto_sgm_shape *s)
{
    if (s)
        sotto_release(s, sizeof *s + s->panels * sizeof s->at[0]);
}

double sotto_sgm_shape_error(const sotto_sgm_shape *s, const sotto_sgm_law *law, double c)
{
    wave w = wave_of(law, c, 0, SOTTO_SGM_PANEL);
    double top = -INFINITY, sum = 0;

    for (size_t i = 0; i < s->panels; i++) {
        const panel *p = &s->at[i];
        double error = INFINITY;
        for (size_t k = 0; k < TRIES; k++)
            error = at_most(log_error_at(law, &w, &p->centre, &p->region[k], k), error);
        if (error > top) {
            sum *= exp(top - error);
            top = error;
        }
        /* Far below the largest all that is left of one is that it is there. */
        sum += error > top - 36 ? exp(error - top) : 3e-16;
    }
    return top + log(sum);
}

/* All that follows from a point's x and log_weight, of `count` points from `from` on; x is overwritten. */
static void fill_points(sotto_sgm_grid *g, const sotto_sgm_law *law, size_t from, size_t count,
                        double *x)
{
    double *weight = g->weight + from, *ratio = g->log_ratio + from, *excess = g->excess + from;
    double precision = 1 / (2 * law->sigma * law->sigma), log_q = log(law->q);

    for (size_t i = 0; i < count; i++) {
        x[i] = (2 * x[i] - 1) * precision;
        excess[i] = x[i] < 500 ? x[i] : 0;
    }
    sotto_exp_all(weight, g->log_weight + from, count);
    sotto_expm1_all(excess, excess, count);
    for (size_t i = 0; i < count; i++)
        excess[i] *= law->q;
    sotto_log1p_all(ratio, excess, count);
    for (size_t i = 0; i < count; i++) {
        g->linear[from + i] = weight[i] * excess[i];
        if (x[i] < 500)
            continue;
        ratio[i] = log_q + x[i];
        g->linear[from + i] = exp(g->log_weight[from + i] + ratio[i]);
    }
}

/* All that lies right of `high`, at `high`: only the excess of r over r(high) is missing. */
static void fill_cap(sotto_sgm_grid *g, const sotto_sgm_law *law)
{
    double s = law->sigma;
    double weight = sotto_sgm_cap_weight(law, &g->cap_error);
    double excess = sotto_sgm_cap_excess(law, &g->missing_error);
    double left_0 = sotto_normal_tail(-law->low / s),
           left_1 = sotto_normal_tail((1 - law->low) / s);

    double x = law->high;

    g->log_weight[g->points] = log(weight);
    fill_points(g, law, g->points++, 1, &x);
    g->missing_one = -left_0;
    g->missing_linear = -law->q * (left_1 - left_0) - excess;
}

void sotto_sgm_grid_fill(sotto_sgm_grid *grid, const sotto_sgm_law *law, double *memory,
                         size_t room, const double *edges, size_t panels, size_t points)
{
    double s = law->sigma;
    double out_0 = sotto_normal_tail(law->high / s) + sotto_normal_tail(-law->low / s);
    double out_1 = sotto_normal_tail((law->high - 1) / s) + sotto_normal_tail((1 - law->low) / s);

    grid->points = panels * points;
    grid->missing_one = -out_0;
    grid->missing_linear = -law->q * (out_1 - out_0);
    grid->log_weight = memory;
    grid->weight = memory + room;
    grid->log_ratio = memory + 2 * room;
    grid->excess = memory + 3 * room;
    grid->linear = memory + 4 * room;
    const double *place = points == SOTTO_SGM_PANEL ? places_16 : places_32;
    const double *weight = points == SOTTO_SGM_PANEL ? weights_16 : weights_32;
    for (size_t i = 0; i < panels; i++) {
        double half = (edges[i + 1] - edges[i]) / 2, middle = edges[i] + half;
        double height = log(half) - log(s) - 0.91893853320467274178, x[SOTTO_SGM_WIDE_PANEL];
        for (size_t k = 0; k < points; k++) {
            bool left = k < points / 2;
            size_t at = left ? k : points - 1 - k;
            x[k] = middle + (left ? -half : half) * place[at];
            grid->log_weight[i * points + k] = height + weight[at] - x[k] * x[k] / (2 * s * s);
        }
        fill_points(grid, law, i * points, points, x);
    }
    grid->cap_error = grid->missing_error = 0;
    if (law->capped)
        fill_cap(grid, law);
}
