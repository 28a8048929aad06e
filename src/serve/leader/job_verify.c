/* The leader's side of a job's proofs. */
#include "serve/leader/job.h"

#include "base/arena.h"
#include "serve/tasks/answer.h"

#include <string.h>

static sotto_status first_step(sotto_leader_job *job, sotto_err *err)
{
    job->inputs = sotto_arena_take_array(&job->arena, job->count + 1, sizeof *job->inputs);
    if (!job->inputs)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job");
    for (size_t i = 0; i < job->count; i++) {
        const sotto_kept_report *r = &job->reports[i];

        memcpy(job->inputs[i].nonce, r->metadata.report_id, sizeof job->inputs[i].nonce);
        job->inputs[i].public_share = r->public_share;
        job->inputs[i].input_share = r->leader_share;
    }
    return job->task->method->two_server->leader_init(&job->task->vdaf, &job->verification,
                                                      &job->task->verifier, job->inputs, job->count,
                                                      &job->arena, err);
}

static size_t request_size(const sotto_leader_job *job)
{
    size_t size = 128;

    for (size_t i = 0; i < job->count; i++)
        size += sotto_kept_report_size(&job->reports[i]) - job->reports[i].leader_share.len +
                job->verification.outbound[i].len;
    return size;
}

static sotto_status write_request(sotto_leader_job *job, sotto_err *err)
{
    sotto_dap_job_init_req head = {.has_batch_id =
                                       job->task->dap.batch_mode == SOTTO_DAP_LEADER_SELECTED};
    size_t size = request_size(job);
    sotto_dap_list list;

    if (head.has_batch_id)
        memcpy(head.batch_id, job->batch.bytes, sizeof head.batch_id);
    SOTTO_TRY(sotto_buf_take(&job->request, &job->arena, size, err));
    SOTTO_TRY(sotto_dap_job_init_req_begin(&list, &job->request, &head, job->task->profile, err));
    for (size_t i = 0; i < job->count; i++) {
        const sotto_kept_report *r = &job->reports[i];

        if (job->verification.outbound[i].len > 0)
            SOTTO_TRY(sotto_dap_job_init_req_add(
                &list,
                &(sotto_dap_verify_init){r->metadata, r->public_share, r->helper,
                                         job->verification.outbound[i]},
                err));
    }
    SOTTO_TRY(sotto_dap_list_end(&list, err));
    if (list.count == 0)
        job->request.len = 0;
    sotto_resource_id(job->id, "aggregation job", job->task, sotto_buf_bytes(&job->request));
    return SOTTO_OK;
}

/* It holds the helper's shares, sealed to the helper, and times and ids of reports: no more for whoever finds the
 * database without its key than the segments that it was made from. */
static sotto_status seal_request(sotto_leader_job *job, sotto_err *err)
{
    uint8_t row[8];
    sotto_column_place place = sotto_leader_request_place(row, job);
    size_t size = job->request.len + SOTTO_COLUMN_OVERHEAD;

    SOTTO_TRY(sotto_buf_take(&job->sealed, &job->arena, size, err));
    return sotto_column_seal(&job->sealed, job->leader->server->columns, &place,
                             sotto_buf_bytes(&job->request), err);
}

sotto_status sotto_leader_prepare(sotto_leader_job *job, sotto_err *err)
{
    SOTTO_TRY(first_step(job, err));
    if (job->resumed)
        return SOTTO_OK;
    SOTTO_TRY(write_request(job, err));
    return seal_request(job, err);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

/* Matches the answers with the reports that were sent: same ids, same order, all of them. */
static sotto_status read_answer(const sotto_leader_job *job, sotto_bytes *inbound, uint8_t *errors,
                                sotto_err *err)
{
    sotto_dap_job_resp resp;
    sotto_dap_verify_resp item;
    sotto_reader in;

    SOTTO_TRY(sotto_dap_job_resp_decode(&resp, job->answer, job->task->profile, err));
    in = sotto_reader_over(resp.verify_resps);
    for (size_t i = 0; i < job->count; i++) {
        if (job->verification.outbound[i].len == 0)
            continue;
        if (!sotto_dap_job_resp_next(&in, &item) ||
            memcmp(item.report_id, job->reports[i].metadata.report_id, sizeof item.report_id) != 0)
            return sotto_fail(err, SOTTO_MALFORMED, "the helper answered for other reports");
        if (item.type == SOTTO_DAP_VERIFY_FINISH)
            return sotto_fail(err, SOTTO_MALFORMED, "the helper finished before its time");
        if (item.type == SOTTO_DAP_VERIFY_CONTINUE)
            inbound[i] = item.payload;
        else
            errors[i] = item.error ? item.error : SOTTO_REPORT_INVALID_MESSAGE;
    }
    if (sotto_dap_job_resp_next(&in, &item))
        return sotto_fail(err, SOTTO_MALFORMED, "the helper answered for more reports");
    return SOTTO_OK;
}

/* Whether the helper refused all that was sent, and only because its clock is behind ours: a later repetition of the
 * same request may succeed (DAP, "Leader Initialization"). A job's reports share a bucket, so it is all or none. */
static bool all_early(const sotto_leader_job *job, const uint8_t *errors)
{
    bool early = false;

    for (size_t i = 0; i < job->count; i++) {
        if (job->verification.outbound[i].len == 0)
            continue;
        if (errors[i] != SOTTO_REPORT_TOO_EARLY)
            return false;
        early = true;
    }
    return early;
}

static void count_report(sotto_leader_job *job, size_t i, uint8_t helper_error)
{
    if (job->verification.status[i] == SOTTO_OK) {
        sotto_sub_aggregate_count(&job->sub, &job->reports[i].metadata);
    } else if (helper_error) {
        job->causes[SOTTO_CAUSE_HELPER + (helper_error & 63u)]++;
    } else {
        job->causes[job->verification.status[i] == SOTTO_MALFORMED
                        ? SOTTO_REPORT_INVALID_MESSAGE
                        : SOTTO_REPORT_VDAF_VERIFY_ERROR]++;
    }
}

static sotto_status add_up(sotto_leader_job *job, sotto_err *err)
{
    size_t size = job->task->dap.sizes.out_share;
    const sotto_method *method = job->task->method;
    sotto_buf share;
    sotto_tally sum;

    SOTTO_TRY(sotto_buf_take(&share, &job->arena, size, err));
    SOTTO_TRY(method->two_server->tally_init(&sum, &job->task->vdaf, &job->arena, err));
    SOTTO_TRY(method->two_server->accumulate(&sum, &job->verification, 0, job->count, err));
    SOTTO_TRY(method->tally->encode(&sum, &share, err));
    return sotto_batch_seal_share(&job->sub.share, job->leader->server->columns, job->task, job->n,
                                  &job->batch, sotto_buf_bytes(&share), &job->arena, err);
}

sotto_status sotto_leader_conclude(sotto_leader_job *job, sotto_err *err)
{
    sotto_bytes *inbound = sotto_arena_take_array(&job->arena, job->count + 1, sizeof *inbound);
    uint8_t *errors = sotto_arena_take(&job->arena, job->count + 1);

    if (!inbound || !errors)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
    if (job->request.len > 0)
        SOTTO_TRY(read_answer(job, inbound, errors, err));
    if (all_early(job, errors))
        return sotto_fail(err, SOTTO_AGAIN, "too early by the helper's clock");
    SOTTO_TRY(job->task->method->two_server->leader_finish(&job->task->vdaf, &job->verification,
                                                           inbound, err));
    memset(&job->sub, 0, sizeof job->sub);
    memset(job->causes, 0, sizeof job->causes);
    job->sub.batch = job->batch;
    for (size_t i = 0; i < job->count; i++)
        count_report(job, i, errors[i]);
    return add_up(job, err);
}
