/* crypto/x25519_field51.h - numbers modulo 2^255 - 19 in lanes: five limbs of 51 bits, for a multiplier of 52.
 *
 * Included by a file that defines `lane`, a vector of 64-bit lanes, and for lanes
 *   ALL(n)                     n in every lane
 *   ADD(a, b) SUB(a, b)        modulo 2^64
 *   AND(a, b) SHR(a, n)        n is a constant
 *   TIMES19(a)                 modulo 2^64
 *   LOW52(t, a, b)             t + the low 52 bits of the product of the low 52 bits of a and b
 *   HIGH52(t, a, b)            t + the upper 52 bits of it
 *
 * Every function takes and gives limbs below 2^51 + 2^14, which the multiplier reads whole. Nothing branches on a limb.
 */
#ifndef SOTTO_CRYPTO_X25519_FIELD51_H
#define SOTTO_CRYPTO_X25519_FIELD51_H

#include "crypto/x25519_inline.h"

#include <stdint.h>

enum { LIMBS = 5, LIMB_BITS = 51 };

/* The exponent of a limb's lowest bit. */
INLINE unsigned limb_at(unsigned i)
{
    return LIMB_BITS * i;
}

typedef struct number {
    lane limb[LIMBS];
} number;

/* One carry from each limb to the next, all at once; for limbs below 2^61, whose carries are below 2^10. */
INLINE number settle(const lane r[LIMBS])
{
    const lane mask = ALL((INT64_C(1) << LIMB_BITS) - 1);
    number out;

    out.limb[0] = LOW52(AND(r[0], mask), SHR(r[4], LIMB_BITS), ALL(19));
    UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        out.limb[i] = ADD(AND(r[i], mask), SHR(r[i - 1], LIMB_BITS));
    return out;
}

INLINE number number_add(number a, number b)
{
    lane r[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        r[i] = ADD(a.limb[i], b.limb[i]);
    return settle(r);
}

/* a + 2p - b, so that no limb falls below zero. */
INLINE number number_sub(number a, number b)
{
    lane r[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        r[i] = SUB(ADD(a.limb[i], ALL((INT64_C(1) << 52) - (i == 0 ? 38 : 2))), b.limb[i]);
    return settle(r);
}

/* A product's ten columns to five: 2^255 = 19. A column sums at most five low parts below 2^52 and twice five high ones,
 * so a limb is below 15 * 20 * 2^52 < 2^61. */
INLINE number fold(lane r[2 * LIMBS])
{
    UNROLL
    for (unsigned k = 0; k < LIMBS; k++)
        r[k] = ADD(r[k], TIMES19(r[k + LIMBS]));
    return settle(r);
}

INLINE void clear(lane r[2 * LIMBS])
{
    UNROLL
    for (unsigned k = 0; k < 2 * LIMBS; k++)
        r[k] = ALL(0);
}

/* Limbs have 51 bits, the multiplier's halves 52: high halves count twice in their column. */
INLINE void twice(lane r[2 * LIMBS])
{
    UNROLL
    for (unsigned k = 0; k < 2 * LIMBS; k++)
        r[k] = ADD(r[k], r[k]);
}

INLINE number number_mul(number a, number b)
{
    lane r[2 * LIMBS];

    clear(r);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        UNROLL
        for (unsigned j = 0; j < LIMBS; j++)
            r[i + j + 1] = HIGH52(r[i + j + 1], a.limb[i], b.limb[j]);
    }
    twice(r);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        UNROLL
        for (unsigned j = 0; j < LIMBS; j++)
            r[i + j] = LOW52(r[i + j], a.limb[i], b.limb[j]);
    }
    return fold(r);
}

/* Products of different limbs count twice, and their high halves twice again. */
INLINE number number_sqr(number a)
{
    lane r[2 * LIMBS];

    clear(r);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        UNROLL
        for (unsigned j = i + 1; j < LIMBS; j++)
            r[i + j + 1] = HIGH52(r[i + j + 1], a.limb[i], a.limb[j]);
    }
    twice(r);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        r[2 * i + 1] = HIGH52(r[2 * i + 1], a.limb[i], a.limb[i]);
        UNROLL
        for (unsigned j = i + 1; j < LIMBS; j++)
            r[i + j] = LOW52(r[i + j], a.limb[i], a.limb[j]);
    }
    twice(r);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        r[2 * i] = LOW52(r[2 * i], a.limb[i], a.limb[i]);
    return fold(r);
}

/* What may be added up again: all of them may. */
INLINE number number_tight(number a)
{
    return a;
}

/* a * factor, for a factor below 2^20. */
INLINE number number_scale(number a, int64_t factor)
{
    lane low[LIMBS], high[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        low[i] = LOW52(ALL(0), a.limb[i], ALL(factor));
        high[i] = HIGH52(ALL(0), a.limb[i], ALL(factor));
    }
    low[0] = LOW52(low[0], high[4], ALL(38));
    UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        low[i] = ADD(low[i], ADD(high[i - 1], high[i - 1]));
    return settle(low);
}

#endif
