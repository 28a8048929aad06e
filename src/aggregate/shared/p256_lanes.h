/* aggregate/shared/p256_lanes.h - sums of points of P-256, one in each lane.
 *
 * Included once by a file that defines these:
 *   LANES                         how many
 *   lane                          a vector of LANES numbers of 64 bits
 *   choice                        a bit of each lane
 *   ALL(n)                        n in every lane
 *   ADD(a, b) SUB(a, b)           modulo 2^64
 *   AND(a, b) SHL(a, n) SHR(a, n) n is a constant
 *   SAR(a, n)                     the same as SHR for a number with a sign
 *   LOW52(t, a, b)                t + the low 52 bits of the product of the low 52 bits of a and b
 *   HIGH52(t, a, b)               t + the upper 52 bits of it
 *   EQUAL(a, b)                   the lanes in which a and b are the same
 *   PICK(c, a, b)                 b in the lanes of c, else a
 *   BOTH(c, d) EITHER(c, d) OTHER(c)   of choices
 *
 * The field is in Montgomery's form, a 2^260, in five limbs of 52 bits: numbers below 16 p have room. A product of numbers below
 * m p and n p is below (1 + m n / 16) p. Comments say of a number how many p it stays below.
 *
 * Secrets:  none: a time depends on how many there are, but nothing here may ever be given a secret.
 */
#ifndef SOTTO_AGGREGATE_SHARED_P256_LANES_H
#define SOTTO_AGGREGATE_SHARED_P256_LANES_H

#include "aggregate/shared/p256_sum.h"
#include "crypto/x25519_inline.h"
#include "math/wide.h" /* demands a little-endian machine */

#include <string.h>

enum { LIMBS = 5, LIMB_BITS = 52, WORDS = 4, VECTORS = (SOTTO_P256_SUMS + LANES - 1) / LANES };

typedef struct number {
    lane limb[LIMBS];
} number;

typedef int64_t constant[LIMBS];

static const constant P = {INT64_C(0xfffffffffffff), INT64_C(0x00fffffffffff), 0,
                           INT64_C(0x0001000000000), INT64_C(0x0ffffffff0000)};
/* 1, 3 and the curve's b in Montgomery's form; 2^520 modulo p, which brings a number into it. */
static const constant ONE = {INT64_C(0x0000000000010), INT64_C(0xf000000000000),
                             INT64_C(0xfffffffffffff), INT64_C(0xffeffffffffff),
                             INT64_C(0x00000000fffff)};
static const constant THREE = {INT64_C(0x0000000000030), INT64_C(0xd000000000000),
                               INT64_C(0xfffffffffffff), INT64_C(0xffcffffffffff),
                               INT64_C(0x00000002fffff)};
static const constant B = {INT64_C(0xdf6229c4bddfd), INT64_C(0xca8843090d89c),
                           INT64_C(0x212ed6acf005c), INT64_C(0x83415a220abf7),
                           INT64_C(0x0c30061dd4874)};
static const constant SQUARED = {INT64_C(0x0000000000300), INT64_C(0xffffffff00000),
                                 INT64_C(0xffffefffffffb), INT64_C(0xfdfffffffffff),
                                 INT64_C(0x0000004ffffff)};

INLINE number same_in_all(const constant c)
{
    number out;

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out.limb[i] = ALL(c[i]);
    return out;
}

/* ---- the field --------------------------------------------------------------------------------------------- */

/* Carries from each limb to the next. The multiplier reads 52 bits of a limb, so no carry may stay; limbs may be below zero, the number
 * is not. */
INLINE number settle(const lane r[LIMBS])
{
    const lane mask = ALL((INT64_C(1) << LIMB_BITS) - 1);
    number out;
    lane carry = ALL(0);

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        const lane sum = ADD(r[i], carry);

        carry = SAR(sum, LIMB_BITS);
        out.limb[i] = i + 1 < LIMBS ? AND(sum, mask) : sum;
    }
    return out;
}

/* a + k p - b. */
INLINE number number_sub(number a, number b, int64_t k)
{
    lane r[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        r[i] = SUB(ADD(a.limb[i], ALL(k * P[i])), b.limb[i]);
    return settle(r);
}

/* Any number below 16 p to one below 1.001 p: takes off p as often as the bits from 2^256 on say. */
INLINE number number_tight(number a)
{
    const lane q = SHR(a.limb[4], 48);

    a.limb[0] = ADD(a.limb[0], q);
    a.limb[1] = SUB(a.limb[1], SHL(q, 44));
    a.limb[3] = SUB(a.limb[3], SHL(q, 36));
    a.limb[4] = ADD(AND(a.limb[4], ALL((INT64_C(1) << 48) - 1)), SHL(q, 16));
    return settle(a.limb);
}

/* Ten columns to five, divided by 2^260. p = 2^256 - 2^224 + 2^192 + 2^96 - 1, so a limb that is to vanish is its own factor. */
INLINE number reduce(lane t[2 * LIMBS])
{
    const lane at96 = ALL(INT64_C(1) << 44), at192 = ALL(P[3]), at224 = ALL(P[4]);

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        const lane m = t[i];

        t[i + 1] = LOW52(ADD(t[i + 1], SHR(m, LIMB_BITS)), m, at96);
        t[i + 2] = HIGH52(t[i + 2], m, at96);
        t[i + 3] = LOW52(t[i + 3], m, at192);
        t[i + 4] = HIGH52(LOW52(t[i + 4], m, at224), m, at192);
        t[i + 5] = HIGH52(t[i + 5], m, at224);
    }
    return settle(t + LIMBS);
}

INLINE void clear(lane t[2 * LIMBS])
{
    UNROLL
    for (unsigned k = 0; k < 2 * LIMBS; k++)
        t[k] = ALL(0);
}

INLINE number number_mul(number a, number b)
{
    lane t[2 * LIMBS];

    clear(t);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        UNROLL
        for (unsigned j = 0; j < LIMBS; j++) {
            t[i + j] = LOW52(t[i + j], a.limb[i], b.limb[j]);
            t[i + j + 1] = HIGH52(t[i + j + 1], a.limb[i], b.limb[j]);
        }
    }
    return reduce(t);
}

/* Products of different limbs count twice. */
INLINE number number_sqr(number a)
{
    lane t[2 * LIMBS];

    clear(t);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        UNROLL
        for (unsigned j = i + 1; j < LIMBS; j++) {
            t[i + j] = LOW52(t[i + j], a.limb[i], a.limb[j]);
            t[i + j + 1] = HIGH52(t[i + j + 1], a.limb[i], a.limb[j]);
        }
    }
    UNROLL
    for (unsigned k = 0; k < 2 * LIMBS; k++)
        t[k] = ADD(t[k], t[k]);
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        t[2 * i] = LOW52(t[2 * i], a.limb[i], a.limb[i]);
        t[2 * i + 1] = HIGH52(t[2 * i + 1], a.limb[i], a.limb[i]);
    }
    return reduce(t);
}

static number number_sqr_times(number a, unsigned times)
{
    while (times-- > 0)
        a = number_sqr(a);
    return a;
}

/* a^(2^n) c: puts the bits of c's exponent, which are n, behind those of a's. */
static number append(number a, unsigned n, number c)
{
    return number_mul(number_sqr_times(a, n), c);
}

/* a^(p - 2): 32 ones, 31 zeros and a one, 96 zeros, 94 ones, a zero and a one. Names say how many ones an exponent has. */
static number number_invert(number a)
{
    const number e2 = append(a, 1, a), e4 = append(e2, 2, e2), e8 = append(e4, 4, e4);
    const number e16 = append(e8, 8, e8), e24 = append(e16, 8, e8), e28 = append(e24, 4, e4);
    const number e30 = append(e28, 2, e2), e32 = append(e30, 2, e2);
    number x = append(e32, 32, a);

    x = append(number_sqr_times(x, 96), 32, e32);
    x = append(append(x, 32, e32), 30, e30);
    return append(x, 2, a);
}

INLINE choice is_same(number a, number b)
{
    choice all = EQUAL(a.limb[0], b.limb[0]);

    UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        all = BOTH(all, EQUAL(a.limb[i], b.limb[i]));
    return all;
}

static const constant ZERO = {0};

/* Below 2 p: zero is 0 or p. */
INLINE choice is_zero(number a)
{
    return EITHER(is_same(a, same_in_all(ZERO)), is_same(a, same_in_all(P)));
}

INLINE number number_pick(choice c, number a, number b)
{
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] = PICK(c, a.limb[i], b.limb[i]);
    return a;
}

/* ---- bytes -------------------------------------------------------------------------------------------------- */

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

static inline uint64_t turned(uint64_t word)
{
    return __builtin_bswap64(word);
}

/* From words, lowest first; below 2^256. */
INLINE number from_words(const row w[WORDS])
{
    const lane mask = ALL((INT64_C(1) << LIMB_BITS) - 1);
    const lane w0 = lane_of(&w[0]), w1 = lane_of(&w[1]), w2 = lane_of(&w[2]), w3 = lane_of(&w[3]);

    return (number){{AND(w0, mask), AND(ADD(SHR(w0, 52), SHL(w1, 12)), mask),
                     AND(ADD(SHR(w1, 40), SHL(w2, 24)), mask),
                     AND(ADD(SHR(w2, 28), SHL(w3, 36)), mask), SHR(w3, 16)}};
}

INLINE void to_words(row w[WORDS], number a)
{
    const lane words[WORDS] = {
        ADD(a.limb[0], SHL(a.limb[1], 52)), ADD(SHR(a.limb[1], 12), SHL(a.limb[2], 40)),
        ADD(SHR(a.limb[2], 24), SHL(a.limb[3], 28)), ADD(SHR(a.limb[3], 36), SHL(a.limb[4], 16))};

    for (unsigned i = 0; i < WORDS; i++)
        memcpy(w[i].of, &words[i], sizeof words[i]);
}

/* Takes p off; what that brings below zero was below p. */
INLINE choice is_below_p(number a)
{
    const number less = number_sub(a, same_in_all(P), 0);

    return EQUAL(SHR(less.limb[4], 63), ALL(1));
}

/* ---- points ------------------------------------------------------------------------------------------------- */

/* Coordinates below 1.1 p. */
typedef struct affine {
    number x, y;
} affine;

/* x = X / Z^2, y = Y / Z^3. X is below 1.001 p, Y below 4 p, Z below 1.4 p. */
typedef struct point {
    number x, y, z;
} point;

/* y^2 = x (x^2 - 3) + b (FIPS 186-4, D.1.2.3). */
INLINE choice is_on_curve(const affine *p)
{
    const number xx = number_sub(number_sqr(p->x), same_in_all(THREE), 1);
    const number right = number_mul(p->x, xx), yy = number_sqr(p->y);
    const number less = number_sub(yy, right, 2);

    return is_zero(number_tight(number_sub(less, same_in_all(B), 1)));
}

/* One point for each lane, in the long form. The lanes in which it is one. */
static choice read_points(affine *out, const uint8_t *const rows[LANES])
{
    row form, x[WORDS], y[WORDS];

    for (unsigned l = 0; l < LANES; l++) {
        uint64_t words[2 * WORDS];

        form.of[l] = rows[l][0];
        memcpy(words, rows[l] + 1, sizeof words);
        for (unsigned i = 0; i < WORDS; i++) {
            x[i].of[l] = turned(words[WORDS - 1 - i]);
            y[i].of[l] = turned(words[2 * WORDS - 1 - i]);
        }
    }
    const number plain_x = from_words(x), plain_y = from_words(y), square = same_in_all(SQUARED);
    const choice small = BOTH(is_below_p(plain_x), is_below_p(plain_y));
    *out = (affine){number_mul(plain_x, square), number_mul(plain_y, square)};
    return BOTH(BOTH(small, EQUAL(lane_of(&form), ALL(4))), is_on_curve(out));
}

/* to += from. Where both are the same or opposite, Z becomes zero and stays so. */
static void add_point(point *to, const affine *from)
{
    const number zz = number_sqr(to->z), u = number_mul(from->x, zz);
    const number s = number_mul(from->y, number_mul(to->z, zz));
    const number h = number_sub(u, to->x, 2), r = number_sub(s, to->y, 4); /* 3.1, 5.1 */
    const number hh = number_sqr(h), v = number_mul(to->x, hh);            /* 1.6, 1.1 */
    const number hhh = number_mul(h, hh), rr = number_sqr(r);              /* 1.4, 2.7 */
    lane x[LIMBS];

    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        x[i] = SUB(ADD(rr.limb[i], ALL(4 * P[i])),
                   ADD(hhh.limb[i], ADD(v.limb[i], v.limb[i]))); /* 6.7 */
    to->z = number_mul(to->z, h);
    to->x = number_tight(settle(x));
    const number fall = number_mul(r, number_sub(v, to->x, 2)); /* 2 */
    to->y = number_sub(fall, number_mul(to->y, hhh), 2);        /* 4 */
}

/* ---- sums --------------------------------------------------------------------------------------------------- */

typedef struct lists {
    const uint8_t *const *at;
    size_t terms, step, count;
} lists;

/* The lanes' rows of a term. Lanes that are too many do what the last one does. */
static void find_rows(const uint8_t *rows[LANES], const lists *all, size_t term, size_t first)
{
    for (size_t l = 0; l < LANES; l++) {
        const size_t i = first + l < all->count ? first + l : all->count - 1;

        rows[l] = all->at[term] + i * all->step;
    }
}

/* The sums from `first` on. The lanes in which there is one. */
static choice add_up(point *sum, const lists *all, size_t first)
{
    const uint8_t *rows[LANES];
    affine term;

    find_rows(rows, all, 0, first);
    choice good = read_points(&term, rows);
    *sum = (point){term.x, term.y, same_in_all(ONE)};
    for (size_t j = 1; j < all->terms; j++) {
        find_rows(rows, all, j, first);
        good = BOTH(good, read_points(&term, rows));
        add_point(sum, &term);
    }
    return good;
}

/* out is a z^-2 or a z^-3, of Montgomery's form no more, fully reduced. */
INLINE void write_number(row w[WORDS], number a, number inverse)
{
    static const constant one = {1};
    const number plain = number_mul(number_mul(a, inverse), same_in_all(one)); /* p at most */

    to_words(w, number_pick(is_same(plain, same_in_all(P)), plain, same_in_all(ZERO)));
}

static void write_points(uint8_t (*out)[SOTTO_P256_WIDE], size_t count, const point *p,
                         number inverse)
{
    const number square = number_sqr(inverse);
    row x[WORDS], y[WORDS];

    write_number(x, p->x, square);
    write_number(y, p->y, number_mul(square, inverse));
    for (size_t l = 0; l < LANES && l < count; l++) {
        out[l][0] = 4;
        for (size_t i = 0; i < WORDS; i++) {
            const uint64_t words[2] = {turned(x[WORDS - 1 - i].of[l]),
                                       turned(y[WORDS - 1 - i].of[l])};

            memcpy(out[l] + 1 + 8 * i, &words[0], 8);
            memcpy(out[l] + 33 + 8 * i, &words[1], 8);
        }
    }
}

static void write_done(bool *done, size_t count, choice good)
{
    const lane as_number = PICK(good, ALL(0), ALL(1));
    row words;

    memcpy(words.of, &as_number, sizeof as_number);
    for (size_t l = 0; l < LANES && l < count; l++)
        done[l] = words.of[l] == 1;
}

/* All sums are brought to Z = 1 by one inversion in each lane (Montgomery's trick). */
static void sum_in_lanes(uint8_t (*out)[SOTTO_P256_WIDE], bool *done, const uint8_t *const *at,
                         size_t terms, size_t step, size_t count)
{
    const lists all = {at, terms, step, count};
    const size_t vectors = (count + LANES - 1) / LANES;
    point sums[VECTORS];
    number before[VECTORS], product = same_in_all(ONE);

    for (size_t v = 0; v < vectors; v++) {
        const choice good = add_up(&sums[v], &all, v * LANES);
        const choice none = is_zero(sums[v].z);

        sums[v].z = number_pick(none, sums[v].z, same_in_all(ONE)); /* whatever has an inverse */
        before[v] = product;
        product = number_mul(product, sums[v].z);
        write_done(done + v * LANES, count - v * LANES, BOTH(good, OTHER(none)));
    }
    number inverse = number_invert(product);
    for (size_t v = vectors; v-- > 0;) {
        write_points(out + v * LANES, count - v * LANES, &sums[v], number_mul(inverse, before[v]));
        inverse = number_mul(inverse, sums[v].z);
    }
}

#endif
