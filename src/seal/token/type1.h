/* seal/token/type1.h - tokens of type 1, verified by their issuer alone: VOPRF over P-384 (RFC 9578, 5).
 *
 * Callers:  sotto-vectors and interoperability tests; sotto's issuer issues type 2 alone. No device links it.
 * Secrets:  the private key, and blind and input until the token is spent.
 */
#ifndef SOTTO_SEAL_TOKEN_TYPE1_H
#define SOTTO_SEAL_TOKEN_TYPE1_H

#include "seal/token/token.h"
#include "seal/token/voprf.h"

enum {
    SOTTO_TYPE1_POINT = 49,
    SOTTO_TYPE1_PROOF = 96,
    SOTTO_TYPE1_REQUEST = SOTTO_TOKEN_REQUEST_HEAD + SOTTO_TYPE1_POINT,
    SOTTO_TYPE1_RESPONSE = SOTTO_TYPE1_POINT + SOTTO_TYPE1_PROOF,
    SOTTO_TYPE1_TOKEN = SOTTO_TOKEN_INPUT + 48
};

void sotto_type1_key_id(uint8_t out[SOTTO_TOKEN_KEY_ID],
                        const uint8_t public_key[SOTTO_TYPE1_POINT]);

/* input: sotto_token_input of the type, nonce, challenge and key id. v is VOPRF over P-384 throughout. */
SOTTO_MUST_USE sotto_status sotto_type1_request(sotto_voprf *v,
                                                uint8_t request[SOTTO_TYPE1_REQUEST],
                                                const uint8_t input[SOTTO_TOKEN_INPUT],
                                                const sotto_scalar *blind, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_type1_issue(sotto_voprf *v,
                                              uint8_t response[SOTTO_TYPE1_RESPONSE],
                                              const sotto_scalar *key,
                                              const uint8_t public_key[SOTTO_TYPE1_POINT],
                                              sotto_bytes request, const sotto_scalar *nonce,
                                              sotto_err *err);
/* SOTTO_MALFORMED: another length. SOTTO_REJECTED: the proof does not hold. */
SOTTO_MUST_USE sotto_status sotto_type1_finish(sotto_voprf *v, uint8_t token[SOTTO_TYPE1_TOKEN],
                                               const uint8_t input[SOTTO_TOKEN_INPUT],
                                               const sotto_scalar *blind,
                                               const uint8_t public_key[SOTTO_TYPE1_POINT],
                                               const uint8_t request[SOTTO_TYPE1_REQUEST],
                                               sotto_bytes response, sotto_err *err);
/* SOTTO_REJECTED: of another type, key or challenge, or not this key's. */
SOTTO_MUST_USE sotto_status sotto_type1_verify(sotto_voprf *v, const sotto_token *token,
                                               const sotto_scalar *key,
                                               const uint8_t key_id[SOTTO_TOKEN_KEY_ID],
                                               const uint8_t challenge[SOTTO_TOKEN_DIGEST],
                                               sotto_err *err);

#endif
