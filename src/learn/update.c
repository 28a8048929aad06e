#include "learn/update.h"

#include "account/numeric/bound.h"
#include "base/rule.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, SLACK = 8 };

static bool within(double x, double low, double high)
{
    return x >= low && x <= high; /* false for NaN */
}

static sotto_status check(const sotto_update_config *c, sotto_err *err)
{
    if (c->dimension < 1 || c->dimension > (size_t)1 << 24)
        return sotto_fail(err, SOTTO_DENIED, "update: dimension: 1 to 2^24 wanted");
    if (c->weights < SOTTO_WEIGHTS_EQUAL || c->weights > SOTTO_WEIGHTS_COUNT)
        return sotto_fail(err, SOTTO_DENIED, "update: weights: equal, capped or count wanted");
    if (c->weights != SOTTO_WEIGHTS_EQUAL && (c->cap < 1 || c->cap > 1000000))
        return sotto_fail(err, SOTTO_DENIED, "update: cap: 1 to 10^6 examples wanted");
    if (!within(c->clip, 1e-9, 1e9) || !within(c->scale, 1e-9, 1e12) ||
        !within(c->clip * c->scale, 1, 0x1p30))
        return sotto_fail(err, SOTTO_DENIED,
                          "update: clip and scale: their product must be 1 to 2^30");
    if (!within(c->multiplier, 0, 1e6))
        return sotto_fail(err, SOTTO_DENIED, "update: multiplier: 0 to 10^6 wanted");
    if (c->most < 1 || c->most > (uint64_t)1 << 32)
        return sotto_fail(err, SOTTO_DENIED, "update: most: 1 to 2^32 devices wanted");
    if (c->multiplier > 0 && (c->draws < 1 || c->draws > 64))
        return sotto_fail(err, SOTTO_DENIED, "update: draws: 1 to 64 wanted");
    if (c->bits < 2 || c->bits > 63)
        return sotto_fail(err, SOTTO_DENIED, "update: bits: 2 to 63 wanted");
    if (SOTTO_RULE(no_count_with_noise) && c->weights == SOTTO_WEIGHTS_COUNT && c->multiplier > 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "update: weights: count has no bound on what one device adds; with "
                          "noise, take equal or capped");
    return SOTTO_OK;
}

/* The variance in units of 2^-8, rounded up: more noise than asked for, never less. */
static sotto_status set_noise(sotto_update *u, sotto_arena *arena, sotto_err *err)
{
    const double unit = 0x1p8, sigma = u->config.multiplier * u->length;
    const double parts = ceil(sotto_round_up(sigma * sigma, SLACK) * unit);

    if (u->config.multiplier <= 0)
        return SOTTO_OK;
    if (!within(parts, 4 * unit, 0x1p47))
        return sotto_fail(
            err, SOTTO_DENIED,
            "update: scale: noise must have a deviation of 2 to 2^19 integers, not %.4g", sigma);
    u->sigma = sotto_round_down(sqrt(parts / unit), SLACK);
    return sotto_noise_gaussian(&u->noise, (uint64_t)parts, (uint64_t)unit, arena, err);
}

/* Which integers a sum of `most` updates can reach, with their noise. */
static sotto_status check_budget(sotto_update *u, sotto_err *err)
{
    const sotto_update_config *c = &u->config;
    const double times = c->weights == SOTTO_WEIGHTS_COUNT ? (double)c->cap : 1;
    const double noise = u->sigma > 0 ? (double)sotto_noise_limit(&u->noise) * c->draws : 0;
    const double reach = sotto_round_up((double)c->most * times * u->length + noise, SLACK);

    if (reach >= 0x1p62)
        return sotto_fail(err, SOTTO_DENIED, "update: a sum reaches 2^%.1f: no integer holds it",
                          log2(reach));
    u->largest = (uint64_t)ceil(reach);
    for (u->bits = 2; (double)u->largest > ldexp(1, (int)u->bits - 1) - 1;)
        u->bits++;
    if (SOTTO_RULE(sums_fit) && u->bits > c->bits)
        return sotto_fail(
            err, SOTTO_DENIED,
            "update: %llu x %.0f + %.0f of noise reaches %.4g, above 2^%u - 1: %u bits would do",
            (unsigned long long)c->most, times * u->length, noise, reach, c->bits - 1, u->bits);
    return SOTTO_OK;
}

sotto_status sotto_update_init(sotto_update *out, const sotto_update_config *config,
                               sotto_arena *arena, sotto_err *err)
{
    memset(out, 0, sizeof *out);
    out->config = *config;
    SOTTO_TRY(check(config, err));
    const sotto_vector_config own = {.law = SOTTO_SHARE_NONE,
                                     .adjacency = SOTTO_ADJACENCY_REPLACEMENT,
                                     .dimension = config->dimension,
                                     .clip = config->clip,
                                     .scale = config->scale};

    SOTTO_TRY(sotto_vector_randomizer_init(&out->randomizer, &own, arena, err));
    out->length = sotto_round_up(sqrt((double)out->randomizer.norm2), SLACK);
    SOTTO_TRY(set_noise(out, arena, err));
    return check_budget(out, err);
}

/* ---- devices --------------------------------------------------------------------------------------------------- */

sotto_status sotto_update_encode(const sotto_update *u, int64_t *out, uint64_t *weight,
                                 const double *x, uint64_t examples, sotto_entropy *entropy,
                                 sotto_err *err)
{
    const sotto_update_config *c = &u->config;
    const bool capped = c->weights == SOTTO_WEIGHTS_CAPPED,
               counts = c->weights == SOTTO_WEIGHTS_COUNT;

    *weight = !counts ? 1 : examples < c->cap ? examples : c->cap;
    SOTTO_TRY(sotto_vector_randomizer_run(
        &u->randomizer, out, x, capped ? sotto_capped_weight(examples, c->cap) : 1, entropy, err));
    for (size_t i = 0; *weight != 1 && i < c->dimension; i++)
        out[i] *= (int64_t)*weight;
    return SOTTO_OK;
}

void sotto_update_add(int64_t *sum, const int64_t *other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += other[i];
}

sotto_status sotto_update_add_noise(const sotto_update *u, int64_t *sum, sotto_entropy *entropy,
                                    sotto_err *err)
{
    int64_t noise[BLOCK];

    for (size_t at = 0; u->sigma > 0 && at < u->config.dimension; at += BLOCK) {
        const size_t some =
            u->config.dimension - at < BLOCK ? u->config.dimension - at : (size_t)BLOCK;

        SOTTO_TRY(sotto_noise_draw(&u->noise, noise, some, entropy, err));
        for (size_t i = 0; i < some; i++)
            sum[at + i] += noise[i];
    }
    sotto_wipe(noise, sizeof noise);
    return SOTTO_OK;
}
