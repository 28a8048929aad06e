/* math/limb.h - transforms and products modulo a prime of at most 46 bits: the second factor of a ring's modulus.
 *
 * Callers:  aggregate/aero.
 * Memory:   tables are the caller's.
 * Secrets:  residues. Time depends on sizes only, in every set of kernels, which all give the same numbers.
 *
 * A factor w is kept with floor(w 2^shift / p) (Shoup's method): the product b w is then right modulo p and below 2p, for any b
 * below 2^shift. Primes below 2^26 use a shift of 32, which suits AVX2; others one of 64. Residues are canonical between calls.
 */
#ifndef SOTTO_MATH_LIMB_H
#define SOTTO_MATH_LIMB_H

#include "math/ct.h"
#include "math/wide.h"
#include "sotto/base.h"

enum { SOTTO_LIMB_MOST_LOG = 13 }; /* of the size of a transform */

typedef struct sotto_limb {
    uint64_t p, mu; /* mu = floor(2^(2 bits) / p) */
    unsigned bits, shift, log;
    uint64_t one;                             /* floor(2^shift / p)                           */
    const uint64_t *factors, *factors_over;   /* psi^rev(i) at i from 1 on, and over p        */
    const uint64_t *inverses, *inverses_over; /* psi^-rev(i)                                  */
} sotto_limb;

/* p is prime, 2^(log+1) divides p - 1, and psi is a root of unity of exactly that order. The tables go to the arena. */
SOTTO_MUST_USE sotto_status sotto_limb_init(sotto_limb *limb, uint64_t p, uint64_t psi,
                                            unsigned log, sotto_arena *arena, sotto_err *err);

/* a b, for residues. */
static inline uint64_t sotto_limb_mul(const sotto_limb *limb, uint64_t a, uint64_t b)
{
    sotto_u128 x = sotto_mul_wide(a, b);
    sotto_u128 quotient = ((x >> (limb->bits - 1)) * limb->mu) >> (limb->bits + 1);
    uint64_t r = (uint64_t)(x - quotient * limb->p); /* the quotient is at most two too small */

    r -= limb->p & ~sotto_ct_less(r, limb->p);
    return r - (limb->p & ~sotto_ct_less(r, limb->p));
}

uint64_t sotto_limb_pow(const sotto_limb *limb, uint64_t a, uint64_t exponent);
/* x below 2^63, modulo p. */
uint64_t sotto_limb_from(const sotto_limb *limb, uint64_t x);

/* As in math/ntt64.h: inverse leaves a factor 2^log. */
void sotto_limb_forward(const sotto_limb *limb, uint64_t *v);
void sotto_limb_inverse(const sotto_limb *limb, uint64_t *v);

/* "portable" or "avx2"; NULL returns to the best. False: not on this machine. */
SOTTO_MUST_USE bool sotto_limb_use(const char *name);

/* Kernels for primes with a shift of 32. Forward: any numbers below 2^32 grow by 2p at most. Inverse: numbers below 2p stay so.
 * finish: numbers below 2^32 become canonical. */
typedef struct sotto_limb_kernels {
    const char *name;
    void (*forward)(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                    uint64_t p);
    void (*inverse)(uint64_t *v, size_t t, const uint64_t *z, const uint64_t *over, size_t count,
                    uint64_t p);
    void (*finish)(uint64_t *v, size_t n, uint64_t one, uint64_t p);
} sotto_limb_kernels;

extern const sotto_limb_kernels sotto_limb_avx2;

#endif
