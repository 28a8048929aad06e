/* vdaf/pine/elements_template.h - encoded vectors and single numbers of PINE, compiled once for each field.
 *
 * pine64.c and its like include this, then prove_template.h and query_template.h.
 */
#include "math/poly.h"
#include "vdaf/encoded_template.h"
#include "vdaf/pine/ops.h"

#include <string.h>

static fe plain_product(fe a, fe b)
{
    return FIELD(mul)(a, FIELD(to_weight)(b));
}

static fe from_signed(int64_t x)
{
    uint64_t negative = sotto_ct_mask((uint64_t)x >> 63);
    fe size = FIELD(from)(((uint64_t)x ^ negative) - negative);

    return FIELD(add)(FIELD(mask)(size, ~negative), FIELD(mask)(FIELD(neg)(size), negative));
}

static void subtract(uint8_t *a, const uint8_t *b, const uint8_t *c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(a, i, FIELD(sub)(get(b, i), get(c, i)));
}

static void add(uint8_t *a, const uint8_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(a, i, FIELD(add)(get(a, i), get(b, i)));
}

static void encode(uint8_t *out, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(out, i, from_signed(values[i]));
}

static void spell(uint8_t *out, uint64_t low, uint64_t high, unsigned bits)
{
    for (unsigned b = 0; b < bits; b++)
        put(out, b, FIELD(from)((b < 64 ? low >> b : high >> (b - 64)) & 1));
}

/* The number that `bits` elements spell; also of shares, since it is linear. */
static fe unspell(const uint8_t *at, unsigned bits)
{
    fe sum = FIELD(zero)();

    for (unsigned b = bits; b-- > 0;)
        sum = FIELD(add)(FIELD(add)(sum, sum), get(at, b));
    return sum;
}

static void from_planes(uint8_t *out, const int64_t *sums)
{
    const fe base = FIELD(to_weight)(FIELD(from)(256));
    fe total = FIELD(zero)();

    for (unsigned b = FE_SIZE; b-- > 0;)
        total = FIELD(add)(FIELD(mul)(total, base), from_signed(sums[b]));
    put(out, 0, total);
}

/* The low 64 bits of an encoded element, and whether the others are zero, as all ones or zero. */
static uint64_t low_of(uint64_t *low, const uint8_t *element)
{
    uint64_t high = 0;

    *low = 0;
    for (unsigned b = 0; b < FE_SIZE; b++) {
        if (b < 8)
            *low |= (uint64_t)element[b] << (8 * b);
        else
            high |= element[b];
    }
    return sotto_ct_equal(high, 0);
}

static uint64_t within(uint64_t *offset, const uint8_t *dot, uint64_t bound)
{
    uint8_t shifted[FE_SIZE];
    fe moved = FIELD(add)(get(dot, 0), FIELD(from)(bound - 1));

    put(shifted, 0, moved);
    return low_of(offset, shifted) & ~sotto_ct_less(2 * bound - 1, *offset);
}

static bool decode(int64_t *out, const uint8_t *a, const uint8_t *b)
{
    uint8_t up[FE_SIZE], down[FE_SIZE];
    uint64_t above, below;
    fe sum = FIELD(add)(get(a, 0), get(b, 0));

    put(up, 0, sum);
    put(down, 0, FIELD(neg)(sum));
    uint64_t up_fits = low_of(&above, up) & ~sotto_ct_less(INT64_MAX, above);
    uint64_t down_fits = low_of(&below, down) & ~sotto_ct_less(INT64_MAX, below);
    /* In a small field both fit; the smaller is meant. */
    uint64_t positive =
        up_fits & (~down_fits | sotto_ct_less(above, below) | sotto_ct_equal(above, below));
    *out = (int64_t)((above & positive) | ((0 - below) & ~positive));
    return (up_fits | down_fits) != 0;
}
