/* crypto/ed25519.h - Ed25519 verification in lanes: one signature in each lane of a vector register (RFC 8032, 5.1.7).
 *
 * Callers:  crypto/signature; tests choose a set of instructions by name, or bring one of their own.
 * Memory:   nothing is allocated.
 * Threads:  the choice is made once and is safe from any thread; sotto_ed25519_use is for programs that run nothing else
 *           meanwhile.
 * Secrets:  none. Keys, signatures and texts are public, and time depends on them.
 *
 * Each signature is judged by itself, without the cofactor: R is the encoding of s B - h A, byte for byte. So an R that is
 * encoded otherwise never holds, s is below the group's order, and A is any encoding of any point. That is what the
 * crypto library accepts, no more and no less (docs/decisions/0330). Keys of small order are sotto_signatures_check's to
 * refuse.
 */
#ifndef SOTTO_CRYPTO_ED25519_H
#define SOTTO_CRYPTO_ED25519_H

#include "crypto/signature.h"

enum { SOTTO_ED25519_SIZE = 32, SOTTO_ED25519_MAX_LANES = 8, SOTTO_ED25519_WIDE = 64 };

/* What one lane works on. Unused lanes do what another one does. */
typedef struct sotto_ed25519_job {
    const uint8_t *key, *s;        /* s: below the group's order          */
    uint8_t h[SOTTO_ED25519_SIZE]; /* below the group's order             */
    uint8_t r[SOTTO_ED25519_SIZE]; /* out: the encoding of s B - h A      */
    bool is_point;                 /* out: `key` encodes a point, so r is */
} sotto_ed25519_job;

typedef struct sotto_ed25519_lanes {
    const char *name;
    size_t lanes;
    size_t least; /* fewer than this are faster one by one in the crypto library */
    void (*combine)(sotto_ed25519_job *jobs); /* as many as there are lanes; NULL: none */
} sotto_ed25519_lanes;

/* Sets `holds` of the claims that hold, and leaves all others alone. Those that are too few for lanes are among these, and all of
 * them if this machine has none. */
void sotto_ed25519_many(sotto_signature_claim *const *claims, size_t count);
/* The same with a set of the caller's. */
void sotto_ed25519_with(const sotto_ed25519_lanes *set, sotto_signature_claim *const *claims,
                        size_t count);

/* A number of 64 bytes modulo the group's order, all little-endian. */
void sotto_ed25519_reduce(uint8_t out[SOTTO_ED25519_SIZE], const uint8_t wide[SOTTO_ED25519_WIDE]);

/* "ifma" (AVX-512 with its 52-bit multiplier, eight lanes), "avx2" (four), "none"; NULL returns to the best. False: not
 * on this machine. */
SOTTO_MUST_USE bool sotto_ed25519_use(const char *name);
const char *sotto_ed25519_name(void);

/* ---- the members --------------------------------------------------------------------------------- */

extern const sotto_ed25519_lanes sotto_ed25519_ifma, sotto_ed25519_avx2;

#endif
