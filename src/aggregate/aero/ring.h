/* aggregate/aero/ring.h - polynomials modulo x^4096 + 1 and q, where q is one prime or the product of two.
 *
 * Callers:  the other files of this folder.
 * Memory:   a ring's tables are in the arena given at set-up; polynomials are the caller's.
 * Threads:  a ring never changes after set-up and may be shared.
 * Secrets:  polynomials. Time depends on nothing but the ring; what ends in _vartime is for public values.
 *
 * The first prime is that of Field64, so proofs speak of residues modulo it without translation.
 */
#ifndef SOTTO_AGGREGATE_AERO_RING_H
#define SOTTO_AGGREGATE_AERO_RING_H

#include "aggregate/aero/parameters.h"
#include "math/limb.h"
#include "math/ntt64.h"

/* Residues modulo the two primes; the second half is all zeros in a ring of one. */
typedef struct sotto_aero_poly {
    sotto_f64 first[SOTTO_AERO_N];
    uint64_t second[SOTTO_AERO_N];
} sotto_aero_poly;

typedef struct sotto_aero_ring {
    const sotto_aero_set *set;
    const sotto_f64 *factors, *inverses;
    sotto_limb second; /* where the set has one */
    sotto_u128 q;
    sotto_f64 part;         /* 1/4096 modulo the first prime   */
    uint64_t part_second;   /* ... and modulo the second       */
    uint64_t first_inverse; /* 1/p modulo the second prime     */
} sotto_aero_ring;

enum { SOTTO_AERO_RING_MEMORY = 256 * 1024 }; /* of an arena, at most */

SOTTO_MUST_USE sotto_status sotto_aero_ring_init(sotto_aero_ring *ring, const sotto_aero_set *set,
                                                 sotto_arena *arena, sotto_err *err);

/* What came out of sotto_aero_transform, and nothing else, goes into a product. */
void sotto_aero_transform(const sotto_aero_ring *ring, sotto_aero_poly *v);
/* The second kind of factor, made once and used often: transformed, over 4096. */
void sotto_aero_transform_over(const sotto_aero_ring *ring, sotto_aero_poly *v);
/* out = a b in coefficients, from transformed a and b, of which exactly one is over 4096. out may be a. */
void sotto_aero_product(const sotto_aero_ring *ring, sotto_aero_poly *out, const sotto_aero_poly *a,
                        const sotto_aero_poly *b);

void sotto_aero_add(const sotto_aero_ring *ring, sotto_aero_poly *sum, const sotto_aero_poly *more);
void sotto_aero_subtract(const sotto_aero_ring *ring, sotto_aero_poly *from,
                         const sotto_aero_poly *less);
/* v += x, for coefficients |x[k]| < 2^62. */
void sotto_aero_add_small(const sotto_aero_ring *ring, sotto_aero_poly *v, const int64_t *x);
/* v += c x, for a constant given by its residues. */
void sotto_aero_add_scaled(const sotto_aero_ring *ring, sotto_aero_poly *v, sotto_f64 c,
                           uint64_t c_second, const int64_t *x);
/* v *= c. */
void sotto_aero_scale(const sotto_aero_ring *ring, sotto_aero_poly *v, sotto_f64 c,
                      uint64_t c_second);

/* Coefficient k as a number from 0 to q - 1. */
sotto_u128 sotto_aero_lift(const sotto_aero_ring *ring, const sotto_aero_poly *v, size_t k);

/* A number below q by its residues. */
void sotto_aero_residues(const sotto_aero_ring *ring, sotto_u128 x, sotto_f64 *first,
                         uint64_t *second);

#endif
