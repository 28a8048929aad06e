/* crypto/x25519_ladder.h - the Montgomery ladder of RFC 7748, 5, one in each lane.
 *
 * Included once by a file for an instruction set, behind a field (x25519_field51.h or x25519_field26.h), which also defines
 *   LANES                          how many lanes a `lane` has
 *   choice                         a bit of each lane
 *   CHOOSE(word, bit)              that bit of each lane's word; `bit` is no constant
 *   SWAP(choice, a, b)             exchanges lanes a and b where the bit is set
 *
 * Secrets:  scalars and everything computed. No branch and no address depends on them.
 */
#ifndef SOTTO_CRYPTO_X25519_LADDER_H
#define SOTTO_CRYPTO_X25519_LADDER_H

#include "crypto/x25519.h"
#include "crypto/x25519_numbers.h"

/* ---- scalars -------------------------------------------------------------------------------------- */

/* Bit i says whether step i of the ladder works on the other pair than step i + 1 did: bits i and i + 1 of the scalar
 * differ. After the last step the pairs are in place, since clamping clears bit 0. */
static void read_scalars(row swaps[WORDS], const uint8_t *const *scalars)
{
    uint64_t w[WORDS];

    for (unsigned l = 0; l < LANES; l++) {
        read_words(w, scalars[l]);
        w[0] &= ~UINT64_C(7);
        w[3] = (w[3] & (UINT64_MAX >> 1)) | UINT64_C(1) << 62;
        for (unsigned i = 0; i < WORDS; i++)
            swaps[i].of[l] = w[i] ^ (w[i] >> 1 | (i < WORDS - 1 ? w[i + 1] << 63 : 0));
    }
    sotto_wipe(w, sizeof w);
}

/* ---- the ladder ----------------------------------------------------------------------------------- */

/* Two points a known difference apart, by the RFC's names. */
typedef struct pair {
    number x2, z2, x3, z3;
} pair;

INLINE void swap_points(pair *p, choice swap)
{
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        SWAP(swap, p->x2.limb[i], p->x3.limb[i]);
        SWAP(swap, p->z2.limb[i], p->z3.limb[i]);
    }
}

INLINE void step(pair *p, const number *x1)
{
    enum { A24 = 121665 };
    const number a = number_add(p->x2, p->z2), b = number_sub(p->x2, p->z2);
    const number c = number_add(p->x3, p->z3), d = number_sub(p->x3, p->z3);
    const number da = number_mul(d, a), cb = number_mul(c, b);
    const number aa = number_sqr(a), bb = number_sqr(b);
    const number e = number_sub(aa, bb);

    p->x3 = number_sqr(number_add(da, cb));
    p->z3 = number_mul(*x1, number_sqr(number_sub(da, cb)));
    p->x2 = number_mul(aa, bb);
    p->z2 = number_mul(e, number_add(aa, number_scale(e, A24)));
}

/* A call of its own, so that its frame lies where wipe_frames wipes. */
__attribute__((noinline)) static void climb(uint8_t *const *out, const uint8_t *const *scalars,
                                            const uint8_t *const *points)
{
    const number x1 = read_numbers(points), one = small_number(1);
    pair p = {one, small_number(0), x1, one};
    row swaps[WORDS];
    number u;

    read_scalars(swaps, scalars);
    for (unsigned bit = 255; bit-- > 0;) {
        swap_points(&p, CHOOSE(lane_of(&swaps[bit / 64]), bit % 64));
        step(&p, &x1);
    }
    u = number_mul(p.x2, number_invert(p.z2));
    write_numbers(out, &u);
    sotto_wipe(swaps, sizeof swaps);
    sotto_wipe(&p, sizeof p);
    sotto_wipe(&u, sizeof u);
}

/* What the compiler kept of intermediate numbers. The frames of climb and of what it calls take up to 18 KB in
 * optimised builds (-fstack-usage), more than sotto_wipe_stack wipes. */
__attribute__((noinline)) static void wipe_frames(void)
{
    uint8_t below[24 << 10];

    sotto_wipe(below, sizeof below);
}

static void multiply(uint8_t *const *out, const uint8_t *const *scalars,
                     const uint8_t *const *points)
{
    climb(out, scalars, points);
    wipe_frames();
}

#endif
