#include "learn/step.h"

#include <math.h>

#include "base/rule.h"

const char *sotto_optimizer_name(sotto_optimizer optimizer)
{
    static const char *const names[] = {"none", "sgd", "momentum", "adam", "yogi"};

    return names[optimizer <= SOTTO_OPTIMIZER_YOGI ? optimizer : 0];
}

size_t sotto_step_arrays(sotto_optimizer optimizer)
{
    return optimizer == SOTTO_OPTIMIZER_SGD ? 0 : optimizer == SOTTO_OPTIMIZER_MOMENTUM ? 1 : 2;
}

sotto_status sotto_step_check(const sotto_step_config *c, bool correlated, sotto_err *err)
{
    if (c->optimizer < SOTTO_OPTIMIZER_SGD || c->optimizer > SOTTO_OPTIMIZER_YOGI)
        return sotto_fail(err, SOTTO_DENIED,
                          "server: optimizer: sgd, momentum, adam or yogi wanted");
    if (!(c->rate > 0 && c->rate <= 1e6) || !(c->decay > 0 && c->decay <= 1))
        return sotto_fail(err, SOTTO_DENIED,
                          "server: rate above 0 and decay above 0, up to 1, wanted");
    if (sotto_step_arrays(c->optimizer) > 0 && !(c->momentum >= 0 && c->momentum < 1))
        return sotto_fail(err, SOTTO_DENIED, "server: momentum: 0 to below 1 wanted");
    if (sotto_step_arrays(c->optimizer) > 1 &&
        (!(c->second >= 0 && c->second < 1) || !(c->floor > 0 && c->floor <= 1)))
        return sotto_fail(err, SOTTO_DENIED,
                          "server: second: 0 to below 1, and floor: above 0, wanted");
    if (SOTTO_RULE(linear_with_correlated_noise) && correlated &&
        sotto_step_arrays(c->optimizer) > 1)
        return sotto_fail(err, SOTTO_DENIED,
                          "server: %s: noise that cancels over rounds needs sgd or momentum",
                          sotto_optimizer_name(c->optimizer));
    return SOTTO_OK;
}

static void adaptive(const sotto_step_config *c, double rate, float *weights, float *first,
                     float *second, const int64_t *sum, double unit, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double mean = (double)sum[i] * unit, square = mean * mean, was = (double)second[i];
        const double m = c->momentum * (double)first[i] + (1 - c->momentum) * mean;
        double v = c->second * was + (1 - c->second) * square;

        if (c->optimizer == SOTTO_OPTIMIZER_YOGI)
            v = was + (1 - c->second) * (was < square ? square : was > square ? -square : 0);
        first[i] = (float)m;
        second[i] = (float)v;
        weights[i] = (float)((double)weights[i] + rate * m / (sqrt(v) + c->floor));
    }
}

void sotto_step(const sotto_step_config *c, uint64_t round, float *weights, float *first,
                float *second, const int64_t *sum, double unit, size_t count)
{
    double rate = c->rate;

    for (uint64_t i = 0; i < round && c->decay < 1;
         i++) /* by products: pow is not the same everywhere */
        rate *= c->decay;
    if (sotto_step_arrays(c->optimizer) == 2) {
        adaptive(c, rate, weights, first, second, sum, unit, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double mean = (double)sum[i] * unit;

        if (first) {
            first[i] = (float)(c->momentum * (double)first[i] + mean);
            mean = (double)first[i];
        }
        weights[i] = (float)((double)weights[i] + rate * mean);
    }
}
