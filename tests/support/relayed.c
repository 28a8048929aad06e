#include "support/relayed.h"

#include "base/hex.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"

#include <stdio.h>
#include <string.h>

enum { KEY_ID = 7, REQUEST = 8192 };

static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                       SOTTO_HPKE_AEAD_AES128_GCM};

static sotto_hpke_key gateway_key(sotto_test *t)
{
    static const uint8_t seed[32] = {99};
    sotto_hpke_key key;

    CHECK_OK(t, sotto_hpke_key_derive(&key, suite.kem, sotto_bytes_of(seed, sizeof seed), &t->err));
    return key;
}

void sotto_test_relayed_answer(sotto_test *t, sotto_buf *out, sotto_bytes wire,
                               sotto_test_relayed *relayed)
{
    static uint8_t plain[REQUEST];
    const size_t room = relayed->content.len + 1024;
    const sotto_hpke_key key = gateway_key(t);
    sotto_buf opened = sotto_buf_over(plain, sizeof plain), sealed = sotto_test_buf(t, 2 * room);
    uint8_t info[SOTTO_OHTTP_INFO];
    const uint8_t random[SOTTO_OHTTP_NONCE] = {1};
    sotto_hpke_receiver *receiver;
    sotto_ohttp_request request;
    sotto_ohttp_exchange exchange;
    sotto_bhttp m;

    sotto_ohttp_info(info, KEY_ID, suite);
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, sotto_bytes_of(info, sizeof info),
                                        &t->err));
    CHECK_OK(t, sotto_ohttp_request_read(&request, wire, &t->err));
    CHECK_OK(t, sotto_ohttp_request_unseal(&exchange, &opened, receiver, &request,
                                           &(sotto_agreement){.peer = request.enc}, &t->err));
    sotto_hpke_receiver_free(receiver);
    CHECK_OK(t, sotto_bhttp_decode(&m, plain, opened.len, &t->err));
    (void)snprintf(relayed->method, sizeof relayed->method, "%.*s", (int)m.method.len,
                   (const char *)m.method.data);
    (void)snprintf(relayed->url, sizeof relayed->url, "%.*s://%.*s%.*s", (int)m.scheme.len,
                   (const char *)m.scheme.data, (int)m.authority.len,
                   (const char *)m.authority.data, (int)m.path.len, (const char *)m.path.data);
    CHECK_EQUAL(t, 0, m.content.len);
    CHECK_OK(t, sotto_bhttp_encode(&sealed,
                                   &(sotto_bhttp){.response = true,
                                                  .status = relayed->status ? relayed->status : 200,
                                                  .content = relayed->content},
                                   room, &t->err));
    CHECK_OK(t, sotto_ohttp_response_seal(&exchange, out, NULL, random, sotto_buf_bytes(&sealed),
                                          &t->err));
}

sotto_bytes sotto_test_relayed_parties(sotto_test *t, sotto_bytes servers)
{
    enum { MORE = 1024 };
    const sotto_hpke_key key = gateway_key(t);
    const sotto_hpke_config config = sotto_hpke_config_of(&key, KEY_ID, suite.kdf, suite.aead);
    uint8_t wire[64];
    sotto_buf encoded = sotto_buf_over(wire, sizeof wire);
    char *out = sotto_test_take(t, servers.len + MORE), hex[2 * sizeof wire + 1];

    CHECK_OK(t, sotto_hpke_config_encode(&encoded, &config, &t->err));
    sotto_hex_encode(hex, sotto_buf_bytes(&encoded));
    (void)snprintf(out, servers.len + MORE,
                   "%.*s, \"relay\": {\"role\": \"relay\", \"url\": \"https://relay.example/g\"}, "
                   "\"gateway\": {\"role\": \"gateway\", \"url\": \"https://gateway.example/\", "
                   "\"hpke\": [{\"config\": \"%s\", \"from\": \"2026-01-01T00:00:00Z\", \"until\": "
                   "\"2028-01-01T00:00:00Z\"}]}}",
                   (int)servers.len - 1, (const char *)servers.data, hex);
    return sotto_bytes_of(out, strlen(out));
}
