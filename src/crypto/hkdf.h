/* crypto/hkdf.h - HKDF (RFC 5869) over SHA-256, SHA-384 and SHA-512.
 *
 * Callers:  seal/.
 * Memory:   nothing is allocated; outputs belong to the caller.
 * Secrets:  keying material and outputs. Time depends on lengths only.
 *
 * Inputs come in parts, as if they were one string: protocols prefix labels, and joining them in a
 * buffer would leave a copy of a secret to wipe. Salt and pseudorandom key come as prepared HMAC keys,
 * since callers use one salt or one key for several outputs.
 */
#ifndef SOTTO_CRYPTO_HKDF_H
#define SOTTO_CRYPTO_HKDF_H

#include "crypto/hash.h"

/* Writes sotto_hash_size bytes. An empty salt is an HMAC key made of no bytes. */
void sotto_hkdf_extract(uint8_t *prk, const sotto_hmac_key *salt, const sotto_bytes *ikm,
                        size_t parts);

/* SOTTO_TOO_LARGE: more than 255 times the hash's size is asked for; out is unchanged. */
SOTTO_MUST_USE sotto_status sotto_hkdf_expand(uint8_t *out, size_t len, const sotto_hmac_key *prk,
                                              const sotto_bytes *info, size_t parts,
                                              sotto_err *err);

#endif
