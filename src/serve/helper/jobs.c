/* Aggregation jobs at the helper: from the request to the answer. Prio3 needs one step. */
#include "serve/helper/job.h"

#include "base/rule.h"
#include "serve/helper/helper_service.h"
#include "serve/tasks/answer.h"
#include "serve/tasks/metrics.h"
#include "serve/tasks/schema.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY = 256 << 20, TRIES = 8 };

static void give_up(sotto_helper_job *job, sotto_status status)
{
    sotto_metrics_count(job->ask.server->metrics, SOTTO_METRIC_JOBS_FAILED, 1);
    sotto_task_request_give_up(&job->ask, status);
}

static void refuse(sotto_helper_job *job, sotto_dap_problem problem, const char *detail)
{
    sotto_metrics_count(job->ask.server->metrics, SOTTO_METRIC_JOBS_REFUSED, 1);
    job->ask.detail = detail;
    sotto_task_request_refuse(&job->ask, problem);
}

/* ---- reading the request ------------------------------------------------------------------------------------- */

static int by_report_id(const void *a, const void *b)
{
    return memcmp(a, b, SOTTO_REPORT_ID_SIZE);
}

static bool ids_are_distinct(const sotto_helper_job *job, sotto_arena *scratch)
{
    uint8_t(*ids)[SOTTO_REPORT_ID_SIZE] = sotto_arena_take_array(scratch, job->count, sizeof *ids);

    if (!ids)
        return false;
    for (size_t i = 0; i < job->count; i++)
        memcpy(ids[i], job->reports[i].init.metadata.report_id, sizeof ids[i]);
    qsort(ids, job->count, sizeof *ids, by_report_id);
    for (size_t i = 1; i < job->count; i++)
        if (SOTTO_RULE(helper_distinct) && memcmp(ids[i - 1], ids[i], sizeof ids[i]) == 0)
            return false;
    return true;
}

/* The batch that a report goes to; it is added if it is new. False: too many for one job. */
static bool find_batch(sotto_helper_job *job, sotto_helper_report *r)
{
    sotto_batch_key key = sotto_batch_of_bucket(r->init.metadata.time);

    if (job->req.has_batch_id) {
        key.len = SOTTO_BATCH_ID_SIZE;
        memcpy(key.bytes, job->req.batch_id, SOTTO_BATCH_ID_SIZE);
    }
    for (r->batch = 0; r->batch < job->batch_count; r->batch++)
        if (memcmp(&job->batches[r->batch].sub.batch, &key, sizeof key) == 0)
            return true;
    if (job->batch_count == SOTTO_HELPER_MAX_BATCHES)
        return false;
    job->batches[job->batch_count++].sub.batch = key;
    return true;
}

static sotto_status take_memory(sotto_helper_job *job, sotto_err *err)
{
    job->count = job->req.count;
    job->reports = sotto_arena_take_array(&job->ask.arena, job->count, sizeof *job->reports);
    job->marks = sotto_arena_take_array(&job->ask.arena, job->count, sizeof *job->marks);
    job->batches =
        sotto_arena_take_array(&job->ask.arena, SOTTO_HELPER_MAX_BATCHES, sizeof *job->batches);
    if (!job->reports || !job->marks || !job->batches)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job");
    if (!job->ask.task->token_keys.issuer)
        return SOTTO_OK;
    job->spends = sotto_arena_take_array(&job->ask.arena, job->count, sizeof *job->spends);
    job->spend_list = sotto_arena_take_array(&job->ask.arena, job->count, sizeof(void *));
    if (!job->spends || !job->spend_list)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job's tokens");
    return SOTTO_OK;
}

/* NULL if the request is valid; else what is wrong with it. */
static const char *read_reports(sotto_helper_job *job, sotto_arena *scratch)
{
    sotto_reader in = sotto_reader_over(job->req.verify_inits);

    for (size_t i = 0; i < job->count; i++) {
        sotto_helper_report *r = &job->reports[i];

        if (!sotto_dap_job_init_req_next(&in, &r->init))
            return "a report is malformed";
        memcpy(job->marks[i].report, r->init.metadata.report_id, sizeof job->marks[i].report);
        job->marks[i].bucket = r->init.metadata.time & INT64_MAX;
        if (!find_batch(job, r))
            return "reports of too many batches";
    }
    return ids_are_distinct(job, scratch) ? NULL : "a report is listed twice";
}

/* False once it has answered. */
static bool read_request(sotto_helper_job *job, sotto_arena *scratch)
{
    sotto_status status = sotto_dap_job_init_req_decode(
        &job->req, sotto_http_request_body(job->ask.request), job->ask.task->profile, NULL);
    const char *wrong = NULL;

    if (status != SOTTO_OK)
        return refuse(job, sotto_dap_problem_of_status(status), NULL), false;
    if (job->req.agg_param.len != 0)
        return refuse(job, SOTTO_DAP_INVALID_AGGREGATION_PARAMETER, "Prio3 takes none"), false;
    if (job->req.verification_key_id != 0)
        wrong = "no such verification key";
    else if (job->req.has_batch_id != (job->ask.task->dap.batch_mode == SOTTO_DAP_LEADER_SELECTED))
        wrong = "a batch id does not belong to this batch mode, or is missing";
    else if (job->req.count == 0 || job->req.count > SOTTO_HELPER_MAX_REPORTS)
        wrong = "too many reports, or none";
    if (wrong)
        return refuse(job, SOTTO_DAP_INVALID_MESSAGE, wrong), false;
    status = take_memory(job, NULL);
    if (status != SOTTO_OK)
        return give_up(job, status), false;
    wrong = read_reports(job, scratch);
    if (wrong)
        return refuse(job, SOTTO_DAP_INVALID_MESSAGE, wrong), false;
    job->ask.base = sotto_arena_here(&job->ask.arena);
    return true;
}

/* ---- from request to answer ------------------------------------------------------------------------------------ */

static void count(const sotto_helper_job *job)
{
    uint64_t causes[SOTTO_REPORT_ERRORS] = {0};

    sotto_metrics_count(job->ask.server->metrics,
                        job->known ? SOTTO_METRIC_JOBS_REPEATED : SOTTO_METRIC_JOBS_ANSWERED, 1);
    if (job->known)
        return;
    for (size_t i = 0; i < job->count; i++)
        causes[job->reports[i].error]++;
    sotto_metrics_reports(job->ask.server->metrics, causes, SOTTO_REPORT_ERRORS);
    sotto_metrics_count(job->ask.server->metrics, SOTTO_METRIC_REPORTS_AGGREGATED, causes[0]);
}

static void answer(sotto_helper_job *job)
{
    if (job->other) {
        sotto_task_request_refuse_plainly(&job->ask, 409);
        return;
    }
    count(job);
    sotto_answer_message(job->ask.server, job->ask.request, 201, SOTTO_DAP_AGGREGATION_JOB_RESP,
                         sotto_buf_bytes(&job->answer), job->ask.task, SOTTO_DAP_AGGREGATION_JOBS,
                         sotto_bytes_of(job->ask.id, sizeof job->ask.id));
    sotto_task_request_finish(&job->ask);
}

static void on_committed(void *context, sotto_status status, const sotto_err *err);

static void verify_and_commit(void *context, sotto_worker *worker)
{
    sotto_helper_job *job = context;
    sotto_status status = sotto_helper_verify(job, worker, NULL);

    if (status != SOTTO_OK) {
        give_up(job, status);
        return;
    }
    /* Nothing of it was committed, and a later answer may differ. So this answer is sent but not stored, and the
     * same request is worked on again. The leader acknowledged these reports, and a wrong clock must not lose
     * them. */
    if (job->early) {
        answer(job);
        return;
    }
    sotto_task_request_store(&job->ask, sotto_helper_commit, on_committed);
}

static void on_committed(void *context, sotto_status status, const sotto_err *err)
{
    sotto_helper_job *job = context;

    (void)err;
    if (status == SOTTO_OK) {
        answer(job);
        return;
    }
    /* Another job took some of these reports, or a batch closed, after we looked: verify again without
     * them. */
    if (status == SOTTO_STALE && job->changed && ++job->tries < TRIES)
        status = sotto_pool_post(job->ask.server->pool, verify_and_commit, job, NULL);
    if (status != SOTTO_OK)
        give_up(job, status);
}

static void begin(void *context, sotto_worker *worker)
{
    sotto_helper_job *job = context;
    sotto_status status;

    sotto_resource_id(job->body_id, "aggregation job", job->ask.task,
                      sotto_http_request_body(job->ask.request));
    if (!job->chosen)
        memcpy(job->ask.id, job->body_id, sizeof job->ask.id);
    if (!read_request(job, worker->arena))
        return;
    status = sotto_row_number(&job->ask.n, NULL);
    if (status == SOTTO_OK)
        status = sotto_db_read(job->ask.server->db, sotto_helper_look, job, NULL);
    if (status != SOTTO_OK)
        give_up(job, status);
    else if (job->known)
        answer(job);
    else
        verify_and_commit(job, worker);
}

/* id: empty where it follows from the request. */
static void with_job(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                     sotto_http_request *request, sotto_work work)
{
    sotto_helper_job *job = sotto_task_request_new(sizeof *job, server, task, id, request, MEMORY);
    sotto_status status;

    if (!job)
        return;
    job->chosen = work == begin && id.len > 0;
    status = sotto_pool_post(server->pool, work, job, NULL);
    if (status != SOTTO_OK)
        give_up(job, status);
}

void sotto_helper_job_create(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                             sotto_http_request *request)
{
    with_job(server, task, id, request, begin);
}

/* ---- the job as a resource --------------------------------------------------------------------------------------- */

static void get(void *context, sotto_worker *worker)
{
    sotto_helper_job *job = context;
    sotto_status status = sotto_db_read(job->ask.server->db, sotto_helper_look, job, NULL);

    (void)worker;
    if (status != SOTTO_OK)
        give_up(job, status);
    else if (job->known)
        answer(job);
    else
        refuse(job, SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB, NULL);
}

void sotto_helper_job_get(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                          sotto_http_request *request)
{
    sotto_bytes step;

    if (sotto_http_request_parameter(request, "step", &step) &&
        !sotto_bytes_equal_vartime(step, sotto_bytes_of("0", 1)))
        sotto_problem(request, SOTTO_DAP_STEP_MISMATCH, NULL, task);
    else
        with_job(server, task, id, request, get);
}

/* Prio3 ends in its first step: there is no other to go on to, and no report that waits for one. */
static void refuse_step(void *context, sotto_worker *worker)
{
    sotto_helper_job *job = context;
    sotto_dap_job_continue_req req;
    sotto_status status = sotto_db_read(job->ask.server->db, sotto_helper_look, job, NULL);

    (void)worker;
    if (status != SOTTO_OK)
        give_up(job, status);
    else if (!job->known)
        refuse(job, SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB, NULL);
    else if (sotto_dap_job_continue_req_decode(&req, sotto_http_request_body(job->ask.request),
                                               job->ask.task->profile, NULL) != SOTTO_OK)
        refuse(job, SOTTO_DAP_INVALID_MESSAGE, NULL);
    else if (req.count > 0)
        refuse(job, SOTTO_DAP_INVALID_MESSAGE, "no report of this job waits for another step");
    else
        refuse(job, SOTTO_DAP_STEP_MISMATCH, NULL);
}

void sotto_helper_job_continue(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                               sotto_http_request *request)
{
    with_job(server, task, id, request, refuse_step);
}

/* Deletion is only noted. The reports were committed: marks and sums are for replay protection and batch
 * accounting. Without the row and its answer, the same request would be worked on again, with another answer. */
static sotto_status drop_answer(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_helper_job *job = context;
    sotto_sql q;
    uint64_t changed;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "UPDATE job SET state = ?3 WHERE task = ?1 AND id = ?2", err));
    sotto_sql_int(&q, 1, job->ask.task->n);
    sotto_sql_bytes(&q, 2, sotto_bytes_of(job->ask.id, sizeof job->ask.id));
    sotto_sql_int(&q, 3, SOTTO_JOB_ABANDONED);
    SOTTO_TRY(sotto_sql_run(&q, &changed, err));
    return changed ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "no such job");
}

static void delete (void *context, sotto_worker *worker)
{
    sotto_helper_job *job = context;
    sotto_status status = sotto_db_run(job->ask.server->db, drop_answer, job, NULL);

    (void)worker;
    if (status == SOTTO_MISSING) {
        refuse(job, SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB, NULL);
    } else if (status != SOTTO_OK) {
        give_up(job, status);
    } else {
        sotto_answer_nothing(job->ask.request);
        sotto_task_request_finish(&job->ask);
    }
}

void sotto_helper_job_delete(sotto_server *server, const sotto_server_task *task, sotto_bytes id,
                             sotto_http_request *request)
{
    with_job(server, task, id, request, delete);
}
