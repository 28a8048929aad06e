/* serve/tasks/task_request.h - a request about a task, from its arrival to its answer: what the handlers of collection jobs,
 * aggregation jobs, aggregate shares and repairs have in common. Uploads don't use it: their reports outlive the answer.
 *
 *     typedef struct asking { sotto_task_request ask; ... } asking;      first, so that one pointer is both
 *
 * Memory:   one block and one arena for each request; they are freed with the answer.
 * Threads:  one at a time has it: a loop, a worker, or the store.
 */
#ifndef SOTTO_SERVE_TASKS_TASK_REQUEST_H
#define SOTTO_SERVE_TASKS_TASK_REQUEST_H

#include "serve/tasks/answer.h"

typedef struct sotto_task_request {
    sotto_server *server;
    const sotto_server_task *task;
    sotto_http_request *request;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    int64_t n;                 /* of the row that it may make                             */
    sotto_dap_problem problem; /* found by a transaction; SOTTO_DAP_PROBLEMS: none        */
    const char *detail;        /* beside it; may be NULL                                   */
    sotto_arena arena;
    sotto_arena_mark base; /* the arena is reset to this mark when a transaction runs again */
    sotto_db_job job;
    size_t size;
} sotto_task_request;

/* size: of the struct that begins with it, zeroed but for that. id: as in sotto_handler. NULL: out of memory, which it
 * has answered. */
void *sotto_task_request_new(size_t size, sotto_server *server, const sotto_server_task *task,
                             sotto_bytes id, sotto_http_request *request, size_t memory);
/* After the answer. */
void sotto_task_request_finish(sotto_task_request *a);

/* Each of these answers and ends it. */
void sotto_task_request_give_up(sotto_task_request *a, sotto_status status);
void sotto_task_request_refuse(sotto_task_request *a, sotto_dap_problem problem);
/* With a status and no problem of DAP's: 404, 409. */
void sotto_task_request_refuse_plainly(sotto_task_request *a, unsigned http_status);
/* After a transaction that failed: the problem that it found, or else its status. */
void sotto_task_request_fail(sotto_task_request *a, sotto_status status);

/* Hands it on to the store, or to a compute thread; `done` and `work` get it as their context. */
void sotto_task_request_store(sotto_task_request *a, sotto_db_fn *fn, sotto_db_done *done);
void sotto_task_request_work(sotto_task_request *a, sotto_work work);

/* In a transaction: notes the problem and fails. */
SOTTO_MUST_USE sotto_status sotto_task_request_problem(sotto_task_request *a,
                                                       sotto_dap_problem problem, sotto_err *err);
/* A copy in the arena, with a zero behind it. */
SOTTO_MUST_USE sotto_status sotto_task_request_keep(sotto_task_request *a, sotto_bytes *out,
                                                    sotto_bytes from, sotto_err *err);

#endif
