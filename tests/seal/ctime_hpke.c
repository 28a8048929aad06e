/* HPKE with its secrets marked: ikm, private keys, plaintexts and exported values. What OpenSSL does with
 * them is followed too; verdicts (a point of small order, a tag that does not fit) are public. */
#include "support/ctime.h"
#include "support/test.h"

#include "seal/hpke/agreed.h"
#include "sotto/seal.h"

#include <string.h>

static const uint16_t kems[] = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KEM_X448};
static const uint16_t aeads[] = {SOTTO_HPKE_AEAD_AES128_GCM, SOTTO_HPKE_AEAD_AES256_GCM,
                                 SOTTO_HPKE_AEAD_CHACHA20_POLY1305};
static const char info[] = "purpose", aad[] = "beside", text[] = "a share that nobody may see";

static sotto_bytes bytes_of_text(const char *s, size_t len)
{
    return sotto_bytes_of(s, len);
}

static void derive_key(sotto_test *t, sotto_hpke_key *key, uint16_t kem, uint8_t first)
{
    uint8_t ikm[64] = {first, 2, 3};

    sotto_ctime_secret(ikm, sizeof ikm);
    CHECK_OK(t, sotto_hpke_key_derive(key, kem, sotto_bytes_of(ikm, sizeof ikm), &t->err));
    sotto_ctime_public(key->public_key, sizeof key->public_key);
}

static void seal_and_unseal(sotto_test *t, sotto_hpke_suite suite)
{
    sotto_bytes purpose = bytes_of_text(info, sizeof info), beside = bytes_of_text(aad, sizeof aad);
    uint8_t ikm[64] = {7}, plain[sizeof text], wire[256], opened[sizeof text];
    sotto_buf out = sotto_buf_over(wire, sizeof wire), back = sotto_buf_over(opened, sizeof opened);
    sotto_hpke_receiver *receiver = NULL;
    sotto_hpke_key key;

    derive_key(t, &key, suite.kem, 1);
    memcpy(plain, text, sizeof plain);
    sotto_ctime_secret(plain, sizeof plain);
    sotto_ctime_secret(ikm, sizeof ikm);
    sotto_hpke_config to = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    CHECK_OK(t, sotto_hpke_seal(&out, &to, sotto_bytes_of(ikm, sizeof ikm), purpose, beside,
                                sotto_bytes_of(plain, sizeof plain), &t->err));
    sotto_ctime_public(wire, sizeof wire); /* it is on its way to strangers */

    size_t enc = key.public_key_len;
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, purpose, &t->err));
    CHECK_OK(t, sotto_hpke_receiver_unseal(receiver, &back, sotto_bytes_of(wire, enc), beside,
                                           sotto_bytes_of(wire + enc, out.len - enc), &t->err));
    sotto_ctime_public(opened, sizeof opened);
    CHECK_BYTES(t, text, opened, sizeof text);
    sotto_hpke_receiver_free(receiver);
    sotto_wipe(&key, sizeof key);
}

static void sealing_and_unsealing_follow_no_secret(sotto_test *t)
{
    for (size_t k = 0; k < sizeof kems / sizeof kems[0]; k++)
        for (size_t a = 0; a < sizeof aeads / sizeof aeads[0]; a++)
            seal_and_unseal(t, (sotto_hpke_suite){kems[k], SOTTO_HPKE_KDF_SHA256, aeads[a]});
    seal_and_unseal(t, (sotto_hpke_suite){SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA512,
                                          SOTTO_HPKE_AEAD_AES256_GCM});
}

/* Keys agreed on in a batch: with four lanes here, since valgrind knows AVX2 and not AVX-512. */
static void unsealing_a_batch_follows_no_secret(sotto_test *t)
{
    enum { BATCH = 5 };
    sotto_hpke_suite suite = {kems[0], SOTTO_HPKE_KDF_SHA256, aeads[0]};
    sotto_bytes purpose = bytes_of_text(info, sizeof info), beside = bytes_of_text(aad, sizeof aad);
    uint8_t wire[BATCH][32 + sizeof text + SOTTO_HPKE_TAG_SIZE], opened[sizeof text];
    sotto_hpke_receiver *receiver = NULL;
    sotto_agreement with[BATCH];
    sotto_hpke_key key;

    derive_key(t, &key, suite.kem, 5);
    sotto_hpke_config to = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, purpose, &t->err));
    for (size_t i = 0; i < BATCH; i++) {
        sotto_buf out = sotto_buf_over(wire[i], sizeof wire[i]);
        uint8_t ikm[64] = {8, (uint8_t)i};

        CHECK_OK(t, sotto_hpke_seal(&out, &to, sotto_bytes_of(ikm, sizeof ikm), purpose, beside,
                                    bytes_of_text(text, sizeof text), &t->err));
        with[i] = (sotto_agreement){.own = sotto_hpke_receiver_key(receiver),
                                    .peer = sotto_bytes_of(wire[i], 32)};
    }
    sotto_ctime_public(wire, sizeof wire);
    sotto_agree_many(with, BATCH);
    for (size_t i = 0; i < BATCH; i++) {
        sotto_buf back = sotto_buf_over(opened, sizeof opened);

        CHECK_OK(t, sotto_hpke_receiver_unseal_with(
                        receiver, &back, &with[i], beside,
                        sotto_bytes_of(wire[i] + 32, sizeof wire[i] - 32), &t->err));
        sotto_ctime_public(opened, sizeof opened);
        CHECK_BYTES(t, text, opened, sizeof text);
    }
    sotto_hpke_receiver_free(receiver);
    sotto_wipe(&key, sizeof key);
}

static void exporting_follows_no_secret(sotto_test *t)
{
    sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                              SOTTO_HPKE_AEAD_EXPORT_ONLY};
    sotto_bytes purpose = bytes_of_text(info, sizeof info);
    uint8_t ikm[32] = {9}, enc[64], ours[40], theirs[40];
    sotto_buf out = sotto_buf_over(enc, sizeof enc);
    sotto_buf a = sotto_buf_over(ours, sizeof ours), b = sotto_buf_over(theirs, sizeof theirs);
    sotto_hpke_context *sender = NULL, *taker = NULL;
    sotto_hpke_receiver *receiver = NULL;
    sotto_hpke_key key;

    derive_key(t, &key, suite.kem, 3);
    sotto_ctime_secret(ikm, sizeof ikm);
    sotto_hpke_config to = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    CHECK_OK(t, sotto_hpke_context_send(&sender, &out, &to, sotto_bytes_of(ikm, sizeof ikm),
                                        purpose, &t->err));
    sotto_ctime_public(enc, sizeof enc);
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, purpose, &t->err));
    CHECK_OK(t, sotto_hpke_context_receive(&taker, receiver, sotto_buf_bytes(&out), &t->err));
    CHECK_OK(t, sotto_hpke_context_export(sender, &a, purpose, sizeof ours, &t->err));
    CHECK_OK(t, sotto_hpke_context_export(taker, &b, purpose, sizeof theirs, &t->err));
    sotto_ctime_public(ours, sizeof ours);
    sotto_ctime_public(theirs, sizeof theirs);
    CHECK_BYTES(t, ours, theirs, sizeof ours);
    sotto_hpke_context_free(sender);
    sotto_hpke_context_free(taker);
    sotto_hpke_receiver_free(receiver);
    sotto_wipe(&key, sizeof key);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sealing_and_unsealing_follow_no_secret),
        CASE(unsealing_a_batch_follows_no_secret),
        CASE(exporting_follows_no_secret),
    };
    return RUN_TESTS(argc, argv, cases);
}
