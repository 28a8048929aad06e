/* seal/token/token.h - Privacy Pass on the wire: challenges, token requests and tokens (RFC 9577, RFC 9578).
 *
 * Callers:  type1.h, type2.h; servers that see a token before they know its kind.
 * Memory:   what is decoded borrows from the wire.
 *
 *     TokenChallenge   type 2 | issuer name <2> | redemption context <1>, of 0 or 32 bytes | origin info <2>
 *     TokenRequest     type 2 | last byte of the key's id 1 | blinded message
 *     Token            type 2 | nonce 32 | SHA-256 of the challenge 32 | key id 32 | authenticator
 */
#ifndef SOTTO_SEAL_TOKEN_TOKEN_H
#define SOTTO_SEAL_TOKEN_TOKEN_H

#include "sotto/base.h"

/* Media types of RFC 9578. */
#define SOTTO_TOKEN_REQUEST_TYPE  "application/private-token-request"
#define SOTTO_TOKEN_RESPONSE_TYPE "application/private-token-response"

/* The registry's token types. */
enum { SOTTO_TOKEN_VOPRF = 0x0001, SOTTO_TOKEN_BLIND_RSA = 0x0002, SOTTO_TOKEN_ARC = 0xe5ac };

enum {
    SOTTO_TOKEN_NONCE = 32,
    SOTTO_TOKEN_DIGEST = 32,
    SOTTO_TOKEN_KEY_ID = 32,
    SOTTO_TOKEN_REQUEST_HEAD = 3,  /* type, and last byte of the key's id */
    SOTTO_TOKEN_ARC_BLINDED = 226, /* a request of ARC: SOTTO_ARC_REQUEST */
    SOTTO_TOKEN_ARC_REQUEST = SOTTO_TOKEN_REQUEST_HEAD + SOTTO_TOKEN_ARC_BLINDED,
    SOTTO_TOKEN_INPUT = 2 + SOTTO_TOKEN_NONCE + SOTTO_TOKEN_DIGEST + SOTTO_TOKEN_KEY_ID
};

typedef struct sotto_token_challenge {
    uint16_t type;
    sotto_bytes issuer;  /* its name, never empty                           */
    sotto_bytes context; /* of the redemption: 32 bytes or none             */
    sotto_bytes origin;  /* names with commas between them; empty: any      */
} sotto_token_challenge;

/* SOTTO_MALFORMED: too short, trailing bytes, no issuer, or a context of another length. Any type decodes. */
SOTTO_MUST_USE sotto_status sotto_token_challenge_decode(sotto_token_challenge *challenge,
                                                         sotto_bytes wire, sotto_err *err);
/* Also SOTTO_TOO_LARGE: it does not fit. */
SOTTO_MUST_USE sotto_status sotto_token_challenge_encode(sotto_buf *out,
                                                         const sotto_token_challenge *challenge,
                                                         sotto_err *err);
/* Of the challenge's bytes, as a token carries it. */
void sotto_token_challenge_digest(uint8_t out[SOTTO_TOKEN_DIGEST], sotto_bytes wire);

typedef struct sotto_token_request {
    uint16_t type;
    uint8_t short_key_id;
    sotto_bytes blinded;
} sotto_token_request;

/* Types 1 and 2 and ARC, each with its length.
 *   SOTTO_MISSING    another type
 *   SOTTO_MALFORMED  another length */
SOTTO_MUST_USE sotto_status sotto_token_request_decode(sotto_token_request *request,
                                                       sotto_bytes wire, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_token_request_encode(sotto_buf *out,
                                                       const sotto_token_request *request,
                                                       sotto_err *err);

typedef struct sotto_token {
    uint16_t type;
    const uint8_t *nonce;     /* of SOTTO_TOKEN_NONCE bytes  */
    const uint8_t *challenge; /* its digest                  */
    const uint8_t *key_id;
    sotto_bytes authenticator;
    sotto_bytes input; /* all before the authenticator: what is signed */
} sotto_token;

/* Types 1 and 2; the rest as for requests. */
SOTTO_MUST_USE sotto_status sotto_token_decode(sotto_token *token, sotto_bytes wire,
                                               sotto_err *err);

/* The part of a token that is known before it is issued. */
void sotto_token_input(uint8_t out[SOTTO_TOKEN_INPUT], uint16_t type,
                       const uint8_t nonce[SOTTO_TOKEN_NONCE],
                       const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                       const uint8_t key_id[SOTTO_TOKEN_KEY_ID]);

#endif
