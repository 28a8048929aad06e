/* How many reports of a batch were rejected, and why: told to its collector, once the batch was released.
 *
 * While a batch is open, its counts would say what arrives, report by report, to somebody who asks often. So they can
 * be asked for only once the sum itself was released, and do not change afterwards. */
#include "serve/tasks/rejection_counts.h"

#include "base/rule.h"
#include "recipe/learning_slots.h"
#include "serve/tasks/rate.h"
#include "serve/tasks/schema.h"
#include "serve/tasks/task_request.h"

#include "dap/rejections.h"

#include <stdio.h>
#include <string.h>

typedef struct asking {
    sotto_task_request ask;
    bool found;
    sotto_bytes counts; /* as they were fixed */
} asking;

/* ---- fixing ------------------------------------------------------------------------------------------------- */

/* "report_replayed"; "helper_report_replayed" for what the helper said to the leader. */
static void name_cause(char out[SOTTO_REJECTION_NAME], unsigned cause)
{
    if (cause == SOTTO_CAUSE_ABANDONED)
        (void)snprintf(out, SOTTO_REJECTION_NAME, "abandoned");
    else if (cause == SOTTO_CAUSE_UNREADABLE)
        (void)snprintf(out, SOTTO_REJECTION_NAME, "unreadable");
    else if (cause == SOTTO_CAUSE_DROPPED)
        (void)snprintf(out, SOTTO_REJECTION_NAME, "job_dropped");
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
            continue; /* can't be: 13 causes have a name, and each stands for two at most */
        if (i == out->count)
            memcpy(out->items[out->count++].cause, name, sizeof name);
        out->items[i].reports += reports[cause];
    }
}

sotto_status sotto_rejection_counts_fix(sotto_tx *tx, sotto_buf *out, const sotto_server *server,
                                        const sotto_server_task *task,
                                        const sotto_batch_range *range, sotto_rate_checking rate,
                                        sotto_err *err)
{
    uint64_t reports[SOTTO_CAUSES];
    sotto_rejections rejections;

    if (range->leader_selected)
        SOTTO_TRY(sotto_batch_claim_rejections(tx, task->n, &range->batch, server->shard, err));
    SOTTO_TRY(sotto_batch_rejections(tx, reports, SOTTO_CAUSES, task->n, range, err));
    /* Reports that gave way to another of their slot would tell how many came to a round that devices drew in secret. */
    if (SOTTO_RULE(round_drops_hidden) && sotto_learning_once(task->learning))
        memset(reports, 0, sizeof reports);
    gather(&rejections, reports);
    rejections.rate = rate;
    SOTTO_TRY(sotto_rate_population(tx, &rejections.population, task->n, err));
    return sotto_dap_rejections_encode(out, &rejections, err);
}

/* ---- which batch -------------------------------------------------------------------------------------------- */

/* Leader: the collector knows the job's id. */
static sotto_status find_job(sotto_tx *tx, asking *a, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT state, rejections FROM release WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, a->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(a->ask.id, sizeof a->ask.id));
    SOTTO_TRY(sotto_sql_step(&q, &a->found, err));
    if (!a->found)
        return SOTTO_OK;
    a->found = sotto_sql_column_int(&q, 0) == SOTTO_RELEASE_DONE;
    SOTTO_TRY(sotto_task_request_keep(&a->ask, &a->counts, sotto_sql_column_bytes(&q, 1), err));
    return sotto_sql_run(&q, NULL, err);
}

/* Helper: the collector knows the share's bytes. A task has few releases, so all are looked at, some at a time. */
static sotto_status find_share(sotto_tx *tx, asking *a, sotto_err *err)
{
    enum { ROWS_AT_ONCE = 16 };
    int64_t after = -1;
    unsigned rows;

    do {
        sotto_sql q;
        bool row;

        rows = 0;
        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "SELECT answer, n, rejections FROM release WHERE task = ?1"
                                    " AND state = ?2 AND n > ?3 ORDER BY n LIMIT 16",
                                    err));
        sotto_sql_int(&q, 1, a->ask.task->n);
        sotto_sql_int(&q, 2, SOTTO_RELEASE_DONE);
        sotto_sql_int(&q, 3, after);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
        for (; row; rows++) {
            uint8_t id[SOTTO_RESOURCE_ID_SIZE];

            after = sotto_sql_column_int(&q, 1);
            sotto_dap_rejections_id(id, sotto_sql_column_bytes(&q, 0));
            if (memcmp(id, a->ask.id, sizeof id) == 0) {
                a->found = true;
                SOTTO_TRY(sotto_task_request_keep(&a->ask, &a->counts,
                                                  sotto_sql_column_bytes(&q, 2), err));
                return sotto_sql_run(&q, NULL, err);
            }
            SOTTO_TRY(sotto_sql_step(&q, &row, err));
        }
    } while (rows == ROWS_AT_ONCE);
    return SOTTO_OK;
}

/* ---- answering ---------------------------------------------------------------------------------------------- */

static sotto_status look(sotto_tx *tx, void *context, sotto_err *err)
{
    asking *a = context;

    a->found = false;
    sotto_arena_rollback(&a->ask.arena, a->ask.base);
    return a->ask.server->role == SOTTO_LEADER ? find_job(tx, a, err) : find_share(tx, a, err);
}

static void get(void *context, sotto_worker *worker)
{
    asking *a = context;
    sotto_http_field fields[] = {{"Content-Type", "application/json"}};
    sotto_status status = sotto_db_read(a->ask.server->db, look, a, NULL);

    (void)worker;
    if (status != SOTTO_OK) {
        sotto_task_request_give_up(&a->ask, status);
    } else if (!a->found ||
               a->counts.len == 0) { /* none were fixed by the programs before this one */
        sotto_task_request_refuse_plainly(&a->ask, 404);
    } else {
        sotto_http_answer(a->ask.request, &(sotto_http_reply){200, fields, 1, a->counts});
        sotto_task_request_finish(&a->ask);
    }
}

void sotto_rejection_counts_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                                sotto_http_request *request)
{
    asking *a =
        sotto_task_request_new(sizeof *a, server, task, id, request, 4 * SOTTO_DAP_REJECTIONS_MAX);

    if (!a)
        return;
    sotto_task_request_work(&a->ask, get);
}
