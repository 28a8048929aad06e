/* crypto/x25519_numbers.h - numbers modulo 2^255 - 19 in lanes: between bytes and limbs, and what takes many products.
 *
 * Included behind a field (x25519_field51.h or x25519_field26.h) by x25519_ladder.h and ed25519_points.h. The file for an
 * instruction set also defines
 *   LANES                          how many lanes a `lane` has
 *
 * Secrets:  numbers. No branch and no address depends on them.
 */
#ifndef SOTTO_CRYPTO_X25519_NUMBERS_H
#define SOTTO_CRYPTO_X25519_NUMBERS_H

#include "sotto/base.h"

#include <string.h>

enum { WORDS = 4, NUMBER_SIZE = 8 * WORDS };

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
    memcpy(w, bytes, NUMBER_SIZE);
}

/* ---- bytes ---------------------------------------------------------------------------------------- */

static inline uint64_t limb_mask(unsigned i)
{
    return (UINT64_C(1) << (limb_at(i + 1) - limb_at(i))) - 1;
}

/* The highest bit is ignored; numbers from the modulus on are as good as any. */
static number read_numbers(const uint8_t *const *bytes)
{
    row limbs[LIMBS];
    uint64_t w[WORDS];
    number out;

    for (unsigned l = 0; l < LANES; l++) {
        read_words(w, bytes[l]);
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
static void write_number(uint8_t *out, uint64_t h[LIMBS])
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

static void write_numbers(uint8_t *const *out, const number *a)
{
    uint64_t h[LIMBS];
    row limbs[LIMBS];

    memcpy(limbs, a->limb, sizeof limbs);
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned i = 0; i < LIMBS; i++)
            h[i] = limbs[i].of[l];
        write_number(out[l], h);
    }
    sotto_wipe(h, sizeof h);
    sotto_wipe(limbs, sizeof limbs);
}

/* ---- powers ----------------------------------------------------------------------------------------- */

static number number_sqr_times(number a, unsigned times)
{
    while (times-- > 0)
        a = number_sqr(a);
    return a;
}

/* a^(2^250 - 1), and a^11 on the way to it. Names say the exponent: `e50` is a^(2^50 - 1). */
static number number_e250(number a, number *a11)
{
    const number a2 = number_sqr(a);
    const number a9 = number_mul(number_sqr_times(a2, 2), a);
    *a11 = number_mul(a9, a2);
    const number e5 = number_mul(number_sqr(*a11), a9);
    const number e10 = number_mul(number_sqr_times(e5, 5), e5);
    const number e20 = number_mul(number_sqr_times(e10, 10), e10);
    const number e40 = number_mul(number_sqr_times(e20, 20), e20);
    const number e50 = number_mul(number_sqr_times(e40, 10), e10);
    const number e100 = number_mul(number_sqr_times(e50, 50), e50);
    const number e200 = number_mul(number_sqr_times(e100, 100), e100);

    return number_mul(number_sqr_times(e200, 50), e50);
}

/* a^(p - 2): the inverse, and 0 for 0. */
static number number_invert(number a)
{
    number a11;
    const number e250 = number_e250(a, &a11);

    return number_mul(number_sqr_times(e250, 5), a11);
}

static inline number small_number(int64_t n)
{
    number a;

    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] = ALL(i == 0 ? n : 0);
    return a;
}

#endif
