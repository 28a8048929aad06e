/* serve/tasks/router.h - from a request's head to the handler of its resource, or a problem.
 *
 * Callers:  the HTTP server, on its loops.
 * Secrets:  tokens are compared in constant time and never kept.
 */
#ifndef SOTTO_SERVE_TASKS_ROUTER_H
#define SOTTO_SERVE_TASKS_ROUTER_H

#include "dap/dap.h"
#include "serve/host/server.h"
#include "transport/http_server.h"

/* Its context is the sotto_server. */
extern const sotto_http_handler sotto_router;

/* How long an aggregation job's request may be at this helper: from the task's own report size and the cap on bytes in
 * flight, but never less than every leader counts on (serve/tasks/tasks.h). */
size_t sotto_router_job_body(const sotto_server *server, const sotto_server_task *task);

/* Answers with one of DAP's problems. `detail` and `task` may be NULL. */
void sotto_problem(sotto_http_request *request, sotto_dap_problem problem, const char *detail,
                   const sotto_server_task *task);
/* Answers what went wrong on our side of a call: 503 where trying again may help, else 500. */
void sotto_problem_of(sotto_http_request *request, sotto_status status,
                      const sotto_server_task *task);
/* Answers with a problem that is none of DAP's; the task's id is added to it. */
void sotto_problem_plain(sotto_http_request *request, const sotto_http_problem *problem,
                         const sotto_server_task *task);

#endif
