/* serve/attester/attester_sources.h - who issues what the attester asks for: an issuer, a leader, a helper.
 *
 * Callers:  attester_service.c.
 * Memory:   URLs are the configuration's.
 * Secrets:  bearers.
 */
#ifndef SOTTO_SERVE_ATTESTER_ATTESTER_SOURCES_H
#define SOTTO_SERVE_ATTESTER_ATTESTER_SOURCES_H

#include "serve/attester/attester_lists.h"
#include "serve/attester/attester_service.h"
#include "serve/host/bearer.h"

typedef struct sotto_attester_sources {
    const char *urls[SOTTO_ATTESTER_SOURCES];     /* NULL: there is none              */
    sotto_bearer bearers[SOTTO_ATTESTER_SOURCES]; /* by which each knows this attester */
} sotto_attester_sources;

/* As options name them. */
extern const char *const sotto_attester_source_names[SOTTO_ATTESTER_SOURCES];

/* Each URL can be called and has its token.
 *   SOTTO_MALFORMED  the reason names the option; others as sotto_http_url_check and sotto_bearer_read
 */
SOTTO_MUST_USE sotto_status sotto_attester_sources_open(sotto_attester_sources *sources,
                                                        const sotto_attester_config *config,
                                                        bool plain_http, sotto_err *err);

#endif
