/* serve/relay/forward.h - a shuffled batch on its way to its gateway, and the answers on theirs to the clients.
 *
 * Callers:  relay_service.c.
 * Threads:  any.
 */
#ifndef SOTTO_SERVE_RELAY_FORWARD_H
#define SOTTO_SERVE_RELAY_FORWARD_H

#include "serve/host/host.h"
#include "serve/relay/mix.h"

#include <stdatomic.h>

/* Where requests go. */
typedef struct sotto_relay_way {
    sotto_host *host;
    const char *url;
    atomic_bool one_by_one;                 /* this gateway takes no batches */
    atomic_uint_fast64_t forwarded, failed; /* requests; those that failed at once are in both */
} sotto_relay_way;

/* Sends all of a list, and answers each of them at last. The way outlives the host's calls. */
void sotto_relay_forward(sotto_relay_way *way, sotto_mixed *batch);
/* Answers a request that no gateway will. */
void sotto_relay_refuse(sotto_relay_way *way, sotto_mixed *one, unsigned status,
                        const char *detail);

#endif
