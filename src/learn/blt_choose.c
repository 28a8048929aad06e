/* A search for decays and weights, one number at a time, by steps that get smaller. What it finds is rounded to multiples of 2^-30. */
#include "learn/blt_choose.h"

#include <math.h>

enum { NUMBERS = 2 * SOTTO_BLT_BUFFERS };

/* x: logarithms to base 2 of what a buffer forgets in a round, and of its weight. */
static sotto_blt at(const double x[NUMBERS])
{
    const double one = ldexp(1, SOTTO_BLT_BITS);
    sotto_blt b;

    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++) {
        b.decay[j] = llround(one * (1 - exp2(x[2 * j])));
        b.weight[j] = llround(one * exp2(x[2 * j + 1]));
    }
    return b;
}

/* The error at the noise that a claim needs. */
static double badness(const double x[NUMBERS], const sotto_blt_pattern *p)
{
    const sotto_blt b = at(x);

    if (sotto_blt_check(&b, NULL) != SOTTO_OK)
        return INFINITY;
    return sotto_blt_sensitivity(&b, p) * sotto_blt_error(&b, p->rounds);
}

static bool improve(double x[NUMBERS], double *best, double step, const sotto_blt_pattern *p)
{
    bool better = false;

    for (size_t i = 0; i < 2 * (size_t)NUMBERS; i++) {
        const double kept = x[i / 2];

        x[i / 2] += i % 2 ? -step : step;
        const double now = badness(x, p);
        if (now < *best * (1 - 1e-9)) {
            *best = now;
            better = true;
        } else {
            x[i / 2] = kept;
        }
    }
    return better;
}

sotto_status sotto_blt_choose(sotto_blt *out, const sotto_blt_pattern *p, sotto_err *err)
{
    const double rounds = log2((double)p->rounds + 1);
    /* Weights as in the square root of a matrix of ones: half of the noise of the round before, and less of earlier ones. */
    double x[NUMBERS] = {-0.7, -2, -0.5 * rounds, -4, -rounds, -6};

    if (!sotto_blt_pattern_priced(p))
        return sotto_fail(err, SOTTO_DENIED,
                          "blt: 1 to %d rounds, a separation and participations wanted",
                          SOTTO_BLT_ROUNDS);
    double best = badness(x, p);
    for (double step = 1; step > 0.02; step /= 2)
        for (unsigned tries = 0; tries < 12 && improve(x, &best, step, p);)
            tries++;
    *out = at(x);
    return sotto_blt_check(out, err);
}
