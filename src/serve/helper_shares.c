/* Aggregate shares at the helper: one for each batch, ever, and always the same bytes. */
#include "serve/answer.h"
#include "serve/rate.h"
#include "serve/release.h"
#include "serve/schema.h"

#include "base/alloc.h"
#include "base/rule.h"

#include <string.h>

enum { MEMORY = 64 << 20, HELD_RETRY_S = 30 };

typedef struct asked {
    sotto_server *server;
    const sotto_server_task *task;
    sotto_http_request *request;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    uint8_t body_id
        [SOTTO_RESOURCE_ID_SIZE]; /* of the request's bytes; the id, unless the leader chose that */
    bool chosen;                  /* the leader chose the id      */
    bool other;                   /* ... and once for other bytes */
    int64_t n;
    sotto_dap_aggregate_share_req req;
    sotto_batch_range range;
    sotto_buf answer;
    sotto_dap_problem problem; /* SOTTO_DAP_PROBLEMS: none */
    bool held;                 /* more reports came than the population explains */
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

static void answer(asked *a)
{
    if (a->other) {
        (void)sotto_http_refuse(a->request, &(sotto_http_problem){.status = 409});
        finish(a);
        return;
    }
    sotto_answer_message(a->server, a->request, 201, SOTTO_DAP_AGGREGATE_SHARE,
                         sotto_buf_bytes(&a->answer), a->task, SOTTO_DAP_AGGREGATE_SHARES,
                         sotto_bytes_of(a->id, sizeof a->id));
    finish(a);
}

/* ---- the transaction --------------------------------------------------------------------------------------- */

static sotto_status find_stored(sotto_tx *tx, asked *a, bool *found, sotto_err *err)
{
    sotto_bytes stored;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT answer, request FROM release WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, a->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->id, sizeof a->id));
    SOTTO_TRY(sotto_sql_step(&q, found, err));
    if (!*found)
        return SOTTO_OK;
    a->other =
        a->chosen && !sotto_bytes_equal_vartime(sotto_sql_column_bytes(&q, 1),
                                                sotto_bytes_of(a->body_id, sizeof a->body_id));
    stored = sotto_sql_column_bytes(&q, 0);
    a->answer = sotto_buf_over(sotto_arena_take(&a->arena, stored.len), stored.len);
    if (!a->answer.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a stored share");
    memcpy(a->answer.data, stored.data, stored.len);
    a->answer.len = stored.len;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status store(sotto_tx *tx, asked *a, uint64_t reports, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO release (n, task, id, state, first_bucket, end_bucket,"
                                " batch, query, answer, reports, request, added) VALUES"
                                " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, {now})",
                                err));
    sotto_sql_int(&q, 1, a->n);
    sotto_sql_int(&q, 2, a->task->n);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(a->id, sizeof a->id));
    sotto_sql_int(&q, 4, SOTTO_RELEASE_DONE);
    sotto_sql_int(&q, 5, (int64_t)a->range.first_bucket);
    sotto_sql_int(&q, 6, (int64_t)a->range.end_bucket);
    sotto_sql_bytes(&q, 7, sotto_bytes_of(a->range.batch.bytes, a->range.batch.len));
    sotto_sql_bytes(&q, 8, a->req.collection_req);
    sotto_sql_bytes(&q, 9, sotto_buf_bytes(&a->answer));
    sotto_sql_int(&q, 10, (int64_t)reports);
    sotto_sql_bytes(&q, 11, sotto_bytes_of(a->body_id, sizeof a->body_id));
    return sotto_sql_run(&q, NULL, err);
}

/* What keeps this sum from being released; SOTTO_DAP_PROBLEMS: nothing. */
static sotto_dap_problem judge(const asked *a, const sotto_sub_aggregate *sum)
{
    if (SOTTO_RULE(helper_min_batch) && sum->reports < a->task->dap.min_batch_size)
        return SOTTO_DAP_INVALID_BATCH_SIZE;
    if (SOTTO_RULE(helper_agrees) &&
        (sum->reports != a->req.report_count ||
         memcmp(sum->checksum, a->req.checksum, sizeof sum->checksum) != 0))
        return SOTTO_DAP_BATCH_MISMATCH;
    return SOTTO_DAP_PROBLEMS;
}

static sotto_status refused(asked *a, sotto_dap_problem problem, sotto_err *err)
{
    a->problem = problem;
    return sotto_fail(err, SOTTO_DENIED, "%s", sotto_dap_problem_title(problem));
}

static sotto_status release(sotto_tx *tx, void *context, sotto_err *err)
{
    asked *a = context;
    size_t size = sotto_release_sealed_size(a->task);
    sotto_sub_aggregate sum;
    bool found, is_free;

    a->problem = SOTTO_DAP_PROBLEMS;
    a->held = false;
    sotto_arena_rollback(&a->arena, a->base);
    SOTTO_TRY(sotto_release_lock(tx, a->task->n, true, err));
    SOTTO_TRY(find_stored(tx, a, &found, err));
    if (found)
        return SOTTO_OK;
    SOTTO_TRY(sotto_batch_range_is_free(tx, &is_free, a->task->n, &a->range, err));
    if (SOTTO_RULE(helper_one_share_a_bucket) && !is_free)
        return refused(a, SOTTO_DAP_BATCH_OVERLAP, err);
    SOTTO_TRY(sotto_batch_sum(tx, &sum, &a->server->columns, a->task, &a->range, &a->arena, err));
    if (judge(a, &sum) != SOTTO_DAP_PROBLEMS)
        return refused(a, judge(a, &sum), err);
    SOTTO_TRY(sotto_rate_check(tx, &a->held, a->task, &a->range, sum.reports, err));
    if (a->held)
        return SOTTO_OK; /* with the row that says so */
    a->answer = sotto_buf_over(sotto_arena_take(&a->arena, size), size);
    if (!a->answer.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a sealed share");
    SOTTO_TRY(sotto_release_seal(&a->answer, a->task, SOTTO_HELPER, a->req.collection_req, &sum,
                                 &a->arena, err));
    return store(tx, a, sum.reports, err);
}

/* No problem of DAP's: the leader asks again, until this side's operator has released the batch. */
static void hold(asked *a)
{
    (void)sotto_http_refuse(a->request, &(sotto_http_problem){.status = 503,
                                                              .detail = SOTTO_RATE_HELD,
                                                              .retry_after_s = HELD_RETRY_S});
    finish(a);
}

static void on_released(void *context, sotto_status status, const sotto_err *err)
{
    asked *a = context;

    (void)err;
    if (status == SOTTO_OK && a->held)
        hold(a);
    else if (status == SOTTO_OK)
        answer(a);
    else if (a->problem != SOTTO_DAP_PROBLEMS)
        refuse(a, a->problem);
    else
        give_up(a, status);
}

/* ---- the requests --------------------------------------------------------------------------------------------- */

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
    sotto_arena_init(&a->arena, MEMORY + 8 * task->dap.sizes.out_share);
    a->base = sotto_arena_here(&a->arena);
    return a;
}

/* id: empty where it follows from the request. */
static void create(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                   sotto_http_request *request)
{
    asked *a = new_asked(server, task, request);
    sotto_bytes body = sotto_http_request_body(request);
    sotto_dap_problem problem;
    sotto_status status;

    if (!a)
        return;
    sotto_resource_id(a->body_id, "aggregate share", task, body);
    a->chosen = id.len == sizeof a->id;
    memcpy(a->id, a->chosen ? id.data : a->body_id, sizeof a->id);
    status = sotto_dap_aggregate_share_req_decode(&a->req, body, NULL);
    if (status != SOTTO_OK) {
        refuse(a, sotto_dap_problem_of_status(status));
    } else if (a->req.collection.agg_param.len != 0) {
        refuse(a, SOTTO_DAP_INVALID_AGGREGATION_PARAMETER);
    } else if (!sotto_release_range(&a->range, &problem, task, &a->req.selector)) {
        refuse(a, problem);
    } else if (!sotto_dap_batch_selector_fits(&a->req.selector, &a->req.collection.query)) {
        refuse(a, SOTTO_DAP_BATCH_INVALID);
    } else if ((status = sotto_row_number(&a->n, NULL)) != SOTTO_OK) {
        give_up(a, status);
    } else {
        a->job = (sotto_db_job){release, a, on_released, a, NULL, SOTTO_OK, {0}};
        sotto_db_post(server->db, &a->job);
    }
}

void sotto_helper_share_create(sotto_server *server, const sotto_server_task *task,
                               sotto_http_request *request)
{
    create(server, task, sotto_bytes_of(NULL, 0), request);
}

void sotto_helper_share_put(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                            sotto_http_request *request)
{
    create(server, task, id, request);
}

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    asked *a = context;
    bool found;

    sotto_arena_rollback(&a->arena, a->base);
    SOTTO_TRY(find_stored(tx, a, &found, err));
    return found ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "no such share");
}

static void get(void *context, sotto_worker *worker)
{
    asked *a = context;
    sotto_status status = sotto_db_read(a->server->db, look, a, NULL);

    (void)worker;
    if (status == SOTTO_OK) {
        answer(a);
    } else if (status == SOTTO_MISSING) {
        (void)sotto_http_refuse(a->request, &(sotto_http_problem){.status = 404});
        finish(a);
    } else {
        give_up(a, status);
    }
}

void sotto_helper_share_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
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

/* What was released stays stored, or it could be released again and differently. */
void sotto_helper_share_delete(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                               sotto_http_request *request)
{
    (void)server;
    (void)task;
    (void)id;
    sotto_answer_nothing(request);
}
