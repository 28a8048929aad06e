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
    return memcmp(((const sotto_bytes *)a)->data, ((const sotto_bytes *)b)->data,
                  SOTTO_REPORT_ID_SIZE);
}

void sotto_job_part_mix(sotto_bytes *records, size_t count)
{
    if (count > 1)
        qsort(records, count, sizeof *records, by_id);
}

/* What the first step takes of each, and its ReportShare; both lie in the records. */
static sotto_status read_records(sotto_vdaf_report **inputs, sotto_bytes **shares,
                                 sotto_bytes *records, size_t count, sotto_arena *arena,
                                 sotto_err *err)
{
    *inputs = sotto_arena_take_array(arena, count + 1, sizeof **inputs);
    *shares = sotto_arena_take_array(arena, count + 1, sizeof **shares);
    if (!*inputs || !*shares)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job");
    sotto_job_part_mix(records, count);
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(sotto_record_read(&(*inputs)[i], &(*shares)[i], records[i], err));
    return SOTTO_OK;
}

sotto_status sotto_job_part_begin(sotto_job_part *part, const sotto_server_task *task,
                                  sotto_bytes *records, size_t count, sotto_arena *arena,
                                  sotto_err *err)
{
    sotto_vdaf_report *inputs;

    *part = (sotto_job_part){.count = count};
    SOTTO_TRY(read_records(&inputs, &part->shares, records, count, arena, err));
    return task->method->two_server->leader_init(&task->vdaf, &part->batch, &task->verifier, inputs,
                                                 count, arena, err);
}

/* All that the request is made from, and nothing of our own share. */
static sotto_status keep_shares(sotto_bytes *kept, sotto_vdaf_report *inputs,
                                const sotto_bytes *shares, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    size_t size = 0;
    sotto_buf room;

    for (size_t i = 0; i < count; i++)
        size += shares[i].len;
    SOTTO_TRY(sotto_buf_take(&room, arena, size, err));
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = room.data + room.len;

        memcpy(at, shares[i].data, shares[i].len);
        room.len += shares[i].len;
        if (inputs[i].public_share.len > 0)
            inputs[i].public_share.data = at + (inputs[i].public_share.data - shares[i].data);
        kept[i] = sotto_bytes_of(at, shares[i].len);
    }
    return SOTTO_OK;
}

sotto_status sotto_job_part_open(sotto_job_part *part, size_t room, sotto_arena *arena,
                                 sotto_err *err)
{
    *part =
        (sotto_job_part){.shares = sotto_arena_take_array(arena, room + 1, sizeof *part->shares),
                         .batch = {.room = room},
                         .summed = true};
    return part->shares ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "a job's reports");
}

sotto_status sotto_job_part_add(sotto_job_part *part, sotto_tally *sum,
                                const sotto_server_task *task, const sotto_vdaf_report *inputs,
                                const sotto_bytes *report_shares, size_t count, sotto_arena *arena,
                                sotto_err *err)
{
    const sotto_vdaf_server_ops *ops = task->method->two_server;
    sotto_vdaf_report *own = sotto_arena_take_array(arena, count + 1, sizeof *own);

    if (!own)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job");
    if (count > 0)
        memcpy(own, inputs, count * sizeof *own);
    SOTTO_TRY(keep_shares(part->shares + part->count, own, report_shares, count, arena, err));
    SOTTO_TRY(ops->leader_join(&task->vdaf, &part->batch, &task->verifier, own, count, arena, err));
    SOTTO_TRY(ops->accumulate_awaited(sum, &part->batch, part->count, err));
    for (size_t i = 0; i < count; i++)
        own[i].input_share = sotto_bytes_of(NULL, 0);
    part->count += count;
    return SOTTO_OK;
}

sotto_status sotto_job_part_sum(sotto_job_part *part, sotto_tally *sum,
                                const sotto_server_task *task, sotto_bytes *records, size_t count,
                                sotto_arena *arena, sotto_err *err)
{
    sotto_vdaf_report *inputs;
    sotto_bytes *shares;

    SOTTO_TRY(read_records(&inputs, &shares, records, count, arena, err));
    SOTTO_TRY(sotto_job_part_open(part, count, arena, err));
    return sotto_job_part_add(part, sum, task, inputs, shares, count, arena, err);
}
