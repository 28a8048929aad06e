/* crypto/group_wide.h - points in their long form, other generators, and products of two bases.
 *
 * Callers:  aggregate/shared. Apart from crypto/group.h, since devices that only present tokens need none of it.
 * Secrets:  as in crypto/group.h.
 *
 * A compressed point costs a square root to read. Thousands of points a round are sent in 65 bytes instead.
 */
#ifndef SOTTO_CRYPTO_GROUP_WIDE_H
#define SOTTO_CRYPTO_GROUP_WIDE_H

#include "crypto/group.h"

enum { SOTTO_P256_WIDE = 65 };

/* Uncompressed form of P-256 (SEC 1, 2.3.3). False: no such point, or the identity. */
SOTTO_MUST_USE bool sotto_point_decode_wide(sotto_group *g, sotto_point *out,
                                            const uint8_t bytes[SOTTO_P256_WIDE]);
/* False: the identity, which has no encoding here; out is then zero. */
SOTTO_MUST_USE bool sotto_point_encode_wide(sotto_group *g, uint8_t out[SOTTO_P256_WIDE],
                                            const sotto_point *p);

/* A group of the same curve in which NULL stands for `generator`. Points of both groups go together. Clear as any group. */
SOTTO_MUST_USE sotto_status sotto_group_init_at(sotto_group *g, const sotto_curve *curve,
                                                const sotto_point *generator, sotto_err *err);

/* Makes a table, once, after which multiples of that generator cost as little as those of the usual one. It takes as long
 * as thousands of multiplications. */
SOTTO_MUST_USE sotto_status sotto_group_prepare(sotto_group *g, sotto_err *err);

/* out = a generator + b p. */
void sotto_point_multiply_both(sotto_group *g, sotto_point *out, const sotto_scalar *a,
                               const sotto_scalar *b, const sotto_point *p);
void sotto_point_set_identity(sotto_group *g, sotto_point *out);
void sotto_point_copy(sotto_group *g, sotto_point *out, const sotto_point *p);
void sotto_scalar_negate(sotto_group *g, sotto_scalar *out, const sotto_scalar *a);

#endif
