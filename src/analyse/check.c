/* Is a result right, for somebody who knows the truth? Two questions, since either alone can be fooled: many intervals
 * that barely miss, and one bin that is far off. */
#include "sotto/analyse.h"

#include "account/numeric/special.h"

#include <math.h>

/* Together they call a right result wrong once in ten million runs. A demo runs in many people's builds, and several times in a test: it
 * must not raise false alarms. A wrong constant in the de-biasing moves every bin by many deviations, so little is lost. */
static const double too_unlikely = 5e-8;

/* P(Bin(n, p) >= k). */
static double binomial_tail(double k, double n, double p)
{
    sotto_bound ratio;

    if (k <= n * p) /* at or below the mean: no surprise, and the ratio below is not for it */
        return 1;
    if (sotto_binomial_tail_ratio(&ratio, k, n, p, 1 - p, NULL) != SOTTO_OK)
        return 1;
    return fmin(exp(sotto_binomial_log_pmf(k, n, p, 1 - p, NULL)) * ratio.high, 1);
}

static double relative_entropy(double x, double m)
{
    double h = 0;

    if (x > 0)
        h += x * log(x / m);
    if (x < 1)
        h += (1 - x) * log((1 - x) / (1 - m));
    return h;
}

/* The chance that a sum of n independent bits with this mean is as far from it as this, on its side. It is at most
 * exp(-n D(sum/n || mean/n)) whatever the bits' own chances (Hoeffding 1963, theorem 1). No approximation is involved,
 * so that none can raise a false alarm. */
static double log_chance(double sum, double mean, double n)
{
    if (n <= 0 || mean <= 0 || mean >= n)
        return sum == mean ? 0 : -INFINITY;
    return -n * relative_entropy(sum / n, mean / n);
}

/* log E exp(t (B + N)) - t sum: for every t > 0 a bound on the log of the chance. B: n bits whose means sum up to
 * `mean`; N: noise that is sub-Gaussian with this variance. */
static double log_moment(double t, double sum, double mean, double n, double variance)
{
    double bits = n > 0 ? n * log1p(mean / n * expm1(t)) : 0;

    return bits + t * t * variance / 2 - t * sum;
}

/* The same with noise on the sum. The bound is convex in t; a search that ends early is loose, not wrong. */
static double log_chance_with_noise(double sum, double mean, double n, double variance)
{
    double low = 0, high = 30;

    if (sum < mean) { /* the other tail: count the zeros */
        sum = n - sum;
        mean = n - mean;
    }
    for (int i = 0; i < 200; i++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;

        if (log_moment(a, sum, mean, n, variance) < log_moment(b, sum, mean, n, variance))
            high = b;
        else
            low = a;
    }
    return fmin(log_moment((low + high) / 2, sum, mean, n, variance), 0);
}

sotto_status sotto_result_compare(sotto_result_check *out, const sotto_result *result,
                                  const uint64_t *truth, size_t count, sotto_err *err)
{
    sotto_err_clear(err);

    double n = (double)result->reports, worst = 0;
    uint64_t total = 0;

    *out = (sotto_result_check){.bins = result->count};
    if (count != result->count)
        return sotto_fail(err, SOTTO_MALFORMED, "%zu truths for %zu bins", count, result->count);
    for (size_t i = 0; i < count; i++) {
        const sotto_result_bin *b = &result->bins[i];
        double f = (double)truth[i], mean, chance;

        if (truth[i] > result->reports - total)
            return sotto_fail(err, SOTTO_MALFORMED, "the truth counts more than the reports");
        total += truth[i];
        out->missed += f < b->low || f > b->high;
        mean = n * result->q + f * (result->p - result->q);
        chance = result->noise_variance > 0
                     ? log_chance_with_noise((double)b->sum, mean, n, result->noise_variance)
                     : log_chance((double)b->sum, mean, n);
        if (chance < worst) {
            worst = chance;
            out->worst = i;
        }
    }
    out->missed_chance = binomial_tail((double)out->missed, (double)count, 1 - result->confidence);
    /* Either side of any bin. */
    out->worst_chance = fmin(2 * (double)count * exp(worst), 1);
    out->wrong = out->missed_chance < too_unlikely || out->worst_chance < too_unlikely;
    return SOTTO_OK;
}
