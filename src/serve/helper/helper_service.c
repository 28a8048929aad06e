#include "serve/helper/helper_service.h"

#include "dap/repair.h"
#include "serve/tasks/arc_issue.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/resources.h"
#include "serve/tasks/round_log.h"
#include "serve/tasks/task_health.h"
#include "serve/tasks/task_options.h"

#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

/* ---- routes ------------------------------------------------------------------------------------------------------- */

size_t sotto_helper_job_body(const sotto_server *server, const sotto_server_task *task)
{
    size_t each = sotto_task_job_entry(task);
    size_t least =
        each > SOTTO_JOB_MAX_BYTES - SOTTO_JOB_HEAD ? each + SOTTO_JOB_HEAD : SOTTO_JOB_MAX_BYTES;
    size_t cap = server->host->options.bytes_in_flight / 4;

    return sotto_body_of_reports(task->max_report + task->dap.sizes.verifier_share + 64,
                                 cap > least ? cap : least);
}

static size_t repair_body(const sotto_server *server, const sotto_server_task *task)
{
    size_t cap = server->host->options.bytes_in_flight / 4;

    (void)task;
    return cap < SOTTO_DAP_REPAIR_REQ_MAX ? cap : SOTTO_DAP_REPAIR_REQ_MAX;
}

static const sotto_resource
    new_job = {SOTTO_LEADERS, SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, sotto_helper_job_body,
               sotto_helper_job_create},
    continue_job = {SOTTO_LEADERS, SOTTO_DAP_AGGREGATION_JOB_CONTINUE_REQ, sotto_helper_job_body,
                    sotto_helper_job_continue},
    get_job = {SOTTO_LEADERS, SOTTO_NO_MESSAGE, sotto_no_body, sotto_helper_job_get},
    delete_job = {SOTTO_LEADERS, SOTTO_NO_MESSAGE, sotto_no_body, sotto_helper_job_delete},
    new_share = {SOTTO_LEADERS, SOTTO_DAP_AGGREGATE_SHARE_REQ, sotto_small_body,
                 sotto_helper_share_create},
    get_share = {SOTTO_LEADERS, SOTTO_NO_MESSAGE, sotto_no_body, sotto_helper_share_get},
    delete_share = {SOTTO_LEADERS, SOTTO_NO_MESSAGE, sotto_no_body, sotto_helper_share_delete},
    repair = {SOTTO_LEADERS, SOTTO_DAP_REPAIR_REQ, repair_body, sotto_helper_repair};

#define JOBS   "tasks/{task}/aggregation_jobs"
#define SHARES "tasks/{task}/aggregate_shares"

static const sotto_route routes[] = {
    SOTTO_HPKE_CONFIG_ROUTE,
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_POST, JOBS, &new_job),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_PUT, JOBS "/{job}", &new_job),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_POST, JOBS "/{job}", &continue_job),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_GET, JOBS "/{job}", &get_job),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_DELETE, JOBS "/{job}", &delete_job),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_POST, SHARES, &new_share),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_PUT, SHARES "/{share}", &new_share),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_GET, SHARES "/{share}", &get_share),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_DELETE, SHARES "/{share}", &delete_share),
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_POST, "tasks/{task}/repairs", &repair),
    SOTTO_REJECTIONS_ROUTE,
    SOTTO_ARC_KEYS_ROUTE,
    SOTTO_ARC_ISSUE_ROUTE,
};

static const sotto_option options[] = {SOTTO_TASK_OPTION_ROWS};

/* ---- hooks -------------------------------------------------------------------------------------------------------- */

static sotto_status open(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    sotto_server *server;

    SOTTO_TRY(sotto_server_new(&server, host, SOTTO_HELPER, config, err));
    *state = server;
    return SOTTO_OK;
}

static void settle(void *state)
{
    sotto_server_settle(state);
}

static void close(void *state)
{
    sotto_server_free(state);
}

static void tick(void *state)
{
    sotto_server_tick(state);
}

static sotto_status look(sotto_tx *tx, void *state, sotto_err *err)
{
    return sotto_task_health_read(tx, state, err);
}

static void describe(void *state, sotto_buf *out)
{
    const sotto_server *server = state;
    sotto_task_health_view view;

    (void)sotto_last_seen_look(server->health, &view);
    sotto_task_health_describe(&view, out);
    sotto_round_watch_describe(server->rounds, out);
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    return sotto_metrics_write(w, state, err);
}

const sotto_service sotto_helper_service = {
    .name = "helper",
    .summary = "verify the other half of each report",
    .listen = "127.0.0.1:8788",
    .operations = "127.0.0.1:9788",
    .owner = SOTTO_HELPER,
    .routes = routes,
    .route_count = LENGTH(routes),
    .options = options,
    .option_count = LENGTH(options),
    SOTTO_TASK_SERVICE,
    .open = open,
    .settle = settle,
    .close = close,
    .tick = tick,
    .look = look,
    .describe = describe,
    .metrics = metrics,
};
