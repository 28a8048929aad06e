/* Discrete Gaussians up to 2^49 wide, and those that are cut. */
#include "noise/noise.h"
#include "sim/random.h"
#include "support/test.h"

#include <math.h>

enum { DRAWS = 20000, BINS = 20 };

static sotto_status fill(void *context, void *out, size_t len, sotto_err *err)
{
    (void)err;
    sotto_sim_random_bytes(context, out, len);
    return SOTTO_OK;
}

static const uint64_t sigmas[] = {1,
                                  3,
                                  200,
                                  (1 << 20) + 1,
                                  (UINT64_C(1) << 31) - 1,
                                  UINT64_C(123456789012345),
                                  SOTTO_NOISE_WIDEST};
enum { SIGMAS = sizeof sigmas / sizeof sigmas[0] };

/* The variance of a part, from its table. Values are counted by how many rows lie above a number below 2^63. */
static double variance_of(const sotto_noise_part *part)
{
    double sum = 0, all = ldexp(1, 63);

    for (size_t i = 1; i <= part->head_count; i++) {
        double above = (double)part->head[i - 1];
        double next = i < part->head_count ? (double)part->head[i] : 0;

        sum += (above - next) / all * (double)i * (double)i;
    }
    return sum * (double)part->factor * (double)part->factor;
}

static void the_variances_of_the_parts_add_up(sotto_test *t)
{
    for (size_t s = 3; s < SIGMAS; s++) {
        sotto_noise noise;
        double sum = 0, wanted = (double)sigmas[s] * (double)sigmas[s];

        CHECK_OK(t, sotto_noise_gaussian_wide(&noise, sigmas[s], &t->arena, &t->err));
        for (size_t p = 0; p < noise.parts; p++)
            sum += variance_of(&noise.part[p]);
        CHECK_NEAR(t, 1, sum / wanted, 1e-9);
        /* Each split costs 2^-107: the budget of 2^-100 a draw has room for 128 of them. */
        CHECK(t, noise.parts >= 10 && noise.parts <= SOTTO_NOISE_PARTS);
        CHECK(t, sotto_noise_limit(&noise) < UINT64_C(32) * sigmas[s]);
    }
}

/* Twenty bins of equal probability for the real Gaussian, whose distance from the discrete one is below 1/sigma. Also the lowest four
 * bits, which parts that are too narrow would show. Bounds are passed with probability 1 - 10^-6. */
static void wide_draws_are_gaussian(sotto_test *t)
{
    static int64_t out[DRAWS];

    for (size_t s = 3; s < SIGMAS; s++) {
        double bins[BINS] = {0}, low[16] = {0}, chi = 0, mean = 0, fourth = 0;
        double sigma = (double)sigmas[s];
        sotto_sim_random random;
        sotto_entropy entropy;
        sotto_noise noise;

        sotto_sim_random_init(&random, s);
        sotto_entropy_init(&entropy, fill, &random);
        CHECK_OK(t, sotto_noise_gaussian_wide(&noise, sigmas[s], &t->arena, &t->err));
        CHECK_OK(t, sotto_noise_draw(&noise, out, DRAWS, &entropy, &t->err));
        for (size_t i = 0; i < DRAWS; i++) {
            double z = (double)out[i] / sigma, below = erfc(-z / sqrt(2)) / 2;

            bins[below >= 1 ? BINS - 1 : (int)(below * BINS)]++;
            low[(uint64_t)out[i] & 15]++;
            mean += z / DRAWS;
            fourth += z * z * z * z / DRAWS;
        }
        for (int b = 0; b < BINS; b++)
            chi += (bins[b] - DRAWS / BINS) * (bins[b] - DRAWS / BINS) / (DRAWS / BINS);
        CHECK(t, chi < 65); /* 19 degrees of freedom */
        chi = 0;
        for (int b = 0; b < 16; b++)
            chi += (low[b] - DRAWS / 16) * (low[b] - DRAWS / 16) / (DRAWS / 16);
        CHECK(t, chi < 57); /* 15 degrees of freedom */
        CHECK_NEAR(t, 0, mean, 5 / sqrt(DRAWS));
        CHECK_NEAR(t, 3, fourth, 5 * sqrt(96.0 / DRAWS));
    }
}

static void a_narrow_one_is_the_plain_gaussian(sotto_test *t)
{
    static int64_t plain[1000], wide[1000];

    for (size_t s = 0; s < 3; s++) {
        sotto_noise noise;

        for (int k = 0; k < 2; k++) {
            sotto_sim_random random;
            sotto_entropy entropy;

            sotto_sim_random_init(&random, 77);
            sotto_entropy_init(&entropy, fill, &random);
            if (k == 0)
                CHECK_OK(
                    t, sotto_noise_gaussian(&noise, sigmas[s] * sigmas[s], 1, &t->arena, &t->err));
            else
                CHECK_OK(t, sotto_noise_gaussian_wide(&noise, sigmas[s], &t->arena, &t->err));
            CHECK_OK(t, sotto_noise_draw(&noise, k ? wide : plain, 1000, &entropy, &t->err));
        }
        CHECK_BYTES(t, plain, wide, sizeof wide);
    }
}

static void a_cut_gaussian_keeps_to_its_bound(sotto_test *t)
{
    static int64_t out[DRAWS];
    double seen[7] = {0}, all = 0, chi = 0;
    sotto_sim_random random;
    sotto_entropy entropy;
    sotto_noise noise;

    sotto_sim_random_init(&random, 3);
    sotto_entropy_init(&entropy, fill, &random);
    CHECK_OK(t, sotto_noise_gaussian_cut(&noise, 21, 2, 3, &t->arena, &t->err));
    CHECK_EQUAL(t, 3, sotto_noise_limit(&noise));
    CHECK_OK(t, sotto_noise_draw(&noise, out, DRAWS, &entropy, &t->err));
    for (size_t i = 0; i < DRAWS; i++) {
        CHECK(t, out[i] >= -3 && out[i] <= 3);
        seen[out[i] + 3]++;
    }
    for (int v = -3; v <= 3; v++)
        all += exp(-v * v / 21.0);
    for (int v = -3; v <= 3; v++) {
        double wanted = DRAWS * exp(-v * v / 21.0) / all;

        chi += (seen[v + 3] - wanted) * (seen[v + 3] - wanted) / wanted;
    }
    CHECK(t, chi < 39); /* six degrees of freedom */
}

static void what_is_too_wide_is_refused(sotto_test *t)
{
    sotto_arena small;
    sotto_noise noise;

    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_gaussian_wide(&noise, 0, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_noise_gaussian_wide(&noise, SOTTO_NOISE_WIDEST + 1, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_noise_gaussian_cut(&noise, 0, 1, 5, &t->arena, &t->err));
    sotto_arena_init(&small, 4096);
    CHECK_STATUS(t, SOTTO_NO_MEMORY,
                 sotto_noise_gaussian_wide(&noise, SOTTO_NOISE_WIDEST, &small, &t->err));
    sotto_arena_clear(&small);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_variances_of_the_parts_add_up),  CASE(wide_draws_are_gaussian),
        CASE(a_narrow_one_is_the_plain_gaussian), CASE(a_cut_gaussian_keeps_to_its_bound),
        CASE(what_is_too_wide_is_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
