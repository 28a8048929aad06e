#include "noise/fixed_point.h"

enum { LIMBS = SOTTO_FIXED_LIMBS, FRACTION = SOTTO_FIXED_FRACTION };

sotto_fixed sotto_fixed_from(uint64_t integer)
{
    sotto_fixed r = {{0}};

    r.w[FRACTION] = integer;
    return r;
}

sotto_fixed sotto_fixed_ratio(uint64_t num, uint64_t den)
{
    sotto_fixed r = sotto_fixed_from(num);

    return sotto_fixed_div_small(&r, den);
}

sotto_fixed sotto_fixed_power_of_half(unsigned exponent)
{
    sotto_fixed r = {{0}};
    unsigned bit = 64 * FRACTION - exponent;

    r.w[bit / 64] = (uint64_t)1 << bit % 64;
    return r;
}

bool sotto_fixed_less(const sotto_fixed *a, const sotto_fixed *b)
{
    for (unsigned i = LIMBS; i-- > 0;)
        if (a->w[i] != b->w[i])
            return a->w[i] < b->w[i];
    return false;
}

sotto_fixed sotto_fixed_add(const sotto_fixed *a, const sotto_fixed *b)
{
    sotto_fixed r;
    sotto_u128 carry = 0;

    for (unsigned i = 0; i < LIMBS; i++) {
        carry += (sotto_u128)a->w[i] + b->w[i];
        r.w[i] = sotto_u128_low(carry);
        carry >>= 64;
    }
    return r;
}

sotto_fixed sotto_fixed_sub(const sotto_fixed *a, const sotto_fixed *b)
{
    sotto_fixed r;
    uint64_t borrow = 0;

    for (unsigned i = 0; i < LIMBS; i++) {
        sotto_u128 d = (sotto_u128)a->w[i] - b->w[i] - borrow;

        r.w[i] = sotto_u128_low(d);
        borrow = sotto_u128_high(d) & 1;
    }
    return r;
}

sotto_fixed sotto_fixed_mul(const sotto_fixed *a, const sotto_fixed *b)
{
    uint64_t product[2 * LIMBS] = {0};
    sotto_fixed r;

    for (unsigned i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;

        for (unsigned j = 0; j < LIMBS; j++) {
            sotto_u128 t = sotto_mul_wide(a->w[i], b->w[j]) + product[i + j] + carry;

            product[i + j] = sotto_u128_low(t);
            carry = sotto_u128_high(t);
        }
        product[i + LIMBS] = carry;
    }
    memcpy(r.w, product + FRACTION, sizeof r.w);
    return r;
}

sotto_fixed sotto_fixed_mul_small(const sotto_fixed *a, uint64_t b)
{
    sotto_fixed r;
    uint64_t carry = 0;

    for (unsigned i = 0; i < LIMBS; i++) {
        sotto_u128 t = sotto_mul_wide(a->w[i], b) + carry;

        r.w[i] = sotto_u128_low(t);
        carry = sotto_u128_high(t);
    }
    return r;
}

sotto_fixed sotto_fixed_div_small(const sotto_fixed *a, uint64_t b)
{
    sotto_fixed r;
    uint64_t rest = 0;

    for (unsigned i = LIMBS; i-- > 0;) {
        sotto_u128 t = sotto_u128_of(rest, a->w[i]);

        r.w[i] = (uint64_t)(t / b);
        rest = (uint64_t)(t % b);
    }
    return r;
}

static sotto_fixed doubled(const sotto_fixed *a)
{
    return sotto_fixed_add(a, a);
}

sotto_fixed sotto_fixed_inverse(const sotto_fixed *a)
{
    /* Newton needs a start; long division needs none, and set-up can afford it. The remainder stays
     * below a, so it never leaves the limbs. */
    sotto_fixed rest = sotto_fixed_power_of_half(63), r = {{0}};
    unsigned bit = 64 * FRACTION + 63; /* 1 / a < 2^64: the first bit of the quotient weighs 2^63 */

    for (;; bit--) {
        if (!sotto_fixed_less(&rest, a)) {
            rest = sotto_fixed_sub(&rest, a);
            r.w[bit / 64] |= (uint64_t)1 << bit % 64;
        }
        if (bit == 0)
            return r;
        rest = doubled(&rest);
    }
}

sotto_fixed sotto_fixed_exp_minus(uint64_t num, uint64_t den)
{
    const sotto_fixed one = sotto_fixed_from(1);
    sotto_fixed x = sotto_fixed_ratio(num, den), sum = one, term = one;
    unsigned halvings = 0;

    if (num / den >= 256) /* below 2^-360 */
        return (sotto_fixed){{0}};
    for (sotto_fixed small = sotto_fixed_power_of_half(8); sotto_fixed_less(&small, &x); halvings++)
        x = sotto_fixed_div_small(&x, 2);

    /* e^x with terms of one sign, then its inverse: x <= 2^-8, so 32 terms pass 2^-256. */
    for (uint64_t k = 1; k <= 32; k++) {
        term = sotto_fixed_mul(&term, &x);
        term = sotto_fixed_div_small(&term, k);
        sum = sotto_fixed_add(&sum, &term);
    }
    sum = sotto_fixed_inverse(&sum);
    /* At most 16 halvings: each squaring at most doubles the error of what is below 1. */
    while (halvings-- > 0)
        sum = sotto_fixed_mul(&sum, &sum);
    return sum;
}

sotto_u128 sotto_fixed_quotient(const sotto_fixed *a, const sotto_fixed *b, unsigned bits,
                                sotto_fixed *rest)
{
    sotto_fixed left = *a;
    sotto_u128 q = 0;

    for (unsigned i = 0;; i++) {
        if (!sotto_fixed_less(&left, b)) {
            left = sotto_fixed_sub(&left, b);
            q |= 1;
        }
        if (i == bits)
            break;
        left = doubled(&left);
        q <<= 1;
    }
    if (rest)
        *rest = left;
    return q;
}
