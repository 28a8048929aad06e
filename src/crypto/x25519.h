/* crypto/x25519.h - many X25519 at a time, one in each lane of a vector register (RFC 7748, 5).
 *
 * Callers:  crypto/agree_many; tests and benchmarks choose a set of instructions by name.
 * Memory:   nothing is allocated; outputs belong to the caller.
 * Threads:  the choice is made once and is safe from any thread; sotto_x25519_use is for programs that run nothing else
 *           meanwhile.
 * Secrets:  scalars and outputs. Time depends on the count only. What was computed is wiped, but for the outputs.
 *
 * All sets give the bytes that the crypto library gives, for every string of 32 bytes as a point. The highest bit is
 * ignored, and numbers from the modulus on are reduced. A point of small order gives zeros, which the caller
 * refuses.
 */
#ifndef SOTTO_CRYPTO_X25519_H
#define SOTTO_CRYPTO_X25519_H

#include "sotto/base.h"

enum { SOTTO_X25519_SIZE = 32, SOTTO_X25519_MAX_LANES = 8 };

typedef struct sotto_x25519_lanes {
    const char *name;
    size_t lanes;
    size_t least; /* fewer than this are faster one by one in the crypto library */
    /* out[i] = X25519(scalars[i], points[i]) for each lane. Outputs are written last: they may be inputs. NULL: none. */
    void (*multiply)(uint8_t *const *out, const uint8_t *const *scalars,
                     const uint8_t *const *points);
} sotto_x25519_lanes;

/* Computes out[i] = X25519(scalars[i], points[i]) for the first ones and says for how many: those left over are too few
 * to fill lanes, or all if this machine has none. The same scalar or point may stand in several places. */
SOTTO_MUST_USE size_t sotto_x25519_many(uint8_t *const *out, const uint8_t *const *scalars,
                                        const uint8_t *const *points, size_t count);

/* "ifma" (AVX-512 with its 52-bit multiplier, eight lanes), "avx2" (four), "none"; NULL returns to the best. False: not
 * on this machine. */
SOTTO_MUST_USE bool sotto_x25519_use(const char *name);
const char *sotto_x25519_name(void);

/* ---- the members --------------------------------------------------------------------------------- */

extern const sotto_x25519_lanes sotto_x25519_ifma, sotto_x25519_avx2;

#endif
