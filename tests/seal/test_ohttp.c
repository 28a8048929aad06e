#include "seal/keys.h"

#include "seal/hpke/agreed.h"
#include "seal/hpke/sender.h"
#include "seal/ohttp/ohttp.h"

#include <string.h>

enum { ROOM = 512, KEY_ID = 7 };

/* A gateway with one key. */
typedef struct gateway {
    sotto_hpke_key key;
    sotto_hpke_config config;
    sotto_hpke_receiver *receiver;
} gateway;

static void open_gateway(sotto_test *t, gateway *g, sotto_hpke_suite suite, uint8_t id)
{
    uint8_t info[SOTTO_OHTTP_INFO];

    g->key = key_of(t, suite.kem, 1);
    g->config = sotto_hpke_config_of(&g->key, id, suite.kdf, suite.aead);
    sotto_ohttp_info(info, id, suite);
    CHECK_OK(t, sotto_hpke_receiver_new(&g->receiver, &g->key, suite,
                                        sotto_bytes_of(info, sizeof info), &t->err));
}

static sotto_status unseal(sotto_test *t, const gateway *g, sotto_ohttp_exchange *exchange,
                           sotto_buf *out, sotto_bytes wire)
{
    sotto_ohttp_request request;

    SOTTO_TRY(sotto_ohttp_request_read(&request, wire, &t->err));
    return sotto_ohttp_request_unseal(exchange, out, g->receiver, &request,
                                      &(sotto_agreement){.peer = request.enc}, &t->err);
}

static void both_ends_agree_with_every_suite(sotto_test *t)
{
    uint8_t wire[ROOM], opened[ROOM], answer[ROOM];
    static const uint8_t random[SOTTO_OHTTP_NONCE] = {1, 2, 3};

    for (size_t i = 0; i < (size_t)KEMS * KDFS * AEADS; i++) {
        const sotto_hpke_suite suite = {ALL_KEMS[i % KEMS], (uint16_t)(1 + i / KEMS % KDFS),
                                        (uint16_t)(1 + i / KEMS / KDFS)};
        sotto_buf out = sotto_buf_over(wire, ROOM), back = sotto_buf_over(opened, ROOM);
        sotto_buf sealed = sotto_buf_over(answer, ROOM);
        sotto_ohttp_exchange ours, theirs;
        gateway g;

        open_gateway(t, &g, suite, KEY_ID);
        CHECK_OK(t, sotto_ohttp_request_seal(&ours, &out, &g.config, ikm_of(t, 2), ascii("ask"),
                                             &t->err));
        CHECK_OK(t, unseal(t, &g, &theirs, &back, sotto_buf_bytes(&out)));
        CHECK_BYTES(t, "ask", opened, 3);
        CHECK_EQUAL(t, 3, back.len);
        CHECK_OK(t,
                 sotto_ohttp_response_seal(&theirs, &sealed, NULL, random, ascii("so"), &t->err));
        back.len = 0;
        CHECK_OK(t, sotto_ohttp_response_unseal(&ours, &back, sotto_buf_bytes(&sealed), &t->err));
        CHECK_EQUAL(t, 2, back.len);
        CHECK_BYTES(t, "so", opened, 2);
        sotto_hpke_receiver_free(g.receiver);
    }
}

/* The key that ikm gives, agreed beforehand or not, seals the same bytes. */
static void a_key_from_a_stock_seals_the_same_bytes(sotto_test *t)
{
    uint8_t wires[3][ROOM];
    sotto_ohttp_exchange exchanges[3];
    sotto_hpke_sender sender;
    sotto_ephemeral with;
    gateway g;

    open_gateway(t, &g, usual_suite(), KEY_ID);
    CHECK_OK(t, sotto_hpke_sender_init(&sender, &g.config, ascii(""), &t->err));
    CHECK_OK(t, sotto_hpke_sender_derive(&sender, &with, ikm_of(t, 2), &t->err));
    for (size_t i = 0; i < 3; i++) {
        sotto_buf out = sotto_buf_over(wires[i], ROOM);

        if (i == 2)
            sotto_hpke_sender_agree(&sender, &with, 1);
        CHECK_OK(t, sotto_ohttp_request_seal_with(
                        &exchanges[i], &out, &g.config, i > 0 ? &with : NULL,
                        i > 0 ? ascii("") : ikm_of(t, 2), ascii("ask"), &t->err));
        CHECK_BYTES(t, wires[0], wires[i], out.len);
        CHECK_BYTES(t, exchanges[0].secret, exchanges[i].secret, exchanges[0].secret_len);
        CHECK_BYTES(t, exchanges[0].enc, exchanges[i].enc, exchanges[0].enc_len);
    }
    sotto_hpke_sender_clear(&sender);
    sotto_hpke_receiver_free(g.receiver);
}

static void a_flipped_bit_anywhere_is_refused(sotto_test *t)
{
    static const uint8_t random[SOTTO_OHTTP_NONCE] = {9};
    uint8_t wire[ROOM], opened[ROOM], answer[ROOM];
    sotto_buf out = sotto_buf_over(wire, ROOM), sealed = sotto_buf_over(answer, ROOM);
    sotto_ohttp_exchange ours, theirs;
    gateway g;

    open_gateway(t, &g, usual_suite(), KEY_ID);
    CHECK_OK(t,
             sotto_ohttp_request_seal(&ours, &out, &g.config, ikm_of(t, 2), ascii("ask"), &t->err));
    for (size_t i = SOTTO_OHTTP_HEADER; i < out.len; i++) {
        sotto_buf back = sotto_buf_over(opened, ROOM);

        wire[i] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED, unseal(t, &g, &theirs, &back, sotto_buf_bytes(&out)));
        CHECK_REASON(t, "ciphertext: does not open");
        CHECK_EQUAL(t, 0, back.len);
        wire[i] ^= 1;
    }
    sotto_buf back = sotto_buf_over(opened, ROOM);
    CHECK_OK(t, unseal(t, &g, &theirs, &back, sotto_buf_bytes(&out)));
    CHECK_OK(t, sotto_ohttp_response_seal(&theirs, &sealed, NULL, random, ascii("so"), &t->err));
    for (size_t i = 0; i < sealed.len; i++) {
        back.len = 0;
        answer[i] ^= 1;
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_ohttp_response_unseal(&ours, &back, sotto_buf_bytes(&sealed), &t->err));
        CHECK_REASON(t, "ciphertext: does not open");
        answer[i] ^= 1;
    }
    sotto_hpke_receiver_free(g.receiver);
}

/* The header is authenticated too: it is in HPKE's info. */
static void a_request_is_for_one_key_id(sotto_test *t)
{
    uint8_t wire[ROOM], opened[ROOM];
    sotto_buf out = sotto_buf_over(wire, ROOM), back = sotto_buf_over(opened, ROOM);
    sotto_ohttp_exchange ours, theirs;
    gateway g, other;

    open_gateway(t, &g, usual_suite(), KEY_ID);
    open_gateway(t, &other, usual_suite(), KEY_ID + 1); /* the same key under another id */
    CHECK_OK(t,
             sotto_ohttp_request_seal(&ours, &out, &g.config, ikm_of(t, 2), ascii("ask"), &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, unseal(t, &other, &theirs, &back, sotto_buf_bytes(&out)));
    CHECK_REASON(t, "ciphertext: does not open");
    sotto_hpke_receiver_free(g.receiver);
    sotto_hpke_receiver_free(other.receiver);
}

static void truncated_requests_are_malformed(sotto_test *t)
{
    uint8_t wire[ROOM];
    sotto_buf out = sotto_buf_over(wire, ROOM);
    sotto_ohttp_exchange ours;
    sotto_ohttp_request request;
    gateway g;

    open_gateway(t, &g, usual_suite(), KEY_ID);
    CHECK_OK(t, sotto_ohttp_request_seal(&ours, &out, &g.config, ikm_of(t, 2), ascii(""), &t->err));
    CHECK_EQUAL(t, SOTTO_OHTTP_HEADER + 32 + 16, out.len);
    for (size_t len = 0; len < out.len; len++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_ohttp_request_read(&request, sotto_bytes_of(wire, len), &t->err));
        CHECK_REASON(t, "OHTTP request: too short");
    }
    wire[1] = 0x77; /* another KEM */
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_ohttp_request_read(&request, sotto_buf_bytes(&out), &t->err));
    CHECK_REASON(t, "unknown KEM");
    sotto_hpke_receiver_free(g.receiver);
}

static void truncated_responses_are_malformed(sotto_test *t)
{
    static const uint8_t short_one[31] = {0};
    uint8_t wire[ROOM], opened[ROOM];
    sotto_buf out = sotto_buf_over(wire, ROOM), back = sotto_buf_over(opened, ROOM);
    sotto_ohttp_exchange ours;
    gateway g;

    open_gateway(t, &g, usual_suite(), KEY_ID);
    CHECK_OK(t,
             sotto_ohttp_request_seal(&ours, &out, &g.config, ikm_of(t, 2), ascii("ask"), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_ohttp_response_unseal(&ours, &back,
                                             sotto_bytes_of(short_one, sizeof short_one), &t->err));
    CHECK_REASON(t, "OHTTP response: too short");
    sotto_hpke_receiver_free(g.receiver);
}

/* Answers that a relay gives to the wrong requests do not open. */
static void a_response_is_for_one_request(sotto_test *t)
{
    static const uint8_t random[SOTTO_OHTTP_NONCE] = {9};
    uint8_t wire[2][ROOM], opened[ROOM], answer[ROOM];
    sotto_ohttp_exchange ours[2], theirs;
    sotto_buf back = sotto_buf_over(opened, ROOM), sealed = sotto_buf_over(answer, ROOM);
    gateway g;

    open_gateway(t, &g, usual_suite(), KEY_ID);
    for (uint8_t i = 0; i < 2; i++) {
        sotto_buf out = sotto_buf_over(wire[i], ROOM);

        CHECK_OK(t, sotto_ohttp_request_seal(&ours[i], &out, &g.config, ikm_of(t, (uint8_t)(5 + i)),
                                             ascii("ask"), &t->err));
        CHECK_OK(t, unseal(t, &g, &theirs, &back, sotto_buf_bytes(&out)));
    }
    CHECK_OK(t, sotto_ohttp_response_seal(&theirs, &sealed, NULL, random, ascii("so"), &t->err));
    back.len = 0;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_ohttp_response_unseal(&ours[0], &back, sotto_buf_bytes(&sealed), &t->err));
    CHECK_REASON(t, "ciphertext: does not open");
    CHECK_OK(t, sotto_ohttp_response_unseal(&ours[1], &back, sotto_buf_bytes(&sealed), &t->err));
    sotto_hpke_receiver_free(g.receiver);
}

static void what_does_not_fit_is_not_written(sotto_test *t)
{
    uint8_t wire[ROOM];
    sotto_ohttp_exchange ours;
    gateway g;

    open_gateway(t, &g, usual_suite(), KEY_ID);
    for (size_t room = 0; room < SOTTO_OHTTP_HEADER + 32 + 16 + 3; room++) {
        sotto_buf out = sotto_buf_over(wire, room);

        CHECK_STATUS(
            t, SOTTO_TOO_LARGE,
            sotto_ohttp_request_seal(&ours, &out, &g.config, ikm_of(t, 2), ascii("ask"), &t->err));
        CHECK_EQUAL(t, 0, out.len);
    }
    sotto_hpke_receiver_free(g.receiver);
}

#define X25519_KEY "31e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e798155"

static void keys_survive_the_wire(sotto_test *t)
{
    uint8_t memory[256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_hpke_config configs[2], back[3];
    size_t count;

    for (uint8_t i = 0; i < 2; i++) {
        static sotto_hpke_key keys[2];

        keys[i] = key_of(t, ALL_KEMS[i], i);
        configs[i] = sotto_hpke_config_of(&keys[i], i, 1, 3);
    }
    CHECK_OK(t, sotto_ohttp_keys_encode(&out, configs, 2, &t->err));
    CHECK_OK(t, sotto_ohttp_keys_decode(back, 3, &count, sotto_buf_bytes(&out), &t->err));
    CHECK_EQUAL(t, 2, count);
    CHECK(t, back[1].supported && back[1].id == 1 && back[1].suite.kem == ALL_KEMS[1]);
    CHECK_EQUAL(t, 3, back[1].suite.aead);
    CHECK_BYTES(t, configs[1].public_key.data, back[1].public_key.data, 65);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_ohttp_keys_decode(back, 1, &count, sotto_buf_bytes(&out), &t->err));
}

static void the_first_pair_that_is_ours_is_taken(sotto_test *t)
{
    sotto_hpke_config config;

    CHECK_OK(t, sotto_ohttp_key_decode(&config,
                                       sotto_test_hex(t, "010020" X25519_KEY "0010"
                                                         "99990001"
                                                         "0001ffff"
                                                         "00020003"
                                                         "00010001"),
                                       &t->err));
    CHECK(t, config.supported);
    CHECK_EQUAL(t, 2, config.suite.kdf);
    CHECK_EQUAL(t, 3, config.suite.aead);
    CHECK_OK(t, sotto_ohttp_key_decode(&config,
                                       sotto_test_hex(t, "010020" X25519_KEY "0004"
                                                         "99990001"),
                                       &t->err));
    CHECK(t, !config.supported);
    CHECK_OK(t, sotto_ohttp_key_decode(&config, sotto_test_hex(t, "0177771234"), &t->err));
    CHECK(t, !config.supported);
}

static void keys_with_mistakes_are_refused(sotto_test *t)
{
    static const struct {
        const char *wire, *reason;
    } mistakes[] = {
        {"", "OHTTP keys: empty"},
        {"00", "OHTTP keys: too short"},
        {"0003"
         "0100",
         "OHTTP keys: too short"},
        {"0002"
         "0100",
         "OHTTP key: too short"},
        {"0028"
         "010020" X25519_KEY "0004"
         "000100",
         "OHTTP key: too short"},
        {"002a"
         "010020" X25519_KEY "0004"
         "00010001"
         "00",
         "OHTTP key: 1 trailing"},
        {"0025"
         "010020" X25519_KEY "0000",
         "OHTTP key: 0 bytes of symmetric"},
        {"002b"
         "010020" X25519_KEY "0006"
         "000100010001",
         "OHTTP key: 6 bytes of symmetric"},
        {"0029"
         "010010" X25519_KEY "0004"
         "00010001",
         "OHTTP key: too short"},
    };
    sotto_hpke_config configs[2];
    size_t count;

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_ohttp_keys_decode(configs, 2, &count,
                                             sotto_test_hex(t, mistakes[i].wire), &t->err));
        CHECK_REASON(t, mistakes[i].reason);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(both_ends_agree_with_every_suite),
        CASE(a_key_from_a_stock_seals_the_same_bytes),
        CASE(a_flipped_bit_anywhere_is_refused),
        CASE(a_request_is_for_one_key_id),
        CASE(truncated_requests_are_malformed),
        CASE(truncated_responses_are_malformed),
        CASE(a_response_is_for_one_request),
        CASE(what_does_not_fit_is_not_written),
        CASE(keys_survive_the_wire),
        CASE(the_first_pair_that_is_ours_is_taken),
        CASE(keys_with_mistakes_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
