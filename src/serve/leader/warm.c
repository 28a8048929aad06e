#include "serve/leader/warm.h"

#include "base/alloc.h"
#include "serve/leader/leader.h"
#include "serve/leader/upload.h"

enum { MOST_WARM = 16 << 20, POINTER = sizeof(void *) };

sotto_warm *sotto_warm_new(sotto_leader *leader, size_t records, size_t uploads)
{
    sotto_warm *warm;

    if (atomic_load(&leader->warm) >= MOST_WARM)
        return NULL;
    warm = sotto_alloc(sizeof *warm);
    if (!warm)
        return NULL;
    warm->room = records;
    warm->upload_room = uploads;
    warm->records = sotto_alloc((records + 1) * sizeof *warm->records);
    warm->uploads = sotto_alloc((uploads + 1) * POINTER);
    if (warm->records && warm->uploads)
        return warm;
    sotto_warm_free(warm);
    return NULL;
}

void sotto_warm_add_upload(sotto_warm *warm, sotto_upload_request *upload)
{
    if (warm->upload_count == warm->upload_room)
        return;
    warm->uploads[warm->upload_count++] = upload;
    sotto_upload_keep(upload);
    if (upload->warm == 0) {
        upload->warm = upload->arena.held;
        atomic_fetch_add(&upload->server->leader->warm, upload->warm);
    }
}

void sotto_warm_add_record(sotto_warm *warm, sotto_bytes record)
{
    if (warm->count < warm->room)
        warm->records[warm->count++] = record;
}

void sotto_warm_free(sotto_warm *warm)
{
    if (!warm)
        return;
    for (size_t i = 0; warm->uploads && i < warm->upload_count; i++)
        sotto_upload_drop(warm->uploads[i]);
    sotto_release(warm->records, warm->records ? (warm->room + 1) * sizeof *warm->records : 0);
    sotto_release(warm->uploads, warm->uploads ? (warm->upload_room + 1) * POINTER : 0);
    sotto_release(warm, sizeof *warm);
}
