#include "serve/leader/long_reports.h"

#include "base/arena.h"
#include "serve/leader/leader.h"

#include <stdlib.h>
#include <string.h>

/* As many shares as a cache holds, and at least as many as there are lanes. */
enum { LEAST = 4, MOST = 16, CACHE = 1 << 20, AGREED = 64 };

typedef struct opener {
    sotto_flush_group *g;
    sotto_worker *worker;
    sotto_cached_reports *cached; /* NULL: they are opened, and that is all */
    sotto_agreement agreed[SOTTO_OPENED_WITH * AGREED];
    uint8_t config_ids[SOTTO_OPENED_WITH * AGREED];
    sotto_uploaded *reports[AGREED];
    sotto_buf aad, rooms[MOST];
    sotto_vdaf_report some[MOST];
    sotto_bytes report_shares[MOST];
    size_t at_once, count;
} opener;

static int by_id(const void *a, const void *b)
{
    const sotto_uploaded *one = *(sotto_uploaded *const *)a;
    const sotto_uploaded *other = *(sotto_uploaded *const *)b;

    return memcmp(one->id, other->id, sizeof one->id);
}

static size_t few_of(size_t share)
{
    size_t few = CACHE / (share + 1) / LEAST * LEAST;

    return few < LEAST ? LEAST : few > MOST ? MOST : few;
}

static sotto_status make_room(opener *o, sotto_err *err)
{
    const sotto_flush_group *g = o->g;
    size_t share = 0, aad = 0;

    for (size_t i = 0; i < g->count; i++) {
        const sotto_dap_report *r = g->reports[i]->report;
        size_t len = r->metadata.public_extensions.len + r->public_share.len;

        if (g->reports[i]->error)
            continue;
        share = r->leader.payload.len > share ? r->leader.payload.len : share;
        aad = len > aad ? len : aad;
    }
    o->at_once = few_of(share);
    o->at_once = g->count < o->at_once ? g->count : o->at_once;
    for (size_t i = 0; i < o->at_once; i++)
        SOTTO_TRY(sotto_buf_take(&o->rooms[i], o->worker->arena, share, err));
    return sotto_buf_take(&o->aad, o->worker->arena, aad + g->task->dap.configuration.len + 128,
                          err);
}

/* What can't be summed now is read by its job. */
static void forget_sum(opener *o)
{
    sotto_cached_reports_free(o->cached);
    o->cached = NULL;
}

static void begin_sum(opener *o, sotto_leader *leader)
{
    const sotto_server_task *task = o->g->task;

    o->cached = sotto_cached_reports_new(leader, 0, 0);
    if (o->cached && (sotto_job_part_open(&o->cached->part, o->g->count, &o->cached->part_memory,
                                          NULL) != SOTTO_OK ||
                      task->method->two_server->tally_init(
                          &o->cached->sum, &task->vdaf, &o->cached->sum_memory, NULL) != SOTTO_OK))
        forget_sum(o);
}

/* The first step of those that are open; their room is free again. */
static void sum_some(opener *o)
{
    sotto_cached_reports *cached = o->cached;

    if (cached && o->count > 0 &&
        sotto_job_part_add(&cached->part, &cached->sum, o->g->task, o->some, o->report_shares,
                           o->count, &cached->part_memory, NULL) != SOTTO_OK)
        forget_sum(o);
    o->count = 0;
}

static void open_some(opener *o, size_t count)
{
    sotto_receivers *receivers = o->reports[0]->upload->server->receivers[o->worker->number];

    for (size_t i = 0; i < count; i++)
        sotto_upload_peers(o->g->task, o->reports[i]->report, &o->agreed[SOTTO_OPENED_WITH * i],
                           &o->config_ids[SOTTO_OPENED_WITH * i]);
    sotto_receivers_agree(receivers, o->agreed, o->config_ids, SOTTO_OPENED_WITH * count);
    for (size_t i = 0; i < count; i++) {
        sotto_upload_open_long(o->reports[i], &o->some[o->count], &o->report_shares[o->count],
                               o->worker, &o->aad, &o->rooms[o->count],
                               &o->agreed[SOTTO_OPENED_WITH * i]);
        o->count += o->reports[i]->error == 0;
        if (o->count == o->at_once)
            sum_some(o);
    }
}

static void open_all(opener *o)
{
    const sotto_flush_group *g = o->g;
    size_t count = 0;

    for (size_t i = 0; i < g->count; i++) {
        if (g->reports[i]->error == 0)
            o->reports[count++] = g->reports[i];
        if (count > 0 && (count == AGREED || i + 1 == g->count)) {
            open_some(o, count);
            count = 0;
        }
    }
    sum_some(o);
}

static sotto_status failure_of(const sotto_flush_group *g, sotto_err *err)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->reports[i]->upload->failed != SOTTO_OK)
            return sotto_fail(err, g->reports[i]->upload->failed, "a report could not be opened");
    return SOTTO_OK;
}

sotto_status sotto_long_reports_open(sotto_flush *f, sotto_flush_group *g, sotto_worker *worker,
                                     sotto_err *err)
{
    sotto_arena_mark mark = sotto_arena_here(worker->arena);
    opener *o = sotto_arena_take(worker->arena, sizeof *o);
    sotto_status status;

    if (!o)
        return sotto_fail(err, SOTTO_NO_MEMORY, "long reports");
    qsort(g->reports, g->count, sizeof(sotto_uploaded *), by_id);
    *o = (opener){.g = g, .worker = worker};
    status = make_room(o, err);
    if (status == SOTTO_OK) {
        begin_sum(o, sotto_leader_of(f->server));
        open_all(o);
        status = failure_of(g, err);
    }
    g->cached = o->cached;
    if (g->cached) {
        g->cached->begun = true;
        sotto_cached_reports_count(g->cached);
    }
    sotto_arena_rollback(worker->arena, mark);
    return status;
}
