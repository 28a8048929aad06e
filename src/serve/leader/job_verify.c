/* The leader's side of a job's proofs. */
#include "serve/leader/job.h"

#include "base/arena.h"
#include "serve/tasks/answer.h"

#include <string.h>

static sotto_status take_parts(sotto_leader_job *job, size_t count, sotto_err *err)
{
    job->parts = sotto_arena_take_array(&job->arena, count + 1, sizeof *job->parts);
    job->part_count = job->count = 0;
    return job->parts ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a job");
}

sotto_status sotto_leader_begin(sotto_leader_job *job, sotto_err *err)
{
    SOTTO_TRY(take_parts(job, 1, err));
    SOTTO_TRY(
        sotto_job_part_begin(&job->parts[0], job->task, job->records, job->read, &job->arena, err));
    job->part_count = 1;
    job->count = job->read;
    return SOTTO_OK;
}

/* ---- long reports: a segment at a time -------------------------------------------------------------------------- */

/* It is in memory, and summed already. */
static sotto_status take_begun(sotto_leader_job *job, sotto_cached_reports *cached, sotto_err *err)
{
    SOTTO_TRY(job->task->method->tally->merge(&job->sum, &cached->sum, err));
    sotto_cached_reports_forget_sum(cached);
    job->places[job->at] = cached->place;
    job->parts[job->part_count] = cached->part;
    return SOTTO_OK;
}

static sotto_status read_and_sum(sotto_leader_job *job, sotto_err *err)
{
    sotto_status status;

    sotto_cached_reports_free(job->segments.list[job->at].cached);
    job->segments.list[job->at].cached = NULL;
    job->left_out = false;
    status = sotto_leader_read(job, sotto_leader_load_segment, err);
    if (job->left_out)
        return SOTTO_OK;
    SOTTO_TRY(status);
    job->unread = false;
    return sotto_job_part_sum(&job->parts[job->part_count], &job->sum, job->task, job->records,
                              job->read, &job->arena, err);
}

/* The segment at job->at; it becomes the next of those that the job has, unless it is left out. */
static sotto_status begin_segment(sotto_leader_job *job, sotto_err *err)
{
    sotto_cached_reports *cached = job->segments.list[job->at].cached;
    bool begun = cached && cached->begun;
    sotto_status status = begun ? take_begun(job, cached, err) : read_and_sum(job, err);

    sotto_arena_reset(&job->body);
    SOTTO_TRY(status);
    job->unread = true;
    if (!begun && job->left_out)
        return SOTTO_OK;
    job->count += job->parts[job->part_count].count;
    job->places[job->part_count] = job->places[job->at];
    job->segments.list[job->part_count++] = job->segments.list[job->at];
    return SOTTO_OK;
}

sotto_status sotto_leader_begin_long(sotto_leader_job *job, sotto_err *err)
{
    size_t kept;
    sotto_status status = SOTTO_OK;

    SOTTO_TRY(sotto_leader_make_places(job, err));
    SOTTO_TRY(take_parts(job, job->segments.count, err));
    SOTTO_TRY(
        job->task->method->two_server->tally_init(&job->sum, &job->task->vdaf, &job->arena, err));
    for (job->at = 0; status == SOTTO_OK && job->at < job->segments.count; job->at++)
        status = begin_segment(job, err);
    /* Bodies of many megabytes, and the helper's answer may take a while. */
    sotto_arena_clear(&job->body);
    kept = job->part_count;
    /* Segments that were not reached still hold their reports. */
    for (size_t i = job->at - (status != SOTTO_OK); i < job->segments.count; i++)
        job->segments.list[kept++] = job->segments.list[i];
    job->segments.count = kept;
    SOTTO_TRY(status);
    return kept > 0 || job->resumed
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_MISSING, "nothing is left of these segments");
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

static size_t request_size(const sotto_leader_job *job)
{
    size_t size = 128;

    for (size_t p = 0; p < job->part_count; p++)
        for (size_t i = 0; i < job->parts[p].count; i++)
            size += job->parts[p].shares[i].len + 4 + job->parts[p].batch.outbound[i].len;
    return size;
}

static sotto_status write_part(sotto_dap_list *list, const sotto_job_part *part, sotto_err *err)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->batch.outbound[i].len > 0)
            SOTTO_TRY(sotto_dap_job_init_req_add_share(list, part->shares[i],
                                                       part->batch.outbound[i], err));
    return SOTTO_OK;
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
    for (size_t p = 0; p < job->part_count; p++)
        SOTTO_TRY(write_part(&list, &job->parts[p], err));
    SOTTO_TRY(sotto_dap_list_end(&list, err));
    if (list.count == 0)
        job->request.len = 0;
    sotto_resource_id(job->id, "aggregation job", job->task, sotto_buf_bytes(&job->request));
    return SOTTO_OK;
}

/* It holds the helper's shares, sealed to the helper, and times and ids of reports. Whoever finds the database
 * without its key learns no more from it than from the segments that it was made from. */
static sotto_status seal_request(sotto_leader_job *job, sotto_err *err)
{
    uint8_t row[8];
    sotto_column_place place = sotto_leader_request_place(row, job);
    size_t size = job->request.len + SOTTO_COLUMN_OVERHEAD;

    SOTTO_TRY(sotto_buf_take(&job->sealed, &job->arena, size, err));
    return sotto_column_seal(&job->sealed, job->leader->server->columns, &place,
                             sotto_buf_bytes(&job->request), err);
}

sotto_status sotto_leader_write_request(sotto_leader_job *job, sotto_err *err)
{
    SOTTO_TRY(write_request(job, err));
    return seal_request(job, err);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

/* What the helper says of each report, part after part. */
typedef struct answer {
    sotto_bytes *inbound;
    uint8_t *errors;
} answer;

/* Matches the answers with the reports that were sent: same ids, same order, all of them. */
static sotto_status read_part(const sotto_job_part *part, sotto_reader *in, answer out,
                              sotto_err *err)
{
    sotto_dap_verify_resp item;

    for (size_t i = 0; i < part->count; i++) {
        if (part->batch.outbound[i].len == 0)
            continue;
        if (!sotto_dap_job_resp_next(in, &item) ||
            memcmp(item.report_id, part->shares[i].data, sizeof item.report_id) != 0)
            return sotto_fail(err, SOTTO_MALFORMED, "the helper answered for other reports");
        if (item.type == SOTTO_DAP_VERIFY_FINISH)
            return sotto_fail(err, SOTTO_MALFORMED, "the helper finished before its time");
        if (item.type == SOTTO_DAP_VERIFY_CONTINUE)
            out.inbound[i] = item.payload;
        else
            out.errors[i] = item.error ? item.error : SOTTO_REPORT_INVALID_MESSAGE;
    }
    return SOTTO_OK;
}

static answer behind(answer a, const sotto_job_part *part)
{
    return (answer){a.inbound + part->count, a.errors + part->count};
}

static sotto_status read_answer(const sotto_leader_job *job, answer out, sotto_err *err)
{
    sotto_dap_job_resp resp;
    sotto_dap_verify_resp item;
    sotto_reader in;

    SOTTO_TRY(sotto_dap_job_resp_decode(&resp, job->answer, job->task->profile, err));
    in = sotto_reader_over(resp.verify_resps);
    for (size_t p = 0; p < job->part_count; p++) {
        SOTTO_TRY(read_part(&job->parts[p], &in, out, err));
        out = behind(out, &job->parts[p]);
    }
    if (sotto_dap_job_resp_next(&in, &item))
        return sotto_fail(err, SOTTO_MALFORMED, "the helper answered for more reports");
    return SOTTO_OK;
}

/* Whether the helper rejected all reports, and only because its clock is behind ours: a later repetition of the same
 * request may succeed (DAP, "Leader Initialization"). A job's reports share a bucket, so it is all or none. */
static bool all_early(const sotto_leader_job *job, answer a)
{
    bool early = false;

    for (size_t p = 0; p < job->part_count; p++) {
        for (size_t i = 0; i < job->parts[p].count; i++) {
            if (job->parts[p].batch.outbound[i].len == 0)
                continue;
            if (a.errors[i] != SOTTO_REPORT_TOO_EARLY)
                return false;
            early = true;
        }
        a = behind(a, &job->parts[p]);
    }
    return early;
}

static void count_held(sotto_leader_job *job, sotto_bytes report_share)
{
    sotto_reader in = sotto_reader_over(report_share);
    sotto_report_metadata metadata;

    sotto_report_metadata_read(&in, &metadata);
    sotto_sub_aggregate_count(&job->sub, &metadata);
}

static void count_report(sotto_leader_job *job, const sotto_job_part *part, size_t i,
                         uint8_t helper_error)
{
    sotto_status status = part->batch.status[i];

    if (status == SOTTO_OK)
        count_held(job, part->shares[i]);
    else if (helper_error)
        job->causes[SOTTO_CAUSE_HELPER + (helper_error & 63u)]++;
    else
        job->causes[status == SOTTO_MALFORMED ? SOTTO_REPORT_INVALID_MESSAGE
                                              : SOTTO_REPORT_VDAF_VERIFY_ERROR]++;
}

/* ---- the sum ---------------------------------------------------------------------------------------------------- */

static bool does_not_hold(const sotto_job_part *part, size_t i)
{
    return part->batch.outbound[i].len > 0 && part->batch.status[i] != SOTTO_OK;
}

static size_t count_off(const sotto_job_part *part)
{
    size_t off = 0;

    for (size_t i = 0; i < part->count; i++)
        off += does_not_hold(part, i);
    return off;
}

/* Reads the segment again. What fails here is tried later: the answer is the same then, and whoever resumes the job finds out
 * what is wrong with the segment. */
static sotto_status take_off(sotto_leader_job *job, size_t p, sotto_err *err)
{
    const sotto_vdaf_server_ops *ops = job->task->method->two_server;
    const sotto_job_part *part = &job->parts[p];
    sotto_job_part off;
    sotto_tally sum;
    size_t count = 0;

    job->at = p;
    if (sotto_leader_read(job, sotto_leader_load_segment, err) != SOTTO_OK || job->left_out ||
        job->read != part->count)
        return sotto_fail(err, SOTTO_IO, "a segment could not be read again");
    sotto_job_part_mix(job->records, job->read); /* as the part has them */
    for (size_t i = 0; i < part->count; i++)
        if (does_not_hold(part, i))
            job->records[count++] = job->records[i];
    SOTTO_TRY(ops->tally_init(&sum, &job->task->vdaf, &job->body, err));
    SOTTO_TRY(sotto_job_part_sum(&off, &sum, job->task, job->records, count, &job->body, err));
    if (sum.contributions != count)
        return sotto_fail(err, SOTTO_IO, "a segment is not the one that was sent");
    return ops->take_off(&job->sum, &sum, err);
}

static sotto_status sum_parts(sotto_leader_job *job, sotto_err *err)
{
    const sotto_vdaf_server_ops *ops = job->task->method->two_server;

    if (job->part_count == 0 || !job->parts[0].summed)
        SOTTO_TRY(ops->tally_init(&job->sum, &job->task->vdaf, &job->arena, err));
    for (size_t p = 0; p < job->part_count; p++) {
        const sotto_job_part *part = &job->parts[p];
        sotto_status status = SOTTO_OK;

        if (!part->summed) {
            status = ops->accumulate(&job->sum, &part->batch, 0, part->count, err);
        } else if (count_off(part) > 0) {
            status = take_off(job, p, err);
            sotto_arena_clear(&job->body);
        }
        SOTTO_TRY(status);
    }
    return SOTTO_OK;
}

static sotto_status add_up(sotto_leader_job *job, sotto_err *err)
{
    size_t size = job->task->dap.sizes.out_share;
    sotto_buf share;

    SOTTO_TRY(sum_parts(job, err));
    job->sub.fold = job->fold;
    job->sub.sum = &job->sum;
    if (job->fold)
        return SOTTO_OK;
    SOTTO_TRY(sotto_buf_take(&share, &job->arena, size, err));
    SOTTO_TRY(job->task->method->tally->encode(&job->sum, &share, err));
    return sotto_batch_seal_share(&job->sub.share, job->leader->server->columns, job->task, job->n,
                                  &job->batch, sotto_buf_bytes(&share), &job->arena, err);
}

sotto_status sotto_leader_conclude(sotto_leader_job *job, sotto_err *err)
{
    const sotto_vdaf_server_ops *ops = job->task->method->two_server;
    answer a = {sotto_arena_take_array(&job->arena, job->count + 1, sizeof *a.inbound),
                sotto_arena_take(&job->arena, job->count + 1)};

    if (!a.inbound || !a.errors)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer");
    if (job->request.len > 0)
        SOTTO_TRY(read_answer(job, a, err));
    if (all_early(job, a))
        return sotto_fail(err, SOTTO_AGAIN, "too early by the helper's clock");
    memset(&job->sub, 0, sizeof job->sub);
    memset(job->causes, 0, sizeof job->causes);
    job->sub.batch = job->batch;
    for (size_t p = 0; p < job->part_count; p++) {
        sotto_job_part *part = &job->parts[p];

        SOTTO_TRY(ops->leader_finish(&job->task->vdaf, &part->batch, a.inbound, err));
        for (size_t i = 0; i < part->count; i++)
            count_report(job, part, i, a.errors[i]);
        a = behind(a, part);
    }
    return add_up(job, err);
}
