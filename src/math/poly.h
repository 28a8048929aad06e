/* math/poly.h - polynomials given by their values at powers of a root of unity.
 *
 * Callers:  vdaf/ proves and queries with them.
 * Memory:   tables and vectors are the caller's; nothing is allocated.
 * Secrets:  values and points; time depends on sizes only.
 *
 * One set of functions for each field, from poly_template.h. n is always a power of two, 2^log.
 */
#ifndef SOTTO_MATH_POLY_H
#define SOTTO_MATH_POLY_H

#include "math/field128.h"
#include "math/field64.h"
#include "math/field_small.h"

#include <stddef.h>

/* The log of the smallest n that has room for x values. */
static inline unsigned sotto_log_of_next_power(size_t x)
{
    unsigned log = 0;

    while (((size_t)1 << log) < x)
        log++;
    return log;
}

#define SOTTO_POLY_FUNCTIONS(F, element)                                                             \
    /* roots[k] = w^k as a weight, k below n. */                                                     \
    void F##_roots(element *roots, unsigned log);                                                    \
    /* In place: values at w_n^k become coefficients in bit-reversed order, times n. */              \
    void F##_to_coefficients(element *v, unsigned log, const element *roots);                        \
    /* In place: coefficients in bit-reversed order become values at w_n^k. */                       \
    void F##_to_values(element *v, unsigned log, const element *roots);                              \
    /* shift[k] turns the k-th coefficient that to_coefficients leaves into one whose values at    \
     * w_n^k are the polynomial's values at w_2n^(2k+1). */ \
    void F##_odd_shift(element *shift, unsigned log);                                                \
    /* In place: values at w_n^k become values at w_2n^(2k+1). */                                    \
    void F##_to_odd_values(element *v, unsigned log, const element *roots, const element *shift);    \
    /* The Lagrange factors of point t that n values share with their n/2^step_log sub-grid:       \
     *   out[k] = prod_{s < log - step_log} (1 + t^(2^s) * w_n^(-k 2^s)), a weight, k below n;     \
     * so a polynomial with values y on the sub-grid of m = n >> step_log points, every 2^step_log \
     * -th, is (1/m) * sum_k out[k << step_log] * y[k] at t. Returns t^m, a weight. */ \
    element F##_factors(element *out, unsigned log, unsigned step_log, element t_weight,             \
                        const element *roots);                                                       \
    /* The value at w^(n-1) of a polynomial of degree n-2, from the others: its top coefficient is \
     * zero, so w^(n-1) * sum_k y_k w^k = 0. y has n-1 encoded elements. */ \
    element F##_last_value(const uint8_t *y, unsigned log, const element *roots);                    \
    /* Extends the first `known` values of a polynomial of degree below `known` to all n. */         \
    void F##_extend(element *y, size_t known, unsigned log, const element *roots);

SOTTO_POLY_FUNCTIONS(sotto_f64, sotto_f64)
SOTTO_POLY_FUNCTIONS(sotto_f128, sotto_f128)
SOTTO_POLY_FUNCTIONS(sotto_f32, sotto_f32)
SOTTO_POLY_FUNCTIONS(sotto_f40, sotto_f40)

/* Several vectors one after the other: values at w_n^k of each become values at w_2n^(2k+1). */
#ifndef __OPTIMIZE_SIZE__

enum { SOTTO_POLY_SEVERAL = 4 };

/* Machines with vectors of numbers take up to four side by side, and want room for it: so many elements, prepared once for these
 * roots and this shift. */
#define SOTTO_POLY_SEVERAL_FUNCTIONS(F, element)                                                   \
    size_t F##_several_room(unsigned log);                                                         \
    void F##_several_prepare(element *room, unsigned log, const element *roots,                    \
                             const element *shift);                                                \
    void F##_several_to_odd_values(element *v, size_t count, unsigned log, const element *roots,   \
                                   const element *shift, element *room);
#else

/* What is built for size takes one after the other: libsotto-device has no room for more. */
enum { SOTTO_POLY_SEVERAL = 2 };

#define SOTTO_POLY_SEVERAL_FUNCTIONS(F, element)                                                   \
    static inline size_t F##_several_room(unsigned log)                                            \
    {                                                                                              \
        (void)log;                                                                                 \
        return 0;                                                                                  \
    }                                                                                              \
    static inline void F##_several_prepare(element *room, unsigned log, const element *roots,      \
                                           const element *shift)                                   \
    {                                                                                              \
        (void)room;                                                                                \
        (void)log;                                                                                 \
        (void)roots;                                                                               \
        (void)shift;                                                                               \
    }                                                                                              \
    static inline void F##_several_to_odd_values(element *v, size_t count, unsigned log,           \
                                                 const element *roots, const element *shift,       \
                                                 element *room)                                    \
    {                                                                                              \
        (void)room;                                                                                \
        for (size_t i = 0; i < count; i++)                                                         \
            F##_to_odd_values(v + (i << log), log, roots, shift);                                  \
    }
#endif

SOTTO_POLY_SEVERAL_FUNCTIONS(sotto_f64, sotto_f64)
SOTTO_POLY_SEVERAL_FUNCTIONS(sotto_f128, sotto_f128)

#endif
