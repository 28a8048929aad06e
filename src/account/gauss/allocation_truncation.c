#include "account/gauss/allocation_truncation.h"

#include "account/numeric/special.h"

enum { BOXES = 40 };

/* log of e^(cZ) times the density of Z, at w; its slope -w - a +- c a Y falls for all w with c a^2 Y < 1. */
static double log_tilted_density(const sotto_tilted_law *q, double w)
{
    double y = exp(q->a * w - q->a * q->a / 2);

    return -w * w / 2 - SOTTO_LOG_SQRT_2PI + q->c * q->sign * (y - 1) - log(q->a * y);
}

/* The largest of it where it is concave (up to `to`), by bisection of its slope; *at is the place. */
static double tilted_mode(const sotto_tilted_law *q, double to, double *at)
{
    double low = -q->under, high = to;

    for (int i = 0; i < 50; i++) {
        double w = (low + high) / 2, y = exp(q->a * w - q->a * q->a / 2);

        *(-w - q->a + q->sign * q->c * q->a * y > 0 ? &low : &high) = w;
    }
    *at = (low + high) / 2;
    return log_tilted_density(q, *at) + 1e-6;
}

/* No |sin y|/y, y >= x, is larger. */
static double sine_ratio(double x)
{
    return x < 2.55 ? (x > 1e-4 ? sin(x) / x : 1) : fmin(0.2173, 1 / x);
}

/* Uniform parts of the tilted law: one box upon the other, all from the mode on, each as high as the density at its right
 * end lets it be. */
typedef struct pile {
    int count;
    double mass[BOXES], length[BOXES];
} pile;

static void pile_up(pile *p, const sotto_tilted_law *q, double mode, double to)
{
    double before = 0, foot = exp(q->a * mode - q->a * q->a / 2);

    p->count = 0;
    for (int i = 0; i < BOXES; i++) { /* from the lowest and longest to the highest */
        double w = to - (to - mode) * i / BOXES;
        double height = exp(log_tilted_density(q, w) - q->log_whole) * (1 - 1e-9);
        double length = exp(q->a * w - q->a * q->a / 2) - foot;

        p->length[p->count] = length;
        p->mass[p->count++] = fmax(0, height - before) * length * (1 - 1e-9);
        before = fmax(before, height);
    }
}

/* How far the boxes let |E e^(sZ)|/E e^(cZ) fall below 1 at v and beyond. */
static double pile_fall(const pile *p, double v)
{
    double sum = 0;

    for (int i = 0; i < p->count; i++)
        sum += p->mass[i] * (1 - sine_ratio(v * p->length[i] / 2));
    return sum;
}

static double end_by_pile(const pile *p, double small, double most)
{
    double low = 0, high = most;

    if (!(pile_fall(p, high) >= 1 - small))
        return INFINITY;
    for (int i = 0; i < 60 && high - low > 1e-3 * high; i++) {
        double v = low > 0 ? sqrt(low * high) : 0.25 * high;

        *(pile_fall(p, v) >= 1 - small ? &high : &low) = v;
    }
    return high;
}

/* Three bounds that only fall: total variation of the tilted density over v; a uniform part of it, of mass q and
 * length l; and a pile of such parts. The uniform part turns to |sin(vl/2)|/(vl/2). */
double sotto_tilted_law_truncation(const sotto_tilted_law *q, double small)
{
    double concave = q->over, log_whole = q->log_whole, mode;

    if (q->sign > 0)
        concave = fmin(q->over, (q->a * q->a / 2 - log(q->c * q->a * q->a)) / q->a);
    concave = fmax(concave, -q->under);
    double top = exp(tilted_mode(q, concave, &mode) - log_whole);
    double last = concave < q->over ? exp(log_tilted_density(q, q->over) - log_whole) : 0;
    double by_variation = 2 * (top + last) / fmax(1e-300, small - q->beyond * exp(-log_whole));

    if (!(small > 2 * q->beyond * exp(-log_whole)))
        by_variation = INFINITY;
    double best = by_variation;

    for (double width = 0.6; width < 2.5; width *= 1.3) { /* the density is at least its ends' */
        double from = fmax(mode - width, -q->under), to = fmin(mode + width, concave);
        double least = fmin(log_tilted_density(q, from), log_tilted_density(q, to));
        double length = exp(q->a * to - q->a * q->a / 2) - exp(q->a * from - q->a * q->a / 2);
        double mass = exp(least - log_whole) * length * (1 - 1e-9);

        /* 1 - mass + mass S = small, S(x) = sin x / x up to x = 2.4, beyond which nothing exceeds S(2.4). */
        double share = 1 - (1 - small) / mass;

        if (!(mass > 0 && share > 0.29)) /* S(2.4) = 0.281 */
            continue;
        double x = sqrt(6 * (1 - share)), wanted = share * (1 - 1e-9);

        for (int i = 0; i < 60 && sin(x) / x > wanted; i++)
            x *= 1.01;
        if (x <= 2.4 && sin(x) / x <= wanted)
            best = fmin(best, 2 * x / length);
    }
    pile boxes;

    pile_up(&boxes, q, mode, concave);
    return fmin(best, end_by_pile(&boxes, small, fmin(best, 1e3 / q->a)));
}
