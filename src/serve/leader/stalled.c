#include "serve/leader/stalled.h"

#include "recipe/learning.h"
#include "serve/tasks/batches.h"
#include "serve/tasks/schema.h"

#include <inttypes.h>
#include <stdio.h>

/* The oldest, as far as its reason needs it. */
typedef struct oldest {
    int64_t task;
    sotto_batch_range range;
} oldest;

/* By the index on a task's states: what was answered, which is most, is not read. */
#define STALLED                                                                                    \
    " FROM release r JOIN task t ON t.n = r.task WHERE t.role = ?1 AND t.n NOT IN (SELECT task"    \
    " FROM retired) AND r.state IN (?2, ?3) AND r.added <= {now} - ?4"

static void bind(sotto_sql *q)
{
    sotto_sql_int(q, 1, (int64_t)SOTTO_LEADER);
    sotto_sql_int(q, 2, SOTTO_RELEASE_WAITING);
    sotto_sql_int(q, 3, SOTTO_RELEASE_CLOSED);
    sotto_sql_int(q, 4, (int64_t)SOTTO_STALLED_SECONDS * 1000);
}

static sotto_status count(sotto_tx *tx, sotto_stalled *out, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*)" STALLED, err));
    bind(&q);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    out->count = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status find_oldest(sotto_tx *tx, sotto_stalled *out, oldest *o, sotto_err *err)
{
    sotto_bytes id;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT r.n, r.task, r.state, r.first_bucket, r.end_bucket,"
                                " {now} - r.added, t.id" STALLED " ORDER BY r.added, r.n LIMIT 1",
                                err));
    bind(&q);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row) { /* answered since it was counted */
        out->count = 0;
        return SOTTO_OK;
    }
    out->n = sotto_sql_column_int(&q, 0);
    o->task = sotto_sql_column_int(&q, 1);
    out->closed = sotto_sql_column_int(&q, 2) == SOTTO_RELEASE_CLOSED;
    o->range = (sotto_batch_range){.first_bucket = (uint64_t)sotto_sql_column_int(&q, 3),
                                   .end_bucket = (uint64_t)sotto_sql_column_int(&q, 4)};
    o->range.leader_selected = o->range.end_bucket == 0;
    out->seconds = sotto_sql_column_int(&q, 5) / 1000;
    id = sotto_sql_column_bytes(&q, 6);
    if (id.len == SOTTO_TASK_ID_SIZE)
        sotto_dap_id_encode(out->task, id);
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status any(sotto_tx *tx, bool *found, const char *sql, const oldest *o, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
    sotto_sql_int(&q, 1, o->task);
    sotto_sql_int(&q, 2, (int64_t)o->range.first_bucket);
    sotto_sql_int(&q, 3, (int64_t)o->range.end_bucket);
    return sotto_sql_any(&q, found, err);
}

/* What an operator can end comes first; then what only more reports can. */
static sotto_status explain(sotto_tx *tx, sotto_stalled *out, const oldest *o,
                            const sotto_server_task *task, sotto_err *err)
{
    uint64_t verified;
    bool unreadable, held;

    SOTTO_TRY(any(tx, &unreadable,
                  "SELECT 1 FROM segment WHERE task = ?1 AND bucket >= ?2 AND bucket < ?3 AND"
                  " unreadable IS NOT NULL LIMIT 1",
                  o, err));
    SOTTO_TRY(any(tx, &held,
                  "SELECT 1 FROM held WHERE task = ?1 AND first_bucket = ?2 AND end_bucket = ?3"
                  " AND reason IS NULL LIMIT 1",
                  o, err));
    if (unreadable)
        (void)snprintf(out->why, sizeof out->why,
                       "reports of it can't be read (`sotto admin segment list`)");
    else if (held)
        (void)snprintf(out->why, sizeof out->why, "it is held (`sotto admin batch list`)");
    else if (o->range.leader_selected)
        (void)snprintf(out->why, sizeof out->why,
                       "no further batch has %" PRIu64 " verified reports yet",
                       (uint64_t)task->dap.min_batch_size);
    if (out->why[0])
        return SOTTO_OK;
    SOTTO_TRY(sotto_batch_count(tx, &verified, o->task, &o->range, err));
    if (verified < task->dap.min_batch_size)
        (void)snprintf(out->why, sizeof out->why,
                       "too few reports: %" PRIu64 " of %" PRIu64
                       " are verified (its collector can `sotto collect --withdraw` it)",
                       verified, (uint64_t)task->dap.min_batch_size);
    else if (task->learning && verified < task->learning->goal)
        (void)snprintf(out->why, sizeof out->why,
                       "%" PRIu64 " of the round's goal of %" PRIu64
                       " reports are verified; it waits for more until its grace is over",
                       verified, task->learning->goal);
    else
        (void)snprintf(out->why, sizeof out->why, "reports of it are still under way");
    return SOTTO_OK;
}

sotto_status sotto_stalled_look(sotto_tx *tx, sotto_stalled *out, sotto_tasks *tasks,
                                sotto_err *err)
{
    const sotto_server_task *task;
    oldest o;

    *out = (sotto_stalled){0};
    SOTTO_TRY(count(tx, out, err));
    if (out->count == 0)
        return SOTTO_OK;
    SOTTO_TRY(find_oldest(tx, out, &o, err));
    if (out->count == 0)
        return SOTTO_OK;
    task = sotto_tasks_by_row(tasks, o.task);
    if (!task)
        (void)snprintf(out->why, sizeof out->why, "its task is not served");
    return task && !out->closed ? explain(tx, out, &o, task, err) : SOTTO_OK;
}
