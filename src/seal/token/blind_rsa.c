#include "seal/token/blind_rsa.h"

#include "crypto/hash.h"

#include <string.h>

enum { HASH = SOTTO_BLIND_RSA_HASH, TRAILER = 0xbc };

/* ---- PSS (RFC 8017, 9.1), SHA-384 throughout ------------------------------------------------------------------- */

static void hash_message(uint8_t out[HASH], const sotto_bytes *message, size_t parts)
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA384);
    for (size_t i = 0; i < parts; i++)
        sotto_hash_update(&hash, message[i]);
    sotto_hash_final(&hash, out);
}

/* H, from the message's hash and the salt. */
static void hash_salted(uint8_t out[HASH], const uint8_t message[HASH], sotto_bytes salt)
{
    static const uint8_t zeros[8];
    const sotto_bytes all[] = {sotto_bytes_of(zeros, sizeof zeros), sotto_bytes_of(message, HASH),
                               salt};

    hash_message(out, all, 3);
}

/* Adds MGF1(seed) to data. */
static void mask(uint8_t *data, size_t len, const uint8_t seed[HASH])
{
    uint8_t counter[4] = {0}, block[HASH];
    const sotto_bytes both[] = {sotto_bytes_of(seed, HASH), sotto_bytes_of(counter, 4)};

    for (size_t at = 0; at < len; at++) {
        if (at % HASH == 0) {
            hash_message(block, both, 2);
            counter[3]++; /* 512 bytes need 10 blocks */
        }
        data[at] ^= block[at % HASH];
    }
    sotto_wipe(block, sizeof block);
}

sotto_status sotto_blind_rsa_encode(uint8_t *encoded, size_t size, const sotto_bytes *message,
                                    size_t parts, sotto_bytes salt, sotto_err *err)
{
    const size_t data = size - HASH - 1;
    uint8_t digest[HASH];

    if (salt.len != 0 && salt.len != SOTTO_BLIND_RSA_SALT)
        return sotto_fail(err, SOTTO_MALFORMED, "blind RSA: a salt has 48 bytes or none, not %zu",
                          salt.len);
    hash_message(digest, message, parts);
    hash_salted(encoded + data, digest, salt);
    memset(encoded, 0, data);
    encoded[data - salt.len - 1] = 1;
    if (salt.len)
        memcpy(encoded + data - salt.len, salt.data, salt.len);
    mask(encoded, data, encoded + data);
    encoded[0] &= 0x7f;
    encoded[size - 1] = TRAILER;
    return SOTTO_OK;
}

static sotto_status does_not_hold(sotto_err *err)
{
    return sotto_fail(err, SOTTO_REJECTED, "blind RSA: the signature does not hold");
}

/* EMSA-PSS-VERIFY over `encoded`, which is used up. All of it is public. */
static sotto_status check_encoded(uint8_t *encoded, size_t size, const sotto_bytes *message,
                                  size_t parts, size_t salt_size, sotto_err *err)
{
    const size_t data = size - HASH - 1;
    uint8_t digest[HASH], salted[HASH];
    size_t zeros = 0;

    if (encoded[size - 1] != TRAILER || encoded[0] & 0x80)
        return does_not_hold(err);
    mask(encoded, data, encoded + data);
    encoded[0] &= 0x7f;
    while (zeros < data && encoded[zeros] == 0)
        zeros++;
    if (zeros == data || encoded[zeros] != 1)
        return does_not_hold(err);
    if (data - zeros - 1 != salt_size)
        return sotto_fail(err, SOTTO_REJECTED, "blind RSA: a salt of %zu bytes instead of %zu",
                          data - zeros - 1, salt_size);
    hash_message(digest, message, parts);
    hash_salted(salted, digest, sotto_bytes_of(encoded + data - salt_size, salt_size));
    if (memcmp(salted, encoded + data, HASH) != 0)
        return does_not_hold(err);
    return SOTTO_OK;
}

/* ---- the protocol (RFC 9474, 4) -------------------------------------------------------------------------------- */

sotto_status sotto_blind_rsa_blind(sotto_rsa_public *key, uint8_t *blinded, uint8_t *inverse,
                                   const sotto_bytes *message, size_t parts, sotto_bytes salt,
                                   const uint8_t *blind, sotto_err *err)
{
    uint8_t encoded[SOTTO_RSA_MAX];

    SOTTO_TRY(sotto_blind_rsa_encode(encoded, key->size, message, parts, salt, err));
    sotto_status status = sotto_rsa_blind(key, blinded, inverse, encoded, blind, err);
    sotto_wipe(encoded, sizeof encoded);
    return status;
}

sotto_status sotto_blind_rsa_verify(sotto_rsa_public *key, const uint8_t *signature,
                                    const sotto_bytes *message, size_t parts, size_t salt_size,
                                    sotto_err *err)
{
    uint8_t encoded[SOTTO_RSA_MAX];

    SOTTO_TRY(sotto_rsa_public_apply(key, encoded, signature, err));
    return check_encoded(encoded, key->size, message, parts, salt_size, err);
}

sotto_status sotto_blind_rsa_finalize(sotto_rsa_public *key, uint8_t *signature,
                                      const uint8_t *blind_signature, const uint8_t *inverse,
                                      const sotto_bytes *message, size_t parts, size_t salt_size,
                                      sotto_err *err)
{
    sotto_status status = sotto_rsa_unblind(key, signature, blind_signature, inverse, err);

    if (status == SOTTO_OK)
        status = sotto_blind_rsa_verify(key, signature, message, parts, salt_size, err);
    if (status != SOTTO_OK)
        sotto_wipe(signature, key->size);
    return status;
}
