/* Aggregate shares at the helper: one for each batch, ever, and always the same bytes. */
#include "base/arena.h"
#include "base/clock.h"
#include "recipe/learning_slots.h"
#include "serve/helper/helper_service.h"
#include "serve/tasks/log_task.h"
#include "serve/tasks/rate.h"
#include "serve/tasks/rejection_counts.h"
#include "serve/tasks/release.h"
#include "serve/tasks/round_noise.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/task_request.h"

#include "base/rule.h"
#include "dap/rejections.h"

#include <string.h>

enum { MEMORY = 64 << 20, HELD_RETRY_S = 30 };

typedef struct asking {
    sotto_task_request ask;
    uint8_t body_id
        [SOTTO_RESOURCE_ID_SIZE]; /* of the request's bytes; the id, unless the leader chose that */
    bool chosen;                  /* the leader chose the id      */
    bool other;                   /* ... and once for other bytes */
    sotto_dap_aggregate_share_req req;
    sotto_batch_range range;
    sotto_bytes answer;
    uint64_t reports; /* in a share that this request released; 0: none, or an earlier one did */
    sotto_rate rate;
    bool early; /* the round is not over: when it closes must not tell how many came */
} asking;

static void answer(asking *a)
{
    if (a->other) {
        sotto_task_request_refuse_plainly(&a->ask, 409);
        return;
    }
    sotto_answer_message(a->ask.server, a->ask.request, 201, SOTTO_DAP_AGGREGATE_SHARE, a->answer,
                         a->ask.task, SOTTO_DAP_AGGREGATE_SHARES,
                         sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    sotto_task_request_finish(&a->ask);
}

/* ---- the transaction --------------------------------------------------------------------------------------- */

static sotto_status find_stored(sotto_tx *tx, asking *a, bool *found, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT answer, request FROM release WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, a->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    SOTTO_TRY(sotto_sql_step(&q, found, err));
    if (!*found)
        return SOTTO_OK;
    a->other =
        a->chosen && !sotto_bytes_equal_vartime(sotto_sql_column_bytes(&q, 1),
                                                sotto_bytes_of(a->body_id, sizeof a->body_id));
    SOTTO_TRY(sotto_task_request_keep(&a->ask, &a->answer, sotto_sql_column_bytes(&q, 0), err));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status store(sotto_tx *tx, asking *a, uint64_t reports, sotto_err *err)
{
    uint8_t memory[SOTTO_DAP_REJECTIONS_MAX];
    sotto_buf rejections = sotto_buf_over(memory, sizeof memory);
    sotto_sql q;

    SOTTO_TRY(sotto_rejection_counts_fix(tx, &rejections, a->ask.server, a->ask.task, &a->range,
                                         a->rate.checking, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO release (n, task, id, state, first_bucket, end_bucket,"
                                " batch, query, answer, reports, request, rejections, added) VALUES"
                                " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, {now})",
                                err));
    sotto_sql_int(&q, 1, a->ask.n);
    sotto_sql_int(&q, 2, a->ask.task->n);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    sotto_sql_int(&q, 4, SOTTO_RELEASE_DONE);
    sotto_sql_int(&q, 5, (int64_t)a->range.first_bucket);
    sotto_sql_int(&q, 6, (int64_t)a->range.end_bucket);
    sotto_sql_bytes(&q, 7, sotto_bytes_of(a->range.batch.bytes, a->range.batch.len));
    sotto_sql_bytes(&q, 8, a->req.collection_req);
    sotto_sql_bytes(&q, 9, a->answer);
    sotto_sql_int(&q, 10, (int64_t)reports);
    sotto_sql_bytes(&q, 11, sotto_bytes_of(a->body_id, sizeof a->body_id));
    sotto_sql_bytes(&q, 12, sotto_buf_bytes(&rejections));
    return sotto_sql_run(&q, NULL, err);
}

/* What keeps this sum from being released; SOTTO_DAP_PROBLEMS: nothing. */
static sotto_dap_problem judge(const asking *a, const sotto_sub_aggregate *sum)
{
    if (SOTTO_RULE(helper_min_batch) && sum->reports < a->ask.task->dap.min_batch_size)
        return SOTTO_DAP_INVALID_BATCH_SIZE;
    if (SOTTO_RULE(helper_agrees) &&
        (sum->reports != a->req.report_count ||
         memcmp(sum->checksum, a->req.checksum, sizeof sum->checksum) != 0))
        return SOTTO_DAP_BATCH_MISMATCH;
    return SOTTO_DAP_PROBLEMS;
}

static sotto_status release(sotto_tx *tx, void *context, sotto_err *err)
{
    asking *a = context;
    size_t size = sotto_release_sealed_size(a->ask.task);
    sotto_sub_aggregate sum;
    bool found, is_free, may;
    sotto_buf out;

    a->ask.problem = SOTTO_DAP_PROBLEMS;
    a->rate = (sotto_rate){0};
    a->reports = 0;
    a->early = false;
    sotto_arena_rollback(&a->ask.arena, a->ask.base);
    SOTTO_TRY(sotto_release_lock(tx, a->ask.task->n, true, err));
    SOTTO_TRY(find_stored(tx, a, &found, err));
    if (found) /* noise and all */
        return SOTTO_OK;
    SOTTO_TRY(sotto_batch_range_is_free(tx, &is_free, a->ask.task->n, &a->range, err));
    if (SOTTO_RULE(helper_one_share_a_bucket) && !is_free)
        return sotto_task_request_problem(&a->ask, SOTTO_DAP_BATCH_OVERLAP, err);
    SOTTO_TRY(sotto_round_noise_may(tx, &may, a->ask.task, err));
    if (SOTTO_RULE(helper_correlated_round_once) && !may)
        return sotto_task_request_problem(&a->ask, SOTTO_DAP_BATCH_OVERLAP, err);
    SOTTO_TRY(sotto_batch_sum(tx, &sum, a->ask.server->columns, a->ask.task, &a->range,
                              &a->ask.arena, err));
    if (SOTTO_RULE(helper_round_is_over) && sotto_learning_once(a->ask.task->learning) &&
        sotto_clock_wall(&sotto_clock_system) / 1000000000 < a->ask.task->dap.closes) {
        a->early = true;
        return SOTTO_OK;
    }
    if (judge(a, &sum) != SOTTO_DAP_PROBLEMS)
        return sotto_task_request_problem(&a->ask, judge(a, &sum), err);
    SOTTO_TRY(sotto_rate_check(tx, &a->rate, a->ask.task, &a->range, sum.reports,
                               a->ask.server->options.rate_history, err));
    if (a->rate.held)
        return SOTTO_OK; /* with the row that says so */
    SOTTO_TRY(sotto_buf_take(&out, &a->ask.arena, size, err));
    SOTTO_TRY(sotto_release_seal(tx, &out, a->ask.task, a->ask.server->columns, SOTTO_HELPER,
                                 a->req.collection_req, &sum, &a->ask.arena, err));
    a->answer = sotto_buf_bytes(&out);
    a->reports = sum.reports;
    return store(tx, a, sum.reports, err);
}

/* Not a DAP problem: the leader asks again until this side's operator has released the batch, or the round is over. */
static void hold(asking *a)
{
    sotto_problem_plain(
        a->ask.request,
        &(sotto_http_problem){.status = 503,
                              .detail = a->early ? "the round is not over" : SOTTO_RATE_HELD,
                              .retry_after_s = HELD_RETRY_S},
        a->ask.task);
    sotto_task_request_finish(&a->ask);
}

static void tell(const asking *a)
{
    const sotto_log_sink *log = a->ask.server->log;
    char id[SOTTO_DAP_ID_TEXT_MAX];

    sotto_rate_tell(log, a->ask.task, &a->rate);
    if (a->reports > 0)
        sotto_log(log, SOTTO_LOG_INFO, "share.released", sotto_log_task(id, a->ask.task),
                  sotto_log_uint("reports", a->reports));
}

static void on_released(void *context, sotto_status status, const sotto_err *err)
{
    asking *a = context;

    (void)err;
    if (status == SOTTO_OK)
        tell(a);
    if (status == SOTTO_OK && (a->rate.held || a->early))
        hold(a);
    else if (status == SOTTO_OK)
        answer(a);
    else
        sotto_task_request_fail(&a->ask, status);
}

/* ---- the requests --------------------------------------------------------------------------------------------- */

static asking *new_request(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                           sotto_http_request *request)
{
    return sotto_task_request_new(sizeof(asking), server, task, id, request,
                                  MEMORY + 8 * task->dap.sizes.out_share);
}

/* What is wrong with the request, whatever was added up (DAP, "Obtaining Aggregate Shares"); SOTTO_DAP_PROBLEMS: nothing. */
static sotto_dap_problem read_request(asking *a, sotto_bytes body)
{
    const sotto_dap_query *query = &a->req.collection.query;
    sotto_dap_problem problem;
    sotto_status status = sotto_dap_aggregate_share_req_decode(&a->req, body, NULL);

    if (status != SOTTO_OK)
        return sotto_dap_problem_of_status(status);
    if ((unsigned)query->mode != a->ask.task->dap.batch_mode)
        return SOTTO_DAP_INVALID_MESSAGE;
    if (!sotto_release_range(&a->range, &problem, a->ask.task, &a->req.selector))
        return problem;
    if (!sotto_dap_batch_selector_fits(&a->req.selector, query) ||
        (query->mode == SOTTO_DAP_TIME_INTERVAL && !sotto_dap_interval_valid(query->interval)))
        return SOTTO_DAP_BATCH_INVALID;
    /* Every job had the empty aggregation parameter, the only one of Prio3. Another one makes the leader's message
     * invalid. */
    return a->req.collection.agg_param.len != 0 ? SOTTO_DAP_INVALID_MESSAGE : SOTTO_DAP_PROBLEMS;
}

void sotto_helper_share_create(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                               sotto_http_request *request)
{
    asking *a = new_request(server, task, id, request);
    sotto_bytes body = sotto_http_request_body(request);
    sotto_dap_problem problem;
    sotto_status status;

    if (!a)
        return;
    sotto_resource_id(a->body_id, "aggregate share", task, body);
    a->chosen = id.len > 0;
    if (!a->chosen)
        memcpy(a->ask.id, a->body_id, sizeof a->ask.id);
    problem = read_request(a, body);
    if (problem != SOTTO_DAP_PROBLEMS) {
        sotto_task_request_refuse(&a->ask, problem);
    } else if ((status = sotto_row_number(&a->ask.n, NULL)) != SOTTO_OK) {
        sotto_task_request_give_up(&a->ask, status);
    } else {
        sotto_task_request_store(&a->ask, release, on_released);
    }
}

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    asking *a = context;
    bool found;

    sotto_arena_rollback(&a->ask.arena, a->ask.base);
    SOTTO_TRY(find_stored(tx, a, &found, err));
    return found ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "no such share");
}

static void get(void *context, sotto_worker *worker)
{
    asking *a = context;
    sotto_status status = sotto_db_read(a->ask.server->db, look, a, NULL);

    (void)worker;
    if (status == SOTTO_OK) {
        answer(a);
    } else if (status == SOTTO_MISSING) {
        sotto_task_request_refuse_plainly(&a->ask, 404);
    } else {
        sotto_task_request_give_up(&a->ask, status);
    }
}

void sotto_helper_share_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                            sotto_http_request *request)
{
    asking *a = new_request(server, task, id, request);

    if (!a)
        return;
    sotto_task_request_work(&a->ask, get);
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
