/* crypto/ed25519_points.h - s B - h A on the curve of Ed25519 (RFC 8032, 5.1), one in each lane.
 *
 * Included once by a file for an instruction set, behind a field (x25519_field51.h or x25519_field26.h), which also defines
 *   LANES             how many lanes a `lane` has
 *   choice            a bit of each lane
 *   EQUAL(a, b)       the lanes in which a and b are the same
 *   PICK(c, a, b)     b in the lanes of c, else a
 *
 * The formulas are those of Hisil, Wong, Carter and Dawson 2008 for a = -1, in extended coordinates. They are complete: d is no
 * square modulo p and -1 is one, so no two points are an exception, also those of small order and of mixed order.
 *
 * Secrets:  none. Nothing branches on a number all the same, since lanes go together.
 */
#ifndef SOTTO_CRYPTO_ED25519_POINTS_H
#define SOTTO_CRYPTO_ED25519_POINTS_H

#include "crypto/ed25519.h"
#include "crypto/x25519_numbers.h"

/* Digits of four bits from -8 to 7, so eight multiples and the neutral element. */
enum { DIGIT_BITS = 4, DIGITS = 64, MULTIPLES = 9 };

/* x = X / Z, y = Y / Z, T = X Y / Z. */
typedef struct point {
    number x, y, z, t;
} point;

/* A point as additions want it: Y + X, Y - X, 2 Z, 2 d T. */
typedef struct addend {
    number plus, minus, twice_z, t2d;
} addend;

static const uint8_t D[NUMBER_SIZE] = {
    0xa3, 0x78, 0x59, 0x13, 0xca, 0x4d, 0xeb, 0x75, 0xab, 0xd8, 0x41, 0x41, 0x4d, 0x0a, 0x70, 0x00,
    0x98, 0xe8, 0x79, 0x77, 0x79, 0x40, 0xc7, 0x8c, 0x73, 0xfe, 0x6f, 0x2b, 0xee, 0x6c, 0x03, 0x52};
static const uint8_t SQRT_OF_MINUS_1[NUMBER_SIZE] = {
    0xb0, 0xa0, 0x0e, 0x4a, 0x27, 0x1b, 0xee, 0xc4, 0x78, 0xe4, 0x2f, 0xad, 0x06, 0x18, 0x43, 0x2f,
    0xa7, 0xd7, 0xfb, 0x3d, 0x99, 0x00, 0x4d, 0x2b, 0x0b, 0xdf, 0xc1, 0x4f, 0x80, 0x24, 0x83, 0x2b};
static const uint8_t BASE_X[NUMBER_SIZE] = {
    0x1a, 0xd5, 0x25, 0x8f, 0x60, 0x2d, 0x56, 0xc9, 0xb2, 0xa7, 0x25, 0x95, 0x60, 0xc7, 0x2c, 0x69,
    0x5c, 0xdc, 0xd6, 0xfd, 0x31, 0xe2, 0xa4, 0xc0, 0xfe, 0x53, 0x6e, 0xcd, 0xd3, 0x36, 0x69, 0x21};
static const uint8_t BASE_Y[NUMBER_SIZE] = {
    0x58, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
    0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66};

/* ---- numbers -------------------------------------------------------------------------------------- */

static number same_in_all(const uint8_t bytes[NUMBER_SIZE])
{
    const uint8_t *all[LANES];

    for (unsigned l = 0; l < LANES; l++)
        all[l] = bytes;
    return read_numbers(all);
}

/* Fully reduced. */
static void write_all(uint8_t out[LANES][NUMBER_SIZE], const number *a)
{
    uint8_t *all[LANES];

    for (unsigned l = 0; l < LANES; l++)
        all[l] = out[l];
    write_numbers(all, a);
}

static bool is_zero(const uint8_t bytes[NUMBER_SIZE])
{
    uint8_t any = 0;

    for (unsigned i = 0; i < NUMBER_SIZE; i++)
        any = (uint8_t)(any | bytes[i]);
    return any == 0;
}

INLINE number number_pick(choice c, number a, number b)
{
    UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] = PICK(c, a.limb[i], b.limb[i]);
    return a;
}

INLINE number number_negate(number a)
{
    return number_tight(number_sub(small_number(0), a));
}

/* ---- additions ------------------------------------------------------------------------------------ */

/* What a sum is put together from. All four are multiplied next. */
typedef struct quarters {
    number e, f, g, h;
} quarters;

/* T is wanted where an addition follows. */
INLINE void put_together(point *out, const quarters *q, bool with_t)
{
    out->x = number_mul(q->e, q->f);
    out->y = number_mul(q->g, q->h);
    out->z = number_mul(q->f, q->g);
    if (with_t)
        out->t = number_mul(q->e, q->h);
}

INLINE void add(point *p, const addend *a, bool with_t)
{
    const number minus = number_mul(number_sub(p->y, p->x), a->minus);
    const number plus = number_mul(number_add(p->y, p->x), a->plus);
    const number c = number_mul(p->t, a->t2d), d = number_mul(p->z, a->twice_z);
    const quarters q = {number_sub(plus, minus), number_sub(d, c), number_add(d, c),
                        number_add(plus, minus)};

    put_together(p, &q, with_t);
}

/* Does not read T. E, F, G and H are the negatives of those in the paper, each: the point is the same. */
INLINE void double_point(point *p, bool with_t)
{
    const number xx = number_sqr(p->x), yy = number_sqr(p->y), zz = number_sqr(p->z);
    const number both = number_sqr(number_add(p->x, p->y));
    const number h = number_tight(number_add(yy, xx)), g = number_tight(number_sub(yy, xx));
    const quarters q = {number_sub(both, h), number_sub(number_tight(number_add(zz, zz)), g), g, h};

    put_together(p, &q, with_t);
}

static void add_first(point *p, const addend *a)
{
    add(p, a, true);
}

static void add_last(point *p, const addend *a)
{
    add(p, a, false);
}

static void double_again(point *p)
{
    double_point(p, false);
}

static void double_last(point *p)
{
    double_point(p, true);
}

static addend addend_of(const point *p, const number *d2)
{
    return (addend){number_add(p->y, p->x), number_sub(p->y, p->x), number_add(p->z, p->z),
                    number_mul(p->t, *d2)};
}

static addend neutral_addend(void)
{
    return (addend){small_number(1), small_number(1), small_number(2), small_number(0)};
}

/* 0 to 8 times p. */
static void fill_table(addend table[MULTIPLES], const point *p, const number *d2)
{
    point sum = *p;

    table[0] = neutral_addend();
    table[1] = addend_of(p, d2);
    for (unsigned i = 2; i < MULTIPLES; i++) {
        add_first(&sum, &table[1]);
        table[i] = addend_of(&sum, d2);
    }
}

/* ---- points --------------------------------------------------------------------------------------- */

static choice lanes_where(const bool is[LANES])
{
    row words;

    for (unsigned l = 0; l < LANES; l++)
        words.of[l] = is[l];
    return EQUAL(lane_of(&words), ALL(1));
}

/* x from y: u / v = x^2, by RFC 8032, 5.1.3, step 3. Lanes in which there is none get anything. */
static number find_x(const number *y, bool is_point[LANES])
{
    const number one = small_number(1), yy = number_sqr(*y);
    const number u = number_tight(number_sub(yy, one));
    const number v = number_tight(number_add(number_mul(yy, same_in_all(D)), one));
    const number v3 = number_mul(number_sqr(v), v);
    const number uv7 = number_mul(number_mul(number_sqr(v3), v), u);
    uint8_t as_it_is[LANES][NUMBER_SIZE], negated[LANES][NUMBER_SIZE];
    bool turn[LANES];
    number a11;

    /* (u v^7)^((p - 5) / 8), and (p - 5) / 8 = 2^252 - 3. */
    const number root = number_mul(number_sqr_times(number_e250(uv7, &a11), 2), uv7);
    const number x = number_mul(number_mul(u, v3), root);
    const number vxx = number_mul(v, number_sqr(x));
    const number less = number_sub(vxx, u), more = number_add(vxx, u);
    write_all(as_it_is, &less);
    write_all(negated, &more);
    for (unsigned l = 0; l < LANES; l++) {
        turn[l] = !is_zero(as_it_is[l]);
        is_point[l] = !turn[l] || is_zero(negated[l]);
    }
    return number_pick(lanes_where(turn), x, number_mul(x, same_in_all(SQRT_OF_MINUS_1)));
}

/* -A for each key. As in the crypto library, y may be p or more, and x = 0 may have either sign. */
static void read_negated(point *out, sotto_ed25519_job *jobs)
{
    const uint8_t *keys[LANES];
    uint8_t bytes[LANES][NUMBER_SIZE];
    bool negate[LANES], is_point[LANES];

    for (unsigned l = 0; l < LANES; l++)
        keys[l] = jobs[l].key;
    out->y = read_numbers(keys);
    const number x = find_x(&out->y, is_point);
    write_all(bytes, &x);
    for (unsigned l = 0; l < LANES; l++) {
        jobs[l].is_point = is_point[l];
        negate[l] = (bytes[l][0] & 1) == keys[l][NUMBER_SIZE - 1] >> 7;
    }
    out->x = number_pick(lanes_where(negate), x, number_negate(x));
    out->z = small_number(1);
    out->t = number_mul(out->x, out->y);
}

static point base_point(void)
{
    const number x = same_in_all(BASE_X), y = same_in_all(BASE_Y);

    return (point){x, y, small_number(1), number_mul(x, y)};
}

static void write_r(sotto_ed25519_job *jobs, const point *p)
{
    const number inverse = number_invert(p->z);
    const number x = number_mul(p->x, inverse), y = number_mul(p->y, inverse);
    uint8_t bytes[LANES][NUMBER_SIZE], signs[LANES][NUMBER_SIZE];

    write_all(bytes, &y);
    write_all(signs, &x);
    for (unsigned l = 0; l < LANES; l++) {
        memcpy(jobs[l].r, bytes[l], NUMBER_SIZE);
        jobs[l].r[NUMBER_SIZE - 1] = (uint8_t)(jobs[l].r[NUMBER_SIZE - 1] | (signs[l][0] & 1) << 7);
    }
}

/* ---- scalars -------------------------------------------------------------------------------------- */

/* Magnitude and sign of each digit. */
typedef struct digits {
    row size[DIGITS], negative[DIGITS];
} digits;

/* The scalar is below 2^253, so the highest digit is 2 at most. */
static void read_digits(digits *d, unsigned l, const uint8_t scalar[NUMBER_SIZE])
{
    unsigned carry = 0;

    for (unsigned i = 0; i < DIGITS; i++) {
        const unsigned digit = ((unsigned)scalar[i / 2] >> DIGIT_BITS * (i % 2)) % 16 + carry;

        carry = digit >= 8;
        d->size[i].of[l] = carry ? 16 - digit : digit;
        d->negative[i].of[l] = carry;
    }
}

/* The multiple that a digit of each lane asks for. */
static void choose(addend *out, const addend table[MULTIPLES], const row *size, const row *negative)
{
    const lane wanted = lane_of(size);
    addend a = table[0];

    for (unsigned i = 1; i < MULTIPLES; i++) {
        const choice here = EQUAL(wanted, ALL(i));

        a.plus = number_pick(here, a.plus, table[i].plus);
        a.minus = number_pick(here, a.minus, table[i].minus);
        a.twice_z = number_pick(here, a.twice_z, table[i].twice_z);
        a.t2d = number_pick(here, a.t2d, table[i].t2d);
    }
    const choice turn = EQUAL(lane_of(negative), ALL(1));
    out->plus = number_pick(turn, a.plus, a.minus);
    out->minus = number_pick(turn, a.minus, a.plus);
    out->twice_z = a.twice_z;
    out->t2d = number_pick(turn, a.t2d, number_negate(a.t2d));
}

/* Both products go through the same doublings. */
static void combine(sotto_ed25519_job *jobs)
{
    const number d = same_in_all(D), d2 = number_tight(number_add(d, d));
    const point base = base_point();
    addend of_key[MULTIPLES], of_base[MULTIPLES], next;
    point p, sum = {small_number(0), small_number(1), small_number(1), small_number(0)};
    digits h, s;

    read_negated(&p, jobs);
    fill_table(of_key, &p, &d2);
    fill_table(of_base, &base, &d2);
    for (unsigned l = 0; l < LANES; l++) {
        read_digits(&h, l, jobs[l].h);
        read_digits(&s, l, jobs[l].s);
    }
    for (unsigned i = DIGITS; i-- > 0;) {
        for (unsigned bit = 1; bit < DIGIT_BITS; bit++)
            double_again(&sum);
        double_last(&sum);
        choose(&next, of_key, &h.size[i], &h.negative[i]);
        add_first(&sum, &next);
        choose(&next, of_base, &s.size[i], &s.negative[i]);
        add_last(&sum, &next);
    }
    write_r(jobs, &sum);
}

#endif
