/* seal/token/attested.h - a token request that goes through an attester: what the device signs, and what it posts.
 *
 *     POST tokens/{key id}    evidence <2> | token request
 *     evidence                of enrolment keys: public key 32 (Ed25519) | signature 64, of the text below
 *     text                    "sotto attested token request 1" | key id 32 | token request
 *
 * Callers:  device/ asks; serve/attester answers.
 */
#ifndef SOTTO_SEAL_TOKEN_ATTESTED_H
#define SOTTO_SEAL_TOKEN_ATTESTED_H

#include "seal/token/type2.h"

#define SOTTO_ATTESTED_TYPE "application/sotto-attested-token-request"

/* What a device signs: this, the key's id, and the token request. */
#define SOTTO_ATTESTED_LABEL "sotto attested token request 1"

enum {
    SOTTO_ATTESTED_REQUEST = SOTTO_TYPE2_REQUEST, /* at most; one of ARC is shorter */
    SOTTO_ATTESTED_TEXT =
        sizeof SOTTO_ATTESTED_LABEL - 1 + SOTTO_TOKEN_KEY_ID + SOTTO_ATTESTED_REQUEST,
    SOTTO_ATTESTED_EVIDENCE = 8192 /* bytes, at most */
};

/* In out, for a request of at most SOTTO_ATTESTED_REQUEST bytes. */
sotto_bytes sotto_attested_text(uint8_t out[SOTTO_ATTESTED_TEXT],
                                const uint8_t key_id[SOTTO_TOKEN_KEY_ID], sotto_bytes request);

#endif
