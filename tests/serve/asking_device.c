#include "asking_device.h"

#include "base/hex.h"

#include <stdio.h>
#include <string.h>

static const sotto_bytes none = {NULL, 0};

unsigned asking_enrol(sotto_test *t, const sotto_test_attested *d, const asking_device *v,
                      sotto_http_method method, const char *who)
{
    char path[100] = "devices/";

    sotto_hex_encode(path + 8, sotto_bytes_of(v->signer.public_key, 32));
    return sotto_test_attested_ask(t, d, d->attester, method, path, who, none).status;
}

static void sign_request(sotto_test *t, asking_device *v)
{
    uint8_t text[sizeof SOTTO_ATTESTED_LABEL - 1 + 32 + SOTTO_TYPE2_REQUEST];
    uint8_t *request = v->body + 2 + 96, *at = text + sizeof SOTTO_ATTESTED_LABEL - 1;

    memcpy(text, SOTTO_ATTESTED_LABEL, sizeof SOTTO_ATTESTED_LABEL - 1);
    memcpy(at, v->key.id, 32);
    memcpy(at + 32, request, SOTTO_TYPE2_REQUEST);
    v->body[0] = 0;
    v->body[1] = 96;
    memcpy(v->body + 2, v->signer.public_key, 32);
    CHECK_OK(t,
             sotto_sign(&v->signer, v->body + 2 + 32, sotto_bytes_of(text, sizeof text), &t->err));
    memcpy(v->path, "tokens/", 7);
    sotto_hex_encode(v->path + 7, sotto_bytes_of(v->key.id, 32));
}

void asking_prepare_until(sotto_test *t, const sotto_test_attested *d, asking_device *v,
                          unsigned opens, int64_t closes)
{
    sotto_type2_random random;
    char path[100];

    (void)snprintf(path, sizeof path, "collections/keyboard/%u/%lld", opens, (long long)closes);
    const sotto_http_response spki =
        sotto_test_attested_ask(t, d, d->issuer, SOTTO_HTTP_PUT, path, SOTTO_TEST_OPERATOR, none);
    sotto_type2_key_clear(&v->key);
    CHECK_OK(t, sotto_type2_key_decode(&v->key, spki.body, &t->err));
    CHECK_OK(t, sotto_type2_draw(&random, &v->key, &t->err));
    CHECK_OK(t, sotto_type2_request(&v->key, &v->pending, v->body + 2 + 96, v->digest, &random,
                                    &t->err));
    sign_request(t, v);
}

void asking_prepare(sotto_test *t, const sotto_test_attested *d, asking_device *v, unsigned opens)
{
    asking_prepare_until(t, d, v, opens, INT64_C(99999999999));
}

void asking_prepare_wrong(sotto_test *t, const sotto_test_attested *d, asking_device *v,
                          unsigned opens, bool wrong)
{
    asking_prepare(t, d, v, opens);
    if (wrong)
        memset(v->body + ASKING_BODY - SOTTO_TYPE2_NUMBER, 0xff, SOTTO_TYPE2_NUMBER);
    sign_request(t, v);
}

void asking_make(sotto_test *t, asking_device *v, uint8_t first)
{
    uint8_t seed[32] = {first};

    memset(v, 0, sizeof *v);
    CHECK_OK(t, sotto_signer_init(&v->signer, seed, &t->err));
}

void asking_clear(asking_device *v)
{
    sotto_type2_key_clear(&v->key);
    sotto_signer_clear(&v->signer);
}

sotto_http_response asking_send(sotto_test *t, const sotto_test_attested *d, const asking_device *v)
{
    return sotto_test_attested_ask(t, d, d->attester, SOTTO_HTTP_POST, v->path, "none",
                                   sotto_bytes_of(v->body, sizeof v->body));
}
