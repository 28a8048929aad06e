#include "seal/ohttp/ohttp.h"

#include "crypto/hkdf.h"
#include "seal/hpke/exporting.h"
#include "seal/hpke/suite.h"

#include <string.h>

static const char REQUEST[] = "message/bhttp request";   /* with the zero at its end */
static const char RESPONSE[] = "message/bhttp response"; /* without                  */

_Static_assert(sizeof REQUEST + SOTTO_OHTTP_HEADER == SOTTO_OHTTP_INFO, "the zero belongs to it");

void sotto_ohttp_info(uint8_t out[SOTTO_OHTTP_INFO], uint8_t key_id, sotto_hpke_suite suite)
{
    const uint16_t ids[] = {suite.kem, suite.kdf, suite.aead};
    uint8_t *at = out + sizeof REQUEST;

    memcpy(out, REQUEST, sizeof REQUEST);
    *at++ = key_id;
    for (size_t i = 0; i < 3; i++) {
        *at++ = (uint8_t)(ids[i] >> 8);
        *at++ = (uint8_t)ids[i];
    }
}

/* What is exported has the length of a key or a nonce, whichever is longer (RFC 9458, 4.4). */
static sotto_hpke_export wanted_of(sotto_ohttp_exchange *exchange, size_t aead_key)
{
    exchange->secret_len = aead_key > SOTTO_AEAD_NONCE_SIZE ? aead_key : SOTTO_AEAD_NONCE_SIZE;
    return (sotto_hpke_export){sotto_bytes_of(RESPONSE, sizeof RESPONSE - 1), exchange->secret,
                               exchange->secret_len};
}

static void keep_enc(sotto_ohttp_exchange *exchange, sotto_bytes enc)
{
    memcpy(exchange->enc, enc.data, enc.len);
    exchange->enc_len = enc.len;
}

/* ---- requests --------------------------------------------------------------------------------------------------- */

sotto_status sotto_ohttp_request_seal_with(sotto_ohttp_exchange *exchange, sotto_buf *out,
                                           const sotto_hpke_config *to, const sotto_ephemeral *with,
                                           sotto_bytes ikm, sotto_bytes plain, sotto_err *err)
{
    uint8_t info[SOTTO_OHTTP_INFO];
    sotto_writer w = sotto_writer_on(out);
    const size_t start = out->len;
    sotto_hpke_sizes sizes;

    *exchange = (sotto_ohttp_exchange){.suite = to->suite};
    SOTTO_TRY(sotto_hpke_suite_sizes(&sizes, to->suite, err));
    const sotto_hpke_export secret = wanted_of(exchange, sizes.aead_key);
    sotto_ohttp_info(info, to->id, to->suite);
    sotto_write_bytes(&w, sotto_bytes_of(info + sizeof REQUEST, SOTTO_OHTTP_HEADER));
    SOTTO_TRY(sotto_writer_finish(&w, "OHTTP request", err));
    const sotto_status status = sotto_hpke_seal_exporting(
        out, to, with, ikm, sotto_bytes_of(info, sizeof info), plain, &secret, err);
    if (status == SOTTO_OK)
        keep_enc(exchange,
                 sotto_bytes_of(out->data + start + SOTTO_OHTTP_HEADER, sizes.public_key));
    else
        out->len = start;
    return status;
}

sotto_status sotto_ohttp_request_seal(sotto_ohttp_exchange *exchange, sotto_buf *out,
                                      const sotto_hpke_config *to, sotto_bytes ikm,
                                      sotto_bytes plain, sotto_err *err)
{
    return sotto_ohttp_request_seal_with(exchange, out, to, NULL, ikm, plain, err);
}

sotto_status sotto_ohttp_request_read(sotto_ohttp_request *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    sotto_hpke_sizes sizes = {0};

    *out = (sotto_ohttp_request){.key_id = (uint8_t)sotto_read_uint(&in, 1)};
    out->suite.kem = (uint16_t)sotto_read_uint(&in, 2);
    out->suite.kdf = (uint16_t)sotto_read_uint(&in, 2);
    out->suite.aead = (uint16_t)sotto_read_uint(&in, 2);
    if (!in.short_read)
        SOTTO_TRY(sotto_hpke_suite_sizes(&sizes, out->suite, err));
    out->enc = sotto_read_bytes(&in, sizes.public_key);
    out->ciphertext = sotto_read_bytes(&in, sotto_reader_left(&in));
    if (in.short_read || out->ciphertext.len < sizes.tag)
        return sotto_fail(err, SOTTO_MALFORMED, "OHTTP request: too short");
    return SOTTO_OK;
}

sotto_status sotto_ohttp_request_unseal(sotto_ohttp_exchange *exchange, sotto_buf *out,
                                        sotto_hpke_receiver *receiver,
                                        const sotto_ohttp_request *request,
                                        const sotto_agreement *with, sotto_err *err)
{
    sotto_hpke_sizes sizes;

    *exchange = (sotto_ohttp_exchange){.suite = request->suite};
    SOTTO_TRY(sotto_hpke_suite_sizes(&sizes, request->suite, err));
    const sotto_hpke_export secret = wanted_of(exchange, sizes.aead_key);
    SOTTO_TRY(sotto_hpke_receiver_unseal_exporting(receiver, out, with, request->ciphertext,
                                                   &secret, err));
    keep_enc(exchange, request->enc);
    return SOTTO_OK;
}

/* ---- responses (RFC 9458, 4.4) ------------------------------------------------------------------------------------ */

sotto_status sotto_ohttp_answer_keys_of(sotto_ohttp_answer_keys *keys,
                                        const sotto_ohttp_exchange *exchange,
                                        const uint8_t *response_nonce, sotto_err *err)
{
    static const sotto_bytes for_key = {(const uint8_t *)"key", 3},
                             for_nonce = {(const uint8_t *)"nonce", 5};
    const sotto_bytes secret = sotto_bytes_of(exchange->secret, exchange->secret_len);
    const sotto_aead_info *aead = sotto_aead_find(exchange->suite.aead);
    const sotto_hash_id kdf = (sotto_hash_id)exchange->suite.kdf;
    sotto_hmac_key mac;

    if (!aead)
        return sotto_fail(err, SOTTO_MISSING, "OHTTP: this suite only exports");
    memcpy(keys->salt, exchange->enc, exchange->enc_len);
    memcpy(keys->salt + exchange->enc_len, response_nonce, exchange->secret_len);
    keys->salt_len = exchange->enc_len + exchange->secret_len;
    keys->prk_len = sotto_hash_size(kdf);
    sotto_hmac_key_init(&mac, kdf, sotto_bytes_of(keys->salt, keys->salt_len));
    sotto_hkdf_extract(keys->prk, &mac, &secret, 1);
    sotto_hmac_key_init(&mac, kdf, sotto_bytes_of(keys->prk, keys->prk_len));
    sotto_status status = sotto_hkdf_expand(keys->key, aead->key_size, &mac, &for_key, 1, err);
    if (status == SOTTO_OK)
        status = sotto_hkdf_expand(keys->nonce, sizeof keys->nonce, &mac, &for_nonce, 1, err);
    sotto_wipe(&mac, sizeof mac);
    return status;
}

/* Seals or opens one response with a cipher that is keyed here. */
static sotto_status turn(const sotto_ohttp_exchange *exchange, sotto_buf *out, sotto_aead *aead,
                         const uint8_t *response_nonce, sotto_bytes text, sotto_err *err)
{
    const sotto_bytes no_aad = sotto_bytes_of(NULL, 0);
    sotto_ohttp_answer_keys keys;

    sotto_status status = sotto_ohttp_answer_keys_of(&keys, exchange, response_nonce, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(aead, keys.key, err);
    if (status == SOTTO_OK)
        status = aead->direction == SOTTO_AEAD_SEAL
                     ? sotto_aead_seal(aead, out, keys.nonce, no_aad, text, err)
                     : sotto_aead_open(aead, out, keys.nonce, no_aad, text, err);
    sotto_wipe(&keys, sizeof keys);
    return status;
}

static sotto_status turn_alone(const sotto_ohttp_exchange *exchange, sotto_buf *out,
                               sotto_aead_direction direction, const uint8_t *response_nonce,
                               sotto_bytes text, sotto_err *err)
{
    const sotto_aead_info *info = sotto_aead_find(exchange->suite.aead);
    sotto_aead aead = {0};

    if (!info)
        return sotto_fail(err, SOTTO_MISSING, "OHTTP: this suite only exports");
    sotto_status status = sotto_aead_init(&aead, info, direction, err);
    if (status == SOTTO_OK)
        status = turn(exchange, out, &aead, response_nonce, text, err);
    sotto_aead_clear(&aead);
    return status;
}

sotto_status sotto_ohttp_response_seal(const sotto_ohttp_exchange *exchange, sotto_buf *out,
                                       sotto_aead *aead, const uint8_t random[SOTTO_OHTTP_NONCE],
                                       sotto_bytes plain, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    const size_t start = out->len;

    sotto_write_bytes(&w, sotto_bytes_of(random, exchange->secret_len));
    SOTTO_TRY(sotto_writer_finish(&w, "OHTTP response", err));
    const sotto_status status =
        aead ? turn(exchange, out, aead, random, plain, err)
             : turn_alone(exchange, out, SOTTO_AEAD_SEAL, random, plain, err);
    if (status != SOTTO_OK)
        out->len = start;
    return status;
}

sotto_status sotto_ohttp_response_unseal(const sotto_ohttp_exchange *exchange, sotto_buf *out,
                                         sotto_bytes sealed, sotto_err *err)
{
    const size_t nonce = exchange->secret_len;

    if (sealed.len < nonce + SOTTO_AEAD_TAG_SIZE)
        return sotto_fail(err, SOTTO_MALFORMED, "OHTTP response: too short");
    return turn_alone(exchange, out, SOTTO_AEAD_OPEN, sealed.data,
                      sotto_bytes_of(sealed.data + nonce, sealed.len - nonce), err);
}
