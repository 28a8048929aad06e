/* Vectors of Oblivious HTTP: one exchange for each KEM and AEAD, and exchanges damaged in one place. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"

static sotto_bytes text(const char *string)
{
    return sotto_bytes_of(string, strlen(string));
}

/* One exchange; a request and an answer of some length. */
typedef struct plan {
    uint8_t key_id;
    sotto_hpke_suite suite;
    sotto_hpke_key key, ephemeral;
    sotto_buf request, sealed_request, response, sealed_response;
} plan;

static sotto_status fill_messages(sotto_gen *gen, plan *p, sotto_err *err)
{
    sotto_bytes content;
    const sotto_bhttp answer = {.response = true, .status = 200, .content = text("so be it")};
    sotto_bhttp ask = {.method = text("POST"),
                       .scheme = text("https"),
                       .authority = text("leader.example"),
                       .path = text("/tasks/x/reports")};

    SOTTO_TRY(sotto_gen_bytes(gen, &content, 80, err));
    ask.content = content;
    SOTTO_TRY(sotto_buf_take(&p->request, gen->arena, 512, err));
    SOTTO_TRY(sotto_buf_take(&p->response, gen->arena, 512, err));
    SOTTO_TRY(sotto_bhttp_encode(&p->request, &ask, 192, err));
    return sotto_bhttp_encode(&p->response, &answer, 64, err);
}

static sotto_status seal(sotto_gen *gen, plan *p, sotto_err *err)
{
    sotto_bytes ikm, random;
    sotto_ohttp_exchange exchange;

    SOTTO_TRY(sotto_gen_bytes(gen, &ikm, 66, err));
    SOTTO_TRY(sotto_hpke_key_derive(&p->key, p->suite.kem, ikm, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &ikm, 66, err));
    SOTTO_TRY(sotto_hpke_key_derive(&p->ephemeral, p->suite.kem, ikm, err));
    SOTTO_TRY(sotto_gen_bytes(gen, &random, SOTTO_OHTTP_NONCE, err));
    SOTTO_TRY(sotto_buf_take(&p->sealed_request, gen->arena, 1024, err));
    SOTTO_TRY(sotto_buf_take(&p->sealed_response, gen->arena, 1024, err));
    const sotto_hpke_config to =
        sotto_hpke_config_of(&p->key, p->key_id, p->suite.kdf, p->suite.aead);
    SOTTO_TRY(sotto_ohttp_request_seal(&exchange, &p->sealed_request, &to, ikm,
                                       sotto_buf_bytes(&p->request), err));
    return sotto_ohttp_response_seal(&exchange, &p->sealed_response, NULL, random.data,
                                     sotto_buf_bytes(&p->response), err);
}

static sotto_status put(sotto_gen *gen, json_t *item, const plan *p, sotto_err *err)
{
    uint8_t memory[256];
    sotto_buf keys = sotto_buf_over(memory, sizeof memory);
    const sotto_hpke_config config =
        sotto_hpke_config_of(&p->key, p->key_id, p->suite.kdf, p->suite.aead);

    SOTTO_TRY(sotto_ohttp_keys_encode(&keys, &config, 1, err));
    sotto_gen_put_hex(gen, item, "key_config", sotto_bytes_of(memory + 2, keys.len - 2));
    sotto_gen_put_hex(gen, item, "gateway_secret_key",
                      sotto_bytes_of(p->key.private_key, p->key.private_key_len));
    sotto_gen_put_hex(gen, item, "client_ephemeral_secret_key",
                      sotto_bytes_of(p->ephemeral.private_key, p->ephemeral.private_key_len));
    sotto_gen_put_hex(gen, item, "client_ephemeral_public_key",
                      sotto_bytes_of(p->ephemeral.public_key, p->ephemeral.public_key_len));
    sotto_gen_put_hex(gen, item, "request_bhttp", sotto_buf_bytes(&p->request));
    sotto_gen_put_hex(gen, item, "encapsulated_request", sotto_buf_bytes(&p->sealed_request));
    sotto_gen_put_hex(gen, item, "response_bhttp", sotto_buf_bytes(&p->response));
    sotto_gen_put_hex(gen, item, "encapsulated_response", sotto_buf_bytes(&p->sealed_response));
    return SOTTO_OK;
}

static sotto_status add(sotto_gen *gen, json_t *array, plan *p, const char *mistake, sotto_err *err)
{
    json_t *item = json_object();

    sotto_gen_add(gen, array, item);
    if (mistake)
        sotto_gen_put(gen, item, "mistake", json_string(mistake));
    return put(gen, item, p, err);
}

static sotto_status make_suites(sotto_gen *gen, sotto_err *err)
{
    static const uint16_t kems[] = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KEM_P256,
                                    SOTTO_HPKE_KEM_X448};
    static const uint16_t aeads[] = {1, 2, 3};
    json_t *root = json_array();

    sotto_gen_start(gen, "suites");
    for (size_t i = 0; i < 9; i++) {
        plan p = {.key_id = (uint8_t)(i * 29),
                  .suite = {kems[i / 3], (uint16_t)(1 + i % 3), aeads[i % 3]}};

        SOTTO_TRY(fill_messages(gen, &p, err));
        SOTTO_TRY(seal(gen, &p, err));
        SOTTO_TRY(add(gen, root, &p, NULL, err));
    }
    return sotto_gen_write(gen, "suites", root, err);
}

static sotto_status make_hostile(sotto_gen *gen, sotto_err *err)
{
    json_t *root = json_array();
    plan p = {.key_id = 9,
              .suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM}};

    sotto_gen_start(gen, "hostile");
    SOTTO_TRY(fill_messages(gen, &p, err));
    SOTTO_TRY(seal(gen, &p, err));
    uint8_t *request = p.sealed_request.data, *response = p.sealed_response.data;
    const size_t len = p.sealed_request.len, answer_len = p.sealed_response.len;
    const struct {
        const char *mistake;
        uint8_t *byte;
    } flips[] = {{"another key's id", request},
                 {"another enc", request + SOTTO_OHTTP_HEADER},
                 {"a flipped bit of the request", request + len - 20},
                 {"a flipped bit of the request's tag", request + len - 1},
                 {"another response nonce", response},
                 {"a flipped bit of the response", response + 20},
                 {"a flipped bit of the response's tag", response + answer_len - 1}};

    for (size_t i = 0; i < sizeof flips / sizeof flips[0]; i++) {
        *flips[i].byte ^= 1;
        SOTTO_TRY(add(gen, root, &p, flips[i].mistake, err));
        *flips[i].byte ^= 1;
    }
    p.sealed_request.len = len - 1;
    SOTTO_TRY(add(gen, root, &p, "a request without its last byte", err));
    p.sealed_request.len = SOTTO_OHTTP_HEADER + 32 + 15;
    SOTTO_TRY(add(gen, root, &p, "a request shorter than its tag", err));
    p.sealed_request.len = len;
    p.sealed_response.len = 31;
    SOTTO_TRY(add(gen, root, &p, "a response shorter than its nonce and tag", err));
    return sotto_gen_write(gen, "hostile", root, err);
}

sotto_status sotto_generate_ohttp(sotto_gen *gen, sotto_err *err)
{
    SOTTO_TRY(make_suites(gen, err));
    return make_hostile(gen, err);
}
