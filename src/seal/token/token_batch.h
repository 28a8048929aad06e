/* seal/token/token_batch.h - many token requests under one key in one call, from an attester to its issuer.
 *
 *     body    up to SOTTO_TOKEN_BATCH token requests of RFC 9578, 6.1, one behind the other
 *     answer  for each of them, in their order: one byte, then a token response of RFC 9578, 6.2, or as many zeros
 *
 * A request that is malformed spoils none of the others.
 */
#ifndef SOTTO_SEAL_TOKEN_TOKEN_BATCH_H
#define SOTTO_SEAL_TOKEN_TOKEN_BATCH_H

#include "seal/token/type2.h"

#define SOTTO_TOKEN_BATCH_TYPE          "application/sotto-token-requests"
#define SOTTO_TOKEN_BATCH_RESPONSE_TYPE "application/sotto-token-responses"

enum {
    SOTTO_TOKEN_BATCH = 64,
    SOTTO_TOKEN_BATCH_ANSWER = 1 + SOTTO_TYPE2_RESPONSE,
    /* the byte */
    SOTTO_TOKEN_BATCH_SIGNED = 0,
    SOTTO_TOKEN_BATCH_REFUSED = 1
};

#endif
