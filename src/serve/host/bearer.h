/* serve/host/bearer.h - bearer tokens: the one that a request carries, and one from a file that a service knows a client by.
 *
 * Secrets:  the token; wiped with whatever holds it. It is compared in constant time.
 */
#ifndef SOTTO_SERVE_HOST_BEARER_H
#define SOTTO_SERVE_HOST_BEARER_H

#include "transport/http_server.h"

enum { SOTTO_BEARER = 256, SOTTO_BEARER_LEAST = 16 };

typedef struct sotto_bearer {
    char text[SOTTO_BEARER + 1];
    size_t len;
} sotto_bearer;

/* Without the line's end. SOTTO_MALFORMED: fewer than 16 characters; others as base/secret_file.h. */
SOTTO_MUST_USE sotto_status sotto_bearer_read(sotto_bearer *b, const char *path, sotto_err *err);
/* The token of Authorization: Bearer ..., borrowed from the request; empty where it has none. */
sotto_bytes sotto_bearer_of(const sotto_http_request *request);
/* Whether the request carries it. */
bool sotto_bearer_is(const sotto_bearer *b, const sotto_http_request *request);

#endif
