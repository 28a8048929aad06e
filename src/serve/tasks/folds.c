#include "serve/tasks/folds.h"

#include "base/arena.h"
#include "base/rule.h"
#include "serve/tasks/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A share may cost so many bytes of the database for each of its reports. Marks, jobs and answers come on top. */
enum { SHARE_BYTES_A_REPORT = 128 };

static size_t full(const sotto_server_task *task)
{
    return task->vdaf.sizes.out_share / SHARE_BYTES_A_REPORT;
}

bool sotto_fold_is_wanted(const sotto_server_task *task, size_t reports)
{
    return reports < full(task);
}

/* ---- its number in a request -------------------------------------------------------------------------------- */

void sotto_fold_encode(char out[SOTTO_FOLD_TEXT], int64_t fold)
{
    (void)snprintf(out, SOTTO_FOLD_TEXT, "%" PRId64, fold & INT64_MAX);
}

int64_t sotto_fold_decode(sotto_bytes text)
{
    int64_t fold = 0;

    if (text.len == 0 || text.len >= SOTTO_FOLD_TEXT)
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        int64_t digit = text.data[i] - '0';

        if (SOTTO_RULE(fold_number_digits) && (digit < 0 || digit > 9))
            return 0;
        if (SOTTO_RULE(fold_number_fits) && fold > (INT64_MAX - digit) / 10)
            return 0;
        fold = 10 * fold + digit;
    }
    return fold;
}

/* ---- which one ------------------------------------------------------------------------------------------------ */

static sotto_bytes key_bytes(const sotto_batch_key *key)
{
    return sotto_bytes_of(key->bytes, key->len);
}

static void bind(sotto_sql *q, const sotto_server_task *task, const sotto_batch_key *batch,
                 int64_t fold)
{
    sotto_sql_int(q, 1, task->n);
    sotto_sql_bytes(q, 2, key_bytes(batch));
    sotto_sql_int(q, 3, fold);
}

/* Of this process alone, so that replicas don't wait for each other's. */
static sotto_status find_open(sotto_tx *tx, int64_t *fold, const sotto_server_task *task,
                              const sotto_batch_key *batch, unsigned shard, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT n FROM fold WHERE task = ?1 AND batch = ?2 AND shard = ?3"
                                " AND planned < ?4 ORDER BY n LIMIT 1",
                                err));
    bind(&q, task, batch, shard);
    sotto_sql_int(&q, 4, (int64_t)full(task));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    *fold = row ? sotto_sql_column_int(&q, 0) : 0;
    return row ? sotto_sql_run(&q, NULL, err) : SOTTO_OK;
}

sotto_status sotto_fold_choose(sotto_tx *tx, int64_t *fold, const sotto_server_task *task,
                               const sotto_batch_key *batch, unsigned shard, size_t reports,
                               sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(find_open(tx, fold, task, batch, shard, err));
    if (*fold == 0)
        SOTTO_TRY(sotto_row_number(fold, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO fold (task, batch, n, shard, planned, reports, share)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)"
                                " ON CONFLICT (task, batch, n) DO UPDATE"
                                " SET planned = fold.planned + ?5",
                                err));
    bind(&q, task, batch, *fold);
    sotto_sql_int(&q, 4, shard);
    sotto_sql_int(&q, 5, (int64_t)reports);
    sotto_sql_bytes(&q, 6, sotto_bytes_of(NULL, 0));
    return sotto_sql_run(&q, NULL, err);
}

/* ---- its share --------------------------------------------------------------------------------------------------- */

enum { ROW_NAME = 8 + 8 + 8 + SOTTO_BATCH_ID_SIZE };

/* Sealed to its row and to how many reports it has: an older share does not open in its place. */
static sotto_column_place place_of(uint8_t name[ROW_NAME], int64_t task, sotto_bytes batch,
                                   int64_t fold, uint64_t reports)
{
    sotto_buf out = sotto_buf_over(name, ROW_NAME);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, (uint64_t)task, 8);
    sotto_write_uint(&w, (uint64_t)fold, 8);
    sotto_write_uint(&w, reports, 8);
    sotto_write_bytes(&w, batch);
    return (sotto_column_place){"fold", "share", sotto_buf_bytes(&out)};
}

/* A share on its way between a row and a tally. */
typedef struct work {
    const sotto_column_keys *keys;
    const sotto_server_task *task;
    sotto_tally tally;
    sotto_buf plain;
} work;

static sotto_status begin(work *w, sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(w->task->method->two_server->tally_init(&w->tally, &w->task->vdaf, arena, err));
    return sotto_buf_take(&w->plain, arena, w->task->vdaf.sizes.out_share, err);
}

static sotto_status open_share(work *w, sotto_bytes batch, int64_t fold, uint64_t reports,
                               sotto_bytes sealed, sotto_err *err)
{
    uint8_t name[ROW_NAME];
    sotto_column_place place = place_of(name, w->task->n, batch, fold, reports);

    w->plain.len = 0;
    SOTTO_TRY(sotto_column_unseal(&w->plain, w->keys, &place, sealed, err));
    return w->task->method->tally->decode(&w->tally, sotto_buf_bytes(&w->plain), reports, err);
}

/* What the fold has so far, if it has anything. It stays locked. */
static sotto_status read_share(sotto_tx *tx, work *w, const sotto_sub_aggregate *sub,
                               sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT reports, share FROM fold WHERE task = ?1 AND batch = ?2"
                                " AND n = ?3 {lock}",
                                err));
    bind(&q, w->task, &sub->batch, sub->fold);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return SOTTO_OK;
    if (sotto_sql_column_int(&q, 0) > 0)
        SOTTO_TRY(open_share(w, key_bytes(&sub->batch), sub->fold,
                             (uint64_t)sotto_sql_column_int(&q, 0), sotto_sql_column_bytes(&q, 1),
                             err));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status write_share(sotto_tx *tx, work *w, const sotto_sub_aggregate *sub,
                                sotto_arena *arena, sotto_err *err)
{
    uint8_t name[ROW_NAME];
    sotto_column_place place =
        place_of(name, w->task->n, key_bytes(&sub->batch), sub->fold, w->tally.contributions);
    sotto_buf sealed;
    sotto_sql q;

    w->plain.len = 0;
    SOTTO_TRY(w->task->method->tally->encode(&w->tally, &w->plain, err));
    SOTTO_TRY(sotto_buf_take(&sealed, arena, w->plain.len + SOTTO_COLUMN_OVERHEAD, err));
    SOTTO_TRY(sotto_column_seal(&sealed, w->keys, &place, sotto_buf_bytes(&w->plain), err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE fold SET reports = ?4, share = ?5 WHERE task = ?1 AND"
                                " batch = ?2 AND n = ?3",
                                err));
    bind(&q, w->task, &sub->batch, sub->fold);
    sotto_sql_int(&q, 4, (int64_t)w->tally.contributions);
    sotto_sql_bytes(&q, 5, sotto_buf_bytes(&sealed));
    return sotto_sql_run(&q, NULL, err);
}

/* The helper learns of a fold by its first job. Two replicas may do so at the same time: then the second waits
 * for the first. */
static sotto_status make_sure(sotto_tx *tx, const sotto_server_task *task,
                              const sotto_sub_aggregate *sub, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO fold (task, batch, n, shard, planned, reports, share)"
                                " VALUES (?1, ?2, ?3, 0, 0, 0, ?4) ON CONFLICT DO NOTHING",
                                err));
    bind(&q, task, &sub->batch, sub->fold);
    sotto_sql_bytes(&q, 4, sotto_bytes_of(NULL, 0));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status add(sotto_tx *tx, work *w, const sotto_sub_aggregate *sub, sotto_arena *arena,
                        sotto_err *err)
{
    SOTTO_TRY(begin(w, arena, err));
    SOTTO_TRY(make_sure(tx, w->task, sub, err));
    SOTTO_TRY(read_share(tx, w, sub, err));
    SOTTO_TRY(w->task->method->tally->merge(&w->tally, sub->sum, err));
    return write_share(tx, w, sub, arena, err);
}

sotto_status sotto_fold_add(sotto_tx *tx, const sotto_column_keys *keys,
                            const sotto_server_task *task, const sotto_sub_aggregate *sub,
                            sotto_arena *arena, sotto_err *err)
{
    sotto_arena_mark here = sotto_arena_here(arena);
    sotto_status status = add(tx, &(work){.keys = keys, .task = task}, sub, arena, err);

    sotto_arena_rollback(arena, here);
    return status;
}

/* ---- all of a range ------------------------------------------------------------------------------------------------ */

/* Where the walk has come to. One row at a time, since the whole result of a statement is in
 * memory. */
typedef struct walk {
    sotto_batch_key after, last;
    int64_t after_fold;
} walk;

static sotto_status merge_next(sotto_tx *tx, work *w, sotto_tally *sum, walk *at, bool *row,
                               sotto_err *err)
{
    walk seen = *at;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT batch, n, reports, share FROM fold WHERE task = ?1"
                                " AND batch >= ?2 AND batch <= ?3 AND (batch > ?2 OR n > ?4)"
                                " AND reports > 0 ORDER BY batch, n LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, w->task->n);
    sotto_sql_bytes(&q, 2, key_bytes(&at->after));
    sotto_sql_bytes(&q, 3, key_bytes(&at->last));
    sotto_sql_int(&q, 4, at->after_fold);
    SOTTO_TRY(sotto_sql_step(&q, row, err));
    if (!*row)
        return SOTTO_OK;
    SOTTO_TRY(sotto_batch_key_read(&seen.after, sotto_sql_column_bytes(&q, 0), err));
    seen.after_fold = sotto_sql_column_int(&q, 1);
    SOTTO_TRY(open_share(w, key_bytes(&seen.after), seen.after_fold,
                         (uint64_t)sotto_sql_column_int(&q, 2), sotto_sql_column_bytes(&q, 3),
                         err));
    SOTTO_TRY(w->task->method->tally->merge(sum, &w->tally, err));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    *at = seen;
    return SOTTO_OK;
}

sotto_status sotto_folds_merge(sotto_tx *tx, sotto_tally *sum, const sotto_column_keys *keys,
                               const sotto_server_task *task, const sotto_batch_range *range,
                               sotto_arena *arena, sotto_err *err)
{
    work w = {.keys = keys, .task = task};
    walk at = {.after = sotto_batch_range_first(range),
               .last = sotto_batch_range_last(range),
               .after_fold = INT64_MIN};
    sotto_arena_mark here = sotto_arena_here(arena);
    bool row;

    SOTTO_TRY(begin(&w, arena, err));
    do
        SOTTO_TRY(merge_next(tx, &w, sum, &at, &row, err));
    while (row);
    sotto_arena_rollback(arena, here);
    return SOTTO_OK;
}

sotto_status sotto_fold_drop(sotto_tx *tx, int64_t task, const sotto_batch_key *batch, int64_t fold,
                             sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "DELETE FROM fold WHERE task = ?1 AND batch = ?2 AND n = ?3", err));
    sotto_sql_int(&q, 1, task);
    sotto_sql_bytes(&q, 2, key_bytes(batch));
    sotto_sql_int(&q, 3, fold);
    return sotto_sql_run(&q, NULL, err);
}
