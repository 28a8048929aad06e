/* serve/helper/helper_service.h - the helper as a service; its state is a sotto_server (tasks/server.h). */
#ifndef SOTTO_SERVE_HELPER_HELPER_SERVICE_H
#define SOTTO_SERVE_HELPER_HELPER_SERVICE_H

#include "serve/host/service.h"
#include "serve/tasks/server.h"

extern const sotto_service sotto_helper_service;

/* How long an aggregation job's request may be at this helper. It follows from the task's own report size and the cap
 * on bytes in flight, but is never less than every leader counts on (serve/tasks/tasks.h). */
size_t sotto_helper_job_body(const sotto_server *server, const sotto_server_task *task);

/* helper/jobs.c: /tasks/{id}/aggregation_jobs; GET, POST (continue), DELETE .../{job} */
sotto_handler sotto_helper_job_create, sotto_helper_job_get, sotto_helper_job_continue,
    sotto_helper_job_delete;
/* helper/shares.c: /tasks/{id}/aggregate_shares; GET, DELETE .../{share} */
sotto_handler sotto_helper_share_create, sotto_helper_share_get, sotto_helper_share_delete;
/* helper/repairs.c, private use: POST /tasks/{id}/repairs: drops the jobs of a batch that the two disagree on. */
sotto_handler sotto_helper_repair;

#endif
