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
static sotto_status read_records(sotto_job_part *part, sotto_vdaf_report **inputs,
                                 sotto_bytes *records, size_t count, sotto_arena *arena,
                                 sotto_err *err)
{
    *part = (sotto_job_part){.count = count};
    part->shares = sotto_arena_take_array(arena, count + 1, sizeof *part->shares);
    *inputs = sotto_arena_take_array(arena, count + 1, sizeof **inputs);
    if (!*inputs || !part->shares)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a job");
    sotto_job_part_mix(records, count);
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(sotto_record_read(&(*inputs)[i], &part->shares[i], records[i], err));
    return SOTTO_OK;
}

static sotto_status verify(sotto_job_part *part, const sotto_server_task *task,
                           const sotto_vdaf_report *inputs, sotto_arena *arena, sotto_err *err)
{
    return task->method->two_server->leader_init(&task->vdaf, &part->batch, &task->verifier, inputs,
                                                 part->count, arena, err);
}

sotto_status sotto_job_part_begin(sotto_job_part *part, const sotto_server_task *task,
                                  sotto_bytes *records, size_t count, sotto_arena *arena,
                                  sotto_err *err)
{
    sotto_vdaf_report *inputs;

    SOTTO_TRY(read_records(part, &inputs, records, count, arena, err));
    return verify(part, task, inputs, arena, err);
}

/* All that the request is made from, and nothing of our own share. */
static sotto_status keep_shares(sotto_job_part *part, sotto_vdaf_report *inputs, sotto_arena *arena,
                                sotto_err *err)
{
    size_t size = 0;
    sotto_buf room;

    for (size_t i = 0; i < part->count; i++)
        size += part->shares[i].len;
    SOTTO_TRY(sotto_buf_take(&room, arena, size, err));
    for (size_t i = 0; i < part->count; i++) {
        sotto_bytes *share = &part->shares[i];
        uint8_t *at = room.data + room.len;

        memcpy(at, share->data, share->len);
        room.len += share->len;
        if (inputs[i].public_share.len > 0)
            inputs[i].public_share.data = at + (inputs[i].public_share.data - share->data);
        share->data = at;
    }
    return SOTTO_OK;
}

sotto_status sotto_job_part_sum(sotto_job_part *part, sotto_tally *sum,
                                const sotto_server_task *task, sotto_bytes *records, size_t count,
                                sotto_arena *arena, sotto_err *err)
{
    sotto_vdaf_report *inputs;

    SOTTO_TRY(read_records(part, &inputs, records, count, arena, err));
    SOTTO_TRY(keep_shares(part, inputs, arena, err));
    SOTTO_TRY(verify(part, task, inputs, arena, err));
    SOTTO_TRY(task->method->two_server->accumulate_awaited(sum, &part->batch, err));
    for (size_t i = 0; i < count; i++)
        inputs[i].input_share = sotto_bytes_of(NULL, 0);
    part->summed = true;
    return SOTTO_OK;
}
