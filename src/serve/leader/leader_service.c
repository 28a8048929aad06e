#include "serve/leader/leader_service.h"

#include "serve/leader/collection.h"
#include "serve/leader/collection_waits.h"
#include "serve/leader/leader_health.h"
#include "serve/leader/rejected_ids.h"
#include "serve/leader/upload.h"
#include "serve/tasks/arc_issue.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/resources.h"
#include "serve/tasks/round_log.h"
#include "serve/tasks/task_health.h"
#include "serve/tasks/task_options.h"

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

/* ---- routes ------------------------------------------------------------------------------------------------------- */

static size_t upload_body(const sotto_server *server, const sotto_server_task *task)
{
    return sotto_body_of_reports(task->max_report, server->host->options.bytes_in_flight / 4);
}

static const sotto_resource upload = {SOTTO_NOBODYS, SOTTO_DAP_UPLOAD_REQ, upload_body,
                                      sotto_upload_handle},
                            new_collection = {SOTTO_COLLECTORS, SOTTO_DAP_COLLECTION_JOB_REQ,
                                              sotto_small_body, sotto_collection_create},
                            get_collection = {SOTTO_COLLECTORS, SOTTO_NO_MESSAGE, sotto_no_body,
                                              sotto_collection_get},
                            delete_collection = {SOTTO_COLLECTORS, SOTTO_NO_MESSAGE, sotto_no_body,
                                                 sotto_collection_delete};

#define COLLECTIONS "tasks/{task}/collection_jobs"

static const sotto_route routes[] = {
    SOTTO_HPKE_CONFIG_ROUTE,
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_POST, "tasks/{task}/reports", &upload),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_POST, COLLECTIONS, &new_collection),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_PUT, COLLECTIONS "/{job}", &new_collection),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_GET, COLLECTIONS "/{job}", &get_collection),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_DELETE, COLLECTIONS "/{job}", &delete_collection),
    SOTTO_REJECTIONS_ROUTE,
    SOTTO_ARC_KEYS_ROUTE,
    SOTTO_ARC_ISSUE_ROUTE,
};

/* ---- options ------------------------------------------------------------------------------------------------------ */

/* clang-format off */
static const sotto_option options[] = {
    {"job_reports", SOTTO_OPTION_NUMBER, SOTTO_TASK_OPTION(job_reports), "500", 1, 1000, NULL,
     "reports in a full aggregation job", SOTTO_OPTION_ALWAYS},
    {"job_delay_ms", SOTTO_OPTION_NUMBER, SOTTO_TASK_OPTION(job_delay_ms), "250", 1, 3600000, NULL,
     "milliseconds that the oldest report waits, at most, for its job to fill", SOTTO_OPTION_ALWAYS},
    {"jobs_in_flight", SOTTO_OPTION_NUMBER, SOTTO_TASK_OPTION(jobs_in_flight), "8", 1, 256, NULL,
     "aggregation jobs under way at once", SOTTO_OPTION_ALWAYS},
    {"bodies", SOTTO_OPTION_FILE, SOTTO_TASK_OPTION(bodies), NULL, 0, 0, NULL,
     "with PostgreSQL: directory that all replicas share, for reports that wait; none: in the database", SOTTO_OPTION_ALWAYS},
    SOTTO_TASK_OPTION_ROWS,
};
/* clang-format on */

/* ---- queues ------------------------------------------------------------------------------------------------------- */

enum { COLLECTIONS_AT_ONCE = 64 };

static unsigned most_collections(const void *state)
{
    (void)state;
    return COLLECTIONS_AT_ONCE;
}

static unsigned most_jobs(const void *state)
{
    const sotto_server *server = state;

    return server->options.jobs_in_flight;
}

static void step_collection(void *state, sotto_step *step)
{
    sotto_collection_step(sotto_leader_of(state), step);
}

static void step_job(void *state, sotto_step *step)
{
    sotto_leader_job_resume(sotto_leader_of(state), step);
}

const sotto_queue sotto_leader_queues[SOTTO_LEADER_QUEUES] = {
    [SOTTO_LEADER_COLLECTIONS] = {"collections", SOTTO_QUEUE_COLLECTIONS, step_collection,
                                  most_collections, 1000, 30000},
    [SOTTO_LEADER_JOBS] = {"jobs", SOTTO_QUEUE_JOBS, step_job, most_jobs, 500, 60000},
};

static uint64_t idle(void *state, bool looked)
{
    return sotto_leader_idle(sotto_leader_of(state), looked);
}

/* ---- hooks -------------------------------------------------------------------------------------------------------- */

static sotto_status open(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    sotto_task_options options_given = *(const sotto_task_options *)config;
    sotto_server *server;

    if (options_given.most_rejected_ids == 0)
        options_given.most_rejected_ids = SOTTO_REJECTED_IDS_MOST;
    SOTTO_TRY(sotto_server_new(&server, host, SOTTO_LEADER, &options_given, err));
    *state = server; /* closed with its host from here on, whatever happens */
    return sotto_leader_open(server, err);
}

static void drain(void *state)
{
    const sotto_leader *leader = sotto_leader_of(state);

    if (!leader)
        return;
    sotto_collection_waits_stop(leader->waits);
    sotto_intake_hurry(leader->intake);
}

static void stop(void *state)
{
    sotto_leader *leader = sotto_leader_of(state);

    if (leader)
        sotto_leader_stop(leader);
}

static void settle(void *state)
{
    sotto_leader *leader = sotto_leader_of(state);

    sotto_server_settle(state);
    if (leader)
        sotto_leader_settle(leader);
}

static void close(void *state)
{
    sotto_leader_close(sotto_leader_of(state));
    sotto_server_free(state);
}

static void tick(void *state)
{
    sotto_server_tick(state);
}

static sotto_status look(sotto_tx *tx, void *state, sotto_err *err)
{
    sotto_server *server = state;

    SOTTO_TRY(sotto_task_health_read(tx, server, err));
    return sotto_leader_health_read(tx, sotto_leader_of(server), err);
}

static void describe(void *state, sotto_buf *out)
{
    const sotto_server *server = state;
    sotto_task_health_view tasks;
    sotto_leader_health_view own;

    (void)sotto_last_seen_look(server->health, &tasks);
    sotto_task_health_describe(&tasks, out);
    sotto_round_watch_describe(server->rounds, out);
    (void)sotto_last_seen_look(sotto_leader_of(server)->health, &own);
    sotto_leader_health_describe(&own, out);
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    sotto_server *server = state;

    SOTTO_TRY(sotto_metrics_write(w, server, err));
    sotto_leader_health_metrics(w, sotto_leader_of(server));
    return SOTTO_OK;
}

const sotto_service sotto_leader_service = {
    .name = "leader",
    .summary = "take in reports, have them verified, answer the collector",
    .listen = "127.0.0.1:8787",
    .operations = "127.0.0.1:9787",
    .owner = SOTTO_LEADER,
    .calls = SOTTO_PEER_CALLS,
    .routes = routes,
    .route_count = LENGTH(routes),
    .options = options,
    .option_count = LENGTH(options),
    SOTTO_TASK_SERVICE,
    .queues = sotto_leader_queues,
    .queue_count = SOTTO_LEADER_QUEUES,
    .idle = idle,
    .open = open,
    .drain = drain,
    .stop = stop,
    .settle = settle,
    .close = close,
    .tick = tick,
    .look = look,
    .describe = describe,
    .metrics = metrics,
};
