#include "serve/leader/job_part.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

bool sotto_job_part_is_long(const sotto_server_task *task)
{
    enum { LONG = 8 << 10 };

    return task->dap.report_bytes >= LONG;
}

static int by_id(const void *a, const void *b)
{
    return memcmp(((const sotto_kept_report *)a)->metadata.report_id,
                  ((const sotto_kept_report *)b)->metadata.report_id, SOTTO_REPORT_ID_SIZE);
}

void sotto_job_part_mix(sotto_kept_report *reports, size_t count)
{
    if (count > 1)
        qsort(reports, count, sizeof *reports, by_id);
}

sotto_status sotto_job_part_begin(sotto_job_part *part, const sotto_server_task *task,
                                  sotto_kept_report *reports, size_t count, sotto_arena *arena,
                                  sotto_err *err)
{
    sotto_vdaf_report *inputs = sotto_arena_take_array(arena, count + 1, sizeof *inputs);

    sotto_job_part_mix(reports, count);
    *part = (sotto_job_part){.reports = reports, .count = count};
    if (!inputs)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job");
    for (size_t i = 0; i < count; i++) {
        memcpy(inputs[i].nonce, reports[i].metadata.report_id, sizeof inputs[i].nonce);
        inputs[i].public_share = reports[i].public_share;
        inputs[i].input_share = reports[i].leader_share;
    }
    return task->method->two_server->leader_init(&task->vdaf, &part->batch, &task->verifier, inputs,
                                                 count, arena, err);
}

static void move(sotto_bytes *bytes, sotto_buf *to)
{
    uint8_t *at = to->data + to->len;

    if (bytes->len > 0)
        memcpy(at, bytes->data, bytes->len);
    to->len += bytes->len;
    bytes->data = at;
}

/* All that the request is made from, and nothing of our own share. */
static sotto_status keep_heads(sotto_kept_report *out, const sotto_kept_report *reports,
                               size_t count, sotto_arena *arena, sotto_err *err)
{
    size_t size = 0;
    sotto_buf room;

    for (size_t i = 0; i < count; i++)
        size += sotto_kept_report_size(&reports[i]) - reports[i].leader_share.len;
    SOTTO_TRY(sotto_buf_take(&room, arena, size, err));
    for (size_t i = 0; i < count; i++) {
        out[i] = reports[i];
        move(&out[i].metadata.public_extensions, &room);
        move(&out[i].public_share, &room);
        move(&out[i].helper.enc, &room);
        move(&out[i].helper.payload, &room);
    }
    return SOTTO_OK;
}

sotto_status sotto_job_part_sum(sotto_job_part *part, sotto_tally *sum,
                                const sotto_server_task *task, const sotto_kept_report *reports,
                                size_t count, sotto_arena *arena, sotto_err *err)
{
    sotto_kept_report *heads = sotto_arena_take_array(arena, count + 1, sizeof *heads);

    if (!heads)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job's reports");
    SOTTO_TRY(keep_heads(heads, reports, count, arena, err));
    SOTTO_TRY(sotto_job_part_begin(part, task, heads, count, arena, err));
    SOTTO_TRY(task->method->two_server->accumulate_awaited(sum, &part->batch, err));
    for (size_t i = 0; i < count; i++)
        heads[i].leader_share = sotto_bytes_of(NULL, 0);
    part->summed = true;
    return SOTTO_OK;
}
