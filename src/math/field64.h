/* math/field64.h - Field64 of VDAF: integers modulo p = 2^64 - 2^32 + 1.
 *
 * 2^64 = 2^32 - 1 and 2^96 = -1 modulo p, so a product is reduced with shifts and adds alone.
 * Elements are canonical (below p) between calls.
 *
 * Both fields offer the same names (math/field.h), so that one proof system serves both. A *weight* is an
 * element in the form that makes a product with a plain element come out plain: here, simply itself;
 * in Field128, the element times 2^128.
 */
#ifndef SOTTO_MATH_FIELD64_H
#define SOTTO_MATH_FIELD64_H

#include "math/ct.h"
#include "math/wide.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sotto_f64 {
    uint64_t v;
} sotto_f64;

#define SOTTO_F64_P UINT64_C(0xffffffff00000001)

enum { SOTTO_F64_SIZE = 8, SOTTO_F64_ROOT_LOG = 32 };

static inline sotto_f64 sotto_f64_zero(void)
{
    return (sotto_f64){0};
}

static inline sotto_f64 sotto_f64_from(uint64_t x)
{
    return (sotto_f64){x - (SOTTO_F64_P & ~sotto_ct_less(x, SOTTO_F64_P))};
}

static inline sotto_f64 sotto_f64_load(const uint8_t *at)
{
    return (sotto_f64){sotto_load64(at)};
}

static inline void sotto_f64_store(uint8_t *at, sotto_f64 a)
{
    sotto_store64(at, a.v);
}

static inline sotto_f64 sotto_f64_add(sotto_f64 a, sotto_f64 b)
{
    /* a - (p - b) wraps exactly when a + b < p. */
    uint64_t back = SOTTO_F64_P - b.v;
    uint64_t sum = a.v - back;

    return (sotto_f64){sum + (SOTTO_F64_P & sotto_ct_mask(a.v < back))};
}

static inline sotto_f64 sotto_f64_sub(sotto_f64 a, sotto_f64 b)
{
    return (sotto_f64){a.v - b.v + (SOTTO_F64_P & sotto_ct_mask(a.v < b.v))};
}

static inline sotto_f64 sotto_f64_neg(sotto_f64 a)
{
    return sotto_f64_sub(sotto_f64_zero(), a);
}

static inline sotto_f64 sotto_f64_reduce(sotto_u128 x)
{
    uint64_t low = sotto_u128_low(x), high = sotto_u128_high(x);
    uint64_t top = high >> 32, middle = high & 0xffffffff;

    uint64_t r = low - top; /* 2^96 = -1 */
    r -= 0xffffffff & sotto_ct_mask(low < top);
    uint64_t spread = (middle << 32) - middle; /* 2^64 = 2^32 - 1 */
    uint64_t s = r + spread;
    s += 0xffffffff & sotto_ct_mask(s < spread);
    return sotto_f64_from(s);
}

static inline sotto_f64 sotto_f64_mul(sotto_f64 a, sotto_f64 weight)
{
    return sotto_f64_reduce(sotto_mul_wide(a.v, weight.v));
}

static inline sotto_f64 sotto_f64_to_weight(sotto_f64 a)
{
    return a;
}

static inline sotto_f64 sotto_f64_one(void)
{
    return (sotto_f64){1};
}

static inline sotto_f64 sotto_f64_one_weight(void)
{
    return (sotto_f64){1};
}

static inline sotto_f64 sotto_f64_mask(sotto_f64 a, uint64_t mask)
{
    return (sotto_f64){a.v & mask};
}

static inline uint64_t sotto_f64_equal(sotto_f64 a, sotto_f64 b)
{
    return sotto_ct_equal(a.v, b.v);
}

/* Sums of products, reduced once: room for 2^64 of them. */
typedef struct sotto_f64_acc {
    sotto_u128 low;
    uint64_t high;
} sotto_f64_acc;

static inline void sotto_f64_acc_mul(sotto_f64_acc *acc, sotto_f64 a, sotto_f64 weight)
{
    sotto_u128 product = sotto_mul_wide(a.v, weight.v);

    acc->low += product;
    acc->high += acc->low < product;
}

static inline sotto_f64 sotto_f64_acc_reduce(const sotto_f64_acc *acc)
{
    /* 2^128 = -2^32 */
    sotto_f64 low = sotto_f64_reduce(acc->low);
    sotto_f64 high = sotto_f64_reduce((sotto_u128)acc->high << 32);

    return sotto_f64_sub(low, high);
}

/* Sums of elements, reduced once. */
typedef struct sotto_f64_sum {
    sotto_u128 v;
} sotto_f64_sum;

static inline void sotto_f64_sum_add(sotto_f64_sum *sum, sotto_f64 a)
{
    sum->v += a.v;
}

static inline sotto_f64 sotto_f64_sum_reduce(const sotto_f64_sum *sum)
{
    return sotto_f64_reduce(sum->v);
}

/* The element is its own top; see math/field128.h. */
static inline uint64_t sotto_f64_top(const uint8_t *at)
{
    return sotto_load64(at);
}

/* 1 if the element encoded at `at` is below p, else 0; adds nothing to the running time. */
static inline uint64_t sotto_f64_is_canonical(const uint8_t *at)
{
    return sotto_load64(at) < SOTTO_F64_P;
}

sotto_f64 sotto_f64_pow(sotto_f64 a, uint64_t exponent); /* time depends on the exponent alone */
sotto_f64 sotto_f64_inv(sotto_f64 a);
/* A principal root of unity of order 2^log, 0 <= log <= SOTTO_F64_ROOT_LOG. */
sotto_f64 sotto_f64_root(unsigned log);

#endif
