/* interop_tokens STEP [HEX...]: sotto's side of tokens of type 2, one step a call, for a driver in another language.
 *
 *     key                              a new private key, and its public key on the next line
 *     issue KEY REQUEST                the response
 *     request PUBLIC CHALLENGE         what was drawn, and the request on the next line
 *     finish PUBLIC CHALLENGE DRAWN RESPONSE   the token
 *     verify PUBLIC CHALLENGE TOKEN    "ok", or the status
 */
#include "base/hex.h"
#include "seal/token/type2.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST = SOTTO_RSA_DER_MAX };

typedef struct argument {
    uint8_t data[LARGEST];
    size_t len;
} argument;

static sotto_bytes bytes_of(const argument *a)
{
    return sotto_bytes_of(a->data, a->len);
}

static bool read_hex(argument *out, const char *text)
{
    out->len = strlen(text) / 2;
    return out->len <= LARGEST &&
           sotto_hex_decode(out->data, out->len, sotto_bytes_of(text, strlen(text)));
}

static void say(const void *data, size_t len)
{
    char text[2 * LARGEST + 1];

    sotto_hex_encode(text, sotto_bytes_of(data, len));
    (void)puts(text);
}

static sotto_status make_key(sotto_err *err)
{
    uint8_t spki[SOTTO_TYPE2_SPKI], der[SOTTO_RSA_DER_MAX];
    sotto_buf out = sotto_buf_over(der, sizeof der);
    sotto_rsa_private key;

    SOTTO_TRY(sotto_rsa_private_generate(&key, SOTTO_TYPE2_BITS, err));
    SOTTO_TRY(sotto_rsa_private_encode(&key, &out, err));
    SOTTO_TRY(sotto_type2_key_encode(spki, &key.public_key, err));
    say(out.data, out.len);
    say(spki, sizeof spki);
    sotto_rsa_private_clear(&key);
    return SOTTO_OK;
}

static sotto_status issue(const argument *a, sotto_err *err)
{
    uint8_t spki[SOTTO_TYPE2_SPKI], response[SOTTO_TYPE2_RESPONSE];
    sotto_rsa_private secret;
    sotto_type2_key key;

    SOTTO_TRY(sotto_rsa_private_decode(&secret, bytes_of(&a[0]), err));
    SOTTO_TRY(sotto_type2_key_encode(spki, &secret.public_key, err));
    SOTTO_TRY(sotto_type2_key_decode(&key, sotto_bytes_of(spki, sizeof spki), err));
    SOTTO_TRY(sotto_type2_issue(&secret, key.id, response, bytes_of(&a[1]), err));
    say(response, sizeof response);
    sotto_type2_key_clear(&key);
    sotto_rsa_private_clear(&secret);
    return SOTTO_OK;
}

/* The client's two steps: the request is made again from what was drawn. */
static sotto_status ask(const argument *a, const argument *drawn, const argument *response,
                        sotto_err *err)
{
    uint8_t digest[SOTTO_TOKEN_DIGEST], request[SOTTO_TYPE2_REQUEST], token[SOTTO_TYPE2_TOKEN];
    sotto_token_challenge challenge;
    sotto_type2_pending pending;
    sotto_type2_random random;
    sotto_type2_key key;

    SOTTO_TRY(sotto_type2_key_decode(&key, bytes_of(&a[0]), err));
    SOTTO_TRY(sotto_token_challenge_decode(&challenge, bytes_of(&a[1]), err));
    sotto_token_challenge_digest(digest, bytes_of(&a[1]));
    if (drawn && drawn->len == sizeof random)
        memcpy(&random, drawn->data, sizeof random);
    else
        SOTTO_TRY(sotto_type2_draw(&random, &key, err));
    SOTTO_TRY(sotto_type2_request(&key, &pending, request, digest, &random, err));
    if (response) {
        SOTTO_TRY(sotto_type2_finish(&key, token, &pending, bytes_of(response), err));
        say(token, sizeof token);
    } else {
        say(&random, sizeof random);
        say(request, sizeof request);
    }
    sotto_type2_key_clear(&key);
    return SOTTO_OK;
}

static sotto_status verify(const argument *a, sotto_err *err)
{
    uint8_t digest[SOTTO_TOKEN_DIGEST];
    sotto_type2_key key;
    sotto_token token;

    SOTTO_TRY(sotto_type2_key_decode(&key, bytes_of(&a[0]), err));
    sotto_token_challenge_digest(digest, bytes_of(&a[1]));
    SOTTO_TRY(sotto_token_decode(&token, bytes_of(&a[2]), err));
    sotto_status status = sotto_type2_verify(&key, &token, digest, NULL);
    (void)puts(status == SOTTO_OK ? "ok" : sotto_status_name(status));
    sotto_type2_key_clear(&key);
    return SOTTO_OK;
}

int main(int argc, char **argv)
{
    static argument a[4];
    sotto_status status = SOTTO_MALFORMED;
    sotto_err err = {0};

    for (int i = 2; i < argc && i < 6; i++)
        if (!read_hex(&a[i - 2], argv[i]))
            return 2;
    if (argc == 2 && strcmp(argv[1], "key") == 0)
        status = make_key(&err);
    else if (argc == 4 && strcmp(argv[1], "issue") == 0)
        status = issue(a, &err);
    else if (argc == 4 && strcmp(argv[1], "request") == 0)
        status = ask(a, NULL, NULL, &err);
    else if (argc == 6 && strcmp(argv[1], "finish") == 0)
        status = ask(a, &a[2], &a[3], &err);
    else if (argc == 5 && strcmp(argv[1], "verify") == 0)
        status = verify(a, &err);
    if (status != SOTTO_OK)
        (void)fprintf(stderr, "interop_tokens: %s\n", err.reason);
    return status == SOTTO_OK ? 0 : 1;
}
