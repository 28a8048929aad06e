/* Geometric, Laplace, binomial, Poisson and Skellam laws. */
#include "noise/table_rows.h"

/* ---- geometric and Laplace: independent digits ---------------------------------------------------- */

/* q^x factors over the digits of x, so the digits of a geometric number are independent, exactly: digit i
 * of base 8 has weights q^(8^i d). Those that are all but never above 0 are left out. */
static sotto_status add_digits(sotto_noise *out, sotto_weights *w, const sotto_fixed *q,
                               int64_t sign, sotto_arena *arena, sotto_err *err)
{
    sotto_fixed power = *q;

    for (int64_t place = sign; !sotto_weights_end(&power); place *= 8) {
        sotto_fixed weight = sotto_fixed_from(1);

        w->count = 0;
        for (unsigned digit = 0; digit < 8; digit++) {
            SOTTO_TRY(sotto_weights_push(w, &weight, err));
            weight = sotto_fixed_mul(&weight, &power);
        }
        SOTTO_TRY(sotto_noise_add(out, w, place, 0, false, arena, err));
        power = weight;
    }
    return SOTTO_OK;
}

/* One geometric number, or the difference of two, whose law is P(x) ~ q^|x|. */
static sotto_status set_up_digits(sotto_noise *out, const sotto_fixed *q, bool difference,
                                  sotto_arena *arena, sotto_err *err)
{
    sotto_weights w;

    SOTTO_TRY(sotto_weights_init(&w, err));
    sotto_status status = add_digits(out, &w, q, 1, arena, err);
    if (status == SOTTO_OK && difference)
        status = add_digits(out, &w, q, -1, arena, err);
    sotto_weights_clear(&w);
    return status;
}

sotto_status sotto_noise_laplace(sotto_noise *out, uint64_t num, uint64_t den, sotto_arena *arena,
                                 sotto_err *err)
{
    out->parts = 0;
    if (num == 0 || den == 0 || num >> 52 || den >> 32 || num / den >> 20)
        return sotto_fail(err, SOTTO_DENIED,
                          "noise: scale: above 0, below 2^20, in parts below 2^52 and 2^32");
    sotto_fixed q = sotto_fixed_exp_minus(den, num);
    return set_up_digits(out, &q, true, arena, err);
}

sotto_status sotto_noise_geometric(sotto_noise *out, uint64_t num, uint64_t den, sotto_arena *arena,
                                   sotto_err *err)
{
    out->parts = 0;
    if (num >= den || den / (den - num) >> 20)
        return sotto_fail(err, SOTTO_DENIED,
                          "noise: q: 0 or more, and 1 / (1 - q) below 2^20, wanted");
    sotto_fixed q = sotto_fixed_ratio(num, den);
    return set_up_digits(out, &q, false, arena, err);
}

/* ---- binomial and Poisson: walk from the mode both ways ------------------------------------------- */

typedef struct walk {
    uint64_t mode;
    /* Turns the weight of value i into that of i + 1, or of i - 1. */
    void (*up)(sotto_fixed *weight, uint64_t i, const struct walk *of);
    void (*down)(sotto_fixed *weight, uint64_t i, const struct walk *of);
    uint64_t n, k;     /* binomial */
    uint64_t num, den; /* Poisson  */
} walk;

static void scale(sotto_fixed *weight, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    *weight = sotto_fixed_mul_small(weight, a);
    *weight = sotto_fixed_mul_small(weight, b);
    *weight = sotto_fixed_div_small(weight, c);
    *weight = sotto_fixed_div_small(weight, d);
}

static void binomial_up(sotto_fixed *weight, uint64_t i, const walk *of)
{
    scale(weight, of->n - i, of->k, i + 1, 0 - of->k); /* 2^64 - k */
}

static void binomial_down(sotto_fixed *weight, uint64_t i, const walk *of)
{
    scale(weight, i, 0 - of->k, of->n - i + 1, of->k);
}

static void poisson_up(sotto_fixed *weight, uint64_t i, const walk *of)
{
    scale(weight, of->num, 1, of->den, i + 1);
}

static void poisson_down(sotto_fixed *weight, uint64_t i, const walk *of)
{
    scale(weight, i, of->den, of->num, 1);
}

static void reverse(sotto_weights *w)
{
    for (size_t i = 0; i < w->count / 2; i++) {
        sotto_fixed x = w->at[i];

        w->at[i] = w->at[w->count - 1 - i];
        w->at[w->count - 1 - i] = x;
    }
}

/* Both walks end of themselves where the values do: the next weight is 0 there. */
static sotto_status weigh(sotto_weights *w, uint64_t *first, const walk *of, sotto_err *err)
{
    sotto_fixed weight = sotto_fixed_from(1);
    uint64_t i = of->mode;

    for (; !sotto_weights_end(&weight); i--) {
        SOTTO_TRY(sotto_weights_push(w, &weight, err));
        of->down(&weight, i, of);
    }
    *first = i + 1;
    reverse(w);
    weight = sotto_fixed_from(1);
    of->up(&weight, of->mode, of);
    for (i = of->mode + 1; !sotto_weights_end(&weight); i++) {
        SOTTO_TRY(sotto_weights_push(w, &weight, err));
        of->up(&weight, i, of);
    }
    return SOTTO_OK;
}

static sotto_status set_up_walk(sotto_noise *out, const walk *of, sotto_arena *arena,
                                sotto_err *err)
{
    sotto_weights w;
    uint64_t first = 0;

    SOTTO_TRY(sotto_weights_init(&w, err));
    sotto_status status = weigh(&w, &first, of, err);
    if (status == SOTTO_OK)
        status = sotto_noise_add(out, &w, 1, (int64_t)first, false, arena, err);
    sotto_weights_clear(&w);
    return status;
}

sotto_status sotto_noise_binomial(sotto_noise *out, uint64_t n, uint64_t k, sotto_arena *arena,
                                  sotto_err *err)
{
    out->parts = 0;
    if (n >> 32)
        return sotto_fail(err, SOTTO_DENIED, "noise: n: below 2^32 wanted");
    if (k == 0) /* always 0: a sum of no parts */
        return SOTTO_OK;
    walk binomial = {.mode = sotto_u128_high(sotto_mul_wide(n + 1, k)),
                     .up = binomial_up,
                     .down = binomial_down,
                     .n = n,
                     .k = k};
    return set_up_walk(out, &binomial, arena, err);
}

sotto_status sotto_noise_poisson(sotto_noise *out, uint64_t num, uint64_t den, sotto_arena *arena,
                                 sotto_err *err)
{
    out->parts = 0;
    if (num == 0 || den == 0 || num >> 32 || den >> 32)
        return sotto_fail(err, SOTTO_DENIED, "noise: mean: above 0, in parts below 2^32, wanted");
    walk poisson = {
        .mode = num / den, .up = poisson_up, .down = poisson_down, .num = num, .den = den};
    return set_up_walk(out, &poisson, arena, err);
}

/* ---- Skellam --------------------------------------------------------------------------------------- */

/* P(x) ~ I_x(2 mu), and the ratios r_x = I_x / I_(x-1) follow r_x = 1 / (x / mu + r_(x+1)). Going down
 * from any start between 0 and 1, the error shrinks by r_x^2 at each step. */
typedef struct bessel {
    uint64_t num, den; /* mu          */
    uint64_t start;    /* where r is guessed to be 0 */
} bessel;

static uint64_t square_root_up(uint64_t x)
{
    uint64_t r = 0;

    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((r | bit) * (r | bit) <= x)
            r |= bit;
    return r + 1;
}

/* Fills ratio[1 .. count]; ratio[0] is not used. */
static void fill_ratios(sotto_fixed *ratio, size_t count, const bessel *b, sotto_fixed guess)
{
    sotto_fixed r = guess;

    for (uint64_t x = b->start; x > 0; x--) {
        sotto_fixed slope = sotto_fixed_mul_small(&(sotto_fixed){{0, 0, 0, 0, x, 0}}, b->den);

        slope = sotto_fixed_div_small(&slope, b->num);
        slope = sotto_fixed_add(&slope, &r);
        r = sotto_fixed_inverse(&slope);
        if (x <= count)
            ratio[x] = r;
    }
}

static sotto_status weigh_bessel(sotto_weights *w, const bessel *b, sotto_err *err)
{
    const sotto_fixed zero = sotto_fixed_from(0), close = sotto_fixed_power_of_half(190);
    sotto_fixed weight = sotto_fixed_from(1);
    size_t count = (size_t)(b->start * 2 / 3);
    /* In the place of the weights: each is read just before its weight is written over it. */
    sotto_fixed *ratio = w->at, far, near;

    if (count > SOTTO_NOISE_ROWS)
        count = SOTTO_NOISE_ROWS;
    /* Both guesses lie on either side of the truth, and must have met before the first ratio in use. */
    fill_ratios(ratio, count, b, sotto_fixed_from(1));
    far = ratio[count];
    fill_ratios(ratio, count, b, zero);
    near = ratio[count];
    far =
        sotto_fixed_less(&near, &far) ? sotto_fixed_sub(&far, &near) : sotto_fixed_sub(&near, &far);
    if (!sotto_fixed_less(&far, &close))
        return sotto_fail(err, SOTTO_BUG, "noise: the Bessel ratios did not settle");
    for (size_t x = 0; x <= count; x++) {
        if (x > 0)
            weight = sotto_fixed_mul(&weight, &ratio[x]);
        if (sotto_weights_end(&weight))
            return SOTTO_OK;
        SOTTO_TRY(sotto_weights_push(w, &weight, err));
    }
    return sotto_fail(err, SOTTO_BUG, "noise: the Bessel ratios were too few");
}

sotto_status sotto_noise_skellam(sotto_noise *out, uint64_t num, uint64_t den, sotto_arena *arena,
                                 sotto_err *err)
{
    sotto_weights w;

    out->parts = 0;
    if (num == 0 || den == 0 || num >> 32 || den >> 32 || num / den >= 800000)
        return sotto_fail(err, SOTTO_DENIED,
                          "noise: mean: above 0, below 800000, in parts below 2^32, wanted");
    SOTTO_TRY(sotto_weights_init(&w, err));
    /* The rows end near 12.8 sigma, or for a small mean by 40: half as far again is far enough. */
    bessel b = {num, den, 20 * square_root_up(2 * (num / den) + 2) + 60};
    sotto_status status = weigh_bessel(&w, &b, err);
    if (status == SOTTO_OK)
        status = sotto_noise_add(out, &w, 1, 0, true, arena, err);
    sotto_weights_clear(&w);
    return status;
}
