/* serve/attester/attested_request.h - what a device posts to an attester: evidence <2> | token request.
 *
 * Callers:  the attester, with strangers' bytes.
 * Memory:   the evidence lies in the bytes that were decoded.
 */
#ifndef SOTTO_SERVE_ATTESTER_ATTESTED_REQUEST_H
#define SOTTO_SERVE_ATTESTER_ATTESTED_REQUEST_H

#include "seal/token/attested.h"

enum { SOTTO_ATTESTED_BODY = 2 + SOTTO_ATTESTED_EVIDENCE + SOTTO_ATTESTED_REQUEST };

typedef struct sotto_attested_request {
    sotto_bytes evidence;
    uint16_t type;                         /* SOTTO_TOKEN_BLIND_RSA or _ARC */
    uint8_t asked[SOTTO_ATTESTED_REQUEST]; /* the token request */
    size_t len;                            /* ... its length    */
} sotto_attested_request;

/* SOTTO_MALFORMED  cut short, more behind it, or an invalid token request */
SOTTO_MUST_USE sotto_status sotto_attested_request_decode(sotto_attested_request *out,
                                                          sotto_bytes wire, sotto_err *err);

#endif
