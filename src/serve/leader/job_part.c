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

static void input_of(sotto_vdaf_report *inputs, const sotto_kept_report *reports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(inputs[i].nonce, reports[i].metadata.report_id, sizeof inputs[i].nonce);
        inputs[i].public_share = reports[i].public_share;
        inputs[i].input_share = reports[i].leader_share;
    }
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
    input_of(inputs, reports, count);
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

sotto_status sotto_job_part_open(sotto_job_part *part, size_t room, sotto_arena *arena,
                                 sotto_err *err)
{
    *part =
        (sotto_job_part){.reports = sotto_arena_take_array(arena, room + 1, sizeof *part->reports),
                         .batch = {.room = room},
                         .summed = true};
    return part->reports ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a job's reports");
}

sotto_status sotto_job_part_add(sotto_job_part *part, sotto_tally *sum,
                                const sotto_server_task *task, const sotto_kept_report *reports,
                                size_t count, sotto_arena *arena, sotto_err *err)
{
    const sotto_vdaf_server_ops *ops = task->method->two_server;
    sotto_kept_report *heads = part->reports + part->count;
    sotto_vdaf_report *inputs = sotto_arena_take_array(arena, count + 1, sizeof *inputs);

    if (!inputs)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job");
    SOTTO_TRY(keep_heads(heads, reports, count, arena, err));
    input_of(inputs, heads, count);
    SOTTO_TRY(
        ops->leader_join(&task->vdaf, &part->batch, &task->verifier, inputs, count, arena, err));
    SOTTO_TRY(ops->accumulate_awaited(sum, &part->batch, part->count, err));
    for (size_t i = 0; i < count; i++)
        heads[i].leader_share = sotto_bytes_of(NULL, 0);
    part->count += count;
    return SOTTO_OK;
}

sotto_status sotto_job_part_sum(sotto_job_part *part, sotto_tally *sum,
                                const sotto_server_task *task, const sotto_kept_report *reports,
                                size_t count, sotto_arena *arena, sotto_err *err)
{
    sotto_kept_report *mixed = sotto_arena_take_array(arena, count + 1, sizeof *mixed);

    if (!mixed)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job's reports");
    if (count > 0)
        memcpy(mixed, reports, count * sizeof *mixed);
    sotto_job_part_mix(mixed, count);
    SOTTO_TRY(sotto_job_part_open(part, count, arena, err));
    return sotto_job_part_add(part, sum, task, mixed, count, arena, err);
}
