#include "aggregate/shared/p256_sum.h"

#include "base/backends.h"
#include "base/cpu.h"
#include "math/wide.h"

#include <string.h>

/* ---- the field: modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1, in Montgomery's form, lowest word first ------------ */

typedef struct element {
    uint64_t w[4];
} element;

static const element P = {{UINT64_MAX, UINT64_C(0xffffffff), 0, UINT64_C(0xffffffff00000001)}};
/* 2^512 modulo p: what brings a number into Montgomery's form. */
static const element SQUARED = {
    {3, UINT64_C(0xfffffffbffffffff), UINT64_C(0xfffffffffffffffe), UINT64_C(0x00000004fffffffd)}};
static const element ONE = {{1, 0, 0, 0}};
/* The curve is y^2 = x^3 - 3 x + b (FIPS 186-4, D.1.2.3); b in Montgomery's form. */
static const element B = {{UINT64_C(0xd89cdf6229c4bddf), UINT64_C(0xacf005cd78843090),
                           UINT64_C(0xe5a220abf7212ed6), UINT64_C(0xdc30061d04874834)}};

/* out = x - p where that is not negative, for x below 2 p; top: the word above x. */
static inline void reduce(element *out, const uint64_t x[4], uint64_t top)
{
    uint64_t less[4], borrow = 0;

    for (size_t i = 0; i < 4; i++) {
        const sotto_u128 d = (sotto_u128)x[i] - P.w[i] - borrow;

        less[i] = sotto_u128_low(d);
        borrow = sotto_u128_high(d) & 1;
    }
    const uint64_t keep = (uint64_t)0 - (uint64_t)(borrow > top); /* it was below p */
    for (size_t i = 0; i < 4; i++)
        out->w[i] = (x[i] & keep) | (less[i] & ~keep);
}

/* A word of a sum with carry. */
static inline uint64_t add_word(uint64_t a, uint64_t b, uint64_t *carry)
{
    const sotto_u128 sum = (sotto_u128)a + b + *carry;

    *carry = sotto_u128_high(sum);
    return sotto_u128_low(sum);
}

/* out = a b / 2^256. The lowest word of p is 2^64 - 1, so each word that is to vanish is its own factor, and most of its product
 * with p is shifts. */
static void multiply(element *out, const element *a, const element *b)
{
    uint64_t t[6] = {0};

    for (size_t i = 0; i < 4; i++) {
        uint64_t carry = 0;

        for (size_t j = 0; j < 4; j++) {
            const sotto_u128 x = sotto_mul_wide(a->w[j], b->w[i]) + t[j] + carry;

            t[j] = sotto_u128_low(x);
            carry = sotto_u128_high(x);
        }
        t[4] = add_word(t[4], carry, &(uint64_t){0});
        t[5] = t[4] < carry;
        const uint64_t m = t[0];
        const sotto_u128 high = sotto_mul_wide(m, P.w[3]);
        carry = 0;
        t[0] = add_word(t[1], m << 32, &carry);
        t[1] = add_word(t[2], m >> 32, &carry);
        t[2] = add_word(t[3], sotto_u128_low(high), &carry);
        t[3] = add_word(t[4], sotto_u128_high(high), &carry);
        t[4] = t[5] + carry;
    }
    reduce(out, t, t[4]);
}

static void subtract(element *out, const element *a, const element *b)
{
    uint64_t borrow = 0, carry = 0;

    for (size_t i = 0; i < 4; i++) {
        const sotto_u128 d = (sotto_u128)a->w[i] - b->w[i] - borrow;

        out->w[i] = sotto_u128_low(d);
        borrow = sotto_u128_high(d) & 1;
    }
    for (size_t i = 0; i < 4; i++)
        out->w[i] = add_word(out->w[i], P.w[i] & ((uint64_t)0 - borrow), &carry);
}

static void add(element *out, const element *a, const element *b)
{
    uint64_t sum[4], carry = 0;

    for (size_t i = 0; i < 4; i++)
        sum[i] = add_word(a->w[i], b->w[i], &carry);
    reduce(out, sum, carry);
}

static bool is_equal(const element *a, const element *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* a^(p - 2). */
static void invert(element *out, const element *a)
{
    element x = *a;

    for (size_t bit = 255; bit-- > 0;) {
        const uint64_t word = P.w[bit / 64] - (bit < 64 ? 2 : 0);

        multiply(&x, &x, &x);
        if (word >> bit % 64 & 1)
            multiply(&x, &x, a);
    }
    *out = x;
}

/* False: not below p. */
static bool read_element(element *out, const uint8_t be[32])
{
    element plain;
    uint64_t borrow = 0;

    for (size_t i = 0; i < 4; i++) {
        plain.w[i] = 0;
        for (size_t b = 0; b < 8; b++)
            plain.w[i] = plain.w[i] << 8 | be[24 - 8 * i + b];
        borrow = sotto_u128_high((sotto_u128)plain.w[i] - P.w[i] - borrow) & 1;
    }
    multiply(out, &plain, &SQUARED);
    return borrow;
}

static void write_element(uint8_t be[32], const element *e)
{
    element plain;

    multiply(&plain, e, &ONE);
    for (size_t i = 0; i < 4; i++)
        for (size_t b = 0; b < 8; b++)
            be[24 - 8 * i + b] = (uint8_t)(plain.w[i] >> (56 - 8 * b));
}

/* ---- points ------------------------------------------------------------------------------------------------- */

typedef struct point {
    element x, y;
} point;

static bool is_on_curve(const point *p)
{
    element left, right, three;

    multiply(&left, &p->y, &p->y);
    multiply(&right, &p->x, &p->x);
    multiply(&right, &right, &p->x);
    add(&three, &p->x, &p->x);
    add(&three, &three, &p->x);
    subtract(&right, &right, &three);
    add(&right, &right, &B);
    return is_equal(&left, &right);
}

static bool read_point(point *out, const uint8_t bytes[SOTTO_P256_WIDE])
{
    const bool small = read_element(&out->x, bytes + 1) & read_element(&out->y, bytes + 33);

    return bytes[0] == 4 && small && is_on_curve(out);
}

/* to += from, by the inverse of from.x - to.x. */
static void add_point(point *to, const point *from, const element *inverse)
{
    element slope, x;

    subtract(&slope, &from->y, &to->y);
    multiply(&slope, &slope, inverse);
    multiply(&x, &slope, &slope);
    subtract(&x, &x, &to->x);
    subtract(&x, &x, &from->x);
    subtract(&to->x, &to->x, &x); /* old x - new x */
    multiply(&slope, &slope, &to->x);
    subtract(&to->y, &slope, &to->y);
    to->x = x;
}

/* Replaces each of them by its inverse: none is zero. */
static void invert_all(element *all, size_t count)
{
    element before[SOTTO_P256_SUMS], product, inverse, next;

    product = all[0];
    for (size_t i = 1; i < count; i++) {
        before[i] = product;
        multiply(&product, &product, &all[i]);
    }
    invert(&inverse, &product);
    for (size_t i = count; i-- > 1;) {
        multiply(&next, &inverse, &all[i]);
        multiply(&all[i], &inverse, &before[i]);
        inverse = next;
    }
    all[0] = inverse;
}

/* One more term to every sum. */
static void add_terms(point *sums, bool *done, const uint8_t *list, size_t step, size_t count)
{
    static const element zero = {{0}}, one = {{1}};
    element between[SOTTO_P256_SUMS];
    point terms[SOTTO_P256_SUMS];

    for (size_t i = 0; i < count; i++) {
        done[i] = read_point(&terms[i], list + i * step) && done[i];
        subtract(&between[i], &terms[i].x, &sums[i].x);
        done[i] = done[i] && !is_equal(&between[i], &zero);
        if (!done[i])
            between[i] = one; /* whatever has an inverse */
    }
    invert_all(between, count);
    for (size_t i = 0; i < count; i++)
        add_point(&sums[i], &terms[i], &between[i]);
}

static void sum_side_by_side(uint8_t (*out)[SOTTO_P256_WIDE], bool *done,
                             const uint8_t *const *lists, size_t terms, size_t step, size_t count)
{
    point sums[SOTTO_P256_SUMS] = {0};

    for (size_t i = 0; i < count; i++)
        done[i] = read_point(&sums[i], lists[0] + i * step);
    for (size_t j = 1; j < terms && count > 0; j++)
        add_terms(sums, done, lists[j], step, count);
    for (size_t i = 0; i < count; i++) {
        out[i][0] = 4;
        write_element(out[i] + 1, &sums[i].x);
        write_element(out[i] + 33, &sums[i].y);
    }
}

/* ---- the choice --------------------------------------------------------------------------------------------- */

static const sotto_p256_set scalar = {"scalar", sum_side_by_side};

static const sotto_backend choices[] = {
#if defined(__x86_64__)
    {SOTTO_CPU_IFMA, &sotto_p256_ifma},
#endif
    {0, &scalar},
};
static sotto_backends backends = {choices, sizeof choices / sizeof choices[0], NULL};

static const sotto_p256_set *best(void)
{
    return sotto_backends_chosen(&backends);
}

bool sotto_p256_use(const char *name)
{
    return sotto_backends_use(&backends, name);
}

void sotto_p256_sum_many_vartime(uint8_t (*out)[SOTTO_P256_WIDE], bool *done,
                                 const uint8_t *const *lists, size_t terms, size_t step,
                                 size_t count)
{
    for (size_t i = 0; i < count && terms == 0; i++)
        done[i] = false;
    if (terms > 0 && count > 0)
        best()->sum(out, done, lists, terms, step, count);
}
