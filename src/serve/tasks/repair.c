#include "serve/tasks/repair.h"

#include "base/rule.h"
#include "serve/tasks/schema.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 256 };

/* ---- listing ------------------------------------------------------------------------------------------------- */

/* The name that both sides have for a job is the hash of its request: the leader's id of it, and what the helper keeps
 * in place of the request. */
static const char *const statements[] = {
    "SELECT a.batch, a.job, a.reports, a.checksum, j.id FROM sub_aggregate a"
    " LEFT JOIN job j ON j.n = a.job WHERE a.task = ?1 AND a.batch >= ?2 AND a.batch <= ?3"
    " AND (a.batch > ?2 OR a.job > ?4) ORDER BY a.batch, a.job LIMIT 256",
    "SELECT a.batch, a.job, a.reports, a.checksum, j.request FROM sub_aggregate a"
    " LEFT JOIN job j ON j.n = a.job WHERE a.task = ?1 AND a.batch >= ?2 AND a.batch <= ?3"
    " AND (a.batch > ?2 OR a.job > ?4) ORDER BY a.batch, a.job LIMIT 256",
};

typedef struct place {
    sotto_batch_key batch;
    int64_t job;
} place;

static sotto_status read_place(place *out, const sotto_sql *q, sotto_err *err)
{
    SOTTO_TRY(sotto_batch_key_read(&out->batch, sotto_sql_column_bytes(q, 0), err));
    out->job = sotto_sql_column_int(q, 1);
    return SOTTO_OK;
}

/* A job without a row, or from before jobs had this name, is called zeros: no two sides agree on such by accident, since
 * count and checksum are compared as well. */
static sotto_status read_one(sotto_repair_row *out, const sotto_sql *q, sotto_err *err)
{
    sotto_bytes id = sotto_sql_column_bytes(q, 4);

    memset(out, 0, sizeof *out);
    out->n = sotto_sql_column_int(q, 1);
    out->job.report_count = (uint64_t)sotto_sql_column_int(q, 2);
    if (id.len == sizeof out->job.id)
        memcpy(out->job.id, id.data, id.len);
    return sotto_sql_column_fixed(q, 3, out->job.checksum, sizeof out->job.checksum, err);
}

/* A few hundred rows behind `at`, so that the database holds no more at once. */
static sotto_status read_some(sotto_tx *tx, sotto_repair_list *out, const char *sql, int64_t task,
                              const sotto_batch_key *last, place *at, size_t *rows, sotto_err *err)
{
    place seen = *at;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(at->batch.bytes, at->batch.len));
    sotto_sql_bytes(&q, 3, sotto_bytes_of(last->bytes, last->len));
    sotto_sql_int(&q, 4, at->job);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    for (*rows = 0; row; (*rows)++) {
        if (out->row_count == SOTTO_DAP_REPAIR_JOBS)
            return sotto_fail(err, SOTTO_TOO_LARGE, "a batch of too many jobs to compare");
        SOTTO_TRY(read_place(&seen, &q, err));
        SOTTO_TRY(read_one(&out->rows[out->row_count++], &q, err));
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    *at = seen;
    return SOTTO_OK;
}

static int by_id(const void *a, const void *b)
{
    const sotto_repair_row *x = a, *y = b;
    int order = memcmp(x->job.id, y->job.id, sizeof x->job.id);

    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* A job may have added to several buckets of the range. */
static void add_up(sotto_repair_list *list)
{
    qsort(list->rows, list->row_count, sizeof *list->rows, by_id);
    list->count = 0;
    for (size_t i = 0; i < list->row_count; i++) {
        const sotto_dap_repair_job *job = &list->rows[i].job;
        sotto_dap_repair_job *last = list->count ? &list->jobs[list->count - 1] : NULL;

        if (last && memcmp(last->id, job->id, sizeof job->id) == 0) {
            last->report_count += job->report_count;
            sotto_dap_checksum_merge(last->checksum, job->checksum);
        } else {
            list->jobs[list->count++] = *job;
        }
    }
}

sotto_status sotto_repair_read(sotto_tx *tx, sotto_repair_list *out, const sotto_server *server,
                               const sotto_server_task *task, const sotto_batch_range *range,
                               sotto_arena *arena, sotto_err *err)
{
    const char *sql = statements[server->role == SOTTO_HELPER];
    sotto_batch_key last = sotto_batch_range_last(range);
    place at = {.batch = sotto_batch_range_first(range), .job = INT64_MIN};
    size_t rows;

    *out = (sotto_repair_list){0};
    out->rows = sotto_arena_take_array(arena, SOTTO_DAP_REPAIR_JOBS, sizeof *out->rows);
    out->jobs = sotto_arena_take_array(arena, SOTTO_DAP_REPAIR_JOBS, sizeof *out->jobs);
    if (!out->rows || !out->jobs)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a batch's jobs");
    do
        SOTTO_TRY(read_some(tx, out, sql, task->n, &last, &at, &rows, err));
    while (rows == ROWS_AT_ONCE);
    add_up(out);
    return SOTTO_OK;
}

/* ---- comparing ----------------------------------------------------------------------------------------------- */

static bool is_same(const sotto_dap_repair_job *a, const sotto_dap_repair_job *b)
{
    return a->report_count == b->report_count &&
           memcmp(a->checksum, b->checksum, sizeof a->checksum) == 0;
}

/* Both ascend: one walk through the two. */
sotto_status sotto_repair_compare(sotto_repair_difference *out, const sotto_repair_list *ours,
                                  const sotto_dap_repair_req *theirs, sotto_arena *arena,
                                  sotto_err *err)
{
    size_t most = ours->count + theirs->count, i = 0;
    uint8_t *ids = sotto_arena_take_array(arena, most + 1, SOTTO_RESOURCE_ID_SIZE);
    sotto_reader in = sotto_reader_over(theirs->jobs);
    sotto_dap_repair_job their;
    bool more = sotto_dap_repair_req_next(&in, &their);

    *out = (sotto_repair_difference){.agreed = 0};
    if (!ids)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a batch's jobs");
    while (i < ours->count || more) {
        const sotto_dap_repair_job *our = i < ours->count ? &ours->jobs[i] : NULL;
        int order = !our ? 1 : !more ? -1 : memcmp(our->id, their.id, sizeof their.id);

        if (order == 0 && our && is_same(our, &their))
            out->agreed += our->report_count;
        else
            memcpy(ids + SOTTO_RESOURCE_ID_SIZE * out->jobs.count++,
                   order <= 0 ? our->id : their.id, SOTTO_RESOURCE_ID_SIZE);
        i += order <= 0;
        if (order >= 0)
            more = sotto_dap_repair_req_next(&in, &their);
    }
    out->jobs.dropped = sotto_bytes_of(ids, SOTTO_RESOURCE_ID_SIZE * out->jobs.count);
    return SOTTO_OK;
}

/* ---- dropping ------------------------------------------------------------------------------------------------- */

/* Whether another release than our own covers a batch. */
static sotto_status is_taken(sotto_tx *tx, bool *taken, int64_t task, const sotto_batch_key *batch,
                             int64_t own, sotto_err *err)
{
    bool bucket = batch->len == 8;
    uint64_t at = 0;
    sotto_sql q;

    for (size_t i = 0; bucket && i < 8; i++)
        at = at << 8 | batch->bytes[i];
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        bucket ? "SELECT 1 FROM release WHERE task = ?1 AND state >= ?2 AND n <> ?3"
                 " AND first_bucket <= ?4 AND end_bucket > ?4 LIMIT 1"
               : "SELECT 1 FROM release WHERE task = ?1 AND state >= ?2 AND n <> ?3"
                 " AND batch = ?4 LIMIT 1",
        err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_CLOSED);
    sotto_sql_int(&q, 3, own);
    if (bucket)
        sotto_sql_int(&q, 4, (int64_t)at);
    else
        sotto_sql_bytes(&q, 4, sotto_bytes_of(batch->bytes, batch->len));
    SOTTO_TRY(sotto_sql_step(&q, taken, err));
    return sotto_sql_run(&q, NULL, err);
}

/* One bucket of the job that is left out: it must not have been released, and its reports count as rejected. */
static sotto_status drop_part(sotto_tx *tx, const sotto_server *server,
                              const sotto_server_task *task, const sotto_batch_key *batch,
                              uint64_t reports, int64_t own, sotto_err *err)
{
    bool taken;

    SOTTO_TRY(is_taken(tx, &taken, task->n, batch, own, err));
    if (SOTTO_RULE(repair_whole_jobs) && taken)
        return sotto_fail(err, SOTTO_DENIED, "a bucket of this job was released");
    return sotto_batch_reject(tx, task->n, batch, SOTTO_CAUSE_DROPPED, server->shard, reports, err);
}

/* All that the job added, in whatever bucket. */
static sotto_status drop_job(sotto_tx *tx, uint64_t *dropped, const sotto_server *server,
                             const sotto_server_task *task, int64_t job, int64_t own,
                             sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT batch, job, reports FROM sub_aggregate WHERE task = ?1"
                                " AND job = ?2",
                                err));
    sotto_sql_int(&q, 1, task->n);
    sotto_sql_int(&q, 2, job);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint64_t reports = (uint64_t)sotto_sql_column_int(&q, 2);
        place at;

        SOTTO_TRY(read_place(&at, &q, err));
        SOTTO_TRY(drop_part(tx, server, task, &at.batch, reports, own, err));
        *dropped += reports;
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "DELETE FROM sub_aggregate WHERE task = ?1 AND job = ?2", err));
    sotto_sql_int(&q, 1, task->n);
    sotto_sql_int(&q, 2, job);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE job SET state = ?3 WHERE task = ?1 AND n = ?2", err));
    sotto_sql_int(&q, 1, task->n);
    sotto_sql_int(&q, 2, job);
    sotto_sql_int(&q, 3, SOTTO_JOB_DROPPED);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_repair_drop(sotto_tx *tx, uint64_t *dropped, const sotto_server *server,
                               const sotto_server_task *task, const sotto_repair_list *ours,
                               const sotto_dap_repair_resp *named, int64_t own, sotto_err *err)
{
    const uint8_t *id = named->dropped.data, *end = id + named->dropped.len;

    *dropped = 0;
    for (size_t i = 0; i < ours->row_count && id < end;) {
        int order = memcmp(ours->rows[i].job.id, id, SOTTO_RESOURCE_ID_SIZE);

        if (order > 0) {
            id += SOTTO_RESOURCE_ID_SIZE;
            continue;
        }
        /* A second row of the same job finds nothing left of it. */
        if (order == 0)
            SOTTO_TRY(drop_job(tx, dropped, server, task, ours->rows[i].n, own, err));
        i++;
    }
    return SOTTO_OK;
}
