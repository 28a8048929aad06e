/* Privacy Pass (RFC 9577, RFC 9578): tokens of types 1 and 2 from key to token, and challenges. */
#include "seal/token/type1.h"
#include "seal/token/type2.h"
#include "token.h"

#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

bool sotto_vectors_tokens_knows(const json_t *item)
{
    return json_is_string(json_object_get(item, "token_request")) &&
           json_is_string(json_object_get(item, "token_challenge")) &&
           json_is_string(json_object_get(item, "token"));
}

/* ---- type 2 ------------------------------------------------------------------------------------------------------ */

/* A key as PEM, or as the PKCS #8 that PEM wraps. */
static sotto_status read_private(sotto_rsa_private *key, sotto_bytes text, sotto_err *err)
{
    uint8_t der[SOTTO_RSA_DER_MAX], *at = der;
    BIO *in = BIO_new_mem_buf(text.data, (int)text.len);
    PKCS8_PRIV_KEY_INFO *info = in ? PEM_read_bio_PKCS8_PRIV_KEY_INFO(in, NULL, NULL, NULL) : NULL;
    const int len = info ? i2d_PKCS8_PRIV_KEY_INFO(info, NULL) : -1;

    if (len > 0 && len <= SOTTO_RSA_DER_MAX && i2d_PKCS8_PRIV_KEY_INFO(info, &at) == len)
        text = sotto_bytes_of(der, (size_t)len);
    PKCS8_PRIV_KEY_INFO_free(info);
    BIO_free(in);
    return sotto_rsa_private_decode(key, text, err);
}

static sotto_status read_random(sotto_type2_random *random, const sotto_token_item *item,
                                sotto_err *err)
{
    sotto_bytes nonce, salt, blind;

    SOTTO_TRY(sotto_token_get(item, &nonce, "nonce", sizeof random->nonce, err));
    SOTTO_TRY(sotto_token_get(item, &salt, "salt", sizeof random->salt, err));
    SOTTO_TRY(sotto_token_get(item, &blind, "blind", sizeof random->blind, err));
    memcpy(random->nonce, nonce.data, nonce.len);
    memcpy(random->salt, salt.data, salt.len);
    memcpy(random->blind, blind.data, blind.len);
    return SOTTO_OK;
}

static sotto_status check_challenge(uint8_t digest[SOTTO_TOKEN_DIGEST], sotto_bytes wire,
                                    sotto_err *err)
{
    sotto_token_challenge challenge;

    SOTTO_TRY(sotto_token_challenge_decode(&challenge, wire, err));
    sotto_token_challenge_digest(digest, wire);
    return SOTTO_OK;
}

static sotto_status compare_type2(const sotto_token_item *item, sotto_type2_key *key,
                                  sotto_rsa_private *secret, sotto_err *err)
{
    uint8_t digest[SOTTO_TOKEN_DIGEST], request[SOTTO_TYPE2_REQUEST];
    uint8_t response[SOTTO_TYPE2_RESPONSE], token[SOTTO_TYPE2_TOKEN], spki[SOTTO_TYPE2_SPKI];
    sotto_type2_pending pending;
    sotto_type2_random random;
    sotto_bytes challenge, given;
    sotto_token read;

    SOTTO_TRY(sotto_type2_key_encode(spki, &secret->public_key, err));
    SOTTO_TRY(sotto_token_compare(item, "pkS", spki, sizeof spki, err));
    SOTTO_TRY(sotto_token_get(item, &challenge, "token_challenge", 0, err));
    SOTTO_TRY(check_challenge(digest, challenge, err));
    SOTTO_TRY(sotto_token_get(item, &given, "token", 0, err));
    SOTTO_TRY(sotto_token_decode(&read, given, err));
    SOTTO_TRY(sotto_type2_verify(key, &read, digest, err));
    SOTTO_TRY(read_random(&random, item, err));
    SOTTO_TRY(sotto_type2_request(key, &pending, request, digest, &random, err));
    SOTTO_TRY(sotto_token_compare(item, "token_request", request, sizeof request, err));
    SOTTO_TRY(
        sotto_type2_issue(secret, key->id, response, sotto_bytes_of(request, sizeof request), err));
    SOTTO_TRY(sotto_token_compare(item, "token_response", response, sizeof response, err));
    SOTTO_TRY(
        sotto_type2_finish(key, token, &pending, sotto_bytes_of(response, sizeof response), err));
    return sotto_token_compare(item, "token", token, sizeof token, err);
}

static sotto_status check_type2(const sotto_token_item *item, sotto_err *err)
{
    sotto_rsa_private secret = {0};
    sotto_type2_key key = {0};
    sotto_bytes text, spki;

    SOTTO_TRY(sotto_token_get(item, &text, "skS", 0, err));
    SOTTO_TRY(sotto_token_get(item, &spki, "pkS", 0, err));
    sotto_status status = read_private(&secret, text, err);
    if (status == SOTTO_OK)
        status = sotto_type2_key_decode(&key, spki, err);
    if (status == SOTTO_OK)
        status = compare_type2(item, &key, &secret, err);
    sotto_type2_key_clear(&key);
    sotto_rsa_private_clear(&secret);
    return status;
}

/* ---- type 1 ------------------------------------------------------------------------------------------------------ */

static sotto_status scalar_of(sotto_voprf *v, sotto_scalar *out, const sotto_token_item *item,
                              const char *key, sotto_err *err)
{
    sotto_bytes bytes;

    SOTTO_TRY(sotto_token_get(item, &bytes, key, v->group.scalar_size, err));
    return sotto_scalar_decode(&v->group, out, bytes.data)
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MALFORMED, "%s: no scalar", key);
}

static sotto_status compare_type1(const sotto_token_item *item, sotto_voprf *v, sotto_err *err)
{
    uint8_t digest[SOTTO_TOKEN_DIGEST], id[SOTTO_TOKEN_KEY_ID], public_key[SOTTO_TYPE1_POINT];
    uint8_t input[SOTTO_TOKEN_INPUT], request[SOTTO_TYPE1_REQUEST], token[SOTTO_TYPE1_TOKEN];
    uint8_t response[SOTTO_TYPE1_RESPONSE];
    sotto_bytes challenge, nonce, given;
    sotto_scalar key, blind;
    sotto_token read;

    SOTTO_TRY(scalar_of(v, &key, item, "skS", err));
    SOTTO_TRY(scalar_of(v, &blind, item, "blind", err));
    SOTTO_TRY(sotto_voprf_public(v, public_key, &key, err));
    SOTTO_TRY(sotto_token_compare(item, "pkS", public_key, sizeof public_key, err));
    SOTTO_TRY(sotto_token_get(item, &challenge, "token_challenge", 0, err));
    SOTTO_TRY(check_challenge(digest, challenge, err));
    SOTTO_TRY(sotto_token_get(item, &nonce, "nonce", SOTTO_TOKEN_NONCE, err));
    sotto_type1_key_id(id, public_key);
    sotto_token_input(input, SOTTO_TOKEN_VOPRF, nonce.data, digest, id);
    SOTTO_TRY(sotto_type1_request(v, request, input, &blind, err));
    SOTTO_TRY(sotto_token_compare(item, "token_request", request, sizeof request, err));
    SOTTO_TRY(sotto_token_get(item, &given, "token_response", 0, err));
    SOTTO_TRY(sotto_type1_finish(v, token, input, &blind, public_key, request, given, err));
    SOTTO_TRY(sotto_token_compare(item, "token", token, sizeof token, err));
    /* The proof's nonce is not in the file: any other makes another proof of the same. */
    SOTTO_TRY(sotto_type1_issue(v, response, &key, public_key,
                                sotto_bytes_of(request, sizeof request), &blind, err));
    SOTTO_TRY(sotto_vectors_compare(sotto_bytes_of(given.data, SOTTO_TYPE1_POINT),
                                    sotto_bytes_of(response, SOTTO_TYPE1_POINT), "token_response",
                                    err));
    SOTTO_TRY(sotto_token_decode(&read, sotto_bytes_of(token, sizeof token), err));
    return sotto_type1_verify(v, &read, &key, id, digest, err);
}

static sotto_status check_type1(const sotto_token_item *item, sotto_err *err)
{
    sotto_voprf v;
    sotto_status status = sotto_voprf_init(&v, &sotto_p384, SOTTO_VOPRF, err);

    if (status == SOTTO_OK)
        status = compare_type1(item, &v, err);
    sotto_voprf_clear(&v);
    return status;
}

sotto_status sotto_vectors_check_token(const sotto_token_item *item, sotto_err *err)
{
    return json_object_get(item->json, "salt") ? check_type2(item, err) : check_type1(item, err);
}

static void run_token(const sotto_vector_file *file, const json_t *item, const char *name)
{
    sotto_token_count(file, item, name, sotto_vectors_check_token);
}

void sotto_vectors_tokens(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_token);
}

/* ---- challenges -------------------------------------------------------------------------------------------------- */

bool sotto_vectors_challenges_knows(const json_t *item)
{
    return json_is_string(json_object_get(item, "token_authenticator_input")) ||
           json_is_string(json_object_get(item, "WWW-Authenticate"));
}

static sotto_status check_redemption(const sotto_token_item *item, sotto_err *err)
{
    uint8_t memory[1024], digest[SOTTO_TOKEN_DIGEST], input[SOTTO_TOKEN_INPUT];
    sotto_buf wire = sotto_buf_over(memory, sizeof memory);
    sotto_token_challenge challenge, again;
    sotto_bytes type, nonce, id, whole;
    sotto_token token;

    SOTTO_TRY(sotto_token_get(item, &type, "token_type", 2, err));
    if (!json_object_get(item->json, "issuer_name")) { /* a type that nobody has: only refused */
        SOTTO_TRY(sotto_token_get(item, &whole, "token_authenticator_input", 0, err));
        return sotto_token_decode(&token, whole, NULL) == SOTTO_MISSING
                   ? SOTTO_OK
                   : sotto_fail(err, SOTTO_REJECTED, "token_type: was taken");
    }
    SOTTO_TRY(sotto_token_get(item, &challenge.issuer, "issuer_name", 0, err));
    SOTTO_TRY(sotto_token_get(item, &challenge.context, "redemption_context", 0, err));
    SOTTO_TRY(sotto_token_get(item, &challenge.origin, "origin_info", 0, err));
    SOTTO_TRY(sotto_token_get(item, &nonce, "nonce", SOTTO_TOKEN_NONCE, err));
    SOTTO_TRY(sotto_token_get(item, &id, "token_key_id", SOTTO_TOKEN_KEY_ID, err));
    challenge.type = (uint16_t)(type.data[0] << 8 | type.data[1]);
    SOTTO_TRY(sotto_token_challenge_encode(&wire, &challenge, err));
    SOTTO_TRY(sotto_token_challenge_decode(&again, sotto_buf_bytes(&wire), err));
    sotto_token_challenge_digest(digest, sotto_buf_bytes(&wire));
    sotto_token_input(input, challenge.type, nonce.data, digest, id.data);
    return sotto_token_compare(item, "token_authenticator_input", input, sizeof input, err);
}

/* Whether the header holds the bytes in base64url with padding, as RFC 9577, 2.1 writes them. */
static bool header_holds(const char *header, sotto_bytes bytes, sotto_arena *arena)
{
    char *text = sotto_arena_take(arena, 4 * (bytes.len / 3 + 1) + 1);

    if (!text)
        return false;
    (void)EVP_EncodeBlock((unsigned char *)text, bytes.data, (int)bytes.len);
    for (char *c = text; *c; c++)
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    return strstr(header, text) != NULL;
}

/* Challenges and keys of a header; of a type that is not ours only that they are in it. */
static sotto_status check_header(const sotto_token_item *item, sotto_err *err)
{
    const char *header, *type;
    char name[32];
    size_t i;

    SOTTO_TRY(sotto_json_get_text(&header, item->json, "WWW-Authenticate", err));
    for (i = 0; i < 16; i++) {
        uint8_t digest[SOTTO_TOKEN_DIGEST];
        sotto_type2_key key;
        sotto_bytes challenge, spki;

        snprintf(name, sizeof name, "token-type-%zu", i);
        if (!json_object_get(item->json, name))
            break;
        SOTTO_TRY(sotto_json_get_text(&type, item->json, name, err));
        snprintf(name, sizeof name, "token-challenge-%zu", i);
        SOTTO_TRY(sotto_token_get(item, &challenge, name, 0, err));
        if (!header_holds(header, challenge, item->arena))
            return sotto_fail(err, SOTTO_REJECTED, "%s: not in the header", name);
        snprintf(name, sizeof name, "token-key-%zu", i);
        SOTTO_TRY(sotto_token_get(item, &spki, name, 0, err));
        if (strcmp(type, "0x0001") == 0 || strcmp(type, "0x0002") == 0)
            SOTTO_TRY(check_challenge(digest, challenge, err));
        if (strcmp(type, "0x0002") == 0) {
            sotto_status status = sotto_type2_key_decode(&key, spki, err);

            sotto_type2_key_clear(&key);
            SOTTO_TRY(status);
        }
    }
    return i ? SOTTO_OK : sotto_fail(err, SOTTO_MALFORMED, "no token-type-0");
}

static sotto_status check_either(const sotto_token_item *item, sotto_err *err)
{
    return json_object_get(item->json, "WWW-Authenticate") ? check_header(item, err)
                                                           : check_redemption(item, err);
}

static void run_either(const sotto_vector_file *file, const json_t *item, const char *name)
{
    sotto_token_count(file, item, name, check_either);
}

void sotto_vectors_challenges(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_either);
}
