/* Tokens of type 2 and their wire formats, with every refusal by its reason. */
#include "seal/token/type2.h"

#include "seal/token_keys.h"
#include "support/test.h"

#include <string.h>

typedef struct issuer {
    sotto_rsa_private secret;
    sotto_type2_key key;
} issuer;

static void open_issuer(sotto_test *t, issuer *i, const char *der)
{
    uint8_t spki[SOTTO_TYPE2_SPKI];

    CHECK_OK(t, sotto_rsa_private_decode(&i->secret, sotto_test_hex(t, der), &t->err));
    CHECK_OK(t, sotto_type2_key_encode(spki, &i->secret.public_key, &t->err));
    CHECK_OK(t, sotto_type2_key_decode(&i->key, sotto_bytes_of(spki, sizeof spki), &t->err));
}

static void close_issuer(issuer *i)
{
    sotto_type2_key_clear(&i->key);
    sotto_rsa_private_clear(&i->secret);
}

/* A challenge's digest. */
static const uint8_t *window(uint8_t digest[SOTTO_TOKEN_DIGEST], uint8_t number)
{
    sotto_token_challenge_digest(digest, sotto_bytes_of(&number, 1));
    return digest;
}

static sotto_bytes issue(sotto_test *t, issuer *i, const uint8_t *challenge)
{
    sotto_buf token = sotto_test_buf(t, SOTTO_TYPE2_TOKEN);
    uint8_t request[SOTTO_TYPE2_REQUEST], response[SOTTO_TYPE2_RESPONSE];
    sotto_type2_pending pending;
    sotto_type2_random random;

    CHECK_OK(t, sotto_type2_draw(&random, &i->key, &t->err));
    CHECK_OK(t, sotto_type2_request(&i->key, &pending, request, challenge, &random, &t->err));
    CHECK_OK(t, sotto_type2_issue(&i->secret, i->key.id, response,
                                  sotto_bytes_of(request, sizeof request), &t->err));
    CHECK_OK(t, sotto_type2_finish(&i->key, token.data, &pending,
                                   sotto_bytes_of(response, sizeof response), &t->err));
    return sotto_bytes_of(token.data, SOTTO_TYPE2_TOKEN);
}

static void a_token_holds_for_its_key_and_challenge(sotto_test *t)
{
    uint8_t first[32], second[32];
    issuer a, b;
    sotto_token token;

    open_issuer(t, &a, TOKEN_KEY);
    open_issuer(t, &b, OTHER_TOKEN_KEY);
    CHECK_OK(t, sotto_token_decode(&token, issue(t, &a, window(first, 1)), &t->err));
    CHECK_OK(t, sotto_type2_verify(&a.key, &token, first, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_type2_verify(&a.key, &token, window(second, 2), &t->err));
    CHECK_REASON(t, "token: for another challenge");
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_type2_verify(&b.key, &token, first, &t->err));
    CHECK_REASON(t, "token: of another issuer key");
    token.type = SOTTO_TOKEN_VOPRF;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_type2_verify(&a.key, &token, first, &t->err));
    CHECK_REASON(t, "token: of another type");
    close_issuer(&a);
    close_issuer(&b);
}

/* type 2, nonce 32, challenge's digest 32, key id 32, signature 256: what is compared before the signature is. */
static const char *reason_of_byte(size_t at)
{
    if (at >= 2 + 32 && at < 2 + 64)
        return "token: for another challenge";
    if (at >= 2 + 64 && at < 2 + 96)
        return "token: of another issuer key";
    return "blind RSA: the signature does not hold";
}

static void a_flipped_bit_is_rejected(sotto_test *t)
{
    uint8_t digest[32], wire[SOTTO_TYPE2_TOKEN];
    sotto_token token;
    issuer i;

    open_issuer(t, &i, TOKEN_KEY);
    memcpy(wire, issue(t, &i, window(digest, 1)).data, sizeof wire);
    for (size_t bit = 16; bit < 8 * sizeof wire; bit += 13) {
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK_OK(t, sotto_token_decode(&token, sotto_bytes_of(wire, sizeof wire), &t->err));
        CHECK_STATUS(t, SOTTO_REJECTED, sotto_type2_verify(&i.key, &token, digest, &t->err));
        CHECK_REASON(t, reason_of_byte(bit / 8));
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    memset(wire + SOTTO_TOKEN_INPUT, 0xff, SOTTO_TYPE2_NUMBER);
    CHECK_OK(t, sotto_token_decode(&token, sotto_bytes_of(wire, sizeof wire), &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_type2_verify(&i.key, &token, digest, &t->err));
    CHECK_REASON(t, "RSA: a number is not below the modulus");
    close_issuer(&i);
}

/* The same token twice from one request: an issuer that is asked again has given nothing more. */
static void a_request_sent_again_gives_the_same_response(sotto_test *t)
{
    uint8_t digest[32], request[SOTTO_TYPE2_REQUEST], first[SOTTO_TYPE2_RESPONSE], again[256];
    sotto_type2_pending pending;
    sotto_type2_random random;
    issuer i;

    open_issuer(t, &i, TOKEN_KEY);
    CHECK_OK(t, sotto_type2_draw(&random, &i.key, &t->err));
    CHECK_OK(t,
             sotto_type2_request(&i.key, &pending, request, window(digest, 1), &random, &t->err));
    const sotto_bytes wire = sotto_bytes_of(request, sizeof request);
    CHECK_OK(t, sotto_type2_issue(&i.secret, i.key.id, first, wire, &t->err));
    CHECK_OK(t, sotto_type2_issue(&i.secret, i.key.id, again, wire, &t->err));
    CHECK_BYTES(t, first, again, sizeof first);
    close_issuer(&i);
}

static void an_issuer_refuses_what_is_not_for_its_key(sotto_test *t)
{
    uint8_t digest[32], request[SOTTO_TYPE2_REQUEST], out[SOTTO_TYPE2_RESPONSE];
    sotto_type2_pending pending;
    sotto_type2_random random;
    issuer i;

    open_issuer(t, &i, TOKEN_KEY);
    CHECK_OK(t, sotto_type2_draw(&random, &i.key, &t->err));
    CHECK_OK(t,
             sotto_type2_request(&i.key, &pending, request, window(digest, 1), &random, &t->err));
    const sotto_bytes wire = sotto_bytes_of(request, sizeof request);
    request[2] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_type2_issue(&i.secret, i.key.id, out, wire, &t->err));
    CHECK_REASON(t, "token request: for another key");
    request[2] ^= 1;
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_type2_issue(&i.secret, i.key.id, out, sotto_bytes_of(request, 258), &t->err));
    request[1] = 5;
    CHECK_STATUS(t, SOTTO_MISSING, sotto_type2_issue(&i.secret, i.key.id, out, wire, &t->err));
    CHECK_REASON(t, "token request: type 5 is not known here");
    request[1] = 2;
    memcpy(request + 3, i.secret.public_key.modulus, 256);
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_type2_issue(&i.secret, i.key.id, out, wire, &t->err));
    CHECK_REASON(t, "RSA: a blinded message is not below the modulus");
    close_issuer(&i);
}

/* An issuer that signs with another key, or something else, is noticed by the client. */
static void a_client_takes_no_signature_of_something_else(sotto_test *t)
{
    uint8_t digest[32], request[SOTTO_TYPE2_REQUEST], out[SOTTO_TYPE2_RESPONSE];
    uint8_t token[SOTTO_TYPE2_TOKEN];
    sotto_type2_pending pending;
    sotto_type2_random random;
    issuer i;

    open_issuer(t, &i, TOKEN_KEY);
    CHECK_OK(t, sotto_type2_draw(&random, &i.key, &t->err));
    CHECK_OK(t,
             sotto_type2_request(&i.key, &pending, request, window(digest, 1), &random, &t->err));
    CHECK_OK(t, sotto_type2_issue(&i.secret, i.key.id, out, sotto_bytes_of(request, sizeof request),
                                  &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_type2_finish(&i.key, token, &pending, sotto_bytes_of(out, 255), &t->err));
    CHECK_REASON(t, "token response: 255 bytes instead of 256");
    out[100] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_type2_finish(&i.key, token, &pending, sotto_bytes_of(out, 256), &t->err));
    CHECK_REASON(t, "blind RSA: the signature does not hold");
    CHECK(t, token[0] == 0 && token[50] == 0 && token[300] == 0);
    memset(out, 0xff, sizeof out);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_type2_finish(&i.key, token, &pending, sotto_bytes_of(out, 256), &t->err));
    CHECK_REASON(t, "RSA: a blind signature is not below the modulus");
    close_issuer(&i);
}

static void a_salt_of_another_length_is_rejected(sotto_test *t)
{
    const sotto_bytes message = sotto_bytes_of("message", 7), none = sotto_bytes_of(NULL, 0);
    uint8_t encoded[256], signature[256], salt[20] = {1}, blind[256] = {0}, inverse[256];
    issuer i;

    open_issuer(t, &i, TOKEN_KEY);
    CHECK_OK(t, sotto_blind_rsa_encode(encoded, 256, &message, 1, none, &t->err));
    CHECK_OK(t, sotto_rsa_private_apply(&i.secret, signature, encoded, &t->err));
    CHECK_OK(t, sotto_blind_rsa_verify(&i.key.rsa, signature, &message, 1, 0, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_blind_rsa_verify(&i.key.rsa, signature, &message, 1, 48, &t->err));
    CHECK_REASON(t, "blind RSA: a salt of 0 bytes instead of 48");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_blind_rsa_blind(&i.key.rsa, encoded, inverse, &message, 1,
                                       sotto_bytes_of(salt, sizeof salt), blind, &t->err));
    CHECK_REASON(t, "blind RSA: a salt has 48 bytes or none, not 20");
    close_issuer(&i);
}

static void a_key_has_one_spelling(sotto_test *t)
{
    uint8_t spki[SOTTO_TYPE2_SPKI + 1];
    sotto_type2_key key;
    issuer i;

    open_issuer(t, &i, TOKEN_KEY);
    CHECK_OK(t, sotto_type2_key_encode(spki, &i.secret.public_key, &t->err));
    spki[SOTTO_TYPE2_SPKI] = 0;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_type2_key_decode(&key, sotto_bytes_of(spki, sizeof spki), &t->err));
    CHECK_REASON(t, "token key: not RSASSA-PSS with SHA-384, 2048 bits and e = 65537");
    for (size_t at = 0; at < SOTTO_TYPE2_SPKI; at++) {
        if (at >= 82 && at < 336) /* the modulus but its first and last byte */
            continue;
        spki[at] ^= 0x81;
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_type2_key_decode(&key, sotto_bytes_of(spki, SOTTO_TYPE2_SPKI), &t->err));
        sotto_type2_key_clear(&key);
        spki[at] ^= 0x81;
    }
    close_issuer(&i);
}

static void challenges_are_read_exactly(sotto_test *t)
{
    const sotto_bytes wire = sotto_test_hex(t, "0002000e6973737565722e6578616d706c6500000e6f7269676"
                                               "96e2e6578616d706c65");
    sotto_buf out = sotto_test_buf(t, 64);
    sotto_token_challenge challenge;

    CHECK_OK(t, sotto_token_challenge_decode(&challenge, wire, &t->err));
    CHECK_OK(t, sotto_token_challenge_encode(&out, &challenge, &t->err));
    CHECK_EQUAL(t, wire.len, out.len);
    CHECK_BYTES(t, wire.data, out.data, wire.len);
    for (size_t len = 0; len < wire.len; len++)
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_token_challenge_decode(&challenge, sotto_bytes_of(wire.data, len), &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_token_challenge_decode(&challenge, sotto_test_hex(t, "00020000000000"), &t->err));
    CHECK_REASON(t, "token challenge: names no issuer");
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_token_challenge_decode(&challenge, sotto_test_hex(t, "000200014101ff0000"), &t->err));
    CHECK_REASON(t, "token challenge: a redemption context has 32 bytes or none, not 1");
}

static void tokens_of_other_types_and_lengths_are_refused(sotto_test *t)
{
    uint8_t wire[SOTTO_TYPE2_TOKEN + 1] = {0, 2};
    sotto_token token;

    for (size_t len = 0; len <= sizeof wire; len++)
        if (len != SOTTO_TYPE2_TOKEN)
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_token_decode(&token, sotto_bytes_of(wire, len), &t->err));
    wire[1] = 3;
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_token_decode(&token, sotto_bytes_of(wire, SOTTO_TYPE2_TOKEN), &t->err));
    CHECK_REASON(t, "token: type 3 is not known here");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_token_holds_for_its_key_and_challenge),
        CASE(a_flipped_bit_is_rejected),
        CASE(a_request_sent_again_gives_the_same_response),
        CASE(an_issuer_refuses_what_is_not_for_its_key),
        CASE(a_client_takes_no_signature_of_something_else),
        CASE(a_salt_of_another_length_is_rejected),
        CASE(a_key_has_one_spelling),
        CASE(challenges_are_read_exactly),
        CASE(tokens_of_other_types_and_lengths_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
