/* The SHA-2 functions below are deprecated in OpenSSL 3.0 in favour of EVP_MD, which allocates. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "crypto/hash.h"

#include <string.h>

size_t sotto_hash_size(sotto_hash_id id)
{
    return id == SOTTO_SHA256 ? 32 : id == SOTTO_SHA384 ? 48 : 64;
}

size_t sotto_hash_block(sotto_hash_id id)
{
    return id == SOTTO_SHA256 ? 64 : 128;
}

/* None of the library's functions here can fail: they work on the state alone. */

void sotto_hash_init(sotto_hash *hash, sotto_hash_id id)
{
    hash->id = id;
    if (id == SOTTO_SHA256)
        (void)SHA256_Init(&hash->state.narrow);
    else if (id == SOTTO_SHA384)
        (void)SHA384_Init(&hash->state.wide);
    else
        (void)SHA512_Init(&hash->state.wide);
}

void sotto_hash_update(sotto_hash *hash, sotto_bytes data)
{
    if (data.len == 0)
        return;
    if (hash->id == SOTTO_SHA256)
        (void)SHA256_Update(&hash->state.narrow, data.data, data.len);
    else /* SHA-384 differs from SHA-512 in its start and its length only */
        (void)SHA512_Update(&hash->state.wide, data.data, data.len);
}

void sotto_hash_final(sotto_hash *hash, uint8_t *out)
{
    if (hash->id == SOTTO_SHA256)
        (void)SHA256_Final(out, &hash->state.narrow);
    else /* the state remembers how many bytes to give */
        (void)SHA512_Final(out, &hash->state.wide);
    sotto_wipe(&hash->state, sizeof hash->state);
}

void sotto_hash_once(uint8_t *out, sotto_hash_id id, sotto_bytes data)
{
    sotto_hash hash;

    sotto_hash_init(&hash, id);
    sotto_hash_update(&hash, data);
    sotto_hash_final(&hash, out);
}

static void absorb_padded(sotto_hash *hash, sotto_hash_id id, const uint8_t *key, uint8_t pad)
{
    uint8_t block[SOTTO_HASH_MAX_BLOCK];
    size_t len = sotto_hash_block(id);

    for (size_t i = 0; i < len; i++)
        block[i] = key[i] ^ pad;
    sotto_hash_init(hash, id);
    sotto_hash_update(hash, sotto_bytes_of(block, len));
    sotto_wipe(block, sizeof block);
}

void sotto_hmac_key_init(sotto_hmac_key *key, sotto_hash_id id, sotto_bytes secret)
{
    uint8_t block[SOTTO_HASH_MAX_BLOCK] = {0};

    if (secret.len > sotto_hash_block(id))
        sotto_hash_once(block, id, secret);
    else if (secret.len)
        memcpy(block, secret.data, secret.len);
    absorb_padded(&key->inner, id, block, 0x36);
    absorb_padded(&key->outer, id, block, 0x5c);
    sotto_wipe(block, sizeof block);
}

void sotto_hmac_begin(const sotto_hmac_key *key, sotto_hash *message)
{
    *message = key->inner;
}

void sotto_hmac_end(const sotto_hmac_key *key, uint8_t *out, sotto_hash *message)
{
    uint8_t digest[SOTTO_HASH_MAX_SIZE];
    sotto_hash outer = key->outer;

    sotto_hash_final(message, digest);
    sotto_hash_update(&outer, sotto_bytes_of(digest, sotto_hash_size(outer.id)));
    sotto_hash_final(&outer, out);
    sotto_wipe(digest, sizeof digest);
}

void sotto_hmac_once(uint8_t *out, sotto_hash_id id, sotto_bytes secret, sotto_bytes message)
{
    sotto_hmac_key key;
    sotto_hash hash;

    sotto_hmac_key_init(&key, id, secret);
    sotto_hmac_begin(&key, &hash);
    sotto_hash_update(&hash, message);
    sotto_hmac_end(&key, out, &hash);
    sotto_wipe(&key, sizeof key);
}
