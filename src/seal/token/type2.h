/* seal/token/type2.h - tokens of type 2, publicly verifiable: blind RSA with 2,048 bits (RFC 9578, 6).
 *
 * Callers:  device/ asks for tokens; serve/issuer signs; leader and helper verify.
 * Memory:   keys hold objects of the crypto library until they are cleared. All else has a fixed size.
 * Threads:  a key is used by one thread at a time.
 * Secrets:  sotto_type2_random and sotto_type2_pending link a token to its request; wipe them. A token is secret until it is
 *           spent.
 */
#ifndef SOTTO_SEAL_TOKEN_TYPE2_H
#define SOTTO_SEAL_TOKEN_TYPE2_H

#include "seal/token/blind_rsa.h"
#include "seal/token/token.h"

enum {
    SOTTO_TYPE2_BITS = 2048,
    SOTTO_TYPE2_NUMBER = 256,
    SOTTO_TYPE2_SPKI = 342, /* a public key, as issuers publish it */
    SOTTO_TYPE2_REQUEST = SOTTO_TOKEN_REQUEST_HEAD + SOTTO_TYPE2_NUMBER,
    SOTTO_TYPE2_RESPONSE = SOTTO_TYPE2_NUMBER,
    SOTTO_TYPE2_TOKEN = SOTTO_TOKEN_INPUT + SOTTO_TYPE2_NUMBER
};

typedef struct sotto_type2_key {
    uint8_t id[SOTTO_TOKEN_KEY_ID]; /* SHA-256 of its encoding */
    sotto_rsa_public rsa;
} sotto_type2_key;

/* An SPKI with the OID id-RSASSA-PSS, SHA-384, MGF1 with SHA-384 and a salt of 48 bytes. One spelling is taken: the one that
 * the RFC's vectors have, with the exponent 65537, so a key has one id.
 *   SOTTO_MALFORMED  anything else */
SOTTO_MUST_USE sotto_status sotto_type2_key_decode(sotto_type2_key *key, sotto_bytes spki,
                                                   sotto_err *err);
void sotto_type2_key_clear(sotto_type2_key *key);
/* SOTTO_MALFORMED: not a key of 2,048 bits with that exponent. */
SOTTO_MUST_USE sotto_status sotto_type2_key_encode(uint8_t out[SOTTO_TYPE2_SPKI],
                                                   const sotto_rsa_public *rsa, sotto_err *err);

/* ---- the client ------------------------------------------------------------------------------------------------ */

typedef struct sotto_type2_random {
    uint8_t nonce[SOTTO_TOKEN_NONCE];
    uint8_t salt[SOTTO_BLIND_RSA_SALT];
    uint8_t blind[SOTTO_TYPE2_NUMBER];
} sotto_type2_random;

SOTTO_MUST_USE sotto_status sotto_type2_draw(sotto_type2_random *random, const sotto_type2_key *key,
                                             sotto_err *err);

/* What a client keeps between request and response. A plain value. */
typedef struct sotto_type2_pending {
    uint8_t input[SOTTO_TOKEN_INPUT];
    uint8_t inverse[SOTTO_TYPE2_NUMBER];
} sotto_type2_pending;

/* SOTTO_REJECTED: the blind has no inverse; draw again. */
SOTTO_MUST_USE sotto_status sotto_type2_request(sotto_type2_key *key, sotto_type2_pending *pending,
                                                uint8_t request[SOTTO_TYPE2_REQUEST],
                                                const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                                                const sotto_type2_random *random, sotto_err *err);
/* Everything of it but the blinding: pending->input, and what stands in front of the blinded number. */
void sotto_type2_begin(const sotto_type2_key *key, sotto_type2_pending *pending,
                       uint8_t request[SOTTO_TYPE2_REQUEST],
                       const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                       const uint8_t nonce[SOTTO_TOKEN_NONCE]);
/* A token that was verified; wiped after a failure.
 *   SOTTO_MALFORMED  a response of another length
 *   SOTTO_REJECTED   not this key's signature of this request */
SOTTO_MUST_USE sotto_status sotto_type2_finish(sotto_type2_key *key,
                                               uint8_t token[SOTTO_TYPE2_TOKEN],
                                               const sotto_type2_pending *pending,
                                               sotto_bytes response, sotto_err *err);

/* ---- the issuer ------------------------------------------------------------------------------------------------ */

/* SOTTO_MALFORMED, SOTTO_MISSING: not a request of type 2. SOTTO_REJECTED: for another key, or not below the modulus. */
SOTTO_MUST_USE sotto_status sotto_type2_issue(sotto_rsa_private *key,
                                              const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                                              uint8_t response[SOTTO_TYPE2_RESPONSE],
                                              sotto_bytes request, sotto_err *err);

/* ---- whoever is shown a token ---------------------------------------------------------------------------------- */

/* Everything but whether it was spent before: token->nonce is what a spent set holds.
 *   SOTTO_REJECTED  of another type, key or challenge, or the signature does not hold; the reason says which */
SOTTO_MUST_USE sotto_status sotto_type2_verify(sotto_type2_key *key, const sotto_token *token,
                                               const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                                               sotto_err *err);

#endif
