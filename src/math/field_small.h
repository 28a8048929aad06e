/* math/field_small.h - prime fields below 2^40, with the names that math/field64.h has.
 *
 * PINE's published test vectors use two of them. They are for those vectors: nothing here is tuned for speed.
 * Elements are canonical between calls, and a weight is the element itself.
 *
 * SOTTO_SMALL_FIELD(F, p, size) defines the field F of p elements, each encoded in `size` bytes. A product is reduced by
 * Barrett's method: its quotient estimate is at most two too small, so two conditional subtractions do.
 */
#ifndef SOTTO_MATH_FIELD_SMALL_H
#define SOTTO_MATH_FIELD_SMALL_H

#include "math/ct.h"
#include "math/wide.h"

#include <stdbool.h>
#include <stddef.h>

/* x below 2^80 modulo a p of 32 to 40 bits; mu is floor(2^80 / p). */
static inline uint64_t sotto_small_reduce(sotto_u128 x, uint64_t p, uint64_t mu)
{
    uint64_t estimate = (uint64_t)(((x >> 31) * mu) >> 49);
    uint64_t r = (uint64_t)(x - (sotto_u128)estimate * p);

    r -= p & ~sotto_ct_less(r, p);
    return r - (p & ~sotto_ct_less(r, p));
}

/* Any x, 32 bits at a time from the top. */
static inline uint64_t sotto_small_reduce_wide(sotto_u128 x, uint64_t p, uint64_t mu)
{
    uint64_t r = 0;

    for (unsigned shift = 128; shift > 0;) {
        shift -= 32;
        r = sotto_small_reduce((sotto_u128)r << 32 | (uint32_t)(x >> shift), p, mu);
    }
    return r;
}

#define SOTTO_SMALL_FIELD(F, P, size)                                                              \
    typedef struct F {                                                                             \
        uint64_t v;                                                                                \
    } F;                                                                                           \
    typedef struct F##_acc {                                                                       \
        sotto_u128 v;                                                                              \
    } F##_acc;                                                                                     \
    typedef struct F##_sum {                                                                       \
        sotto_u128 v;                                                                              \
    } F##_sum;                                                                                     \
    static inline F F##_zero(void)                                                                 \
    {                                                                                              \
        return (F){0};                                                                             \
    }                                                                                              \
    static inline F F##_one(void)                                                                  \
    {                                                                                              \
        return (F){1};                                                                             \
    }                                                                                              \
    static inline F F##_one_weight(void)                                                           \
    {                                                                                              \
        return (F){1};                                                                             \
    }                                                                                              \
    static inline F F##_reduce(sotto_u128 x)                                                       \
    {                                                                                              \
        return (F){sotto_small_reduce_wide(x, P, (uint64_t)(((sotto_u128)1 << 80) / (P)))};        \
    }                                                                                              \
    static inline F F##_from(uint64_t x)                                                           \
    {                                                                                              \
        return F##_reduce(x);                                                                      \
    }                                                                                              \
    static inline F F##_load(const uint8_t *at)                                                    \
    {                                                                                              \
        uint64_t v = 0;                                                                            \
        for (size_t i = (size); i-- > 0;)                                                          \
            v = v << 8 | at[i];                                                                    \
        return (F){v};                                                                             \
    }                                                                                              \
    static inline void F##_store(uint8_t *at, F a)                                                 \
    {                                                                                              \
        for (size_t i = 0; i < (size); i++)                                                        \
            at[i] = (uint8_t)(a.v >> (8 * i));                                                     \
    }                                                                                              \
    static inline F F##_add(F a, F b)                                                              \
    {                                                                                              \
        uint64_t sum = a.v + b.v;                                                                  \
        return (F){sum - ((P) & ~sotto_ct_less(sum, P))};                                          \
    }                                                                                              \
    static inline F F##_sub(F a, F b)                                                              \
    {                                                                                              \
        return (F){a.v - b.v + ((P)&sotto_ct_mask(a.v < b.v))};                                    \
    }                                                                                              \
    static inline F F##_neg(F a)                                                                   \
    {                                                                                              \
        return F##_sub(F##_zero(), a);                                                             \
    }                                                                                              \
    static inline F F##_mul(F a, F weight)                                                         \
    {                                                                                              \
        return (F){sotto_small_reduce(sotto_mul_wide(a.v, weight.v), P,                            \
                                      (uint64_t)(((sotto_u128)1 << 80) / (P)))};                   \
    }                                                                                              \
    static inline F F##_to_weight(F a)                                                             \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    static inline F F##_mask(F a, uint64_t mask)                                                   \
    {                                                                                              \
        return (F){a.v & mask};                                                                    \
    }                                                                                              \
    static inline uint64_t F##_equal(F a, F b)                                                     \
    {                                                                                              \
        return sotto_ct_equal(a.v, b.v);                                                           \
    }                                                                                              \
    static inline void F##_acc_mul(F##_acc *acc, F a, F weight)                                    \
    {                                                                                              \
        acc->v += sotto_mul_wide(a.v, weight.v);                                                   \
    }                                                                                              \
    static inline F F##_acc_reduce(const F##_acc *acc)                                             \
    {                                                                                              \
        return F##_reduce(acc->v);                                                                 \
    }                                                                                              \
    static inline void F##_sum_add(F##_sum *sum, F a)                                              \
    {                                                                                              \
        sum->v += a.v;                                                                             \
    }                                                                                              \
    static inline F F##_sum_reduce(const F##_sum *sum)                                             \
    {                                                                                              \
        return F##_reduce(sum->v);                                                                 \
    }                                                                                              \
    static inline uint64_t F##_is_canonical(const uint8_t *at)                                     \
    {                                                                                              \
        return F##_load(at).v < (P);                                                               \
    }                                                                                              \
    F F##_inv(F a);                                                                                \
    F F##_root(unsigned log);

#define SOTTO_F32_P UINT64_C(4293918721)
#define SOTTO_F40_P UINT64_C(1099489607681)

enum { SOTTO_F32_SIZE = 4, SOTTO_F40_SIZE = 5, SOTTO_SMALL_ROOT_LOG = 20 };

/* clang-format off */
SOTTO_SMALL_FIELD(sotto_f32, SOTTO_F32_P, 4)
SOTTO_SMALL_FIELD(sotto_f40, SOTTO_F40_P, 5)
/* clang-format on */

#endif
