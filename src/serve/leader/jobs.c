/* A job's way: form, store, send, finish. A step that fails is tried again by whoever claims the lease next. */
#include "serve/leader/job.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/leader/peer.h"
#include "serve/tasks/answer.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 256 << 20, MAX_REFUSALS = 8 };

static void end(sotto_leader_job *job)
{
    sotto_step *step = job->step;

    sotto_leader_let_go(job);
    sotto_arena_clear(&job->body);
    sotto_arena_clear(&job->arena);
    sotto_release(job, sizeof *job);
    /* Collections wait for jobs. They are hurried before the step is counted out: after that, the
     * leader may stop. */
    sotto_steps_hurry(step->steps, &sotto_leader_queues[SOTTO_LEADER_COLLECTIONS]);
    sotto_step_end(step);
}

/* Wiping what a job had takes a while: others wait for the store's thread. */
static void end_on_worker(void *context, sotto_worker *worker)
{
    (void)worker;
    end(context);
}

static void log_job(const sotto_leader_job *job, const char *event, const char *reason)
{
    const sotto_log_sink *log = job->leader->server->log;
    char id[SOTTO_DAP_ID_TEXT_MAX];
    sotto_log_field fields[3] = {
        {"reports", SOTTO_LOG_UINT, {.uint = sotto_leader_job_reports(job)}}};
    sotto_log_event e = {SOTTO_LOG_WARNING, event, fields, 1};

    if (job->task) { /* else it could not be read so far */
        sotto_dap_id_encode(id, sotto_bytes_of(job->task->dap.id, sizeof job->task->dap.id));
        fields[e.count++] = (sotto_log_field){"task", SOTTO_LOG_TEXT, {.text = id}};
    }
    if (reason)
        fields[e.count++] = (sotto_log_field){"reason", SOTTO_LOG_TEXT, {.text = reason}};
    if (log->write && e.level >= log->lowest)
        log->write(log->context, &e);
}

static void post(sotto_leader_job *job, sotto_db_fn *fn, sotto_db_done *done)
{
    job->db = (sotto_db_job){fn, job, done, job, NULL, SOTTO_OK, {0}};
    sotto_db_post(job->leader->server->db, &job->db);
}

/* ---- giving a job back ------------------------------------------------------------------------------------- */

static void on_released(void *context, sotto_status status, const sotto_err *err)
{
    (void)status; /* if even this fails, the lease runs out */
    (void)err;
    end(context);
}

/* The job stays on disk; somebody goes on with it after a while. */
static void try_later(sotto_leader_job *job, const char *reason)
{
    log_job(job, "job.retried", reason);
    sotto_step_note_retry(job->step, reason);
    sotto_metrics_count(job->leader->server->metrics, SOTTO_METRIC_JOBS_RETRIED, 1);
    post(job, sotto_leader_put_off, on_released);
}

/* Nothing is on disk yet: the segments wait again, for longer each time. Where reading them failed, one of them may be the
 * cause, and it is not known which. Each is then tried by itself, so that those that can be read become jobs. */
static void back_to_lanes(sotto_leader_job *job, const char *reason)
{
    sotto_server *server = job->leader->server;
    size_t full =
        sotto_leader_full_job(server, sotto_tasks_by_row(server->tasks, job->segments.task));

    log_job(job, "job.unformed", reason);
    sotto_leader_let_go(job); /* the database says whose they are now */
    for (size_t i = 0; i < job->segments.count; i++) {
        sotto_job_segment_tried(&job->segments.list[i], job->unread);
        (void)(sotto_lanes_add(job->leader->lanes, job->segments.task, job->segments.bucket,
                               &job->segments.list[i], full, sotto_clock_ms()) == SOTTO_OK);
    }
    end(job);
}

/* ---- finishing --------------------------------------------------------------------------------------------------- */

static void count_finished(const sotto_leader_job *job)
{
    sotto_metrics *m = job->leader->server->metrics;
    bool abandoned = job->causes[SOTTO_CAUSE_ABANDONED] > 0;

    sotto_metrics_count(m, abandoned ? SOTTO_METRIC_JOBS_ABANDONED : SOTTO_METRIC_JOBS_FINISHED, 1);
    sotto_metrics_count(m, SOTTO_METRIC_REPORTS_AGGREGATED, abandoned ? 0 : job->sub.reports);
    sotto_metrics_reports(m, job->causes, SOTTO_CAUSES);
}

/* The rows are gone for good: what they named may be overwritten. */
static void give_back(const sotto_leader_job *job)
{
    if (!job->leader->spool)
        return;
    for (size_t i = 0; i < job->segments.count; i++)
        sotto_spool_give_back(job->leader->spool, &job->places[i]);
    sotto_spool_give_back(job->leader->spool, &job->stored_request.place);
}

static void on_deleted(void *context, sotto_status status, const sotto_http_response *response,
                       const sotto_err *err)
{
    (void)context; /* whether the helper still keeps the job does not matter here */
    (void)status;
    (void)response;
    (void)err;
}

/* DAP, "Aggregation Job Abandonment and Deletion": so that the helper need not keep what nobody will ask for. */
static void let_helper_forget(const sotto_leader_job *job)
{
    sotto_server *server = job->leader->server;
    sotto_peer_call call;

    if (job->causes[SOTTO_CAUSE_ABANDONED] == 0 || job->place.len == 0)
        return;
    if (sotto_peer_delete(&call, job->task, job->place))
        (void)(sotto_host_call(server->host, &call.http, on_deleted, NULL, NULL) == SOTTO_OK);
    sotto_peer_call_clear(&call);
}

static void on_finished(void *context, sotto_status status, const sotto_err *err)
{
    sotto_leader_job *job = context;

    if (status == SOTTO_OK) {
        give_back(job);
        count_finished(job);
        let_helper_forget(job);
    }
    if (status != SOTTO_OK && status != SOTTO_STALE)
        try_later(job, err ? err->reason : NULL);
    else if (sotto_pool_post(job->leader->server->pool, end_on_worker, job, NULL) != SOTTO_OK)
        end(job);
}

static void conclude(void *context, sotto_worker *worker)
{
    sotto_leader_job *job = context;
    sotto_err err = {0};
    sotto_status status = sotto_leader_conclude(job, &err);

    (void)worker;
    if (status == SOTTO_OK) {
        post(job, sotto_leader_finish, on_finished);
    } else if (status == SOTTO_MALFORMED) {
        /* DAP: the leader must abandon a job whose answer is not one for its request. */
        log_job(job, "job.abandoned", err.reason);
        post(job, sotto_leader_abandon, on_finished);
    } else {
        try_later(job, err.reason);
    }
}

/* ---- sending ------------------------------------------------------------------------------------------------------- */

/* Refusals of the request itself. A missing task or token may still be added, so those are
 * retried. */
static bool is_final(unsigned status)
{
    return status == 400 || status == 413 || status == 415 || status == 422;
}

/* What the next attempt and the end of the job need to know of an answer. */
static void note_answer(sotto_leader_job *job, const sotto_http_response *response)
{
    sotto_bytes place;
    uint8_t *copy;

    job->step->retry_after_ms = sotto_peer_wait_ms(response);
    if (!sotto_http_response_field(response, "location", &place) || place.len == 0)
        return;
    copy = sotto_arena_take(&job->arena, place.len);
    if (!copy)
        return;
    memcpy(copy, place.data, place.len);
    job->place = sotto_bytes_of(copy, place.len);
}

/* On the client's thread, which must not wait. */
static void on_answer(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    sotto_leader_job *job = context;
    uint8_t *copy;
    char reason[SOTTO_STEP_REASON];

    if (status != SOTTO_OK) {
        (void)snprintf(reason, sizeof reason, "the helper does not answer: %.120s",
                       err ? err->reason : sotto_status_name(status));
        try_later(job, reason);
        return;
    }
    (void)snprintf(reason, sizeof reason, "the helper said %u%s", response->status,
                   response->status == 404 ? ": does it have the task? (`sotto admin task list`)"
                                           : "");
    note_answer(job, response);
    job->refused = is_final(response->status);
    if (job->refused && job->refusals + 1 >= MAX_REFUSALS) {
        log_job(job, "job.abandoned", reason); /* sending the same bytes again will not help */
        post(job, sotto_leader_abandon, on_finished);
        return;
    }
    if (response->status / 100 != 2 || response->body.len == 0) {
        try_later(job, reason); /* or it is not ready yet: the same request asks again */
        return;
    }
    copy = sotto_arena_take(&job->arena, response->body.len);
    if (!copy) {
        try_later(job, "out of memory");
        return;
    }
    memcpy(copy, response->body.data, response->body.len);
    job->answer = sotto_bytes_of(copy, response->body.len);
    if (sotto_pool_post(job->leader->server->pool, conclude, job, NULL) != SOTTO_OK)
        try_later(job, "the compute threads are busy");
}

static void send(sotto_leader_job *job)
{
    sotto_metrics *metrics = job->leader->server->metrics;
    sotto_peer_call call;
    sotto_err err = {0};
    bool made =
        sotto_peer_create(&call, job->task, SOTTO_DAP_AGGREGATION_JOBS,
                          SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, sotto_buf_bytes(&job->request));

    if (job->fold)
        sotto_peer_name_fold(&call, job->fold);
    if (!made ||
        sotto_host_call(job->leader->server->host, &call.http, on_answer, job, &err) != SOTTO_OK)
        try_later(job, err.reason);
    else
        sotto_metrics_count(metrics, SOTTO_METRIC_JOBS_SENT, 1);
    sotto_peer_call_clear(&call);
}

static void send_or_conclude(sotto_leader_job *job)
{
    if (job->request.len > 0)
        send(job);
    else if (sotto_pool_post(job->leader->server->pool, conclude, job, NULL) != SOTTO_OK)
        try_later(job, "the compute threads are busy");
}

/* ---- forming ---------------------------------------------------------------------------------------------------------- */

static void not_stored(sotto_leader_job *job, sotto_status status, const sotto_err *err)
{
    sotto_leader *leader = job->leader;

    /* The function itself refused. After any other failure the row may still appear, and its place is used no more. */
    if (status == SOTTO_STALE && leader->spool)
        sotto_spool_give_back(leader->spool, &job->stored_request.place);
    else
        atomic_fetch_add(&leader->in_doubt_bytes, (size_t)job->stored_request.place.len);
    back_to_lanes(job, err ? err->reason : NULL);
}

static void on_stored(void *context, sotto_status status, const sotto_err *err)
{
    sotto_leader_job *job = context;

    sotto_metrics_count(job->leader->server->metrics, SOTTO_METRIC_JOBS_FORMED, status == SOTTO_OK);
    job->on_disk = status == SOTTO_OK;
    if (job->on_disk)
        send_or_conclude(job);
    else
        not_stored(job, status, err);
}

static void on_request_spooled(void *context, sotto_status status, const sotto_err *err)
{
    sotto_leader_job *job = context;

    if (status == SOTTO_OK)
        post(job, sotto_leader_store, on_stored);
    else
        back_to_lanes(job, err->reason);
}

/* PostgreSQL takes longer over a long value than a file does. */
static void store(sotto_leader_job *job)
{
    const sotto_leader *leader = job->leader;
    sotto_spool *spool = leader->alone ? NULL : sotto_leader_spool_for(leader, job->sealed.len);

    if (!spool) {
        post(job, sotto_leader_store, on_stored);
        return;
    }
    job->stored_request = (sotto_spool_piece){.bytes = sotto_buf_bytes(&job->sealed)};
    job->spooled =
        (sotto_spool_job){&job->stored_request, 1, on_request_spooled, job, NULL, SOTTO_OK, {0}};
    sotto_spool_post(spool, &job->spooled);
}

/* Reports of unknown length are read as if they were short: no work begins before the length is known. */
static sotto_status load(sotto_leader_job *job, sotto_err *err)
{
    if (job->task && sotto_job_part_is_long(job->task))
        return sotto_leader_begin_long(job, err);
    if (!job->resumed && sotto_leader_is_cached(job))
        SOTTO_TRY(sotto_leader_load_cached(job, err));
    else
        SOTTO_TRY(sotto_leader_read(job, sotto_leader_load, err));
    job->unread = false;
    return job->task ? sotto_leader_begin(job, err) : SOTTO_OK;
}

static sotto_status prepare(sotto_leader_job *job, sotto_err *err)
{
    sotto_server *server = job->leader->server;

    job->unread = true;
    if (job->resumed)
        SOTTO_TRY(sotto_leader_read(job, sotto_leader_load_row, err));
    job->task = sotto_tasks_by_row(server->tasks, job->segments.task);
    SOTTO_TRY(load(job, err));
    job->unread = false;
    if (!job->task)
        return sotto_fail(err, SOTTO_MISSING, "the job's task is not known yet");
    if (!job->resumed && job->task->dap.batch_mode == SOTTO_DAP_LEADER_SELECTED)
        SOTTO_TRY(sotto_db_run(server->db, sotto_leader_pick_batch, job, err));
    else if (!job->resumed)
        job->batch = sotto_batch_of_bucket(job->bucket);
    return job->resumed ? SOTTO_OK : sotto_leader_write_request(job, err);
}

/* No report of it can be read by any means, so no operator has to decide: it is lost, as where only its segments
 * are gone. */
static bool give_up_lost(sotto_leader_job *job, const char *reason)
{
    job->task =
        job->lost ? sotto_tasks_by_row(job->leader->server->tasks, job->segments.task) : NULL;
    if (!job->task)
        return false;
    log_job(job, "job.abandoned", reason);
    post(job, sotto_leader_abandon, on_finished);
    return true;
}

static void form(void *context, sotto_worker *worker)
{
    sotto_leader_job *job = context;
    sotto_err err = {0};
    sotto_status status = prepare(job, &err);

    (void)worker;
    if (status != SOTTO_OK && job->resumed) {
        if (status == SOTTO_STALE)
            end(job);
        else if (!give_up_lost(job, err.reason))
            try_later(job, err.reason);
    } else if (status != SOTTO_OK && job->segments.count == 0) {
        end(job); /* other processes have all of it, or it can't be read */
    } else if (status != SOTTO_OK) {
        back_to_lanes(job, err.reason);
    } else if (job->resumed) {
        send_or_conclude(job);
    } else {
        store(job);
    }
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const sotto_job_segment *)a)->n, y = ((const sotto_job_segment *)b)->n;

    return (x > y) - (x < y);
}

/* A segment that was taken over and back may be listed twice. */
static void drop_twins(sotto_job_segments *segments)
{
    size_t kept = 0;

    for (size_t i = 0; i < segments->count; i++)
        if (i == 0 || segments->list[i].n != segments->list[kept - 1].n)
            segments->list[kept++] = segments->list[i];
        else
            sotto_cached_reports_free(segments->list[i].cached);
    segments->count = kept;
}

static sotto_leader_job *new_job(sotto_leader *leader, sotto_step *step)
{
    sotto_leader_job *job = sotto_alloc(sizeof *job);

    if (job) {
        job->leader = leader;
        job->step = step;
        job->n = step->n;
        sotto_arena_init(&job->arena, MEMORY);
        sotto_arena_init(&job->body, MEMORY);
    }
    return job;
}

/* False: the job, which has begun nothing, is gone, and so is its step. */
static bool start(sotto_leader_job *job)
{
    sotto_step *step = job->step;

    if (sotto_pool_post(job->leader->server->pool, form, job, NULL) == SOTTO_OK)
        return true;
    sotto_arena_clear(&job->body);
    sotto_arena_clear(&job->arena);
    sotto_release(job, sizeof *job);
    sotto_step_end(step);
    return false;
}

bool sotto_leader_job_start(sotto_leader *leader, sotto_job_segments *segments)
{
    const sotto_queue *jobs = &sotto_leader_queues[SOTTO_LEADER_JOBS];
    sotto_step *step = NULL;
    sotto_leader_job *job;
    int64_t n;

    if (sotto_row_number(&n, NULL) == SOTTO_OK)
        step = sotto_step_begin(leader->steps, jobs, n);
    job = step ? new_job(leader, step) : NULL;
    if (!job) {
        if (step)
            sotto_step_end(step);
        return false;
    }
    /* The order in which a restart would read them: the request must come out the same. */
    qsort(segments->list, segments->count, sizeof segments->list[0], by_number);
    drop_twins(segments);
    job->segments = *segments;
    job->bucket = segments->bucket;
    return start(job);
}

void sotto_leader_job_resume(sotto_leader *leader, sotto_step *step)
{
    sotto_leader_job *job = new_job(leader, step);

    if (!job) {
        sotto_step_end(step); /* found again when its lease ends */
        return;
    }
    job->resumed = job->on_disk = true;
    (void)start(job);
}
