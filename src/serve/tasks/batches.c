/* Sub-aggregates, closed batches and counts of rejected reports. */
#include "serve/tasks/batches.h"

#include "base/arena.h"
#include "base/rule.h"
#include "dap/dap.h"
#include "serve/tasks/folds.h"
#include "serve/tasks/schema.h"

#include <string.h>

void sotto_sub_aggregate_count(sotto_sub_aggregate *sub, const sotto_report_metadata *metadata)
{
    if (sub->reports == 0 || metadata->time < sub->first_bucket)
        sub->first_bucket = metadata->time;
    if (sub->reports == 0 || metadata->time > sub->last_bucket)
        sub->last_bucket = metadata->time;
    sub->reports++;
    sotto_dap_checksum_add(sub->checksum, metadata->report_id);
}

sotto_batch_key sotto_batch_of_bucket(uint64_t bucket)
{
    sotto_batch_key key = {.len = 8};

    for (size_t i = 0; i < 8; i++)
        key.bytes[i] = (uint8_t)(bucket >> (56 - 8 * i));
    return key;
}

sotto_status sotto_batch_key_read(sotto_batch_key *out, sotto_bytes stored, sotto_err *err)
{
    *out = (sotto_batch_key){0};
    if (stored.len > sizeof out->bytes)
        return sotto_fail(err, SOTTO_MALFORMED, "a batch's name of %zu bytes", stored.len);
    out->len = stored.len;
    if (stored.len > 0)
        memcpy(out->bytes, stored.data, stored.len);
    return SOTTO_OK;
}

sotto_batch_key sotto_batch_range_first(const sotto_batch_range *range)
{
    return range->leader_selected ? range->batch : sotto_batch_of_bucket(range->first_bucket);
}

sotto_batch_key sotto_batch_range_last(const sotto_batch_range *range)
{
    return range->leader_selected ? range->batch : sotto_batch_of_bucket(range->end_bucket - 1);
}

static sotto_bytes key_bytes(const sotto_batch_key *key)
{
    return sotto_bytes_of(key->bytes, key->len);
}

/* Times are unsigned on the wire and signed in the database; a report whose time does not fit is
 * rejected. */
static uint64_t bucket_of(const sotto_batch_key *key)
{
    uint64_t bucket = 0;

    for (size_t i = 0; i < 8; i++)
        bucket = bucket << 8 | key->bytes[i];
    return bucket;
}

/* ---- closed batches ------------------------------------------------------------------------------- */

sotto_status sotto_batch_range_is_free(sotto_tx *tx, bool *is_free, int64_t task,
                                       const sotto_batch_range *range, sotto_err *err)
{
    sotto_sql q;
    bool taken;

    if (range->leader_selected) {
        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "SELECT 1 FROM release WHERE task = ?1 AND state >= ?2"
                                    " AND batch = ?3 LIMIT 1",
                                    err));
        sotto_sql_bytes(&q, 3, key_bytes(&range->batch));
    } else {
        SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                    "SELECT 1 FROM release WHERE task = ?1 AND state >= ?2"
                                    " AND first_bucket < ?3 AND end_bucket > ?4 LIMIT 1",
                                    err));
        sotto_sql_int(&q, 3, (int64_t)range->end_bucket);
        sotto_sql_int(&q, 4, (int64_t)range->first_bucket);
    }
    sotto_sql_int(&q, 1, task);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_CLOSED);
    SOTTO_TRY(sotto_sql_any(&q, &taken, err));
    *is_free = !taken;
    return SOTTO_OK;
}

sotto_status sotto_batch_is_closed(sotto_tx *tx, bool *closed, int64_t task,
                                   const sotto_batch_key *batch, sotto_err *err)
{
    sotto_batch_range range = {.leader_selected = batch->len != 8, .batch = *batch};
    bool is_free;

    if (!range.leader_selected) {
        range.first_bucket = bucket_of(batch);
        range.end_bucket = range.first_bucket + 1;
    }
    SOTTO_TRY(sotto_batch_range_is_free(tx, &is_free, task, &range, err));
    *closed = !is_free;
    return SOTTO_OK;
}

sotto_status sotto_batch_is_shut(sotto_tx *tx, bool *shut, int64_t task, uint64_t bucket,
                                 sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT 1 FROM release WHERE task = ?1 AND state >= ?2"
                                " AND (state >= ?3 OR shut = 1)"
                                " AND first_bucket <= ?4 AND end_bucket > ?4 LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_WAITING);
    sotto_sql_int(&q, 3, SOTTO_RELEASE_CLOSED);
    sotto_sql_int(&q, 4, (int64_t)bucket);
    return sotto_sql_any(&q, shut, err);
}

/* ---- sub-aggregates ------------------------------------------------------------------------------- */

enum { ROW_NAME = 8 + SOTTO_BATCH_ID_SIZE + 8 };

/* A share is sealed to its row: moved to another it does not open. */
static sotto_column_place place_of(uint8_t name[ROW_NAME], int64_t task, sotto_bytes batch,
                                   int64_t job)
{
    sotto_buf out = sotto_buf_over(name, ROW_NAME);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, (uint64_t)task, 8);
    sotto_write_uint(&w, (uint64_t)job, 8);
    sotto_write_bytes(&w, batch);
    return (sotto_column_place){"sub_aggregate", "share", sotto_buf_bytes(&out)};
}

sotto_status sotto_batch_add(sotto_tx *tx, const sotto_column_keys *keys,
                             const sotto_server_task *task, int64_t job,
                             const sotto_sub_aggregate *sub, sotto_arena *arena, sotto_err *err)
{
    sotto_sql q;

    if (sub->fold)
        SOTTO_TRY(sotto_fold_add(tx, keys, task, sub, arena, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO sub_aggregate (task, batch, job, reports, checksum,"
                                " first_bucket, last_bucket, share, fold)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                                err));
    sotto_sql_int(&q, 1, task->n);
    sotto_sql_bytes(&q, 2, key_bytes(&sub->batch));
    sotto_sql_int(&q, 3, job);
    sotto_sql_int(&q, 4, (int64_t)sub->reports);
    sotto_sql_bytes(&q, 5, sotto_bytes_of(sub->checksum, sizeof sub->checksum));
    sotto_sql_int(&q, 6, (int64_t)sub->first_bucket);
    sotto_sql_int(&q, 7, (int64_t)sub->last_bucket);
    sotto_sql_bytes(&q, 8, sub->fold ? sotto_bytes_of(NULL, 0) : sub->share);
    sotto_sql_int(&q, 9, sub->fold);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_batch_seal_share(sotto_bytes *sealed, const sotto_column_keys *keys,
                                    const sotto_server_task *task, int64_t job,
                                    const sotto_batch_key *batch, sotto_bytes share,
                                    sotto_arena *arena, sotto_err *err)
{
    uint8_t name[ROW_NAME];
    sotto_column_place place = place_of(name, task->n, key_bytes(batch), job);
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, arena, share.len + SOTTO_COLUMN_OVERHEAD, err));
    SOTTO_TRY(sotto_column_seal(&out, keys, &place, share, err));
    *sealed = sotto_buf_bytes(&out);
    return SOTTO_OK;
}

#define REPORTS_OF_RANGE(table)                                                                    \
    "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM " table                                 \
    " WHERE task = ?1 AND batch >= ?2 AND batch <= ?3"

static sotto_status count_range(sotto_tx *tx, const char *sql, uint64_t *reports, int64_t task,
                                const sotto_batch_range *range, sotto_err *err)
{
    sotto_batch_key first = sotto_batch_range_first(range), last = sotto_batch_range_last(range);
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, sql, err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, key_bytes(&first));
    sotto_sql_bytes(&q, 3, key_bytes(&last));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *reports = row ? (uint64_t)sotto_sql_column_int(&q, 0) : 0;
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_batch_count(sotto_tx *tx, uint64_t *reports, int64_t task,
                               const sotto_batch_range *range, sotto_err *err)
{
    return count_range(tx, REPORTS_OF_RANGE("sub_aggregate"), reports, task, range, err);
}

sotto_status sotto_batch_count_jobs(sotto_tx *tx, uint64_t *reports, int64_t task,
                                    const sotto_batch_range *range, sotto_err *err)
{
    return count_range(tx, REPORTS_OF_RANGE("job"), reports, task, range, err);
}

/* What the walk over a range's rows builds up. */
typedef struct adding {
    const sotto_column_keys *keys;
    const sotto_server_task *task;
    sotto_tally sum, one;
    sotto_buf plain;
    sotto_sub_aggregate *out;
} adding;

static sotto_status add_share(adding *a, const sotto_sql *q, uint64_t reports, sotto_err *err)
{
    uint8_t name[ROW_NAME];
    sotto_column_place place =
        place_of(name, a->task->n, sotto_sql_column_bytes(q, 0), sotto_sql_column_int(q, 1));

    a->plain.len = 0;
    SOTTO_TRY(sotto_column_unseal(&a->plain, a->keys, &place, sotto_sql_column_bytes(q, 6), err));
    SOTTO_TRY(a->task->method->tally->decode(&a->one, sotto_buf_bytes(&a->plain), reports, err));
    return a->task->method->tally->merge(&a->sum, &a->one, err);
}

static sotto_status add_row(adding *a, const sotto_sql *q, sotto_err *err)
{
    uint64_t reports = (uint64_t)sotto_sql_column_int(q, 2);
    uint64_t first = (uint64_t)sotto_sql_column_int(q, 4);
    uint64_t last = (uint64_t)sotto_sql_column_int(q, 5);
    uint8_t checksum[SOTTO_CHECKSUM_SIZE];

    SOTTO_TRY(sotto_sql_column_fixed(q, 3, checksum, sizeof checksum, err));
    if (sotto_sql_column_int(q, 7) == 0)
        SOTTO_TRY(add_share(a, q, reports, err));
    sotto_dap_checksum_merge(a->out->checksum, checksum);
    if (a->out->reports == 0 || first < a->out->first_bucket)
        a->out->first_bucket = first;
    if (a->out->reports == 0 || last > a->out->last_bucket)
        a->out->last_bucket = last;
    a->out->reports += reports;
    return SOTTO_OK;
}

enum { ROWS_AT_ONCE = 64 };

/* The position of a walk over a range's rows. A statement borrows its parameters until its last step, so this does not
 * change while rows are read. */
typedef struct walk {
    sotto_batch_key after, last; /* the last row read, or the first batch; the last batch */
    int64_t after_job;
} walk;

/* The next rows, so that a batch of any size needs the memory of a few shares. */
static sotto_status select_rows(sotto_tx *tx, sotto_sql *q, int64_t task, const walk *w,
                                sotto_err *err)
{
    SOTTO_TRY(sotto_sql_prepare(
        tx, q,
        "SELECT batch, job, reports, checksum, first_bucket, last_bucket, share, fold"
        " FROM sub_aggregate"
        " WHERE task = ?1 AND batch >= ?2 AND batch <= ?3"
        " AND (batch > ?2 OR job > ?4) ORDER BY batch, job LIMIT ?5",
        err));
    sotto_sql_int(q, 1, task);
    sotto_sql_bytes(q, 2, key_bytes(&w->after));
    sotto_sql_bytes(q, 3, key_bytes(&w->last));
    sotto_sql_int(q, 4, w->after_job);
    sotto_sql_int(q, 5, ROWS_AT_ONCE);
    return SOTTO_OK;
}

/* Adds the rows that are selected; *seen is the last of them. */
static sotto_status add_selected(adding *a, sotto_sql *q, walk *seen, size_t *rows, sotto_err *err)
{
    bool row;

    *rows = 0;
    SOTTO_TRY(sotto_sql_step(q, &row, err));
    while (row) {
        SOTTO_TRY(sotto_batch_key_read(&seen->after, sotto_sql_column_bytes(q, 0), err));
        seen->after_job = sotto_sql_column_int(q, 1);
        SOTTO_TRY(add_row(a, q, err));
        (*rows)++;
        SOTTO_TRY(sotto_sql_step(q, &row, err));
    }
    return SOTTO_OK;
}

static sotto_status add_rows(sotto_tx *tx, adding *a, const sotto_batch_range *range,
                             sotto_err *err)
{
    walk at = {.after = sotto_batch_range_first(range),
               .last = sotto_batch_range_last(range),
               .after_job = INT64_MIN};
    size_t rows;

    do {
        walk seen = at;
        sotto_sql q;

        SOTTO_TRY(select_rows(tx, &q, a->task->n, &at, err));
        SOTTO_TRY(add_selected(a, &q, &seen, &rows, err));
        at = seen;
    } while (rows == ROWS_AT_ONCE);
    return SOTTO_OK;
}

sotto_status sotto_batch_sum(sotto_tx *tx, sotto_sub_aggregate *sum, const sotto_column_keys *keys,
                             const sotto_server_task *task, const sotto_batch_range *range,
                             sotto_arena *arena, sotto_err *err)
{
    size_t size = task->vdaf.sizes.out_share;
    adding a = {.keys = keys, .task = task, .out = sum};
    const sotto_vdaf_server_ops *ops = task->method->two_server;
    sotto_buf out;

    memset(sum, 0, sizeof *sum);
    SOTTO_TRY(sotto_buf_take(&out, arena, size, err));
    SOTTO_TRY(sotto_buf_take(&a.plain, arena, size, err));
    SOTTO_TRY(ops->tally_init(&a.sum, &task->vdaf, arena, err));
    SOTTO_TRY(ops->tally_init(&a.one, &task->vdaf, arena, err));
    SOTTO_TRY(add_rows(tx, &a, range, err));
    SOTTO_TRY(sotto_folds_merge(tx, &a.sum, keys, task, range, arena, err));
    if (SOTTO_RULE(folds_are_complete) && a.sum.contributions != sum->reports)
        return sotto_fail(err, SOTTO_MALFORMED, "the batch's shares are not those of its jobs");
    SOTTO_TRY(task->method->tally->encode(&a.sum, &out, err));
    sum->share = sotto_buf_bytes(&out);
    return SOTTO_OK;
}

/* ---- what was rejected ---------------------------------------------------------------------------- */

sotto_status sotto_batch_reject(sotto_tx *tx, int64_t task, const sotto_batch_key *batch,
                                unsigned cause, unsigned shard, uint64_t reports, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO rejection (task, batch, cause, shard, reports)"
                                " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (task, batch, cause,"
                                " shard) DO UPDATE SET reports = rejection.reports + ?5",
                                err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, key_bytes(batch));
    sotto_sql_int(&q, 3, cause);
    sotto_sql_int(&q, 4, shard);
    sotto_sql_int(&q, 5, (int64_t)reports);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_batch_rejections(sotto_tx *tx, uint64_t *reports, size_t causes, int64_t task,
                                    const sotto_batch_range *range, sotto_err *err)
{
    sotto_batch_key first = sotto_batch_range_first(range), last = sotto_batch_range_last(range);
    sotto_sql q;
    bool row;

    memset(reports, 0, causes * sizeof *reports);
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT cause, CAST(sum(reports) AS BIGINT) FROM rejection"
                                " WHERE task = ?1 AND batch >= ?2 AND batch <= ?3 GROUP BY cause",
                                err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, key_bytes(&first));
    sotto_sql_bytes(&q, 3, key_bytes(&last));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint64_t cause = (uint64_t)sotto_sql_column_int(&q, 0);

        if (cause < causes)
            reports[cause] = (uint64_t)sotto_sql_column_int(&q, 1);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    return SOTTO_OK;
}

/* Keys of eight bytes are buckets: those of uploads and of what waits for a job, in this mode. */
sotto_status sotto_batch_claim_rejections(sotto_tx *tx, int64_t task, const sotto_batch_key *batch,
                                          unsigned shard, sotto_err *err)
{
    uint64_t reports[SOTTO_CAUSES] = {0};
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT cause, CAST(sum(reports) AS BIGINT) FROM rejection"
                                " WHERE task = ?1 AND length(batch) = 8 GROUP BY cause",
                                err));
    sotto_sql_int(&q, 1, task);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    while (row) {
        uint64_t cause = (uint64_t)sotto_sql_column_int(&q, 0);

        if (cause < SOTTO_CAUSES)
            reports[cause] = (uint64_t)sotto_sql_column_int(&q, 1);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "DELETE FROM rejection WHERE task = ?1 AND length(batch) = 8", err));
    sotto_sql_int(&q, 1, task);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    for (unsigned cause = 1; cause < SOTTO_CAUSES; cause++)
        if (reports[cause] > 0)
            SOTTO_TRY(sotto_batch_reject(tx, task, batch, cause, shard, reports[cause], err));
    return SOTTO_OK;
}
