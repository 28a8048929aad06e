/* serve/tasks/resources.h - DAP's resources as routes: whose token, which task, which media type, how long a body.
 *
 * Callers:  the tables of leader and helper, through the host's router, on the loops; and every handler, for problems.
 * Secrets:  tokens are compared in constant time and never kept.
 */
#ifndef SOTTO_SERVE_TASKS_RESOURCES_H
#define SOTTO_SERVE_TASKS_RESOURCES_H

#include "dap/dap.h"
#include "serve/host/service.h"
#include "serve/tasks/server.h"

typedef enum sotto_whose {
    SOTTO_NOBODYS,
    SOTTO_LEADERS,
    SOTTO_COLLECTORS,
    SOTTO_REJECTIONS
} sotto_whose;

#define SOTTO_NO_MESSAGE SOTTO_DAP_MESSAGES

/* One resource: what a route's `more` is. */
typedef struct sotto_resource {
    sotto_whose token;
    sotto_dap_message message; /* of the body; SOTTO_NO_MESSAGE: it has none */
    size_t (*limit)(const sotto_server *server, const sotto_server_task *task); /* of the body */
    sotto_handler *handle;
} sotto_resource;

/* path: "tasks/{task}/reports", or "tasks/{task}/collection_jobs/{job}". */
#define SOTTO_RESOURCE_ROUTE(by, at, resource)                                                     \
    {                                                                                              \
        .method = by, .path = at, .admit = sotto_resource_admit, .handle = sotto_resource_handle,  \
        .more = resource                                                                           \
    }
/* Both roles publish their HPKE configurations ... */
#define SOTTO_HPKE_CONFIG_ROUTE                                                                    \
    {                                                                                              \
        .method = SOTTO_HTTP_GET, .path = "hpke_config", .handle = sotto_hpke_config_handle        \
    }
/* ... and tell the collector what a batch that was released had rejected. */
#define SOTTO_REJECTIONS_ROUTE                                                                     \
    SOTTO_RESOURCE_ROUTE(SOTTO_HTTP_GET, "tasks/{task}/rejections/{job}",                          \
                         &sotto_rejections_resource)
extern const sotto_resource sotto_rejections_resource;

bool sotto_resource_admit(void *server, const sotto_route *route, sotto_http_request *request,
                          size_t *max_body);
void sotto_resource_handle(void *server, const sotto_route *route, sotto_http_request *request);
void sotto_hpke_config_handle(void *server, const sotto_route *route, sotto_http_request *request);
/* Of a service: a method that the path does not have. */
void sotto_resource_refuse_method(void *server, const sotto_route *route,
                                  sotto_http_request *request);

/* ---- how long a body may be: from the task's own report size, never from the peer's word ------------- */

size_t sotto_no_body(const sotto_server *server, const sotto_server_task *task);
size_t sotto_small_body(const sotto_server *server, const sotto_server_task *task);
/* So many reports of a request at most, each with so many bytes; `cap` if that is less. */
enum { SOTTO_REQUEST_MAX_REPORTS = 1000 };
size_t sotto_body_of_reports(size_t each, size_t cap);

/* ---- problems ------------------------------------------------------------------------------------------ */

/* Answers with one of DAP's problems. `detail` and `task` may be NULL. */
void sotto_problem(sotto_http_request *request, sotto_dap_problem problem, const char *detail,
                   const sotto_server_task *task);
/* Answers what went wrong on our side of a call: 503 where trying again may help, else 500. */
void sotto_problem_of(sotto_http_request *request, sotto_status status,
                      const sotto_server_task *task);
/* Answers with a problem type that DAP does not define; the task's id is added to it. */
void sotto_problem_plain(sotto_http_request *request, const sotto_http_problem *problem,
                         const sotto_server_task *task);

#endif
