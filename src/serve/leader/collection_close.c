/* What a collection waits for, and how its batch closes. */
#include "serve/leader/collection_internal.h"

#include "base/arena.h"
#include "base/rule.h"
#include "dap/rejections.h"
#include "recipe/learning_slots.h"
#include "serve/leader/collection_waits.h"
#include "serve/tasks/rejection_counts.h"
#include "serve/tasks/release.h"
#include "serve/tasks/round_noise.h"
#include "serve/tasks/schema.h"

#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static sotto_status copy_bytes(sotto_collecting *s, sotto_buf *out, sotto_bytes from,
                               sotto_err *err)
{
    SOTTO_TRY(sotto_buf_take(out, &s->arena, from.len, err));
    if (from.len > 0)
        memcpy(out->data, from.data, from.len);
    out->len = from.len;
    return SOTTO_OK;
}

/* `request` of a closed row: our sealed share and the numbers, then the request's bytes. */
static sotto_status read_closed(sotto_collecting *s, sotto_bytes stored, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(stored);
    sotto_bytes own, request;

    s->reports = sotto_read_uint(&in, 8);
    s->first_bucket = sotto_read_uint(&in, 8);
    s->last_bucket = sotto_read_uint(&in, 8);
    own = sotto_read_opaque32(&in);
    request = sotto_read_opaque32(&in);
    SOTTO_TRY(sotto_reader_finish(&in, "closed collection", err));
    SOTTO_TRY(copy_bytes(s, &s->own, own, err));
    return copy_bytes(s, &s->request, request, err);
}

/* A repair fixes the sum anew and does not repeat the volume check. The receipt says what was checked when the batch
 * closed, whatever population the task has by now. */
static void read_checking(sotto_collecting *s, sotto_bytes stored)
{
    sotto_rejections rejections;

    s->rate.checking = sotto_dap_rejections_decode(&rejections, stored, NULL) == SOTTO_OK
                           ? rejections.rate
                           : SOTTO_RATE_UNTOLD; /* it closed before counts were kept */
}

static sotto_status read_row(sotto_tx *tx, sotto_collecting *s, sotto_err *err)
{
    sotto_buf query;
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT task, state, first_bucket, end_bucket, batch, query,"
                                " request, repairs, rejections FROM release WHERE n = ?1 {lock}",
                                err));
    sotto_sql_int(&q, 1, s->n);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return sotto_fail(err, SOTTO_MISSING, "the collection was deleted");
    s->task_row = sotto_sql_column_int(&q, 0);
    s->state = sotto_sql_column_int(&q, 1);
    s->range = (sotto_batch_range){.first_bucket = (uint64_t)sotto_sql_column_int(&q, 2),
                                   .end_bucket = (uint64_t)sotto_sql_column_int(&q, 3)};
    SOTTO_TRY(sotto_batch_key_read(&s->range.batch, sotto_sql_column_bytes(&q, 4), err));
    s->range.leader_selected = s->range.end_bucket == 0;
    s->repairs = sotto_sql_column_int(&q, 7);
    SOTTO_TRY(copy_bytes(s, &query, sotto_sql_column_bytes(&q, 5), err));
    s->query = sotto_buf_bytes(&query);
    if (s->state == SOTTO_RELEASE_CLOSED) {
        SOTTO_TRY(read_closed(s, sotto_sql_column_bytes(&q, 6), err));
        read_checking(s, sotto_sql_column_bytes(&q, 8));
    }
    return sotto_sql_run(&q, NULL, err);
}

/* ---- closing ------------------------------------------------------------------------------------------------------- */

/* Whether reports of these buckets still wait or are in a job. */
static sotto_status is_busy(sotto_tx *tx, const sotto_collecting *s, bool *busy, sotto_err *err)
{
    static const char *const statements[] = {
        "SELECT 1 FROM segment WHERE task = ?1 AND bucket >= ?2 AND bucket < ?3 LIMIT 1",
        "SELECT 1 FROM job WHERE task = ?1 AND bucket >= ?2 AND bucket < ?3 AND state = ?4 LIMIT 1",
    };

    *busy = false;
    for (unsigned i = 0; i < 2 && !*busy; i++) {
        sotto_sql q;

        SOTTO_TRY(sotto_sql_prepare(tx, &q, statements[i], err));
        sotto_sql_int(&q, 1, s->task->n);
        sotto_sql_int(&q, 2, (int64_t)s->range.first_bucket);
        sotto_sql_int(&q, 3, (int64_t)s->range.end_bucket);
        if (i == 1)
            sotto_sql_int(&q, 4, SOTTO_JOB_SENT);
        SOTTO_TRY(sotto_sql_any(&q, busy, err));
    }
    return SOTTO_OK;
}

/* A round that was asked for closes at its goal. When its grace is over, the least that may be released is enough. A round that devices
 * drew in secret waits for that time in any case: when it closes must not tell how many came. */
static bool waits_for_goal(const sotto_collecting *s, uint64_t reports)
{
    const sotto_learning *l = s->task->learning;

    if (!l || sotto_host_seconds(s->server->host) >= (int64_t)(s->task->dap.closes + l->grace))
        return false;
    if (SOTTO_RULE(leader_round_is_over) && sotto_learning_once(l))
        return true;
    return reports < l->goal;
}

/* Reports come for as long as devices send them, so a collection does not wait for a quiet moment. Once enough were
 * verified, its buckets take no more uploads, and it waits only for what was acknowledged by then. Below the minimum
 * they stay open, since what is missing may still come. */
static sotto_status shut_if_enough(sotto_tx *tx, const sotto_collecting *s, sotto_err *err)
{
    uint64_t verified;
    sotto_sql q;

    SOTTO_TRY(sotto_batch_count(tx, &verified, s->task->n, &s->range, err));
    if (verified < s->task->dap.min_batch_size || waits_for_goal(s, verified))
        return SOTTO_OK;
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE release SET shut = 1 WHERE n = ?1 AND shut = 0", err));
    sotto_sql_int(&q, 1, s->n);
    return sotto_sql_run(&q, NULL, err);
}

/* Of the batches that the leader selected, the oldest that nobody collected, that has enough reports and no job under
 * way. Reports that wait for a job are in no batch yet, so a steady stream of uploads does not delay a collection. */
static sotto_status pick_batch(sotto_tx *tx, sotto_collecting *s, bool *found, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "SELECT b.id FROM batch b WHERE b.task = ?1 AND NOT EXISTS"
                                " (SELECT 1 FROM release r WHERE r.task = b.task AND r.batch = b.id"
                                " AND r.state >= ?2) AND NOT EXISTS (SELECT 1 FROM job j"
                                " WHERE j.task = b.task AND j.state = ?4 AND j.batch = b.id)"
                                " AND (SELECT CAST(sum(a.reports) AS BIGINT)"
                                " FROM sub_aggregate a WHERE a.task = b.task AND a.batch = b.id)"
                                " >= ?3 ORDER BY b.added, b.id LIMIT 1",
                                err));
    sotto_sql_int(&q, 1, s->task->n);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_CLOSED);
    sotto_sql_int(&q, 3, (int64_t)s->task->dap.min_batch_size);
    sotto_sql_int(&q, 4, SOTTO_JOB_SENT);
    SOTTO_TRY(sotto_sql_step(&q, found, err));
    if (!*found)
        return SOTTO_OK;
    s->range.batch.len = SOTTO_BATCH_ID_SIZE;
    SOTTO_TRY(sotto_sql_column_fixed(&q, 0, s->range.batch.bytes, SOTTO_BATCH_ID_SIZE, err));
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE batch SET state = 1 WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, s->task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(s->range.batch.bytes, s->range.batch.len));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status write_request(sotto_collecting *s, const sotto_sub_aggregate *sum,
                                  sotto_err *err)
{
    size_t size = s->query.len + 256;
    sotto_dap_aggregate_share_req req = {.collection_req = s->query,
                                         .selector = sotto_release_selector(s->task, &s->range),
                                         .report_count = sum->reports};

    memcpy(req.checksum, sum->checksum, sizeof req.checksum);
    SOTTO_TRY(sotto_buf_take(&s->request, &s->arena, size, err));
    return sotto_dap_aggregate_share_req_encode(&s->request, &req, err);
}

/* Everything that is needed to finish, on disk before the helper is asked. */
static sotto_status store_closed(sotto_tx *tx, sotto_collecting *s, sotto_err *err)
{
    size_t size = s->own.len + s->request.len + 64;
    sotto_buf both;
    sotto_writer w;
    uint8_t memory[SOTTO_DAP_REJECTIONS_MAX];
    sotto_buf rejections = sotto_buf_over(memory, sizeof memory);
    sotto_sql q;

    SOTTO_TRY(sotto_buf_take(&both, &s->arena, size, err));
    w = sotto_writer_on(&both);
    sotto_write_uint(&w, s->reports, 8);
    sotto_write_uint(&w, s->first_bucket, 8);
    sotto_write_uint(&w, s->last_bucket, 8);
    sotto_write_opaque32(&w, sotto_buf_bytes(&s->own));
    sotto_write_opaque32(&w, sotto_buf_bytes(&s->request));
    SOTTO_TRY(sotto_writer_finish(&w, "closed collection", err));
    SOTTO_TRY(sotto_rejection_counts_fix(tx, &rejections, s->server, s->task, &s->range,
                                         s->rate.checking, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "UPDATE release SET state = ?2, batch = ?3, request = ?4,"
                                " reports = ?5, rejections = ?6 WHERE n = ?1",
                                err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_CLOSED);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(s->range.batch.bytes, s->range.batch.len));
    sotto_sql_bytes(&q, 4, sotto_buf_bytes(&both));
    sotto_sql_int(&q, 5, (int64_t)s->reports);
    sotto_sql_bytes(&q, 6, sotto_buf_bytes(&rejections));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status seal_own(sotto_tx *tx, sotto_collecting *s, const sotto_sub_aggregate *sum,
                             sotto_err *err)
{
    size_t size = sotto_release_sealed_size(s->task);

    s->reports = sum->reports;
    s->first_bucket = sum->first_bucket;
    s->last_bucket = sum->last_bucket;
    SOTTO_TRY(sotto_buf_take(&s->own, &s->arena, size, err));
    return sotto_release_seal(tx, &s->own, s->task, s->server->columns, SOTTO_LEADER, s->query, sum,
                              &s->arena, err);
}

sotto_status sotto_collection_fix(sotto_tx *tx, sotto_collecting *s, const sotto_sub_aggregate *sum,
                                  sotto_err *err)
{
    SOTTO_TRY(write_request(s, sum, err));
    SOTTO_TRY(seal_own(tx, s, sum, err));
    return store_closed(tx, s, err);
}

/* Another collection took some of its buckets while this one waited; or there are more reports than a sum may have. */
static sotto_status refuse(sotto_tx *tx, sotto_collecting *s, sotto_dap_problem problem,
                           sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE release SET state = ?2, problem = ?3 WHERE n = ?1", err));
    sotto_sql_int(&q, 1, s->n);
    sotto_sql_int(&q, 2, SOTTO_RELEASE_REFUSED);
    sotto_sql_text(&q, 3, sotto_dap_problem_type(problem));
    s->state = SOTTO_RELEASE_REFUSED;
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    return sotto_collection_waits_tell(tx, err);
}

/* Whether the helper let two reports of one slot pass, where one may be used. */
static sotto_status is_crowded(sotto_tx *tx, const sotto_collecting *s, bool *out, sotto_err *err)
{
    *out = false;
    if (sotto_learning_policy(s->task->learning) != SOTTO_ROUND_ONE_OF)
        return SOTTO_OK;
    for (uint64_t slot = s->range.first_bucket; slot < s->range.end_bucket && !*out; slot++) {
        uint64_t reports;

        SOTTO_TRY(sotto_batch_count(
            tx, &reports, s->task->n,
            &(sotto_batch_range){.first_bucket = slot, .end_bucket = slot + 1}, err));
        *out = reports > 1;
    }
    return SOTTO_OK;
}

/* Closes the batch if it is complete and large enough; else s->busy or s->state stay as they are. */
static sotto_status try_close(sotto_tx *tx, sotto_collecting *s, sotto_err *err)
{
    sotto_sub_aggregate sum;
    uint64_t reports;
    bool ready = true, crowded, may;

    SOTTO_TRY(sotto_release_lock(tx, s->task->n, true, err));
    if (s->range.leader_selected)
        SOTTO_TRY(pick_batch(tx, s, &ready, err));
    else
        SOTTO_TRY(sotto_batch_range_is_free(tx, &ready, s->task->n, &s->range, err));
    if (SOTTO_RULE(leader_one_sum_a_bucket) && !ready)
        return s->range.leader_selected ? SOTTO_OK : refuse(tx, s, SOTTO_DAP_BATCH_OVERLAP, err);
    if (!s->range.leader_selected)
        SOTTO_TRY(is_busy(tx, s, &s->busy, err));
    if (s->busy)
        return shut_if_enough(tx, s, err);
    SOTTO_TRY(sotto_batch_count(tx, &reports, s->task->n, &s->range, err));
    if (SOTTO_RULE(leader_round_largest) && s->task->learning &&
        reports > s->task->learning->largest)
        return refuse(tx, s, SOTTO_DAP_INVALID_BATCH_SIZE, err);
    if (waits_for_goal(s, reports))
        return SOTTO_OK;
    SOTTO_TRY(is_crowded(tx, s, &crowded, err));
    if (SOTTO_RULE(leader_one_of_a_slot) && crowded)
        return refuse(tx, s, SOTTO_DAP_INVALID_BATCH_SIZE, err);
    SOTTO_TRY(sotto_round_noise_may(tx, &may, s->task, err));
    if (SOTTO_RULE(leader_correlated_round_once) && !may)
        return refuse(tx, s, SOTTO_DAP_BATCH_OVERLAP, err);
    SOTTO_TRY(sotto_batch_sum(tx, &sum, s->server->columns, s->task, &s->range, &s->arena, err));
    if (SOTTO_RULE(leader_min_batch) && sum.reports < s->task->dap.min_batch_size)
        return SOTTO_OK;
    SOTTO_TRY(sotto_rate_check(tx, &s->rate, s->task, &s->range, sum.reports,
                               s->server->options.rate_history, err));
    /* It is held, with a row that says why. The operator's reason to release it is for the reports
     * that are in it now. */
    if (SOTTO_RULE(rate_held_by_leader) && s->rate.held)
        return shut_if_enough(tx, s, err);
    SOTTO_TRY(sotto_collection_fix(tx, s, &sum, err));
    s->state = SOTTO_RELEASE_CLOSED;
    s->closed_now = true;
    return SOTTO_OK;
}

sotto_status sotto_collection_read(sotto_tx *tx, sotto_collecting *s, sotto_err *err)
{
    sotto_arena_rollback(&s->arena, s->base);
    SOTTO_TRY(sotto_lease_check(tx, &s->step->lease, err));
    SOTTO_TRY(read_row(tx, s, err));
    s->task = sotto_tasks_by_row(s->server->tasks, s->task_row);
    return s->task ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "the collection's task is not known yet");
}

sotto_status sotto_collection_advance(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_collecting *s = context;

    s->busy = s->closed_now = false;
    s->rate = (sotto_rate){0};
    SOTTO_TRY(sotto_collection_read(tx, s, err));
    return s->state == SOTTO_RELEASE_WAITING ? try_close(tx, s, err) : SOTTO_OK;
}
