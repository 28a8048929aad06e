/* serve/gateway/gateway_service.h - opens what relays forward and asks the servers behind it (RFC 9458): it sees what is asked,
 * and not by whom.
 *
 * Callers:  services.c; tests.
 */
#ifndef SOTTO_SERVE_GATEWAY_GATEWAY_SERVICE_H
#define SOTTO_SERVE_GATEWAY_GATEWAY_SERVICE_H

#include "serve/host/keys.h"
#include "serve/host/service.h"

enum { SOTTO_GATEWAY_OWNER = 12 };

/* Where a gateway takes requests and publishes its keys (RFC 9540). */
#define SOTTO_GATEWAY_PATH ".well-known/ohttp-gateway"

typedef struct sotto_gateway_config {
    const char *targets;    /* a file: host/url_table.h            */
    uint64_t replay_window; /* seconds                             */
    uint64_t replay_most;   /* requests remembered at once         */
    uint64_t max_request;   /* bytes of an encapsulated request    */
    uint64_t answer_pad;    /* answers have a multiple of this     */
    sotto_key_times key_times;
    uint64_t peer_check; /* seconds: host/peers.h */
} sotto_gateway_config;

extern const sotto_service sotto_gateway_service;

#endif
