#include "privacy/gaussian.h"

#include "privacy/special.h"
#include "privacy/special_check.h"
#include "privacy/special_root.h"

#define U      SOTTO_UNIT_ROUNDOFF
#define SD_MAX 1000.0
/* e^-NOTHING of the answer is charged rather than worked out. */
#define NOTHING 25.0

typedef struct counted {
    double sigma, sensitivity, rate, rounds;
    double from; /* the counts that are summed: from .. from + width */
    int width;
    double log_beyond; /* log of the mass outside, rounded up */
} counted;

/* log P(N = k), then delta of k releases; the sum is kept as a logarithm. */
static sotto_point curve_counted(const void *self, double eps)
{
    const counted *q = self;
    sotto_bound total = {-INFINITY, q->log_beyond};
    double fall = -INFINITY; /* log of -d delta / d eps */

    /* From the top: fewer releases have a smaller delta each, so that where one is nothing beside the sum, all before
     * it together are no more than that. */
    for (int i = q->width; i >= 0; i--) {
        double k = q->from + i;
        double error, mass = sotto_binomial_log_pmf(k, q->rounds, q->rate, 1 - q->rate, &error);
        double mu = q->sensitivity * sqrt(k) / q->sigma;
        double high = sotto_gaussian_curve(eps, sotto_round_up(mu, 2), NULL).high;

        if (high < total.high - NOTHING) {
            total.high = sotto_log_add(total.high, high);
            break;
        }
        if (mass + error + high < total.high - NOTHING - log(q->width + 1.0)) {
            total.high = sotto_log_add(total.high, mass + error + high);
            continue;
        }
        double low = sotto_gaussian_curve(eps, sotto_round_down(mu, 2), NULL).low;

        total.low = sotto_log_add(total.low, mass - error + low);
        total.high = sotto_log_add(total.high, mass + error + high);
        fall = sotto_log_add(fall, mass + log(-sotto_gaussian_slope_eps(eps, mu, 0)));
    }
    double more = U * (q->width + 1) * (8 + fabs(total.high));
    double drift =
        U * 4 * q->rounds * q->rate; /* 1 - rate is rounded: the two need not add up to 1 */

    return (sotto_point){{total.low - more - drift, fmin(0, total.high + more + drift)},
                         -exp(fall - total.high)};
}

/* Both sides: P(|N - mean| > t) <= 2 exp(-t^2 / (2 (var + t/3))) (Bernstein). */
static double log_mass_beyond(double variance, double t)
{
    return log(2) - t * t / (2 * (variance + t / 3)) * (1 - 1e-12);
}

sotto_status sotto_gaussian_counted_epsilon(sotto_bound *out, double sigma, double sensitivity,
                                            double rate, double rounds, double log_delta,
                                            sotto_err *err)
{
    sotto_bound most;

    SOTTO_TRY(sotto_check_range("rate", rate, 1e-300, 1, err));
    SOTTO_TRY(sotto_check_count("rounds", rounds, 1, 1e12, err));
    SOTTO_TRY(sotto_check_log_delta(log_delta, err));
    SOTTO_TRY(sotto_gaussian_epsilon(&most, sigma, sensitivity, rounds, log_delta, err));
    double variance = rounds * rate * (1 - rate), mean = rounds * rate;

    if (!(variance <= SD_MAX * SD_MAX))
        return sotto_fail(
            err, SOTTO_DENIED,
            "rounds: participations vary by %g: accepted is a standard deviation up to %g",
            sqrt(variance), SD_MAX);
    /* Wide enough that what is outside is nothing beside delta. */
    double need = NOTHING - log_delta;
    double t = need / 3 + sqrt(need * need / 9 + 2 * variance * need) + 2;
    double from = fmax(1, floor(mean - t)), to = fmin(rounds, ceil(mean + t));
    /* No release, no loss: 0 need not be counted. */
    double beyond = from == 1 && to == rounds ? -INFINITY : log_mass_beyond(variance, t);
    counted q = {sigma, sensitivity, rate, rounds, from, (int)(to - from), beyond};

    if (curve_counted(&q, 0).value.high <= log_delta) {
        *out = (sotto_bound){0, 0};
        return SOTTO_OK;
    }
    /* Never more than for every round, never less than nothing. */
    sotto_root_enclose(out, curve_counted, &q, log_delta, 0, most.high);
    return SOTTO_OK;
}
