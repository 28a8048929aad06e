/* Tokens, challenges, token requests and responses come from strangers: what decodes encodes to the same bytes, and whatever is
 * verified or signed ends in a status. The first byte chooses. */
#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "seal/token/type2.h"

/* A public key of 2,048 bits, odd and otherwise arbitrary: nobody knows its factors, so nothing verifies. */
static sotto_type2_key *key(void)
{
    static const uint8_t exponent[] = {1, 0, 1};
    static sotto_type2_key held;
    uint8_t modulus[SOTTO_TYPE2_NUMBER];

    if (!held.rsa.n) {
        memset(modulus, 0xc5, sizeof modulus);
        if (sotto_rsa_public_init(&held.rsa, sotto_bytes_of(modulus, sizeof modulus),
                                  sotto_bytes_of(exponent, 3), NULL) != SOTTO_OK)
            abort();
    }
    return &held;
}

static void same(sotto_bytes wire, const sotto_buf *out)
{
    if (!sotto_bytes_equal_vartime(wire, sotto_buf_bytes(out)))
        abort();
}

static void try_challenge(sotto_bytes wire)
{
    static uint8_t memory[4 + 2 * 65535 + 256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_token_challenge challenge;

    if (sotto_token_challenge_decode(&challenge, wire, NULL) != SOTTO_OK)
        return;
    if (sotto_token_challenge_encode(&out, &challenge, NULL) != SOTTO_OK)
        abort();
    same(wire, &out);
}

static void try_request(sotto_bytes wire)
{
    uint8_t memory[SOTTO_TYPE2_REQUEST];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_token_request request;

    if (sotto_token_request_decode(&request, wire, NULL) != SOTTO_OK)
        return;
    if (sotto_token_request_encode(&out, &request, NULL) != SOTTO_OK)
        abort();
    same(wire, &out);
}

static void try_token(sotto_bytes wire)
{
    uint8_t input[SOTTO_TOKEN_INPUT];
    sotto_token token;

    if (sotto_token_decode(&token, wire, NULL) != SOTTO_OK)
        return;
    sotto_token_input(input, token.type, token.nonce, token.challenge, token.key_id);
    if (memcmp(input, wire.data, sizeof input) != 0)
        abort();
    if (token.type == SOTTO_TOKEN_BLIND_RSA) {
        memcpy(key()->id, token.key_id, SOTTO_TOKEN_KEY_ID);
        if (sotto_type2_verify(key(), &token, token.challenge, NULL) == SOTTO_OK)
            abort();
    }
}

static void try_response(sotto_bytes wire)
{
    uint8_t token[SOTTO_TYPE2_TOKEN];
    sotto_type2_pending pending = {{1}, {2}};

    if (sotto_type2_finish(key(), token, &pending, wire, NULL) == SOTTO_OK)
        abort();
}

static void try_key(sotto_bytes wire)
{
    uint8_t spki[SOTTO_TYPE2_SPKI];
    sotto_type2_key read;

    if (sotto_type2_key_decode(&read, wire, NULL) == SOTTO_OK) {
        if (sotto_type2_key_encode(spki, &read.rsa, NULL) != SOTTO_OK ||
            memcmp(spki, wire.data, sizeof spki) != 0)
            abort();
    }
    sotto_type2_key_clear(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(sotto_bytes wire) = {try_challenge, try_request, try_token,
                                                      try_response, try_key};

    if (size > 0)
        tries[data[0] % 5](sotto_bytes_of(data + 1, size - 1));
    return 0;
}
