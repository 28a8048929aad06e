/* crypto/x25519_field26.h - numbers modulo 2^255 - 19 in lanes: ten limbs of 26 and 25 bits in turn, for a multiplier
 * of 32.
 *
 * Included by a file that defines `lane`, a vector of 64-bit lanes, and for lanes
 *   ALL(n)                     n in every lane
 *   ADD(a, b) SUB(a, b)        modulo 2^64
 *   AND(a, b) SHL(a, n) SHR(a, n)   n is a constant
 *   MUL32(a, b)                the product of the low 32 bits of a and b
 *   IN_REGISTERS(r)            where a compiler needs it: from here on the ten lanes of r are in registers
 *
 * A limb's size is 2^26 or 2^25. Products are *tight*: limbs below 1.01 times their size. Sums and differences of tight
 * numbers are *loose*, below 2.02 and 3.02 times it, and are multiplied, scaled or made tight next, never added again. Nothing
 * branches on a limb.
 */
#ifndef SOTTO_CRYPTO_X25519_FIELD26_H
#define SOTTO_CRYPTO_X25519_FIELD26_H

#include "crypto/x25519_inline.h"

#include <stdint.h>

enum { LIMBS = 10 };

/* The exponent of a limb's lowest bit: 0, 26, 51, 77 ... 230. */
INLINE unsigned limb_at(unsigned i)
{
    return (51 * i + 1) / 2;
}

typedef struct number {
    lane limb[LIMBS];
} number;

/* Moves what limb i has above its bits to the next one. */
#define CARRY_EVEN(r, i)                                                                           \
    ((r)[(i) + 1] = ADD((r)[(i) + 1], SHR((r)[i], 26)),                                            \
     (r)[i] = AND((r)[i], ALL((INT64_C(1) << 26) - 1)))
#define CARRY_ODD(r, i)                                                                            \
    ((r)[(i) + 1] = ADD((r)[(i) + 1], SHR((r)[i], 25)),                                            \
     (r)[i] = AND((r)[i], ALL((INT64_C(1) << 25) - 1)))

/* Tight, from limbs below 2^64 - 2^39. Two chains of carries run side by side, from limb 0 and from limb 4. Limb 5 ends
 * with a carry below 2^13 and limb 1 with one below 2^17: 19 * 2^39 came to limb 0. */
INLINE number settle(lane r[LIMBS])
{
    number out;

    CARRY_EVEN(r, 0), CARRY_EVEN(r, 4);
    CARRY_ODD(r, 1), CARRY_ODD(r, 5);
    CARRY_EVEN(r, 2), CARRY_EVEN(r, 6);
    CARRY_ODD(r, 3), CARRY_ODD(r, 7);
    CARRY_EVEN(r, 4), CARRY_EVEN(r, 8);
    const lane top = SHR(r[9], 25);
    r[9] = AND(r[9], ALL((INT64_C(1) << 25) - 1));
    /* 2^255 = 19; the carry has more than 32 bits. */
    r[0] = ADD(r[0], ADD(ADD(top, SHL(top, 1)), SHL(top, 4)));
    CARRY_EVEN(r, 0);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out.limb[i] = r[i];
    return out;
}

INLINE number number_add(number a, number b)
{
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] = ADD(a.limb[i], b.limb[i]);
    return a;
}

/* a + 2p - b, so that no limb falls below zero. */
INLINE number number_sub(number a, number b)
{
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        const int64_t twice_p = (INT64_C(1) << (i % 2 ? 26 : 27)) - (i == 0 ? 38 : 2);

        a.limb[i] = SUB(ADD(a.limb[i], ALL(twice_p)), b.limb[i]);
    }
    return a;
}

/* The product of two odd limbs counts twice, as their exponents were rounded up both; beyond 2^255 all count 19 times.
 *
 * In units of a limb's size squared a column is at most 1 + 4 * 19 + 5 * 38 / 4 < 125. For loose numbers it is 3.02^2
 * times as much: below 2^52 * 1141 < 2^63. 19 times a loose limb is below 2^26 * 58 < 2^32. */
INLINE number number_mul(number a, number b)
{
    lane r[LIMBS], times19[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        r[i] = ALL(0);
        times19[i] = MUL32(b.limb[i], ALL(19));
    }
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        const lane once = a.limb[i], twice = ADD(once, once);

        UNROLL
        for (unsigned j = 0; j < LIMBS; j++) {
            const lane x = i % 2 && j % 2 ? twice : once;
            const lane y = i + j < LIMBS ? b.limb[j] : times19[j];

            r[(i + j) % LIMBS] = ADD(r[(i + j) % LIMBS], MUL32(x, y));
        }
        IN_REGISTERS(r);
    }
    return settle(r);
}

/* Products of different limbs count twice. Beyond 2^255 an odd limb counts 38 times, which is its double already where
 * both are odd, and for which an even one is taken once less. For odd j, 38 times a loose limb is below 2^32 too. */
INLINE number number_sqr(number a)
{
    lane r[LIMBS], far[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        r[i] = ALL(0);
        far[i] = MUL32(a.limb[i], ALL(i % 2 ? 38 : 19));
    }
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        const lane once = a.limb[i], twice = ADD(once, once), four = ADD(twice, twice);

        UNROLL
        for (unsigned j = i; j < LIMBS; j++) {
            const unsigned both_odd = i % 2 && j % 2, different = i != j;
            const unsigned doublings =
                i + j < LIMBS ? different + both_odd : different - (j % 2 && !both_odd);
            const lane x = doublings == 0 ? once : doublings == 1 ? twice : four;

            r[(i + j) % LIMBS] =
                ADD(r[(i + j) % LIMBS], MUL32(x, i + j < LIMBS ? a.limb[j] : far[j]));
        }
        IN_REGISTERS(r);
    }
    return settle(r);
}

/* A loose number as a tight one. */
INLINE number number_tight(number a)
{
    return settle(a.limb);
}

/* a * factor, for a factor below 2^20. */
INLINE number number_scale(number a, int64_t factor)
{
    lane r[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        r[i] = MUL32(a.limb[i], ALL(factor));
    return settle(r);
}

#endif
