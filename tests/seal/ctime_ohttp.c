/* An oblivious exchange with its secrets marked: ikm, private key, plaintexts and what is exported. */
#include "support/ctime.h"
#include "support/test.h"

#include "seal/ohttp/ohttp.h"

#include <string.h>

static const char text[] = "a message that the relay may not see";

static void an_exchange_follows_no_secret(sotto_test *t)
{
    const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                    SOTTO_HPKE_AEAD_AES128_GCM};
    uint8_t ikm[64] = {7}, plain[sizeof text], wire[256], opened[sizeof text];
    uint8_t info[SOTTO_OHTTP_INFO], random[SOTTO_OHTTP_NONCE] = {3};
    sotto_buf out = sotto_buf_over(wire, sizeof wire), back = sotto_buf_over(opened, sizeof opened);
    sotto_hpke_receiver *receiver = NULL;
    sotto_ohttp_exchange ours, theirs;
    sotto_ohttp_request request;
    sotto_hpke_key key;

    sotto_ctime_secret(ikm, sizeof ikm);
    CHECK_OK(t, sotto_hpke_key_derive(&key, suite.kem, sotto_bytes_of(ikm, sizeof ikm), &t->err));
    sotto_ctime_public(key.public_key, sizeof key.public_key);
    memcpy(plain, text, sizeof plain);
    sotto_ctime_secret(plain, sizeof plain);
    const sotto_hpke_config to = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    CHECK_OK(t, sotto_ohttp_request_seal(&ours, &out, &to, sotto_bytes_of(ikm, sizeof ikm),
                                         sotto_bytes_of(plain, sizeof plain), &t->err));
    sotto_ctime_public(wire, sizeof wire); /* it is on its way to strangers */
    sotto_ctime_public(ours.enc, sizeof ours.enc);
    sotto_ohttp_info(info, 1, suite);
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, sotto_bytes_of(info, sizeof info),
                                        &t->err));
    CHECK_OK(t, sotto_ohttp_request_read(&request, sotto_buf_bytes(&out), &t->err));
    CHECK_OK(t, sotto_ohttp_request_unseal(&theirs, &back, receiver, &request,
                                           &(sotto_agreement){.peer = request.enc}, &t->err));
    sotto_ctime_public(opened, sizeof opened);
    CHECK_BYTES(t, text, opened, sizeof text);
    out.len = back.len = 0;
    CHECK_OK(t, sotto_ohttp_response_seal(&theirs, &out, NULL, random,
                                          sotto_bytes_of(plain, sizeof plain), &t->err));
    sotto_ctime_public(wire, sizeof wire);
    CHECK_OK(t, sotto_ohttp_response_unseal(&ours, &back, sotto_buf_bytes(&out), &t->err));
    sotto_ctime_public(opened, sizeof opened);
    CHECK_BYTES(t, text, opened, sizeof text);
    sotto_hpke_receiver_free(receiver);
    sotto_wipe(&key, sizeof key);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(an_exchange_follows_no_secret)};

    return RUN_TESTS(argc, argv, cases);
}
