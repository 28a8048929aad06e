#define _POSIX_C_SOURCE 200809L
#include "serve/tasks/resources.h"

#include "base/clock.h"
#include "base/log.h"
#include "serve/host/bearer.h"
#include "serve/host/router.h"
#include "serve/tasks/metrics.h"

#include <stdio.h>
#include <string.h>

enum { SLACK = 4096, SMALL_BODY = 8192 };
enum { TASK_AT = 1, COLLECTION_AT = 2, ITEM_AT = 3 }; /* segments */
static const uint64_t TELL_EVERY_NS = (uint64_t)60 * 1000000000;
/* RFC 9110, 15.5.2, and RFC 6750, 3: a scheme and at least one parameter. */
#define CHALLENGE "Bearer realm=\"dap\""

const sotto_resource sotto_rejections_resource = {SOTTO_REJECTIONS, SOTTO_NO_MESSAGE, sotto_no_body,
                                                  sotto_rejection_counts_get};

/* ---- how long a body may be ------------------------------------------------------------------------------ */

size_t sotto_no_body(const sotto_server *server, const sotto_server_task *task)
{
    (void)server;
    (void)task;
    return 0;
}

size_t sotto_small_body(const sotto_server *server, const sotto_server_task *task)
{
    (void)server;
    (void)task;
    return SMALL_BODY;
}

size_t sotto_body_of_reports(size_t each, size_t cap)
{
    return each > (cap - SLACK) / SOTTO_REQUEST_MAX_REPORTS
               ? cap
               : each * SOTTO_REQUEST_MAX_REPORTS + SLACK;
}

/* ---- problems ------------------------------------------------------------------------------------------ */

/* id: of the task; NULL: nobody named one. */
static bool refuse(sotto_http_request *request, const sotto_http_problem *problem,
                   const uint8_t *id)
{
    char text[SOTTO_DAP_ID_TEXT_MAX];
    sotto_http_problem document = *problem;

    if (id) {
        sotto_dap_id_encode(text, sotto_bytes_of(id, SOTTO_TASK_ID_SIZE));
        document.taskid = text;
    }
    return sotto_http_refuse(request, &document);
}

static bool refuse_plainly(sotto_http_request *request, unsigned status, const uint8_t *id)
{
    return refuse(request,
                  &(sotto_http_problem){.status = status, .retry_after_s = status == 503 ? 1 : 0},
                  id);
}

static bool refuse_as_dap(sotto_http_request *request, sotto_dap_problem problem,
                          const char *detail, const uint8_t *id)
{
    return refuse(request,
                  &(sotto_http_problem){.status = (unsigned)sotto_dap_problem_status(problem),
                                        .type = sotto_dap_problem_type(problem),
                                        .title = sotto_dap_problem_title(problem),
                                        .detail = detail},
                  id);
}

void sotto_problem(sotto_http_request *request, sotto_dap_problem problem, const char *detail,
                   const sotto_server_task *task)
{
    (void)refuse_as_dap(request, problem, detail, task ? task->dap.id : NULL);
}

void sotto_problem_of(sotto_http_request *request, sotto_status status,
                      const sotto_server_task *task)
{
    bool later = status == SOTTO_IO || status == SOTTO_AGAIN || status == SOTTO_NO_MEMORY;

    (void)refuse_plainly(request, later ? 503 : 500, task ? task->dap.id : NULL);
}

void sotto_problem_plain(sotto_http_request *request, const sotto_http_problem *problem,
                         const sotto_server_task *task)
{
    (void)refuse(request, problem, task->dap.id);
}

/* ---- whose request it is -------------------------------------------------------------------------------- */

static sotto_bytes token_of(const sotto_http_request *request)
{
    sotto_bytes value;

    return sotto_http_request_field(request, "dap-auth-token", &value) ? value
                                                                       : sotto_bearer_of(request);
}

static const char *wanted_token(const sotto_server *server, const sotto_server_task *task,
                                sotto_whose w)
{
    switch (w) {
    case SOTTO_LEADERS:
        return task->pairing->leader_token;
    case SOTTO_COLLECTORS:
        return task->pairing->collector_token;
    case SOTTO_REJECTIONS: /* the leader knows the collector by its own token */
        return server->role == SOTTO_LEADER ? task->pairing->collector_token
                                            : task->pairing->rejection_token;
    case SOTTO_NOBODYS:
    default:
        return NULL;
    }
}

static bool is_allowed(const sotto_server *server, const sotto_server_task *task,
                       const sotto_http_request *request, sotto_whose w)
{
    const char *wanted;

    if (w == SOTTO_NOBODYS)
        return true;
    wanted = wanted_token(server, task, w);
    return wanted && wanted[0] &&
           sotto_bytes_equal(token_of(request), sotto_bytes_of(wanted, strlen(wanted)));
}

/* ---- from head to handler --------------------------------------------------------------------------------- */

/* What a request's head leads to. */
typedef struct found {
    const sotto_server_task *task;
    uint8_t item[SOTTO_RESOURCE_ID_SIZE];
    size_t item_len; /* 0: the path names none */
} found;

static bool media_type_fits(const sotto_http_request *request, sotto_dap_message message)
{
    char type[128];
    sotto_bytes value;

    if (message == SOTTO_NO_MESSAGE)
        return true;
    if (!sotto_http_request_field(request, "content-type", &value) || value.len >= sizeof type)
        return false;
    memcpy(type, value.data, value.len);
    type[value.len] = 0;
    return sotto_dap_media_type_is(message, type);
}

/* Draft 18 makes resources by POST, under ids of the server's; Janus by PUT, under ids of its own. */
static bool method_fits(const sotto_route *route, const void *context)
{
    const sotto_server_task *task = context;
    const sotto_resource *r = route->more;
    bool janus = task->profile == SOTTO_DAP_JANUS;

    switch (r->message) {
    case SOTTO_DAP_COLLECTION_JOB_REQ:
    case SOTTO_DAP_AGGREGATION_JOB_INIT_REQ:
    case SOTTO_DAP_AGGREGATE_SHARE_REQ:
        return (route->method == SOTTO_HTTP_PUT) == janus;
    default:
        return true;
    }
}

static bool refuse_method(const sotto_server *server, const sotto_route *route,
                          sotto_http_request *request, const sotto_server_task *task)
{
    char allow[SOTTO_ALLOW];

    sotto_route_allow(allow, server->host, route, method_fits, task);
    return refuse(request, &(sotto_http_problem){.status = 405, .allow = allow}, task->dap.id);
}

/* A malformed id is one that no item has: 404, and for jobs the problem that DAP has for that. */
static bool refuse_item(const sotto_server *server, sotto_http_request *request,
                        const uint8_t *task_id)
{
    static const char jobs[] = "aggregation_jobs";

    if (sotto_bytes_equal_vartime(sotto_route_segment(server->host, request, COLLECTION_AT),
                                  sotto_bytes_of(jobs, sizeof jobs - 1)))
        return refuse_as_dap(request, SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB, NULL, task_id);
    return refuse_plainly(request, 404, task_id);
}

/* The helper's operator may have forgotten to add the task, and without this line only the leader's operator would notice.
 * Anybody can ask for any id, so it is logged rarely; `requests` counts them since the start. */
static void tell_unknown(sotto_server *server, const sotto_resource *r, const uint8_t *id)
{
    uint_fast64_t told = atomic_load(&server->unknown_told);
    uint64_t now = sotto_clock_monotonic(server->host->options.clock) + 1; /* 0: never told */
    char text[SOTTO_DAP_ID_TEXT_MAX];

    if (server->role != SOTTO_HELPER || !r || r->token != SOTTO_LEADERS)
        return;
    sotto_metrics_count(server->metrics, SOTTO_METRIC_TASKS_UNKNOWN, 1);
    if ((told != 0 && now - told < TELL_EVERY_NS) ||
        !atomic_compare_exchange_strong(&server->unknown_told, &told, now))
        return;
    sotto_dap_id_encode(text, sotto_bytes_of(id, SOTTO_TASK_ID_SIZE));
    sotto_log(
        server->log, SOTTO_LOG_WARNING, "task.unknown", sotto_log_text("task", text),
        sotto_log_uint("requests", sotto_metrics_get(server->metrics, SOTTO_METRIC_TASKS_UNKNOWN)));
}

/* r: NULL where no route has the method. NULL once it has answered. */
static const sotto_server_task *find_task(sotto_server *server, const sotto_resource *r,
                                          sotto_http_request *request)
{
    const sotto_server_task *task;
    uint8_t id[SOTTO_TASK_ID_SIZE];

    if (sotto_dap_id_decode(id, sizeof id, sotto_route_segment(server->host, request, TASK_AT),
                            NULL) != SOTTO_OK) {
        (void)refuse_as_dap(request, SOTTO_DAP_INVALID_MESSAGE, "the task id is invalid", NULL);
        return NULL;
    }
    task = sotto_tasks_find(server->tasks, id);
    if (!task) {
        tell_unknown(server, r, id);
        (void)refuse_as_dap(request, SOTTO_DAP_UNRECOGNIZED_TASK, NULL, id);
    }
    return task;
}

/* False once it has answered. */
static bool find(sotto_server *server, const sotto_route *route, sotto_http_request *request,
                 found *out)
{
    const sotto_resource *r = route->more;
    sotto_bytes item = sotto_route_segment(server->host, request, ITEM_AT);

    out->task = find_task(server, r, request);
    if (!out->task)
        return false;
    if (!is_allowed(server, out->task, request, r->token))
        return refuse(request, &(sotto_http_problem){.status = 401, .challenge = CHALLENGE},
                      out->task->dap.id);
    if (!method_fits(route, out->task))
        return refuse_method(server, route, request, out->task);
    if (!media_type_fits(request, r->message))
        return refuse_plainly(request, 415, out->task->dap.id);
    out->item_len = item.len > 0 ? sizeof out->item : 0;
    if (item.len > 0 && sotto_dap_id_decode(out->item, sizeof out->item, item, NULL) != SOTTO_OK)
        return refuse_item(server, request, out->task->dap.id);
    return true;
}

bool sotto_resource_admit(void *server, const sotto_route *route, sotto_http_request *request,
                          size_t *max_body)
{
    const sotto_resource *r = route->more;
    found to;

    if (!find(server, route, request, &to))
        return false;
    *max_body = r->limit(server, to.task);
    if (r->token != SOTTO_NOBODYS) /* a leader sends for all of its devices, from one address */
        sotto_http_request_vouch(request);
    return true;
}

/* The task is found a second time rather than kept: it may have gone while the body came. */
void sotto_resource_handle(void *server, const sotto_route *route, sotto_http_request *request)
{
    const sotto_resource *r = route->more;
    found to = {0};

    if (find(server, route, request, &to))
        r->handle(server, to.task, sotto_bytes_of(to.item, to.item_len), request);
}

void sotto_resource_refuse_method(void *context, const sotto_route *route,
                                  sotto_http_request *request)
{
    sotto_server *server = context;
    const sotto_server_task *task;
    char allow[SOTTO_ALLOW];

    if (!route->more) { /* not about a task: hpke_config */
        sotto_route_allow(allow, server->host, route, NULL, NULL);
        (void)refuse(request, &(sotto_http_problem){.status = 405, .allow = allow}, NULL);
        return;
    }
    task = find_task(server, NULL, request);
    if (task)
        (void)refuse_method(server, route, request, task);
}

void sotto_hpke_config_handle(void *context, const sotto_route *route, sotto_http_request *request)
{
    sotto_server *server = context;
    uint8_t bytes[4096];
    sotto_buf list = sotto_buf_over(bytes, sizeof bytes);
    char cache[32];
    sotto_http_field fields[] = {
        {"Content-Type", sotto_dap_media_type(SOTTO_DAP_HPKE_CONFIG_LIST)},
        {"Cache-Control", cache},
    };
    sotto_status status = sotto_keys_publish(server->keys, &list, NULL);

    (void)route;
    (void)snprintf(cache, sizeof cache, "max-age=%llu",
                   (unsigned long long)sotto_keys_cache_seconds(server->keys));
    if (status != SOTTO_OK)
        sotto_problem_of(request, status, NULL);
    else
        sotto_http_answer(request, &(sotto_http_reply){200, fields, 2, sotto_buf_bytes(&list)});
}
