/* The helper's transaction: marks, sums, counts and the answer become true together, or not at all. */
#include "serve/helper/job.h"

#include "base/arena.h"
#include "recipe/learning_slots.h"
#include "serve/tasks/release.h"
#include "serve/tasks/schema.h"

#include "base/rule.h"

#include <string.h>

/* ---- is it known? ----------------------------------------------------------------------------------------- */

static sotto_status find_answer(sotto_tx *tx, sotto_helper_job *job, sotto_err *err)
{
    sotto_bytes stored;
    sotto_sql q;
    bool row;

    job->known = false;
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT answer, request FROM job WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, job->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(job->ask.id, sizeof job->ask.id));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (!row)
        return SOTTO_OK;
    job->other = job->chosen &&
                 !sotto_bytes_equal_vartime(sotto_sql_column_bytes(&q, 1),
                                            sotto_bytes_of(job->body_id, sizeof job->body_id));
    stored = sotto_sql_column_bytes(&q, 0);
    SOTTO_TRY(sotto_buf_take(&job->answer, &job->ask.arena, stored.len, err));
    if (stored.len > 0)
        memcpy(job->answer.data, stored.data, stored.len);
    job->answer.len = stored.len;
    job->known = true;
    return sotto_sql_run(&q, NULL, err);
}

/* *changed is set if a batch turns out to be closed. */
static sotto_status find_closed(sotto_tx *tx, sotto_helper_job *job, bool *changed, sotto_err *err)
{
    for (size_t i = 0; i < job->batch_count; i++) {
        sotto_helper_batch *b = &job->batches[i];
        bool closed;

        SOTTO_TRY(sotto_batch_is_closed(tx, &closed, job->ask.task->n, &b->sub.batch, err));
        if (SOTTO_RULE(helper_closed_batch) && closed && !b->closed)
            *changed = b->closed = true;
    }
    return SOTTO_OK;
}

sotto_status sotto_helper_look(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_helper_job *job = context;
    bool changed;

    SOTTO_TRY(find_answer(tx, job, err));
    if (job->known)
        return SOTTO_OK;
    return find_closed(tx, job, &changed, err);
}

/* ---- the commit --------------------------------------------------------------------------------------------- */

/* Takes the marks of every report in the sums. If one was taken meanwhile, the sums are wrong. */
static sotto_status take_marks(sotto_tx *tx, sotto_helper_job *job, sotto_err *err)
{
    for (size_t i = 0; i < job->count; i++)
        job->marks[i].wanted = job->reports[i].error == 0;
    SOTTO_TRY(sotto_report_ids_take(tx, job->ask.task->n, job->marks, job->count,
                                    &job->ask.server->replays, err));
    for (size_t i = 0; i < job->count; i++)
        if (SOTTO_RULE(helper_replays) && job->marks[i].wanted && job->marks[i].taken)
            job->changed = true;
    return SOTTO_OK;
}

/* Spends the token of every report in the sums. If another report had spent one, the sums are
 * wrong. */
static sotto_status spend_tokens(sotto_tx *tx, sotto_helper_job *job, sotto_err *err)
{
    size_t count = 0;

    if (!job->spends)
        return SOTTO_OK;
    for (size_t i = 0; i < job->count; i++)
        if (job->reports[i].error == 0)
            job->spend_list[count++] = &job->spends[i];
    SOTTO_TRY(sotto_tokens_spend(tx, job->spend_list, count, err));
    for (size_t i = 0; i < job->count; i++)
        if (job->reports[i].error == 0 && job->spends[i].spent)
            job->changed = job->reports[i].spent = true;
    return SOTTO_OK;
}

/* A round's sum has room for as many reports as its recipe says: numbers were proved to fit for these, and no more. */
static sotto_status find_over(sotto_tx *tx, sotto_helper_job *job, sotto_err *err)
{
    const sotto_server_task *task = job->ask.task;
    uint64_t there = 0;

    if (!task->learning)
        return SOTTO_OK;
    SOTTO_TRY(sotto_batch_count(
        tx, &there, task->n,
        &(sotto_batch_range){.first_bucket = task->dap.opens / task->dap.precision,
                             .end_bucket = task->dap.closes / task->dap.precision},
        err));
    for (size_t i = 0; i < job->count; i++)
        if (job->reports[i].error == 0 && ++there > task->learning->largest)
            job->changed = job->reports[i].over = true;
    return SOTTO_OK;
}

/* Where a round uses one report of a slot, the first that was valid is in the sum. A leader can't put a second beside it. */
static sotto_status find_crowded(sotto_tx *tx, sotto_helper_job *job, sotto_err *err)
{
    for (size_t b = 0; b < job->batch_count; b++) {
        uint64_t there = 0, slot = 0;
        bool counted = false;

        for (size_t i = 0; i < job->count; i++) {
            sotto_helper_report *r = &job->reports[i];

            if (r->batch != b || r->error != 0)
                continue;
            slot = r->init.metadata.time;
            if (!counted)
                SOTTO_TRY(sotto_batch_count(
                    tx, &there, job->ask.task->n,
                    &(sotto_batch_range){.first_bucket = slot, .end_bucket = slot + 1}, err));
            counted = true;
            if (++there > 1)
                job->changed = r->crowded = true;
        }
    }
    return SOTTO_OK;
}

static sotto_status store_sums(sotto_tx *tx, sotto_helper_job *job, sotto_err *err)
{
    for (size_t i = 0; i < job->batch_count; i++)
        if (job->batches[i].sub.reports > 0)
            SOTTO_TRY(sotto_batch_add(tx, job->ask.server->columns, job->ask.task, job->ask.n,
                                      &job->batches[i].sub, &job->ask.arena, err));
    return SOTTO_OK;
}

/* Each refusal is counted once, here, on the side that found it. */
static sotto_status count_rejections(sotto_tx *tx, const sotto_helper_job *job, sotto_err *err)
{
    for (size_t b = 0; b < job->batch_count; b++) {
        uint64_t causes[SOTTO_REPORT_ERRORS] = {0};

        for (size_t i = 0; i < job->count; i++)
            if (job->reports[i].batch == b)
                causes[job->reports[i].error]++;
        for (unsigned cause = 1; cause < SOTTO_REPORT_ERRORS; cause++)
            if (causes[cause] > 0)
                SOTTO_TRY(sotto_batch_reject(tx, job->ask.task->n, &job->batches[b].sub.batch,
                                             cause, job->ask.server->shard, causes[cause], err));
    }
    return SOTTO_OK;
}

static sotto_status store_answer(sotto_tx *tx, const sotto_helper_job *job, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(tx, &q,
                                "INSERT INTO job (n, task, id, state, bucket, batch, answer,"
                                " reports, request, added)"
                                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, {now})",
                                err));
    sotto_sql_int(&q, 1, job->ask.n);
    sotto_sql_int(&q, 2, job->ask.task->n);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(job->ask.id, sizeof job->ask.id));
    sotto_sql_int(&q, 4, SOTTO_JOB_DONE);
    sotto_sql_int(&q, 5, 0);
    sotto_sql_bytes(&q, 6, sotto_bytes_of(NULL, 0));
    sotto_sql_bytes(&q, 7, sotto_buf_bytes(&job->answer));
    sotto_sql_int(&q, 8, (int64_t)job->count);
    sotto_sql_bytes(&q, 9, sotto_bytes_of(job->body_id, sizeof job->body_id));
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_helper_commit(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_helper_job *job = context;

    job->changed = false;
    /* One at a time where reports are counted: two jobs at once would each find room. */
    SOTTO_TRY(sotto_release_lock(tx, job->ask.task->n, job->ask.task->learning != NULL, err));
    SOTTO_TRY(find_answer(tx, job, err));
    if (job->known)
        return SOTTO_OK;
    SOTTO_TRY(find_closed(tx, job, &job->changed, err));
    SOTTO_TRY(take_marks(tx, job, err));
    SOTTO_TRY(spend_tokens(tx, job, err));
    if (SOTTO_RULE(helper_round_largest) && !job->changed)
        SOTTO_TRY(find_over(tx, job, err));
    if (SOTTO_RULE(helper_one_of_a_slot) && !job->changed &&
        sotto_learning_policy(job->ask.task->learning) == SOTTO_ROUND_ONE_OF)
        SOTTO_TRY(find_crowded(tx, job, err));
    if (job->changed)
        return sotto_fail(err, SOTTO_STALE,
                          "reports were taken, tokens spent, a batch closed or a round full");
    SOTTO_TRY(store_sums(tx, job, err));
    SOTTO_TRY(count_rejections(tx, job, err));
    return store_answer(tx, job, err);
}
