#include "noise/coin.h"

#include "math/ct.h"
#include "noise/fixed_point.h"

sotto_status sotto_coin_rational(sotto_coin *out, uint64_t num, uint64_t den, sotto_err *err)
{
    const sotto_fixed a = sotto_fixed_from(num), b = sotto_fixed_from(den);

    if (den == 0 || num > den)
        return sotto_fail(err, SOTTO_DENIED, "coin: a probability num/den of 0 to 1 wanted");
    out->threshold = sotto_fixed_quotient(&a, &b, 127, NULL);
    return SOTTO_OK;
}

sotto_status sotto_coin_exp(sotto_coin *out, uint64_t num, uint64_t den, sotto_err *err)
{
    const sotto_fixed one = sotto_fixed_from(1);

    if (den == 0)
        return sotto_fail(err, SOTTO_DENIED, "coin: exp(-num/den) with den of at least 1 wanted");
    sotto_fixed p = sotto_fixed_exp_minus(num, den);
    out->threshold = sotto_fixed_quotient(sotto_fixed_less(&p, &one) ? &p : &one, &one, 127, NULL);
    return SOTTO_OK;
}

sotto_coin sotto_coin_of(uint64_t k)
{
    return (sotto_coin){(sotto_u128)k << 63};
}

sotto_status sotto_coin_flip(const sotto_coin *coin, uint8_t *out, sotto_entropy *entropy,
                             sotto_err *err)
{
    uint8_t random[16];

    *out = 0;
    SOTTO_TRY(sotto_entropy_take(entropy, random, sizeof random, err));
    sotto_u128 number = sotto_u128_of(sotto_load64(random), sotto_load64(random + 8)) >> 1;
    /* Both below or at 2^127: the difference's sign is the comparison. */
    *out = (uint8_t)(sotto_u128_high(number - coin->threshold) >> 63);
    sotto_wipe(random, sizeof random);
    return SOTTO_OK;
}

enum { BLOCK = 2048 }; /* larger than the entropy buffer, so that most bytes skip it */

static sotto_status flip_block(uint8_t *out, size_t count, uint64_t k, uint64_t *random,
                               sotto_entropy *entropy, sotto_err *err)
{
    SOTTO_TRY(sotto_entropy_take(entropy, random, count * sizeof random[0], err));
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(((~random[i] & k) | ((~random[i] | k) & (random[i] - k))) >> 63);
    return SOTTO_OK;
}

sotto_status sotto_coin_flips(uint8_t *out, size_t count, uint64_t k, sotto_entropy *entropy,
                              sotto_err *err)
{
    uint64_t random[BLOCK];
    sotto_status status = SOTTO_OK;

    for (size_t at = 0; at < count && status == SOTTO_OK; at += BLOCK) {
        size_t some = count - at < BLOCK ? count - at : BLOCK;

        status = flip_block(out + at, some, k, random, entropy, err);
    }
    if (status != SOTTO_OK)
        sotto_wipe(out, count);
    /* No more than was used: for one flip, wiping it all would take longer than the flip. */
    sotto_wipe(random, (count < BLOCK ? count : BLOCK) * sizeof random[0]);
    return status;
}

sotto_status sotto_uniform_below(uint64_t *out, uint64_t n, sotto_entropy *entropy, sotto_err *err)
{
    uint64_t random[3];
    uint64_t carry = 0;

    *out = 0;
    SOTTO_TRY(sotto_entropy_take(entropy, random, sizeof random, err));
    /* The highest limb of n times a 192-bit fraction. */
    for (unsigned i = 3; i-- > 0;)
        carry = sotto_u128_high(sotto_mul_wide(random[i], n) + carry);
    *out = carry;
    sotto_wipe(random, sizeof random);
    return SOTTO_OK;
}
