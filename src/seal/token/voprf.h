/* seal/token/voprf.h - oblivious pseudorandom functions, plain and verifiable (RFC 9497), over P-256 and P-384.
 *
 * Callers:  type1.c; sotto-vectors. No device links it.
 * Memory:   a suite holds objects of the crypto library until it is cleared.
 * Threads:  a suite belongs to one thread at a time.
 * Secrets:  private keys and blinds. Hashing an input to the curve is not constant-time: inputs are public here.
 */
#ifndef SOTTO_SEAL_TOKEN_VOPRF_H
#define SOTTO_SEAL_TOKEN_VOPRF_H

#include "crypto/group.h"
#include "crypto/hash.h"

typedef enum sotto_voprf_mode { SOTTO_OPRF = 0, SOTTO_VOPRF = 1 } sotto_voprf_mode;

enum { SOTTO_VOPRF_CONTEXT = 24, SOTTO_VOPRF_BATCH = 16, SOTTO_VOPRF_INPUT = 65535 };

typedef struct sotto_voprf {
    sotto_group group;
    sotto_hash_id hash;
    size_t context_len;
    uint8_t context[SOTTO_VOPRF_CONTEXT]; /* "OPRFV1-" | mode | "-" | "P384-SHA384" */
} sotto_voprf;

SOTTO_MUST_USE sotto_status sotto_voprf_init(sotto_voprf *v, const sotto_curve *curve,
                                             sotto_voprf_mode mode, sotto_err *err);
void sotto_voprf_clear(sotto_voprf *v);

/* DeriveKeyPair. public_key has group.point_size bytes. */
SOTTO_MUST_USE sotto_status sotto_voprf_derive(sotto_voprf *v, sotto_scalar *key,
                                               uint8_t *public_key, sotto_bytes seed,
                                               sotto_bytes info, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_voprf_public(sotto_voprf *v, uint8_t *public_key,
                                               const sotto_scalar *key, sotto_err *err);
/* blinded has group.point_size bytes. SOTTO_TOO_LARGE: an input of more than 65,535 bytes. */
SOTTO_MUST_USE sotto_status sotto_voprf_blind(sotto_voprf *v, uint8_t *blinded, sotto_bytes input,
                                              const sotto_scalar *blind, sotto_err *err);
/* evaluated and blinded are count points one behind the other; proof, of two scalars, is NULL in the mode without.
 *   SOTTO_REJECTED   a blinded element is no point
 *   SOTTO_TOO_LARGE  more than SOTTO_VOPRF_BATCH */
SOTTO_MUST_USE sotto_status sotto_voprf_evaluate(sotto_voprf *v, uint8_t *evaluated, uint8_t *proof,
                                                 const sotto_scalar *key, const uint8_t *public_key,
                                                 const uint8_t *blinded, size_t count,
                                                 const sotto_scalar *nonce, sotto_err *err);
/* SOTTO_REJECTED: the proof does not hold. */
SOTTO_MUST_USE sotto_status sotto_voprf_check(sotto_voprf *v, const uint8_t *public_key,
                                              const uint8_t *blinded, const uint8_t *evaluated,
                                              size_t count, const uint8_t *proof, sotto_err *err);
/* The output for one input, of sotto_hash_size bytes: with a proof, check it first.
 *   SOTTO_REJECTED  the evaluated element is no point */
SOTTO_MUST_USE sotto_status sotto_voprf_finalize(sotto_voprf *v, uint8_t *out, sotto_bytes input,
                                                 const sotto_scalar *blind,
                                                 const uint8_t *evaluated, sotto_err *err);
/* The same by the key's holder. */
SOTTO_MUST_USE sotto_status sotto_voprf_direct(sotto_voprf *v, uint8_t *out, sotto_bytes input,
                                               const sotto_scalar *key, sotto_err *err);

#endif
