/* crypto/signature.h - Ed25519 signatures (RFC 8032).
 *
 * Callers:  aggregate/; recipe/ for signed parties files.
 * Memory:   a signer holds a key object of the crypto library until it is cleared.
 * Threads:  a signer is read-only once made; checking needs none.
 * Secrets:  the seed and the signer. Time does not depend on them.
 */
#ifndef SOTTO_CRYPTO_SIGNATURE_H
#define SOTTO_CRYPTO_SIGNATURE_H

#include "sotto/base.h"

enum { SOTTO_SIGN_SEED = 32, SOTTO_SIGN_PUBLIC = 32, SOTTO_SIGNATURE = 64 };

typedef struct sotto_signer {
    uint8_t public_key[SOTTO_SIGN_PUBLIC];
    struct evp_pkey_st *key;
} sotto_signer;

/* The seed is RFC 8032's private key: 32 random bytes. Clear after a failure is allowed.
 *   SOTTO_MISSING  the crypto library does not offer Ed25519 */
SOTTO_MUST_USE sotto_status sotto_signer_init(sotto_signer *signer,
                                              const uint8_t seed[SOTTO_SIGN_SEED], sotto_err *err);
void sotto_signer_clear(sotto_signer *signer);

/* The same text gives the same signature. */
SOTTO_MUST_USE sotto_status sotto_sign(const sotto_signer *signer, uint8_t out[SOTTO_SIGNATURE],
                                       sotto_bytes text, sotto_err *err);

/* SOTTO_REJECTED: not this key's signature of this text; or a key of small order, with which anybody could sign. */
SOTTO_MUST_USE sotto_status sotto_signature_check(const uint8_t public_key[SOTTO_SIGN_PUBLIC],
                                                  const uint8_t signature[SOTTO_SIGNATURE],
                                                  sotto_bytes text, sotto_err *err);

#endif
