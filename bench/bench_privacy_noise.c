/* Noise: constant-time draws with the system's randomness, and look-ups as a simulation uses them. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "noise/coin.h"
#include "noise/noise.h"
#include "noise/randomizer.h"
#include "noise/table_scan.h"

enum { DRAWS = 4096, BINS = 10000 };

typedef struct noise_case {
    sotto_noise noise;
    sotto_entropy entropy;
    int64_t out[DRAWS];
    uint8_t bits[BINS];
    sotto_randomizer randomizer;
    sotto_arena arena;
} noise_case;

static void draw(void *arg)
{
    noise_case *c = arg;

    sotto_bench_expect(sotto_noise_draw(&c->noise, c->out, DRAWS, &c->entropy, NULL) == SOTTO_OK,
                       "noise draw");
}

static void flip(void *arg)
{
    noise_case *c = arg;

    sotto_bench_expect(
        sotto_coin_flips(c->bits, BINS, UINT64_MAX / 9, &c->entropy, NULL) == SOTTO_OK, "flips");
}

static const char *const scans[] = {"avx2", "portable"};
enum { SCANS = 2 };

/* Set-up takes longer than a short run. */
static bool any_wanted(const sotto_bench *b, unsigned sigma)
{
    bool wanted = false;
    char name[80];

    for (size_t i = 0; i < SCANS; i++) {
        (void)snprintf(name, sizeof name, "privacy/noise/gaussian/%u/%s", sigma, scans[i]);
        wanted = wanted || sotto_bench_wanted(b, name);
    }
    return wanted;
}

static void gaussian(const sotto_bench *b, noise_case *c, unsigned sigma)
{
    uint64_t variance = (uint64_t)sigma * sigma;
    char name[80];

    if (!any_wanted(b, sigma))
        return;
    sotto_arena_reset(&c->arena);
    sotto_bench_expect(sotto_noise_gaussian(&c->noise, variance, 1, &c->arena, NULL) == SOTTO_OK,
                       name);
    sotto_entropy_system(&c->entropy);
    for (size_t i = 0; i < SCANS; i++) {
        (void)snprintf(name, sizeof name, "privacy/noise/gaussian/%u/%s", sigma, scans[i]);
        if (sotto_scan_use(scans[i]))
            sotto_bench_run(b, name, draw, c, DRAWS);
    }
    (void)sotto_scan_use(NULL);
}

static void one_hot(void *arg)
{
    noise_case *c = arg;

    sotto_bench_expect(sotto_randomizer_run(&c->randomizer, c->bits, 4321, &c->entropy, NULL) ==
                           SOTTO_OK,
                       "one-hot");
}

void sotto_bench_privacy_noise(const sotto_bench *b)
{
    static noise_case c;
    static const unsigned sigmas[] = {1, 3, 10, 30, 100, 300, 1000};

    sotto_arena_init(&c.arena, (size_t)8 << 20);
    for (size_t i = 0; i < sizeof sigmas / sizeof sigmas[0]; i++)
        gaussian(b, &c, sigmas[i]);
    sotto_entropy_system(&c.entropy);
    sotto_bench_expect(sotto_noise_laplace(&c.noise, 10, 1, &c.arena, NULL) == SOTTO_OK, "laplace");
    sotto_bench_run(b, "privacy/noise/laplace/10", draw, &c, DRAWS);
    sotto_bench_expect(sotto_noise_skellam(&c.noise, 50, 1, &c.arena, NULL) == SOTTO_OK, "skellam");
    sotto_bench_run(b, "privacy/noise/skellam/50", draw, &c, DRAWS);
    sotto_bench_expect(sotto_noise_binomial(&c.noise, 1000, SOTTO_NOISE_HALF, &c.arena, NULL) ==
                           SOTTO_OK,
                       "binomial");
    sotto_bench_run(b, "privacy/noise/binomial/1000", draw, &c, DRAWS);
    sotto_bench_run(b, "privacy/noise/flips/10000", flip, &c, 1);
    sotto_bench_expect(sotto_randomizer_init(&c.randomizer, SOTTO_ONE_HOT_ASYMMETRIC, BINS, 2,
                                             SOTTO_ADJACENCY_REPLACEMENT, NULL) == SOTTO_OK,
                       "one-hot");
    sotto_bench_run(b, "privacy/randomizer/one-hot/10000", one_hot, &c, 1);
    sotto_arena_clear(&c.arena);
}
