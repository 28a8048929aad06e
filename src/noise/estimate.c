#include "noise/estimate.h"

#include <math.h>

double sotto_estimate_variance(const sotto_randomizer *r, double f, double n)
{
    double p = r->p, q = r->q;

    return (n * q * (1 - q) + f * (p * (1 - p) - q * (1 - q))) / ((p - q) * (p - q));
}

sotto_estimate sotto_estimate_count(const sotto_randomizer *r, double supporting, double n)
{
    double value = (supporting - n * r->q) / (r->p - r->q);

    return (sotto_estimate){value, sotto_estimate_variance(r, fmin(fmax(value, 0), n), n)};
}

sotto_estimate sotto_estimate_coordinate(const sotto_vector_randomizer *r, double sum,
                                         double reports)
{
    double scale = r->config.scale, v = r->device_sigma * r->device_sigma;

    return (sotto_estimate){sum / scale, reports * (v + 0.25) / (scale * scale)};
}
