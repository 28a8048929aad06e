#include "learn/one_bit.h"

#include "learn/random.h"
#include "noise/coin.h"

#include <math.h>

#include "base/rule.h"

sotto_status sotto_one_bit_init(sotto_one_bit *out, size_t dimension, double length, double epsilon,
                                uint64_t seed, sotto_err *err)
{
    if (dimension < 1 || dimension > (size_t)1 << 24)
        return sotto_fail(err, SOTTO_DENIED, "one-bit: dimension: 1 to 2^24 wanted");
    if (SOTTO_RULE(local_epsilon_in_range) && !(epsilon >= 0.01 && epsilon <= 12))
        return sotto_fail(err, SOTTO_DENIED, "one-bit: local epsilon: 0.01 to 12 wanted");
    if (!(length >= 1 && length <= 0x1p30))
        return sotto_fail(err, SOTTO_DENIED, "one-bit: length: 1 to 2^30 integers wanted");
    *out = (sotto_one_bit){.dimension = dimension, .rows = 1, .seed = seed};
    while (out->rows < dimension)
        out->rows *= 2;
    /* Rounded up, by more than exp is ever off: turned more often than asked for, never less. */
    out->flips = (uint64_t)ceil(0x1p64 / (1 + exp(epsilon)) * (1 + 0x1p-40));
    out->bound = (int64_t)ceil(2 * length);
    out->size = llround((double)out->bound / (1 - (double)out->flips * 0x1p-63));
    return SOTTO_OK;
}

/* 64 public signs at once: those of numbers 64 block to 64 block + 63. A set bit is a minus. */
static uint64_t public_signs(const sotto_one_bit *s, uint64_t block)
{
    return sotto_learn_mix(s->seed + (block + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* 1 where the matrix has a minus at this row and column. */
static uint64_t minus(uint64_t row, uint64_t column, uint64_t signs)
{
    uint64_t bits = row & column;

    bits ^= bits >> 32;
    bits ^= bits >> 16;
    bits ^= bits >> 8;
    bits ^= bits >> 4;
    bits ^= bits >> 2;
    bits ^= bits >> 1;
    return (bits ^ signs >> (column & 63)) & 1;
}

static int64_t rotated(const sotto_one_bit *s, uint64_t row, const int64_t *update)
{
    int64_t sum = 0;
    uint64_t signs = 0;

    for (uint64_t i = 0; update && i < s->dimension; i++) {
        if ((i & 63) == 0)
            signs = public_signs(s, i >> 6);
        const int64_t mask = -(int64_t)minus(row, i, signs);

        sum += (update[i] ^ mask) - mask;
    }
    /* Cut without a branch: masks are all ones where the sum is beyond. No sum is near 2^62. */
    const int64_t above = -(int64_t)((uint64_t)(s->bound - sum) >> 63),
                  below = -(int64_t)((uint64_t)(sum + s->bound) >> 63);

    return (sum & ~above & ~below) | (s->bound & above) | (-s->bound & below);
}

sotto_status sotto_one_bit_draw(const sotto_one_bit *s, sotto_one_bit_report *out,
                                const int64_t *update, sotto_entropy *entropy, sotto_err *err)
{
    uint64_t place;
    uint8_t flip;

    SOTTO_TRY(sotto_uniform_below(&out->row, s->rows, entropy, err));
    SOTTO_TRY(sotto_uniform_below(&place, 2 * (uint64_t)s->bound, entropy, err));
    SOTTO_TRY(sotto_coin_flips(&flip, 1, s->flips, entropy, err));
    const unsigned plus =
        (int64_t)place - s->bound < rotated(s, out->row, update); /* chance (y + bound) / 2 bound */

    out->sign = 2 * (int)(plus ^ flip) - 1;
    return SOTTO_OK;
}

void sotto_one_bit_add(const sotto_one_bit *s, int64_t *sum, const sotto_one_bit_report *report)
{
    const int64_t size = report->sign * s->size;
    uint64_t signs = 0;

    for (uint64_t i = 0; i < s->dimension; i++) {
        if ((i & 63) == 0)
            signs = public_signs(s, i >> 6);
        const int64_t mask = -(int64_t)minus(report->row, i, signs);

        sum[i] += (size ^ mask) - mask;
    }
}
