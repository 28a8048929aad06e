/* The collector's key pair and its file. */
#include "sotto/collect.h"

#include "base/hex.h"
#include "sotto/random.h"

#include <jansson.h>
#include <string.h>

static const char KIND[] = "sotto-collector-key";
enum { CONFIG_MAX = 16 + SOTTO_HPKE_MAX_PUBLIC_KEY };

sotto_status sotto_collector_key_new(sotto_collector_key *out, uint8_t id, sotto_err *err)
{
    sotto_err_clear(err);

    uint8_t ikm[SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_status status;

    memset(out, 0, sizeof *out);
    out->id = id;
    out->suite = (sotto_hpke_suite){SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                    SOTTO_HPKE_AEAD_AES128_GCM};
    SOTTO_TRY(sotto_random_bytes(ikm, sizeof ikm, err));
    status = sotto_hpke_key_derive(&out->key, out->suite.kem, sotto_bytes_of(ikm, sizeof ikm), err);
    sotto_wipe(ikm, sizeof ikm);
    return status;
}

sotto_hpke_config sotto_collector_key_config(const sotto_collector_key *key)
{
    return sotto_hpke_config_of(&key->key, key->id, key->suite.kdf, key->suite.aead);
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* SIZE_MAX: not hex, or too long. */
static size_t read_hex(uint8_t *out, size_t size, json_t *json)
{
    const char *text = json_string_value(json);
    size_t len = text ? json_string_length(json) / 2 : SIZE_MAX;

    if (!text || len > size ||
        !sotto_hex_decode(out, len, sotto_bytes_of(text, json_string_length(json))))
        return SIZE_MAX;
    return len;
}

static void write_member(sotto_writer *w, const char *before, const char *hex)
{
    sotto_write_bytes(w, sotto_bytes_of(before, strlen(before)));
    sotto_write_bytes(w, sotto_bytes_of(hex, strlen(hex)));
}

sotto_status sotto_collector_key_encode(sotto_buf *out, const sotto_collector_key *key,
                                        sotto_err *err)
{
    sotto_err_clear(err);

    uint8_t wire[CONFIG_MAX];
    char config_hex[2 * CONFIG_MAX + 1], secret[2 * SOTTO_HPKE_MAX_PRIVATE_KEY + 1];
    sotto_buf config = sotto_buf_over(wire, sizeof wire);
    sotto_hpke_config public_half = sotto_collector_key_config(key);
    sotto_writer w = sotto_writer_on(out);
    sotto_status status;

    SOTTO_TRY(sotto_hpke_config_encode(&config, &public_half, err));
    sotto_hex_encode(config_hex, sotto_buf_bytes(&config));
    sotto_hex_encode(secret, sotto_bytes_of(key->key.private_key, key->key.private_key_len));
    write_member(&w, "{\n  \"sotto-collector-key\": 1,\n  \"config\": \"", config_hex);
    write_member(&w, "\",\n  \"private_key\": \"", secret);
    write_member(&w, "\"\n}\n", "");
    status = sotto_writer_finish(&w, "collector key", err);
    sotto_wipe(secret, sizeof secret);
    return status;
}

static sotto_status read_members(sotto_collector_key *out, json_t *json, sotto_err *err)
{
    uint8_t wire[CONFIG_MAX], secret[SOTTO_HPKE_MAX_PRIVATE_KEY];
    size_t wire_len = read_hex(wire, sizeof wire, json_object_get(json, "config"));
    size_t secret_len = read_hex(secret, sizeof secret, json_object_get(json, "private_key"));
    sotto_hpke_config config;
    sotto_status status;

    if (json_integer_value(json_object_get(json, KIND)) != 1 || json_object_size(json) != 3) {
        status = sotto_fail(err, SOTTO_MALFORMED, "not a collector's key of version 1");
        goto done;
    }
    if (wire_len == SIZE_MAX || secret_len == SIZE_MAX) {
        status = sotto_fail(err, SOTTO_MALFORMED, "collector key: a member is no hex");
        goto done;
    }
    status = sotto_hpke_config_decode(&config, sotto_bytes_of(wire, wire_len), err);
    if (status != SOTTO_OK)
        goto done;
    if (!config.supported) {
        status = sotto_fail(err, SOTTO_MISSING, "collector key: a suite that is not ours");
        goto done;
    }
    out->id = config.id;
    out->suite = config.suite;
    status =
        sotto_hpke_key_decode(&out->key, config.suite.kem, sotto_bytes_of(secret, secret_len), err);
    if (status == SOTTO_OK &&
        !sotto_bytes_equal_vartime(config.public_key,
                                   sotto_bytes_of(out->key.public_key, out->key.public_key_len)))
        status = sotto_fail(err, SOTTO_REJECTED, "collector key: its halves are of two keys");
done:
    sotto_wipe(secret, sizeof secret);
    return status;
}

sotto_status sotto_collector_key_decode(sotto_collector_key *out, sotto_bytes text, sotto_err *err)
{
    sotto_err_clear(err);

    json_t *json;
    sotto_status status;

    memset(out, 0, sizeof *out);
    if (text.len > SOTTO_COLLECTOR_KEY_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a collector's key has at most %d bytes",
                          SOTTO_COLLECTOR_KEY_MAX);
    json = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json))
        status = read_members(out, json, err);
    else
        status = sotto_fail(err, SOTTO_MALFORMED, "collector key: not a JSON object");
    json_decref(json);
    if (status != SOTTO_OK)
        sotto_wipe(out, sizeof *out);
    return status;
}
