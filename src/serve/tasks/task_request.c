#include "serve/tasks/task_request.h"

#include "base/alloc.h"

#include <string.h>

void *sotto_task_request_new(size_t size, sotto_server *server, const sotto_server_task *task,
                             sotto_bytes id, sotto_http_request *request, size_t memory)
{
    sotto_task_request *a = sotto_alloc(size);

    if (!a) {
        sotto_problem_of(request, SOTTO_NO_MEMORY, task);
        return NULL;
    }
    a->server = server;
    a->task = task;
    a->request = request;
    if (id.len == sizeof a->id)
        memcpy(a->id, id.data, sizeof a->id);
    a->problem = SOTTO_DAP_PROBLEMS;
    a->size = size;
    sotto_arena_init(&a->arena, memory);
    a->base = sotto_arena_here(&a->arena);
    return a;
}

void sotto_task_request_finish(sotto_task_request *a)
{
    sotto_arena_clear(&a->arena);
    sotto_release(a, a->size);
}

void sotto_task_request_give_up(sotto_task_request *a, sotto_status status)
{
    sotto_problem_of(a->request, status, a->task);
    sotto_task_request_finish(a);
}

void sotto_task_request_refuse(sotto_task_request *a, sotto_dap_problem problem)
{
    sotto_problem(a->request, problem, a->detail, a->task);
    sotto_task_request_finish(a);
}

void sotto_task_request_refuse_plainly(sotto_task_request *a, unsigned http_status)
{
    sotto_problem_plain(a->request,
                        &(sotto_http_problem){.status = http_status, .detail = a->detail}, a->task);
    sotto_task_request_finish(a);
}

void sotto_task_request_fail(sotto_task_request *a, sotto_status status)
{
    if (a->problem != SOTTO_DAP_PROBLEMS)
        sotto_task_request_refuse(a, a->problem);
    else
        sotto_task_request_give_up(a, status);
}

void sotto_task_request_store(sotto_task_request *a, sotto_db_fn *fn, sotto_db_done *done)
{
    a->job = (sotto_db_job){fn, a, done, a, NULL, SOTTO_OK, {0}};
    sotto_db_post(a->server->db, &a->job);
}

void sotto_task_request_work(sotto_task_request *a, sotto_work work)
{
    sotto_status status = sotto_pool_post(a->server->pool, work, a, NULL);

    if (status != SOTTO_OK)
        sotto_task_request_give_up(a, status);
}

sotto_status sotto_task_request_problem(sotto_task_request *a, sotto_dap_problem problem,
                                        sotto_err *err)
{
    a->problem = problem;
    return sotto_fail(err, SOTTO_DENIED, "%s", sotto_dap_problem_title(problem));
}

sotto_status sotto_task_request_keep(sotto_task_request *a, sotto_bytes *out, sotto_bytes from,
                                     sotto_err *err)
{
    uint8_t *copy = sotto_arena_take(&a->arena, from.len + 1);

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a stored answer");
    if (from.len > 0)
        memcpy(copy, from.data, from.len);
    *out = sotto_bytes_of(copy, from.len);
    return SOTTO_OK;
}
