/* Coverage added up over every sum that can come, not drawn: no chance is left in these tests. */
#include "analyse/interval.h"

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2048, MIDDLE = MOST / 2 };

static double pmf[MOST], other[MOST], both[MOST];

static void binomial(double *out, unsigned n, double p)
{
    memset(out, 0, MOST * sizeof *out);
    out[0] = 1;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = i + 2; k-- > 0;)
            out[k] = out[k] * (1 - p) + (k > 0 ? out[k - 1] * p : 0);
}

static void convolve(double *out, const double *a, const double *b)
{
    memset(both, 0, sizeof both);
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; a[i] > 1e-30 && i + j < MOST; j++)
            both[i + j] += a[i] * b[j];
    memcpy(out, both, sizeof both);
}

/* The chance that an interval holds f, where sum `from` + i has the chance pmf[i]. */
static double coverage(const sotto_sum_law *law, sotto_alpha alpha, double f, double from)
{
    double held = 0;

    for (size_t i = 0; i < MOST; i++)
        if (pmf[i] > 1e-12) {
            const sotto_ends r = sotto_interval_of(law, alpha, from + (double)i);

            held += r.low <= f && f <= r.high ? pmf[i] : 0;
        }
    return held;
}

/* Ends move by whole sums: no interval can hold exactly 95% where one sum has a large part of all chances. */
static void check(sotto_test *t, const sotto_sum_law *law, double f, double from)
{
    const double held = coverage(law, sotto_alpha_of(0.05), f, from),
                 deviation = sotto_law_deviation(law, f);
    const bool right = held >= 0.949 && (deviation < 3.5 || held <= 0.97);

    if (!right)
        (void)fprintf(stderr, "n %g p %g q %g f %g deviation %g: %.5f\n", law->entries, law->p,
                      law->q, f, deviation, held);
    CHECK(t, right);
}

static void bits(sotto_test *t, unsigned n, double p, double q)
{
    const sotto_sum_law law = {.entries = n, .p = p, .q = q, .rate = 1, .most = n};
    const unsigned truths[] = {0, 1, 2, 5, 10, n / 4, n / 2, n - 2, n - 1, n};

    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        if (truths[i] > n)
            continue;
        binomial(pmf, truths[i], p);
        binomial(other, n - truths[i], q);
        convolve(pmf, pmf, other);
        check(t, &law, truths[i], 0);
    }
}

static void counts_by_randomized_bits_are_held(sotto_test *t)
{
    static const double locals[] = {0.25, 1, 2, 4, 8};
    static const unsigned reports[] = {3, 20, 100, 400};

    for (size_t i = 0; i < sizeof locals / sizeof locals[0]; i++)
        for (size_t j = 0; j < sizeof reports / sizeof reports[0]; j++) {
            const double e = exp(locals[i]);

            bits(t, reports[j], 0.5, 1 / (e + 1));           /* asymmetric */
            bits(t, reports[j], e / (e + 1), 1 / (e + 1));   /* binary     */
            bits(t, reports[j], e / (e + 99), 1 / (e + 99)); /* a choice   */
        }
}

/* Noise alone, of a law that is a table: two servers' discrete Gaussians, or the difference of two Poisson numbers. */
static void noise(double sigma, bool skellam)
{
    double total = 0;

    memset(other, 0, sizeof other);
    for (int i = -200; i <= 200; i++)
        total += other[i + 200] = skellam ? 0 : exp(-i * i / (2 * sigma * sigma));
    if (skellam) {
        const double mean =
            sigma * sigma; /* of both: the variance is twice that, as of two servers */

        for (int k = 0; k <= 400; k++)
            other[k] = exp(-mean + k * log(mean) - lgamma(k + 1));
        memset(pmf, 0, sizeof pmf);
        for (int i = 0; i <= 400; i++)
            for (int j = 0; j <= 400; j++)
                if (i - j >= -200 && i - j <= 200)
                    pmf[i - j + 400] += other[i] * other[j];
        return;
    }
    for (int i = 0; i <= 400; i++)
        other[i] /= total;
    convolve(pmf, other, other);
}

static void counts_with_noise_are_held(sotto_test *t)
{
    static const double sigmas[] = {0.5, 0.7, 1, 2, 3, 10};
    static const double truths[] = {0, 1, 3, 10, 25, 39, 40};

    for (size_t i = 0; i < sizeof sigmas / sizeof sigmas[0]; i++)
        for (int skellam = 0; skellam < 2; skellam++) {
            const double v = 2 * sigmas[i] * sigmas[i];
            const sotto_sum_law law = {.p = 1,
                                       .rate = 1,
                                       .most = 40,
                                       .gaussian = skellam ? 0 : v,
                                       .sigma = sigmas[i],
                                       .skellam = skellam ? v : 0};

            noise(sigmas[i], skellam);
            for (size_t j = 0; j < sizeof truths / sizeof truths[0]; j++)
                check(t, &law, truths[j], truths[j] - 400);
        }
}

/* Few sums have rows of their own; many are between rows. */
static void a_table_says_what_each_sum_says(sotto_test *t)
{
    enum { MANY = 3000 };
    static int64_t sums[MANY];
    const double e = exp(2);
    const sotto_sum_law law = {
        .entries = 100000, .p = 0.5, .q = 1 / (e + 1), .rate = 1, .most = 100000};
    sotto_interval_table table;

    for (size_t i = 0; i < MANY; i++)
        sums[i] = 11500 + (int64_t)i * (i < 1500 ? 1 : 9);
    for (int together = 1; together <= MANY; together += MANY - 1) {
        const sotto_alpha alpha = sotto_alpha_of(0.05 / together);

        CHECK_OK(t, sotto_interval_table_init(&table, &law, alpha, sums, MANY, &t->arena, &t->err));
        CHECK(t, table.count < MANY / 2);
        for (size_t i = 0; i < MANY; i += 7) {
            const sotto_ends a = sotto_interval_of(&law, alpha, (double)sums[i]),
                             b = sotto_interval_look_up(&table, (double)sums[i]);
            const double unit = sotto_law_deviation(&law, a.high) / sotto_law_gain(&law);

            CHECK_NEAR(t, a.low, b.low, 0.002 * unit);
            CHECK_NEAR(t, a.high, b.high, 0.002 * unit);
            CHECK(t,
                  (a.low > 0) == (b.low > 0)); /* what is told from 0 is told by the sum itself */
        }
    }
}

/* At a bound all of alpha is on the other side; far from both it is halved; nothing is ever given away. */
static void alpha_is_divided_between_the_tails(sotto_test *t)
{
    const sotto_alpha alpha = sotto_alpha_of(0.05);

    CHECK_NEAR(t, 1.959964, alpha.z, 1e-6);
    for (double low = 0; low < 4; low += 0.25)
        for (double high = 0.25; high < 4; high += 0.25) {
            const sotto_tail_split s = sotto_alpha_split(alpha, low, high);

            CHECK_NEAR(t, 0.05, s.lower + s.upper, 1e-8);
        }
    CHECK_NEAR(t, 0.05, sotto_alpha_split(alpha, 0, INFINITY).upper, 1e-8);
    CHECK_NEAR(t, 1.644854, sotto_alpha_split(alpha, 0, INFINITY).upper_at, 1e-5);
    CHECK_NEAR(t, 0.025, sotto_alpha_split(alpha, 2, 2).upper, 1e-12);
}

/* However far a sum is from all that can be, some count agrees with it best. */
static void no_interval_is_empty(sotto_test *t)
{
    const sotto_sum_law law = {.p = 1, .rate = 1, .most = 40, .gaussian = 50, .sigma = 5};

    for (int sum = -300; sum <= 340; sum += 5) {
        const sotto_ends r = sotto_interval_of(&law, sotto_alpha_of(0.05), sum);

        CHECK(t, r.low >= 0 && r.low < r.high && r.high <= 40);
        CHECK(t, sum > 0 || r.low == 0);
        CHECK(t, sum < 40 || r.high == 40);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(counts_by_randomized_bits_are_held),
        CASE(counts_with_noise_are_held),
        CASE(a_table_says_what_each_sum_says),
        CASE(alpha_is_divided_between_the_tails),
        CASE(no_interval_is_empty),
    };

    return RUN_TESTS(argc, argv, cases);
}
