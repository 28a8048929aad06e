/* serve/gateway/gateway.h - what the files of the gateway share.
 *
 *     gateway_service.c  options, routes, up and down
 *     decapsulate.c      workers open what waits, many at a time, and judge it
 *     forward.c          the call to a target, and its answer
 *     answer.c           answers: plain before a request is opened, sealed after it
 *     replays.c          what was opened lately
 *
 * Secrets:  an ask's exchange seals its answer; wiped with it. A request's contents are the worker's, and wiped with its arena.
 */
#ifndef SOTTO_SERVE_GATEWAY_GATEWAY_H
#define SOTTO_SERVE_GATEWAY_GATEWAY_H

#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"
#include "serve/gateway/gateway_service.h"
#include "serve/gateway/replays.h"
#include "serve/host/host.h"
#include "serve/host/keys.h"
#include "serve/host/url_table.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct sotto_gateway sotto_gateway;

/* What a request says of its date may be this far ahead, in seconds: devices round theirs down to the minute. */
enum { SOTTO_GATEWAY_AHEAD = 60, SOTTO_GATEWAY_URL = 2048 };

/* A request on its way. */
typedef struct sotto_gateway_ask {
    sotto_gateway *gateway;
    sotto_http_request *request;
    struct sotto_gateway_ask *next; /* of those that wait */
    sotto_ohttp_exchange exchange;  /* once it was opened */
} sotto_gateway_ask;

struct sotto_gateway {
    sotto_host *host;
    sotto_gateway_config config;
    sotto_keys *keys;
    sotto_receivers **receivers; /* one for each worker */
    sotto_url_table *targets;
    sotto_replays *replays;
    int64_t not_before; /* requests dated earlier may have been opened by an earlier process */
    pthread_mutex_t lock;
    sotto_gateway_ask *first, **last; /* that wait, the oldest first */
    unsigned drainers;                /* pieces of work that take from them */
    atomic_uint_fast64_t opened, batches, plain_errors, sealed_errors, replayed;
};

/* ---- decapsulate.c ---- */

/* Takes a request whose body is whole. */
void sotto_gateway_take(sotto_gateway *gateway, sotto_http_request *request);
/* Refuses what waits with 503: no worker will take it. */
void sotto_gateway_refuse_waiting(sotto_gateway *gateway, const char *detail);

/* ---- forward.c ---- */

/* How a target is asked. */
typedef struct sotto_gateway_way {
    sotto_http_method method;
    char url[SOTTO_GATEWAY_URL + 1];
} sotto_gateway_way;

/* Finds the target of an opened request. False: there is none, and the request was refused. */
SOTTO_MUST_USE bool sotto_gateway_find(sotto_gateway_ask *ask, sotto_gateway_way *way,
                                       const sotto_bhttp *message);
/* Sends an opened request to its target, and answers it at last. */
void sotto_gateway_forward(sotto_gateway_ask *ask, const sotto_gateway_way *way,
                           const sotto_bhttp *message);

/* ---- answer.c: each ends the ask ---- */

/* Before the request was opened. type: NULL or a problem type of RFC 9458. */
void sotto_gateway_refuse(sotto_gateway_ask *ask, unsigned status, const char *type,
                          const char *detail);
/* After it. The answer says that the gateway made it: see SOTTO_OHTTP_GATEWAY_FIELD. */
void sotto_gateway_refuse_sealed(sotto_gateway_ask *ask, unsigned status, const char *type,
                                 const char *detail);
void sotto_gateway_answer(sotto_gateway_ask *ask, const sotto_bhttp *answer);

#endif
