#include "allocation_reference.h"

#include "account/gauss/allocation_truncation.h"

#include <complex.h>

#define PI    3.14159265358979323846
#define LOG_2 0.69314718055994530942

static const dd log_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const dd inverse_sqrt_2pi = {0x1.9884533d43651p-2, -0x1.cbc0d30ebfd15p-56};
static const dd inverse_pi = {0x1.45f306dc9c883p-2, -0x1.6b01ec5417056p-56};

/* ---- the transform ------------------------------------------------------------------------------------ */

static void set_weights(sotto_lognormal *y, int which, dd step, dd a)
{
    dd turn = dd_of(y->turns[which]), shift = dd_div(turn, a);
    /* e^(shift^2 / 2), what moving the line costs */
    dd factor = dd_exp(dd_scale(dd_mul(shift, shift), 0.5));

    factor = dd_mul(factor, dd_mul(step, inverse_sqrt_2pi));
    y->unturn[which] = cdd_exp((cdd){{0, 0}, dd_neg(turn)});
    size_t half = y->points / 2;
    double middle = (double)half;
    for (size_t j = 0; j < y->points; j++) {
        dd w = dd_mul(step, dd_of((double)j - middle));
        cdd e = cdd_exp((cdd){dd_neg(dd_scale(dd_mul(w, w), 0.5)), dd_mul(w, shift)});

        y->weights[which][j] = cdd_times(e, factor);
    }
    for (size_t j = y->points; j-- > 0;) {
        y->rest[which][j] = y->weights[which][j];
        if (j + y->stride < y->points)
            y->rest[which][j] = cdd_add(y->rest[which][j], y->rest[which][j + y->stride]);
    }
}

/* Values of Y have to double every `stride` points, which makes the exponentials of one node squares of each
 * other; the step is rounded down to that. The strip has half-width `depth`; allocation_reference.h. */
sotto_status sotto_lognormal_open(sotto_lognormal *y, double sigma, double precision,
                                  sotto_err *err)
{
    dd a = dd_div(dd_of(1), dd_of(sigma));
    double depth = fmin(3, 1.17 * sigma);

    y->a = a.hi;
    y->turns[0] = y->turns[1] = a.hi * depth;
    if (a.hi * depth > 0.78) {
        y->turns[0] = 0.4;
        y->turns[1] = 1.2;
    }
    double far = y->turns[1] / a.hi, most = (far + depth) * (far + depth) / 2;
    double step = 2 * PI * depth / (precision + most + 2);

    double reach = sqrt(2 * (precision + far * far / 2));

    y->stride = 4 * (size_t)ceil(LOG_2 / (a.hi * step) / 4);
    step = LOG_2 / (a.hi * (double)y->stride);
    double points = 4 * ceil((2 * ceil(reach / step) + 1) / 4);

    if (points > SOTTO_LINE_POINTS)
        return sotto_fail(err, SOTTO_DENIED, "sigma = %g: the transform takes %g points", sigma,
                          points);
    y->points = (size_t)points;
    dd exact = dd_div(log_2, dd_mul(a, dd_of((double)y->stride)));

    set_weights(y, 0, exact, a);
    if (y->turns[1] != y->turns[0])
        set_weights(y, 1, exact, a);
    size_t half = y->points / 2;
    double middle = (double)half;
    for (size_t j = 0; j < y->points; j++) {
        dd w = dd_mul(exact, dd_of((double)j - middle));
        dd x = dd_sub(dd_mul(a, w), dd_scale(dd_mul(a, a), 0.5));

        y->values[j] = dd_exp(x);
    }
    y->error = 4 * exp(-precision - 1) + exp(far * far / 2) * 1e-29;
    return SOTTO_OK;
}

static int turn_for(const sotto_lognormal *y, double c, double v)
{
    return y->turns[1] != y->turns[0] && v > 1.0296 * c; /* tan 0.8 */
}

static cdd sum_points(const sotto_lognormal *y, int which, cdd z)
{
    const cdd *weights = y->weights[which == 0 ? 0 : 1];
    cdd sum = {{0, 0}, {0, 0}};

    for (size_t first = 0; first < y->stride && first < y->points; first++) {
        cdd e = cdd_expm1(cdd_times(z, y->values[first]));

        for (size_t j = first; j < y->points; j += y->stride) {
            if (e.re.hi == -1 && fabs(e.re.lo) < 1e-33 && fabs(e.im.hi) < 1e-33) {
                /* the exponential is 0 from here on */
                cdd rest = y->rest[which][j];

                sum = cdd_add(sum, (cdd){dd_neg(rest.re), dd_neg(rest.im)});
                break;
            }
            sum = cdd_add(sum, cdd_mul(weights[j], e));
            e = cdd_double_expm1(e);
        }
    }
    return sum;
}

cdd sotto_lognormal_transform(const sotto_lognormal *y, double c, dd v)
{
    int which = turn_for(y, c, v.hi);

    cdd z = cdd_mul((cdd){dd_of(-c), dd_neg(v)}, y->unturn[which]);

    return sum_points(y, which, z);
}

double sotto_lognormal_size(const sotto_lognormal *y, double c, double v)
{
    int which = turn_for(y, c, v);
    double complex turn = y->unturn[which].re.hi + I * y->unturn[which].im.hi;
    double complex z = (c + I * v) * turn, sum = 0;

    for (size_t j = 0; j < y->points; j++) {
        double complex weight = y->weights[which][j].re.hi + I * y->weights[which][j].im.hi;
        double decay = creal(z) * y->values[j].hi, angle = cimag(z) * y->values[j].hi;

        if (decay < 60)
            sum += weight * (exp(-decay) * (cos(angle) - I * sin(angle)));
    }
    double far = y->turns[which] / y->a;

    return cabs(sum) + 1e-12 * exp(far * far / 2);
}

double sotto_lognormal_cumulant(const sotto_lognormal *y, double c)
{
    cdd less = sotto_lognormal_transform(y, c, dd_of(0)); /* phi - 1 */
    dd grown = dd_expm1(dd_of(c));

    /* (1 + x)(1 + g) - 1 = x + g + x g, whose leading terms cancel */
    return log1p(dd_add(dd_add(less.re, grown), dd_mul(less.re, grown)).hi);
}

/* ---- the line ----------------------------------------------------------------------------------------- */

/* |phi(c + iv)| <= 2 max f / v, f the density, since f e^-cy rises and falls once. From v = `from` on, hop over
 * what is certainly below `small`, using |d|phi|/dv| <= E |Y - 1| e^-cY <= min(2, the deviation of Y), until
 * that bound takes over. */
static sotto_status reach_end(sotto_line *line, const sotto_lognormal *y, double from, double small,
                              sotto_err *err)
{
    double t = line->t, a = y->a;
    double most = 2 * exp(a * a) / (a * sqrt(2 * PI)), end = most / small;
    double v = from, steep = fmin(2, sqrt(expm1(a * a)));
    /* Many slots start with tiny hops; a tiny sigma never gets there. */
    double hops = 0, most_hops = t > 1e6 && a < 2.2 ? 600 : 2.5e5 / (double)y->points;

    while (v < end) {
        double size = sotto_lognormal_size(y, line->c, v);

        if (size >= small || ++hops > most_hops)
            return sotto_fail(err, SOTTO_DENIED, "t = %g: the transform does not decay in time", t);
        v += (small - size) / steep;
    }
    /* up to `end` each node is at most small^t / v^2; beyond, (most/v)^t / v^2 */
    line->cut = (1 / (from * line->step) + 1 / (end * line->step)) * 2;
    return SOTTO_OK;
}

/* A node at which the transform is below `small`, the first if it falls steadily; INFINITY if not even the last. */
static double nodes_needed(const sotto_line *line, const sotto_lognormal *y, double small)
{
    double low = 0, high = SOTTO_LINE_NODES;

    if (sotto_lognormal_size(y, line->c, high * line->step) >= small)
        return INFINITY;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);

        *(sotto_lognormal_size(y, line->c, middle * line->step) < small ? &high : &low) = middle;
    }
    return high;
}

sotto_status sotto_line_tabulate(sotto_line *line, const sotto_lognormal *y, double t, double c,
                                 double period, double precision, double work,
                                 const sotto_allocation_inflate *inflate, sotto_err *err)
{
    double cumulant = sotto_lognormal_cumulant(y, c);
    double small = exp(cumulant - c - precision / t); /* of |phi|, against phi(c) */

    line->t = t;
    line->c = c;
    line->step = 2 * PI / period;
    line->size = 0;
    /* Whether and where the line may end, in doubles, before anything is worked out in full. */
    double last = nodes_needed(line, y, small * exp(-10 / t)),
           most = fmin(SOTTO_LINE_NODES, work / (double)y->points);

    if (!(last <= most))
        return sotto_fail(err, SOTTO_DENIED, "t = %g: the line takes more than %g nodes", t, most);
    /* A bound that holds from some node on ends the line a little later, but without looking any further. */
    sotto_tilted_law law = {y->a, -1, c, 40, 40, 0, cumulant - 1e-10};
    double further = 1 + ceil(sotto_tilted_law_truncation(&law, exp(-precision / t)) / line->step);

    if (further <= fmin(most, 1.7 * last + 10)) {
        line->nodes = (size_t)fmax(further, 2);
        line->cut = 2 / (((double)line->nodes - 1) * line->step * line->step);
    } else {
        line->nodes = (size_t)last;
        SOTTO_TRY(reach_end(line, y, last * line->step, small, err));
    }
    line->rough = t * (y->error * 4 * inflate->transform + 1e-30 * inflate->rounding) + 1e-29;
    for (size_t k = 0; k < line->nodes; k++) {
        /* v rounded would move the node: s has the exact product */
        cdd s = {dd_of(c), dd_mul(dd_of((double)k), dd_of(line->step))};
        cdd x = sotto_lognormal_transform(y, c, s.im), grown = cdd_exp(s);

        x.re = dd_add(x.re, dd_of(1));
        double size = hypot(x.re.hi, x.im.hi);
        /* 1/s^2 = conj(s)^2 / |s|^4 */
        cdd under = cdd_mul((cdd){s.re, dd_neg(s.im)}, (cdd){s.re, dd_neg(s.im)});
        dd length = dd_add(dd_mul(s.re, s.re), dd_mul(s.im, s.im));

        x = cdd_power(cdd_mul(x, grown), t);
        x = cdd_times(cdd_mul(x, under), dd_div(dd_of(1), dd_mul(length, length)));
        line->values[k] = x;
        line->size += hypot(x.re.hi, x.im.hi) / fmin(size, 1);
    }
    line->cut *= inflate->cut * exp(t * cumulant - precision);
    return SOTTO_OK;
}

dd sotto_line_put(const sotto_line *line, dd above, double *error)
{
    cdd turn = cdd_exp((cdd){{0, 0}, dd_mul(dd_of(line->step), above)});
    cdd at = {dd_of(1), dd_of(0)};
    dd sum = dd_scale(line->values[0].re, 0.5);

    for (size_t k = 1; k < line->nodes; k++) {
        at = cdd_mul(at, turn);
        const cdd *v = &line->values[k];

        sum = dd_add(sum, dd_sub(dd_mul(v->re, at.re), dd_mul(v->im, at.im)));
    }
    dd grown = dd_exp(dd_mul(dd_of(line->c), above));
    dd scale = dd_mul(grown, dd_mul(dd_of(line->step), inverse_pi));

    *error = scale.hi * (line->size * (line->rough + 1e-29 * (double)line->nodes) + line->cut);
    return dd_mul(scale, sum);
}
