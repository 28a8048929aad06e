#include "account/gauss/sgm_decay.h"

#include "account/numeric/elementary.h"

/* sup over v' >= v of |sin v'/v'|, from above; as one minus it, from below. sine: of v. */
static double one_minus_sinc(double v, double sine)
{
    if (v < 0.1)
        return v * v / 6 * (1 - v * v / 20);
    if (v < 2.5)
        return 1 - sine / v;
    return v < 4.6 ? 0.76 : 1 - 1 / v;
}

typedef struct cells {
    size_t count;
    double width[SOTTO_SGM_CELLS];
    double at[SOTTO_SGM_CELLS + 1]; /* losses, from the first on */
    double height[SOTTO_SGM_CELLS];
} cells;

static double log_tilted(const sotto_sgm_law *law, double power, double x)
{
    return sotto_sgm_log_density(law, x) + power * sotto_sgm_log_ratio(law, x);
}

/* The stretch round the mode where the tilted density exceeds exp(-14) of its largest value. */
static void main_stretch(const sotto_sgm_law *law, double power, double *from, double *to)
{
    double best = -INFINITY, mode = 0;

    for (int i = 0; i <= 200; i++) {
        double x = law->low + (law->high - law->low) * i / 200;
        double size = log_tilted(law, power, x);
        if (size > best) {
            best = size;
            mode = x;
        }
    }
    double pace = law->sigma / 16;
    for (int side = -1; side <= 1; side += 2) {
        double x = mode;
        for (int i = 0; i < 400 && log_tilted(law, power, x) > best - 14; i++)
            x += side * pace;
        *(side < 0 ? from : to) = fmin(fmax(x, law->low), law->high);
    }
}

/* log r from tilts; ratio holds them too, but for those so large that r is q e^tilt. */
static void log_ratios(const sotto_sgm_law *law, double *ratio, const double *tilt, size_t count)
{
    double log_q = log(law->q);

    sotto_expm1_all(ratio, ratio, count);
    for (size_t i = 0; i < count; i++)
        ratio[i] *= law->q;
    sotto_log1p_all(ratio, ratio, count);
    for (size_t i = 0; i < count; i++)
        if (!(tilt[i] < 500))
            ratio[i] = log_q + tilt[i];
}

/* How far log r moves over each cell. Where r hardly differs from 1 - q, that is less than a rounding of log r. So it is
 * not taken as a difference: r grows by q e^tilt (e^step - 1). */
static void widths_fill(cells *out, const double *tilt, const double *ratio, double log_q,
                        double step)
{
    double grows = expm1(step);

    for (size_t i = 0; i < SOTTO_SGM_CELLS; i++)
        out->width[i] = log_q + tilt[i] - ratio[i];
    sotto_exp_all(out->width, out->width, SOTTO_SGM_CELLS);
    for (size_t i = 0; i < SOTTO_SGM_CELLS; i++)
        out->width[i] *= grows;
    sotto_log1p_all(out->width, out->width, SOTTO_SGM_CELLS);
    out->at[0] = 0;
    for (size_t i = 0; i < SOTTO_SGM_CELLS; i++) {
        out->at[i + 1] = out->at[i] + out->width[i];
        out->width[i] *= 1 - 1e-9;
    }
}

/* On each cell of x the Gaussian is smallest at an end, r^power is monotone, and the loss moves fastest
 * at the right end. The product of these three minima is below the density of the loss. */
static void cells_fill(cells *out, const sotto_sgm_law *law, double c, double cumulant)
{
    double power = sotto_sgm_power(law, c), from = 0, to = 0;

    main_stretch(law, power, &from, &to);
    double pace = (to - from) / SOTTO_SGM_CELLS, log_q = log(law->q), log_sigma = log(law->sigma);
    double tilt[SOTTO_SGM_CELLS + 1], ratio[SOTTO_SGM_CELLS + 1], density[SOTTO_SGM_CELLS + 1];
    for (size_t i = 0; i <= SOTTO_SGM_CELLS; i++) {
        double x = from + pace * (double)i, z = x / law->sigma;
        tilt[i] = sotto_sgm_tilt(law, x);
        ratio[i] = tilt[i] < 500 ? tilt[i] : 0;
        density[i] = -z * z / 2 - log_sigma - 0.91893853320467274178;
    }
    log_ratios(law, ratio, tilt, SOTTO_SGM_CELLS + 1);
    out->count = SOTTO_SGM_CELLS;
    widths_fill(out, tilt, ratio, log_q, pace / (law->sigma * law->sigma));
    for (size_t i = 0; i < SOTTO_SGM_CELLS; i++) {
        double l0 = ratio[i], l1 = ratio[i + 1], e0 = power * l0, e1 = power * l1;
        double speed = log_q + tilt[i + 1] - 2 * log_sigma - l1;
        double low = (density[i] < density[i + 1] ? density[i] : density[i + 1]) +
                     (e0 < e1 ? e0 : e1) - speed - cumulant;
        out->height[i] = low - 1e-9;
    }
    sotto_exp_all(out->height, out->height, SOTTO_SGM_CELLS);
}

/* Cuts the histogram into horizontal slabs, each as wide as the run of cells that reach its height. */
static void slabs_fill(sotto_sgm_boxes *boxes, const cells *h)
{
    double start[SOTTO_SGM_CELLS + 1] = {0}, level[SOTTO_SGM_CELLS + 1] = {0}, at = 0;
    double from[SOTTO_SGM_CELLS + 1] = {0};
    size_t depth = 0;

    boxes->count = 0;
    for (size_t i = 0; i <= h->count; i++) {
        double height = i < h->count ? h->height[i] : 0, begin = at, place = h->at[i];
        while (depth > 0 && level[depth - 1] >= height) {
            depth--;
            double below = depth > 0 && level[depth - 1] > height ? level[depth - 1] : height;
            double width = at - start[depth];
            if (boxes->count < SOTTO_SGM_CELLS && width > 0) {
                boxes->width[boxes->count] = width;
                boxes->from[boxes->count] = from[depth];
                boxes->to[boxes->count] = h->at[i];
                boxes->mass[boxes->count++] = (level[depth] - below) * width;
            }
            begin = start[depth];
            place = from[depth];
        }
        if (i < h->count) {
            start[depth] = begin;
            from[depth] = place;
            level[depth++] = height;
            at += h->width[i];
        }
    }
}

void sotto_sgm_boxes_fill(sotto_sgm_boxes *boxes, const sotto_sgm_law *law, double c,
                          double cumulant)
{
    cells h;
    double sum = 0;

    cells_fill(&h, law, c, cumulant);
    slabs_fill(boxes, &h);
    for (size_t i = 0; i < SOTTO_SGM_CELLS; i++) {
        boxes->cell_mass[i] = h.height[i] * h.width[i];
        boxes->cell_to[i] = h.at[i + 1];
        sum += boxes->cell_mass[i];
    }
    boxes->rest = fmax(1 - sum, 0) + 1e-9;
}

double sotto_sgm_boxes_decay(const sotto_sgm_boxes *boxes, double t)
{
    double gone = 0, half[SOTTO_SGM_CELLS], sine[SOTTO_SGM_CELLS], versine[SOTTO_SGM_CELLS];

    for (size_t i = 0; i < boxes->count; i++) {
        half[i] = t * boxes->width[i] / 2;
        sine[i] = half[i] < 2.5 ? half[i] : 0;
    }
    sotto_turn_all(sine, versine, sine, boxes->count);
    for (size_t i = 0; i < boxes->count; i++)
        gone += boxes->mass[i] * one_minus_sinc(half[i], sine[i]);
    gone *= 1 - 1e-9;
    return gone >= 1 ? -40 : log1p(-gone);
}

/* ---- against an atom ------------------------------------------------------------------------------------ */

/* The cells that turn by less than about one: their mean, and what bounds the imaginary part and the real one from
 * below, for all u <= until. */
typedef struct atom {
    double mean;
    double swing; /* of |E sin(u (L - mean))| */
    double least; /* of E cos(u (L - mean))   */
} atom;

static atom atom_of(const sotto_sgm_boxes *boxes, double until, double turn)
{
    atom a = {0};
    double mass = 0, before = 0;
    size_t count = 0;

    while (count < SOTTO_SGM_CELLS && boxes->cell_to[count] * until < turn) {
        a.mean += boxes->cell_mass[count] * (before + boxes->cell_to[count]) / 2;
        mass += boxes->cell_mass[count];
        before = boxes->cell_to[count++];
    }
    a.swing = a.least = boxes->rest;
    a.least = -boxes->rest;
    for (size_t i = count; i < SOTTO_SGM_CELLS; i++) {
        a.swing += boxes->cell_mass[i];
        a.least -= boxes->cell_mass[i];
    }
    a.mean = mass > 0 ? a.mean / mass : 0;
    before = 0;
    for (size_t i = 0; i < count; i++) {
        double to = boxes->cell_to[i], wide = until * (to - before) / 2;
        double angle = until * fmax(fabs(before - a.mean), fabs(to - a.mean));
        a.swing += boxes->cell_mass[i] * (wide + angle * angle * angle / 6);
        a.least += boxes->cell_mass[i] * (1 - angle * angle / 2);
        before = to;
    }
    a.swing *= 1 + 1e-9;
    return a;
}

/* sup over v' >= v of sin v'/v', from above; sine: of v. The second peak is 0.1284 at 7.73. */
static double highest_sinc(double v, double sine)
{
    if (v < 0.1)
        return 1 - v * v / 6 * (1 - v * v / 20);
    if (v < 2.8)
        return fmax(sine / v, 0.1285);
    return v < 7.8 ? 0.1285 : 1 / v;
}

double sotto_sgm_boxes_decay_until(const sotto_sgm_boxes *boxes, double t, double until)
{
    double old = sotto_sgm_boxes_decay(boxes, t), gone = 0;
    double half[SOTTO_SGM_CELLS], sine[SOTTO_SGM_CELLS], versine[SOTTO_SGM_CELLS];
    double end[SOTTO_SGM_CELLS], far[SOTTO_SGM_CELLS];
    atom a = atom_of(boxes, until, 1);

    if (!(a.least >= 0) || !(a.swing < 0.5))
        return old;
    for (size_t i = 0; i < boxes->count; i++) {
        half[i] = t * boxes->width[i] / 2;
        sine[i] = half[i] < 2.5 ? half[i] : 0;
        end[i] = t * fmax(boxes->to[i] - a.mean, 0);
        far[i] = end[i] < 2.8 ? end[i] : 0;
    }
    sotto_turn_all(sine, versine, sine, boxes->count);
    sotto_turn_all(far, versine, far, boxes->count);
    for (size_t i = 0; i < boxes->count; i++) {
        double width = boxes->to[i] - boxes->from[i], begin = boxes->from[i] - a.mean;
        double less = one_minus_sinc(half[i], sine[i]);
        /* Of the box from a to b the mean of cos(ux) is (sin(ub) - sin(ua))/(u (b-a)). */
        if (end[i] > 0 && begin * until < 3) {
            double most = highest_sinc(end[i], far[i]) * (boxes->to[i] - a.mean) / width +
                          fmax(-begin, 0) / width;
            less = fmax(less, 1 - most);
        }
        gone += boxes->mass[i] * less;
    }
    gone *= 1 - 1e-9;
    double left = fmax(1 - gone, 0), value = log(left * left + a.swing * a.swing) / 2;
    return fmin(value, old);
}
