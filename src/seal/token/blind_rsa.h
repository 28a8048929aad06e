/* seal/token/blind_rsa.h - RSA blind signatures, RSABSSA with SHA-384 and PSS (RFC 9474).
 *
 * Callers:  type2.c; sotto-vectors.
 * Memory:   nothing is kept; numbers have as many bytes as the key.
 * Secrets:  message, salt, blind and inverse, until the signature is shown.
 *
 * A message comes in parts: the randomized variants put 32 random bytes before it, the deterministic ones nothing. The signer
 * only applies its private key (crypto/rsa.h).
 */
#ifndef SOTTO_SEAL_TOKEN_BLIND_RSA_H
#define SOTTO_SEAL_TOKEN_BLIND_RSA_H

#include "crypto/rsa.h"

enum { SOTTO_BLIND_RSA_SALT = 48, SOTTO_BLIND_RSA_HASH = 48 };

/* What a client sends, and keeps. blind is from sotto_rsa_random.
 *   SOTTO_MALFORMED  a salt of neither 48 bytes nor none
 *   SOTTO_REJECTED   the blind has no inverse, or is not below the modulus */
SOTTO_MUST_USE sotto_status sotto_blind_rsa_blind(sotto_rsa_public *key, uint8_t *blinded,
                                                  uint8_t *inverse, const sotto_bytes *message,
                                                  size_t parts, sotto_bytes salt,
                                                  const uint8_t *blind, sotto_err *err);
/* The signature, which was verified: a signer that errs or cheats is noticed here.
 *   SOTTO_REJECTED  it is not the key's signature of the message; signature is wiped */
SOTTO_MUST_USE sotto_status sotto_blind_rsa_finalize(sotto_rsa_public *key, uint8_t *signature,
                                                     const uint8_t *blind_signature,
                                                     const uint8_t *inverse,
                                                     const sotto_bytes *message, size_t parts,
                                                     size_t salt_size, sotto_err *err);
/* SOTTO_REJECTED: it does not hold, or was made with a salt of another length. */
SOTTO_MUST_USE sotto_status sotto_blind_rsa_verify(sotto_rsa_public *key, const uint8_t *signature,
                                                   const sotto_bytes *message, size_t parts,
                                                   size_t salt_size, sotto_err *err);

/* EMSA-PSS-ENCODE (RFC 8017, 9.1.1) for a modulus of `size` bytes whose first bit is set. For vectors. */
SOTTO_MUST_USE sotto_status sotto_blind_rsa_encode(uint8_t *encoded, size_t size,
                                                   const sotto_bytes *message, size_t parts,
                                                   sotto_bytes salt, sotto_err *err);

#endif
