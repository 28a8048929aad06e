/* serve/host/service.h - what a service is to the host that runs it: routes, options, tables, queues, health.
 *
 * Callers:  src/serve/services.c lists the product's; a test program lists its own. The host reads nothing else of a
 *           service, and `sotto serve NAME` looks NAME up in the list. Nothing registers itself at run time.
 * Memory:   rows are constant; `state` is whatever `open` makes.
 *
 * A service is a folder beside host/: it includes host/, and no other service includes it.
 *
 *     open    the host has a store, whose tables are this service's, and compute threads; no request arrives yet
 *     drain   the host is about to wait for its requests: answer those that are held back, and hold none back any more
 *     stop    begin nothing new; steps that are under way run to their end
 *     settle  no request, call or piece of work is under way; what was posted to the store may still be
 *     close   the store is closed
 */
#ifndef SOTTO_SERVE_HOST_SERVICE_H
#define SOTTO_SERVE_HOST_SERVICE_H

#include "db/migrate.h"
#include "db/sql.h"
#include "serve/host/option.h"
#include "transport/http_server.h"

struct sotto_host;
struct sotto_step;

/* ---- routes ---------------------------------------------------------------------------------------------------- */

typedef struct sotto_route sotto_route;
struct sotto_route {
    sotto_http_method method;
    const char *
        path; /* behind the server's own: "tasks/{task}/reports"; what is in braces is any one segment */
    size_t max_body; /* where `admit` does not say */
    /* With the head: sets *max_body and returns true, or answers and returns false. NULL: everybody may. */
    bool (*admit)(void *state, const sotto_route *route, sotto_http_request *request,
                  size_t *max_body);
    /* With the body: answers, now or later, whole or in pieces. What `admit` found may be gone by then. */
    void (*handle)(void *state, const sotto_route *route, sotto_http_request *request);
    const void *more; /* what `admit` and `handle` want to know of this row */
    /* NULL: `handle` has the body whole. Otherwise the body comes in pieces, as sotto_http_handler.piece says, and is never
     * held: `handle` is called after its last one. `admit` may have it come whole (sotto_http_request_gather). */
    sotto_http_flow (*piece)(void *state, const sotto_route *route, sotto_http_request *request,
                             sotto_bytes piece);
    /* With `piece`; may be NULL. The request ended before `handle`: the client went away or broke a limit. */
    void (*lost)(void *state, const sotto_route *route, sotto_http_request *request);
};

/* ---- queues: host/steps.h --------------------------------------------------------------------------------------- */

typedef struct sotto_queue {
    const char *name; /* for metrics: lower case letters and _ */
    int64_t number;   /* in db/lease.h's table                 */
    /* Begins a step of an item that was claimed, and ends it at last (host/steps.h). Must not wait. */
    void (*step)(void *state, struct sotto_step *step);
    unsigned (*most)(const void *state);    /* steps under way at once */
    int64_t first_wait_ms, longest_wait_ms; /* after a step that failed */
} sotto_queue;

/* Calls of a service's own work; and of one that forwards each request that it gets, where what is under way is what fills batches. */
enum { SOTTO_PEER_CALLS = 64, SOTTO_FORWARDED_CALLS = 128 };

/* ---- the service ------------------------------------------------------------------------------------------------- */

typedef struct sotto_service {
    const char *name;    /* its name: the verb, the file's section, and its default file names */
    const char *summary; /* one line of help */
    const char *listen, *operations; /* default addresses */
    int64_t owner;  /* what marks its database (host/database_owner.h); never another service's */
    unsigned calls; /* to peers, on the wire at once: the host has a client for them; 0: none */
    /* Of one without tasks that has HPKE keys (host/keys.h): where its config has their sotto_key_times. */
    bool keys;
    size_t key_times;

    const sotto_route *routes;
    size_t route_count;
    /* A path of ours, by a method that none of its routes has. NULL: 405 with the methods that there are. */
    void (*refuse_method)(void *state, const sotto_route *route, sotto_http_request *request);

    const sotto_option *options; /* beside the host's; offsets in a struct of ... */
    size_t option_count;
    size_t config_size; /* ... so many bytes, all zero where nothing is set */
    /* What is wrong with options that are valid one by one but not together; NULL: nothing. */
    const char *(*check)(const void *config);

    const sotto_migration *migrations;
    size_t migration_count;

    const sotto_queue *queues; /* claimed from in this order */
    size_t queue_count;
    /* By the thread that claims, whenever it was woken: what the service begins by itself. looked: about once a second, after
     * the queues were looked into. Returns in how many milliseconds to call again, at most. NULL: nothing. */
    uint64_t (*idle)(void *state, bool looked);

    sotto_status (*open)(void **state, struct sotto_host *host, const void *config, sotto_err *err);
    void (*drain)(void *state); /* may be NULL; may come more than once */
    void (*stop)(void *state);
    void (*settle)(void *state);
    void (*close)(void *state);

    /* Each second, by the thread that looks after the server: what is due by the clock. */
    void (*tick)(void *state);
    /* After that, in a transaction that reads: what its lines of health and its metrics say. May run again. */
    sotto_status (*look)(sotto_tx *tx, void *state, sotto_err *err);
    /* Appends lines to /readyz: what is missing or worth knowing. Never waits for the database. */
    void (*describe)(void *state, sotto_buf *out);
    /* Writes its metrics (Prometheus' exposition format 0.0.4). */
    sotto_status (*metrics)(void *state, sotto_writer *w, sotto_err *err);
} sotto_service;

/* The program's list, defined once in it. */
extern const sotto_service *const sotto_services[];
extern const size_t sotto_service_count;

/* NULL: there is none of this name. */
const sotto_service *sotto_service_find(const char *name, size_t len);

#endif
