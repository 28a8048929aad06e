/* Ten million draws of each law with fixed seeds: shape, moments and tails. A chance failure, were the seeds
 * not fixed, would come about once in 10^6 runs. */
#include "noise/noise.h"
#include "noise/table_scan.h"
#include "noise_support.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWS = SOTTO_TEST_DRAWS(10000000), BATCH = 10000, REACH = 8192 };

typedef double probability(int64_t x, const double *parameters);

typedef struct histogram {
    uint64_t seen[2 * REACH + 1];
    double sum, squares, count;
} histogram;

static void note(histogram *h, const int64_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t x = out[i] < -REACH ? -REACH : out[i] > REACH ? REACH : out[i];

        h->seen[x + REACH]++;
        h->sum += (double)out[i];
        h->squares += (double)out[i] * (double)out[i];
    }
    h->count += (double)count;
}

/* Chi-square as a standard normal number (Wilson and Hilferty); values expected less than ten times are
 * taken together, on each side. */
static double chi_square(const histogram *h, probability *p, const double *parameters)
{
    double chi = 0, expected = 0, seen = 0, cells = -1, left = h->count, left_seen = h->count;

    for (int64_t x = -REACH; x <= REACH; x++) {
        expected += h->count * p(x, parameters);
        seen += (double)h->seen[x + REACH];
        if (expected < 10 || left - expected < 10)
            continue;
        chi += (seen - expected) * (seen - expected) / expected;
        left -= expected;
        left_seen -= seen;
        expected = seen = 0;
        cells++;
    }
    if (left > 1) {
        chi += (left_seen - left) * (left_seen - left) / left;
        cells++;
    }
    double spread = 2 / (9 * cells);
    return (cbrt(chi / cells) - (1 - spread)) / sqrt(spread);
}

static void check_law(sotto_test *t, const histogram *h, probability *p, const double *parameters)
{
    double mean = 0, second = 0, fourth = 0, tail = 0, tail_seen = 0;

    for (int64_t x = -REACH; x <= REACH; x++)
        mean += (double)x * p(x, parameters);
    for (int64_t x = -REACH; x <= REACH; x++) {
        second += pow((double)x - mean, 2) * p(x, parameters);
        fourth += pow((double)x - mean, 4) * p(x, parameters);
    }
    for (int64_t x = -REACH; x <= REACH; x++)
        if (fabs((double)x - mean) > 4 * sqrt(second)) {
            tail += h->count * p(x, parameters);
            tail_seen += (double)h->seen[x + REACH];
        }
    double got = h->sum / h->count;
    double variance = h->squares / h->count - 2 * mean * got + mean * mean;
    CHECK_NEAR(t, 0, chi_square(h, p, parameters), 4.9);
    CHECK_NEAR(t, mean, got, 5 * sqrt(second / h->count));
    CHECK_NEAR(t, second, variance, 5 * sqrt((fourth - second * second) / h->count));
    CHECK_NEAR(t, tail, tail_seen, 5 * sqrt(tail + 1));
}

static void draw_and_check(sotto_test *t, const sotto_noise *noise, uint64_t seed, probability *p,
                           const double *parameters)
{
    static histogram h;
    static int64_t out[BATCH];
    sotto_sim_random random;
    sotto_entropy entropy;

    memset(&h, 0, sizeof h);
    sotto_sim_random_init(&random, seed);
    sotto_entropy_init(&entropy, noise_fill_sim, &random);
    for (size_t at = 0; at < DRAWS; at += BATCH) {
        CHECK_OK(t, sotto_noise_draw(noise, out, BATCH, &entropy, &t->err));
        note(&h, out, BATCH);
    }
    check_law(t, &h, p, parameters);
}

/* parameters: variance, and the sum of all weights. */
static double gaussian(int64_t x, const double *v)
{
    return exp(-(double)x * (double)x / (2 * v[0])) / v[1];
}

static double gaussian_sum(double variance)
{
    double v[2] = {variance, 1}, all = 0;

    for (int64_t x = -REACH; x <= REACH; x++)
        all += gaussian(x, v);
    return all;
}

static void gaussian_draws_follow_their_law(sotto_test *t)
{
    static const uint64_t variances[][2] = {{1, 2}, {4, 1}, {1000, 7}, {90000, 1}};

    for (size_t i = 0; i < sizeof variances / sizeof variances[0]; i++) {
        double variance = (double)variances[i][0] / (double)variances[i][1];
        double v[2] = {variance, gaussian_sum(variance)};
        sotto_noise noise;

        CHECK_OK(
            t, sotto_noise_gaussian(&noise, variances[i][0], variances[i][1], &t->arena, &t->err));
        draw_and_check(t, &noise, 100 + i, gaussian, v);
    }
}

static double laplace(int64_t x, const double *scale)
{
    double q = exp(-1 / scale[0]);

    return (1 - q) / (1 + q) * exp(-fabs((double)x) / scale[0]);
}

static void laplace_draws_follow_their_law(sotto_test *t)
{
    static const uint64_t scales[][2] = {{1, 2}, {35, 3}};

    for (size_t i = 0; i < 2; i++) {
        double scale = (double)scales[i][0] / (double)scales[i][1];
        sotto_noise noise;

        CHECK_OK(t, sotto_noise_laplace(&noise, scales[i][0], scales[i][1], &t->arena, &t->err));
        draw_and_check(t, &noise, 300 + i, laplace, &scale);
    }
}

static double geometric(int64_t x, const double *q)
{
    return x < 0 ? 0 : (1 - q[0]) * pow(q[0], (double)x);
}

static void geometric_draws_follow_their_law(sotto_test *t)
{
    double q = 9.0 / 11;
    sotto_noise noise;

    CHECK_OK(t, sotto_noise_geometric(&noise, 9, 11, &t->arena, &t->err));
    draw_and_check(t, &noise, 400, geometric, &q);
}

/* parameters: n and p. */
static double binomial(int64_t x, const double *v)
{
    double k = (double)x;

    if (k < 0 || k > v[0])
        return 0;
    return exp(lgamma(v[0] + 1) - lgamma(k + 1) - lgamma(v[0] - k + 1) + k * log(v[1]) +
               (v[0] - k) * log1p(-v[1]));
}

static void binomial_draws_follow_their_law(sotto_test *t)
{
    double half[2] = {100, 0.5}, small[2] = {3000, 0x1p-8};
    sotto_noise noise;

    CHECK_OK(t, sotto_noise_binomial(&noise, 100, SOTTO_NOISE_HALF, &t->arena, &t->err));
    draw_and_check(t, &noise, 500, binomial, half);
    CHECK_OK(t, sotto_noise_binomial(&noise, 3000, UINT64_C(1) << 56, &t->arena, &t->err));
    draw_and_check(t, &noise, 501, binomial, small);
}

static double poisson(int64_t x, const double *mean)
{
    return x < 0 ? 0 : exp((double)x * log(mean[0]) - mean[0] - lgamma((double)x + 1));
}

static double skellam(int64_t x, const double *mean)
{
    double sum = 0;

    if (llabs(x) > 60)
        return 0;
    for (int64_t y = 0; y < 80; y++)
        sum += poisson(y, mean) * poisson(y + llabs(x), mean);
    return sum;
}

static void poisson_and_skellam_draws_follow_their_laws(sotto_test *t)
{
    double mean = 17.0 / 4;
    sotto_noise noise;

    CHECK_OK(t, sotto_noise_poisson(&noise, 17, 4, &t->arena, &t->err));
    draw_and_check(t, &noise, 600, poisson, &mean);
    CHECK_OK(t, sotto_noise_skellam(&noise, 17, 4, &t->arena, &t->err));
    draw_and_check(t, &noise, 601, skellam, &mean);
}

static void every_scan_draws_the_same(sotto_test *t)
{
    static const char *const names[] = {"portable", "avx2"};
    int64_t first[1000] = {0}, out[1000];
    sotto_noise noise;

    if (!sotto_scan_use("avx2"))
        SKIP(t, "this processor lacks AVX2: there is one scan");
    CHECK_OK(t, sotto_noise_gaussian(&noise, 12345, 10, &t->arena, &t->err));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sotto_sim_random random;
        sotto_entropy entropy;

        CHECK(t, sotto_scan_use(names[i]));
        sotto_sim_random_init(&random, 700);
        sotto_entropy_init(&entropy, noise_fill_sim, &random);
        /* Draws of all small sizes too: steps that are not full. */
        for (size_t n = 1, at = 0; at + n <= 1000; at += n++)
            CHECK_OK(t, sotto_noise_draw(&noise, out + at, n, &entropy, &t->err));
        if (i == 0)
            memcpy(first, out, sizeof first);
        CHECK_BYTES(t, first, out, 990 * sizeof out[0]);
    }
    CHECK(t, sotto_scan_use(NULL));
}

static void a_source_that_fails_leaves_zeros(sotto_test *t)
{
    int64_t out[300];
    sotto_noise noise;
    sotto_entropy entropy;

    memset(out, 1, sizeof out);
    CHECK_OK(t, sotto_noise_gaussian(&noise, 100, 1, &t->arena, &t->err));
    sotto_entropy_init(&entropy, noise_fill_nothing, NULL);
    CHECK_STATUS(t, SOTTO_IO, sotto_noise_draw(&noise, out, 300, &entropy, &t->err));
    for (size_t i = 0; i < 300; i++)
        CHECK_EQUAL(t, 0, out[i]);
}

static void system_randomness_gives_two_different_draws(sotto_test *t)
{
    int64_t a[64], b[64];
    sotto_noise noise;
    sotto_entropy entropy;

    CHECK_OK(t, sotto_noise_gaussian(&noise, 10000, 1, &t->arena, &t->err));
    sotto_entropy_system(&entropy);
    CHECK_OK(t, sotto_noise_draw(&noise, a, 64, &entropy, &t->err));
    CHECK_OK(t, sotto_noise_draw(&noise, b, 64, &entropy, &t->err));
    CHECK(t, memcmp(a, b, sizeof a) != 0);
    sotto_entropy_clear(&entropy);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(gaussian_draws_follow_their_law),
        CASE(laplace_draws_follow_their_law),
        CASE(geometric_draws_follow_their_law),
        CASE(binomial_draws_follow_their_law),
        CASE(poisson_and_skellam_draws_follow_their_laws),
        CASE(every_scan_draws_the_same),
        CASE(a_source_that_fails_leaves_zeros),
        CASE(system_randomness_gives_two_different_draws),
    };
    return RUN_TESTS(argc, argv, cases);
}
