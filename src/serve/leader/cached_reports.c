#include "serve/leader/cached_reports.h"

#include "base/alloc.h"
#include "serve/leader/leader.h"
#include "serve/leader/upload.h"

/* Sums of long reports: those of a full job (leader.c), and of the flushes that come while it is formed. */
enum { MOST_CACHED = 24 << 20, MOST_SUMS = 36 << 20 };
enum { PART_MEMORY = 256 << 20, POINTER = sizeof(void *) };

sotto_cached_reports *sotto_cached_reports_new(sotto_leader *leader, size_t records, size_t uploads)
{
    sotto_cached_reports *cached;

    if (atomic_load(&leader->cached_bytes) >= (records > 0 ? MOST_CACHED : MOST_SUMS))
        return NULL;
    cached = sotto_alloc(sizeof *cached);
    if (!cached)
        return NULL;
    cached->leader = leader;
    sotto_arena_init(&cached->part_memory, PART_MEMORY);
    sotto_arena_init(&cached->sum_memory, PART_MEMORY);
    cached->room = records;
    cached->upload_room = uploads;
    cached->records = sotto_alloc((records + 1) * sizeof *cached->records);
    cached->uploads = sotto_alloc((uploads + 1) * POINTER);
    if (cached->records && cached->uploads)
        return cached;
    sotto_cached_reports_free(cached);
    return NULL;
}

void sotto_cached_reports_add_upload(sotto_cached_reports *cached, sotto_upload_request *upload)
{
    if (cached->upload_count == cached->upload_room)
        return;
    cached->uploads[cached->upload_count++] = upload;
    sotto_upload_keep(upload);
    if (upload->cached_bytes == 0) {
        upload->cached_bytes = upload->arena.held;
        atomic_fetch_add(&sotto_leader_of(upload->server)->cached_bytes, upload->cached_bytes);
    }
}

void sotto_cached_reports_add_record(sotto_cached_reports *cached, sotto_bytes record)
{
    if (cached->count < cached->room)
        cached->records[cached->count++] = record;
}

static void drop_uploads(sotto_cached_reports *cached)
{
    for (size_t i = 0; cached->uploads && i < cached->upload_count; i++)
        sotto_upload_drop(cached->uploads[i]);
    cached->upload_count = 0;
}

void sotto_cached_reports_count(sotto_cached_reports *cached)
{
    cached->held = cached->part_memory.held + cached->sum_memory.held;
    atomic_fetch_add(&cached->leader->cached_bytes, cached->held);
}

void sotto_cached_reports_forget_sum(sotto_cached_reports *cached)
{
    atomic_fetch_sub(&cached->leader->cached_bytes, cached->sum_memory.held);
    cached->held -= cached->sum_memory.held;
    sotto_arena_clear(&cached->sum_memory);
}

void sotto_cached_reports_free(sotto_cached_reports *cached)
{
    if (!cached)
        return;
    drop_uploads(cached);
    atomic_fetch_sub(&cached->leader->cached_bytes, cached->held);
    sotto_arena_clear(&cached->part_memory);
    sotto_arena_clear(&cached->sum_memory);
    sotto_release(cached->records,
                  cached->records ? (cached->room + 1) * sizeof *cached->records : 0);
    sotto_release(cached->uploads, cached->uploads ? (cached->upload_room + 1) * POINTER : 0);
    sotto_release(cached, sizeof *cached);
}
