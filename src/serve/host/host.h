/* serve/host/host.h - one process that runs one service: its parts, and how they come up and go down.
 *
 * Callers:  `sotto serve`; for a leader or helper also through tasks/server.h, as the demo and the tests do.
 * Memory:   everything hangs from the host and ends with it.
 * Threads:  loops, workers and the writer, as docs/decisions/0032 says.
 */
#ifndef SOTTO_SERVE_HOST_HOST_H
#define SOTTO_SERVE_HOST_HOST_H

#include "db/claim.h"
#include "db/sealed.h"
#include "serve/host/pool.h"
#include "serve/host/service.h"
#include "sotto/log.h"
#include "transport/http_client.h"

#include <pthread.h>

struct sotto_clock;
struct sotto_health;
struct sotto_operations;
struct sotto_steps;

/* From the configuration file, environment and flags; see host/options_table.c for the table. Zero takes the default. */
typedef struct sotto_host_options {
    const char *listen;        /* "127.0.0.1:8787"; port 0 picks one                  */
    const char *path;          /* what its URL has behind the host, "/" or "/dap/"          */
    const char *database;      /* see db/store.h: sqlite:PATH, or what libpq takes     */
    const char *vfs;           /* SQLite's; NULL: the default one                     */
    unsigned erase_ms;         /* SQLite: as in db/store.h                            */
    const char *ca_file;       /* certificates that its client trusts; NULL: the system's list */
    const char *datastore_key; /* path of the file that holds it                      */
    const char *certificate, *private_key; /* paths; NULL: plain HTTP                  */
    bool plain_http;                       /* allow it off loopback                               */
    const char *operations;   /* where /healthz, /readyz and /metrics listen; NULL: nowhere */
    bool operations_anywhere; /* allow that off loopback                             */
    unsigned loops, workers;
    unsigned connections;    /* at once; 0: 10,000, or as many as the file limit allows */
    size_t bytes_in_flight;  /* over all connections                                */
    unsigned address_share;  /* percent of those, for bodies of one address; see http_server.h */
    uint64_t upload_seconds; /* for all of a body                                   */
    uint64_t lease_seconds;  /* of what is claimed from a queue                     */
    const struct sotto_clock *clock; /* NULL: the system's                         */
    void (*on_drain)(
        void *context); /* called when /drain is asked for; it drains soon, on another thread. NULL:
                         * refused */
    void *drain_context;
    sotto_log_sink log;
    /* Takes what lies under /internal, with the service's state as its context: the interop test API. NULL: nothing does. */
    const sotto_http_handler *internal;
} sotto_host_options;

/* See host/descriptors.h. */
typedef struct sotto_descriptors {
    uint64_t limit;       /* of the process                                    */
    uint64_t reserve;     /* of them, for everything but the clients of `listen` */
    unsigned connections; /* of theirs, at once                                */
} sotto_descriptors;

typedef struct sotto_host {
    const sotto_service *service;
    void *state; /* the service's */
    sotto_host_options options;
    sotto_descriptors descriptors;
    sotto_db *db;
    sotto_db_claim claim;      /* on its file; held until the store is closed */
    sotto_column_keys columns; /* the datastore keys */
    sotto_pool *pool;
    sotto_http_server *http;
    struct sotto_http_client *client; /* of a service that calls; call through sotto_host_call */
    pthread_mutex_t client_lock;
    struct sotto_steps *steps;
    struct sotto_health *health;
    struct sotto_operations *operations; /* may be NULL */
    unsigned shard;                      /* of this process, for counters     */
    int64_t instance;                    /* a random number for this process  */
    int64_t started;                     /* seconds since 1970                */
} sotto_host;

/* config: the service's own options, copied by it if it keeps them. */
SOTTO_MUST_USE sotto_status sotto_host_open(sotto_host **host, const sotto_service *service,
                                            const sotto_host_options *options, const void *config,
                                            sotto_err *err);
/* Where it listens, once open. */
unsigned sotto_host_port(const sotto_host *host);
/* Seconds since 1970 by the host's clock. */
int64_t sotto_host_seconds(const sotto_host *host);
/* "127.0.0.1:8787" or "[::1]:8787" into its two parts. */
SOTTO_MUST_USE sotto_status sotto_host_listen_read(char *address, size_t size, uint16_t *port,
                                                   const char *text, sotto_err *err);
/* Reads the certificate and its key again, as SIGHUP asks; on failure the old ones stay. SOTTO_STALE: it has none. */
SOTTO_MUST_USE sotto_status sotto_host_reload(sotto_host *host, sotto_err *err);
/* Stops accepting, answers what it has, waits for what is under way up to the deadline. */
SOTTO_MUST_USE sotto_status sotto_host_drain(sotto_host *host, uint64_t milliseconds,
                                             sotto_err *err);
void sotto_host_close(sotto_host *host);

/* Calls a peer. SOTTO_STALE: the host closes; others as sotto_http_call_start. */
SOTTO_MUST_USE sotto_status sotto_host_call(sotto_host *host, const sotto_http_call *call,
                                            sotto_http_done *done, void *context, sotto_err *err);

#endif
