#include "serve/tasks/repair.h"

#include "base/arena.h"
#include "base/rule.h"
#include "serve/tasks/folds.h"
#include "serve/tasks/schema.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_AT_ONCE = 256 };

/* ---- listing ------------------------------------------------------------------------------------------------- */

/* The name that both sides have for a job is the hash of its request: the leader's id of it, and what the helper keeps
 * in place of the request. */
static const char *const statements[] = {
    "SELECT a.batch, a.job, a.reports, a.checksum, j.id, a.fold FROM sub_aggregate a"
    " LEFT JOIN job j ON j.n = a.job WHERE a.task = ?1 AND a.batch >= ?2 AND a.batch <= ?3"
    " AND (a.batch > ?2 OR a.job > ?4) ORDER BY a.batch, a.job LIMIT 256",
    "SELECT a.batch, a.job, a.reports, a.checksum, j.request, a.fold FROM sub_aggregate a"
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

/* A job without a row, or from before jobs had this name, is called zeros. No two sides agree on such a name by
 * accident, since count and checksum are compared as well. */
static sotto_status read_one(sotto_repair_row *out, const sotto_sql *q, sotto_err *err)
{
    sotto_bytes id = sotto_sql_column_bytes(q, 4);

    memset(out, 0, sizeof *out);
    out->n = sotto_sql_column_int(q, 1);
    out->fold = sotto_sql_column_int(q, 5);
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

/* bad: one byte for each of list->jobs. */
typedef struct verdicts {
    uint8_t *bad;
    int64_t *folds; /* of bad jobs, ascending */
    size_t fold_count;
} verdicts;

static sotto_status begin_verdicts(verdicts *v, const sotto_repair_list *list, sotto_arena *arena,
                                   sotto_err *err)
{
    *v = (verdicts){.bad = sotto_arena_take(arena, list->count + 1), /* zeros */
                    .folds = sotto_arena_take_array(arena, list->row_count + 1, sizeof *v->folds)};
    return v->bad && v->folds ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a batch's jobs");
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The job of each row: both lists ascend by id. */
static size_t job_of(const sotto_repair_list *list, size_t row, size_t job)
{
    return job + (memcmp(list->rows[row].job.id, list->jobs[job].id, SOTTO_RESOURCE_ID_SIZE) != 0);
}

/* What is folded with a bad job is bad. A job that is folded is in one fold alone, so this is all. */
static void spread(verdicts *v, const sotto_repair_list *list)
{
    v->fold_count = 0;
    for (size_t row = 0, job = 0; row < list->row_count; row++) {
        job = job_of(list, row, job);
        if (v->bad[job] && list->rows[row].fold)
            v->folds[v->fold_count++] = list->rows[row].fold;
    }
    qsort(v->folds, v->fold_count, sizeof *v->folds, by_number);
    for (size_t row = 0, job = 0; row < list->row_count; row++) {
        job = job_of(list, row, job);
        if (SOTTO_RULE(folded_jobs_go_together) &&
            bsearch(&list->rows[row].fold, v->folds, v->fold_count, sizeof *v->folds, by_number))
            v->bad[job] = 1;
    }
}

static bool is_same(const sotto_dap_repair_job *a, const sotto_dap_repair_job *b)
{
    return a->report_count == b->report_count &&
           memcmp(a->checksum, b->checksum, sizeof a->checksum) == 0;
}

/* Two lists that ascend, walked together. */
typedef struct pair {
    const sotto_repair_list *ours;
    size_t i;
    sotto_reader in;
    bool more;
    sotto_dap_repair_job their;
    int order; /* of our job, compared with theirs: 0 is the same one */
} pair;

static bool look(pair *p)
{
    bool has_ours = p->i < p->ours->count;

    if (!has_ours && !p->more)
        return false;
    p->order = !has_ours  ? 1
               : !p->more ? -1
                          : memcmp(p->ours->jobs[p->i].id, p->their.id, sizeof p->their.id);
    return true;
}

static pair begin_pair(const sotto_repair_list *ours, const sotto_dap_repair_req *theirs)
{
    pair p = {.ours = ours, .in = sotto_reader_over(theirs->jobs)};

    p.more = sotto_dap_repair_req_next(&p.in, &p.their);
    return p;
}

static void go_on(pair *p)
{
    p->i += p->order <= 0;
    if (p->order >= 0)
        p->more = sotto_dap_repair_req_next(&p->in, &p->their);
}

sotto_status sotto_repair_compare(sotto_repair_difference *out, const sotto_repair_list *ours,
                                  const sotto_dap_repair_req *theirs, sotto_arena *arena,
                                  sotto_err *err)
{
    size_t most = ours->count + theirs->count;
    uint8_t *ids = sotto_arena_take_array(arena, most + 1, SOTTO_RESOURCE_ID_SIZE);
    verdicts v;

    *out = (sotto_repair_difference){.agreed = 0};
    if (!ids)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a batch's jobs");
    SOTTO_TRY(begin_verdicts(&v, ours, arena, err));
    for (pair p = begin_pair(ours, theirs); look(&p); go_on(&p))
        if (p.order <= 0)
            v.bad[p.i] = p.order < 0 || !is_same(&ours->jobs[p.i], &p.their);
    spread(&v, ours);
    for (pair p = begin_pair(ours, theirs); look(&p); go_on(&p)) {
        if (p.order <= 0 && !v.bad[p.i])
            out->agreed += ours->jobs[p.i].report_count;
        else
            memcpy(ids + SOTTO_RESOURCE_ID_SIZE * out->jobs.count++,
                   p.order <= 0 ? ours->jobs[p.i].id : p.their.id, SOTTO_RESOURCE_ID_SIZE);
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
                                "SELECT batch, job, reports, fold FROM sub_aggregate"
                                " WHERE task = ?1 AND job = ?2",
                                err));
    sotto_sql_int(&q, 1, task->n);
    sotto_sql_int(&q, 2, job);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint64_t reports = (uint64_t)sotto_sql_column_int(&q, 2);
        int64_t fold = sotto_sql_column_int(&q, 3);
        place at;

        SOTTO_TRY(read_place(&at, &q, err));
        SOTTO_TRY(drop_part(tx, server, task, &at.batch, reports, own, err));
        if (fold)
            SOTTO_TRY(sotto_fold_drop(tx, task->n, &at.batch, fold, err));
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

static void mark_named(verdicts *v, const sotto_repair_list *ours,
                       const sotto_dap_repair_resp *named)
{
    const uint8_t *id = named->dropped.data, *end = id + named->dropped.len;

    for (size_t i = 0; i < ours->count && id < end;) {
        int order = memcmp(ours->jobs[i].id, id, SOTTO_RESOURCE_ID_SIZE);

        v->bad[i] = order == 0;
        i += order <= 0;
        id += order > 0 ? SOTTO_RESOURCE_ID_SIZE : 0;
    }
}

sotto_status sotto_repair_drop(sotto_tx *tx, uint64_t *dropped, const sotto_server *server,
                               const sotto_server_task *task, const sotto_repair_list *ours,
                               const sotto_dap_repair_resp *named, int64_t own, sotto_arena *arena,
                               sotto_err *err)
{
    verdicts v;

    *dropped = 0;
    SOTTO_TRY(begin_verdicts(&v, ours, arena, err));
    mark_named(&v, ours, named);
    spread(&v, ours);
    for (size_t row = 0, job = 0; row < ours->row_count; row++) {
        job = job_of(ours, row, job);
        /* A second row of the same job finds nothing left of it. */
        if (v.bad[job])
            SOTTO_TRY(drop_job(tx, dropped, server, task, ours->rows[row].n, own, err));
    }
    return SOTTO_OK;
}
