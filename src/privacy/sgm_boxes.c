#include "privacy/sgm_boxes.h"

#include "privacy/elementary.h"

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

/* On each cell of x the Gaussian is smallest at an end, r^power is monotone, and the loss moves fastest
 * at the right end: three true minima whose product is below the density of the loss. */
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
    for (size_t i = 0; i < SOTTO_SGM_CELLS; i++) {
        double l0 = ratio[i], l1 = ratio[i + 1], e0 = power * l0, e1 = power * l1;
        double speed = log_q + tilt[i + 1] - 2 * log_sigma - l1;
        double low = (density[i] < density[i + 1] ? density[i] : density[i + 1]) +
                     (e0 < e1 ? e0 : e1) - speed - cumulant;
        out->width[i] = (l1 - l0) * (1 - 1e-9);
        out->height[i] = low - 1e-9;
    }
    sotto_exp_all(out->height, out->height, SOTTO_SGM_CELLS);
}

/* Cuts the histogram into horizontal slabs, each as wide as the run of cells that reach its height. */
void sotto_sgm_boxes_fill(sotto_sgm_boxes *boxes, const sotto_sgm_law *law, double c,
                          double cumulant)
{
    cells h;
    double start[SOTTO_SGM_CELLS + 1] = {0}, level[SOTTO_SGM_CELLS + 1] = {0}, at = 0;
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
