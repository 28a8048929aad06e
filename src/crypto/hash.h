/* crypto/hash.h - SHA-2 and HMAC, over states that live in the caller's memory.
 *
 * Callers:  crypto/hkdf, seal/.
 * Memory:   nothing is allocated; a state may be copied by assignment.
 * Secrets:  a state that absorbed a secret, and every sotto_hmac_key; clear them with sotto_wipe.
 *           Time depends on lengths only.
 *
 * These use the library's SHA256_... functions rather than EVP_MD, whose states live on the heap: a
 * prepared HMAC key could not be copied without allocating (docs/decisions/0002).
 */
#ifndef SOTTO_CRYPTO_HASH_H
#define SOTTO_CRYPTO_HASH_H

#include "sotto/base.h"

#include <openssl/sha.h>

/* The values are those of the HPKE registry of key derivation functions. */
typedef enum sotto_hash_id {
    SOTTO_SHA256 = 1,
    SOTTO_SHA384 = 2,
    SOTTO_SHA512 = 3,
} sotto_hash_id;

enum { SOTTO_HASH_MAX_SIZE = 64, SOTTO_HASH_MAX_BLOCK = 128 };

typedef struct sotto_hash {
    sotto_hash_id id;
    union {
        SHA256_CTX narrow;
        SHA512_CTX wide;
    } state;
} sotto_hash;

size_t sotto_hash_size(sotto_hash_id id);
size_t sotto_hash_block(sotto_hash_id id);

void sotto_hash_init(sotto_hash *hash, sotto_hash_id id);
void sotto_hash_update(sotto_hash *hash, sotto_bytes data);
/* Writes sotto_hash_size bytes and wipes the state. */
void sotto_hash_final(sotto_hash *hash, uint8_t *out);
void sotto_hash_once(uint8_t *out, sotto_hash_id id, sotto_bytes data);

/* The two states after the padded key: prepared once, used for any number of messages. */
typedef struct sotto_hmac_key {
    sotto_hash inner;
    sotto_hash outer;
} sotto_hmac_key;

void sotto_hmac_key_init(sotto_hmac_key *key, sotto_hash_id id, sotto_bytes secret);

/* A message in pieces: begin, any number of sotto_hash_update, end. */
void sotto_hmac_begin(const sotto_hmac_key *key, sotto_hash *message);
void sotto_hmac_end(const sotto_hmac_key *key, uint8_t *out, sotto_hash *message);

void sotto_hmac_once(uint8_t *out, sotto_hash_id id, sotto_bytes secret, sotto_bytes message);

#endif
