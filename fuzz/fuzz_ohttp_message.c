/* Encapsulated requests come from anybody, encapsulated responses from a relay: nothing that a stranger made opens as the
 * answer to our request, and refusals leave the output as it was. The first byte chooses. */
#include "target.h"

#include "seal/ohttp/ohttp.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, KEY_ID = 7 };

static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                       SOTTO_HPKE_AEAD_AES128_GCM};
static const uint8_t ikm[32] = {1, 2, 3};

static void try_request(sotto_bytes wire)
{
    static sotto_hpke_receiver *receiver;
    static uint8_t memory[MOST];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    uint8_t info[SOTTO_OHTTP_INFO];
    sotto_ohttp_exchange exchange;
    sotto_ohttp_request request;
    sotto_hpke_key key;

    sotto_ohttp_info(info, KEY_ID, suite);
    if (!receiver &&
        (sotto_hpke_key_derive(&key, suite.kem, sotto_bytes_of(ikm, 32), NULL) ||
         sotto_hpke_receiver_new(&receiver, &key, suite, sotto_bytes_of(info, sizeof info), NULL)))
        abort();
    if (sotto_ohttp_request_read(&request, wire, NULL) != SOTTO_OK || request.key_id != KEY_ID ||
        memcmp(&request.suite, &suite, sizeof suite) != 0)
        return;
    if (request.enc.len != 32 || request.ciphertext.len < 16 ||
        SOTTO_OHTTP_HEADER + 32 + request.ciphertext.len != wire.len)
        abort();
    if (sotto_ohttp_request_unseal(&exchange, &out, receiver, &request,
                                   &(sotto_agreement){.peer = request.enc}, NULL) != SOTTO_OK &&
        out.len != 0)
        abort();
}

static void try_response(sotto_bytes wire)
{
    static const sotto_ohttp_exchange exchange = {
        .suite = {0x20, 1, 1}, .enc_len = 32, .secret_len = 16, .secret = {5}};
    static uint8_t memory[MOST];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    if (sotto_ohttp_response_unseal(&exchange, &out, wire, NULL) != SOTTO_OK && out.len != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MOST)
        return 0;
    if (data[0] & 1)
        try_response(sotto_bytes_of(data + 1, size - 1));
    else
        try_request(sotto_bytes_of(data + 1, size - 1));
    return 0;
}
