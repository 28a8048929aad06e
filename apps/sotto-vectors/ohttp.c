/* Oblivious HTTP vectors (RFC 9458): one exchange each, checked from both ends; one with a `mistake` is refused. */
#include "families.h"

#include <stdio.h>

#include "base/arena.h"
#include "seal/hpke/inspect.h"
#include "seal/ohttp/ohttp.h"

bool sotto_vectors_ohttp_knows(const json_t *item)
{
    return json_object_get(item, "encapsulated_request") != NULL;
}

typedef struct exchange_file {
    const json_t *item;
    sotto_arena *arena;
    sotto_hpke_key key;
    sotto_hpke_config config; /* the pair that the request uses */
    sotto_hpke_receiver *receiver;
    sotto_ohttp_request request;
    sotto_ohttp_exchange exchange;
} exchange_file;

static sotto_status hex(const exchange_file *f, sotto_bytes *out, const char *key, sotto_err *err)
{
    return sotto_json_get_hex(out, f->item, key, f->arena, err);
}

/* Compares with the file's value, if it has one. */
static sotto_status same(const exchange_file *f, const char *key, const uint8_t *data, size_t len,
                         sotto_err *err)
{
    sotto_bytes wanted;

    if (json_object_get(f->item, key) == NULL)
        return SOTTO_OK;
    SOTTO_TRY(hex(f, &wanted, key, err));
    return sotto_vectors_compare(wanted, sotto_bytes_of(data, len), key, err);
}

static sotto_status open_gateway(exchange_file *f, sotto_err *err)
{
    uint8_t info[SOTTO_OHTTP_INFO];
    sotto_bytes bytes;

    SOTTO_TRY(hex(f, &bytes, "key_config", err));
    SOTTO_TRY(sotto_ohttp_key_decode(&f->config, bytes, err));
    SOTTO_TRY(hex(f, &bytes, "gateway_secret_key", err));
    SOTTO_TRY(sotto_hpke_key_decode(&f->key, f->config.suite.kem, bytes, err));
    SOTTO_TRY(sotto_vectors_compare(f->config.public_key,
                                    sotto_bytes_of(f->key.public_key, f->key.public_key_len),
                                    "the public key of key_config", err));
    SOTTO_TRY(hex(f, &bytes, "encapsulated_request", err));
    SOTTO_TRY(sotto_ohttp_request_read(&f->request, bytes, err));
    if (f->request.key_id != f->config.id || f->request.suite.kem != f->config.suite.kem)
        return sotto_fail(err, SOTTO_REJECTED, "encapsulated_request: for another key");
    f->config.suite = f->request.suite;
    sotto_ohttp_info(info, f->config.id, f->config.suite);
    SOTTO_TRY(same(f, "hpke_info", info, sizeof info, err));
    return sotto_hpke_receiver_new(&f->receiver, &f->key, f->config.suite,
                                   sotto_bytes_of(info, sizeof info), err);
}

static sotto_status check_request(exchange_file *f, sotto_err *err)
{
    const sotto_agreement with = {.peer = f->request.enc};
    sotto_buf plain;

    SOTTO_TRY(sotto_buf_take(&plain, f->arena, f->request.ciphertext.len, err));
    SOTTO_TRY(
        sotto_ohttp_request_unseal(&f->exchange, &plain, f->receiver, &f->request, &with, err));
    SOTTO_TRY(same(f, "request_bhttp", plain.data, plain.len, err));
    SOTTO_TRY(same(f, "client_ephemeral_public_key", f->request.enc.data, f->request.enc.len, err));
    return same(f, "response_exported_secret", f->exchange.secret, f->exchange.secret_len, err);
}

/* The client's own way to the same bytes, where the file has its ephemeral key. */
static sotto_status check_client(exchange_file *f, sotto_err *err)
{
    sotto_hpke_inspection seen;
    uint8_t info[SOTTO_OHTTP_INFO];
    sotto_bytes private_key, plain;
    sotto_buf sealed;
    sotto_aead aead = {0};

    if (json_object_get(f->item, "client_ephemeral_secret_key") == NULL)
        return SOTTO_OK;
    SOTTO_TRY(hex(f, &private_key, "client_ephemeral_secret_key", err));
    SOTTO_TRY(hex(f, &plain, "request_bhttp", err));
    SOTTO_TRY(sotto_buf_take(&sealed, f->arena, 7 + 133 + plain.len + SOTTO_AEAD_TAG_SIZE, err));
    sotto_ohttp_info(info, f->config.id, f->config.suite);
    for (size_t i = 0; i < SOTTO_OHTTP_HEADER; i++)
        sealed.data[sealed.len++] = info[sizeof info - SOTTO_OHTTP_HEADER + i];
    SOTTO_TRY(sotto_hpke_inspect_send(&seen, &sealed, &f->config, private_key,
                                      sotto_bytes_of(info, sizeof info), err));
    sotto_status status =
        sotto_aead_init(&aead, sotto_aead_find(f->config.suite.aead), SOTTO_AEAD_SEAL, err);
    if (status == SOTTO_OK)
        status = sotto_aead_set_key(&aead, seen.key, err);
    if (status == SOTTO_OK)
        status =
            sotto_aead_seal(&aead, &sealed, seen.base_nonce, sotto_bytes_of(NULL, 0), plain, err);
    sotto_aead_clear(&aead);
    SOTTO_TRY(status);
    return same(f, "encapsulated_request", sealed.data, sealed.len, err);
}

static sotto_status check_response(exchange_file *f, sotto_err *err)
{
    sotto_ohttp_answer_keys keys;
    sotto_bytes wire, plain;
    sotto_buf out;

    SOTTO_TRY(hex(f, &wire, "encapsulated_response", err));
    SOTTO_TRY(hex(f, &plain, "response_bhttp", err));
    SOTTO_TRY(sotto_buf_take(&out, f->arena, wire.len + plain.len + SOTTO_OHTTP_OVERHEAD, err));
    SOTTO_TRY(sotto_ohttp_response_unseal(&f->exchange, &out, wire, err));
    SOTTO_TRY(sotto_vectors_compare(plain, sotto_buf_bytes(&out), "response_bhttp", err));
    SOTTO_TRY(sotto_ohttp_answer_keys_of(&keys, &f->exchange, wire.data, err));
    SOTTO_TRY(same(f, "response_salt", keys.salt, keys.salt_len, err));
    SOTTO_TRY(same(f, "response_prk", keys.prk, keys.prk_len, err));
    SOTTO_TRY(same(f, "response_aead_key", keys.key,
                   sotto_aead_find(f->config.suite.aead)->key_size, err));
    SOTTO_TRY(same(f, "response_aead_nonce", keys.nonce, sizeof keys.nonce, err));
    out.len = 0;
    SOTTO_TRY(sotto_ohttp_response_seal(&f->exchange, &out, NULL, wire.data, plain, err));
    return sotto_vectors_compare(wire, sotto_buf_bytes(&out), "encapsulated_response", err);
}

static sotto_status check_all(exchange_file *f, sotto_err *err)
{
    SOTTO_TRY(open_gateway(f, err));
    SOTTO_TRY(check_request(f, err));
    SOTTO_TRY(check_client(f, err));
    return check_response(f, err);
}

static void run_item(const sotto_vector_file *file, const json_t *item, const char *name)
{
    exchange_file f = {.item = item, .arena = file->arena};
    sotto_err err = {0};
    sotto_status status = check_all(&f, &err);

    if (json_object_get(item, "mistake") != NULL) {
        const bool refused = status == SOTTO_MALFORMED || status == SOTTO_REJECTED;

        err = (sotto_err){0};
        status = refused ? SOTTO_OK : sotto_fail(&err, SOTTO_REJECTED, "its mistake is not seen");
    }
    if (status == SOTTO_MISSING)
        sotto_tally_skip(file->tally, file->path, name, err.reason);
    else
        sotto_vectors_tell(file, name, status, &err);
    sotto_hpke_receiver_free(f.receiver);
    sotto_wipe(&f, sizeof f);
}

void sotto_vectors_ohttp(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_item);
}
