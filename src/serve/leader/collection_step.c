/* One step after the other: wait, close, ask the helper, end. */
#include "serve/leader/collection_internal.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rule.h"
#include "recipe/learning_slots.h"
#include "serve/leader/collection_waits.h"
#include "serve/leader/peer.h"
#include "serve/tasks/log_task.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/release.h"
#include "serve/tasks/schema.h"
#include "transport/http_problem.h"

#include <stdio.h>
#include <string.h>

enum {
    MEMORY = 256 << 20, /* a ceiling: several shares of the largest task */
    WAIT_MS = 1000
};

/* ---- ending a step --------------------------------------------------------------------------------------------------- */

/* Frees what this file allocated; the step is still to be ended. */
static sotto_step *let_go(sotto_collecting *s)
{
    sotto_step *step = s->step;

    sotto_arena_clear(&s->arena);
    sotto_release(s, sizeof *s);
    return step;
}

void sotto_collection_end(sotto_collecting *s)
{
    sotto_step_end(let_go(s));
}

void sotto_collection_post(sotto_collecting *s, sotto_db_fn *fn, sotto_db_done *done)
{
    s->db = (sotto_db_job){fn, s, done, s, NULL, SOTTO_OK, {0}};
    sotto_db_post(s->server->db, &s->db);
}

void sotto_collection_try_later(sotto_collecting *s)
{
    sotto_metrics_count(s->server->metrics, SOTTO_METRIC_COLLECTIONS_RETRIED, 1);
    if (s->retry[0])
        sotto_step_note_retry(s->step, s->retry);
    sotto_collection_waits_release(s->leader->waits, s->n);
    sotto_step_retry(let_go(s), NULL);
}

/* ---- the helper's share ------------------------------------------------------------------------------------------------- */

static sotto_status store_end(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_collecting *s = context;
    uint64_t changed;
    sotto_sql q;

    SOTTO_TRY(sotto_lease_finish(tx, &s->step->lease, err));
    SOTTO_TRY(sotto_collection_waits_tell(tx, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE release SET state = ?2, answer = ?3, problem = ?4,"
                                " request = NULL WHERE n = ?1 AND state = ?5",
                                err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_int(&q, 2, s->problem ? SOTTO_RELEASE_FAILED : SOTTO_RELEASE_DONE);
    sotto_sql_bytes(&q, 3, sotto_buf_bytes(&s->answer));
    sotto_sql_text(&q, 4, s->problem);
    sotto_sql_int(&q, 5, SOTTO_RELEASE_CLOSED);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    return changed == 1 ? SOTTO_OK : sotto_fail(err, SOTTO_STALE, "the collection is over");
}

/* Devices drew their round in secret. Whoever knows when the others came would know by the number of reports when the last one did. So
 * the most that a sum has room for is told, and the whole round as its time: nobody needs more, since a sum is divided by a
 * public number. */
static void hide_count(sotto_dap_collection_resp *resp, const sotto_collecting *s)
{
    if (SOTTO_RULE(round_count_hidden) && sotto_learning_once(s->task->learning)) {
        resp->report_count = s->task->learning->largest;
        resp->interval = (sotto_dap_interval){s->range.first_bucket,
                                              s->range.end_bucket - s->range.first_bucket};
    }
}

static sotto_status write_answer(sotto_collecting *s, sotto_bytes share, sotto_err *err)
{
    sotto_dap_collection_resp resp = {
        .report_count = s->reports,
        .interval = {s->first_bucket, s->last_bucket - s->first_bucket + 1}};

    const size_t size = s->own.len + share.len + 64;

    hide_count(&resp, s);
    SOTTO_TRY(sotto_hpke_ciphertext_decode(&resp.leader, sotto_buf_bytes(&s->own), err));
    SOTTO_TRY(sotto_dap_aggregate_share_decode(&resp.helper, share, err));
    SOTTO_TRY(sotto_buf_take(&s->answer, &s->arena, size, err));
    return sotto_dap_collection_resp_encode(&s->answer, &resp, err);
}

/* A refusal that asking again won't change. */
static const char *final_problem(const sotto_http_response *response)
{
    static const sotto_dap_problem finals[] = {
        SOTTO_DAP_BATCH_MISMATCH,        SOTTO_DAP_BATCH_OVERLAP,
        SOTTO_DAP_BATCH_INVALID,         SOTTO_DAP_INVALID_BATCH_SIZE,
        SOTTO_DAP_INVALID_MESSAGE,       SOTTO_DAP_INVALID_AGGREGATION_PARAMETER,
        SOTTO_DAP_UNSUPPORTED_EXTENSION, SOTTO_DAP_INVALID_EXTENSION};
    char type[128];
    sotto_dap_problem problem;

    if (response->status / 100 != 4 ||
        sotto_http_problem_type(type, sizeof type, response->body, NULL) != SOTTO_OK)
        return NULL;
    problem = sotto_dap_problem_of(type);
    for (size_t i = 0; i < sizeof finals / sizeof finals[0]; i++)
        if (problem == finals[i])
            return sotto_dap_problem_type(problem);
    return NULL;
}

static void tell_end(const sotto_collecting *s)
{
    const sotto_log_sink *log = s->server->log;
    char id[SOTTO_DAP_ID_TEXT_MAX];

    if (s->problem)
        sotto_log(log, SOTTO_LOG_WARNING, "collection.failed", sotto_log_task(id, s->task),
                  sotto_log_text("problem", s->problem));
    else
        sotto_log(log, SOTTO_LOG_INFO, "share.released", sotto_log_task(id, s->task),
                  sotto_log_uint("reports", s->reports));
}

static void on_stored_end(void *context, sotto_status status, const sotto_err *err)
{
    const sotto_collecting *s = context;

    (void)err;
    if (status == SOTTO_OK) {
        sotto_metrics_count(
            s->server->metrics,
            s->problem ? SOTTO_METRIC_COLLECTIONS_FAILED : SOTTO_METRIC_COLLECTIONS_DONE, 1);
        tell_end(s);
    }
    sotto_collection_waits_give(s->leader->waits, s->n,
                                status == SOTTO_OK && !s->problem ? sotto_buf_bytes(&s->answer)
                                                                  : sotto_bytes_of(NULL, 0));
    sotto_collection_end(
        context); /* if that failed, the lease runs out, and another step reads the row again */
}

void sotto_collection_finish(sotto_collecting *s)
{
    if (!s->problem)
        sotto_collection_waits_expect(s->leader->waits, s->n);
    sotto_collection_post(s, store_end, on_stored_end);
}

/* For an operator who wonders why a collection has no answer. */
static void note_retry(sotto_collecting *s, sotto_status status,
                       const sotto_http_response *response, const sotto_err *err)
{
    if (!response)
        (void)snprintf(s->retry, sizeof s->retry, "the helper does not answer: %.120s",
                       err ? err->reason : sotto_status_name(status));
    else if (response->status / 100 == 2)
        (void)snprintf(s->retry, sizeof s->retry, "%s",
                       response->body.len > 0 ? "the helper's answer is invalid"
                                              : "the helper is not ready");
    else
        (void)snprintf(s->retry, sizeof s->retry, "the helper said %u%s", response->status,
                       response->status == 503 ? ": its operator may hold the batch" : "");
}

static void on_share(void *context, sotto_status status, const sotto_http_response *response,
                     const sotto_err *err)
{
    sotto_collecting *s = context;

    if (status != SOTTO_OK) {
        note_retry(s, status, NULL, err);
        sotto_collection_try_later(s);
        return;
    }
    s->step->retry_after_ms = sotto_peer_wait_ms(response);
    s->problem = final_problem(response);
    s->answer = (sotto_buf){0};
    /* Not ready yet, or not what it should be: the same request asks again. */
    if (!s->problem && (response->status / 100 != 2 || response->body.len == 0 ||
                        write_answer(s, response->body, NULL) != SOTTO_OK)) {
        note_retry(s, SOTTO_OK, response, NULL);
        sotto_collection_try_later(s);
    } else if (s->problem == sotto_dap_problem_type(SOTTO_DAP_BATCH_MISMATCH))
        sotto_collection_repair(s);
    else
        sotto_collection_finish(s);
}

void sotto_collection_ask(sotto_collecting *s)
{
    sotto_peer_call call;
    bool made = sotto_peer_create(&call, s->task, SOTTO_DAP_AGGREGATE_SHARES,
                                  SOTTO_DAP_AGGREGATE_SHARE_REQ, sotto_buf_bytes(&s->request));

    call.http.max_response = 4 * sotto_release_sealed_size(s->task) + 4096;
    if (!made || sotto_host_call(s->server->host, &call.http, on_share, s, NULL) != SOTTO_OK)
        sotto_collection_try_later(s);
    sotto_peer_call_clear(&call);
}

/* ---- one step -------------------------------------------------------------------------------------------------------------- */

static void on_advanced(void *context, sotto_status status, const sotto_err *err)
{
    sotto_collecting *s = context;

    (void)err;
    if (status == SOTTO_STALE) {
        sotto_collection_end(s);
    } else if (status != SOTTO_OK && status != SOTTO_MISSING) {
        sotto_collection_try_later(s);
    } else if (status == SOTTO_OK && s->state == SOTTO_RELEASE_CLOSED) {
        sotto_metrics_count(s->server->metrics, SOTTO_METRIC_COLLECTIONS_CLOSED, s->closed_now);
        sotto_rate_tell(s->server->log, s->task, &s->rate);
        sotto_collection_ask(s);
    } else if (status == SOTTO_OK && s->state == SOTTO_RELEASE_WAITING) {
        sotto_rate_tell(s->server->log, s->task, &s->rate);
        sotto_lanes_flush(s->leader->lanes, s->task->n, &s->range);
        sotto_steps_wake(s->leader->steps);
        if (!s->busy) /* what it waits for may be hours away */
            sotto_collection_waits_release(s->leader->waits, s->n);
        sotto_step_wait(let_go(s), WAIT_MS);
    } else {
        sotto_step_done(let_go(s));
    }
}

/* Sized for the longest share of any task: the row says which task it is, and is not read yet. */
static size_t ceiling(const sotto_server *server)
{
    size_t longest = 0;
    const sotto_server_task *task;

    for (size_t i = 0; (task = sotto_tasks_at(server->tasks, i)) != NULL; i++)
        if (task->dap.sizes.out_share > longest)
            longest = task->dap.sizes.out_share;
    return MEMORY + 16 * longest;
}

void sotto_collection_step(sotto_leader *leader, sotto_step *step)
{
    sotto_collecting *s = sotto_alloc(sizeof *s);

    if (!s) {
        sotto_step_end(step); /* found again when its lease ends */
        return;
    }
    s->leader = leader;
    s->server = leader->server;
    s->step = step;
    s->n = step->n;
    sotto_arena_init(&s->arena, ceiling(leader->server));
    s->base = sotto_arena_here(&s->arena);
    sotto_collection_post(s, sotto_collection_advance, on_advanced);
}
