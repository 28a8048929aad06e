/* The collector's side of collection jobs: creating, asking, deleting. */
#include "serve/collection.h"

#include "base/alloc.h"
#include "serve/answer.h"
#include "serve/release.h"
#include "serve/schema.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY = 16 << 20, RETRY_AFTER_S = 1 };

typedef struct asked {
    sotto_server *server;
    const sotto_server_task *task;
    sotto_http_request *request;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    sotto_bytes body;
    sotto_batch_range range;
    int64_t n, state;
    bool found;
    bool other; /* the collector chose this id once for another query */
    sotto_bytes answer;
    sotto_dap_problem problem; /* of a failed one, or of the creation */
    sotto_arena arena;
    sotto_arena_mark base;
    sotto_db_job job;
} asked;

static void finish(asked *a)
{
    sotto_arena_clear(&a->arena);
    sotto_release(a, sizeof *a);
}

static void give_up(asked *a, sotto_status status)
{
    sotto_problem_of(a->request, status, a->task);
    finish(a);
}

static void refuse(asked *a, sotto_dap_problem problem)
{
    sotto_problem(a->request, problem, NULL, a->task);
    finish(a);
}

static asked *new_asked(sotto_server *server, const sotto_server_task *task,
                        sotto_http_request *request)
{
    asked *a = sotto_alloc(sizeof *a);

    if (!a) {
        sotto_problem_of(request, SOTTO_NO_MEMORY, task);
        return NULL;
    }
    a->server = server;
    a->task = task;
    a->request = request;
    a->problem = SOTTO_DAP_PROBLEMS;
    sotto_arena_init(&a->arena, MEMORY + 4 * task->dap.sizes.out_share);
    a->base = sotto_arena_here(&a->arena);
    return a;
}

/* ---- answering --------------------------------------------------------------------------------------------- */

static void answer(asked *a, unsigned status)
{
    sotto_bytes id = sotto_bytes_of(a->id, sizeof a->id);
    /* Janus' collector takes 202 for a failure. */
    unsigned not_ready = status == 201 || a->task->profile == SOTTO_DAP_JANUS ? status : 202;

    if (a->other) {
        (void)sotto_http_refuse(a->request, &(sotto_http_problem){.status = 409});
        finish(a);
        return;
    }
    if (a->state == SOTTO_RELEASE_FAILED || a->state == SOTTO_RELEASE_REFUSED) {
        refuse(a, a->problem);
        return;
    }
    if (a->state == SOTTO_RELEASE_DONE)
        sotto_answer_message(a->server, a->request, status, SOTTO_DAP_COLLECTION_JOB_RESP,
                             a->answer, a->task, SOTTO_DAP_COLLECTION_JOBS, id);
    else
        sotto_answer_later(a->server, a->request, not_ready, a->task, SOTTO_DAP_COLLECTION_JOBS, id,
                           RETRY_AFTER_S);
    finish(a);
}

static sotto_status find(sotto_tx *tx, asked *a, sotto_err *err)
{
    sotto_bytes stored;
    const char *problem;
    uint8_t *copy;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT state, answer, problem, query FROM release WHERE task = ?1 AND id = ?2",
        err));
    sotto_sql_int(&q, 1, a->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->id, sizeof a->id));
    SOTTO_TRY(sotto_sql_step(&q, &a->found, err));
    if (!a->found)
        return SOTTO_OK;
    a->state = sotto_sql_column_int(&q, 0);
    a->other = a->body.data && !sotto_bytes_equal_vartime(sotto_sql_column_bytes(&q, 3), a->body);
    stored = sotto_sql_column_bytes(&q, 1);
    problem = sotto_sql_column_text(&q, 2);
    a->problem = sotto_dap_problem_of(problem);
    if (a->problem == SOTTO_DAP_PROBLEMS)
        a->problem = SOTTO_DAP_BATCH_MISMATCH;
    copy = sotto_arena_take(&a->arena, stored.len + 1);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a collection");
    if (stored.len > 0)
        memcpy(copy, stored.data, stored.len);
    a->answer = sotto_bytes_of(copy, stored.len);
    return sotto_sql_run(&q, NULL, err);
}

/* ---- creating ------------------------------------------------------------------------------------------------ */

static sotto_status insert(sotto_tx *tx, const asked *a, sotto_err *err)
{
    uint8_t item[8];
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO release (n, task, id, state, first_bucket, end_bucket,"
                                " batch, query, reports, added)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, {now})"
                                " ON CONFLICT (task, id) DO NOTHING",
                                err));
    sotto_sql_int(&q, 1, a->n);
    sotto_sql_int(&q, 2, a->task->n);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(a->id, sizeof a->id));
    sotto_sql_int(&q, 4, SOTTO_RELEASE_WAITING);
    sotto_sql_int(&q, 5, (int64_t)a->range.first_bucket);
    sotto_sql_int(&q, 6, (int64_t)a->range.end_bucket);
    sotto_sql_bytes(&q, 7, sotto_bytes_of(NULL, 0));
    sotto_sql_bytes(&q, 8, a->body);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    sotto_row_name(item, a->n);
    return sotto_lease_add(tx, SOTTO_QUEUE_COLLECTIONS, sotto_bytes_of(item, sizeof item), 0, err);
}

static sotto_status create(sotto_tx *tx, void *context, sotto_err *err)
{
    asked *a = context;
    bool is_free = true;

    sotto_arena_rollback(&a->arena, a->base);
    a->problem = SOTTO_DAP_PROBLEMS;
    SOTTO_TRY(find(tx, a, err));
    if (a->found)
        return SOTTO_OK;
    if (!a->range.leader_selected)
        SOTTO_TRY(sotto_batch_range_is_free(tx, &is_free, a->task->n, &a->range, err));
    if (!is_free) {
        a->problem = SOTTO_DAP_BATCH_OVERLAP;
        return sotto_fail(err, SOTTO_DENIED, "the batch was collected before");
    }
    a->state = SOTTO_RELEASE_WAITING;
    return insert(tx, a, err);
}

static void on_created(void *context, sotto_status status, const sotto_err *err)
{
    asked *a = context;

    (void)err;
    if (status == SOTTO_OK) {
        sotto_leader_look(a->server->leader);
        answer(a, 201);
    } else if (a->problem != SOTTO_DAP_PROBLEMS) {
        refuse(a, a->problem);
    } else {
        give_up(a, status);
    }
}

/* False once it has answered. */
static bool read_request(asked *a)
{
    sotto_dap_collection_req req;
    sotto_dap_batch_selector selector;
    sotto_dap_problem problem;
    sotto_status status;

    a->body = sotto_http_request_body(a->request);
    status = sotto_dap_collection_req_decode(&req, a->body, NULL);
    if (status != SOTTO_OK)
        return refuse(a, sotto_dap_problem_of_status(status)), false;
    if (req.agg_param.len != 0)
        return refuse(a, SOTTO_DAP_INVALID_AGGREGATION_PARAMETER), false;
    selector = (sotto_dap_batch_selector){.mode = req.query.mode, .interval = req.query.interval};
    if (!sotto_release_range(&a->range, &problem, a->task, &selector))
        return refuse(a, problem), false;
    return true;
}

/* id: empty where it follows from the request. */
static void create_under(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                         sotto_http_request *request)
{
    asked *a = new_asked(server, task, request);
    sotto_status status;

    if (!a || !read_request(a))
        return;
    if (id.len == sizeof a->id)
        memcpy(a->id, id.data, sizeof a->id);
    else
        sotto_resource_id(a->id, "collection job", task, a->body);
    status = sotto_row_number(&a->n, NULL);
    if (status != SOTTO_OK) {
        give_up(a, status);
        return;
    }
    a->job = (sotto_db_job){create, a, on_created, a, NULL, SOTTO_OK, {0}};
    sotto_db_post(server->db, &a->job);
}

void sotto_collection_create(sotto_server *server, const sotto_server_task *task,
                             sotto_http_request *request)
{
    create_under(server, task, sotto_bytes_of(NULL, 0), request);
}

void sotto_collection_put(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                          sotto_http_request *request)
{
    create_under(server, task, id, request);
}

/* ---- asking and deleting ---------------------------------------------------------------------------------------- */

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    asked *a = context;

    sotto_arena_rollback(&a->arena, a->base);
    return find(tx, a, err);
}

static void get(void *context, sotto_worker *worker)
{
    asked *a = context;
    sotto_status status = sotto_db_read(a->server->db, look, a, NULL);

    (void)worker;
    if (status != SOTTO_OK) {
        give_up(a, status);
    } else if (!a->found) {
        (void)sotto_http_refuse(a->request, &(sotto_http_problem){.status = 404});
        finish(a);
    } else {
        answer(a, 200);
    }
}

void sotto_collection_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                          sotto_http_request *request)
{
    asked *a = new_asked(server, task, request);
    sotto_status status;

    if (!a)
        return;
    memcpy(a->id, id.data, sizeof a->id);
    status = sotto_pool_post(server->pool, get, a, NULL);
    if (status != SOTTO_OK)
        give_up(a, status);
}

/* One that waits is dropped. What was closed stays: replay and overlap checks need it, and a released sum must not be
 * released again in another form. The row of one that is done takes another id, so that the next query for "the next
 * batch", whose bytes are always the same, is a new one. */
static sotto_status drop(sotto_tx *tx, void *context, sotto_err *err)
{
    const asked *a = context;
    uint8_t fresh[SOTTO_RESOURCE_ID_SIZE];
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "DELETE FROM release WHERE task = ?1 AND id = ?2 AND state = ?3", err));
    sotto_sql_int(&q, 1, a->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->id, sizeof a->id));
    sotto_sql_int(&q, 3, SOTTO_RELEASE_WAITING);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    if (a->task->dap.batch_mode != SOTTO_DAP_LEADER_SELECTED)
        return SOTTO_OK;
    sotto_resource_id(fresh, "deleted collection job", a->task, sotto_bytes_of(&a->n, sizeof a->n));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE release SET id = ?4 WHERE task = ?1 AND id = ?2 AND state >= ?3", err));
    sotto_sql_int(&q, 1, a->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->id, sizeof a->id));
    sotto_sql_int(&q, 3, SOTTO_RELEASE_DONE);
    sotto_sql_bytes(&q, 4, sotto_bytes_of(fresh, sizeof fresh));
    return sotto_sql_run(&q, NULL, err);
}

static void on_dropped(void *context, sotto_status status, const sotto_err *err)
{
    asked *a = context;

    (void)err;
    if (status != SOTTO_OK) {
        give_up(a, status);
        return;
    }
    sotto_answer_nothing(a->request);
    finish(a);
}

void sotto_collection_delete(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                             sotto_http_request *request)
{
    asked *a = new_asked(server, task, request);

    if (!a)
        return;
    memcpy(a->id, id.data, sizeof a->id);
    if (sotto_row_number(&a->n, NULL) != SOTTO_OK) {
        give_up(a, SOTTO_IO);
        return;
    }
    a->job = (sotto_db_job){drop, a, on_dropped, a, NULL, SOTTO_OK, {0}};
    sotto_db_post(server->db, &a->job);
}
