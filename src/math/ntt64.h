/* math/ntt64.h - number-theoretic transforms over Field64, in the best way this machine offers.
 *
 * Callers:  math/poly64.c for the polynomials of proofs; aggregate/aero for its ring.
 * Memory:   nothing is allocated; vectors and tables are the caller's.
 * Threads:  the choice is made once and is safe from any thread; sotto_ntt64_use is for programs that run nothing else
 *           meanwhile.
 * Secrets:  elements. Time depends on sizes only, in every set.
 *
 * A transform splits x^2t - z^2 into x^t - z and x^t + z until t is 1, so a whole block of butterflies shares one factor z. Factors
 * are in the order of blocks. A cyclic transform of n points needs w^rev(i) for i below n/2, whatever the stage. A negacyclic one
 * needs psi^rev(i) at place i from 1 to n - 1. All sets of kernels give the same bytes.
 */
#ifndef SOTTO_MATH_NTT64_H
#define SOTTO_MATH_NTT64_H

#include "math/field64.h"
#include "sotto/base.h"

typedef struct sotto_ntt64 {
    const char *name;
    /* Between begin and finish the elements are in a form of the set's own. */
    void (*begin)(sotto_f64 *v, size_t n);
    /* `count` blocks of 2t elements, one after the other, block i with factor z[i]:
     *   forward: a, b become a + z b, a - z b    inverse: a, b become a + b, z (a - b) */
    void (*forward)(sotto_f64 *v, size_t t, const sotto_f64 *z, size_t count);
    void (*inverse)(sotto_f64 *v, size_t t, const sotto_f64 *z, size_t count);
    void (*finish)(sotto_f64 *v, size_t n);
    /* out[k] = a[k] b[k]; out may be a or b. n is a multiple of 4. */
    void (*multiply)(sotto_f64 *out, const sotto_f64 *a, const sotto_f64 *b, size_t n);
} sotto_ntt64;

const sotto_ntt64 *sotto_ntt64_best(void);
/* "portable" or "avx2"; NULL returns to the best. False: not on this machine. */
SOTTO_MUST_USE bool sotto_ntt64_use(const char *name);

/* Cyclic transforms, as to_coefficients and to_values in math/poly.h; roots[k] = w^k for k below n = 2^log. */
void sotto_ntt64_cyclic_forward(sotto_f64 *v, unsigned log, const sotto_f64 *roots);
void sotto_ntt64_cyclic_inverse(sotto_f64 *v, unsigned log, const sotto_f64 *roots);

/* Multiplication modulo x^n + 1 is multiplication of what `forward` makes, followed by `inverse`, which leaves a factor n.
 * factors and inverses have n places each; the first is not used. */
void sotto_ntt64_negacyclic_factors(sotto_f64 *factors, sotto_f64 *inverses, unsigned log);
void sotto_ntt64_negacyclic_forward(sotto_f64 *v, unsigned log, const sotto_f64 *factors);
void sotto_ntt64_negacyclic_inverse(sotto_f64 *v, unsigned log, const sotto_f64 *inverses);

extern const sotto_ntt64 sotto_ntt64_portable;
extern const sotto_ntt64 sotto_ntt64_avx2;

#endif
