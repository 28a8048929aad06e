#include "learn/rate.h"

#include <math.h>

#include "base/rule.h"

static bool within(double x, double low, double high)
{
    return x >= low && x <= high; /* false for NaN */
}

/* 1 - 2 e^(-n p0 / m): slots that are not empty, less those that are. */
static double filled(const sotto_rate *r)
{
    return 1 - 2 * exp(-r->devices * r->chance / r->slots);
}

sotto_status sotto_rate_check(const sotto_rate *r, sotto_err *err)
{
    if (r->law < SOTTO_RATE_FIX || r->law > SOTTO_RATE_AVG_SMOOTH)
        return sotto_fail(err, SOTTO_DENIED,
                          "rate: theorem-3.5, theorem-4.2 or theorem-4.2-smooth wanted");
    if (!within(r->diameter, 1e-6, 1e6) || !within(r->lipschitz, 1e-9, 1e9))
        return sotto_fail(
            err, SOTTO_DENIED,
            "rate: diameter: 10^-6 to 10^6, and Lipschitz bound: 10^-9 to 10^9, wanted");
    if (!within(r->dimension, 1, 0x1p24) || !within(r->variance, 0, 1e18) ||
        !within(r->devices, 1, 0x1p32) || !within(r->slots, 1, 1e6) || !within(r->chance, 0, 1))
        return sotto_fail(err, SOTTO_DENIED,
                          "rate: dimension, noise, devices, slots or chance out of range");
    if (r->law == SOTTO_RATE_AVG_SMOOTH && !within(r->smooth, 1e-9, 1e9))
        return sotto_fail(err, SOTTO_DENIED, "rate: smooth: 10^-9 to 10^9 wanted");
    if (SOTTO_RULE(enough_check_ins_for_the_rate) && r->law == SOTTO_RATE_FIX && filled(r) <= 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "rate: theorem-3.5: %.3g check-ins a slot; it takes more than 0.694",
                          r->devices * r->chance / r->slots);
    return SOTTO_OK;
}

double sotto_rate_of(const sotto_rate *r, uint64_t step)
{
    const double square = r->lipschitz * r->lipschitz;
    const double falling = r->diameter / sqrt((r->dimension * r->variance + square) * (double)step);

    if (r->law == SOTTO_RATE_FIX)
        return falling * filled(r);
    if (r->law == SOTTO_RATE_AVG)
        return falling;
    const double many = r->diameter * sqrt(r->devices);
    const double local = r->variance * r->devices / r->slots; /* of one report of n / m in a step */

    return many / (r->smooth * many + r->slots * sqrt(square + r->dimension * local));
}

void sotto_rate_project(float *weights, size_t count, double diameter)
{
    double square = 0;

    for (size_t i = 0; i < count; i++)
        square += (double)weights[i] * (double)weights[i];
    const double length = sqrt(square), factor = diameter / 2 / length;
    if (SOTTO_RULE(models_stay_in_the_ball) && length > diameter / 2)
        for (size_t i = 0; i < count; i++)
            weights[i] = (float)((double)weights[i] * factor);
}

void sotto_rate_average(double *mean, const float *weights, size_t count, uint64_t step)
{
    for (size_t i = 0; i < count; i++)
        mean[i] += ((double)weights[i] - mean[i]) / (double)step;
}
