/* When the helper's batch is not the same: jobs on which the two differ are dropped, there first and then here, and the
 * helper is asked again.
 *
 * The list of our jobs follows from a batch that is closed. So a process that goes on after a crash asks with the same
 * bytes and gets the answer that the helper stored. Our own share was sealed but shown to nobody; it is sealed anew, noise
 * and all. */
#include "serve/leader/collection_internal.h"

#include "base/arena.h"
#include "base/rule.h"
#include "serve/leader/peer.h"
#include "serve/tasks/log_task.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/release.h"
#include "serve/tasks/repair.h"
#include "serve/tasks/schema.h"
#include "transport/http_problem.h"

#include <stdio.h>
#include <string.h>

static const char TOO_FEW[] = "too few reports are left without the jobs that differ";
static const char DIFFER[] = "the servers differ after every repair";

enum { MOST_REPAIRS = 3 }; /* for one collection; then the leader stops asking */
enum { MOST_REASON = 80 };

/* ---- ending ------------------------------------------------------------------------------------------------------ */

/* The collection fails with batchMismatch, as it would without a repair, and with the reason. `why` is our text, not
 * the peer's. */
static void fail(sotto_collecting *s, const char *why)
{
    char id[SOTTO_DAP_ID_TEXT_MAX], *text;
    size_t len = strlen(why);

    sotto_metrics_count(s->server->metrics, SOTTO_METRIC_REPAIRS_REFUSED, 1);
    sotto_log(s->server->log, SOTTO_LOG_WARNING, "collection.unrepaired",
              sotto_log_task(id, s->task), sotto_log_text("reason", why));
    text = sotto_arena_take(&s->arena, len + 1);
    if (text) {
        memcpy(text, why, len);
        s->answer = sotto_buf_over(text, len);
        s->answer.len = len;
    }
    s->problem = sotto_dap_problem_type(SOTTO_DAP_BATCH_MISMATCH);
    sotto_collection_finish(s);
}

/* After a transaction that failed. */
static void end_after(sotto_collecting *s, sotto_status status)
{
    if (status == SOTTO_STALE || status == SOTTO_MISSING)
        sotto_collection_end(s); /* somebody else has it */
    else if (status == SOTTO_DENIED && s->detail)
        fail(s, s->detail);
    else
        sotto_collection_try_later(s);
}

/* In a transaction: marks the batch as beyond repair, with what the collector is told. */
static sotto_status deny(sotto_collecting *s, const char *why, sotto_err *err)
{
    s->detail = why;
    return sotto_fail(err, SOTTO_DENIED, "%s", why);
}

/* The row, and our jobs. The lease is for another while: the helper is asked next. */
static sotto_status read_jobs(sotto_tx *tx, sotto_collecting *s, sotto_repair_list *ours,
                              sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status;

    s->detail = NULL;
    SOTTO_TRY(sotto_collection_read(tx, s, err));
    if (s->state != SOTTO_RELEASE_CLOSED)
        return sotto_fail(err, SOTTO_STALE, "the collection is over");
    SOTTO_TRY(sotto_lease_extend(tx, &s->step->lease,
                                 (int64_t)s->server->host->options.lease_seconds * 1000, err));
    SOTTO_TRY(sotto_release_lock(tx, s->task->n, true, err));
    status = sotto_repair_read(tx, ours, s->server, s->task, &s->range, &s->arena, &why);
    if (status == SOTTO_TOO_LARGE)
        return deny(s, "its jobs are too many to be compared", err);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
}

/* ---- here, after the helper --------------------------------------------------------------------------------------- */

/* `why` is what the collector is told if this attempt was the last; it is kept in the place of the
 * answer. */
static sotto_status count_repair(sotto_tx *tx, const sotto_collecting *s, const char *why,
                                 sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE release SET repairs = repairs + 1, answer = ?2 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(why, strlen(why)));
    return sotto_sql_run(&q, NULL, err);
}

/* Into memory of s: what count_repair left last. */
static sotto_status last_reason(sotto_tx *tx, sotto_collecting *s, const char **why, sotto_err *err)
{
    char *copy = sotto_arena_take(&s->arena, MOST_REASON + 1); /* zeroes */
    sotto_bytes kept;
    sotto_sql q;
    bool row;

    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a repair");
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT answer FROM release WHERE n = ?1", err));
    sotto_sql_int(&q, 1, s->n);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    kept = row ? sotto_sql_column_bytes(&q, 0) : sotto_bytes_of(NULL, 0);
    *why = DIFFER;
    if (kept.len > 0 && kept.len <= MOST_REASON) {
        memcpy(copy, kept.data, kept.len);
        *why = copy;
    }
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status drop(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_collecting *s = context;
    sotto_dap_repair_resp named = {s->dropped, s->dropped.len / SOTTO_RESOURCE_ID_SIZE};
    sotto_repair_list ours;
    sotto_sub_aggregate sum;
    sotto_err why = {0};
    sotto_status status;

    SOTTO_TRY(read_jobs(tx, s, &ours, err));
    status = sotto_repair_drop(tx, &s->left_out, s->server, s->task, &ours, &named, s->n, &s->arena,
                               &why);
    if (status == SOTTO_DENIED)
        return deny(s, "a share of a job that differs was released", err);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", why.reason);
    SOTTO_TRY(sotto_batch_sum(tx, &sum, s->server->columns, s->task, &s->range, &s->arena, err));
    if (SOTTO_RULE(repair_leader_min_batch) && sum.reports < s->task->dap.min_batch_size)
        return deny(s, TOO_FEW, err);
    SOTTO_TRY(sotto_collection_fix(tx, s, &sum, err));
    return count_repair(tx, s, DIFFER, err);
}

static void on_dropped(void *context, sotto_status status, const sotto_err *err)
{
    sotto_collecting *s = context;
    uint64_t causes[SOTTO_CAUSES] = {[SOTTO_CAUSE_DROPPED] = s->left_out};
    char id[SOTTO_DAP_ID_TEXT_MAX];

    (void)err;
    if (status != SOTTO_OK) {
        end_after(s, status);
        return;
    }
    sotto_metrics_count(s->server->metrics, SOTTO_METRIC_REPAIRS_DONE, 1);
    sotto_metrics_reports(s->server->metrics, causes, SOTTO_CAUSES);
    sotto_log(s->server->log, SOTTO_LOG_WARNING, "collection.repaired", sotto_log_task(id, s->task),
              sotto_log_uint("reports_dropped", s->left_out),
              sotto_log_uint("reports_left", s->reports));
    sotto_collection_ask(s);
}

/* ---- there --------------------------------------------------------------------------------------------------------- */

/* What the helper dropped. The transaction that drops it here may run again, and reads it from here. */
static sotto_status keep_answer(sotto_collecting *s, sotto_bytes body, sotto_err *err)
{
    sotto_dap_repair_resp resp;
    uint8_t *copy;

    SOTTO_TRY(sotto_dap_repair_resp_decode(&resp, body, err));
    sotto_arena_rollback(&s->arena, s->base);
    copy = sotto_arena_take(&s->arena, resp.dropped.len + 1);
    if (!copy)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a repair");
    if (resp.dropped.len > 0)
        memcpy(copy, resp.dropped.data, resp.dropped.len);
    s->dropped = sotto_bytes_of(copy, resp.dropped.len);
    s->base = sotto_arena_here(&s->arena);
    return SOTTO_OK;
}

/* The answer may come from a proxy before the helper, or from one of its replicas that is older than the others. So
 * the same question is asked again a few times before the batch is given up. */
static bool is_unknown(const sotto_http_response *response)
{
    return response->status == 404 || response->status == 405 || response->status == 501;
}

static sotto_status count_unknown(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_collecting *s = context;

    SOTTO_TRY(sotto_collection_read(tx, s, err));
    if (s->state != SOTTO_RELEASE_CLOSED)
        return sotto_fail(err, SOTTO_STALE, "the collection is over");
    return count_repair(tx, s, "the helper knows of no repair", err);
}

static void on_unknown(void *context, sotto_status status, const sotto_err *err)
{
    sotto_collecting *s = context;

    (void)err;
    if (status == SOTTO_OK)
        sotto_collection_try_later(s);
    else
        end_after(s, status);
}

/* NULL: asking again may help. */
static const char *refusal_of(const sotto_http_response *response)
{
    char type[128];

    switch (response->status) {
    case 400:
    case 413:
    case 415:
    case 422:
        break;
    default:
        return NULL;
    }
    if (sotto_http_problem_type(type, sizeof type, response->body, NULL) != SOTTO_OK)
        return "the helper refused to repair the batch";
    switch (sotto_dap_problem_of(type)) {
    case SOTTO_DAP_INVALID_BATCH_SIZE:
        return TOO_FEW;
    case SOTTO_DAP_BATCH_OVERLAP:
        return "the helper has released a share of this batch";
    default:
        return "the helper refused to repair the batch";
    }
}

static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    sotto_collecting *s = context;
    const char *refusal;

    (void)err;
    if (status != SOTTO_OK) {
        sotto_collection_try_later(s);
        return;
    }
    if (is_unknown(response)) {
        sotto_collection_post(s, count_unknown, on_unknown);
        return;
    }
    refusal = refusal_of(response);
    if (refusal) {
        fail(s, refusal);
        return;
    }
    status = response->status == 200 ? keep_answer(s, response->body, NULL) : SOTTO_AGAIN;
    if (status == SOTTO_MALFORMED)
        fail(s, "the helper's answer to a repair is invalid");
    else if (status != SOTTO_OK)
        sotto_collection_try_later(s);
    else
        sotto_collection_post(s, drop, on_dropped);
}

/* ---- the list -------------------------------------------------------------------------------------------------------- */

/* Into s->request, which the next sum replaces. */
static sotto_status list(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_collecting *s = context;
    sotto_dap_batch_selector selector;
    sotto_repair_list ours;
    const char *why;
    size_t size;

    SOTTO_TRY(read_jobs(tx, s, &ours, err));
    if (s->repairs >= MOST_REPAIRS) {
        SOTTO_TRY(last_reason(tx, s, &why, err));
        return deny(s, why, err);
    }
    selector = sotto_release_selector(s->task, &s->range);
    size = ours.count * SOTTO_DAP_REPAIR_JOB_SIZE + 64;
    SOTTO_TRY(sotto_buf_take(&s->request, &s->arena, size, err));
    return sotto_dap_repair_req_encode(&s->request, &selector, ours.jobs, ours.count, err);
}

static void on_listed(void *context, sotto_status status, const sotto_err *err)
{
    sotto_collecting *s = context;
    sotto_peer_call call;
    bool made;

    (void)err;
    if (status != SOTTO_OK) {
        end_after(s, status);
        return;
    }
    made = sotto_peer_repair(&call, s->task, sotto_buf_bytes(&s->request));
    call.http.max_response = SOTTO_DAP_REPAIR_RESP_MAX + 4096;
    sotto_metrics_count(s->server->metrics, SOTTO_METRIC_REPAIRS_ASKED, 1);
    if (!made || sotto_host_call(s->server->host, &call.http, on_answer, s, NULL) != SOTTO_OK)
        sotto_collection_try_later(s);
    sotto_peer_call_clear(&call);
}

void sotto_collection_repair(sotto_collecting *s)
{
    sotto_collection_post(s, list, on_listed);
}
