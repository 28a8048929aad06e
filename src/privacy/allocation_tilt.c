#include "privacy/allocation_tilt.h"

#include "privacy/allocation_end.h"
#include "privacy/special.h"
#include "privacy/special_gauss.h"
#include "privacy/special_root.h"

#include <complex.h>

#define PI 3.14159265358979323846
#define U  SOTTO_UNIT_ROUNDOFF
/* Of the line, e^-CUT of the peak is charged instead of evaluated. */
#define CUT 32.0
/* e^-MARGIN of delta may be lost to cutting Y off, and about as much to aliases. */
#define MARGIN 20.0
/* Points times nodes that fit into the time an answer may take: turned, and by their sines. */
#define WORK_MAX   4e6
#define WORK_EXACT 3e5

/* ---- points ------------------------------------------------------------------------------------------ */

/* The largest Re sZ of an ellipse over which Y is e^bottom to e^top in size and turned by up to `turn`: linear in
 * |Y|, so at an end. */
static double most_growth(const sotto_tilt *q, double top, double bottom, double turn, double c,
                          double v)
{
    double lean = v * sin(turn);

    if (q->sign > 0)
        return c * expm1(top) + lean * exp(top);
    return c + fmax(exp(top) * (lean - c * cos(turn)), exp(bottom) * (lean - c * cos(turn)));
}

/* A bound on the error of sixteen points on mid +- half, of the integral of the density times e^sZ - 1 - sZ, for Re s
 * at either end of c and |Im s| <= v: 64/15 half M rho^-30 / (1 - rho^-2), M the largest value on the ellipse of sum of semi-axes rho half (Trefethen
 * 2013, theorem 19.3), and |e^x - 1 - x| <= |x|^2/2 e^max(0, Re x). The best of a few rho. */
static double panel_error(const sotto_tilt *q, double mid, double half, sotto_bound c, double v)
{
    static const double rhos[] = {1.3, 1.7, 2.2, 3, 4, 6, 9, 14, 25, 60};
    double best = INFINITY;

    for (size_t i = 0; i < sizeof rhos / sizeof rhos[0]; i++) {
        double rho = rhos[i], wide = half * (rho + 1 / rho) / 2, high = half * (rho - 1 / rho) / 2;

        if (q->a * high > 1.4)
            break;
        double near = fmax(0, fabs(mid) - wide), turn = q->a * high;
        double top = q->a * (mid + wide) - q->a * q->a / 2;
        double bottom = q->a * (mid - wide) - q->a * q->a / 2;
        double size = exp(fmax(0, top)) * hypot(fmax(fabs(top), fabs(bottom)), turn);
        double grows = fmax(most_growth(q, top, bottom, turn, c.low, v),
                            most_growth(q, top, bottom, turn, c.high, v));
        double log_value = (high * high - near * near) / 2 - SOTTO_LOG_SQRT_2PI +
                           log((c.high * c.high + v * v) * size * size / 2) + fmax(0, grows);

        best =
            fmin(best, log_value + log(64.0 / 15 * half / (1 - 1 / (rho * rho))) - 30 * log(rho));
    }
    return exp(best);
}

static void add_points(sotto_tilt *q, double mid, double half)
{
    for (int i = 0; i < 2 * SOTTO_GAUSS_HALF; i++) {
        int k = i / 2;
        double w = mid + (i % 2 == 0 ? half : -half) * sotto_gauss_node[k];

        q->z[q->points] = q->sign * expm1(q->a * w - q->a * q->a / 2);
        q->weight[q->points++] =
            half * sotto_gauss_weight[k] * exp(-w * w / 2 - SOTTO_LOG_SQRT_2PI);
    }
}

/* Halves panels until each is good to `enough` for c and v; *error is the sum of what they may be off by. False if
 * there are too many. */
static bool lay_points(sotto_tilt *q, sotto_bound c, double v, double enough, double *error)
{
    double left = -q->under;

    q->points = 0;
    *error = 0;
    for (double length = 2; left < q->over;) {
        double half = fmin(length, q->over - left) / 2, off;

        off = panel_error(q, left + half, half, c, v);
        if (!(off <= enough) && length > 1e-3) {
            length /= 2;
            continue;
        }
        if (!(off <= enough) || q->points + 2 * SOTTO_GAUSS_HALF > SOTTO_TILT_POINTS)
            return false;
        add_points(q, left + half, half);
        *error += off;
        left = left + 2 * half < q->over ? left + 2 * half : q->over;
        length *= 2;
    }
    return true;
}

/* ---- the transform ----------------------------------------------------------------------------------- */

/* e^x - 1 - x; the series where that would cancel: 0.5^17/17! is below 1e-19 of the first term. */
static double complex less_linear(double complex x)
{
    double re = creal(x), im = cimag(x);

    if (fabs(re) + fabs(im) > 0.5) {
        double size = exp(re);

        return (size * cos(im) - 1 - re) + I * (size * sin(im) - im);
    }
    static const double inverse[] = {1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,
                                     1.0 / 8,  1.0 / 9,  1.0 / 10, 1.0 / 11, 1.0 / 12,
                                     1.0 / 13, 1.0 / 14, 1.0 / 15};
    double sum_re = 1, sum_im = 0;

    for (int n = 12; n >= 0; n--) {
        double next_re = 1 + (re * sum_re - im * sum_im) * inverse[n];

        sum_im = (re * sum_im + im * sum_re) * inverse[n];
        sum_re = next_re;
    }
    double square_re = (re * re - im * im) / 2, square_im = re * im;

    return (square_re * sum_re - square_im * sum_im) +
           I * (square_re * sum_im + square_im * sum_re);
}

/* E e^(cZ) - 1, and its second derivative. */
static double real_transform(const sotto_tilt *q, double c, double *second)
{
    double sum = c * q->mean, bend = 0;

    for (size_t j = 0; j < q->points; j++) {
        double x = c * q->z[j], less = creal(less_linear(x));

        sum += q->weight[j] * less;
        bend += q->weight[j] * q->z[j] * q->z[j] * (less + 1 + x);
    }
    *second = bend;
    return sum;
}

/* What rounding may do to the real one: 64u and the rounding of Z in the exponent of every term. */
static double transform_rounding(const sotto_tilt *q, double c)
{
    double sum = 0;

    for (size_t j = 0; j < q->points; j++) {
        double x = c * fabs(q->z[j]);

        sum += q->weight[j] * x * x / 2 * exp(fmax(0, c * q->z[j])) * (64 + 8 * x);
    }
    return U * (sum + 8 * c * (fabs(q->mean) + q->beyond));
}

/* The transform along the line, node by node: E e^(sZ) - E e^(cZ) = E e^(cZ) (-2 sin^2(vZ/2) + i sin vZ), in which
 * nothing cancels but the signs of Z. Half-angles turn from one node to the next; or, exactly, by their sines. */
typedef struct turning {
    const sotto_tilt *line;
    double step;
    bool exact;
    double tilted[SOTTO_TILT_POINTS]; /* weight e^(cZ) */
    double by_re[SOTTO_TILT_POINTS], by_im[SOTTO_TILT_POINTS];
    double re[SOTTO_TILT_POINTS], im[SOTTO_TILT_POINTS];
} turning;

static void turn_start(turning *w, const sotto_tilt *q, double step, bool exact)
{
    w->line = q;
    w->step = step;
    w->exact = exact;
    for (size_t j = 0; j < q->points; j++) {
        w->tilted[j] = q->weight[j] * exp(q->c * q->z[j]);
        w->by_re[j] = cos(step * q->z[j] / 2);
        w->by_im[j] = sin(step * q->z[j] / 2);
        w->re[j] = 1;
        w->im[j] = 0;
    }
}

/* To node k, from the one before. */
static double complex turn_to(turning *w, double k)
{
    double down = 0, side = 0;
    size_t points = w->line->points;

    for (size_t j = 0; j < points; j++) {
        double re, im;

        if (w->exact) {
            double half = k * w->step * w->line->z[j] / 2;

            re = cos(half);
            im = sin(half);
        } else {
            re = w->re[j] * w->by_re[j] - w->im[j] * w->by_im[j];
            im = w->re[j] * w->by_im[j] + w->im[j] * w->by_re[j];
            w->re[j] = re;
            w->im[j] = im;
        }
        down += w->tilted[j] * (im * im);
        side += w->tilted[j] * (im * re);
    }
    return -2 * down + I * (2 * side);
}

/* Of one node: after n turns a half-angle's sine is off by 4u n and by the rounding of Z; the sum, by as much again. */
static double turn_rounding(const turning *w, double turns, double v)
{
    double sum = 0;

    for (size_t j = 0; j < w->line->points; j++) {
        double x = fmin(2, v * fabs(w->line->z[j]));

        sum += w->tilted[j] * x * (4 * turns + 32 + 8 * v * fabs(w->line->z[j]));
    }
    return U * sum;
}

/* ---- where the line goes ------------------------------------------------------------------------------ */

/* The A at which a saddle-point formula through c gives the goal, log of E (sum Z - A)+; by log c. */
typedef struct saddle_goal {
    const sotto_tilt *line;
    double log_goal;
} saddle_goal;

static double rough_place(const void *self, double log_c)
{
    const saddle_goal *at = self;
    const sotto_tilt *q = at->line;
    double c = exp(log_c), bend, less = real_transform(q, c, &bend);
    double spread = q->t * bend / (1 + less) + 2 / (c * c);

    return (q->t * log1p(less) - 2 * log_c - 0.5 * log(2 * PI * spread) - at->log_goal) / c;
}

/* The c that gives the smallest A. */
static double best_c(const sotto_tilt *q, double deviation, double log_goal, double *place)
{
    double reach = q->sign > 0 ? expm1(q->a * q->over - q->a * q->a / 2) : 1;
    double from = log(1e-2 / deviation), to = log(fmin(200 / deviation, 600 / reach));
    saddle_goal at = {q, log_goal};

    return exp(sotto_root_least(rough_place, &at, fmin(from, to - 3), to, 0.02, place));
}

/* ---- where it may end ------------------------------------------------------------------------------------ */

static double end_of_line(const sotto_tilt *q, double c, double log_whole)
{
    sotto_tilted law = {q->a, q->sign, c, q->under, q->over, q->beyond, log_whole};

    return sotto_tilted_end(&law, exp(-CUT / q->t));
}

/* ---- the line ----------------------------------------------------------------------------------------------- */

/* The points are good to `error` up to |Im s| = most. */
static sotto_status tabulate(sotto_tilt *q, double period, double error, double most,
                             const sotto_allocation_inflate *inflate, sotto_err *err)
{
    double bend, whole = real_transform(q, q->c, &bend), size = 0, off = 0;
    double nodes = 2 + ceil(end_of_line(q, q->c, log1p(whole - error) - 1e-10) * period / (2 * PI));
    double last = (nodes - 1) * 2 * PI / period;

    if (!(last <= most && nodes <= SOTTO_TILT_NODES && nodes * (double)q->points <= WORK_MAX))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    q->nodes = (size_t)nodes;
    q->step = 2 * PI / period;
    q->log_peak = q->t * log1p(whole);
    double fixed = error * inflate->transform + transform_rounding(q, q->c) * inflate->rounding;
    turning w;

    /* Turning is ten times faster, unless its roundings to the power t would show. */
    turn_start(&w, q, q->step, false);
    if (q->t * turn_rounding(&w, nodes, last) > 1e-9)
        w.exact = true;
    if (w.exact && nodes * (double)q->points > WORK_EXACT)
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    double moving = turn_rounding(&w, w.exact ? 0 : nodes, last) * inflate->rounding;

    for (size_t k = 0; k < q->nodes; k++) {
        double v = (double)k * q->step;
        double complex psi = whole + (k == 0 ? 0 : turn_to(&w, (double)k)), s = q->c + I * v;
        double re = creal(psi), im = cimag(psi), length = hypot(1 + re, im);
        double log_size = q->t * 0.5 * log1p(re * (2 + re) + im * im) - q->log_peak;
        double angle = q->t * atan2(im, 1 + re);
        double complex value = exp(log_size) * (cos(angle) + I * sin(angle)) / (s * s);

        q->re[k] = creal(value);
        q->im[k] = cimag(value);
        size += cabs(value);
        off += cabs(value) * expm1(fmin(q->t * (fixed + moving) / length * 1.01, 700));
    }
    /* The peak's own error, and the roundings of angles and sums. */
    double all =
        q->t * fixed / (1 + whole) * 1.01 + inflate->rounding * (2e-12 + 8 * U * fabs(q->log_peak));

    q->doubt = off + size * all + inflate->cut * exp(-CUT) / (q->step * (last - q->step));
    return SOTTO_OK;
}

/* Where Y is cut off: as far out as E |Z - cut Z| matters. */
static void cut_off(sotto_tilt *q)
{
    double reach = sqrt(2 * (MARGIN - q->log_delta));

    q->over = q->a + reach;
    q->under = reach;
    double over = exp(sotto_log_tail(q->over - q->a)) * (1 + 1e-9);
    double under = exp(sotto_log_tail(q->under)) * (1 + 1e-9);

    q->gap_high = q->sign > 0 ? over : under;
    q->gap_low = q->sign > 0 ? under : over;
    q->beyond = exp(sotto_log_tail(q->over)) * (1 + 1e-9) + under;
    /* E (Y - 1) over what is kept is minus that of what is not. */
    q->mean = q->sign * (exp(sotto_log_tail(q->under)) - exp(sotto_log_tail(q->under + q->a)) -
                         exp(sotto_log_tail(q->over - q->a)) + exp(sotto_log_tail(q->over)));
}

/* How long a line through c must be (`end`) and how finely cut (`period`), for what is wanted at A. */
typedef struct course {
    double c, c_far, period, end;
} course;

/* Aliases below are e^(-c period), those above follow from Chernoff's bound at the c_far that does best. */
static course plot_course(const sotto_tilt *q, double c, double A)
{
    static const double further[] = {1.06, 1.15, 1.3, 1.5, 1.8, 2.3, 3};
    double goal = q->log_delta + log(q->t) - MARGIN, bend;
    double deviation = sqrt(q->t * expm1(q->a * q->a));
    course way = {c, 0, INFINITY, 0};

    for (size_t i = 0; i < sizeof further / sizeof further[0]; i++) {
        double x = further[i] * c, far = q->t * log1p(real_transform(q, x, &bend));
        double period = (far - x * A - log(x) - goal) / (x - c);

        if (period < way.period) {
            way.period = period;
            way.c_far = x;
        }
    }
    way.period = fmax(way.period, (log(q->t + deviation) - goal) / c);
    way.end = end_of_line(q, c, log1p(real_transform(q, c, &bend)));
    return way;
}

/* Below the saddle the aliases are further apart in units of 1/c, but the far ones are fewer where a single term of the
 * sum can be huge: as long as no more than some e^10 of the digits are lost, the cheaper. */
static course choose_course(const sotto_tilt *q, double saddle, double A)
{
    course best = plot_course(q, saddle, A);
    double bend, height = q->t * log1p(real_transform(q, saddle, &bend)) - saddle * A;

    for (double c = 0.85 * saddle; c > 0.2 * saddle; c *= 0.85) {
        if (q->t * log1p(real_transform(q, c, &bend)) - c * A > height + 8)
            break;
        course other = plot_course(q, c, A);

        if (other.end * other.period < best.end * best.period)
            best = other;
    }
    return best;
}

/* Roughly: the answer, and a saddle that a line to it goes through. */
static sotto_status find_saddle(sotto_tilt *q, double *saddle, double *place, sotto_err *err)
{
    double deviation = sqrt(q->t * expm1(q->a * q->a)), error;
    double reach = q->sign > 0 ? expm1(q->a * q->over - q->a * q->a / 2) : 1;
    double usual = fmin(sqrt(1 - 2 * q->log_delta) / deviation, (MARGIN - q->log_delta) / reach);
    sotto_bound around = {usual, usual};

    if (!lay_points(q, around, 0, 1e-6 * fmin(1, usual * usual * expm1(q->a * q->a)), &error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / q->a);
    q->guess = 0;
    for (int i = 0; i < (q->sign > 0 ? 1 : 4); i++) { /* e^eps is in delta when adding */
        double goal = q->log_delta + log(q->t) - (q->sign > 0 ? 0 : q->guess);

        *saddle = best_c(q, deviation, goal, place);
        if (q->sign < 0 && *place > 0.999999 * q->t)
            return sotto_fail(err, SOTTO_DENIED, "t = %g: no sum is as small as that", q->t);
        q->guess = *place > 0 ? q->sign * log1p(q->sign * *place / q->t) : 0;
    }
    return SOTTO_OK;
}

sotto_status sotto_tilt_open(sotto_tilt *line, int sign, double a, double t, double log_delta,
                             const sotto_allocation_inflate *inflate, sotto_err *err)
{
    sotto_tilt *q = line;
    double saddle = 0, place = 0, error, bend;

    q->a = a;
    q->t = t;
    q->sign = sign;
    q->log_delta = log_delta;
    cut_off(q);
    SOTTO_TRY(find_saddle(q, &saddle, &place, err));
    course way = choose_course(q, saddle, fmax(place, 0));
    double most = 1.01 * way.end + 8 * PI / way.period, less = real_transform(q, way.c, &bend);

    q->c = way.c;
    q->c_far = way.c_far;
    if (!(most * way.period < 2 * PI * SOTTO_TILT_NODES))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", t);
    if (!lay_points(q, (sotto_bound){way.c, way.c_far}, most, 1e-14 * less, &error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / a);
    less = real_transform(q, q->c_far, &bend) + error + transform_rounding(q, q->c_far);
    q->log_far = t * log1p(less) * (1 + 1e-12);
    return tabulate(q, way.period, error, most, inflate, err);
}

/* The aliases above and below, relative to the peak at A = 0 and without e^(-cA): what the lower side takes away. */
static double aliases(const sotto_tilt *q, double A)
{
    double period = 2 * PI / q->step, once = exp(-q->c * period);
    double deviation = sqrt(q->t * expm1(q->a * q->a));
    double below = 2 * once * (period + deviation + q->t * fabs(q->mean));
    double fall = (q->c_far - q->c) * period;
    double above = exp(q->log_far - q->log_peak - (q->c_far - q->c) * A - fall) /
                   (2.718 * q->c_far * -expm1(-fall));

    return below * exp(q->c * A - q->log_peak) + above;
}

double sotto_tilt_log_delta(const sotto_tilt *line, double eps, double side)
{
    const sotto_tilt *q = line;
    double A = q->sign * q->t * expm1(q->sign * eps), sum = q->re[0] / 2;

    for (size_t k = 1; k < q->nodes; k++) {
        double angle = (double)k * q->step * A;

        sum += q->re[k] * cos(angle) + q->im[k] * sin(angle);
    }
    double scale = q->step / PI, log_scale = q->log_peak - q->c * A;
    double value = scale * (sum + side * q->doubt);

    if (side < 0)
        value -= aliases(q, A);
    /* Cutting Y off moves the sum by at most t E |Z - cut Z|. */
    double moved = q->t * (side > 0 ? q->gap_high : -q->gap_low);

    value += moved * exp(-log_scale);
    if (!(value > 0))
        return -INFINITY;
    return log(value) + log_scale - log(q->t) + (q->sign < 0 ? eps : 0);
}
