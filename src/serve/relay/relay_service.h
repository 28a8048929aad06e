/* serve/relay/relay_service.h - forwards sealed requests to gateways (RFC 9458): it sees who asks, and not what.
 *
 * Callers:  services.c; tests and benchmarks.
 */
#ifndef SOTTO_SERVE_RELAY_RELAY_SERVICE_H
#define SOTTO_SERVE_RELAY_RELAY_SERVICE_H

#include "serve/host/service.h"

enum { SOTTO_RELAY_OWNER = 13 };

typedef struct sotto_relay_config {
    const char *gateways;  /* a file: host/url_table.h                                      */
    uint64_t mix_least;    /* requests that a gateway gets at once, at least ...            */
    uint64_t mix_delay_ms; /* ... unless the oldest has waited for so long                  */
    uint64_t max_request;  /* bytes of an encapsulated request                              */
    uint64_t peer_check;   /* seconds: host/peers.h                                         */
} sotto_relay_config;

extern const sotto_service sotto_relay_service;

#endif
