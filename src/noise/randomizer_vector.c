#include "noise/randomizer_vector.h"

#include <math.h>
#include <string.h>

#include "account/numeric/bound.h"
#include "math/ct.h"
#include "math/wide.h"

enum { SLACK = 8, BLOCK = 128, LANES = 8, LOG2_MISS = -40 };

/* ---- set-up ----------------------------------------------------------------------------------------- */

static double up(double x)
{
    return sotto_round_up(x, SLACK);
}

/* Each coordinate moves by less than 1, so (c + sqrt d)^2 always holds.
 * With probability 1 - beta, c^2 + d/4 + sqrt(2 log(1/beta)) (c + sqrt(d)/2) holds (Kairouz, Liu and Steinke
 * 2021, the distributed discrete Gaussian mechanism). */
double sotto_vector_rounded_norm2(double c, double d)
{
    double always = (c + sqrt(d)) * (c + sqrt(d));
    double likely = c * c + d / 4 + sqrt(-2 * LOG2_MISS * log(2)) * (c + sqrt(d) / 2);

    return ceil(up(fmin(always, likely)));
}

/* 10 sum over k < n of exp(-2 pi^2 s^2 k/(k+1)), rounded up (same authors). Terms grow with k only
 * towards the last exponent, which bounds all those after the first few. */
static double sum_divergence(double s, double n)
{
    const double a = 2 * 9.869604401089357 * s * s;
    double sum = 0;

    for (unsigned k = 1; k < 64 && k < n; k++)
        sum += exp(-a * k / (k + 1));
    if (n > 64)
        sum += (n - 64) * exp(-a * 64 / 65);
    return 10 * sum * (1 + 1e-9);
}

static bool within(double x, double low, double high)
{
    return x >= low && x <= high; /* false for NaN */
}

static sotto_status check(const sotto_vector_config *c, sotto_err *err)
{
    const bool noise = c->law == SOTTO_SHARE_GAUSSIAN || c->law == SOTTO_SHARE_SKELLAM;

    if (!noise && c->law != SOTTO_SHARE_NONE)
        return sotto_fail(err, SOTTO_DENIED, "vector: law: gaussian, skellam or none wanted");
    if (c->adjacency != SOTTO_ADJACENCY_REPLACEMENT && c->adjacency != SOTTO_ADJACENCY_ADD_REMOVE &&
        c->adjacency != SOTTO_ADJACENCY_DELETION)
        return sotto_fail(err, SOTTO_DENIED, "vector: adjacency: one of the three wanted");
    if (c->dimension < 1 || c->dimension > (size_t)1 << 24)
        return sotto_fail(err, SOTTO_DENIED, "vector: dimension: 1 to 2^24 wanted");
    if (noise && (c->honest < 1 || c->honest > (uint64_t)1 << 40))
        return sotto_fail(err, SOTTO_DENIED, "vector: honest: 1 to 2^40 devices wanted");
    if (!within(c->clip, 1e-30, 1e30) || !within(c->scale, 1e-30, 1e30) ||
        !within(c->clip * c->scale, 1e-3, 0x1p30))
        return sotto_fail(err, SOTTO_DENIED,
                          "vector: clip, scale: above 0, their product 0.001 to 2^30, wanted");
    if (noise && !within(c->sigma, 1e-30, 1e30))
        return sotto_fail(err, SOTTO_DENIED, "vector: sigma: above 0 wanted");
    return SOTTO_OK;
}

/* One device's variance in units of 2^-10, rounded up: more noise than asked for, never less. */
static sotto_status set_noise(sotto_vector_randomizer *r, sotto_arena *arena, sotto_err *err)
{
    const sotto_vector_config *c = &r->config;
    const double unit = 0x1p10;
    double sigma = c->sigma * c->scale;
    double parts = ceil(up(sigma * sigma / (double)c->honest) * unit);

    if (!within(parts, 4 * unit, 0x1p40))
        return sotto_fail(err, SOTTO_DENIED,
                          "vector: scale: one device's share must be 2 to 2^15 grid units");
    if (c->law == SOTTO_SHARE_GAUSSIAN) {
        SOTTO_TRY(sotto_noise_gaussian(&r->noise, (uint64_t)parts, (uint64_t)unit, arena, err));
        /* The variance of a discrete Gaussian is its parameter, less than 1e-13 of it from 2 units on; the
         * claims are made for the parameter. */
        r->tau = sum_divergence(sqrt(parts / unit) * (1 - 1e-12), (double)c->honest);
    } else {
        /* The mean of each of the two Poisson numbers is half the variance; their sums are Skellam again. */
        SOTTO_TRY(sotto_noise_skellam(&r->noise, (uint64_t)parts, 2 * (uint64_t)unit, arena, err));
    }
    r->device_sigma = sotto_round_down(sqrt(parts / unit), SLACK);
    r->sigma = sotto_round_down(r->device_sigma * sqrt((double)c->honest) / c->scale, SLACK);
    return SOTTO_OK;
}

sotto_status sotto_vector_randomizer_init(sotto_vector_randomizer *out,
                                          const sotto_vector_config *config, sotto_arena *arena,
                                          sotto_err *err)
{
    memset(out, 0, sizeof *out);
    out->config = *config;
    SOTTO_TRY(check(config, err));
    if (config->law != SOTTO_SHARE_NONE)
        SOTTO_TRY(set_noise(out, arena, err));

    double norm2 =
        sotto_vector_rounded_norm2(up(config->clip * config->scale), (double)config->dimension);
    double length = up(sqrt(norm2));
    /* Two vectors of that length, where one takes the other's place, may point in opposite directions. */
    double apart = config->adjacency == SOTTO_ADJACENCY_REPLACEMENT ? 2 * length : length;
    out->norm2 = (uint64_t)norm2;
    out->log2_miss = LOG2_MISS;
    out->sensitivity = up(apart / config->scale);
    out->most = (uint64_t)ceil(length);
    if (config->law == SOTTO_SHARE_NONE)
        return SOTTO_OK;
    out->delta = sotto_noise_delta(config->dimension);
    out->most += sotto_noise_limit(&out->noise);
    return SOTTO_OK;
}

/* ---- run -------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static double masked(double x, uint64_t mask)
{
    return of_bits(bits_of(x) & mask);
}

/* Doubles that are not negative compare like their bits. */
static double larger(double a, double b)
{
    uint64_t less = sotto_ct_less(bits_of(a), bits_of(b));

    return masked(a, ~less) + masked(b, less);
}

/* Floor and the next one up, the latter with the chance that keeps the mean: to 52 bits, which decides nothing about privacy. |y| is
 * at most 2^30 and a little, since it was clipped. Signs are read from bits: what has no comparison has no branch, and compilers do
 * several numbers at a time. */
static int32_t round_randomly(double y, uint64_t random)
{
    const int32_t toward_zero = (int32_t)y;
    const double rest = y - (double)toward_zero;
    const uint64_t negative = bits_of(rest) >> 63;
    const double chance = rest + (double)(int32_t)negative;
    const double coin = of_bits(random >> 12 | bits_of(1.0)) - 1; /* 0 to 1, without 1 */

    return toward_zero - (int32_t)negative + (int32_t)(bits_of(coin - chance) >> 63);
}

static uint64_t square_of_integer(int32_t y)
{
    const int32_t sign = -(int32_t)((uint32_t)y >> 31);
    const uint64_t size = (uint32_t)((y ^ sign) - sign);

    return size * size;
}

/* Eight sums at a time, in an order that every compiler keeps. */
static double square_of(const double *x, size_t count)
{
    double sum[LANES] = {0};
    size_t at = 0;

    for (; at + LANES <= count; at += LANES)
        for (size_t i = 0; i < LANES; i++)
            sum[i] += x[at + i] * x[at + i];
    for (size_t i = 0; at + i < count; i++)
        sum[i] += x[at + i] * x[at + i];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

static sotto_status put_on_grid(const sotto_vector_randomizer *r, int64_t *out, const double *x,
                                double weight, sotto_entropy *entropy, sotto_err *err)
{
    const sotto_vector_config *c = &r->config;
    const double square = square_of(x, c->dimension);
    uint64_t random[BLOCK];
    uint64_t norm2 = 0;

    uint64_t use = sotto_ct_less(bits_of(square), bits_of(INFINITY));
    double factor = weight * (c->clip / larger(sqrt(masked(square, use)), c->clip)) * c->scale;
    for (size_t at = 0; at < c->dimension; at += BLOCK) {
        size_t some = c->dimension - at < BLOCK ? c->dimension - at : BLOCK;

        SOTTO_TRY(sotto_entropy_take(entropy, random, some * sizeof random[0], err));
        for (size_t i = 0; i < some; i++) {
            const int32_t y = round_randomly(masked(x[at + i], use) * factor, random[i]);

            out[at + i] = y;
            norm2 += square_of_integer(y);
        }
    }
    int64_t keep = (int64_t)~sotto_ct_less(r->norm2, norm2);
    for (size_t i = 0; i < c->dimension; i++)
        out[i] &= keep;
    sotto_wipe(random, sizeof random);
    return SOTTO_OK;
}

static sotto_status add_noise(const sotto_vector_randomizer *r, int64_t *out,
                              sotto_entropy *entropy, sotto_err *err)
{
    int64_t noise[BLOCK];
    size_t dimension = r->config.dimension;

    for (size_t at = 0; at < dimension; at += BLOCK) {
        size_t some = dimension - at < BLOCK ? dimension - at : BLOCK;

        SOTTO_TRY(sotto_noise_draw(&r->noise, noise, some, entropy, err));
        for (size_t i = 0; i < some; i++)
            out[at + i] += noise[i];
    }
    sotto_wipe(noise, sizeof noise);
    return SOTTO_OK;
}

sotto_status sotto_vector_randomizer_run(const sotto_vector_randomizer *r, int64_t *out,
                                         const double *x, double weight, sotto_entropy *entropy,
                                         sotto_err *err)
{
    sotto_status status = put_on_grid(r, out, x, weight, entropy, err);

    if (status == SOTTO_OK && r->config.law != SOTTO_SHARE_NONE)
        status = add_noise(r, out, entropy, err);
    if (status != SOTTO_OK)
        sotto_wipe(out, r->config.dimension * sizeof out[0]);
    return status;
}
