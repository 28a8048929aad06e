#include "seal/token/type2.h"

#include "crypto/hash.h"
#include "sotto/random.h"

#include <string.h>

/* ---- keys (RFC 9578, 6.5) -------------------------------------------------------------------------------------- */

enum { MODULUS_AT = 81 };

/* SubjectPublicKeyInfo { AlgorithmIdentifier { id-RSASSA-PSS, { [0] SHA-384, [1] MGF1 { SHA-384 }, [2] 48 } }, BIT STRING {
 * RSAPublicKey { INTEGER of 257 bytes, the first of them zero */
static const uint8_t before_modulus[MODULUS_AT] = {
    0x30, 0x82, 0x01, 0x52, 0x30, 0x3d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d,
    0x01, 0x01, 0x0a, 0x30, 0x30, 0xa0, 0x0d, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48,
    0x01, 0x65, 0x03, 0x04, 0x02, 0x02, 0xa1, 0x1a, 0x30, 0x18, 0x06, 0x09, 0x2a, 0x86,
    0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x08, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48,
    0x01, 0x65, 0x03, 0x04, 0x02, 0x02, 0xa2, 0x03, 0x02, 0x01, 0x30, 0x03, 0x82, 0x01,
    0x0f, 0x00, 0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00};
static const uint8_t after_modulus[5] = {0x02, 0x03, 0x01, 0x00, 0x01};

sotto_status sotto_type2_key_decode(sotto_type2_key *key, sotto_bytes spki, sotto_err *err)
{
    const uint8_t *modulus = spki.data + MODULUS_AT;

    memset(key, 0, sizeof *key);
    if (spki.len != SOTTO_TYPE2_SPKI ||
        memcmp(spki.data, before_modulus, sizeof before_modulus) != 0 ||
        memcmp(modulus + SOTTO_TYPE2_NUMBER, after_modulus, sizeof after_modulus) != 0)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "token key: not RSASSA-PSS with SHA-384, 2048 bits and e = 65537");
    sotto_hash_once(key->id, SOTTO_SHA256, spki);
    return sotto_rsa_public_init(&key->rsa, sotto_bytes_of(modulus, SOTTO_TYPE2_NUMBER),
                                 sotto_bytes_of(after_modulus + 2, 3), err);
}

void sotto_type2_key_clear(sotto_type2_key *key)
{
    sotto_rsa_public_clear(&key->rsa);
}

sotto_status sotto_type2_key_encode(uint8_t out[SOTTO_TYPE2_SPKI], const sotto_rsa_public *rsa,
                                    sotto_err *err)
{
    sotto_type2_key again = {0};

    if (rsa->size != SOTTO_TYPE2_NUMBER)
        return sotto_fail(err, SOTTO_MALFORMED, "token key: %zu bits instead of 2048",
                          8 * rsa->size);
    memcpy(out, before_modulus, sizeof before_modulus);
    memcpy(out + MODULUS_AT, rsa->modulus, SOTTO_TYPE2_NUMBER);
    memcpy(out + MODULUS_AT + SOTTO_TYPE2_NUMBER, after_modulus, sizeof after_modulus);
    sotto_status status =
        sotto_type2_key_decode(&again, sotto_bytes_of(out, SOTTO_TYPE2_SPKI), err);
    sotto_type2_key_clear(&again);
    return status;
}

/* ---- the client (RFC 9578, 6.1 and 6.3) ------------------------------------------------------------------------- */

sotto_status sotto_type2_draw(sotto_type2_random *random, const sotto_type2_key *key,
                              sotto_err *err)
{
    SOTTO_TRY(sotto_random_bytes(random, sizeof *random, err));
    return sotto_rsa_random(&key->rsa, random->blind, err);
}

void sotto_type2_begin(const sotto_type2_key *key, sotto_type2_pending *pending,
                       uint8_t request[SOTTO_TYPE2_REQUEST],
                       const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                       const uint8_t nonce[SOTTO_TOKEN_NONCE])
{
    sotto_token_input(pending->input, SOTTO_TOKEN_BLIND_RSA, nonce, challenge, key->id);
    memset(request, 0, 3);
    request[1] = SOTTO_TOKEN_BLIND_RSA;
    request[2] = key->id[SOTTO_TOKEN_KEY_ID - 1];
}

sotto_status sotto_type2_request(sotto_type2_key *key, sotto_type2_pending *pending,
                                 uint8_t request[SOTTO_TYPE2_REQUEST],
                                 const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                                 const sotto_type2_random *random, sotto_err *err)
{
    const sotto_bytes input = sotto_bytes_of(pending->input, SOTTO_TOKEN_INPUT);

    sotto_type2_begin(key, pending, request, challenge, random->nonce);
    return sotto_blind_rsa_blind(&key->rsa, request + 3, pending->inverse, &input, 1,
                                 sotto_bytes_of(random->salt, sizeof random->salt), random->blind,
                                 err);
}

sotto_status sotto_type2_finish(sotto_type2_key *key, uint8_t token[SOTTO_TYPE2_TOKEN],
                                const sotto_type2_pending *pending, sotto_bytes response,
                                sotto_err *err)
{
    const sotto_bytes input = sotto_bytes_of(pending->input, SOTTO_TOKEN_INPUT);

    sotto_status status;

    memcpy(token, pending->input, SOTTO_TOKEN_INPUT);
    if (response.len != SOTTO_TYPE2_RESPONSE)
        status = sotto_fail(err, SOTTO_MALFORMED, "token response: %zu bytes instead of 256",
                            response.len);
    else
        status = sotto_blind_rsa_finalize(&key->rsa, token + SOTTO_TOKEN_INPUT, response.data,
                                          pending->inverse, &input, 1, SOTTO_BLIND_RSA_SALT, err);
    if (status != SOTTO_OK)
        sotto_wipe(token, SOTTO_TYPE2_TOKEN);
    return status;
}

/* ---- the issuer (RFC 9578, 6.2) -------------------------------------------------------------------------------- */

sotto_status sotto_type2_issue(sotto_rsa_private *key, const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                               uint8_t response[SOTTO_TYPE2_RESPONSE], sotto_bytes request,
                               sotto_err *err)
{
    sotto_token_request in;

    SOTTO_TRY(sotto_token_request_decode(&in, request, err));
    if (in.type != SOTTO_TOKEN_BLIND_RSA)
        return sotto_fail(err, SOTTO_MISSING, "token request: type %u is not issued here",
                          (unsigned)in.type);
    if (in.short_key_id != key_id[SOTTO_TOKEN_KEY_ID - 1])
        return sotto_fail(err, SOTTO_REJECTED, "token request: for another key");
    return sotto_rsa_private_apply(key, response, in.blinded.data, err);
}

/* ---- verification (RFC 9578, 6.4) ------------------------------------------------------------------------------ */

sotto_status sotto_type2_verify(sotto_type2_key *key, const sotto_token *token,
                                const uint8_t challenge[SOTTO_TOKEN_DIGEST], sotto_err *err)
{
    if (token->type != SOTTO_TOKEN_BLIND_RSA)
        return sotto_fail(err, SOTTO_REJECTED, "token: of another type");
    if (memcmp(token->key_id, key->id, SOTTO_TOKEN_KEY_ID) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "token: of another issuer key");
    if (memcmp(token->challenge, challenge, SOTTO_TOKEN_DIGEST) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "token: for another challenge");
    return sotto_blind_rsa_verify(&key->rsa, token->authenticator.data, &token->input, 1,
                                  SOTTO_BLIND_RSA_SALT, err);
}
