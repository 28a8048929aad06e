/* crypto/aead.h - authenticated encryption: AES-GCM and ChaCha20-Poly1305.
 *
 * Callers:  seal/.
 * Memory:   the cipher object is the crypto library's, made once by init and reused for every key.
 * Threads:  an object belongs to one thread at a time.
 * Secrets:  keys and plaintexts; clear forgets the key. Time depends on lengths only.
 */
#ifndef SOTTO_CRYPTO_AEAD_H
#define SOTTO_CRYPTO_AEAD_H

#include "sotto/base.h"

enum {
    SOTTO_AEAD_MAX_KEY = 32,
    SOTTO_AEAD_NONCE_SIZE = 12, /* of every AEAD here */
    SOTTO_AEAD_TAG_SIZE = 16,   /* of every AEAD here */
};

/* The values are those of the HPKE registry. */
enum {
    SOTTO_AES128_GCM = 1,
    SOTTO_AES256_GCM = 2,
    SOTTO_CHACHA20_POLY1305 = 3,
};

typedef struct sotto_aead_info {
    uint16_t id;
    const char *name; /* as the crypto library knows it */
    size_t key_size;
} sotto_aead_info;

/* NULL: not one of ours. */
const sotto_aead_info *sotto_aead_find(uint16_t id);

typedef enum sotto_aead_direction { SOTTO_AEAD_SEAL, SOTTO_AEAD_OPEN } sotto_aead_direction;

/* A cipher looked up once; it works in one direction, and needs a key before its first message. */
typedef struct sotto_aead {
    const sotto_aead_info *info;
    sotto_aead_direction direction;
    struct evp_cipher_ctx_st *cipher;
} sotto_aead;

/* SOTTO_MISSING: the crypto library does not offer the cipher. Clear after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_aead_init(sotto_aead *aead, const sotto_aead_info *info,
                                            sotto_aead_direction direction, sotto_err *err);
void sotto_aead_clear(sotto_aead *aead);

/* info->key_size bytes; replaces the key before it. */
SOTTO_MUST_USE sotto_status sotto_aead_set_key(sotto_aead *aead, const uint8_t *key,
                                               sotto_err *err);

/* Appends ciphertext || tag. `plain` must not overlap what is appended.
 *   SOTTO_TOO_LARGE  out would pass its limit, or an input the cipher's; out is unchanged
 */
SOTTO_MUST_USE sotto_status sotto_aead_seal(sotto_aead *aead, sotto_buf *out,
                                            const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE],
                                            sotto_bytes aad, sotto_bytes plain, sotto_err *err);

/* The same of several pieces, one after the other, so that nobody has to join them. */
SOTTO_MUST_USE sotto_status sotto_aead_seal_pieces(sotto_aead *aead, sotto_buf *out,
                                                   const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE],
                                                   sotto_bytes aad, const sotto_bytes *pieces,
                                                   size_t count, sotto_err *err);

/* Appends the plaintext. `sealed` must not overlap what is appended.
 *   SOTTO_MALFORMED  sealed is shorter than a tag
 *   SOTTO_REJECTED   the tag is wrong; out is unchanged and what was written behind it is wiped
 *   SOTTO_TOO_LARGE  as above
 */
SOTTO_MUST_USE sotto_status sotto_aead_open(sotto_aead *aead, sotto_buf *out,
                                            const uint8_t nonce[SOTTO_AEAD_NONCE_SIZE],
                                            sotto_bytes aad, sotto_bytes sealed, sotto_err *err);

#endif
