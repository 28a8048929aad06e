/* Discrete Gaussians. A narrow one is a table. A wide one is a sum X + k Y of two narrower ones: with
 * sigma^2 = sx^2 + k^2 sy^2 and s = sx sy / sigma, completing the square gives
 *     P(X + k Y = v) ~ exp(-v^2 / (2 sigma^2)) * sum over j of exp(-(j - c v)^2 / (2 s^2)),
 * and by Poisson summation the last sum varies by at most 1 +- 2.01 exp(-2 pi^2 s^2) around its mean. So
 * s^2 >= 19/5 puts the sum within a total variation of 2^-107 of the law we want. */
#include "noise/table_rows.h"

/* A variance; also that of a part. */
typedef struct ratio {
    uint64_t num, den;
} ratio;

/* Below this variance one table is as fast as two. */
enum { NARROW = 64 };

static sotto_status check(ratio variance, sotto_err *err)
{
    if (variance.num == 0 || variance.den == 0 || variance.num >> 52 || variance.den >> 32)
        return sotto_fail(err, SOTTO_DENIED,
                          "noise: variance: parts of at least 1, below 2^52 and 2^32, wanted");
    if (variance.num / variance.den >> 40)
        return sotto_fail(err, SOTTO_DENIED, "noise: variance: below 2^40 wanted");
    return SOTTO_OK;
}

/* Weight of v: g^(v^2) for g = exp(-1 / (2 variance)), by v^2 = 1 + 3 + 5 + ...; no v above `most` has one. */
static sotto_status weigh(sotto_weights *w, ratio variance, uint64_t most, sotto_err *err)
{
    sotto_fixed g = sotto_fixed_exp_minus(variance.den, 2 * variance.num);
    sotto_fixed weight = sotto_fixed_from(1), step = g, g2 = sotto_fixed_mul(&g, &g);

    w->count = 0;
    while (w->count <= most && !sotto_weights_end(&weight)) {
        SOTTO_TRY(sotto_weights_push(w, &weight, err));
        weight = sotto_fixed_mul(&weight, &step);
        step = sotto_fixed_mul(&step, &g2);
    }
    return SOTTO_OK;
}

static sotto_status add_table(sotto_noise *out, sotto_weights *w, ratio variance, int64_t factor,
                              sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(weigh(w, variance, UINT64_MAX, err));
    return sotto_noise_add(out, w, factor, 0, true, arena, err);
}

static uint64_t choose_k(ratio v)
{
    if (v.num < 160 * v.den)
        return 2;
    return v.num < 300 * v.den ? 3 : 4;
}

/* The widest Y, in sixteenths of variance, that leaves X wide enough: 5 vx vy >= 19 v. False if none does. */
static bool split(ratio v, uint64_t k, ratio *x, ratio *y)
{
    uint64_t k2 = k * k;

    for (sotto_u128 m = (sotto_u128)16 * v.num / (k2 * v.den); m > 0; m--) {
        sotto_u128 rest = (sotto_u128)16 * v.num - m * k2 * v.den; /* in 1/(16 den) */

        if (5 * rest * m < (sotto_u128)19 * 256 * v.num)
            continue;
        *x = (ratio){(uint64_t)rest, 16 * v.den};
        *y = (ratio){(uint64_t)m, 16};
        return true;
    }
    return false;
}

static sotto_status add_tables(sotto_noise *out, sotto_weights *w, ratio v, uint64_t factor,
                               sotto_arena *arena, sotto_err *err)
{
    while (v.num > NARROW * v.den) {
        uint64_t k = choose_k(v);
        ratio x, y;

        if (!split(v, k, &x, &y))
            return sotto_fail(err, SOTTO_BUG, "noise: a variance that can't be split");
        SOTTO_TRY(add_table(out, w, x, (int64_t)factor, arena, err));
        factor *= k;
        v = y;
    }
    return add_table(out, w, v, (int64_t)factor, arena, err);
}

sotto_status sotto_noise_gaussian(sotto_noise *out, uint64_t num, uint64_t den, sotto_arena *arena,
                                  sotto_err *err)
{
    const ratio variance = {num, den};
    sotto_weights w;

    out->parts = 0;
    SOTTO_TRY(check(variance, err));
    SOTTO_TRY(sotto_weights_init(&w, err));
    sotto_status status = add_tables(out, &w, variance, 1, arena, err);
    sotto_weights_clear(&w);
    return status;
}

sotto_status sotto_noise_gaussian_cut(sotto_noise *out, uint64_t num, uint64_t den, uint64_t most,
                                      sotto_arena *arena, sotto_err *err)
{
    const ratio variance = {num, den};
    sotto_weights w;

    out->parts = 0;
    SOTTO_TRY(check(variance, err));
    SOTTO_TRY(sotto_weights_init(&w, err));
    sotto_status status = weigh(&w, variance, most, err);
    if (status == SOTTO_OK)
        status = sotto_noise_add(out, &w, 1, 0, true, arena, err);
    sotto_weights_clear(&w);
    return status;
}

/* Splits off parts X with k = 4, as above, until the rest is a variance that add_tables knows. Variances are in sixteenths. Each
 * split costs a total variation of 2^-107, and 2^49 needs 23 of them. */
static sotto_status add_wide(sotto_noise *out, sotto_weights *w, sotto_u128 v, sotto_arena *arena,
                             sotto_err *err)
{
    uint64_t factor = 1;

    while (v >> 44) {
        sotto_u128 m = v / 16;

        while (5 * (v - 16 * m) * m < 19 * 16 * v)
            m--;
        ratio x = {(uint64_t)(v - 16 * m), 16};
        SOTTO_TRY(add_table(out, w, x, (int64_t)factor, arena, err));
        factor *= 4;
        v = m;
    }
    return add_tables(out, w, (ratio){(uint64_t)v, 16}, factor, arena, err);
}

sotto_status sotto_noise_gaussian_wide(sotto_noise *out, uint64_t sigma, sotto_arena *arena,
                                       sotto_err *err)
{
    sotto_weights w;

    out->parts = 0;
    if (sigma == 0 || sigma > SOTTO_NOISE_WIDEST)
        return sotto_fail(err, SOTTO_DENIED, "noise: sigma: 1 to 2^49 wanted");
    SOTTO_TRY(sotto_weights_init(&w, err));
    sotto_status status = add_wide(out, &w, 16 * sotto_mul_wide(sigma, sigma), arena, err);
    sotto_weights_clear(&w);
    return status;
}
