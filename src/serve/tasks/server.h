/* serve/tasks/server.h - what leader and helper have in common: one of DAP's two aggregators, on its host.
 *
 * Callers:  everything in tasks/, leader/ and helper/. The demo, the benchmark and the tests open one by its options;
 *           `sotto serve` opens the host.
 * Memory:   it is the service's state, and ends with its host.
 */
#ifndef SOTTO_SERVE_TASKS_SERVER_H
#define SOTTO_SERVE_TASKS_SERVER_H

#include "dap/report.h"
#include "serve/host/host.h"
#include "serve/host/keys.h"
#include "serve/host/last_seen.h"
#include "serve/tasks/report_ids.h"
#include "serve/tasks/tasks.h"

#include <stdatomic.h>

struct sotto_http_request;
struct sotto_metrics;

/* Beside the host's. Zero takes the default. Rows for an operator are in tasks/task_options.h. */
typedef struct sotto_task_options {
    size_t upload_memory;       /* for the reports of one upload request               */
    size_t job_reports;         /* a full job                                          */
    uint64_t most_rejected_ids; /* most ids that are kept of rejected reports; 0:
                                  * SOTTO_REJECTED_IDS_MOST */
    uint64_t job_delay_ms;      /* the oldest report waits no longer for its job       */
    unsigned jobs_in_flight;    /* leader                                              */
    /* Leader over PostgreSQL: a directory of all replicas (db/spool_shared.h). */
    const char *bodies;
    uint64_t clock_skew_seconds; /* a report may be this far ahead                     */
    uint64_t late_seconds;       /* a report may arrive this long after its task closed */
    bool rate_history;           /* see sotto_rate_check                                */
    sotto_key_times key_times;
    const char *rounds_log;  /* URL of the log that names rounds of learning; NULL: none */
    const char *rounds_keys; /* file: public keys of that log and of its witnesses       */
    uint64_t rounds_quorum;  /* of these witnesses; 0: all                               */
} sotto_task_options;

typedef struct sotto_server {
    sotto_host *host;
    sotto_role role;
    sotto_task_options options;
    /* The host's, for short. */
    sotto_db *db;
    sotto_pool *pool;
    const sotto_column_keys *columns; /* the datastore keys */
    const sotto_log_sink *log;
    unsigned shard;   /* of this process, for counters     */
    int64_t instance; /* a random number for this process  */

    sotto_tasks *tasks;
    sotto_keys *keys;
    sotto_receivers **receivers;                 /* one for each worker, by its number */
    struct sotto_token_checker **token_checkers; /* the same */
    struct sotto_metrics *metrics;
    sotto_last_seen *health;
    struct sotto_round_watch *rounds; /* NULL: no log is followed */
    void *own;         /* what the service keeps beside all this; nothing in tasks/ looks at it */
    int64_t keys_told; /* when we last logged that parties files stop working soon */
    atomic_uint_fast64_t unknown_told; /* tasks/resources.c: when an unknown task was last logged */
    sotto_replays replays;             /* of report ids */
    atomic_uint_fast64_t arc_attester; /* tasks/arc_issue.c: a mark of the last attester; 0: none */
} sotto_server;

/* ---- for the two services: the parts of theirs that they share --------------------------------------------------- */

SOTTO_MUST_USE sotto_status sotto_server_new(sotto_server **server, sotto_host *host,
                                             sotto_role role, const sotto_task_options *options,
                                             sotto_err *err);
/* Looks for no more tasks. */
void sotto_server_settle(sotto_server *server);
/* Once the store is closed. NULL is fine. */
void sotto_server_free(sotto_server *server);
/* Each second: HPKE keys move on as their times come, and what single jobs added to a batch goes once it was released. */
void sotto_server_tick(sotto_server *server);

/* The service of a role, in this program's list; NULL: it has none. And back: 0 for a service that has no tasks. */
const sotto_service *sotto_role_service(sotto_role role);
sotto_role sotto_service_role(const sotto_service *service);
/* HPKE's info of input shares that are sealed to this role. */
sotto_bytes sotto_role_info(uint8_t out[SOTTO_DAP_INFO_MAX], sotto_role role);

/* ---- opened by its options ----------------------------------------------------------------------------------------- */

typedef struct sotto_server_options {
    sotto_role role;
    sotto_host_options host;
    sotto_task_options tasks;
} sotto_server_options;

/* A host with the service of that role. */
SOTTO_MUST_USE sotto_status sotto_server_open(sotto_server **server,
                                              const sotto_server_options *options, sotto_err *err);
unsigned sotto_server_port(const sotto_server *server);
SOTTO_MUST_USE sotto_status sotto_server_drain(sotto_server *server, uint64_t milliseconds,
                                               sotto_err *err);
/* And its host. NULL is fine. */
void sotto_server_close(sotto_server *server);

/* ---- handlers, one for each resource. Each answers the request itself, now or later. ---------------- */

/* id: of the item that the path names; empty where it names none. So what is created by POST gets an id that follows from
 * the request, and what Janus' peers create by PUT has the one that they chose. */
typedef void sotto_handler(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                           struct sotto_http_request *request);

/* tasks/rejection_counts.c, both roles, private use: GET /tasks/{id}/rejections/{collection job or share}: counts by cause
 * of a batch that was released, never of another. */
sotto_handler sotto_rejection_counts_get;

#endif
