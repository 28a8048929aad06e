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

#include <string.h>

enum { WORDS = 4 };

/* One word of each lane, as memory has it. */
typedef struct row {
    _Alignas(8 * LANES) uint64_t of[LANES];
} row;

static inline lane lane_of(const row *r)
{
    lane l;

    memcpy(&l, r->of, sizeof l);
    return l;
}

/* Little-endian, as every machine is that has such lanes. */
static inline void read_words(uint64_t w[WORDS], const uint8_t *bytes)
{
    memcpy(w, bytes, SOTTO_X25519_SIZE);
}

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

/* ---- points --------------------------------------------------------------------------------------- */

static inline uint64_t limb_mask(unsigned i)
{
    return (UINT64_C(1) << (limb_at(i + 1) - limb_at(i))) - 1;
}

/* The highest bit is ignored; numbers from the modulus on are as good as any. */
static number read_points(const uint8_t *const *points)
{
    row limbs[LIMBS];
    uint64_t w[WORDS];
    number out;

    for (unsigned l = 0; l < LANES; l++) {
        read_words(w, points[l]);
        for (unsigned i = 0; i < LIMBS; i++) {
            const unsigned at = limb_at(i) / 64, shift = limb_at(i) % 64;
            const uint64_t above = shift && at < WORDS - 1 ? w[at + 1] << (64 - shift) : 0;

            limbs[i].of[l] = (w[at] >> shift | above) & limb_mask(i);
        }
    }
    for (unsigned i = 0; i < LIMBS; i++)
        out.limb[i] = lane_of(&limbs[i]);
    return out;
}

/* Carries through all limbs and back to the first, as 2^255 = 19. Gives what left at the top. */
static inline uint64_t carry_around(uint64_t h[LIMBS], uint64_t carry)
{
    for (unsigned i = 0; i < LIMBS; i++) {
        h[i] += carry;
        carry = h[i] >> (limb_at(i + 1) - limb_at(i));
        h[i] &= limb_mask(i);
    }
    return carry;
}

/* Fully reduced: below 2^255 after two rounds, and adding 19 then reaches 2^255 if the number is p or more. */
static void write_point(uint8_t *out, uint64_t h[LIMBS])
{
    uint64_t w[WORDS] = {0}, more[LIMBS];

    for (unsigned round = 0; round < 2; round++)
        h[0] += 19 * carry_around(h, 0);
    (void)carry_around(h, 0);
    memcpy(more, h, sizeof more);
    (void)carry_around(h, 19 * carry_around(more, 19));
    for (unsigned i = 0; i < LIMBS; i++) {
        const unsigned at = limb_at(i) / 64, shift = limb_at(i) % 64;

        w[at] |= h[i] << shift;
        if (shift && at < WORDS - 1)
            w[at + 1] |= h[i] >> (64 - shift);
    }
    memcpy(out, w, sizeof w);
    sotto_wipe(w, sizeof w);
    sotto_wipe(more, sizeof more);
}

static void write_points(uint8_t *const *out, const number *a)
{
    uint64_t h[LIMBS];
    row limbs[LIMBS];

    memcpy(limbs, a->limb, sizeof limbs);
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned i = 0; i < LIMBS; i++)
            h[i] = limbs[i].of[l];
        write_point(out[l], h);
    }
    sotto_wipe(h, sizeof h);
    sotto_wipe(limbs, sizeof limbs);
}

/* ---- the ladder ----------------------------------------------------------------------------------- */

static number number_sqr_times(number a, unsigned times)
{
    while (times-- > 0)
        a = number_sqr(a);
    return a;
}

/* a^(p - 2): the inverse, and 0 for 0. Names say the exponent: `e50` is a^(2^50 - 1). */
static number number_invert(number a)
{
    const number a2 = number_sqr(a);
    const number a9 = number_mul(number_sqr_times(a2, 2), a);
    const number a11 = number_mul(a9, a2);
    const number e5 = number_mul(number_sqr(a11), a9);
    const number e10 = number_mul(number_sqr_times(e5, 5), e5);
    const number e20 = number_mul(number_sqr_times(e10, 10), e10);
    const number e40 = number_mul(number_sqr_times(e20, 20), e20);
    const number e50 = number_mul(number_sqr_times(e40, 10), e10);
    const number e100 = number_mul(number_sqr_times(e50, 50), e50);
    const number e200 = number_mul(number_sqr_times(e100, 100), e100);
    const number e250 = number_mul(number_sqr_times(e200, 50), e50);

    return number_mul(number_sqr_times(e250, 5), a11);
}

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

static inline number small_number(int64_t n)
{
    number a;

    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] = ALL(i == 0 ? n : 0);
    return a;
}

/* A call of its own, so that its frame lies where wipe_frames wipes. */
__attribute__((noinline)) static void climb(uint8_t *const *out, const uint8_t *const *scalars,
                                            const uint8_t *const *points)
{
    const number x1 = read_points(points), one = small_number(1);
    pair p = {one, small_number(0), x1, one};
    row swaps[WORDS];
    number u;

    read_scalars(swaps, scalars);
    for (unsigned bit = 255; bit-- > 0;) {
        swap_points(&p, CHOOSE(lane_of(&swaps[bit / 64]), bit % 64));
        step(&p, &x1);
    }
    u = number_mul(p.x2, number_invert(p.z2));
    write_points(out, &u);
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
