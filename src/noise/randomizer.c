#include "noise/randomizer.h"

#include "math/ct.h"
#include "math/wide.h"
#include "noise/coin.h"

/* ---- bits ------------------------------------------------------------------------------------------- */

/* Writes over the value's byte, wherever it is; "no value" is nowhere. Values have fewer than 32 bits, so
 * this compiles to vectors of comparisons. */
static void put_bit(uint8_t *report, size_t count, uint64_t value, uint8_t bit)
{
    uint32_t wanted = (uint32_t)value;

    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        uint32_t differs = i ^ wanted;
        uint8_t here = (uint8_t)(((differs | (0 - differs)) >> 31) - 1);

        report[i] = (uint8_t)((report[i] & ~here) | (bit & here));
    }
}

static uint64_t count_bits(const uint8_t *report, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += report[i];
    return sum;
}

/* All zeros where the mask is. */
static void keep_if(uint8_t *report, size_t count, uint64_t mask)
{
    uint8_t keep = (uint8_t)mask;

    for (size_t i = 0; i < count; i++)
        report[i] = (uint8_t)(report[i] & keep);
}

static sotto_status run_bits(const sotto_randomizer *r, uint8_t *report, uint64_t value,
                             sotto_entropy *entropy, sotto_err *err)
{
    uint8_t own = 0;

    SOTTO_TRY(sotto_coin_flips(&own, 1, r->own, entropy, err));
    SOTTO_TRY(sotto_coin_flips(report, r->bytes, r->other, entropy, err));
    put_bit(report, r->bytes, value, own);
    keep_if(report, r->bytes, ~sotto_ct_less(r->weight, count_bits(report, r->bytes)));
    return SOTTO_OK;
}

/* ---- choice and subset ------------------------------------------------------------------------------ */

enum { BLOCK = 256 };

/* Walks through all values but its own, `left` of them to come and `need` still to be chosen: the next is
 * chosen with chance need / left. */
typedef struct walk {
    uint64_t left, need;
    uint64_t value;
    uint64_t own; /* is the value in the set? 0 or 1 */
} walk;

static uint8_t step(walk *w, uint64_t i, const uint64_t random[2])
{
    uint64_t here = sotto_ct_equal(i, w->value);
    /* floor(left u) for a fraction u of 128 bits */
    uint64_t carry = sotto_u128_high(sotto_mul_wide(w->left, random[1]));
    uint64_t drawn = sotto_u128_high(sotto_mul_wide(w->left, random[0]) + carry);
    uint64_t chosen = sotto_ct_less(drawn, w->need) & ~here;

    w->need -= chosen & 1;
    w->left -= ~here & 1;
    return (uint8_t)((chosen & 1) | (here & w->own));
}

static sotto_status run_subset(const sotto_randomizer *r, uint8_t *report, uint64_t value,
                               sotto_entropy *entropy, sotto_err *err)
{
    uint64_t random[BLOCK][2];
    uint8_t own = 0;
    sotto_status status = sotto_coin_flips(&own, 1, r->own, entropy, err);
    uint64_t none = sotto_ct_equal(value, SOTTO_NO_VALUE);
    walk w = {r->values, r->set - own, sotto_ct_select(none, r->values, value), own};

    for (size_t at = 0; at < r->bytes && status == SOTTO_OK; at += BLOCK) {
        size_t some = r->bytes - at < BLOCK ? r->bytes - at : BLOCK;

        status = sotto_entropy_take(entropy, random, some * sizeof random[0], err);
        for (size_t i = 0; i < some; i++)
            report[at + i] = step(&w, at + i, random[i]);
    }
    sotto_wipe(random, sizeof random);
    sotto_wipe(&w, sizeof w);
    return status;
}

/* ---- hash ------------------------------------------------------------------------------------------- */

/* x mod the prime, and the quotient: by multiplication, since division takes a time that depends on x.
 * Exact for x below 2^56 and primes below 2^25: x prime < 2^81, and u holds 128 bits of 1 / prime. */
static uint64_t reduce(uint64_t x, uint64_t prime, uint64_t *quotient)
{
    const sotto_u128 inverse = ~(sotto_u128)0 / prime + 1;
    sotto_u128 low = sotto_mul_wide(x, sotto_u128_low(inverse));
    sotto_u128 high = sotto_mul_wide(x, sotto_u128_high(inverse));

    *quotient = sotto_u128_high(high + sotto_u128_high(low));
    return x - *quotient * prime;
}

/* digit[1] x_0 + digit[2] x_1 + ... modulo the prime, for the digits x of the value. */
static uint64_t dot(const sotto_randomizer *r, const uint64_t *digit, uint64_t value)
{
    uint64_t sum = 0, ignored;

    for (size_t i = 1; i < r->digits; i++) {
        uint64_t x = reduce(value, r->prime, &value);

        sum = reduce(sum + digit[i] * x, r->prime, &ignored);
    }
    return sum;
}

/* What h(value) is to be: in the support or outside, equally likely within each. */
static sotto_status draw_target(const sotto_randomizer *r, uint64_t *target, sotto_entropy *entropy,
                                sotto_err *err)
{
    uint64_t inside, outside;
    uint8_t own = 0;

    SOTTO_TRY(sotto_coin_flips(&own, 1, r->own, entropy, err));
    SOTTO_TRY(sotto_uniform_below(&inside, r->support, entropy, err));
    SOTTO_TRY(sotto_uniform_below(&outside, r->prime - r->support, entropy, err));
    *target = sotto_ct_select(sotto_ct_mask(own), inside, outside + r->support);
    return SOTTO_OK;
}

static sotto_status run_hash(const sotto_randomizer *r, uint8_t *report, uint64_t value,
                             sotto_entropy *entropy, sotto_err *err)
{
    uint64_t digit[SOTTO_RANDOMIZER_DIGITS] = {0};
    uint64_t target = 0, ignored;
    uint64_t none = sotto_ct_equal(value, SOTTO_NO_VALUE);

    for (size_t i = 0; i < r->digits; i++)
        SOTTO_TRY(sotto_uniform_below(&digit[i], r->prime, entropy, err));
    SOTTO_TRY(draw_target(r, &target, entropy, err));
    /* All maps with h(value) = target are equally likely: the constant makes it so. Without a value the
     * constant is drawn like the rest. */
    uint64_t rest = dot(r, digit, value & ~none);
    uint64_t constant = reduce(target + r->prime - rest, r->prime, &ignored);
    digit[0] = sotto_ct_select(none, digit[0], constant);
    for (size_t i = 0; i < r->digits; i++)
        for (size_t b = 0; b < 4; b++)
            report[4 * i + b] = (uint8_t)(digit[i] >> 8 * b);
    sotto_wipe(digit, sizeof digit);
    return SOTTO_OK;
}

static bool hash_supports(const sotto_randomizer *r, const uint8_t *report, uint64_t value)
{
    uint64_t digit[SOTTO_RANDOMIZER_DIGITS] = {0};

    for (size_t i = 0; i < r->digits; i++)
        for (size_t b = 0; b < 4; b++)
            digit[i] |= (uint64_t)report[4 * i + b] << 8 * b;
    return (digit[0] + dot(r, digit, value)) % r->prime < r->support;
}

/* ---- all -------------------------------------------------------------------------------------------- */

typedef sotto_status runner(const sotto_randomizer *r, uint8_t *report, uint64_t value,
                            sotto_entropy *entropy, sotto_err *err);

/* The shape shows in what was set up. */
static runner *runner_of(const sotto_randomizer *r)
{
    if (r->prime)
        return run_hash;
    return r->set ? run_subset : run_bits;
}

sotto_status sotto_randomizer_run(const sotto_randomizer *r, uint8_t *report, uint64_t value,
                                  sotto_entropy *entropy, sotto_err *err)
{
    sotto_status status = runner_of(r)(r, report, value, entropy, err);

    if (status != SOTTO_OK)
        sotto_wipe(report, r->bytes);
    return status;
}

bool sotto_randomizer_supports_vartime(const sotto_randomizer *r, const uint8_t *report,
                                       uint64_t value)
{
    return r->prime ? hash_supports(r, report, value) : report[value] == 1;
}
