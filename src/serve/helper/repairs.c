/* Repairs at the helper: the leader lists its jobs of a batch, and the helper drops those on which the two differ. It
 * does so in one transaction, before it tells the leader which they are.
 *
 * Nothing here relies on the leader's word. A batch of which a share was released is never touched, nor a job that added to
 * one as well. Else two sums could differ by whatever the leader left out of its list. What is left must be large enough by
 * our own count. So all that a leader gets by this is a batch without some jobs that it might as well never have sent. */
#include "base/arena.h"
#include "serve/helper/helper_service.h"
#include "serve/tasks/log_task.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/release.h"
#include "serve/tasks/repair.h"
#include "serve/tasks/task_request.h"

#include "base/rule.h"

#include <string.h>

enum { MEMORY = 64 << 20 };

typedef struct asking {
    sotto_task_request ask;
    sotto_dap_repair_req req;
    sotto_batch_range range;
    sotto_bytes answer;
    uint64_t dropped; /* reports                          */
    bool known;       /* the answer is the stored one     */
    bool too_large;   /* more jobs than a message can list */
} asking;

/* ---- the transaction --------------------------------------------------------------------------------------- */

static sotto_status find_stored(sotto_tx *tx, asking *a, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT answer FROM repair WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, a->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    SOTTO_TRY(sotto_sql_step(&q, &a->known, err));
    if (!a->known)
        return SOTTO_OK;
    SOTTO_TRY(sotto_task_request_keep(&a->ask, &a->answer, sotto_sql_column_bytes(&q, 0), err));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status store(sotto_tx *tx, const asking *a, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO repair (task, id, answer, reports, added)"
                                " VALUES (?1, ?2, ?3, ?4, {now})",
                                err));
    sotto_sql_int(&q, 1, a->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    sotto_sql_bytes(&q, 3, a->answer);
    sotto_sql_int(&q, 4, (int64_t)a->dropped);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status write_answer(asking *a, const sotto_dap_repair_resp *resp, sotto_err *err)
{
    size_t size = resp->dropped.len + 4;
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, &a->ask.arena, size, err));
    SOTTO_TRY(sotto_dap_repair_resp_encode(&out, resp, err));
    a->answer = sotto_buf_bytes(&out);
    return SOTTO_OK;
}

/* What differs, unless this batch may not be repaired. */
static sotto_status judge(sotto_tx *tx, asking *a, sotto_repair_list *ours,
                          sotto_repair_difference *difference, sotto_err *err)
{
    const sotto_server_task *task = a->ask.task;
    sotto_status status;
    bool is_free;

    SOTTO_TRY(sotto_batch_range_is_free(tx, &is_free, task->n, &a->range, err));
    if (SOTTO_RULE(repair_before_release) && !is_free)
        return sotto_task_request_problem(&a->ask, SOTTO_DAP_BATCH_OVERLAP, err);
    status = sotto_repair_read(tx, ours, a->ask.server, task, &a->range, &a->ask.arena, err);
    a->too_large = status == SOTTO_TOO_LARGE;
    SOTTO_TRY(status);
    SOTTO_TRY(sotto_repair_compare(difference, ours, &a->req, &a->ask.arena, err));
    if (SOTTO_RULE(repair_min_batch) && difference->agreed < task->dap.min_batch_size)
        return sotto_task_request_problem(&a->ask, SOTTO_DAP_INVALID_BATCH_SIZE, err);
    return SOTTO_OK;
}

/* Stored only where something was dropped: otherwise the same request gives the same answer, and made-up requests of a
 * leader fill no table. */
static sotto_status repair(sotto_tx *tx, void *context, sotto_err *err)
{
    asking *a = context;
    sotto_repair_list ours;
    sotto_repair_difference difference = {.agreed = 0};
    sotto_err why = {0};
    sotto_status status;

    a->ask.problem = SOTTO_DAP_PROBLEMS;
    a->dropped = 0;
    a->too_large = false;
    sotto_arena_rollback(&a->ask.arena, a->ask.base);
    SOTTO_TRY(sotto_release_lock(tx, a->ask.task->n, true, err));
    SOTTO_TRY(find_stored(tx, a, err));
    if (a->known)
        return SOTTO_OK;
    SOTTO_TRY(judge(tx, a, &ours, &difference, err));
    status = sotto_repair_drop(tx, &a->dropped, a->ask.server, a->ask.task, &ours, &difference.jobs,
                               -1, &a->ask.arena, &why);
    if (status == SOTTO_DENIED)
        return sotto_task_request_problem(&a->ask, SOTTO_DAP_BATCH_OVERLAP, err);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", why.reason);
    SOTTO_TRY(write_answer(a, &difference.jobs, err));
    return a->dropped > 0 ? store(tx, a, err) : SOTTO_OK;
}

/* ---- the request --------------------------------------------------------------------------------------------- */

static void count(const asking *a)
{
    sotto_metrics *metrics = a->ask.server->metrics;
    uint64_t causes[SOTTO_CAUSES] = {[SOTTO_CAUSE_DROPPED] = a->dropped};
    char id[SOTTO_DAP_ID_TEXT_MAX];

    sotto_metrics_count(metrics, SOTTO_METRIC_REPAIRS_DONE, 1);
    sotto_metrics_reports(metrics, causes, SOTTO_CAUSES);
    if (a->dropped > 0)
        sotto_log(a->ask.server->log, SOTTO_LOG_WARNING, "batch.repaired",
                  sotto_log_task(id, a->ask.task), sotto_log_uint("reports_dropped", a->dropped));
}

static void on_repaired(void *context, sotto_status status, const sotto_err *err)
{
    asking *a = context;

    (void)err;
    if (status == SOTTO_OK) {
        if (!a->known)
            count(a);
        sotto_answer_message(a->ask.server, a->ask.request, 200, SOTTO_DAP_REPAIR_RESP, a->answer,
                             a->ask.task, SOTTO_DAP_AGGREGATE_SHARES, sotto_bytes_of(NULL, 0));
        sotto_task_request_finish(&a->ask);
        return;
    }
    if (a->ask.problem != SOTTO_DAP_PROBLEMS || a->too_large)
        sotto_metrics_count(a->ask.server->metrics, SOTTO_METRIC_REPAIRS_REFUSED, 1);
    if (a->too_large)
        sotto_task_request_refuse_plainly(&a->ask, 413);
    else
        sotto_task_request_fail(&a->ask, status);
}

void sotto_helper_repair(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                         sotto_http_request *request)
{
    asking *a = sotto_task_request_new(sizeof *a, server, task, id, request, MEMORY);
    sotto_bytes body = sotto_http_request_body(request);
    sotto_dap_problem problem;
    sotto_status status;

    if (!a)
        return;
    sotto_resource_id(a->ask.id, "repair", task, body);
    status = sotto_dap_repair_req_decode(&a->req, body, NULL);
    if (status != SOTTO_OK)
        sotto_task_request_refuse(&a->ask, sotto_dap_problem_of_status(status));
    else if (!sotto_release_range(&a->range, &problem, task, &a->req.selector))
        sotto_task_request_refuse(&a->ask, problem);
    else
        sotto_task_request_store(&a->ask, repair, on_repaired);
}
