#include "serve/leader/flush.h"

#include "base/clock.h"
#include "base/rule.h"
#include "serve/leader/leader.h"
#include "serve/leader/long_reports.h"
#include "serve/leader/rejected_ids.h"
#include "serve/tasks/release.h"
#include "serve/tasks/spent_tokens.h"

#include <stdlib.h>
#include <string.h>

enum { POINTER = sizeof(void *) };

/* ---- grouping ------------------------------------------------------------------------------------------------- */

static bool grow(sotto_arena *arena, sotto_flush_group *g)
{
    size_t cap = g->cap ? 2 * g->cap : 16;
    sotto_uploaded **reports = sotto_arena_take_array(arena, cap, POINTER);

    if (!reports)
        return false;
    if (g->count > 0)
        memcpy(reports, g->reports, g->count * POINTER);
    g->reports = reports;
    g->cap = cap;
    return true;
}

static sotto_flush_group **slot_of(sotto_flush *f, const sotto_server_task *task, uint64_t bucket)
{
    return &f->table[sotto_lanes_hash(task->n, bucket) % SOTTO_FLUSH_TABLE];
}

static bool has_room(const sotto_flush *f, const sotto_server_task *task, uint64_t bucket)
{
    uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000000;

    return sotto_lanes_have_room(sotto_leader_of(f->server)->lanes, task->n, bucket,
                                 sotto_dap_time_of(now, task->dap.precision));
}

/* The newest group of this task and bucket, if it has room, or one more. */
static sotto_flush_group *group_of(sotto_flush *f, const sotto_server_task *task, uint64_t bucket)
{
    size_t full = sotto_leader_full_job(f->server, task);
    sotto_flush_group **slot = slot_of(f, task, bucket), *g = *slot;

    while (g && (g->task != task || g->bucket != bucket))
        g = g->chain;
    if (g && g->count < full)
        return g;
    g = sotto_arena_take(&f->arena, sizeof *g);
    if (!g)
        return NULL;
    *g = (sotto_flush_group){.task = task, .bucket = bucket, .chain = *slot};
    g->crowded = !has_room(f, task, bucket);
    *slot = g;
    *f->end = g;
    f->end = &g->next;
    f->count++;
    return g;
}

static bool put(sotto_flush *f, sotto_uploaded *report)
{
    sotto_flush_group *g = group_of(f, report->upload->task, report->bucket);

    if (!g || (g->count == g->cap && !grow(&f->arena, g)))
        return false;
    if (g->crowded && report->error == 0)
        report->error = SOTTO_REPORT_TOO_EARLY; /* not its own fault: the client may retry */
    g->uploads += g->count == 0 || g->reports[g->count - 1]->upload != report->upload;
    g->reports[g->count++] = report;
    return true;
}

static bool group_all(sotto_flush *f)
{
    for (sotto_upload_request *u = f->uploads; u; u = u->next)
        for (size_t i = 0; i < u->count; i++)
            if (!put(f, &u->reports[i]))
                return false;
    return true;
}

static int by_task_and_bucket(const void *a, const void *b)
{
    const sotto_flush_group *one = *(sotto_flush_group *const *)a;
    const sotto_flush_group *other = *(sotto_flush_group *const *)b;

    if (one->task->n != other->task->n)
        return one->task->n < other->task->n ? -1 : 1;
    return (one->bucket > other->bucket) - (one->bucket < other->bucket);
}

/* One order for every flush, of every replica: each waits for rows that another has not committed yet (serve/tasks/report_ids.h). */
static bool put_in_order(sotto_flush *f)
{
    sotto_flush_group **all = sotto_arena_take_array(&f->arena, f->count + 1, POINTER);
    size_t count = 0;

    if (!all)
        return false;
    for (sotto_flush_group *g = f->first; g; g = g->next)
        all[count++] = g;
    qsort(all, count, POINTER, by_task_and_bucket);
    f->end = &f->first;
    for (size_t i = 0; i < count; i++) {
        *f->end = all[i];
        f->end = &all[i]->next;
    }
    *f->end = NULL;
    return true;
}

/* ---- segments --------------------------------------------------------------------------------------------------- */

static sotto_status seal_records(sotto_flush *f, sotto_flush_group *g, sotto_err *err)
{
    sotto_bytes *records = sotto_arena_take_array(&f->arena, g->count, sizeof *records);
    sotto_bytes *shares = sotto_arena_take_array(&f->arena, g->count, sizeof *shares);
    bool as_they_came = sotto_job_part_is_long(g->task);
    size_t count = 0;

    if (!records || !shares)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a segment");
    for (size_t i = 0; i < g->count; i++)
        if (g->reports[i]->error == 0) {
            records[count] = as_they_came ? g->reports[i]->head : g->reports[i]->record;
            shares[count++] = g->reports[i]->share;
        }
    return as_they_came ? sotto_segment_seal_heads(&g->segment, f->server->columns, records, shares,
                                                   count, &f->arena, err)
                        : sotto_segment_seal(&g->segment, f->server->columns, records, count,
                                             &f->arena, err);
}

/* Every report that is acceptable so far, sealed; which of them the marks refuse is only known later. */
static sotto_status seal_group(sotto_flush *f, sotto_flush_group *g, sotto_err *err)
{
    g->marks = sotto_arena_take_array(&f->arena, g->count, sizeof *g->marks);
    g->refused = sotto_arena_take_array(&f->arena, g->count, POINTER);
    g->segment.skip = sotto_arena_take(&f->arena, g->count / 8 + 1);
    if (!g->marks || !g->refused || !g->segment.skip)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a segment");
    for (size_t i = 0; i < g->count; i++) {
        sotto_uploaded *r = g->reports[i];

        memcpy(g->marks[i].report, r->id, sizeof g->marks[i].report);
        g->marks[i].bucket = r->bucket;
        g->marks[i].wanted = r->error == 0;
        g->segment.reports += r->error == 0;
        if (r->error == 0 && r->spend)
            f->tokens++;
    }
    g->segment.task = g->task->n;
    g->segment.bucket = g->bucket;
    g->segment.owner = f->server->instance;
    return g->segment.reports > 0 ? seal_records(f, g, err) : SOTTO_OK;
}

bool sotto_flush_is_long(const sotto_flush *f)
{
    for (const sotto_upload_request *u = f->uploads; u; u = u->next)
        if (u->dap_reports)
            return true;
    return false;
}

sotto_status sotto_flush_prepare(sotto_flush *f, sotto_worker *worker, sotto_err *err)
{
    f->first = NULL;
    f->end = &f->first;
    f->count = f->bytes = f->tokens = 0;
    memset(f->table, 0, sizeof f->table);
    if (!group_all(f) || !put_in_order(f))
        return sotto_fail(err, SOTTO_NO_MEMORY, "reports of an upload");
    for (sotto_flush_group *g = f->first; g; g = g->next) {
        if (sotto_job_part_is_long(g->task))
            SOTTO_TRY(sotto_long_reports_open(f, g, worker, err));
        SOTTO_TRY(seal_group(f, g, err));
        f->bytes += sotto_segment_size(&g->segment);
    }
    f->spends = sotto_arena_take_array(&f->arena, f->tokens + 1, POINTER);
    return f->spends ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "tokens of an upload");
}

sotto_status sotto_flush_join(sotto_flush *f, sotto_err *err)
{
    for (sotto_flush_group *g = f->first; g; g = g->next)
        SOTTO_TRY(sotto_segment_join(&g->segment, &f->arena, err));
    return SOTTO_OK;
}

/* ---- the transaction ---------------------------------------------------------------------------------------------- */

/* Another report had its token. */
static bool is_spent(const sotto_flush_group *g, size_t i)
{
    return g->reports[i]->spend && g->reports[i]->spend->spent;
}

uint8_t sotto_flush_verdict(const sotto_flush_group *g, size_t i)
{
    if (g->reports[i]->error)
        return g->reports[i]->error;
    if (SOTTO_RULE(leader_replays) && g->marks[i].taken)
        return SOTTO_REPORT_REPLAYED;
    if (g->closed)
        return SOTTO_REPORT_BATCH_COLLECTED;
    if (SOTTO_RULE(leader_spent) && is_spent(g, i))
        return SOTTO_REPORT_TOKEN_SPENT;
    return 0;
}

/* Which records of the segment are not to be used, and how often each cause occurred. */
static void sort_out(sotto_flush_group *g)
{
    size_t record = 0;

    g->segment.skipped = 0;
    memset(g->segment.skip, 0, g->segment.reports / 8 + 1);
    memset(g->causes, 0, sizeof g->causes);
    for (size_t i = 0; i < g->count; i++) {
        uint8_t error = sotto_flush_verdict(g, i);

        g->causes[error]++;
        if (!g->marks[i].wanted)
            continue;
        if (error) {
            g->segment.skip[record / 8] |= (uint8_t)(1u << (record % 8));
            g->segment.skipped++;
        }
        record++;
    }
}

/* A flood of made-up reports must not fill the disk: beyond this number, a rejected report is counted each time it is
 * sent. Replays are never more than reports that were taken. */
static bool may_note(const sotto_flush *f, unsigned cause)
{
    return cause == SOTTO_REPORT_REPLAYED ||
           atomic_load(&sotto_leader_of(f->server)->noted) < f->server->options.most_rejected_ids;
}

/* Each report is counted once for each cause, however often it is sent. */
static sotto_status count_refused(sotto_tx *tx, sotto_flush *f, sotto_flush_group *g,
                                  unsigned cause, sotto_err *err)
{
    sotto_batch_key key = sotto_batch_of_bucket(g->bucket);
    uint64_t fresh = g->causes[cause];
    size_t count = 0;

    for (size_t i = 0; i < g->count; i++)
        if (sotto_flush_verdict(g, i) == cause)
            g->refused[count++] = g->reports[i]->id;
    if (may_note(f, cause)) {
        SOTTO_TRY(sotto_rejected_ids_note(tx, g->task->n, cause, g->refused, count, &fresh, err));
        g->noted += cause == SOTTO_REPORT_REPLAYED ? 0 : fresh;
    }
    if (fresh == 0)
        return SOTTO_OK;
    f->wrote = true;
    return sotto_batch_reject(tx, g->task->n, &key, cause, f->server->shard, fresh, err);
}

static sotto_status take_ids(sotto_tx *tx, const sotto_flush *f, sotto_flush_group *g,
                             sotto_err *err)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->reports[i]->spend)
            g->reports[i]->spend->spent = false; /* as a transaction that failed left it */
    if (g->crowded)
        return SOTTO_OK;
    SOTTO_TRY(sotto_release_lock(tx, g->task->n, false, err));
    SOTTO_TRY(sotto_batch_is_shut(tx, &g->closed, g->task->n, g->bucket, err));
    /* A report that was taken, and whose sender got no answer, must not be answered with "too late". */
    return g->closed ? sotto_report_ids_find(tx, g->task->n, g->marks, g->count, err)
                     : sotto_report_ids_take(tx, g->task->n, g->marks, g->count,
                                             &f->server->replays, err);
}

/* A report whose token another one had was not taken: its id stays free, so that it gets the same answer when it is sent
 * again. */
static sotto_status give_back_ids(sotto_tx *tx, const sotto_flush_group *g, sotto_err *err)
{
    for (size_t i = 0; i < g->count; i++)
        if (sotto_flush_verdict(g, i) == SOTTO_REPORT_TOKEN_SPENT)
            SOTTO_TRY(sotto_report_ids_give_back(tx, g->task->n, &g->marks[i], err));
    return SOTTO_OK;
}

/* The tokens of all groups at once, behind the ids of all of them: rows of both kinds are then locked in one order by every flush of
 * every replica. */
static sotto_status spend_tokens(sotto_tx *tx, sotto_flush *f, sotto_err *err)
{
    size_t count = 0;

    for (const sotto_flush_group *g = f->first; g; g = g->next)
        for (size_t i = 0; i < g->count; i++)
            if (g->reports[i]->spend && sotto_flush_verdict(g, i) == 0)
                f->spends[count++] = g->reports[i]->spend;
    SOTTO_TRY(sotto_tokens_spend(tx, f->spends, count, err));
    for (const sotto_flush_group *g = f->first; g; g = g->next)
        SOTTO_TRY(give_back_ids(tx, g, err));
    return SOTTO_OK;
}

static sotto_status store_group(sotto_tx *tx, sotto_flush *f, sotto_flush_group *g, sotto_err *err)
{
    g->noted = 0;
    sort_out(g);
    if (g->crowded) /* made-up times must not become rows */
        return SOTTO_OK;
    for (unsigned cause = 1; cause < SOTTO_REPORT_ERRORS; cause++)
        if (g->causes[cause] > 0)
            SOTTO_TRY(count_refused(tx, f, g, cause, err));
    if (g->segment.reports == g->segment.skipped)
        return SOTTO_OK;
    f->wrote = true;
    return sotto_segment_put(tx, &g->segment, err);
}

sotto_status sotto_flush_store(sotto_tx *tx, sotto_flush *f, sotto_err *err)
{
    f->wrote = false;
    for (sotto_flush_group *g = f->first; g; g = g->next)
        SOTTO_TRY(take_ids(tx, f, g, err));
    if (f->tokens > 0)
        SOTTO_TRY(spend_tokens(tx, f, err));
    for (sotto_flush_group *g = f->first; g; g = g->next)
        SOTTO_TRY(store_group(tx, f, g, err));
    return SOTTO_OK;
}
