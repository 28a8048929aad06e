/* serve/relay/mix.h - requests that wait to leave together, in random order.
 *
 * Callers:  relay_service.c.
 * Memory:   requests are the mix's from put to take.
 * Threads:  any.
 */
#ifndef SOTTO_SERVE_RELAY_MIX_H
#define SOTTO_SERVE_RELAY_MIX_H

#include "transport/http_server.h"

/* One request that waits. */
typedef struct sotto_mixed {
    struct sotto_mixed *next;
    sotto_http_request *request;
    struct sotto_relay_way *way; /* once it leaves */
} sotto_mixed;

typedef struct sotto_mix sotto_mix;

SOTTO_MUST_USE sotto_status sotto_mix_new(sotto_mix **out, uint64_t least, uint64_t delay_ms,
                                          sotto_err *err);
/* Nothing waits in it. NULL is fine. */
void sotto_mix_free(sotto_mix *mix);

/* Returns whether to call sotto_mix_take now: this request completes a batch, or is the first of one and starts its wait. A
 * request that finds no memory is answered 503 here. */
bool sotto_mix_put(sotto_mix *mix, sotto_mixed *one, uint64_t now_ms);
/* A batch that is due, shuffled: a list. NULL: none is due, and *wait_ms is set to when one is, at most.
 *   all  whatever waits is due */
sotto_mixed *sotto_mix_take(sotto_mix *mix, uint64_t now_ms, bool all, uint64_t *wait_ms);

#endif
