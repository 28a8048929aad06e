/* Tokens on a device: asking at a time that was drawn, one report for each token, and none after a reset. tests/serve/test_wallet.c
 * has a real attester and a real issuer, test_device_tokens_two.c another process. */
#include "device/device_internal.h"

#include "base/arena.h"
#include "base/hex.h"
#include "dap/admission.h"
#include "dap/dap.h"
#include "recipe/task.h"
#include "support/powerloss_vfs.h"
#include "support/wallet.h"

#include <stdio.h>
#include <string.h>

static void because(sotto_test *t, const char *sentence)
{
    sotto_explanation why;

    CHECK_OK(t, sotto_device_why(sotto_test_wallet_phone.device, &why, "50001", &t->err));
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
    CHECK_OK(t, sotto_parties_read(&parties, sotto_test_token_parties(t, generation), &t->arena,
                                   mistakes, &t->err));
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

    memcpy(collection.key_id, sotto_test_wallet_issuer.key.id, sizeof collection.key_id);
    CHECK_OK(t, sotto_admission_challenge(challenge, &collection, &t->err));
    CHECK_OK(t, sotto_dap_report_decode(&report, body, &t->err));
    CHECK_OK(t, sotto_admission_find(&admission, report.metadata.public_extensions, &t->err));
    CHECK_OK(t,
             sotto_admission_check(&admission, &sotto_test_wallet_issuer.key, challenge, &t->err));
    compile_task(t, &task, recipe, generation[1]);
    for (unsigned who = 0; who < 2; who++) {
        const sotto_hpke_ciphertext *sealed = who ? &report.helper : &report.leader;
        const sotto_hpke_key key = sotto_test_server_key(t, (sotto_party_role)who, generation[who]);
        sotto_buf aad = sotto_test_buf(t, 8192), plain = sotto_test_buf(t, sealed->payload.len);
        const sotto_agreement once = {.peer = {admission.once_key, SOTTO_ONCE_KEY}};
        sotto_hpke_receiver *receiver = NULL;
        sotto_plaintext_input_share share;

        CHECK_OK(t, sotto_input_share_aad_encode(&aad, task.id, task.configuration,
                                                 &report.metadata, report.public_share, &t->err));
        CHECK_OK(t, sotto_hpke_receiver_new(
                        &receiver, &key, suite,
                        sotto_input_share_info(info, who ? SOTTO_DAP_HELPER : SOTTO_DAP_LEADER),
                        &t->err));
        CHECK_OK(t, sotto_hpke_receiver_unseal(receiver, &plain, sealed->enc, sotto_buf_bytes(&aad),
                                               sealed->payload, &t->err));
        CHECK_OK(t, sotto_plaintext_input_share_decode(&share, sotto_buf_bytes(&plain), &t->err));
        CHECK_OK(t, sotto_admission_check_share(who, receiver, &once, sotto_buf_bytes(&aad), &share,
                                                &t->err));
        sotto_hpke_receiver_free(receiver);
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

    sotto_test_wallet_start(t, false);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_PLANNED));
    CHECK(t, sotto_test_token_line(t).at >= SOTTO_TEST_LISTED &&
                 sotto_test_token_line(t).at < SOTTO_TEST_OPENS);
    sotto_test_token_ask(t);
    CHECK_EQUAL(t, 1, sotto_test_wallet_attester.tokens);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 86400;
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_SPENT));
    CHECK_EQUAL(t, 1, sotto_test_wallet_phone.uploads);
    admit(t, sotto_test_wallet_phone.uploaded[0].body, sotto_test_token_recipe(t, "50001"), first);
    CHECK(t, sotto_test_why(&sotto_test_wallet_phone, "50001") == SOTTO_WHY_ANSWERED);
    /* Another recipe of the same collection finds it used. */
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50002"), &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK(t, sotto_test_why(&sotto_test_wallet_phone, "50002") == SOTTO_WHY_TOKEN);
    CHECK_EQUAL(t, 1, sotto_test_wallet_attester.asks);
    CHECK_EQUAL(t, 2, sotto_test_lines(&sotto_test_wallet_phone, NULL, SOTTO_RECORD_TOKEN));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void nothing_is_asked_before_its_time(sotto_test *t)
{
    sotto_test_wallet_start(t, false);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_phone.now = sotto_test_token_line(t).at - 1;
    (void)sotto_test_tick(&sotto_test_wallet_phone);
    CHECK_EQUAL(t, 0, sotto_test_wallet_attester.asks);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t))); /* nor is it drawn anew */
    CHECK_EQUAL(t, sotto_test_wallet_phone.now + 1, sotto_test_token_line(t).at);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void without_a_token_a_device_is_silent_and_says_why(sotto_test *t)
{
    sotto_test_wallet_start(t, false);
    sotto_test_wallet_phone.options.enrolment = NULL;
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK_OK(t, sotto_device_consent(sotto_test_wallet_phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 10;
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    because(t, "no list of its issuer's keys has one");
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_phone.now = sotto_test_token_line(t).at;
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    because(t, "enrolled with no attester");
    CHECK_EQUAL(t, 0, sotto_test_wallet_attester.asks + sotto_test_wallet_phone.sends);
    CHECK_EQUAL(t, 0, sotto_test_charged(&sotto_test_wallet_phone));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void a_token_that_came_is_not_used_at_once(sotto_test *t)
{
    sotto_test_wallet_start(t, false);
    sotto_test_wallet_phone.now =
        SOTTO_TEST_OPENS + 10; /* the key was listed late, or the device was off */
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    because(t, "asked for at a time that was drawn");
    sotto_test_wallet_attester.down = true;
    sotto_test_token_ask(t);
    because(t, "did not come yet");
    sotto_test_wallet_attester.down = false;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    const int64_t ready = sotto_test_token_line(t).at;
    CHECK(t,
          ready > sotto_test_wallet_phone.now); /* drawn below a day; this phone's draw is not 0 */
    CHECK(t, ready - sotto_test_wallet_phone.now < SOTTO_WALLET_REST);
    sotto_test_wallet_phone.now = ready - 1;
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    because(t, "before it is used");
    sotto_test_wallet_phone.now = ready;
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* Of two collections: whoever sees both, the attester and the leader, does not see them together. */
static void nothing_is_asked_for_beside_a_report(sotto_test *t)
{
    enum { DAY = 86400 };
    sotto_test_issuer other;
    size_t asks;

    sotto_test_wallet_start(t, true);
    sotto_test_token_get(t);
    asks = sotto_test_wallet_attester.asks;
    sotto_test_wallet_attester.any_key = true;
    sotto_test_issuer_open(t, &other, 1);
    sotto_test_wallet_take_another(t, &other, SOTTO_TEST_OPENS + 2 * DAY);
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 2 * DAY; /* offline until then */
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    for (int again = 0; again < 2; again++) {
        (void)sotto_test_tick(&sotto_test_wallet_phone);
        CHECK_EQUAL(t, 1, sotto_test_wallet_phone.uploads);
        CHECK_EQUAL(t, asks, sotto_test_wallet_attester.asks);
        sotto_test_phone_open(&sotto_test_wallet_phone); /* a host may start anew for each tick */
    }
    sotto_test_wallet_phone.now += 3601;
    (void)sotto_test_tick(&sotto_test_wallet_phone);
    CHECK_EQUAL(t, asks + 1, sotto_test_wallet_attester.asks);
    sotto_test_issuer_close(&other);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* A number in place of the modulus that 3, 5, 7, 11 and 13 divide: of its blinds 62% have no inverse. */
static void spoil(uint8_t spki[SOTTO_TYPE2_SPKI], uint8_t which)
{
    enum { DIVISOR = 3 * 5 * 7 * 11 * 13, END = SOTTO_TYPE2_SPKI - 5 };
    uint32_t rest = 0, low;

    spki[150] = which;
    memset(spki + END - 4, 0, 4);
    spki[END - 2] = 0x80;
    for (size_t i = END - 256; i < END; i++)
        rest = (rest << 8 | spki[i]) % DIVISOR;
    low = 0x8000 - rest;
    low += low % 2 ? 0 : DIVISOR;
    spki[END - 2] = (uint8_t)(low >> 8);
    spki[END - 1] = (uint8_t)low;
}

static void a_bad_key_keeps_no_other_from_being_asked_for(sotto_test *t)
{
    enum { BAD = 30, ROOM = 1200 * (BAD + 1) };
    char *list = sotto_test_take(t, ROOM);
    size_t used = (size_t)snprintf(list, ROOM, "{\"keys\":[");
    uint8_t spki[SOTTO_TYPE2_SPKI];

    sotto_test_wallet_start(t, false);
    memcpy(spki, sotto_test_wallet_issuer.spki, sizeof spki);
    for (unsigned i = 0; i < BAD; i++) {
        spoil(spki, (uint8_t)i);
        used += (size_t)sotto_test_list_entry(list + used, ROOM - used, spki, "bad",
                                              SOTTO_TEST_OPENS + i, SOTTO_TEST_CLOSES);
        used += (size_t)snprintf(list + used, ROOM - used, i + 1 < BAD ? "," : "]}");
    }
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, list)));
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_attester.any_key = true;
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 3600;
    (void)sotto_test_tick(&sotto_test_wallet_phone); /* which checks that it went well */
    CHECK(t, sotto_test_wallet_attester.asks > 0 && sotto_test_wallet_attester.asks < BAD);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_ASKED)); /* of the last one, which is good */
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void a_lost_answer_is_asked_for_with_the_same_bytes(sotto_test *t)
{
    sotto_test_wallet_start(t, true);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_attester.down = true;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_ASKED));
    sotto_test_phone_open(&sotto_test_wallet_phone); /* a restart */
    sotto_test_token_ask(t);
    sotto_test_wallet_attester.down = false;
    sotto_test_wallet_attester.portal = true; /* no token of this key: not kept */
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_ASKED));
    sotto_test_wallet_attester.portal = false;
    sotto_test_wallet_attester.says = 503;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_ASKED));
    sotto_test_wallet_attester.says = 0;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    CHECK_EQUAL(t, 5, sotto_test_wallet_attester.asks);
    for (size_t i = 1; i < sotto_test_wallet_attester.asks; i++)
        CHECK(t, sotto_bytes_equal_vartime(sotto_test_wallet_attester.bodies[0],
                                           sotto_test_wallet_attester.bodies[i]));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* Also by a host that starts again each time. */
static void an_attester_that_is_down_is_asked_less_and_less(sotto_test *t)
{
    int64_t wait = 60, last;

    sotto_test_wallet_start(t, true);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_attester.down = true;
    sotto_test_token_ask(t);
    for (size_t asks = 1; asks < 14; asks++) {
        last = sotto_test_wallet_phone.now;
        sotto_test_phone_open(&sotto_test_wallet_phone);
        const int64_t next = sotto_test_token_line(t).at;
        CHECK(t, next - last >= wait / 2 && next - last < wait + wait / 2);
        sotto_test_wallet_phone.now = next - 1;
        (void)sotto_test_tick(&sotto_test_wallet_phone);
        CHECK_EQUAL(t, asks, sotto_test_wallet_attester.asks);
        sotto_test_token_ask(t);
        CHECK_EQUAL(t, asks + 1, sotto_test_wallet_attester.asks);
        wait = wait < 3 * 3600 ? 2 * wait : 6 * 3600;
    }
    sotto_test_wallet_attester.down = false;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* It may be asked four times more before its collection closes, however often that failed. */
static void a_short_collection_is_not_missed_by_waiting(sotto_test *t)
{
    sotto_test_wallet_start(t, false);
    sotto_test_wallet_phone.now = SOTTO_TEST_CLOSES - 100;
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_attester.down = true;
    sotto_test_token_ask(t);
    const int64_t left = SOTTO_TEST_CLOSES - sotto_test_wallet_phone.now;
    CHECK(t, left >= 50); /* over half of what was left */
    CHECK(t, sotto_test_token_line(t).at - sotto_test_wallet_phone.now <= left * 3 / 8);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void a_host_that_calls_it_off_is_asked_later(sotto_test *t)
{
    sotto_test_wallet_start(t, false);
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_wallet_attester.off = true;
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_ASKED));
    sotto_test_wallet_attester.off = false;
    (void)sotto_test_tick(&sotto_test_wallet_phone);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_HELD));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void a_refusal_is_final_and_on_record(sotto_test *t)
{
    static const unsigned final[] = {409, 410};

    for (size_t i = 0; i < 2; i++) {
        sotto_test_wallet_start(t, false);
        CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
        CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                       sotto_test_token_recipe(t, "50001"), &t->err));
        sotto_test_wallet_attester.says = final[i];
        sotto_test_token_ask(t);
        CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_REFUSED));
        sotto_test_wallet_attester.says = 0;
        sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 10;
        CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
        CHECK_EQUAL(t, 1, sotto_test_wallet_attester.asks);
        because(t, "the attester refused");
        CHECK_EQUAL(t, 2,
                    sotto_test_lines(&sotto_test_wallet_phone, NULL,
                                     SOTTO_RECORD_TOKEN)); /* asked, refused */
        sotto_test_phone_close(&sotto_test_wallet_phone);
    }
}

static void a_reset_device_has_no_token(sotto_test *t)
{
    sotto_test_wallet_start(t, true);
    sotto_test_token_get(t);
    CHECK_OK(t, sotto_device_reset(sotto_test_wallet_phone.device, &t->err));
    CHECK(t, sotto_test_token_is(t, 0));
    CHECK_OK(t, sotto_device_consent(sotto_test_wallet_phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_token_ask(t);
    CHECK_EQUAL(t, 2, sotto_test_wallet_attester.asks);
    CHECK_EQUAL(t, 1, sotto_test_wallet_attester.tokens);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_REFUSED));
    sotto_test_phone_close(&sotto_test_wallet_phone);
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

    sotto_test_wallet_start(t, true);
    sotto_test_token_get(t);
    copy = sotto_test_temp(t, "copy.db");
    sotto_test_phone_close(&sotto_test_wallet_phone);
    copy_file(t, copy, sotto_test_wallet_phone.options.ledger);
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    sotto_test_phone_close(&sotto_test_wallet_phone);
    copy_file(t, sotto_test_wallet_phone.options.ledger, copy);
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK(t, sotto_device_closed(sotto_test_wallet_phone.device) != NULL);
    CHECK_OK(t, sotto_device_reset(sotto_test_wallet_phone.device, &t->err));
    CHECK(t, sotto_test_token_is(t, 0));
    CHECK_OK(t, sotto_device_consent(sotto_test_wallet_phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    sotto_test_token_ask(t);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_REFUSED));
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK_EQUAL(t, 1, sotto_test_wallet_phone.uploads);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void a_retry_and_another_seal_have_the_same_token(sotto_test *t)
{
    static const unsigned second[] = {2, 1};
    const sotto_bytes recipe = sotto_test_token_recipe(t, "50001");

    sotto_test_wallet_start(t, true);
    sotto_test_token_get(t);
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device, recipe, &t->err));
    sotto_test_wallet_phone.answer = SOTTO_DELIVERY_LATER;
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).waiting);
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).waiting);
    sotto_test_wallet_phone.options.parties = sotto_test_token_parties(t, 2);
    sotto_test_phone_open(&sotto_test_wallet_phone);
    sotto_test_wallet_phone.answer = SOTTO_DELIVERY_OUTDATED;
    CHECK_EQUAL(
        t, 0,
        sotto_test_tick(&sotto_test_wallet_phone).waiting); /* given up: the keys changed twice */
    CHECK_EQUAL(t, 4, sotto_test_wallet_phone.uploads);
    CHECK(t, sotto_bytes_equal_vartime(sotto_test_wallet_phone.uploaded[0].body,
                                       sotto_test_wallet_phone.uploaded[1].body));
    CHECK(t, !sotto_bytes_equal_vartime(sotto_test_wallet_phone.uploaded[0].body,
                                        sotto_test_wallet_phone.uploaded[3].body));
    CHECK(t, sotto_bytes_equal_vartime(nonce_of(t, sotto_test_wallet_phone.uploaded[0].body),
                                       nonce_of(t, sotto_test_wallet_phone.uploaded[3].body)));
    admit(t, sotto_test_wallet_phone.uploaded[3].body, recipe, second);
    CHECK_EQUAL(t, 1, sotto_test_wallet_attester.asks);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* The parties of the first generation, with a helper's key of P-256: DAP knows it, and a one-time key can't agree with it. */
static sotto_bytes parties_of_p256(sotto_test *t)
{
    static const char helper[] = "\"role\": \"helper\"", config[] = "\"config\": \"";
    const char *text = (const char *)sotto_test_token_parties(t, 1).data;
    const char *at = strstr(strstr(text, helper), config) + strlen(config);
    char *out = sotto_test_take(t, 8192), hex[2 * 128 + 1];
    sotto_buf bytes = sotto_test_buf(t, 128);
    sotto_hpke_key key;

    CHECK_OK(t, sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_P256,
                                      sotto_bytes_of("32 bytes that a key is made from", 32),
                                      &t->err));
    const sotto_hpke_config made =
        sotto_hpke_config_of(&key, 200, SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    CHECK_OK(t, sotto_hpke_config_encode(&bytes, &made, &t->err));
    sotto_hex_encode(hex, sotto_buf_bytes(&bytes));
    return sotto_bytes_of(
        out, (size_t)snprintf(out, 8192, "%.*s%s%s", (int)(at - text), text, hex, strchr(at, '"')));
}

static void servers_with_other_keys_get_no_token(sotto_test *t)
{
    sotto_test_wallet_init(t);
    sotto_test_wallet_phone.options.parties = parties_of_p256(t);
    sotto_test_wallet_begin(t);
    sotto_test_token_get(t);
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    because(t, "not one of X25519");
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void dummies_carry_a_token(sotto_test *t)
{
    static const unsigned first[] = {1, 1};
    sotto_bytes recipe = sotto_test_recipe_text(t, "\"rate\": 0.1", "\"rate\": 1e-9");

    recipe = sotto_test_replace(t, (const char *)recipe.data, "\"schedule\"",
                                "\"dummies\": 1, " SOTTO_TEST_TOKENS);
    sotto_test_wallet_start(t, false);
    sotto_test_token_get(t);
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device, recipe, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK_EQUAL(t, 1, sotto_test_lines(&sotto_test_wallet_phone, "50001", SOTTO_RECORD_DUMMY));
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_SPENT));
    admit(t, sotto_test_wallet_phone.uploaded[0].body, recipe, first);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* ---- crashes -------------------------------------------------------------------------------------------------- */

/* From the list to the report. A status is the machine's: it was going to happen. */
static sotto_status go_all_the_way(sotto_test *t)
{
    const sotto_conditions good = {true, true, true};
    sotto_token_line line = {0};

    SOTTO_TRY(sotto_device_offer(sotto_test_wallet_phone.device,
                                 sotto_test_token_recipe(t, "50001"), NULL));
    SOTTO_TRY(sotto_device_take_issuer_keys(sotto_test_wallet_phone.device, sotto_test_the_list(t),
                                            NULL));
    SOTTO_TRY(
        sotto_device_tokens(sotto_test_wallet_phone.device, sotto_test_take_line, &line, NULL));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS - 1;
    SOTTO_TRY(sotto_device_tick(sotto_test_wallet_phone.device, NULL, good, NULL));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 2 * 86400;
    SOTTO_TRY(sotto_device_tick(sotto_test_wallet_phone.device, NULL, good, NULL));
    return SOTTO_OK;
}

static void check_after(sotto_test *t)
{
    for (size_t i = 1; i < sotto_test_wallet_attester.asks; i++)
        CHECK(t, sotto_bytes_equal_vartime(sotto_test_wallet_attester.bodies[0],
                                           sotto_test_wallet_attester.bodies[i]));
    for (size_t i = 1; i < sotto_test_wallet_phone.uploads; i++)
        CHECK(t, sotto_bytes_equal_vartime(sotto_test_wallet_phone.uploaded[0].body,
                                           sotto_test_wallet_phone.uploaded[i].body));
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_SPENT));
    CHECK(t, sotto_test_wallet_phone.uploads >= 1);
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
        sotto_test_wallet_init(t);
        (void)snprintf(events, sizeof events, "%s/events-%u", directory, ++started);
        (void)snprintf(ledger, sizeof ledger, "%s/ledger-%u", directory, started);
        sotto_test_wallet_phone.options.events = events;
        sotto_test_wallet_phone.options.ledger = ledger;
        sotto_test_phone_in_files(&sotto_test_wallet_phone);
        sotto_test_wallet_phone.options.storage = &sotto_powerloss_storage;
        sotto_test_wallet_begin(t);
        sotto_powerloss_at((int64_t)sotto_powerloss_steps() + at);
        done = go_all_the_way(t) == SOTTO_OK;
        sotto_test_phone_close(&sotto_test_wallet_phone);
        sotto_powerloss_restore((uint64_t)at % 3);
        sotto_test_wallet_phone.now = SOTTO_TEST_LISTED;
        sotto_test_phone_open(&sotto_test_wallet_phone);
        CHECK(t, !sotto_device_closed(sotto_test_wallet_phone.device));
        CHECK_OK(t, go_all_the_way(t));
        check_after(t);
        sotto_test_phone_close(&sotto_test_wallet_phone);
        sotto_arena_rollback(&t->arena, mark);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_token_admits_one_report),
        CASE(nothing_is_asked_before_its_time),
        CASE(servers_with_other_keys_get_no_token),
        CASE(without_a_token_a_device_is_silent_and_says_why),
        CASE(a_token_that_came_is_not_used_at_once),
        CASE(nothing_is_asked_for_beside_a_report),
        CASE(a_bad_key_keeps_no_other_from_being_asked_for),
        CASE(a_lost_answer_is_asked_for_with_the_same_bytes),
        CASE(an_attester_that_is_down_is_asked_less_and_less),
        CASE(a_short_collection_is_not_missed_by_waiting),
        CASE(a_host_that_calls_it_off_is_asked_later),
        CASE(a_refusal_is_final_and_on_record),
        CASE(a_reset_device_has_no_token),
        CASE(a_restored_device_has_no_token),
        CASE(a_retry_and_another_seal_have_the_same_token),
        CASE(dummies_carry_a_token),
        CASE(power_lost_at_any_step_loses_no_token_and_uses_none_twice),
    };

    return RUN_TESTS(argc, argv, cases);
}
