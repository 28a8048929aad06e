#include "account/gauss/allocation_contour.h"

#include "account/gauss/allocation_contour_plan.h"
#include "account/gauss/allocation_fourier.h"
#include "account/gauss/allocation_quadrature.h"
#include "account/numeric/elementary.h"
#include "account/numeric/special.h"

#include <complex.h>

#define PI 3.14159265358979323846
#define U  SOTTO_UNIT_ROUNDOFF
/* So many nodes share their sines when they are added up. */
#define TURNS 16

/* ---- along the line ----------------------------------------------------------------------------------- */

/* The transform along the line: E e^(sZ) - E e^(cZ) = E e^(cZ) (cos vZ - 1 + i sin vZ), in which nothing cancels but the
 * signs of Z. By node, with its error, linear and quadratic in v. It comes from how the sums are made, from the rounding of
 * the tilted weights, and from the rounding of Z in proportion to itself. */
typedef struct turning {
    double re[SOTTO_ALLOCATION_NODES], im[SOTTO_ALLOCATION_NODES];
    double linear, square;
} turning;

static sotto_status turn(turning *w, const sotto_allocation_contour *q, sotto_err *err)
{
    double tilted[SOTTO_ALLOCATION_POINTS], z[SOTTO_ALLOCATION_POINTS], linear = 0, square = 0,
                                                                        widest = 0;

    for (size_t j = 0; j < q->points; j++)
        tilted[j] = q->c * q->z[j];
    sotto_exp_all(tilted, tilted, q->points);
    for (size_t j = 0; j < q->points; j++) {
        tilted[j] *= q->weight[j];
        z[j] = tilted[j] > 0 ? q->z[j] : 0; /* far too large, perhaps, and nothing depends on it */
        linear += tilted[j] * fabs(z[j]);
        square += tilted[j] * z[j] * z[j];
        widest = fmax(widest, fabs(z[j]));
    }
    if (!(widest * q->step * (double)(q->nodes + 2 * SOTTO_FOURIER_REACH) < SOTTO_FOURIER_MOST))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line turns too far", q->t);
    double heap = q->heap * exp(q->c * q->top) * q->top * SOTTO_ALLOCATION_ATOM_ERROR;

    sotto_fourier_sums(w->re, w->im, q->nodes, q->step, z, tilted, q->points);
    w->linear = U * (linear * (SOTTO_FOURIER_ERROR + 32) + heap);
    w->square = U * square * 8;
    return SOTTO_OK;
}

static double turn_rounding(const turning *w, const sotto_allocation_contour *q, size_t k)
{
    double v = (double)k * q->step;
    double reach = k > SOTTO_FOURIER_REACH ? v + 2 * SOTTO_FOURIER_REACH * q->step : v;

    return reach * w->linear + v * v * w->square;
}

/* |(x + d)^t - x^t| <= (|x| + |d|)^t - |x|^t, as a part of the peak and over |s|^2, as `value` is of x^t. */
static double power_off(const sotto_allocation_contour *q, double length, double moved,
                        double value, double s)
{
    if (moved < length)
        return value * expm1(fmin(q->t * log1p(moved / length), 700));
    return exp(fmin(q->t * log(length + moved) - q->log_peak, 700)) / (s * s) * (1 + 1e-6);
}

/* The points are good to `error` up to |Im s| = most. */
static sotto_status tabulate(sotto_allocation_contour *q, double period, double error, double most,
                             const sotto_allocation_inflate *inflate, sotto_err *err)
{
    double bend, whole = sotto_allocation_mgf(q, q->c, &bend), size = 0, off = 0;
    double end = sotto_contour_plan_truncation(q, q->c, log1p(whole - error) - 1e-10, q->cut);
    double nodes = 2 + ceil(end * period / (2 * PI));
    double last = (nodes - 1) * 2 * PI / period;

    if (!(last <= most && nodes <= SOTTO_ALLOCATION_NODES && nodes * (double)q->points <= q->work))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    q->nodes = (size_t)nodes;
    q->step = 2 * PI / period;
    q->log_peak = q->t * log1p(whole);
    double fixed =
        error * inflate->transform + sotto_allocation_mgf_error(q, q->c) * inflate->rounding;
    turning w;

    SOTTO_TRY(turn(&w, q, err));
    for (size_t k = 0; k < q->nodes; k++) {
        double v = (double)k * q->step;
        double complex psi = whole + (w.re[k] + I * w.im[k]), s = q->c + I * v;
        double re = creal(psi), im = cimag(psi), length = hypot(1 + re, im);
        double log_length = length < 0.5 ? log(length) : 0.5 * log1p(re * (2 + re) + im * im);
        double log_size = q->t * log_length - q->log_peak;
        double angle = q->t * atan2(im, 1 + re);
        double complex value = exp(log_size) * (cos(angle) + I * sin(angle)) / (s * s);

        q->re[k] = creal(value);
        q->im[k] = cimag(value);
        size += cabs(value);
        double moved = 1.01 * (fixed + turn_rounding(&w, q, k) * inflate->rounding);

        off += power_off(q, length, moved, cabs(value), cabs(s));
    }
    /* The peak's own error, and the roundings of angles and sums. */
    double all =
        q->t * fixed / (1 + whole) * 1.01 + inflate->rounding * (2e-12 + 8 * U * fabs(q->log_peak));

    q->doubt = off + size * all + inflate->cut * exp(-q->cut) / (q->step * (last - q->step));
    return SOTTO_OK;
}

/* The other c needs points of its own: those of the line would have to be too many. */
static sotto_status look_far(sotto_allocation_contour *q, sotto_err *err)
{
    double error, bend;

    if (!sotto_allocation_quadrature_place(q, q->c_far, 0, 1e-8 * fmin(1, 1 / q->t), &error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / q->a);
    double less =
        sotto_allocation_mgf(q, q->c_far, &bend) + error + sotto_allocation_mgf_error(q, q->c_far);

    q->log_far = q->t * log1p(less) * (1 + 1e-12);
    return SOTTO_OK;
}

static void start(sotto_allocation_contour *q, int sign, double a, double t, double log_delta,
                  double work, double margin)
{
    q->a = a;
    q->t = t;
    q->sign = sign;
    q->log_delta = log_delta;
    q->work = work;
    q->margin = margin;
}

/* Up to |Im s| = most, the points are good to *error. */
static sotto_status plan_line(sotto_contour_plan *way, double *most, double *error,
                              sotto_allocation_contour *q, double near, bool far, sotto_err *err)
{
    double bend;

    SOTTO_TRY(sotto_contour_plan_choose(way, q, near, err));
    double less = sotto_allocation_mgf(q, way->c, &bend);

    *most = 1.01 * way->end + 8 * PI / way->period;
    q->c = way->c;
    q->c_far = way->c_far;
    q->cut = way->cut;
    if (!(*most * way->period < 2 * PI * SOTTO_ALLOCATION_NODES))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes too many nodes", q->t);
    if (far)
        SOTTO_TRY(look_far(q, err));
    if (!sotto_allocation_quadrature_place(q, way->c, *most, 1e-14 * fmax(less, 1 / q->t), error))
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: too many points", 1 / q->a);
    return SOTTO_OK;
}

sotto_status sotto_allocation_contour_open(sotto_allocation_contour *line, int sign, double a,
                                           double t, double log_delta, double near, double work,
                                           double margin, const sotto_allocation_inflate *inflate,
                                           sotto_err *err)
{
    sotto_contour_plan way = {0};
    double most, error;

    start(line, sign, a, t, log_delta, work, margin);
    SOTTO_TRY(plan_line(&way, &most, &error, line, near, true, err));
    return tabulate(line, way.period, error, most, inflate, err);
}

/* What is left to those that are a little longer. */
#define SPARE 0.93

double sotto_allocation_contour_margin(sotto_allocation_contour *line, int sign, double a, double t,
                                       double log_delta, double near, double work, double margin)
{
    for (; margin > SOTTO_ALLOCATION_MARGIN_LEAST - SOTTO_ALLOCATION_MARGIN_STEP;
         margin -= SOTTO_ALLOCATION_MARGIN_STEP) {
        sotto_contour_plan way = {0};
        double most, error;

        margin = fmax(margin, SOTTO_ALLOCATION_MARGIN_LEAST);
        start(line, sign, a, t, log_delta, work, margin);
        if (plan_line(&way, &most, &error, line, near, false, NULL) != SOTTO_OK)
            continue;
        double nodes = most * way.period / (2 * PI), points = (double)line->points;

        if (nodes <= SPARE * SOTTO_ALLOCATION_NODES && points <= SPARE * SOTTO_ALLOCATION_POINTS &&
            nodes * points <= SPARE * work)
            return margin;
    }
    return 0;
}

/* ---- reading it ----------------------------------------------------------------------------------------- */

/* The aliases above and below, relative to the peak at A = 0 and without e^(-cA): what the lower side takes away. */
static double aliases(const sotto_allocation_contour *q, double A)
{
    double period = 2 * PI / q->step, once = exp(-q->c * period);
    double deviation = sqrt(q->t * expm1(q->a * q->a));
    double below = 2 * once * (period + deviation + q->t * fabs(q->mean));
    double fall = (q->c_far - q->c) * period;
    double above = exp(q->log_far - q->log_peak - (q->c_far - q->c) * A - fall) /
                   (2.718 * q->c_far * -expm1(-fall));

    return below * exp(q->c * A - q->log_peak) + above;
}

/* The sum of re cos(k angle) + im sin(k angle), the first halved; TURNS nodes share their sines. */
static double sum_nodes(const sotto_allocation_contour *q, double angle)
{
    double cosines[TURNS], sines[TURNS], sum = -q->re[0] / 2;

    for (int i = 0; i < TURNS; i++) {
        cosines[i] = cos(i * angle);
        sines[i] = sin(i * angle);
    }
    for (size_t k = 0; k < q->nodes; k += TURNS) {
        double re = cos((double)k * angle), im = sin((double)k * angle);
        double along = 0, across = 0;

        for (size_t i = 0; i < TURNS && k + i < q->nodes; i++) {
            along += q->re[k + i] * cosines[i] + q->im[k + i] * sines[i];
            across += q->im[k + i] * cosines[i] - q->re[k + i] * sines[i];
        }
        sum += re * along + im * across;
    }
    return sum;
}

double sotto_allocation_contour_log_delta(const sotto_allocation_contour *line, double eps,
                                          double side)
{
    const sotto_allocation_contour *q = line;
    double A = q->sign * q->t * expm1(q->sign * eps), sum = sum_nodes(q, q->step * A);
    double scale = q->step / PI, log_scale = q->log_peak - q->c * A;
    double value = scale * (sum + side * q->doubt);

    if (side < 0)
        value -= aliases(q, A);
    /* Cutting Y off moves the sum by at most t E |Z - cut Z|. */
    double moved =
        q->t * (side > 0 ? q->gap_high : sotto_contour_plan_sure_above(q, A) - q->gap_low);

    value += moved * exp(-log_scale);
    if (!(value > 0)) /* NaN bounds nothing */
        return isnan(value) && side > 0 ? INFINITY : -INFINITY;
    return log(value) + log_scale - log(q->t) + (q->sign < 0 ? eps : 0);
}
