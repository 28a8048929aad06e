/* serve/host/server.h - one leader or helper: its parts, and how they come up and go down.
 *
 * Callers:  `sotto serve`; the demo's and the tests' processes.
 * Memory:   everything hangs from the server and ends with it.
 * Threads:  loops, workers and the writer, as docs/decisions/0032 says.
 */
#ifndef SOTTO_SERVE_HOST_SERVER_H
#define SOTTO_SERVE_HOST_SERVER_H

#include "db/claim.h"
#include "serve/host/keys.h"
#include "serve/host/pool.h"
#include "serve/tasks/tasks.h"
#include "sotto/log.h"
#include "transport/http_client.h"

#include <pthread.h>
#include <stdatomic.h>

struct sotto_health;
struct sotto_http_handler;
struct sotto_http_request;
struct sotto_http_server;
struct sotto_leader;
struct sotto_metrics;
struct sotto_operations;

/* From the configuration file, environment and flags; see serve/host/options.c for the table. */
typedef struct sotto_server_options {
    sotto_role role;
    const char *listen;        /* "127.0.0.1:8787"; port 0 picks one                  */
    const char *path;          /* what its URL has behind the host, "/" or "/dap/"          */
    const char *database;      /* see db/store.h: sqlite:PATH, or what libpq takes     */
    const char *vfs;           /* SQLite's; NULL: the default one                     */
    unsigned erase_ms;         /* SQLite: as in db/store.h                            */
    const char *ca_file;       /* whom the leader believes; NULL: the system's list   */
    const char *datastore_key; /* path of the file that holds it                      */
    const char *certificate, *private_key; /* paths; NULL: plain HTTP                  */
    bool plain_http;                       /* allow it off loopback                               */
    const char *operations;   /* where /healthz, /readyz and /metrics listen; NULL: nowhere */
    bool operations_anywhere; /* allow that off loopback                             */
    unsigned loops, workers;
    unsigned connections;       /* at once; 0: 10,000, or as many as the file limit allows */
    size_t bytes_in_flight;     /* over all connections                                */
    size_t upload_memory;       /* for the reports of one upload request               */
    size_t job_reports;         /* a full job                                          */
    uint64_t most_rejected_ids; /* noted of what strangers make up; 0: SOTTO_REJECTED_IDS_MOST */
    uint64_t job_delay_ms;      /* the oldest report waits no longer for its job       */
    unsigned jobs_in_flight;    /* leader                                              */
    uint64_t lease_seconds;
    uint64_t clock_skew_seconds; /* a report may be this far ahead                     */
    uint64_t late_seconds;       /* a report may arrive this long after its task closed */
    sotto_key_times key_times;
    const sotto_clock *clock; /* of key rotation; NULL: the system's                 */
    void (*on_drain)(
        void *context); /* somebody asked for it: drain soon, elsewhere; NULL: refused */
    void *drain_context;
    sotto_log_sink log;
    /* Takes what lies under /internal, with the server as its context: the interop test API. NULL: nothing does. */
    const struct sotto_http_handler *internal;
} sotto_server_options;

/* See serve/host/descriptors.h. */
typedef struct sotto_descriptors {
    uint64_t limit;       /* of the process                                   */
    uint64_t reserve;     /* of them, for everything but the DAP port's clients */
    unsigned connections; /* of the DAP port, at once                         */
} sotto_descriptors;

typedef struct sotto_server {
    sotto_server_options options;
    sotto_descriptors descriptors;
    sotto_db *db;
    sotto_db_claim claim;      /* on its file; held until the store is closed */
    sotto_column_keys columns; /* the datastore keys */
    sotto_tasks *tasks;
    sotto_keys *keys;
    sotto_pool *pool;
    sotto_receivers **receivers; /* one for each worker */
    struct sotto_http_server *http;
    struct sotto_http_client *client; /* leader only; call through sotto_server_call */
    pthread_mutex_t client_lock;
    struct sotto_leader *leader; /* leader only: intake, jobs, collections */
    struct sotto_metrics *metrics;
    struct sotto_health *health;
    struct sotto_operations *operations; /* may be NULL */
    unsigned shard;                      /* of this process, for counters     */
    int64_t instance;                    /* a random number for this process  */
    atomic_uint_fast64_t unknown_told; /* router.c: when a task that is not here was last told of */
} sotto_server;

SOTTO_MUST_USE sotto_status sotto_server_open(sotto_server **server,
                                              const sotto_server_options *options, sotto_err *err);
/* Where it listens, once open. */
unsigned sotto_server_port(const sotto_server *server);
/* Seconds since 1970 by the server's clock. */
int64_t sotto_server_seconds(const sotto_server *server);
/* "127.0.0.1:8787" or "[::1]:8787" into its two parts. */
SOTTO_MUST_USE sotto_status sotto_server_listen_read(char *host, size_t size, uint16_t *port,
                                                     const char *text, sotto_err *err);
/* Stops accepting, answers what it has, waits for what is under way up to the deadline. */
SOTTO_MUST_USE sotto_status sotto_server_drain(sotto_server *server, uint64_t milliseconds,
                                               sotto_err *err);
void sotto_server_close(sotto_server *server);

/* Calls a peer. SOTTO_STALE: the server closes; others as sotto_http_call_start. */
SOTTO_MUST_USE sotto_status sotto_server_call(sotto_server *server, const sotto_http_call *call,
                                              sotto_http_done *done, void *context, sotto_err *err);

/* ---- handlers, one for each resource. Each answers the request itself, now or later. ---------------- */

/* id: of the item that the path names; empty where it names none. So what is created by POST gets an id that follows from
 * the request, and what Janus' peers create by PUT has the one that they chose. */
typedef void sotto_handler(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                           struct sotto_http_request *request);

/* serve/leader/upload.c: POST /tasks/{id}/reports */
sotto_handler sotto_upload_handle;
/* serve/leader/collections.c: /tasks/{id}/collection_jobs; GET, DELETE .../{job} */
sotto_handler sotto_collection_create, sotto_collection_get, sotto_collection_delete;
/* serve/helper/jobs.c: /tasks/{id}/aggregation_jobs; GET, POST (continue), DELETE .../{job} */
sotto_handler sotto_helper_job_create, sotto_helper_job_get, sotto_helper_job_continue,
    sotto_helper_job_delete;
/* serve/helper/shares.c: /tasks/{id}/aggregate_shares; GET, DELETE .../{share} */
sotto_handler sotto_helper_share_create, sotto_helper_share_get, sotto_helper_share_delete;
/* serve/helper/repairs.c, private use: POST /tasks/{id}/repairs: drops the jobs of a batch that the two disagree on. */
sotto_handler sotto_helper_repair;
/* serve/tasks/rejection_counts.c, both roles, private use: GET /tasks/{id}/rejections/{collection job or share}: counts by cause
 * of a batch that was released, never of another. */
sotto_handler sotto_rejection_counts_get;

/* serve/leader/leader.c: what the leader does by itself: form jobs, send them, drive collections, after a start too. */
SOTTO_MUST_USE sotto_status sotto_leader_open(struct sotto_leader **leader, sotto_server *server,
                                              sotto_err *err);
/* Stops forming; waits for jobs in flight up to the deadline. The store, the pool and the client must still run. */
void sotto_leader_stop(struct sotto_leader *leader, uint64_t milliseconds);
/* Waits until every upload is answered. Then the store may be closed. */
void sotto_leader_settle(struct sotto_leader *leader);
/* NULL is fine. */
void sotto_leader_close(struct sotto_leader *leader, uint64_t milliseconds);

#endif
