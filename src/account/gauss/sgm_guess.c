#include "account/gauss/sgm_guess.h"

#include "account/gauss/sgm_method.h"
#include "account/gauss/sgm_saddle.h"

#define LEAST_SIGMA 0.1
#define MOST_SIGMA  1e6
/* Near enough, as a logarithm of epsilon: a certified answer costs more than a rough one and corrects this at once. */
#define NEAR 0.02

typedef struct target {
    double rate;
    uint64_t rounds;
    double eps;
    double log_delta;
} target;

static double estimate_at(const target *q, double u)
{
    return sotto_sgm_estimate_one(q->rate, exp(u), q->rounds, q->log_delta);
}

/* The log of the noise at which the estimate of eps is what is wanted, and its slope there. */
static double by_estimate(const target *q, double *slope)
{
    double low = log(LEAST_SIGMA), high = log(MOST_SIGMA);

    for (int i = 0; i < 12; i++) {
        double mid = (low + high) / 2;
        /* The estimate is mostly a quarter too high. */
        if (estimate_at(q, mid) > 1.25 * q->eps)
            low = mid;
        else
            high = mid;
    }
    double mid = (low + high) / 2, ratio = estimate_at(q, mid + 0.05) / estimate_at(q, mid - 0.05);
    *slope = log(ratio) / 0.1;
    if (!(*slope < -0.5 && *slope > -50))
        *slope = -1.5;
    return mid;
}

/* How far, as a logarithm, a rough answer in one direction only lies above what is wanted; NAN: not known. */
static double rough_excess(const target *q, double u)
{
    sotto_sgm *m = NULL;

    if (sotto_sgm_new(&m, q->rate, exp(u), NULL) != SOTTO_OK)
        return (double)NAN;
    double f = log(sotto_sgm_method_rough(m, q->rounds, q->log_delta) / q->eps);
    sotto_sgm_free(m);
    return f;
}

double sotto_sgm_sigma_guess(double *slope, double rate, uint64_t rounds, double eps,
                             double log_delta)
{
    const target q = {rate, rounds, eps, log_delta};
    double last_u = 0, last_f = 0;

    *slope = -1.5;
    if (!(rate > 0 && rate <= 1) || rounds == 0 || !(eps > 0) ||
        !(log_delta >= -690.8 && log_delta < 0))
        return (double)NAN;
    double u = by_estimate(&q, slope);

    for (int i = 0; i < 4; i++) {
        double f = rough_excess(&q, u), chord = (f - last_f) / (u - last_u);

        if (!isfinite(f))
            break;
        if (i > 0 && chord < -0.3 && chord > -100)
            *slope = chord;
        last_u = u;
        last_f = f;
        u -= fmin(fmax(f / *slope, -0.7), 0.7);
        u = fmin(fmax(u, log(LEAST_SIGMA)), log(MOST_SIGMA) - 1e-12);
        if (fabs(f) < NEAR)
            break;
    }
    return exp(u);
}
