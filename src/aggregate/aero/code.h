/* aggregate/aero/code.h - points of a polynomial of low degree, some of which may be wrong: Reed and Solomon's code over a prime.
 *
 * Callers:  robust_open.c, hand_over.c.
 * Memory:   scratch is the caller's.
 * Secrets:  none: every value was published. Time depends on all of them.
 */
#ifndef SOTTO_AGGREGATE_AERO_CODE_H
#define SOTTO_AGGREGATE_AERO_CODE_H

#include "sotto/base.h"

#include <stdbool.h>

typedef struct sotto_code {
    uint64_t p;        /* a prime                                                     */
    const uint64_t *x; /* points, below p, which differ                               */
    size_t count;      /* of them                                                     */
    size_t threshold;  /* coefficients of the polynomial: so many points determine it */
} sotto_code;

uint64_t sotto_code_mul(const sotto_code *code, uint64_t a, uint64_t b);

/* weights[j] such that f(at) is the sum of weights[j] f(x[from[j]]), for `threshold` points. */
void sotto_code_weights_vartime(const sotto_code *code, uint64_t *weights, const uint32_t *from,
                                uint64_t at);

/* Sets bad[i] where y[i] is not on the polynomial that all but (count - threshold) / 2 of the points at most are on (Berlekamp and
 * Welch 1986). What was set before stays so.
 *   SOTTO_REJECTED  there is no such polynomial */
SOTTO_MUST_USE sotto_status sotto_code_locate_vartime(const sotto_code *code, bool *bad,
                                                      const uint64_t *y, sotto_arena *scratch,
                                                      sotto_err *err);

#endif
