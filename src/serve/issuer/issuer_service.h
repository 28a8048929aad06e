/* serve/issuer/issuer_service.h - the issuer of tokens: signs blinded requests that the attester forwards.
 *
 *     PUT  collections/{analysis}/{opens}/{closes}   the operator: makes the collection's key, once
 *     GET  keys                                      everybody: the one public list
 *     POST keys/{id}/token-request                   the attester: RFC 9578, 6.1 and 6.2
 *     POST keys/{id}/token-requests                  the same, of many requests at once: seal/token/token_batch.h
 *
 * It knows a key's collection, and never a device (docs/protocols/tokens.md).
 */
#ifndef SOTTO_SERVE_ISSUER_ISSUER_SERVICE_H
#define SOTTO_SERVE_ISSUER_ISSUER_SERVICE_H

#include "serve/host/service.h"

extern const sotto_service sotto_issuer_service;

typedef struct sotto_issuer_config {
    const char *attester_token, *operator_token; /* files */
} sotto_issuer_config;

#endif
