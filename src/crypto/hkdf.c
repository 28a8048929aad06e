#include "crypto/hkdf.h"

#include <string.h>

void sotto_hkdf_extract(uint8_t *prk, const sotto_hmac_key *salt, const sotto_bytes *ikm,
                        size_t parts)
{
    sotto_hash message;

    sotto_hmac_begin(salt, &message);
    for (size_t i = 0; i < parts; i++)
        sotto_hash_update(&message, ikm[i]);
    sotto_hmac_end(salt, prk, &message);
}

sotto_status sotto_hkdf_expand(uint8_t *out, size_t len, const sotto_hmac_key *prk,
                               const sotto_bytes *info, size_t parts, sotto_err *err)
{
    const size_t size = sotto_hash_size(prk->inner.id);
    uint8_t block[SOTTO_HASH_MAX_SIZE];
    sotto_hash message;

    if (len > 255 * size)
        return sotto_fail(err, SOTTO_TOO_LARGE, "hkdf: %zu bytes asked for, at most %zu", len,
                          255 * size);
    for (size_t done = 0, count = 1; done < len; count++) {
        const uint8_t counter = (uint8_t)count;
        const size_t take = len - done < size ? len - done : size;

        sotto_hmac_begin(prk, &message);
        sotto_hash_update(&message, sotto_bytes_of(block, done ? size : 0));
        for (size_t i = 0; i < parts; i++)
            sotto_hash_update(&message, info[i]);
        sotto_hash_update(&message, sotto_bytes_of(&counter, 1));
        sotto_hmac_end(prk, block, &message);
        memcpy(out + done, block, take);
        done += take;
    }
    sotto_wipe(block, sizeof block);
    return SOTTO_OK;
}
