#include "support/wallet.h"

#include "base/hex.h"
#include "crypto/hash.h"
#include "recipe/signed_parties.h"
#include "seal/token/attested.h"

#include <stdio.h>
#include <string.h>

enum { LIST = 1 << 20 };

sotto_test_phone sotto_test_wallet_phone;
sotto_test_issuer sotto_test_wallet_issuer;
sotto_test_attester sotto_test_wallet_attester;
static const uint8_t enrolment[SOTTO_DEVICE_ENROLMENT] = {9};

/* ---- the other side ------------------------------------------------------------------------------------------ */

static sotto_status (*carry_report)(void *context, sotto_exchange *exchange);

static sotto_status say(sotto_exchange *exchange, unsigned status, sotto_bytes body)
{
    const sotto_exchange_head head = {
        .size = sizeof head, .status = status, .media_type = SOTTO_TOKEN_RESPONSE_TYPE};

    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, body.data, body.len);
}

/* The evidence must be this device's, of this request. */
static void check_evidence(sotto_test *t, sotto_bytes body, const char *url)
{
    sotto_reader in = sotto_reader_over(body);
    const sotto_bytes evidence = sotto_read_opaque16(&in);
    const sotto_bytes request = sotto_read_bytes(&in, SOTTO_TYPE2_REQUEST);
    uint8_t text[SOTTO_ATTESTED_TEXT], key[32], id[32];
    const char *hex = strstr(url, "tokens/");

    CHECK_OK(t, sotto_reader_finish(&in, "body", &t->err));
    CHECK(t, hex && sotto_hex_decode(id, sizeof id, sotto_bytes_of(hex + 7, strlen(hex + 7))));
    CHECK_BYTES(t, sotto_test_wallet_issuer.key.id, id, 32);
    CHECK_EQUAL(t, SOTTO_SIGN_PUBLIC + SOTTO_SIGNATURE, evidence.len);
    CHECK_OK(t, sotto_device_enrolment_key(key, enrolment, &t->err));
    CHECK_BYTES(t, key, evidence.data, 32);
    const sotto_bytes signed_text =
        sotto_attested_text(text, sotto_test_wallet_issuer.key.id, request);
    CHECK_OK(t,
             sotto_signature_check(key, evidence.data + SOTTO_SIGN_PUBLIC, signed_text, &t->err));
}

static sotto_status attest(sotto_test *t, sotto_exchange *exchange)
{
    const size_t len = (size_t)exchange->body_length;
    uint8_t *body = sotto_test_take(t, len), digest[32], response[SOTTO_TYPE2_RESPONSE];
    size_t read;

    SOTTO_TRY(exchange->read(exchange, 0, body, len, &read));
    CHECK_EQUAL(t, len, read);
    check_evidence(t, sotto_bytes_of(body, len), exchange->url);
    CHECK(t, strcmp(exchange->media_type, SOTTO_ATTESTED_TYPE) == 0 && !exchange->recipe);
    sotto_test_wallet_attester.bodies[sotto_test_wallet_attester.asks++ % SOTTO_TEST_ASKS] =
        sotto_bytes_of(body, len);
    const sotto_bytes request =
        sotto_bytes_of(body + len - SOTTO_TYPE2_REQUEST, SOTTO_TYPE2_REQUEST);
    sotto_hash_once(digest, SOTTO_SHA256, request);
    if (sotto_test_wallet_attester.says)
        return say(exchange, sotto_test_wallet_attester.says, sotto_bytes_of("{}", 2));
    if (sotto_test_wallet_attester.portal)
        return say(exchange, 200, sotto_bytes_of(body, SOTTO_TYPE2_RESPONSE));
    if (sotto_test_wallet_attester.counted &&
        memcmp(digest, sotto_test_wallet_attester.digest, sizeof digest) != 0)
        return say(exchange, 409, sotto_bytes_of("{}", 2));
    sotto_test_wallet_attester.counted = true;
    memcpy(sotto_test_wallet_attester.digest, digest, sizeof digest);
    if (sotto_test_wallet_attester.down)
        return SOTTO_IO;
    CHECK_OK(t, sotto_type2_issue(&sotto_test_wallet_issuer.secret, sotto_test_wallet_issuer.key.id,
                                  response, request, &t->err));
    sotto_test_wallet_attester.tokens++;
    return say(exchange, 200, sotto_bytes_of(response, sizeof response));
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_test_phone *p = context;

    if (!strstr(exchange->url, "attester.example"))
        return carry_report(context, exchange);
    if (sotto_test_wallet_attester.any_key) {
        if (p->hook)
            p->hook(p->hook_context);
        sotto_test_wallet_attester.asks++;
        return SOTTO_IO;
    }
    return sotto_test_wallet_attester.off ? SOTTO_AGAIN : attest(p->t, exchange);
}

/* ---- files --------------------------------------------------------------------------------------------------- */

sotto_bytes sotto_test_sign_list_as(sotto_test *t, uint8_t seed, uint64_t serial, const char *list)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {seed};
    sotto_signed_parties file = {
        .kind = SOTTO_SIGNED_KEYS, .serial = serial, .parties = sotto_bytes_of(list, strlen(list))};
    sotto_buf out = sotto_test_buf(t, LIST);
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    CHECK_OK(t, sotto_signed_parties_sign(&file, &signer, &t->err));
    CHECK_OK(t, sotto_signed_parties_encode(&out, &file, &t->err));
    sotto_signer_clear(&signer);
    return sotto_buf_bytes(&out);
}

sotto_bytes sotto_test_sign_list(sotto_test *t, uint8_t seed, const char *list)
{
    return sotto_test_sign_list_as(t, seed, 1, list);
}

int sotto_test_list_entry(char *out, size_t size, const uint8_t spki[SOTTO_TYPE2_SPKI],
                          const char *analysis, int64_t opens, int64_t closes)
{
    char hex[2 * SOTTO_TYPE2_SPKI + 1], id[65];
    uint8_t digest[32];

    sotto_hash_once(digest, SOTTO_SHA256, sotto_bytes_of(spki, SOTTO_TYPE2_SPKI));
    sotto_hex_encode(id, sotto_bytes_of(digest, sizeof digest));
    sotto_hex_encode(hex, sotto_bytes_of(spki, SOTTO_TYPE2_SPKI));
    return snprintf(out, size,
                    "{\"analysis\":\"%s\",\"opens\":%lld,\"closes\":%lld,\"id\":\"%s\","
                    "\"token_key\":\"%s\"}",
                    analysis, (long long)opens, (long long)closes, id, hex);
}

const char *sotto_test_list_of(sotto_test *t, const uint8_t spki[SOTTO_TYPE2_SPKI], int64_t closes)
{
    char entry[1200], *out = sotto_test_take(t, 1300);

    (void)sotto_test_list_entry(entry, sizeof entry, spki, SOTTO_TEST_ANALYSIS, SOTTO_TEST_OPENS,
                                closes);
    (void)snprintf(out, 1300, "{\"keys\":[\n%s]}\n", entry);
    return out;
}

/* The list with the example's collection, signed by the policy's issuer. */
sotto_bytes sotto_test_the_list(sotto_test *t)
{
    return sotto_test_sign_list(
        t, SOTTO_TEST_ISSUER_SEED,
        sotto_test_list_of(t, sotto_test_wallet_issuer.spki, SOTTO_TEST_CLOSES));
}

const char *sotto_test_token_policy_of(sotto_test *t, const char *policy)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {SOTTO_TEST_ISSUER_SEED};
    char hex[65], text[200];
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    sotto_hex_encode(hex, sotto_bytes_of(signer.public_key, SOTTO_SIGN_PUBLIC));
    sotto_signer_clear(&signer);
    (void)snprintf(text, sizeof text, "\"issuers\": {\"key:issuer\": \"%s\"}, \"min_cohort\"", hex);
    return (const char *)sotto_test_replace(t, policy, "\"min_cohort\"", text).data;
}

const char *sotto_test_token_policy(sotto_test *t)
{
    return sotto_test_token_policy_of(t, sotto_test_generous_policy);
}

sotto_bytes sotto_test_token_parties(sotto_test *t, unsigned generations)
{
    const sotto_bytes servers = sotto_test_server_parties(t, generations);

    return sotto_test_replace(
        t, (const char *)servers.data, "{\"key:leader",
        "{\"key:attester\": {\"role\": \"attester\", \"url\": \"https://attester.example/\"},"
        " \"key:issuer\": {\"role\": \"issuer\", \"url\": \"https://issuer.example/\"},"
        " \"key:leader");
}

sotto_bytes sotto_test_token_recipe(sotto_test *t, const char *name)
{
    return sotto_test_sure_recipe(t, name, "\"schedule\"", SOTTO_TEST_TOKENS);
}

/* A phone that is enrolled and knows neither key nor recipe, ten days before the collection. */
void sotto_test_wallet_init(sotto_test *t)
{
    memset(&sotto_test_wallet_attester, 0, sizeof sotto_test_wallet_attester);
    if (!sotto_test_wallet_issuer.key.rsa.size)
        sotto_test_issuer_open(t, &sotto_test_wallet_issuer, 0);
    sotto_test_phone_init(t, &sotto_test_wallet_phone, sotto_test_token_policy(t));
    sotto_test_wallet_phone.now = SOTTO_TEST_LISTED;
    sotto_test_wallet_phone.options.parties = sotto_test_token_parties(t, 1);
    sotto_test_wallet_phone.options.enrolment = enrolment;
    carry_report = sotto_test_wallet_phone.options.host.exchange;
    sotto_test_wallet_phone.options.host.exchange = carry;
}

void sotto_test_wallet_begin(sotto_test *t)
{
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK_OK(t, sotto_device_consent(sotto_test_wallet_phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&sotto_test_wallet_phone, 1, 35, "i went home"));
}

void sotto_test_wallet_start(sotto_test *t, bool files)
{
    sotto_test_wallet_init(t);
    if (files)
        sotto_test_phone_in_files(&sotto_test_wallet_phone);
    sotto_test_wallet_begin(t);
}

sotto_status sotto_test_wallet_take(sotto_test *t, sotto_bytes file)
{
    return sotto_device_take_issuer_keys(sotto_test_wallet_phone.device, file, &t->err);
}

void sotto_test_wallet_take_another(sotto_test *t, const sotto_test_issuer *issuer, int64_t opens)
{
    char entry[1200], *list = sotto_test_take(t, 1300);

    (void)sotto_test_list_entry(entry, sizeof entry, issuer->spki, "another", opens,
                                SOTTO_TEST_CLOSES);
    (void)snprintf(list, 1300, "{\"keys\":[%s]}", entry);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, list)));
}

sotto_status sotto_test_take_line(void *context, const sotto_token_line *line, sotto_err *err)
{
    sotto_token_line *last = context;

    (void)err;
    *last = *line;
    last->issuer = last->analysis = NULL;
    return SOTTO_OK;
}

/* Of the one row that there is. */
sotto_token_line sotto_test_token_line(sotto_test *t)
{
    sotto_token_line line = {0};

    CHECK_OK(t, sotto_device_tokens(sotto_test_wallet_phone.device, sotto_test_take_line, &line,
                                    &t->err));
    return line;
}

bool sotto_test_token_is(sotto_test *t, sotto_token_state state)
{
    return sotto_test_token_line(t).state == state;
}

/* At the time that was drawn. */
void sotto_test_token_ask(sotto_test *t)
{
    sotto_test_wallet_phone.now = sotto_test_token_line(t).at;
    (void)sotto_test_tick(&sotto_test_wallet_phone);
}

/* Whatever it takes until the token may be used, and the recipe is open. */
void sotto_test_token_get(sotto_test *t)
{
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 86400;
}
