/* crypto/rsa.h - RSA without padding: what blind signatures (RFC 9474) are made of.
 *
 * Callers:  seal/token.
 * Memory:   keys hold objects of the crypto library until they are cleared; numbers are fixed-width bytes of the caller's.
 * Threads:  a key has scratch numbers of its own: one thread at a time.
 * Secrets:  private keys, blinds and inverses. Time does not depend on them; a private operation is blinded by the crypto
 *           library besides. What is applied to a public key is public.
 *
 * Every number has as many bytes as the modulus, big endian.
 */
#ifndef SOTTO_CRYPTO_RSA_H
#define SOTTO_CRYPTO_RSA_H

#include "sotto/base.h"

enum { SOTTO_RSA_MIN = 256, SOTTO_RSA_MAX = 512 };

typedef struct sotto_rsa_public {
    size_t size;
    uint8_t modulus[SOTTO_RSA_MAX];
    struct bignum_st *n, *e;
    struct bn_mont_ctx_st *modulo;
    struct bignum_ctx *numbers;
} sotto_rsa_public;

/* Clear after a failure is allowed, as for all keys here.
 *   SOTTO_MALFORMED  not a modulus of 2,048 to 4,096 bits in whole bytes, or an exponent that is even, 1, or longer than 8 bytes
 *   SOTTO_NO_MEMORY  the crypto library failed */
SOTTO_MUST_USE sotto_status sotto_rsa_public_init(sotto_rsa_public *key, sotto_bytes modulus,
                                                  sotto_bytes exponent, sotto_err *err);
void sotto_rsa_public_clear(sotto_rsa_public *key);

/* out = in^e. in is of key->size bytes.
 *   SOTTO_REJECTED  in is not below the modulus */
SOTTO_MUST_USE sotto_status sotto_rsa_public_apply(sotto_rsa_public *key, uint8_t *out,
                                                   const uint8_t *in, sotto_err *err);

/* ---- blinding ------------------------------------------------------------------------------------------------ */

/* A uniform number from 1 to the modulus less 1. */
SOTTO_MUST_USE sotto_status sotto_rsa_random(const sotto_rsa_public *key, uint8_t *out,
                                             sotto_err *err);
/* out = in * blind^e, inverse = 1 / blind; both are wiped after a failure.
 *   SOTTO_REJECTED  in or blind is not below the modulus, or has a factor with it in common */
SOTTO_MUST_USE sotto_status sotto_rsa_blind(sotto_rsa_public *key, uint8_t *out, uint8_t *inverse,
                                            const uint8_t *in, const uint8_t *blind,
                                            sotto_err *err);
/* sotto_rsa_blind of `count` numbers that lie one behind the other, for less than so many calls of it.
 *   SOTTO_REJECTED  as above, of any of them: which one, single calls tell
 *   SOTTO_BUG       more than SOTTO_RSA_MANY */
enum { SOTTO_RSA_MANY = 32 };
SOTTO_MUST_USE sotto_status sotto_rsa_blind_many(sotto_rsa_public *key, uint8_t *out,
                                                 uint8_t *inverses, const uint8_t *in,
                                                 const uint8_t *blinds, size_t count,
                                                 sotto_err *err);
/* out = in * inverse.
 *   SOTTO_REJECTED  in is not below the modulus */
SOTTO_MUST_USE sotto_status sotto_rsa_unblind(sotto_rsa_public *key, uint8_t *out,
                                              const uint8_t *in, const uint8_t *inverse,
                                              sotto_err *err);

/* ---- private keys -------------------------------------------------------------------------------------------- */

typedef struct sotto_rsa_private {
    sotto_rsa_public public_key;
    struct evp_pkey_st *key;
    struct evp_pkey_ctx_st *sign;
} sotto_rsa_private;

enum { SOTTO_RSA_DER_MAX = 2560 };

SOTTO_MUST_USE sotto_status sotto_rsa_private_generate(sotto_rsa_private *key, unsigned bits,
                                                       sotto_err *err);
/* PKCS #8, DER. SOTTO_MALFORMED: no RSA key, or not of a size that is allowed. */
SOTTO_MUST_USE sotto_status sotto_rsa_private_decode(sotto_rsa_private *key, sotto_bytes der,
                                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_rsa_private_encode(const sotto_rsa_private *key, sotto_buf *out,
                                                     sotto_err *err);
void sotto_rsa_private_clear(sotto_rsa_private *key);

/* out, which is not in, = in^d, and then out^e = in is checked: a fault in the computation would give the key away.
 *   SOTTO_REJECTED  in is not below the modulus
 *   SOTTO_BUG       the check failed; out is wiped */
SOTTO_MUST_USE sotto_status sotto_rsa_private_apply(sotto_rsa_private *key, uint8_t *out,
                                                    const uint8_t *in, sotto_err *err);

#endif
