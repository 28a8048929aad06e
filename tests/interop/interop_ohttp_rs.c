/* Oblivious HTTP with the Rust crates ohttp and bhttp: their client with our gateway, our client with theirs. */
#include "peer.h"

#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"

#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, KEY_ID = 42, ROOM = 1 << 16 };

static sotto_peer the_peer;

static sotto_bytes ascii(const char *text)
{
    return sotto_bytes_of(text, strlen(text));
}

static void same(sotto_test *t, sotto_bytes wanted, sotto_bytes got)
{
    CHECK_EQUAL(t, wanted.len, got.len);
    CHECK_BYTES(t, wanted.data, got.data, got.len);
}

/* Bytes that look random, of some length. */
static sotto_bytes content_of(sotto_test *t, size_t len)
{
    uint8_t *out = sotto_arena_take(&t->arena, len + 1);

    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(i * 167 + len);
    return sotto_bytes_of(out, len);
}

/* ---- their client, our gateway ------------------------------------------------------------------------------------------ */

typedef struct gateway {
    sotto_hpke_key key;
    sotto_hpke_receiver *receiver;
    sotto_bytes keys;
} gateway;

static void open_gateway(sotto_test *t, gateway *g, uint16_t aead)
{
    const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256, aead};
    static const uint8_t ikm[32] = {7};
    uint8_t info[SOTTO_OHTTP_INFO];
    sotto_buf keys = sotto_buf_over(sotto_arena_take(&t->arena, 256), 256);

    CHECK_OK(t, sotto_hpke_key_derive(&g->key, suite.kem, sotto_bytes_of(ikm, 32), &t->err));
    const sotto_hpke_config config = sotto_hpke_config_of(&g->key, KEY_ID, suite.kdf, suite.aead);
    CHECK_OK(t, sotto_ohttp_keys_encode(&keys, &config, 1, &t->err));
    g->keys = sotto_buf_bytes(&keys);
    sotto_ohttp_info(info, KEY_ID, suite);
    CHECK_OK(t, sotto_hpke_receiver_new(&g->receiver, &g->key, suite,
                                        sotto_bytes_of(info, sizeof info), &t->err));
}

static sotto_bytes their_request(sotto_test *t, const gateway *g, sotto_bytes content,
                                 const char *framing)
{
    sotto_peer_begin(&the_peer, "ask");
    sotto_peer_add_bytes(&the_peer, "keys", g->keys);
    sotto_peer_add_text(&the_peer, "method", "POST");
    sotto_peer_add_text(&the_peer, "scheme", "https");
    sotto_peer_add_text(&the_peer, "authority", "leader.example");
    sotto_peer_add_text(&the_peer, "path", "/tasks/x/reports");
    sotto_peer_add_bytes(&the_peer, "content", content);
    sotto_peer_add_text(&the_peer, "framing", framing);
    sotto_peer_obeys(t, &the_peer);
    return sotto_peer_bytes(t, &the_peer, "request");
}

static sotto_bytes our_answer(sotto_test *t, const gateway *g, sotto_bytes wire,
                              sotto_bytes content, size_t padded)
{
    static const uint8_t random[SOTTO_OHTTP_NONCE] = {5, 6, 7};
    static uint8_t plain[ROOM], message[ROOM];
    sotto_buf opened = sotto_buf_over(plain, ROOM), answer = sotto_buf_over(message, ROOM);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, ROOM), ROOM);
    sotto_ohttp_exchange exchange;
    sotto_ohttp_request request;
    sotto_bytes type;
    sotto_bhttp m;

    CHECK_OK(t, sotto_ohttp_request_read(&request, wire, &t->err));
    CHECK_EQUAL(t, KEY_ID, request.key_id);
    CHECK_OK(t, sotto_ohttp_request_unseal(&exchange, &opened, g->receiver, &request,
                                           &(sotto_agreement){.peer = request.enc}, &t->err));
    CHECK_OK(t, sotto_bhttp_decode(&m, plain, opened.len, &t->err));
    same(t, ascii("POST"), m.method);
    same(t, ascii("leader.example"), m.authority);
    same(t, ascii("/tasks/x/reports"), m.path);
    same(t, content, m.content);
    CHECK(t, sotto_bhttp_field(m.fields, "content-type", &type));
    same(t, ascii("text/plain"), type);
    CHECK_OK(t, sotto_bhttp_encode(
                    &answer, &(sotto_bhttp){.response = true, .status = 201, .content = content},
                    padded, &t->err));
    CHECK_OK(t, sotto_ohttp_response_seal(&exchange, &out, NULL, random, sotto_buf_bytes(&answer),
                                          &t->err));
    return sotto_buf_bytes(&out);
}

static void their_client_speaks_with_our_gateway(sotto_test *t)
{
    static const size_t lengths[] = {0, 1, 63, 64, 5000, 20000};

    for (size_t i = 0; i < 12; i++) {
        const sotto_bytes content = content_of(t, lengths[i % 6]);
        gateway g;

        open_gateway(t, &g, i % 2 ? SOTTO_HPKE_AEAD_CHACHA20_POLY1305 : SOTTO_HPKE_AEAD_AES128_GCM);
        const sotto_bytes request =
            their_request(t, &g, content, i < 6 ? "known" : "indeterminate");
        const sotto_bytes response = our_answer(t, &g, request, content, i % 3 ? 0 : 1 << 15);
        sotto_peer_begin(&the_peer, "hear");
        sotto_peer_add_bytes(&the_peer, "response", response);
        sotto_peer_obeys(t, &the_peer);
        CHECK(t, strcmp(sotto_peer_text(t, &the_peer, "status"), "201") == 0);
        same(t, content, sotto_peer_bytes(t, &the_peer, "content"));
        sotto_hpke_receiver_free(g.receiver);
    }
}

static void their_client_refuses_a_damaged_answer(sotto_test *t)
{
    const sotto_bytes content = content_of(t, 100);
    gateway g;

    open_gateway(t, &g, SOTTO_HPKE_AEAD_AES128_GCM);
    for (size_t at = 0; at < 138; at += 23) { /* 16 + 106 + 16 bytes */
        const sotto_bytes request = their_request(t, &g, content, "known");
        const sotto_bytes response = our_answer(t, &g, request, content, 0);

        CHECK_EQUAL(t, 138, response.len);
        ((uint8_t *)(uintptr_t)response.data)[at] ^= 1;
        sotto_peer_begin(&the_peer, "hear");
        sotto_peer_add_bytes(&the_peer, "response", response);
        CHECK(t, !sotto_peer_accepts(t, &the_peer));
    }
    sotto_hpke_receiver_free(g.receiver);
}

/* ---- our client, their gateway ------------------------------------------------------------------------------------------- */

static sotto_bytes our_request(sotto_test *t, sotto_ohttp_exchange *exchange, sotto_bytes content,
                               uint8_t seed, size_t padded)
{
    static uint8_t message[ROOM], lines[64];
    const uint8_t ikm[32] = {seed, 1, 2};
    sotto_buf plain = sotto_buf_over(message, ROOM), fields = sotto_buf_over(lines, sizeof lines);
    sotto_buf out = sotto_buf_over(sotto_arena_take(&t->arena, ROOM), ROOM);
    sotto_writer w = sotto_writer_on(&fields);
    const sotto_hpke_config *to;
    sotto_hpke_config configs[4];
    size_t count;

    sotto_peer_begin(&the_peer, "key");
    sotto_peer_obeys(t, &the_peer);
    CHECK_OK(t, sotto_ohttp_keys_decode(configs, 4, &count, sotto_peer_bytes(t, &the_peer, "keys"),
                                        &t->err));
    CHECK_OK(t, sotto_hpke_config_pick(&to, configs, count, &t->err));
    CHECK_EQUAL(t, 9, to->id);
    sotto_bhttp_field_write(&w, "content-type", ascii("text/html"));
    CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
    CHECK_OK(t, sotto_bhttp_encode(&plain,
                                   &(sotto_bhttp){.method = ascii("PUT"),
                                                  .scheme = ascii("https"),
                                                  .authority = ascii("leader.example"),
                                                  .path = ascii("/a/b"),
                                                  .fields = sotto_buf_bytes(&fields),
                                                  .content = content},
                                   padded, &t->err));
    CHECK_OK(t, sotto_ohttp_request_seal(exchange, &out, to, sotto_bytes_of(ikm, 32),
                                         sotto_buf_bytes(&plain), &t->err));
    return sotto_buf_bytes(&out);
}

static void our_client_speaks_with_their_gateway(sotto_test *t)
{
    static const size_t lengths[] = {0, 1, 63, 64, 5000, 20000};
    static uint8_t memory[ROOM];

    for (size_t i = 0; i < 12; i++) {
        const sotto_bytes content = content_of(t, lengths[i % 6]);
        sotto_buf plain = sotto_buf_over(memory, ROOM);
        sotto_ohttp_exchange exchange;
        sotto_bhttp m;

        const sotto_bytes request =
            our_request(t, &exchange, content, (uint8_t)i, i % 3 ? 0 : 1 << 15);
        sotto_peer_begin(&the_peer, "open");
        sotto_peer_add_bytes(&the_peer, "request", request);
        sotto_peer_obeys(t, &the_peer);
        CHECK(t, strcmp(sotto_peer_text(t, &the_peer, "method"), "PUT") == 0);
        CHECK(t, strcmp(sotto_peer_text(t, &the_peer, "authority"), "leader.example") == 0);
        CHECK(t, strcmp(sotto_peer_text(t, &the_peer, "path"), "/a/b") == 0);
        CHECK(t, strcmp(sotto_peer_text(t, &the_peer, "type"), "text/html") == 0);
        same(t, content, sotto_peer_bytes(t, &the_peer, "content"));
        sotto_peer_begin(&the_peer, "answer");
        sotto_peer_add_number(&the_peer, "status", 404);
        sotto_peer_add_bytes(&the_peer, "content", content);
        sotto_peer_add_text(&the_peer, "framing", i < 6 ? "known" : "indeterminate");
        sotto_peer_obeys(t, &the_peer);
        CHECK_OK(t, sotto_ohttp_response_unseal(
                        &exchange, &plain, sotto_peer_bytes(t, &the_peer, "response"), &t->err));
        CHECK_OK(t, sotto_bhttp_decode(&m, memory, plain.len, &t->err));
        CHECK(t, m.response && m.status == 404);
        same(t, content, m.content);
    }
}

static void their_gateway_refuses_a_damaged_request(sotto_test *t)
{
    for (size_t at = 7; at < 120; at += 19) {
        sotto_ohttp_exchange exchange;
        const sotto_bytes request = our_request(t, &exchange, content_of(t, 100), (uint8_t)at, 0);

        ((uint8_t *)(uintptr_t)request.data)[at] ^= 1;
        sotto_peer_begin(&the_peer, "open");
        sotto_peer_add_bytes(&the_peer, "request", request);
        CHECK(t, !sotto_peer_accepts(t, &the_peer));
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(their_client_speaks_with_our_gateway),
        CASE(their_client_refuses_a_damaged_answer),
        CASE(our_client_speaks_with_their_gateway),
        CASE(their_gateway_refuses_a_damaged_request),
    };
    const char *program = getenv("SOTTO_PEER");
    int failed;

    if (!program) {
        fprintf(stderr, "SOTTO_PEER does not name a peer: run this through ctest\n");
        return SKIPPED;
    }
    if (!sotto_peer_open(&the_peer, program))
        return 1;
    failed = RUN_TESTS(argc, argv, cases);
    if (!sotto_peer_close(&the_peer))
        failed = failed ? failed : 1;
    return failed;
}
