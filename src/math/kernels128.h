/* math/kernels128.h - the long loops over Field128, in the best way this machine offers.
 *
 * Callers:  the functions of this room that they stand behind (each names its contract); tests and
 *           benchmarks choose a set by name.
 * Threads:  the choice is made once and is safe from any thread; sotto_f128_use is for programs that run
 *           nothing else meanwhile.
 * Secrets:  elements. Time depends on counts only, in every set.
 *
 * All sets give the same bytes.
 */
#ifndef SOTTO_MATH_KERNELS128_H
#define SOTTO_MATH_KERNELS128_H

#include "math/field128.h"
#include "sotto/base.h"

/* Rows whose power sums the kernel for AVX-512 works on together, at most. */
enum { SOTTO_F128_POWER_SUMS_GROUP = 384 };

typedef struct sotto_f128_kernels {
    const char *name;
    /* May other rooms run code for AVX-512 with its 52-bit multiplier (lanes128_ifma.h)? */
    bool ifma;
    /* As in math/power_sums.h. */
    void (*power_sums)(sotto_f128 *out, sotto_f128 *sum, const uint8_t *m, size_t count,
                       size_t width, const sotto_f128 *f, const sotto_f128 *r, sotto_f128 *scratch);
    /* As in math/vectors.h. */
    void (*vectors_add)(uint8_t *total, size_t len, const uint8_t *const *others, size_t count);
    /* One level of factors in math/poly.h: with half = 2^log / 2^(s+1), for k below half,
     *   out[k], out[k + half] = out[k] * (1 + u), out[k] * (1 - u)  where u = power * w^(-k 2^s). */
    void (*factor_level)(sotto_f128 *out, unsigned log, unsigned s, sotto_f128 power,
                         const sotto_f128 *roots);
} sotto_f128_kernels;

const sotto_f128_kernels *sotto_f128_best(void);

/* "portable", "avx2", "ifma" (AVX-512 with its 52-bit multiplier); NULL returns to the best. False: not
 * on this machine. */
SOTTO_MUST_USE bool sotto_f128_use(const char *name);

/* ---- the members --------------------------------------------------------------------------------- */

void sotto_f128_power_sums_portable(sotto_f128 *out, sotto_f128 *sum, const uint8_t *m,
                                    size_t count, size_t width, const sotto_f128 *f,
                                    const sotto_f128 *r, sotto_f128 *scratch);
void sotto_f128_power_sums_ifma(sotto_f128 *out, sotto_f128 *sum, const uint8_t *m, size_t count,
                                size_t width, const sotto_f128 *f, const sotto_f128 *r,
                                sotto_f128 *scratch);
void sotto_f128_power_sums_avx2(sotto_f128 *out, sotto_f128 *sum, const uint8_t *m, size_t count,
                                size_t width, const sotto_f128 *f, const sotto_f128 *r,
                                sotto_f128 *scratch);
void sotto_f128_vectors_add_portable(uint8_t *total, size_t len, const uint8_t *const *others,
                                     size_t count);
void sotto_f128_vectors_add_avx2(uint8_t *total, size_t len, const uint8_t *const *others,
                                 size_t count);
void sotto_f128_vectors_add_ifma(uint8_t *total, size_t len, const uint8_t *const *others,
                                 size_t count);
void sotto_f128_factor_level_portable(sotto_f128 *out, unsigned log, unsigned s, sotto_f128 power,
                                      const sotto_f128 *roots);
void sotto_f128_factor_level_ifma(sotto_f128 *out, unsigned log, unsigned s, sotto_f128 power,
                                  const sotto_f128 *roots);

#endif
