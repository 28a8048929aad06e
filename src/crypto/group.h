/* crypto/group.h - the groups of P-256 and P-384: scalars, points, and hashing to both (RFC 9380).
 *
 * Callers:  seal/token.
 * Memory:   a group holds objects of the crypto library until it is cleared; so does each point until it is freed. Scalars
 *           are plain values.
 * Threads:  a group has scratch numbers of its own: one thread at a time. Points belong to no group's thread.
 * Secrets:  scalars, unless they are on the wire; wipe them. Multiplication and arithmetic take the same time over all
 *           scalars below the order; what does not ends in _vartime.
 *
 * Operations remember the first failure of the crypto library, as a reader remembers its first short read: a computation is
 * checked once, at its end, by sotto_group_finish. What it computed before that must not be used.
 */
#ifndef SOTTO_CRYPTO_GROUP_H
#define SOTTO_CRYPTO_GROUP_H

#include "sotto/base.h"

enum { SOTTO_SCALAR_MAX = 48, SOTTO_POINT_MAX = 49, SOTTO_P256_SCALAR = 32, SOTTO_P256_POINT = 33 };

typedef struct sotto_curve sotto_curve;
extern const sotto_curve sotto_p256, sotto_p384;

/* Below the order, big endian, in the first bytes of it; the rest is not looked at. */
typedef struct sotto_scalar {
    uint8_t be[SOTTO_SCALAR_MAX];
} sotto_scalar;

typedef struct ec_point_st sotto_point;

typedef struct sotto_group {
    size_t scalar_size;  /* bytes of an encoded scalar: 32 or 48          */
    size_t point_size;   /* bytes of an encoded point, which is one more  */
    uint64_t multiplied; /* points by scalars, so far: what benchmarks count ... */
    uint64_t decoded;    /* ... and points from their bytes                      */
    const sotto_curve *curve;
    struct ec_group_st *ec;
    struct bignum_ctx *numbers;
    struct bn_mont_ctx_st *modulo_order;
    bool failed;
} sotto_group;

/* SOTTO_NO_MEMORY: the crypto library failed. Clear after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_group_init(sotto_group *g, const sotto_curve *curve,
                                             sotto_err *err);
void sotto_group_clear(sotto_group *g);
/* SOTTO_NO_MEMORY if anything failed since the last call, or since init. */
SOTTO_MUST_USE sotto_status sotto_group_finish(sotto_group *g, sotto_err *err);

/* ---- scalars ------------------------------------------------------------------------------------------------ */

/* From fixed-width bytes. False: not below the order, and out is zero. */
SOTTO_MUST_USE bool sotto_scalar_decode(const sotto_group *g, sotto_scalar *out,
                                        const uint8_t *bytes);
void sotto_scalar_set(const sotto_group *g, sotto_scalar *out, uint32_t value);
/* count uniform ones from 1 to the order less 1; all zero after a failure, which is the generator's. */
SOTTO_MUST_USE sotto_status sotto_scalar_random(const sotto_group *g, sotto_scalar *out,
                                                size_t count, sotto_err *err);
/* out may be an operand. */
void sotto_scalar_add(sotto_group *g, sotto_scalar *out, const sotto_scalar *a,
                      const sotto_scalar *b);
void sotto_scalar_subtract(sotto_group *g, sotto_scalar *out, const sotto_scalar *a,
                           const sotto_scalar *b);
void sotto_scalar_multiply(sotto_group *g, sotto_scalar *out, const sotto_scalar *a,
                           const sotto_scalar *b);
/* Zero has none and gives zero. */
void sotto_scalar_invert(sotto_group *g, sotto_scalar *out, const sotto_scalar *a);
/* Any number of bytes, big endian. */
void sotto_scalar_reduce_vartime(sotto_group *g, sotto_scalar *out, sotto_bytes wide);
/* hash_to_field with one element modulo the order; the message comes in parts. dst has at most 255 bytes. */
void sotto_scalar_hash_vartime(sotto_group *g, sotto_scalar *out, sotto_bytes dst,
                               const sotto_bytes *message, size_t parts);

/* ---- points ------------------------------------------------------------------------------------------------- */

/* NULL is a failure that the group remembers, and every operation on it is harmless. */
sotto_point *sotto_point_new(sotto_group *g);
/* Wipes; NULL is fine. */
void sotto_point_free(sotto_point *p);
/* Compressed form (SEC 1, 2.3.3), fixed width. False: no such point, or the identity. */
SOTTO_MUST_USE bool sotto_point_decode(sotto_group *g, sotto_point *out, const uint8_t *bytes);
/* False: the identity, which has no encoding here; out is then zero. */
SOTTO_MUST_USE bool sotto_point_encode(sotto_group *g, uint8_t *out, const sotto_point *p);
/* out = k p; p may be NULL for the generator. */
void sotto_point_multiply(sotto_group *g, sotto_point *out, const sotto_scalar *k,
                          const sotto_point *p);
/* out += k p; as above. */
void sotto_point_multiply_add(sotto_group *g, sotto_point *out, const sotto_scalar *k,
                              const sotto_point *p);
void sotto_point_add(sotto_group *g, sotto_point *out, const sotto_point *a, const sotto_point *b);
void sotto_point_subtract(sotto_group *g, sotto_point *out, const sotto_point *a,
                          const sotto_point *b);
SOTTO_MUST_USE bool sotto_point_equal_vartime(sotto_group *g, const sotto_point *a,
                                              const sotto_point *b);
/* hash_to_curve, suites P256_XMD:SHA-256_SSWU_RO_ and P384_XMD:SHA-384_SSWU_RO_. dst has at most 255 bytes. */
void sotto_point_hash_vartime(sotto_group *g, sotto_point *out, sotto_bytes dst,
                              const sotto_bytes *message, size_t parts);

#endif
