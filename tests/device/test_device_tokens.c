/* Tokens on a device: keys that issuers list, asking at a time that was drawn, one report for each, and none after a reset. The
 * attester and the issuer are this test's own; tests/serve/test_admission.c has the real ones. */
#include "device/device_internal.h"

#include "base/arena.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "dap/admission.h"
#include "dap/dap.h"
#include "recipe/listed_keys.h"
#include "recipe/signed_parties.h"
#include "recipe/task.h"
#include "seal/token/attested.h"
#include "support/devices.h"
#include "support/powerloss_vfs.h"
#include "support/tokens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANALYSIS "com.example.keyboard-ngrams"
#define LISTED   (SOTTO_TEST_OPENS - 10 * 86400)

enum { ISSUER_SEED = 7, LIST = 1 << 20, ASKS = 64 };

static sotto_test_phone phone;
static sotto_test_issuer issuer;
static const uint8_t enrolment[SOTTO_DEVICE_ENROLMENT] = {9};

/* ---- the other side ------------------------------------------------------------------------------------------ */

/* An attester that counts one request for this device, in front of the issuer. */
static struct attester {
    bool down;     /* no answer, but the request arrived */
    bool portal;   /* a page in the attester's place     */
    bool off;      /* the host wants no exchange now     */
    unsigned says; /* another status than 200; 0: none   */
    size_t asks, tokens;
    sotto_bytes bodies[ASKS]; /* in the test's arena */
    bool counted;
    uint8_t digest[32];
} attester;
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
    CHECK_BYTES(t, issuer.key.id, id, 32);
    CHECK_EQUAL(t, SOTTO_SIGN_PUBLIC + SOTTO_SIGNATURE, evidence.len);
    CHECK_OK(t, sotto_device_enrolment_key(key, enrolment, &t->err));
    CHECK_BYTES(t, key, evidence.data, 32);
    sotto_attested_text(text, issuer.key.id, request.data);
    CHECK_OK(t, sotto_signature_check(key, evidence.data + SOTTO_SIGN_PUBLIC,
                                      sotto_bytes_of(text, sizeof text), &t->err));
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
    attester.bodies[attester.asks++ % ASKS] = sotto_bytes_of(body, len);
    const sotto_bytes request =
        sotto_bytes_of(body + len - SOTTO_TYPE2_REQUEST, SOTTO_TYPE2_REQUEST);
    sotto_hash_once(digest, SOTTO_SHA256, request);
    if (attester.says)
        return say(exchange, attester.says, sotto_bytes_of("{}", 2));
    if (attester.portal)
        return say(exchange, 200, sotto_bytes_of(body, SOTTO_TYPE2_RESPONSE));
    if (attester.counted && memcmp(digest, attester.digest, sizeof digest) != 0)
        return say(exchange, 409, sotto_bytes_of("{}", 2));
    attester.counted = true;
    memcpy(attester.digest, digest, sizeof digest);
    if (attester.down)
        return SOTTO_IO;
    CHECK_OK(t, sotto_type2_issue(&issuer.secret, issuer.key.id, response, request, &t->err));
    attester.tokens++;
    return say(exchange, 200, sotto_bytes_of(response, sizeof response));
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_test_phone *p = context;

    if (!strstr(exchange->url, "attester.example"))
        return carry_report(context, exchange);
    return attester.off ? SOTTO_AGAIN : attest(p->t, exchange);
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static sotto_bytes sign_list(sotto_test *t, uint8_t seed, const char *list)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {seed};
    sotto_signed_parties file = {
        .kind = SOTTO_SIGNED_KEYS, .serial = 1, .parties = sotto_bytes_of(list, strlen(list))};
    sotto_buf out = sotto_test_buf(t, LIST);
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    CHECK_OK(t, sotto_signed_parties_sign(&file, &signer, &t->err));
    CHECK_OK(t, sotto_signed_parties_encode(&out, &file, &t->err));
    sotto_signer_clear(&signer);
    return sotto_buf_bytes(&out);
}

static int write_entry(char *out, size_t size, const uint8_t spki[SOTTO_TYPE2_SPKI],
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

static const char *list_of(sotto_test *t, const uint8_t spki[SOTTO_TYPE2_SPKI], int64_t closes)
{
    char entry[1200], *out = sotto_test_take(t, 1300);

    (void)write_entry(entry, sizeof entry, spki, ANALYSIS, SOTTO_TEST_OPENS, closes);
    (void)snprintf(out, 1300, "{\"keys\":[\n%s]}\n", entry);
    return out;
}

/* The list with the example's collection, signed by the policy's issuer. */
static sotto_bytes the_list(sotto_test *t)
{
    return sign_list(t, ISSUER_SEED, list_of(t, issuer.spki, SOTTO_TEST_CLOSES));
}

static const char *policy_of(sotto_test *t)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {ISSUER_SEED};
    char hex[65], text[200];
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    sotto_hex_encode(hex, sotto_bytes_of(signer.public_key, SOTTO_SIGN_PUBLIC));
    sotto_signer_clear(&signer);
    (void)snprintf(text, sizeof text, "\"issuers\": {\"key:issuer\": \"%s\"}, \"min_cohort\"", hex);
    return (const char *)sotto_test_replace(t, sotto_test_generous_policy, "\"min_cohort\"", text)
        .data;
}

static sotto_bytes parties_of(sotto_test *t, unsigned generations)
{
    const sotto_bytes servers = sotto_test_server_parties(t, generations);

    return sotto_test_replace(
        t, (const char *)servers.data, "{\"key:leader",
        "{\"key:attester\": {\"role\": \"attester\", \"url\": \"https://attester.example/\"},"
        " \"key:issuer\": {\"role\": \"issuer\", \"url\": \"https://issuer.example/\"},"
        " \"key:leader");
}

#define TOKENS                                                                                     \
    "\"anonymity\": {\"tokens\": \"type-2\", \"attester\": \"key:attester\","                      \
    " \"issuer\": \"key:issuer\"}, \"schedule\""

static sotto_bytes recipe_of(sotto_test *t, const char *name)
{
    return sotto_test_sure_recipe(t, name, "\"schedule\"", TOKENS);
}

/* A phone that is enrolled and knows neither key nor recipe, ten days before the collection. */
static void init(sotto_test *t)
{
    memset(&attester, 0, sizeof attester);
    if (!issuer.key.rsa.size)
        sotto_test_issuer_open(t, &issuer, 0);
    sotto_test_phone_init(t, &phone, policy_of(t));
    phone.now = LISTED;
    phone.options.parties = parties_of(t, 1);
    phone.options.enrolment = enrolment;
    carry_report = phone.options.host.exchange;
    phone.options.host.exchange = carry;
}

static void begin(sotto_test *t)
{
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
}

static void start(sotto_test *t, bool files)
{
    init(t);
    if (files)
        sotto_test_phone_in_files(&phone);
    begin(t);
}

static sotto_status take(sotto_test *t, sotto_bytes file)
{
    return sotto_device_take_issuer_keys(phone.device, file, &t->err);
}

static sotto_status count_line(void *context, const sotto_token_line *line, sotto_err *err)
{
    sotto_token_line *last = context;

    (void)err;
    *last = *line;
    last->issuer = last->analysis = NULL;
    return SOTTO_OK;
}

/* Of the one row that there is. */
static sotto_token_line token(sotto_test *t)
{
    sotto_token_line line = {0};

    CHECK_OK(t, sotto_device_tokens(phone.device, count_line, &line, &t->err));
    return line;
}

static bool is(sotto_test *t, sotto_token_state state)
{
    return token(t).state == state;
}

/* At the time that was drawn. */
static void ask(sotto_test *t)
{
    phone.now = token(t).at;
    (void)sotto_test_tick(&phone);
}

/* Whatever it takes until the token may be used, and the recipe is open. */
static void get_token(sotto_test *t)
{
    CHECK_OK(t, take(t, the_list(t)));
    ask(t);
    CHECK(t, is(t, SOTTO_TOKEN_HELD));
    phone.now = SOTTO_TEST_OPENS + 86400;
}

static void because(sotto_test *t, const char *sentence)
{
    sotto_explanation why;

    CHECK_OK(t, sotto_device_why(phone.device, &why, "50001", &t->err));
    CHECK(t, why.why == SOTTO_WHY_TOKEN);
    CHECK(t, strcmp(sotto_why_name(why.why), "token") == 0);
    CHECK(t, strstr(why.sentence, sentence) != NULL);
}

/* ---- reports, as servers see them ---------------------------------------------------------------------------- */

static void compile_task(sotto_test *t, sotto_task *task, sotto_bytes recipe, unsigned generation)
{
    sotto_mistakes *mistakes = sotto_test_take(t, sizeof *mistakes);
    const sotto_parties *parties;
    const sotto_recipe *read;

    CHECK_OK(t, sotto_recipe_read(&read, recipe, &t->arena, mistakes, &t->err));
    CHECK_OK(t,
             sotto_parties_read(&parties, parties_of(t, generation), &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(task, read, parties, 0, &t->arena, &t->err));
}

/* That leader and helper each admit it. */
static void admit(sotto_test *t, sotto_bytes body, sotto_bytes recipe, const unsigned generation[2])
{
    const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                    SOTTO_HPKE_AEAD_AES128_GCM};
    sotto_admission_collection collection = {.opens = (uint64_t)SOTTO_TEST_OPENS,
                                             .closes = (uint64_t)SOTTO_TEST_CLOSES,
                                             .issuer = {(const uint8_t *)"key:issuer", 10}};
    uint8_t challenge[32], info[SOTTO_DAP_INFO_MAX];
    sotto_admission admission;
    sotto_dap_report report;
    sotto_task task;

    memcpy(collection.key_id, issuer.key.id, sizeof collection.key_id);
    CHECK_OK(t, sotto_admission_challenge(challenge, &collection, &t->err));
    CHECK_OK(t, sotto_dap_report_decode(&report, body, &t->err));
    CHECK_OK(t, sotto_admission_find(&admission, report.metadata.public_extensions, &t->err));
    CHECK_OK(t, sotto_admission_check(&admission, &issuer.key, challenge, &t->err));
    compile_task(t, &task, recipe, generation[1]);
    for (unsigned who = 0; who < 2; who++) {
        const sotto_hpke_ciphertext *sealed = who ? &report.helper : &report.leader;
        const sotto_hpke_key key = sotto_test_server_key(t, (sotto_party_role)who, generation[who]);
        sotto_buf aad = sotto_test_buf(t, 8192), plain = sotto_test_buf(t, sealed->payload.len);
        sotto_plaintext_input_share share;

        CHECK_OK(t, sotto_input_share_aad_encode(&aad, task.id, task.configuration,
                                                 &report.metadata, report.public_share, &t->err));
        CHECK_OK(t, sotto_hpke_unseal(
                        &plain, &key, suite,
                        sotto_input_share_info(info, who ? SOTTO_DAP_HELPER : SOTTO_DAP_LEADER),
                        sealed->enc, sotto_buf_bytes(&aad), sealed->payload, &t->err));
        CHECK_OK(t, sotto_plaintext_input_share_decode(&share, sotto_buf_bytes(&plain), &t->err));
        CHECK_OK(t, sotto_admission_check_share(&admission, who, sotto_buf_bytes(&aad), &share,
                                                &t->err));
    }
}

static sotto_bytes nonce_of(sotto_test *t, sotto_bytes body)
{
    sotto_admission admission;
    sotto_dap_report report;

    CHECK_OK(t, sotto_dap_report_decode(&report, body, &t->err));
    CHECK_OK(t, sotto_admission_find(&admission, report.metadata.public_extensions, &t->err));
    return sotto_bytes_of(admission.token.nonce, SOTTO_TOKEN_NONCE);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void a_token_admits_one_report(sotto_test *t)
{
    static const unsigned first[] = {1, 1};

    start(t, false);
    CHECK_OK(t, take(t, the_list(t)));
    CHECK(t, is(t, SOTTO_TOKEN_PLANNED));
    CHECK(t, token(t).at >= LISTED && token(t).at < SOTTO_TEST_OPENS);
    ask(t);
    CHECK_EQUAL(t, 1, attester.tokens);
    CHECK(t, is(t, SOTTO_TOKEN_HELD));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
    phone.now = SOTTO_TEST_OPENS + 86400;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK(t, is(t, SOTTO_TOKEN_SPENT));
    CHECK_EQUAL(t, 1, phone.uploads);
    admit(t, phone.uploaded[0].body, recipe_of(t, "50001"), first);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_ANSWERED);
    /* Another recipe of the same collection finds it used. */
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50002"), &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50002") == SOTTO_WHY_TOKEN);
    CHECK_EQUAL(t, 1, attester.asks);
    CHECK_EQUAL(t, 2, sotto_test_lines(&phone, NULL, SOTTO_RECORD_TOKEN));
    sotto_test_phone_close(&phone);
}

static void nothing_is_asked_before_its_time(sotto_test *t)
{
    start(t, false);
    CHECK_OK(t, take(t, the_list(t)));
    phone.now = token(t).at - 1;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 0, attester.asks);
    CHECK_OK(t, take(t, the_list(t))); /* nor is it drawn anew */
    CHECK_EQUAL(t, phone.now + 1, token(t).at);
    sotto_test_phone_close(&phone);
}

static void without_a_token_a_device_is_silent_and_says_why(sotto_test *t)
{
    start(t, false);
    phone.options.enrolment = NULL;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
    phone.now = SOTTO_TEST_OPENS + 10;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    because(t, "no list of its issuer's keys has one");
    CHECK_OK(t, take(t, the_list(t)));
    phone.now = token(t).at;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    because(t, "enrolled with no attester");
    CHECK_EQUAL(t, 0, attester.asks + phone.sends);
    CHECK_EQUAL(t, 0, sotto_test_charged(&phone));
    sotto_test_phone_close(&phone);
}

static void a_token_that_came_is_not_used_at_once(sotto_test *t)
{
    start(t, false);
    phone.now = SOTTO_TEST_OPENS + 10; /* the key was listed late, or the device was off */
    CHECK_OK(t, take(t, the_list(t)));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
    because(t, "asked for at a time that was drawn");
    attester.down = true;
    ask(t);
    because(t, "did not come yet");
    attester.down = false;
    (void)sotto_test_tick(&phone);
    CHECK(t, is(t, SOTTO_TOKEN_HELD));
    const int64_t ready = token(t).at;
    CHECK(t, ready > phone.now); /* drawn below a day; this phone's draw is not 0 */
    CHECK(t, ready - phone.now < SOTTO_WALLET_REST);
    phone.now = ready - 1;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    because(t, "before it is used");
    phone.now = ready;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
}

static void a_lost_answer_is_asked_for_with_the_same_bytes(sotto_test *t)
{
    start(t, true);
    CHECK_OK(t, take(t, the_list(t)));
    attester.down = true;
    ask(t);
    CHECK(t, is(t, SOTTO_TOKEN_ASKED));
    sotto_test_phone_open(&phone); /* a restart */
    phone.now += 3600;
    (void)sotto_test_tick(&phone);
    attester.down = false;
    attester.portal = true; /* no token of this key: not kept */
    phone.now += 3600;
    (void)sotto_test_tick(&phone);
    CHECK(t, is(t, SOTTO_TOKEN_ASKED));
    attester.portal = false;
    attester.says = 503;
    (void)sotto_test_tick(&phone);
    CHECK(t, is(t, SOTTO_TOKEN_ASKED));
    attester.says = 0;
    (void)sotto_test_tick(&phone);
    CHECK(t, is(t, SOTTO_TOKEN_HELD));
    CHECK_EQUAL(t, 5, attester.asks);
    for (size_t i = 1; i < attester.asks; i++)
        CHECK(t, sotto_bytes_equal_vartime(attester.bodies[0], attester.bodies[i]));
    sotto_test_phone_close(&phone);
}

static void a_host_that_calls_it_off_is_asked_later(sotto_test *t)
{
    start(t, false);
    CHECK_OK(t, take(t, the_list(t)));
    attester.off = true;
    ask(t);
    CHECK(t, is(t, SOTTO_TOKEN_ASKED));
    attester.off = false;
    (void)sotto_test_tick(&phone);
    CHECK(t, is(t, SOTTO_TOKEN_HELD));
    sotto_test_phone_close(&phone);
}

static void a_refusal_is_final_and_on_record(sotto_test *t)
{
    static const unsigned final[] = {409, 410};

    for (size_t i = 0; i < 2; i++) {
        start(t, false);
        CHECK_OK(t, take(t, the_list(t)));
        CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
        attester.says = final[i];
        ask(t);
        CHECK(t, is(t, SOTTO_TOKEN_REFUSED));
        attester.says = 0;
        phone.now = SOTTO_TEST_OPENS + 10;
        CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
        CHECK_EQUAL(t, 1, attester.asks);
        because(t, "the attester refused");
        CHECK_EQUAL(t, 2, sotto_test_lines(&phone, NULL, SOTTO_RECORD_TOKEN)); /* asked, refused */
        sotto_test_phone_close(&phone);
    }
}

static void a_reset_device_has_no_token(sotto_test *t)
{
    start(t, true);
    get_token(t);
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    CHECK(t, is(t, 0));
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, take(t, the_list(t)));
    ask(t);
    CHECK_EQUAL(t, 2, attester.asks);
    CHECK_EQUAL(t, 1, attester.tokens);
    CHECK(t, is(t, SOTTO_TOKEN_REFUSED));
    sotto_test_phone_close(&phone);
}

static void copy_file(sotto_test *t, const char *to, const char *from)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    int c;

    CHECK(t, in && out);
    while (in && out && (c = fgetc(in)) != EOF)
        (void)fputc(c, out);
    CHECK(t, in && out && fclose(in) == 0 && fclose(out) == 0);
}

static void a_restored_device_has_no_token(sotto_test *t)
{
    const char *copy;

    start(t, true);
    get_token(t);
    copy = sotto_test_temp(t, "copy.db");
    sotto_test_phone_close(&phone);
    copy_file(t, copy, phone.options.ledger);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    sotto_test_phone_close(&phone);
    copy_file(t, phone.options.ledger, copy);
    sotto_test_phone_open(&phone);
    CHECK(t, sotto_device_closed(phone.device) != NULL);
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    CHECK(t, is(t, 0));
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
    CHECK_OK(t, take(t, the_list(t)));
    ask(t);
    CHECK(t, is(t, SOTTO_TOKEN_REFUSED));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.uploads);
    sotto_test_phone_close(&phone);
}

static void a_retry_and_another_seal_have_the_same_token(sotto_test *t)
{
    static const unsigned second[] = {2, 1};
    const sotto_bytes recipe = recipe_of(t, "50001");

    start(t, true);
    get_token(t);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    phone.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    phone.options.parties = parties_of(t, 2);
    sotto_test_phone_open(&phone);
    phone.answer = SOTTO_DELIVERY_OUTDATED;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting); /* given up: the keys changed twice */
    CHECK_EQUAL(t, 4, phone.uploads);
    CHECK(t, sotto_bytes_equal_vartime(phone.uploaded[0].body, phone.uploaded[1].body));
    CHECK(t, !sotto_bytes_equal_vartime(phone.uploaded[0].body, phone.uploaded[3].body));
    CHECK(t, sotto_bytes_equal_vartime(nonce_of(t, phone.uploaded[0].body),
                                       nonce_of(t, phone.uploaded[3].body)));
    admit(t, phone.uploaded[3].body, recipe, second);
    CHECK_EQUAL(t, 1, attester.asks);
    sotto_test_phone_close(&phone);
}

static void dummies_carry_a_token(sotto_test *t)
{
    static const unsigned first[] = {1, 1};
    sotto_bytes recipe = sotto_test_recipe_text(t, "\"rate\": 0.1", "\"rate\": 1e-9");

    recipe =
        sotto_test_replace(t, (const char *)recipe.data, "\"schedule\"", "\"dummies\": 1, " TOKENS);
    start(t, false);
    get_token(t);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, "50001", SOTTO_RECORD_DUMMY));
    CHECK(t, is(t, SOTTO_TOKEN_SPENT));
    admit(t, phone.uploaded[0].body, recipe, first);
    sotto_test_phone_close(&phone);
}

static void only_issuers_of_the_policy_are_taken(sotto_test *t)
{
    const char *list;
    sotto_bytes file;
    uint8_t *changed;

    start(t, false);
    list = list_of(t, issuer.spki, SOTTO_TEST_CLOSES);
    CHECK_STATUS(t, SOTTO_MALFORMED, take(t, sotto_bytes_of(list, strlen(list))));
    CHECK_STATUS(t, SOTTO_DENIED, take(t, sign_list(t, ISSUER_SEED + 1, list)));
    file = the_list(t);
    changed = sotto_test_take(t, file.len);
    memcpy(changed, file.data, file.len);
    changed[file.len - 1] = ' ';
    CHECK_STATUS(t, SOTTO_REJECTED, take(t, sotto_bytes_of(changed, file.len)));
    CHECK(t, is(t, 0));
    CHECK_OK(t, take(t, file));
    /* A policy that names it no longer. */
    phone.options.policy =
        sotto_bytes_of(sotto_test_generous_policy, strlen(sotto_test_generous_policy));
    sotto_test_phone_close(&phone);
    sotto_test_phone_open(&phone);
    CHECK_STATUS(t, SOTTO_DENIED, take(t, file));
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    phone.now = SOTTO_TEST_OPENS + 10;
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, sotto_test_why(&phone, "50001") == SOTTO_WHY_POLICY);
    sotto_test_phone_close(&phone);
}

static void a_collection_has_one_key(sotto_test *t)
{
    uint8_t other[SOTTO_TYPE2_SPKI];
    char entries[2][1200], *both = sotto_test_take(t, 3000);

    start(t, false);
    memcpy(other, issuer.spki, sizeof other);
    other[200] ^= 1;
    CHECK_OK(t, take(t, the_list(t)));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 take(t, sign_list(t, ISSUER_SEED, list_of(t, other, SOTTO_TEST_CLOSES))));
    CHECK_STATUS(
        t, SOTTO_REJECTED,
        take(t, sign_list(t, ISSUER_SEED, list_of(t, issuer.spki, SOTTO_TEST_CLOSES + 1))));
    (void)write_entry(entries[0], 1200, issuer.spki, "another", 5, SOTTO_TEST_CLOSES);
    (void)write_entry(entries[1], 1200, other, "another", 5, SOTTO_TEST_CLOSES);
    (void)snprintf(both, 3000, "{\"keys\":[%s,%s]}", entries[0], entries[1]);
    CHECK_STATUS(t, SOTTO_MALFORMED, take(t, sign_list(t, ISSUER_SEED, both)));
    sotto_test_phone_close(&phone);
}

static sotto_status count_rows(void *context, const sotto_token_line *line, sotto_err *err)
{
    (void)line;
    (void)err;
    ++*(size_t *)context;
    return SOTTO_OK;
}

static size_t rows(sotto_test *t)
{
    size_t count = 0;

    CHECK_OK(t, sotto_device_tokens(phone.device, count_rows, &count, &t->err));
    return count;
}

/* Of this many collections, which open one after another. */
static sotto_bytes long_list(sotto_test *t, unsigned count, int64_t opens)
{
    char *out = sotto_test_take(t, LIST);
    uint8_t spki[SOTTO_TYPE2_SPKI];
    size_t used = (size_t)snprintf(out, LIST, "{\"keys\":[");

    memcpy(spki, issuer.spki, sizeof spki);
    for (unsigned i = 0; i < count; i++) {
        spki[150] = (uint8_t)i;
        spki[151] = (uint8_t)(i >> 8);
        used += (size_t)snprintf(out + used, LIST - used, i ? "," : "");
        used +=
            (size_t)write_entry(out + used, LIST - used, spki, "a", opens + i, opens + i + 1000);
    }
    (void)snprintf(out + used, LIST - used, "]}");
    return sign_list(t, ISSUER_SEED, out);
}

static void a_wallet_is_bounded(sotto_test *t)
{
    start(t, false);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, take(t, long_list(t, SOTTO_WALLET_KEYS + 1, phone.now + 1)));
    CHECK_EQUAL(t, 0, rows(t));
    CHECK_OK(t, take(t, long_list(t, SOTTO_WALLET_KEYS, phone.now + 1)));
    CHECK_EQUAL(t, SOTTO_WALLET_KEYS, rows(t));
    phone.now += 8 * 86400; /* closed, and a week passed */
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 0, rows(t));
    CHECK_OK(t, take(t, long_list(t, 3, phone.now - 5000))); /* closed already */
    CHECK_OK(t, take(t, long_list(t, 3, phone.now + 91 * 86400)));
    CHECK_EQUAL(t, 0, rows(t));
    sotto_test_phone_close(&phone);
}

/* ---- two processes -------------------------------------------------------------------------------------------- */

static sotto_wallet_row only_row(sotto_test *t)
{
    sotto_wallet_row row;
    bool found;

    CHECK_OK(t, sotto_wallet_next(phone.device->ledger, &row, &found, 0, &t->err));
    CHECK(t, found);
    return row;
}

/* Both read the row while its token is only planned. */
static void the_slower_process_asks_with_nothing_of_its_own(sotto_test *t)
{
    start(t, true);
    CHECK_OK(t, take(t, the_list(t)));
    sotto_wallet_row stale = only_row(t);
    attester.down = true;
    ask(t);
    const sotto_wallet_row asked = only_row(t);
    stale.state = SOTTO_TOKEN_ASKED;
    stale.len = SOTTO_WALLET_ASKED;
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_wallet_change(phone.device->ledger, &stale, SOTTO_TOKEN_PLANNED, "asked for",
                                     phone.now, &t->err));
    const sotto_wallet_row after = only_row(t);
    CHECK_BYTES(t, asked.secret, after.secret, sizeof after.secret);
    sotto_test_phone_close(&phone);
}

/* Both sealed a report with it; the second finds that it is used, in its own transaction. */
static void the_slower_process_does_not_use_the_token_again(sotto_test *t)
{
    start(t, true);
    get_token(t);
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50001"), &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe_of(t, "50002"), &t->err));
    sotto_ledger *ledger = phone.device->ledger;
    const uint8_t id[SOTTO_REPORT_ID_SIZE] = {1};
    const sotto_dummy dummy = {"50002", ANALYSIS, 0, SOTTO_DECISION_RECIPE, NULL};
    sotto_report report = {.bytes = {id, 16}, .inputs = {id, 1}, .token = issuer.key.id};

    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    memcpy(report.id, id, sizeof report.id);
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_outbox_put_dummy(ledger, &dummy, &report, phone.now, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, phone.uploads);
    CHECK_EQUAL(t, 0, only_row(t).len);
    sotto_test_phone_close(&phone);
}

/* ---- timing: asking has nothing to do with the draw ----------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* sqrt(n) times the greatest distance between the two distributions (Kolmogorov and Smirnov). */
static double distance(double *a, size_t n, double *b, size_t m)
{
    double most = 0;
    size_t i = 0, j = 0;

    qsort(a, n, sizeof *a, by_time);
    qsort(b, m, sizeof *b, by_time);
    while (i < n && j < m) {
        if (a[i] <= b[j])
            i++;
        else
            j++;
        most = fmax(most, fabs((double)i / (double)n - (double)j / (double)m));
    }
    return most * sqrt((double)n * (double)m / (double)(n + m));
}

static void when_a_token_is_asked_for_tells_nothing_of_the_draw(sotto_test *t)
{
    enum { DEVICES = 600 };
    static double times[2][DEVICES], even[DEVICES];
    size_t count[2] = {0, 0};
    sotto_bytes recipe = sotto_test_recipe_text(t, "\"rate\": 0.1", "\"rate\": 0.5");

    recipe = sotto_test_replace(t, (const char *)recipe.data, "\"schedule\"", TOKENS);
    for (unsigned i = 0; i < DEVICES; i++) {
        start(t, false);
        CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
        CHECK_OK(t, take(t, the_list(t)));
        const double at = (double)(token(t).at - LISTED);
        phone.now = SOTTO_TEST_OPENS + 3600;
        (void)sotto_test_tick(&phone);
        const bool drawn = sotto_test_why(&phone, "50001") != SOTTO_WHY_NOT_SAMPLED;
        CHECK_EQUAL(t, 1, attester.asks); /* whatever was drawn */
        times[drawn][count[drawn]++] = at;
        even[i] = (i + 0.5) / DEVICES * (SOTTO_TEST_OPENS - LISTED);
        sotto_test_phone_close(&phone);
    }
    CHECK(t, count[0] > DEVICES / 3 && count[1] > DEVICES / 3);
    /* 2.7 is passed by one in 10^6 that are alike. */
    CHECK(t, distance(times[0], count[0], times[1], count[1]) < 2.7);
    CHECK(t, distance(times[0], count[0], even, DEVICES) < 2.7);
    CHECK(t, distance(times[1], count[1], even, DEVICES) < 2.7);
}

/* ---- crashes -------------------------------------------------------------------------------------------------- */

/* From the list to the report. A status is the machine's: it was going to happen. */
static sotto_status go_all_the_way(sotto_test *t)
{
    const sotto_conditions good = {true, true, true};
    sotto_token_line line = {0};

    SOTTO_TRY(sotto_device_offer(phone.device, recipe_of(t, "50001"), NULL));
    SOTTO_TRY(sotto_device_take_issuer_keys(phone.device, the_list(t), NULL));
    SOTTO_TRY(sotto_device_tokens(phone.device, count_line, &line, NULL));
    phone.now = SOTTO_TEST_OPENS - 1;
    SOTTO_TRY(sotto_device_tick(phone.device, NULL, good, NULL));
    phone.now = SOTTO_TEST_OPENS + 2 * 86400;
    SOTTO_TRY(sotto_device_tick(phone.device, NULL, good, NULL));
    return SOTTO_OK;
}

static void check_after(sotto_test *t)
{
    for (size_t i = 1; i < attester.asks; i++)
        CHECK(t, sotto_bytes_equal_vartime(attester.bodies[0], attester.bodies[i]));
    for (size_t i = 1; i < phone.uploads; i++)
        CHECK(t, sotto_bytes_equal_vartime(phone.uploaded[0].body, phone.uploaded[i].body));
    CHECK(t, is(t, SOTTO_TOKEN_SPENT));
    CHECK(t, phone.uploads >= 1);
}

static void power_lost_at_any_step_loses_no_token_and_uses_none_twice(sotto_test *t)
{
    const char *directory = sotto_test_directory(t);
    unsigned started = 0;
    bool done = false;

    for (int64_t at = 0; !done; at++) {
        const sotto_arena_mark mark = sotto_arena_here(&t->arena);
        char events[200], ledger[200];

        sotto_powerloss_start();
        init(t);
        (void)snprintf(events, sizeof events, "%s/events-%u", directory, ++started);
        (void)snprintf(ledger, sizeof ledger, "%s/ledger-%u", directory, started);
        phone.options.events = events;
        phone.options.ledger = ledger;
        sotto_test_phone_in_files(&phone);
        phone.options.storage = &sotto_powerloss_storage;
        begin(t);
        sotto_powerloss_at((int64_t)sotto_powerloss_steps() + at);
        done = go_all_the_way(t) == SOTTO_OK;
        sotto_test_phone_close(&phone);
        sotto_powerloss_restore((uint64_t)at % 3);
        phone.now = LISTED;
        sotto_test_phone_open(&phone);
        CHECK(t, !sotto_device_closed(phone.device));
        CHECK_OK(t, go_all_the_way(t));
        check_after(t);
        sotto_test_phone_close(&phone);
        sotto_arena_rollback(&t->arena, mark);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_token_admits_one_report),
        CASE(nothing_is_asked_before_its_time),
        CASE(without_a_token_a_device_is_silent_and_says_why),
        CASE(a_token_that_came_is_not_used_at_once),
        CASE(a_lost_answer_is_asked_for_with_the_same_bytes),
        CASE(a_host_that_calls_it_off_is_asked_later),
        CASE(a_refusal_is_final_and_on_record),
        CASE(a_reset_device_has_no_token),
        CASE(a_restored_device_has_no_token),
        CASE(a_retry_and_another_seal_have_the_same_token),
        CASE(dummies_carry_a_token),
        CASE(only_issuers_of_the_policy_are_taken),
        CASE(a_collection_has_one_key),
        CASE(a_wallet_is_bounded),
        CASE(the_slower_process_asks_with_nothing_of_its_own),
        CASE(the_slower_process_does_not_use_the_token_again),
        CASE(when_a_token_is_asked_for_tells_nothing_of_the_draw),
        CASE(power_lost_at_any_step_loses_no_token_and_uses_none_twice),
    };

    return RUN_TESTS(argc, argv, cases);
}
