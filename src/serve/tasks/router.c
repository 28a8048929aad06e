/* One table of resources: method, path, who serves it, whose token it needs, its media type and how long it may be. */
#define _POSIX_C_SOURCE 200809L
#include "serve/tasks/router.h"

#include "base/clock.h"
#include "base/log.h"
#include "dap/repair.h"
#include "serve/host/metrics.h"
#include "serve/leader/upload.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum whose { NOBODYS, LEADERS, COLLECTORS, REJECTIONS } whose;

enum { SLACK = 4096, SMALL_BODY = 8192 };
static const uint64_t TELL_EVERY_NS = (uint64_t)60 * 1000000000;
#define NO_MESSAGE SOTTO_DAP_MESSAGES
/* RFC 9110, 15.5.2, and RFC 6750, 3: a scheme and at least one parameter. */
#define CHALLENGE "Bearer realm=\"dap\""

/* ---- how long a body may be: from the task's own report size, never from the peer's word ------------- */

static size_t no_body(const sotto_server *server, const sotto_server_task *task)
{
    (void)server;
    (void)task;
    return 0;
}

static size_t small_body(const sotto_server *server, const sotto_server_task *task)
{
    (void)server;
    (void)task;
    return SMALL_BODY;
}

static size_t of_reports(size_t each, size_t cap)
{
    return each > (cap - SLACK) / SOTTO_UPLOAD_MAX_REPORTS
               ? cap
               : each * SOTTO_UPLOAD_MAX_REPORTS + SLACK;
}

static size_t upload_body(const sotto_server *server, const sotto_server_task *task)
{
    return of_reports(task->max_report, server->options.bytes_in_flight / 4);
}

size_t sotto_router_job_body(const sotto_server *server, const sotto_server_task *task)
{
    size_t each = sotto_task_job_entry(task);
    size_t least =
        each > SOTTO_JOB_MAX_BYTES - SOTTO_JOB_HEAD ? each + SOTTO_JOB_HEAD : SOTTO_JOB_MAX_BYTES;
    size_t cap = server->options.bytes_in_flight / 4;

    return of_reports(task->max_report + task->dap.sizes.verifier_share + 64,
                      cap > least ? cap : least);
}

static size_t repair_body(const sotto_server *server, const sotto_server_task *task)
{
    size_t cap = server->options.bytes_in_flight / 4;

    (void)task;
    return cap < SOTTO_DAP_REPAIR_REQ_MAX ? cap : SOTTO_DAP_REPAIR_REQ_MAX;
}

/* ---- the table ---------------------------------------------------------------------------------------- */

typedef struct resource {
    sotto_http_method method;
    sotto_role role; /* 0: both */
    const char *collection;
    whose token;
    sotto_dap_message message; /* of the body */
    size_t (*limit)(const sotto_server *server, const sotto_server_task *task);
    enum { COLLECTION, ITEM } path; /* /tasks/{id}/collection, or .../collection/{item} */
    sotto_handler *handle;
} resource;

#define GET    SOTTO_HTTP_GET
#define POST   SOTTO_HTTP_POST
#define PUT    SOTTO_HTTP_PUT
#define DELETE SOTTO_HTTP_DELETE
#define LEADER SOTTO_LEADER
#define HELPER SOTTO_HELPER

static const resource resources[] = {
    {POST, LEADER, "reports", NOBODYS, SOTTO_DAP_UPLOAD_REQ, upload_body, COLLECTION,
     sotto_upload_handle},
    {POST, LEADER, "collection_jobs", COLLECTORS, SOTTO_DAP_COLLECTION_JOB_REQ, small_body,
     COLLECTION, sotto_collection_create},
    {PUT, LEADER, "collection_jobs", COLLECTORS, SOTTO_DAP_COLLECTION_JOB_REQ, small_body, ITEM,
     sotto_collection_create},
    {GET, LEADER, "collection_jobs", COLLECTORS, NO_MESSAGE, no_body, ITEM, sotto_collection_get},
    {DELETE, LEADER, "collection_jobs", COLLECTORS, NO_MESSAGE, no_body, ITEM,
     sotto_collection_delete},
    {POST, HELPER, "aggregation_jobs", LEADERS, SOTTO_DAP_AGGREGATION_JOB_INIT_REQ,
     sotto_router_job_body, COLLECTION, sotto_helper_job_create},
    {PUT, HELPER, "aggregation_jobs", LEADERS, SOTTO_DAP_AGGREGATION_JOB_INIT_REQ,
     sotto_router_job_body, ITEM, sotto_helper_job_create},
    {POST, HELPER, "aggregation_jobs", LEADERS, SOTTO_DAP_AGGREGATION_JOB_CONTINUE_REQ,
     sotto_router_job_body, ITEM, sotto_helper_job_continue},
    {GET, HELPER, "aggregation_jobs", LEADERS, NO_MESSAGE, no_body, ITEM, sotto_helper_job_get},
    {DELETE, HELPER, "aggregation_jobs", LEADERS, NO_MESSAGE, no_body, ITEM,
     sotto_helper_job_delete},
    {POST, HELPER, "aggregate_shares", LEADERS, SOTTO_DAP_AGGREGATE_SHARE_REQ, small_body,
     COLLECTION, sotto_helper_share_create},
    {PUT, HELPER, "aggregate_shares", LEADERS, SOTTO_DAP_AGGREGATE_SHARE_REQ, small_body, ITEM,
     sotto_helper_share_create},
    {GET, HELPER, "aggregate_shares", LEADERS, NO_MESSAGE, no_body, ITEM, sotto_helper_share_get},
    {DELETE, HELPER, "aggregate_shares", LEADERS, NO_MESSAGE, no_body, ITEM,
     sotto_helper_share_delete},
    {POST, HELPER, "repairs", LEADERS, SOTTO_DAP_REPAIR_REQ, repair_body, COLLECTION,
     sotto_helper_repair},
    {GET, 0, "rejections", REJECTIONS, NO_MESSAGE, no_body, ITEM, sotto_rejection_counts_get},
};
enum { RESOURCES = sizeof resources / sizeof resources[0] };

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
    static const char bearer[] = "Bearer ";
    sotto_bytes value;

    if (sotto_http_request_field(request, "dap-auth-token", &value))
        return value;
    if (sotto_http_request_field(request, "authorization", &value) &&
        value.len > sizeof bearer - 1 && strncasecmp((const char *)value.data, bearer, 7) == 0)
        return sotto_bytes_of(value.data + 7, value.len - 7);
    return sotto_bytes_of(NULL, 0);
}

static const char *wanted_token(const sotto_server *server, const sotto_server_task *task, whose w)
{
    switch (w) {
    case LEADERS:
        return task->pairing->leader_token;
    case COLLECTORS:
        return task->pairing->collector_token;
    case REJECTIONS: /* the leader knows the collector by its own token */
        return server->options.role == SOTTO_LEADER ? task->pairing->collector_token
                                                    : task->pairing->rejection_token;
    case NOBODYS:
    default:
        return NULL;
    }
}

static bool is_allowed(const sotto_server *server, const sotto_server_task *task,
                       const sotto_http_request *request, whose w)
{
    const char *wanted;

    if (w == NOBODYS)
        return true;
    wanted = wanted_token(server, task, w);
    return wanted && wanted[0] &&
           sotto_bytes_equal(token_of(request), sotto_bytes_of(wanted, strlen(wanted)));
}

/* ---- from head to handler --------------------------------------------------------------------------------- */

/* Segments of the server's own path, before what DAP names. */
static size_t path_depth(const sotto_server *server)
{
    size_t depth = 0;

    for (const char *at = server->options.path; *at; at++)
        depth += *at != '/' && (at[1] == '/' || at[1] == 0);
    return depth;
}

static bool path_is(const resource *r, const sotto_server *server,
                    const sotto_http_request *request, size_t base)
{
    return (r->role == 0 || r->role == server->options.role) &&
           sotto_http_request_segments(request) - base == (r->path == ITEM ? 4u : 3u) &&
           sotto_http_request_segment_is(request, base + 2, r->collection);
}

/* Of this path, by this method; *exists: by any. */
static const resource *find(const sotto_server *server, const sotto_http_request *request,
                            size_t base, bool *exists)
{
    *exists = false;
    for (size_t i = 0; i < RESOURCES; i++) {
        if (!path_is(&resources[i], server, request, base))
            continue;
        *exists = true;
        if (resources[i].method == sotto_http_request_method(request))
            return &resources[i];
    }
    return NULL;
}

/* What a request's head leads to. */
typedef struct route {
    const resource *resource;
    const sotto_server_task *task;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
} route;

static bool media_type_fits(const sotto_http_request *request, sotto_dap_message message)
{
    char type[128];
    sotto_bytes value;

    if (message == NO_MESSAGE)
        return true;
    if (!sotto_http_request_field(request, "content-type", &value) || value.len >= sizeof type)
        return false;
    memcpy(type, value.data, value.len);
    type[value.len] = 0;
    return sotto_dap_media_type_is(message, type);
}

/* Draft 18 makes resources by POST, under ids of the server's; Janus by PUT, under ids of its own. */
static bool method_fits(const resource *r, const sotto_server_task *task)
{
    bool janus = task->profile == SOTTO_DAP_JANUS;

    switch (r->message) {
    case SOTTO_DAP_COLLECTION_JOB_REQ:
    case SOTTO_DAP_AGGREGATION_JOB_INIT_REQ:
    case SOTTO_DAP_AGGREGATE_SHARE_REQ:
        return (r->method == PUT) == janus;
    default:
        return true;
    }
}

/* RFC 9110, 15.5.6: with the methods that there are. */
static bool refuse_method(const sotto_server *server, sotto_http_request *request, size_t base,
                          const sotto_server_task *task)
{
    char allow[64] = "";
    size_t len = 0;

    for (size_t i = 0; i < RESOURCES; i++) {
        const resource *r = &resources[i];

        if (path_is(r, server, request, base) && method_fits(r, task) && len < sizeof allow)
            len += (size_t)snprintf(allow + len, sizeof allow - len, "%s%s%s", len ? ", " : "",
                                    sotto_http_method_name(r->method),
                                    r->method == GET ? ", HEAD" : "");
    }
    return refuse(request, &(sotto_http_problem){.status = 405, .allow = allow}, task->dap.id);
}

/* What is no id of ours names nothing: of jobs, DAP has a word for that. */
static bool refuse_item(sotto_http_request *request, const resource *r, const uint8_t *task_id)
{
    if (strcmp(r->collection, "aggregation_jobs") == 0)
        return refuse_as_dap(request, SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB, NULL, task_id);
    return refuse_plainly(request, 404, task_id);
}

/* The helper's operator may have forgotten to add it, and else only the leader's would hear of that. Anybody can ask for any
 * id, so it is told rarely; `requests` says how many there were since the start. */
static void tell_unknown(sotto_server *server, const resource *r, const uint8_t *id)
{
    uint_fast64_t told = atomic_load(&server->unknown_told);
    uint64_t now = sotto_clock_monotonic(server->options.clock) + 1; /* 0: never told */
    char text[SOTTO_DAP_ID_TEXT_MAX];

    if (server->options.role != SOTTO_HELPER || !r || r->token != LEADERS)
        return;
    sotto_metrics_count(server->metrics, SOTTO_METRIC_TASKS_UNKNOWN, 1);
    if ((told != 0 && now - told < TELL_EVERY_NS) ||
        !atomic_compare_exchange_strong(&server->unknown_told, &told, now))
        return;
    sotto_dap_id_encode(text, sotto_bytes_of(id, SOTTO_TASK_ID_SIZE));
    sotto_log(
        &server->options.log, SOTTO_LOG_WARNING, "task.unknown", sotto_log_text("task", text),
        sotto_log_uint("requests", sotto_metrics_get(server->metrics, SOTTO_METRIC_TASKS_UNKNOWN)));
}

/* False once it has answered. */
static bool find_route(sotto_server *server, sotto_http_request *request, route *out)
{
    size_t base = path_depth(server);
    uint8_t id[SOTTO_TASK_ID_SIZE];
    bool exists;

    if (sotto_http_request_segments(request) < base + 3 ||
        !sotto_http_request_segment_is(request, base, "tasks"))
        return refuse_plainly(request, 404, NULL);
    out->resource = find(server, request, base, &exists);
    if (!exists)
        return refuse_plainly(request, 404, NULL);
    if (sotto_dap_id_decode(id, sizeof id, sotto_http_request_segment(request, base + 1), NULL) !=
        SOTTO_OK)
        return refuse_as_dap(request, SOTTO_DAP_INVALID_MESSAGE, "the task id is not one", NULL);
    out->task = sotto_tasks_find(server->tasks, id);
    if (!out->task) {
        tell_unknown(server, out->resource, id);
        return refuse_as_dap(request, SOTTO_DAP_UNRECOGNIZED_TASK, NULL, id);
    }
    if (!out->resource)
        return refuse_method(server, request, base, out->task);
    if (!is_allowed(server, out->task, request, out->resource->token))
        return refuse(request, &(sotto_http_problem){.status = 401, .challenge = CHALLENGE}, id);
    if (!method_fits(out->resource, out->task))
        return refuse_method(server, request, base, out->task);
    if (!media_type_fits(request, out->resource->message))
        return refuse_plainly(request, 415, id);
    if (out->resource->path == ITEM &&
        sotto_dap_id_decode(out->id, sizeof out->id, sotto_http_request_segment(request, base + 3),
                            NULL) != SOTTO_OK)
        return refuse_item(request, out->resource, id);
    return true;
}

static bool is_hpke_config(const sotto_server *server, const sotto_http_request *request)
{
    size_t base = path_depth(server);

    return sotto_http_request_segments(request) == base + 1 &&
           sotto_http_request_segment_is(request, base, "hpke_config");
}

static bool is_internal(const sotto_server *server, const sotto_http_request *request)
{
    return server->options.internal && sotto_http_request_segment_is(request, 0, "internal");
}

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    sotto_server *server = context;
    route found;

    *max_body = 0;
    if (is_internal(server, request))
        return server->options.internal->head(server, request, max_body);
    if (is_hpke_config(server, request))
        return sotto_http_request_method(request) == GET ||
               refuse(request, &(sotto_http_problem){.status = 405, .allow = "GET, HEAD"}, NULL);
    if (!find_route(server, request, &found))
        return false;
    *max_body = found.resource->limit(server, found.task);
    return true;
}

static void answer_hpke_config(sotto_server *server, sotto_http_request *request)
{
    uint8_t bytes[4096];
    sotto_buf list = sotto_buf_over(bytes, sizeof bytes);
    char cache[32];
    sotto_http_field fields[] = {
        {"Content-Type", sotto_dap_media_type(SOTTO_DAP_HPKE_CONFIG_LIST)},
        {"Cache-Control", cache},
    };
    sotto_status status = sotto_keys_publish(server->keys, &list, NULL);

    (void)snprintf(cache, sizeof cache, "max-age=%llu",
                   (unsigned long long)sotto_keys_cache_seconds(server->keys));
    if (status != SOTTO_OK)
        sotto_problem_of(request, status, NULL);
    else
        sotto_http_answer(request, &(sotto_http_reply){200, fields, 2, sotto_buf_bytes(&list)});
}

/* The route is found a second time rather than kept: a task may have gone while the body came. */
static void on_body(void *context, sotto_http_request *request)
{
    sotto_server *server = context;
    route found = {0};

    if (is_internal(server, request)) {
        server->options.internal->body(server, request);
        return;
    }
    if (is_hpke_config(server, request)) {
        answer_hpke_config(server, request);
        return;
    }
    if (!find_route(server, request, &found) || !found.resource)
        return;
    found.resource->handle(
        server, found.task,
        sotto_bytes_of(found.id, found.resource->path == ITEM ? sizeof found.id : 0), request);
}

const sotto_http_handler sotto_router = {on_head, on_body, NULL};
