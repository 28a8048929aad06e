#include "seal/hpke/schedule.h"

#include <string.h>

static const uint8_t MODE_BASE = 0;

static sotto_bytes suite_id(const sotto_hpke_purpose *purpose)
{
    return sotto_bytes_of(purpose->with.id, sizeof purpose->with.id);
}

static sotto_bytes schedule_context(const sotto_hpke_purpose *purpose)
{
    return sotto_bytes_of(purpose->key_schedule_context, purpose->context_len);
}

sotto_status sotto_hpke_purpose_init(sotto_hpke_purpose *purpose, sotto_hpke_suite suite,
                                     sotto_bytes info, sotto_err *err)
{
    sotto_hmac_key empty_salt;

    SOTTO_TRY(sotto_hpke_algorithms_find(&purpose->with, suite, err));
    const size_t size = sotto_hash_size(purpose->with.kdf);
    uint8_t *psk_id_hash = purpose->key_schedule_context + 1;

    /* Without a pre-shared key its id is empty, but hashed all the same. */
    purpose->key_schedule_context[0] = MODE_BASE;
    purpose->context_len = 1 + 2 * size;
    sotto_hmac_key_init(&empty_salt, purpose->with.kdf, sotto_bytes_of(NULL, 0));
    sotto_hpke_labeled_extract(psk_id_hash, &empty_salt, suite_id(purpose), "psk_id_hash",
                               sotto_bytes_of(NULL, 0));
    sotto_hpke_labeled_extract(psk_id_hash + size, &empty_salt, suite_id(purpose), "info_hash",
                               info);
    return SOTTO_OK;
}

void sotto_hpke_schedule_secret(sotto_hpke_secret *secret, const sotto_hpke_purpose *purpose,
                                const uint8_t *shared_secret)
{
    const sotto_hash_id kdf = purpose->with.kdf;
    sotto_hmac_key salt;

    sotto_hmac_key_init(&salt, kdf, sotto_bytes_of(shared_secret, purpose->with.kem->secret_size));
    sotto_hpke_labeled_extract(secret->bytes, &salt, suite_id(purpose), "secret",
                               sotto_bytes_of(NULL, 0));
    sotto_hmac_key_init(&secret->key, kdf, sotto_bytes_of(secret->bytes, sotto_hash_size(kdf)));
    sotto_wipe(&salt, sizeof salt);
}

sotto_status sotto_hpke_schedule_aead(uint8_t key[SOTTO_AEAD_MAX_KEY],
                                      uint8_t base_nonce[SOTTO_AEAD_NONCE_SIZE],
                                      const sotto_hpke_purpose *purpose,
                                      const sotto_hpke_secret *secret, sotto_err *err)
{
    if (!purpose->with.aead)
        return sotto_fail(err, SOTTO_MISSING, "hpke: this suite only exports");
    SOTTO_TRY(sotto_hpke_labeled_expand(key, purpose->with.aead->key_size, &secret->key,
                                        suite_id(purpose), "key", schedule_context(purpose), err));
    return sotto_hpke_labeled_expand(base_nonce, SOTTO_AEAD_NONCE_SIZE, &secret->key,
                                     suite_id(purpose), "base_nonce", schedule_context(purpose),
                                     err);
}

sotto_status sotto_hpke_schedule_exporter(uint8_t exporter_secret[SOTTO_HASH_MAX_SIZE],
                                          const sotto_hpke_purpose *purpose,
                                          const sotto_hpke_secret *secret, sotto_err *err)
{
    return sotto_hpke_labeled_expand(exporter_secret, sotto_hash_size(purpose->with.kdf),
                                     &secret->key, suite_id(purpose), "exp",
                                     schedule_context(purpose), err);
}

sotto_status sotto_hpke_schedule_export(uint8_t *out, size_t len, const sotto_hpke_algorithms *with,
                                        const uint8_t *exporter_secret,
                                        sotto_bytes exporter_context, sotto_err *err)
{
    sotto_hmac_key prk;

    sotto_hmac_key_init(&prk, with->kdf,
                        sotto_bytes_of(exporter_secret, sotto_hash_size(with->kdf)));
    sotto_status status = sotto_hpke_labeled_expand(
        out, len, &prk, sotto_bytes_of(with->id, sizeof with->id), "sec", exporter_context, err);
    sotto_wipe(&prk, sizeof prk);
    return status;
}

void sotto_hpke_nonce(uint8_t nonce[SOTTO_AEAD_NONCE_SIZE],
                      const uint8_t base_nonce[SOTTO_AEAD_NONCE_SIZE], uint64_t sequence)
{
    memcpy(nonce, base_nonce, SOTTO_AEAD_NONCE_SIZE);
    for (size_t i = SOTTO_AEAD_NONCE_SIZE; sequence; sequence >>= 8)
        nonce[--i] ^= (uint8_t)sequence;
}
