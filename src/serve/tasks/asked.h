/* serve/tasks/asked.h - a request about a release, from its arrival to its answer: what the handlers of collection jobs,
 * aggregate shares and repairs have in common.
 *
 *     typedef struct asked { sotto_asked ask; ... } asked;      first, so that one pointer is both
 *
 * Memory:   one block and one arena for each request; whoever answers ends both.
 * Threads:  one at a time has it: a loop, a worker, or the store.
 */
#ifndef SOTTO_SERVE_TASKS_ASKED_H
#define SOTTO_SERVE_TASKS_ASKED_H

#include "serve/tasks/answer.h"

typedef struct sotto_asked {
    sotto_server *server;
    const sotto_server_task *task;
    sotto_http_request *request;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    int64_t n;                 /* of the row that it may make                             */
    sotto_dap_problem problem; /* found by a transaction; SOTTO_DAP_PROBLEMS: none        */
    const char *detail;        /* beside it; may be NULL                                   */
    sotto_arena arena;
    sotto_arena_mark base; /* what is above it is made anew when a transaction runs again */
    sotto_db_job job;
    size_t size;
} sotto_asked;

/* size: of the struct that begins with it, zeroed but for that. id: as in sotto_handler. NULL once it has answered that
 * there is no memory. */
void *sotto_asked_new(size_t size, sotto_server *server, const sotto_server_task *task,
                      sotto_bytes id, sotto_http_request *request, size_t memory);
/* After the answer. */
void sotto_asked_finish(sotto_asked *a);

/* Each of these answers and ends it. */
void sotto_asked_give_up(sotto_asked *a, sotto_status status);
void sotto_asked_refuse(sotto_asked *a, sotto_dap_problem problem);
/* With a status and no problem of DAP's: 404, 409. */
void sotto_asked_refuse_plainly(sotto_asked *a, unsigned http_status);
/* After a transaction that failed: the problem that it found, or else its status. */
void sotto_asked_fail(sotto_asked *a, sotto_status status);

/* Hands it on to the store, or to a compute thread; `done` and `work` get it as their context. */
void sotto_asked_store(sotto_asked *a, sotto_db_fn *fn, sotto_db_done *done);
void sotto_asked_work(sotto_asked *a, sotto_work work);

/* In a transaction: notes the problem and fails. */
SOTTO_MUST_USE sotto_status sotto_asked_problem(sotto_asked *a, sotto_dap_problem problem,
                                                sotto_err *err);
/* A copy in the arena, with a zero behind it. */
SOTTO_MUST_USE sotto_status sotto_asked_keep(sotto_asked *a, sotto_bytes *out, sotto_bytes from,
                                             sotto_err *err);

#endif
