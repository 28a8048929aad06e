/* How many reports of a batch were refused, and why: told to its collector, once the batch was released.
 *
 * Of a batch that is still open the counts say what arrives, report by report, to somebody who asks often; so there is
 * nothing to ask for before the sum itself was given away. */
#include "serve/answer.h"
#include "serve/leader.h"
#include "serve/schema.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "transport/dap_rejections.h"

#include <stdio.h>
#include <string.h>

typedef struct asked {
    sotto_server *server;
    const sotto_server_task *task;
    sotto_http_request *request;
    uint8_t id[SOTTO_RESOURCE_ID_SIZE];
    sotto_batch_range range;
    bool found;
    uint64_t reports[SOTTO_CAUSES];
} asked;

/* ---- which batch -------------------------------------------------------------------------------------------- */

static sotto_status read_range(asked *a, const sotto_sql *q, sotto_err *err)
{
    sotto_bytes batch = sotto_sql_column_bytes(q, 2);

    a->range = (sotto_batch_range){
        .leader_selected = a->task->dap.batch_mode == SOTTO_DAP_LEADER_SELECTED,
        .first_bucket = (uint64_t)sotto_sql_column_int(q, 0),
        .end_bucket = (uint64_t)sotto_sql_column_int(q, 1),
    };
    if (batch.len > sizeof a->range.batch.bytes)
        return sotto_fail(err, SOTTO_MALFORMED, "a batch's name of %zu bytes", batch.len);
    a->range.batch.len = batch.len;
    if (batch.len > 0)
        memcpy(a->range.batch.bytes, batch.data, batch.len);
    return SOTTO_OK;
}

/* Leader: the collector knows the job's id. */
static sotto_status find_job(sotto_tx *tx, asked *a, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT first_bucket, end_bucket, batch, state FROM release"
                                " WHERE task = ?1 AND id = ?2",
                                err));
    sotto_sql_int(&q, 1, a->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->id, sizeof a->id));
    SOTTO_TRY(sotto_sql_step(&q, &a->found, err));
    if (!a->found)
        return SOTTO_OK;
    a->found =
        !SOTTO_RULE(rejections_after_release) || sotto_sql_column_int(&q, 3) == SOTTO_RELEASE_DONE;
    SOTTO_TRY(read_range(a, &q, err));
    return sotto_sql_run(&q, NULL, err);
}

/* Helper: the collector knows the share's bytes. A task has few releases, so all are looked at, some at a time. */
static sotto_status find_share(sotto_tx *tx, asked *a, sotto_err *err)
{
    enum { ROWS_AT_ONCE = 16 };
    int64_t after = -1;
    unsigned rows;

    do {
        sotto_sql q;
        bool row;

        rows = 0;
        SOTTO_TRY(
            sotto_sql_prepare(tx, &q,
                              "SELECT first_bucket, end_bucket, batch, answer, n FROM release"
                              " WHERE task = ?1 AND state = ?2 AND n > ?3 ORDER BY n LIMIT 16",
                              err));
        sotto_sql_int(&q, 1, a->task->n);
        sotto_sql_int(&q, 2, SOTTO_RELEASE_DONE);
        sotto_sql_int(&q, 3, after);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        for (; row; rows++) {
            uint8_t id[SOTTO_RESOURCE_ID_SIZE];

            after = sotto_sql_column_int(&q, 4);
            sotto_dap_rejections_id(id, sotto_sql_column_bytes(&q, 3));
            if (memcmp(id, a->id, sizeof id) == 0) {
                a->found = true;
                SOTTO_TRY(read_range(a, &q, err));
                return sotto_sql_run(&q, NULL, err);
            }
            SOTTO_TRY(sotto_sql_step(&q, &row, err));
        }
    } while (rows == ROWS_AT_ONCE);
    return SOTTO_OK;
}

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    asked *a = context;

    a->found = false;
    if (a->server->options.role == SOTTO_LEADER)
        SOTTO_TRY(find_job(tx, a, err));
    else
        SOTTO_TRY(find_share(tx, a, err));
    if (!a->found)
        return SOTTO_OK;
    return sotto_batch_rejections(tx, a->reports, SOTTO_CAUSES, a->task->n, &a->range, err);
}

/* ---- answering ---------------------------------------------------------------------------------------------- */

/* "report_replayed"; "helper_report_replayed" for what the helper said to the leader. */
static void name_cause(char out[SOTTO_REJECTION_NAME], unsigned cause)
{
    if (cause == SOTTO_CAUSE_ABANDONED)
        (void)snprintf(out, SOTTO_REJECTION_NAME, "abandoned");
    else if (cause >= SOTTO_CAUSE_HELPER)
        (void)snprintf(out, SOTTO_REJECTION_NAME, "helper_%s",
                       sotto_dap_report_error_name((uint8_t)(cause - SOTTO_CAUSE_HELPER)));
    else
        (void)snprintf(out, SOTTO_REJECTION_NAME, "%s",
                       sotto_dap_report_error_name((uint8_t)cause));
}

/* Causes without a name share one, and are added up under it. */
static void gather(sotto_rejections *out, const uint64_t reports[SOTTO_CAUSES])
{
    memset(out, 0, sizeof *out);
    for (unsigned cause = 0; cause < SOTTO_CAUSES; cause++) {
        char name[SOTTO_REJECTION_NAME];
        size_t i = 0;

        if (reports[cause] == 0)
            continue;
        name_cause(name, cause);
        while (i < out->count && strcmp(out->items[i].cause, name) != 0)
            i++;
        if (i == SOTTO_REJECTION_CAUSES)
            continue; /* can't be: draft 18 names 11 causes, and each stands for two at most */
        if (i == out->count)
            memcpy(out->items[out->count++].cause, name, sizeof name);
        out->items[i].reports += reports[cause];
    }
}

static void answer(const asked *a)
{
    uint8_t memory[SOTTO_DAP_REJECTIONS_MAX];
    sotto_buf body = sotto_buf_over(memory, sizeof memory);
    sotto_http_field fields[] = {{"Content-Type", "application/json"}};
    sotto_rejections rejections;
    sotto_status status;

    gather(&rejections, a->reports);
    status = sotto_dap_rejections_encode(&body, &rejections, NULL);
    if (status != SOTTO_OK)
        sotto_problem_of(a->request, status, a->task);
    else
        sotto_http_answer(a->request, &(sotto_http_reply){200, fields, 1, sotto_buf_bytes(&body)});
}

static void get(void *context, sotto_worker *worker)
{
    asked *a = context;
    sotto_status status = sotto_db_read(a->server->db, look, a, NULL);

    (void)worker;
    if (status != SOTTO_OK)
        sotto_problem_of(a->request, status, a->task);
    else if (!a->found)
        (void)sotto_http_refuse(a->request, &(sotto_http_problem){.status = 404});
    else
        answer(a);
    sotto_release(a, sizeof *a);
}

void sotto_rejections_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                          sotto_http_request *request)
{
    asked *a = sotto_alloc(sizeof *a);
    sotto_status status;

    if (!a) {
        sotto_problem_of(request, SOTTO_NO_MEMORY, task);
        return;
    }
    a->server = server;
    a->task = task;
    a->request = request;
    memcpy(a->id, id.data, sizeof a->id);
    status = sotto_pool_post(server->pool, get, a, NULL);
    if (status != SOTTO_OK) {
        sotto_problem_of(request, status, task);
        sotto_release(a, sizeof *a);
    }
}
