#include "seal/token/type1.h"

#include <string.h>

void sotto_type1_key_id(uint8_t out[SOTTO_TOKEN_KEY_ID],
                        const uint8_t public_key[SOTTO_TYPE1_POINT])
{
    sotto_hash_once(out, SOTTO_SHA256, sotto_bytes_of(public_key, SOTTO_TYPE1_POINT));
}

sotto_status sotto_type1_request(sotto_voprf *v, uint8_t request[SOTTO_TYPE1_REQUEST],
                                 const uint8_t input[SOTTO_TOKEN_INPUT], const sotto_scalar *blind,
                                 sotto_err *err)
{
    request[0] = 0;
    request[1] = SOTTO_TOKEN_VOPRF;
    request[2] = input[SOTTO_TOKEN_INPUT - 1]; /* the key id's last byte */
    return sotto_voprf_blind(v, request + 3, sotto_bytes_of(input, SOTTO_TOKEN_INPUT), blind, err);
}

sotto_status sotto_type1_issue(sotto_voprf *v, uint8_t response[SOTTO_TYPE1_RESPONSE],
                               const sotto_scalar *key, const uint8_t public_key[SOTTO_TYPE1_POINT],
                               sotto_bytes request, const sotto_scalar *nonce, sotto_err *err)
{
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    sotto_token_request in;

    SOTTO_TRY(sotto_token_request_decode(&in, request, err));
    sotto_type1_key_id(id, public_key);
    if (in.type != SOTTO_TOKEN_VOPRF || in.short_key_id != id[SOTTO_TOKEN_KEY_ID - 1])
        return sotto_fail(err, SOTTO_REJECTED, "token request: for another key");
    return sotto_voprf_evaluate(v, response, response + SOTTO_TYPE1_POINT, key, public_key,
                                in.blinded.data, 1, nonce, err);
}

sotto_status sotto_type1_finish(sotto_voprf *v, uint8_t token[SOTTO_TYPE1_TOKEN],
                                const uint8_t input[SOTTO_TOKEN_INPUT], const sotto_scalar *blind,
                                const uint8_t public_key[SOTTO_TYPE1_POINT],
                                const uint8_t request[SOTTO_TYPE1_REQUEST], sotto_bytes response,
                                sotto_err *err)
{
    if (response.len != SOTTO_TYPE1_RESPONSE)
        return sotto_fail(err, SOTTO_MALFORMED, "token response: %zu bytes instead of 145",
                          response.len);
    SOTTO_TRY(sotto_voprf_check(v, public_key, request + 3, response.data, 1,
                                response.data + SOTTO_TYPE1_POINT, err));
    memcpy(token, input, SOTTO_TOKEN_INPUT);
    return sotto_voprf_finalize(v, token + SOTTO_TOKEN_INPUT,
                                sotto_bytes_of(input, SOTTO_TOKEN_INPUT), blind, response.data,
                                err);
}

sotto_status sotto_type1_verify(sotto_voprf *v, const sotto_token *token, const sotto_scalar *key,
                                const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                                const uint8_t challenge[SOTTO_TOKEN_DIGEST], sotto_err *err)
{
    uint8_t wanted[SOTTO_HASH_MAX_SIZE];

    if (token->type != SOTTO_TOKEN_VOPRF)
        return sotto_fail(err, SOTTO_REJECTED, "token: of another type");
    if (memcmp(token->key_id, key_id, SOTTO_TOKEN_KEY_ID) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "token: of another issuer key");
    if (memcmp(token->challenge, challenge, SOTTO_TOKEN_DIGEST) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "token: for another challenge");
    SOTTO_TRY(sotto_voprf_direct(v, wanted, token->input, key, err));
    if (!sotto_bytes_equal(token->authenticator, sotto_bytes_of(wanted, token->authenticator.len)))
        return sotto_fail(err, SOTTO_REJECTED, "token: the authenticator does not hold");
    return SOTTO_OK;
}
