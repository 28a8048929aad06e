/* Vectors of the XOFs, TurboSHAKE and HPKE. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "seal/hpke/inspect.h"
#include "xof_stream.h"

/* ---- XOFs ------------------------------------------------------------------------------------ */

enum { ELEMENTS = 21, ELEMENT_SIZE = 16 };

typedef struct xof_plan {
    const char *kind;
    const char *suffix;
    size_t seed_len;
    size_t dst_len;
    size_t binder_len;
} xof_plan;

/* A draw is rejected about once in 2^59, so the stream itself is the vector of elements. */
static sotto_status xof_bytes(sotto_buf *out, const xof_plan *p, sotto_bytes seed, sotto_bytes dst,
                              sotto_bytes binder, sotto_err *err)
{
    sotto_xof_stream stream;

    SOTTO_TRY(sotto_xof_stream_init(&stream, p->kind, 1, seed, dst, binder, err));
    sotto_xof_stream_next(&stream, out->data, out->cap);
    out->len = out->cap;
    return sotto_xof_stream_finish(&stream, err);
}

static sotto_status make_xof(sotto_gen *gen, const xof_plan *p, sotto_err *err)
{
    char name[96];
    sotto_bytes seed, dst, binder;
    sotto_buf elements = {0};

    snprintf(name, sizeof name, "%s_%s", p->kind, p->suffix);
    sotto_gen_start(gen, name);
    SOTTO_TRY(sotto_gen_bytes(gen, &seed, p->seed_len, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &dst, p->dst_len, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &binder, p->binder_len, err));
    SOTTO_TRY(sotto_buf_take(&elements, gen->arena, (size_t)ELEMENTS * ELEMENT_SIZE, err));
    SOTTO_TRY(xof_bytes(&elements, p, seed, dst, binder, err));

    json_t *root = json_object();
    sotto_gen_put_hex(gen, root, "seed", seed);
    sotto_gen_put_hex(gen, root, "dst", dst);
    sotto_gen_put_hex(gen, root, "binder", binder);
    sotto_gen_put_number(gen, root, "length", ELEMENTS);
    sotto_gen_put_hex(gen, root, "derived_seed", sotto_bytes_of(elements.data, p->seed_len));
    sotto_gen_put_hex(gen, root, "expanded_vec_field128", sotto_buf_bytes(&elements));
    return sotto_gen_write(gen, name, root, err);
}

sotto_status sotto_generate_xof(sotto_gen *gen, sotto_err *err)
{
    static const xof_plan plans[] = {
        {"XofTurboShake128", "empty", 32, 0, 0},
        {"XofTurboShake128", "short", 32, 8, 1},
        {"XofTurboShake128", "one_block", 32, 45, 88},
        {"XofTurboShake128", "long", 32, 46, 1000},
        {"XofFixedKeyAes128", "empty", 16, 0, 0},
        {"XofFixedKeyAes128", "long", 16, 300, 500},
        {"XofHmacSha256Aes128", "empty", 32, 0, 0},
        {"XofHmacSha256Aes128", "long", 32, 255, 500},
    };

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        SOTTO_TRY(make_xof(gen, &plans[i], err));
    return SOTTO_OK;
}

/* ---- TurboSHAKE ------------------------------------------------------------------------------ */

static sotto_status add_turboshake(sotto_gen *gen, json_t *array, bool is_128, uint8_t domain,
                                   size_t len, size_t out_len, sotto_err *err)
{
    sotto_turboshake state;
    sotto_bytes message;
    sotto_buf out;
    json_t *item = json_object();

    sotto_gen_add(gen, array, item);
    SOTTO_TRY(sotto_gen_bytes(gen, &message, len, err));
    SOTTO_TRY(sotto_buf_take(&out, gen->arena, out_len, err));
    sotto_turboshake_absorb(&state, is_128 ? SOTTO_TURBOSHAKE128_RATE : SOTTO_TURBOSHAKE256_RATE,
                            domain, 1, &message.data, len, NULL, 0);
    sotto_turboshake_squeeze(&state, &out.data, out_len);
    sotto_gen_put(gen, item, "alg", json_string(is_128 ? "TurboSHAKE128" : "TurboSHAKE256"));
    sotto_gen_put_hex(gen, item, "D", sotto_bytes_of(&domain, 1));
    sotto_gen_put_number(gen, item, "L", out_len);
    sotto_gen_put_hex(gen, item, "msg", message);
    sotto_gen_put_hex(gen, item, "out", sotto_bytes_of(out.data, out_len));
    return SOTTO_OK;
}

static sotto_status fill_turboshake(sotto_gen *gen, json_t *array, bool is_128, sotto_err *err)
{
    static const uint8_t domains[] = {0x01, 0x02, 0x1f, 0x7f};
    size_t rate = is_128 ? SOTTO_TURBOSHAKE128_RATE : SOTTO_TURBOSHAKE256_RATE;
    const size_t lengths[] = {0, 1, 8, rate - 1, rate, rate + 1, 2 * rate + 9};

    for (size_t d = 0; d < sizeof domains; d++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            SOTTO_TRY(add_turboshake(gen, array, is_128, domains[d], lengths[i],
                                     lengths[(i + d) % 7] + 1, err));
    return SOTTO_OK;
}

sotto_status sotto_generate_turboshake(sotto_gen *gen, sotto_err *err)
{
    for (unsigned i = 0; i < 2; i++) {
        const char *name = i == 0 ? "turboshake128" : "turboshake256";
        json_t *array = json_array();

        sotto_gen_start(gen, name);
        sotto_status status = fill_turboshake(gen, array, i == 0, err);
        if (status != SOTTO_OK) {
            json_decref(array);
            return status;
        }
        SOTTO_TRY(sotto_gen_write(gen, name, array, err));
    }
    return SOTTO_OK;
}

/* ---- HPKE ------------------------------------------------------------------------------------ */

static void put_pair(sotto_gen *gen, json_t *item, const sotto_hpke_key *key,
                     const char *public_key, const char *private_key)
{
    sotto_gen_put_hex(gen, item, public_key, sotto_bytes_of(key->public_key, key->public_key_len));
    sotto_gen_put_hex(gen, item, private_key,
                      sotto_bytes_of(key->private_key, key->private_key_len));
}

static void put_schedule(sotto_gen *gen, json_t *item, const sotto_hpke_inspection *seen)
{
    sotto_gen_put_hex(gen, item, "shared_secret",
                      sotto_bytes_of(seen->shared_secret, seen->shared_secret_len));
    sotto_gen_put_hex(gen, item, "key_schedule_context",
                      sotto_bytes_of(seen->key_schedule_context, seen->key_schedule_context_len));
    sotto_gen_put_hex(gen, item, "secret", sotto_bytes_of(seen->secret, seen->secret_len));
    sotto_gen_put_hex(gen, item, "key", sotto_bytes_of(seen->key, seen->key_len));
    sotto_gen_put_hex(gen, item, "base_nonce",
                      sotto_bytes_of(seen->base_nonce, seen->base_nonce_len));
    sotto_gen_put_hex(gen, item, "exporter_secret",
                      sotto_bytes_of(seen->exporter_secret, seen->secret_len));
}

static sotto_status add_encryption(sotto_gen *gen, json_t *array, sotto_hpke_context *context,
                                   const uint8_t *base_nonce, uint64_t sequence, sotto_err *err)
{
    uint8_t nonce[SOTTO_AEAD_NONCE_SIZE];
    sotto_bytes plain, aad;
    sotto_buf sealed;
    json_t *entry = json_object();

    sotto_gen_add(gen, array, entry);
    SOTTO_TRY(sotto_gen_bytes(gen, &plain, (size_t)sotto_gen_number(gen, 40), err));
    SOTTO_TRY(sotto_gen_bytes(gen, &aad, (size_t)sotto_gen_number(gen, 20), err));
    SOTTO_TRY(sotto_buf_take(&sealed, gen->arena, plain.len + SOTTO_HPKE_TAG_SIZE, err));
    sotto_hpke_context_set_sequence(context, sequence);
    SOTTO_TRY(sotto_hpke_context_seal(context, &sealed, aad, plain, err));
    sotto_hpke_nonce(nonce, base_nonce, sequence);
    sotto_gen_put_number(gen, entry, "seq", sequence);
    sotto_gen_put_hex(gen, entry, "pt", plain);
    sotto_gen_put_hex(gen, entry, "aad", aad);
    sotto_gen_put_hex(gen, entry, "nonce", sotto_bytes_of(nonce, sizeof nonce));
    sotto_gen_put_hex(gen, entry, "ct", sotto_buf_bytes(&sealed));
    return SOTTO_OK;
}

static sotto_status add_export(sotto_gen *gen, json_t *array, sotto_hpke_context *context,
                               size_t len, sotto_err *err)
{
    sotto_bytes purpose;
    sotto_buf out;
    json_t *entry = json_object();

    sotto_gen_add(gen, array, entry);
    SOTTO_TRY(sotto_gen_bytes(gen, &purpose, (size_t)sotto_gen_number(gen, 20), err));
    SOTTO_TRY(sotto_buf_take(&out, gen->arena, len, err));
    SOTTO_TRY(sotto_hpke_context_export(context, &out, purpose, len, err));
    sotto_gen_put_hex(gen, entry, "exporter_context", purpose);
    sotto_gen_put_number(gen, entry, "L", len);
    sotto_gen_put_hex(gen, entry, "exported_value", sotto_buf_bytes(&out));
    return SOTTO_OK;
}

static sotto_status add_messages(sotto_gen *gen, json_t *item, sotto_hpke_context *context,
                                 const sotto_hpke_inspection *seen, sotto_err *err)
{
    static const uint64_t sequences[] = {0, 1, 256, UINT64_MAX - 1};
    json_t *encryptions = json_array();
    json_t *exports = json_array();

    sotto_gen_put(gen, item, "encryptions", encryptions);
    sotto_gen_put(gen, item, "exports", exports);
    for (size_t i = 0; seen->key_len > 0 && i < 4; i++)
        SOTTO_TRY(add_encryption(gen, encryptions, context, seen->base_nonce, sequences[i], err));
    SOTTO_TRY(add_export(gen, exports, context, 1, err));
    return add_export(gen, exports, context, 77, err);
}

static sotto_status fill_hpke(sotto_gen *gen, json_t *item, sotto_hpke_suite suite, sotto_err *err)
{
    sotto_hpke_sizes sizes;
    sotto_hpke_key receiver, ephemeral;
    sotto_hpke_inspection seen;
    sotto_hpke_context *context;
    sotto_bytes info, ikm_r, ikm_e;
    sotto_buf enc, again;

    SOTTO_TRY(sotto_hpke_suite_sizes(&sizes, suite, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &info, (size_t)sotto_gen_number(gen, 40), err));
    SOTTO_TRY(sotto_gen_bytes(gen, &ikm_r, sizes.private_key, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &ikm_e, sizes.private_key, err));
    SOTTO_TRY(sotto_hpke_key_derive(&receiver, suite.kem, ikm_r, err));
    SOTTO_TRY(sotto_hpke_key_derive(&ephemeral, suite.kem, ikm_e, err));
    SOTTO_TRY(sotto_buf_take(&enc, gen->arena, sizes.public_key, err));
    SOTTO_TRY(sotto_buf_take(&again, gen->arena, sizes.public_key, err));
    sotto_hpke_config to = sotto_hpke_config_of(&receiver, 0, suite.kdf, suite.aead);
    SOTTO_TRY(sotto_hpke_inspect_send(
        &seen, &enc, &to, sotto_bytes_of(ephemeral.private_key, ephemeral.private_key_len), info,
        err));
    sotto_gen_put_number(gen, item, "mode", 0);
    sotto_gen_put_number(gen, item, "kem_id", suite.kem);
    sotto_gen_put_number(gen, item, "kdf_id", suite.kdf);
    sotto_gen_put_number(gen, item, "aead_id", suite.aead);
    sotto_gen_put_hex(gen, item, "info", info);
    sotto_gen_put_hex(gen, item, "ikmR", ikm_r);
    sotto_gen_put_hex(gen, item, "ikmE", ikm_e);
    sotto_gen_put_hex(gen, item, "enc", sotto_buf_bytes(&enc));
    put_pair(gen, item, &receiver, "pkRm", "skRm");
    put_pair(gen, item, &ephemeral, "pkEm", "skEm");
    put_schedule(gen, item, &seen);
    SOTTO_TRY(sotto_hpke_context_send(&context, &again, &to, ikm_e, info, err));
    sotto_status status = add_messages(gen, item, context, &seen, err);
    sotto_hpke_context_free(context);
    return status;
}

static sotto_status fill_kem(sotto_gen *gen, json_t *array, uint16_t kem, sotto_err *err)
{
    static const uint16_t kdfs[] = {SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_KDF_SHA384,
                                    SOTTO_HPKE_KDF_SHA512};
    static const uint16_t aeads[] = {SOTTO_HPKE_AEAD_AES128_GCM, SOTTO_HPKE_AEAD_AES256_GCM,
                                     SOTTO_HPKE_AEAD_CHACHA20_POLY1305,
                                     SOTTO_HPKE_AEAD_EXPORT_ONLY};

    for (size_t i = 0; i < 3 * 4; i++) {
        json_t *item = json_object();

        sotto_gen_add(gen, array, item);
        SOTTO_TRY(fill_hpke(gen, item, (sotto_hpke_suite){kem, kdfs[i / 4], aeads[i % 4]}, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_generate_hpke(sotto_gen *gen, sotto_err *err)
{
    static const struct {
        const char *name;
        uint16_t kem;
    } files[] = {
        {"base_p256", SOTTO_HPKE_KEM_P256}, {"base_p384", SOTTO_HPKE_KEM_P384},
        {"base_p521", SOTTO_HPKE_KEM_P521}, {"base_x25519", SOTTO_HPKE_KEM_X25519},
        {"base_x448", SOTTO_HPKE_KEM_X448},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        json_t *array = json_array();

        sotto_gen_start(gen, files[i].name);
        sotto_status status = fill_kem(gen, array, files[i].kem, err);
        if (status != SOTTO_OK) {
            json_decref(array);
            return status;
        }
        SOTTO_TRY(sotto_gen_write(gen, files[i].name, array, err));
    }
    return SOTTO_OK;
}
