#include "support/tokens.h"

#include "seal/token_keys.h"

void sotto_test_issuer_open(sotto_test *t, sotto_test_issuer *issuer, unsigned which)
{
    const char *der = which ? OTHER_TOKEN_KEY : TOKEN_KEY;

    *issuer = (sotto_test_issuer){0};
    CHECK_OK(t, sotto_rsa_private_decode(&issuer->secret, sotto_test_hex(t, der), &t->err));
    CHECK_OK(t, sotto_type2_key_encode(issuer->spki, &issuer->secret.public_key, &t->err));
    CHECK_OK(t, sotto_type2_key_decode(&issuer->key,
                                       sotto_bytes_of(issuer->spki, sizeof issuer->spki), &t->err));
}

void sotto_test_issuer_close(sotto_test_issuer *issuer)
{
    sotto_type2_key_clear(&issuer->key);
    sotto_rsa_private_clear(&issuer->secret);
}

sotto_bytes sotto_test_token(sotto_test *t, sotto_test_issuer *issuer,
                             const sotto_admission_collection *collection,
                             const uint8_t seed[SOTTO_ONCE_SEED])
{
    uint8_t challenge[SOTTO_TOKEN_DIGEST], request[SOTTO_TYPE2_REQUEST],
        response[SOTTO_TYPE2_RESPONSE];
    sotto_buf token = sotto_test_buf(t, SOTTO_TYPE2_TOKEN);
    sotto_type2_pending pending;
    sotto_type2_random random;

    CHECK_OK(t, sotto_admission_challenge(challenge, collection, &t->err));
    CHECK_OK(t, sotto_type2_draw(&random, &issuer->key, &t->err));
    CHECK_OK(t, sotto_admission_nonce(random.nonce, seed, &t->err));
    CHECK_OK(t, sotto_type2_request(&issuer->key, &pending, request, challenge, &random, &t->err));
    CHECK_OK(t, sotto_type2_issue(&issuer->secret, issuer->key.id, response,
                                  sotto_bytes_of(request, sizeof request), &t->err));
    CHECK_OK(t, sotto_type2_finish(&issuer->key, token.data, &pending,
                                   sotto_bytes_of(response, sizeof response), &t->err));
    return sotto_bytes_of(token.data, SOTTO_TYPE2_TOKEN);
}
