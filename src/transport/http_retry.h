/* transport/http_retry.h - whether a call is tried again, and when: decisions over plain values.
 *
 * Callers:  the client.
 */
#ifndef SOTTO_TRANSPORT_HTTP_RETRY_H
#define SOTTO_TRANSPORT_HTTP_RETRY_H

#include "sotto/base.h"

typedef enum sotto_http_outcome {
    SOTTO_HTTP_UNSENT, /* no connection came about: the peer has seen nothing           */
    SOTTO_HTTP_LOST,   /* the connection was lost or too slow: who knows what was done  */
    SOTTO_HTTP_ANSWERED
} sotto_http_outcome;

/* status matters only where an answer came. */
bool sotto_http_may_retry(sotto_http_outcome outcome, unsigned status, bool repeatable);

/* Milliseconds before attempt number `attempt` + 1, of which `attempt` are made. It doubles from first_ms up to
 * max_ms; `random` spreads its upper half, so that clients which failed together don't return together. */
unsigned sotto_http_backoff(unsigned attempt, unsigned first_ms, unsigned max_ms, uint32_t random);

#endif
