#include "privacy/allocation_end.h"

#include "privacy/special.h"

/* log of e^(cZ) times the density of Z, at w; its slope -w - a +- c a Y falls for all w with c a^2 Y < 1. */
static double log_tilted_density(const sotto_tilted *q, double w)
{
    double y = exp(q->a * w - q->a * q->a / 2);

    return -w * w / 2 - SOTTO_LOG_SQRT_2PI + q->c * q->sign * (y - 1) - log(q->a * y);
}

/* The largest of it where it is concave (up to `to`), by bisection of its slope; *at is the place. */
static double tilted_mode(const sotto_tilted *q, double to, double *at)
{
    double low = -q->under, high = to;

    for (int i = 0; i < 50; i++) {
        double w = (low + high) / 2, y = exp(q->a * w - q->a * q->a / 2);

        *(-w - q->a + q->sign * q->c * q->a * y > 0 ? &low : &high) = w;
    }
    *at = (low + high) / 2;
    return log_tilted_density(q, *at) + 1e-6;
}

/* Two bounds that only fall: total variation of the tilted density over v, and a uniform part of it, of mass q and
 * length l, which turns to |sin(vl/2)|/(vl/2). */
double sotto_tilted_end(const sotto_tilted *q, double small)
{
    double concave = q->over, log_whole = q->log_whole, mode;

    if (q->sign > 0)
        concave = fmin(q->over, (q->a * q->a / 2 - log(q->c * q->a * q->a)) / q->a);
    concave = fmax(concave, -q->under);
    double top = exp(tilted_mode(q, concave, &mode) - log_whole);
    double last = concave < q->over ? exp(log_tilted_density(q, q->over) - log_whole) : 0;
    double by_variation = 2 * (top + last) / fmax(1e-300, small - q->beyond * exp(-log_whole));

    if (!(small > 2 * q->beyond * exp(-log_whole)))
        return INFINITY;
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
    return best;
}
