#include "seal/token/token.h"

#include "crypto/hash.h"

#include <string.h>

enum { CONTEXT = 32 };

/* ---- challenges (RFC 9577, 2.1.1) ------------------------------------------------------------------------------ */

static sotto_status check_challenge(const sotto_token_challenge *challenge, sotto_err *err)
{
    if (challenge->issuer.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "token challenge: names no issuer");
    if (challenge->context.len != 0 && challenge->context.len != CONTEXT)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "token challenge: a redemption context has 32 bytes or none, not %zu",
                          challenge->context.len);
    return SOTTO_OK;
}

sotto_status sotto_token_challenge_decode(sotto_token_challenge *challenge, sotto_bytes wire,
                                          sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    challenge->type = (uint16_t)sotto_read_uint(&in, 2);
    challenge->issuer = sotto_read_opaque16(&in);
    challenge->context = sotto_read_opaque8(&in);
    challenge->origin = sotto_read_opaque16(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "token challenge", err));
    return check_challenge(challenge, err);
}

sotto_status sotto_token_challenge_encode(sotto_buf *out, const sotto_token_challenge *challenge,
                                          sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    SOTTO_TRY(check_challenge(challenge, err));
    sotto_write_uint(&w, challenge->type, 2);
    sotto_write_opaque16(&w, challenge->issuer);
    sotto_write_opaque8(&w, challenge->context);
    sotto_write_opaque16(&w, challenge->origin);
    return sotto_writer_finish(&w, "token challenge", err);
}

void sotto_token_challenge_digest(uint8_t out[SOTTO_TOKEN_DIGEST], sotto_bytes wire)
{
    sotto_hash_once(out, SOTTO_SHA256, wire);
}

/* ---- requests and tokens (RFC 9578, 5 and 6) --------------------------------------------------------------------- */

/* Zero: a type that has no such message here. */
static size_t blinded_size(uint16_t type)
{
    return type == SOTTO_TOKEN_VOPRF       ? 49
           : type == SOTTO_TOKEN_BLIND_RSA ? 256
           : type == SOTTO_TOKEN_ARC       ? SOTTO_TOKEN_ARC_BLINDED
                                           : 0;
}

static size_t authenticator_size(uint16_t type)
{
    return type == SOTTO_TOKEN_VOPRF ? 48 : type == SOTTO_TOKEN_BLIND_RSA ? 256 : 0;
}

static sotto_status unknown_type(const char *what, uint16_t type, sotto_err *err)
{
    return sotto_fail(err, SOTTO_MISSING, "%s: type %u is not known here", what, (unsigned)type);
}

sotto_status sotto_token_request_decode(sotto_token_request *request, sotto_bytes wire,
                                        sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    request->type = (uint16_t)sotto_read_uint(&in, 2);
    request->short_key_id = (uint8_t)sotto_read_uint(&in, 1);
    if (!in.short_read && !blinded_size(request->type))
        return unknown_type("token request", request->type, err);
    request->blinded = sotto_read_bytes(&in, blinded_size(request->type));
    return sotto_reader_finish(&in, "token request", err);
}

sotto_status sotto_token_request_encode(sotto_buf *out, const sotto_token_request *request,
                                        sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    if (request->blinded.len != blinded_size(request->type))
        return sotto_fail(err, SOTTO_BUG, "token request: not the length of its type");
    sotto_write_uint(&w, request->type, 2);
    sotto_write_uint(&w, request->short_key_id, 1);
    sotto_write_bytes(&w, request->blinded);
    return sotto_writer_finish(&w, "token request", err);
}

sotto_status sotto_token_decode(sotto_token *token, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    memset(token, 0, sizeof *token);
    token->type = (uint16_t)sotto_read_uint(&in, 2);
    if (!in.short_read && !authenticator_size(token->type))
        return unknown_type("token", token->type, err);
    token->nonce = sotto_read_bytes(&in, SOTTO_TOKEN_NONCE).data;
    token->challenge = sotto_read_bytes(&in, SOTTO_TOKEN_DIGEST).data;
    token->key_id = sotto_read_bytes(&in, SOTTO_TOKEN_KEY_ID).data;
    token->authenticator = sotto_read_bytes(&in, authenticator_size(token->type));
    SOTTO_TRY(sotto_reader_finish(&in, "token", err));
    token->input = sotto_bytes_of(wire.data, SOTTO_TOKEN_INPUT);
    return SOTTO_OK;
}

void sotto_token_input(uint8_t out[SOTTO_TOKEN_INPUT], uint16_t type,
                       const uint8_t nonce[SOTTO_TOKEN_NONCE],
                       const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                       const uint8_t key_id[SOTTO_TOKEN_KEY_ID])
{
    out[0] = (uint8_t)(type >> 8);
    out[1] = (uint8_t)type;
    memcpy(out + 2, nonce, SOTTO_TOKEN_NONCE);
    memcpy(out + 34, challenge, SOTTO_TOKEN_DIGEST);
    memcpy(out + 66, key_id, SOTTO_TOKEN_KEY_ID);
}
