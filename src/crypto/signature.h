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

/* A key of small order, in any of its encodings. */
SOTTO_MUST_USE bool sotto_signature_key_is_small(const uint8_t public_key[SOTTO_SIGN_PUBLIC]);

/* What is said to be a key's signature of a text. All is borrowed. */
typedef struct sotto_signature_claim {
    const uint8_t *public_key, *signature; /* NULL, one of them: nothing is claimed here */
    sotto_bytes text;
    bool holds; /* sotto_signature_check would say SOTTO_OK */
} sotto_signature_claim;

/* Sets `holds` of each, as far as lanes do it better: several times as fast where the machine has them. Whatever does not hold then
 * is for sotto_signature_check: it judges what lanes were not asked for, and knows the reasons for a refusal. Time depends on
 * everything here, and nothing here is a secret. */
void sotto_signatures_check(sotto_signature_claim *all, size_t count);

#endif
