/* serve/gateway/gateway.h - what the files of the gateway share.
 *
 *     gateway_service.c  options, routes, up and down
 *     decapsulate.c      workers open what waits, many at a time, and judge it
 *     forward.c          the call to a target, and its answer
 *     uploads.c          reports for one leader go to it in one call
 *     answer.c           answers: plain before a request is opened, sealed after it
 *     batch.c            requests that came in one call, and their answers
 *     replays.c          what was opened lately
 *
 * Secrets:  an ask's exchange seals its answer; wiped with it. A request's contents are the worker's, and wiped with its arena.
 */
#ifndef SOTTO_SERVE_GATEWAY_GATEWAY_H
#define SOTTO_SERVE_GATEWAY_GATEWAY_H

#include "dap/dap.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"
#include "seal/ohttp/ohttp_batch.h"
#include "serve/gateway/gateway_service.h"
#include "serve/gateway/replays.h"
#include "serve/host/host.h"
#include "serve/host/keys.h"
#include "serve/host/peers.h"
#include "serve/host/url_table.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct sotto_gateway sotto_gateway;

/* What a request says of its date may be this far ahead, in seconds: devices round theirs down to the minute. */
enum { SOTTO_GATEWAY_AHEAD = 60, SOTTO_GATEWAY_URL = 2048 };
/* Of a call to a target. */
enum { SOTTO_GATEWAY_ATTEMPTS = 2, SOTTO_GATEWAY_TIMEOUT_MS = 20000 };
/* So many are opened at once, by one worker. A batch that came in one call is answered after so many milliseconds, at most
 * about a second later. */
enum { SOTTO_GATEWAY_AT_ONCE = 32, SOTTO_GATEWAY_BATCH_MS = 5000 };

typedef struct sotto_gateway_batch sotto_gateway_batch;

/* A request on its way. */
typedef struct sotto_gateway_ask {
    sotto_gateway *gateway;
    sotto_http_request *request;    /* that it came in; NULL: a batch's            */
    sotto_gateway_batch *batch;     /* NULL: it came alone                        */
    size_t place;                   /* in the batch                               */
    sotto_bytes encapsulated;       /* borrowed from the request, or from the batch */
    struct sotto_gateway_ask *next; /* of those that wait */
    sotto_ohttp_exchange exchange;  /* once it was opened */
} sotto_gateway_ask;

struct sotto_gateway {
    sotto_host *host;
    sotto_gateway_config config;
    sotto_keys *keys;
    sotto_receivers **receivers; /* one for each worker */
    sotto_url_table *targets;
    sotto_peers *peers; /* the targets, for health */
    sotto_replays *replays;
    int64_t not_before; /* requests dated earlier may have been opened by an earlier process */
    pthread_mutex_t lock;
    sotto_gateway_ask *first, **last; /* that wait, the oldest first */
    unsigned drainers;                /* pieces of work that take from them */
    pthread_mutex_t batch_lock;
    sotto_gateway_batch *batches_open; /* whose answers are not sent */
    atomic_uint_fast64_t opened, batches, plain_errors, sealed_errors, replayed;
};

/* ---- decapsulate.c ---- */

/* Takes a list of asks. */
void sotto_gateway_take(sotto_gateway *gateway, sotto_gateway_ask *first);
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
/* The same. type: the content's, or NULL. */
void sotto_gateway_call(sotto_gateway_ask *ask, sotto_http_method method, const char *url,
                        const char *type, sotto_bytes content);

/* ---- uploads.c ---- */

/* A report that may go with others; borrowed from the worker's arena. */
typedef struct sotto_gateway_upload {
    sotto_gateway_ask *ask; /* NULL: it has gone */
    const char *url;
    sotto_bytes report;
    uint8_t id[SOTTO_REPORT_ID_SIZE];
} sotto_gateway_upload;

/* Those of a worker's batch. */
typedef struct sotto_gateway_uploads {
    size_t count;
    sotto_gateway_upload list[SOTTO_GATEWAY_AT_ONCE];
} sotto_gateway_uploads;

/* Whether a message is a single report. Then it waits until the uploads are sent. */
SOTTO_MUST_USE bool sotto_gateway_uploads_put(sotto_gateway_uploads *uploads, sotto_arena *arena,
                                              sotto_gateway_ask *ask, const sotto_gateway_way *way,
                                              const sotto_bhttp *message);
/* Reports with one URL go in one call. */
void sotto_gateway_uploads_send(sotto_gateway_uploads *uploads);

/* ---- answer.c: each ends the ask ---- */

/* Before the request was opened. type: NULL or a problem type of RFC 9458. */
void sotto_gateway_refuse(sotto_gateway_ask *ask, unsigned status, const char *type,
                          const char *detail);
/* After it. The answer says that the gateway made it: see SOTTO_OHTTP_GATEWAY_FIELD. */
void sotto_gateway_refuse_sealed(sotto_gateway_ask *ask, unsigned status, const char *type,
                                 const char *detail);
void sotto_gateway_answer(sotto_gateway_ask *ask, const sotto_bhttp *answer);

/* ---- batch.c ---- */

/* Takes a request whose body is whole: one encapsulated request, or a list of them. */
void sotto_gateway_take_single(sotto_gateway *gateway, sotto_http_request *request);
void sotto_gateway_take_batch(sotto_gateway *gateway, sotto_http_request *request);
/* The answer of one; the last one's sends all of them. */
void sotto_gateway_batch_put(sotto_gateway_batch *batch, size_t place, unsigned status,
                             sotto_bytes body);
/* The time by which batches grow old. */
uint64_t sotto_gateway_batch_ms(const sotto_gateway *gateway);
/* Answers what came in one call too long ago, without what is not there yet. */
void sotto_gateway_batch_tick(sotto_gateway *gateway, uint64_t now_ms);

#endif
