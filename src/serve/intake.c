/* While one commit is on its way, what arrives is gathered; then all of it becomes segments and one commit. Where bodies
 * have a spool they are synced there first, so that a row never names bytes that may still be lost. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader.h"
#include "serve/marks.h"
#include "serve/metrics.h"
#include "serve/refusals.h"
#include "serve/release.h"
#include "serve/upload.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rule.h"
#include "transport/dap.h"

#include <pthread.h>
#include <string.h>

/* One commit takes no more than MAX_BYTES: beyond it a sync is a small part of the work, and memory is not. A second one
 * is begun beside the first only for much, so that what comes in small pieces still shares its commits. */
enum { MEMORY = 512 << 20, MAX_GATHERED = 4096, MAX_BYTES = 4 << 20, MUCH = 1 << 20, FLUSHES = 2 };
/* Less than this goes with its row: a second sync would cost more than SQLite's copies. */
enum { SPOOLED = 32 << 10 };
enum { POINTER = sizeof(void *), TABLE = 256, TELL_EVERY_MS = 1000 };

/* The reports of one task and bucket within a flush. */
typedef struct group {
    const sotto_server_task *task;
    uint64_t bucket;
    sotto_uploaded **reports;
    sotto_mark *marks;
    const uint8_t **refused; /* room for the ids of those that one cause refuses */
    size_t count, cap;
    size_t uploads; /* that these came with */
    bool crowded;   /* too many buckets wait already: nothing is taken                 */
    bool closed;    /* the transaction found the bucket released: nothing is taken */
    uint64_t causes[SOTTO_REPORT_ERRORS]; /* as they are told */
    sotto_segment segment;
    struct group *next, *chain; /* in the flush; in its table */
} group;

typedef struct flush {
    sotto_intake *intake;
    sotto_upload_request *uploads;
    group *first, **end;
    group *table[TABLE]; /* the newest group of each task and bucket */
    size_t count, bytes; /* of groups; of their sealed bodies */
    sotto_arena arena;
    sotto_spool_job spooled;
    sotto_db_job job;
    bool wrote; /* a row: there is something to commit */
    bool busy;  /* on its way */
} flush;

struct sotto_intake {
    sotto_server *server;
    pthread_mutex_t lock;
    pthread_cond_t idle;
    sotto_upload_request *first, **end; /* gathered, the oldest first */
    size_t bytes;                       /* ... and how much that is   */
    flush flushes[FLUSHES];
    /* Places of rows whose commit failed. On disk it may still look as if it had not, until the next one that writes. */
    sotto_spool_place *limbo;
    size_t limbo_count, limbo_cap;
    uint64_t failed, told_ms; /* flushes that failed since somebody was told, and when that was */
};

/* ---- grouping ------------------------------------------------------------------------------------------------- */

static bool grow(sotto_arena *arena, group *g)
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

static group **slot_of(flush *f, const sotto_server_task *task, uint64_t bucket)
{
    return &f->table[sotto_lanes_hash(task->n, bucket) % TABLE];
}

static bool has_room(const flush *f, const sotto_server_task *task, uint64_t bucket)
{
    uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000000;

    return sotto_lanes_have_room(f->intake->server->leader->lanes, task->n, bucket,
                                 sotto_dap_time_of(now, task->dap.precision));
}

/* The newest group of this task and bucket, if it has room, or one more. */
static group *group_of(flush *f, const sotto_server_task *task, uint64_t bucket)
{
    size_t full = sotto_leader_full_job(f->intake->server, task);
    group **slot = slot_of(f, task, bucket), *g = *slot;

    while (g && (g->task != task || g->bucket != bucket))
        g = g->chain;
    if (g && g->count < full)
        return g;
    g = sotto_arena_take(&f->arena, sizeof *g);
    if (!g)
        return NULL;
    *g = (group){.task = task, .bucket = bucket, .chain = *slot};
    g->crowded = !has_room(f, task, bucket);
    *slot = g;
    *f->end = g;
    f->end = &g->next;
    f->count++;
    return g;
}

static bool put(flush *f, sotto_uploaded *report)
{
    group *g = group_of(f, report->upload->task, report->bucket);

    if (!g || (g->count == g->cap && !grow(&f->arena, g)))
        return false;
    if (g->crowded && report->error == 0)
        report->error = SOTTO_REPORT_TOO_EARLY; /* by no fault of its own: it may come again */
    g->uploads += g->count == 0 || g->reports[g->count - 1]->upload != report->upload;
    g->reports[g->count++] = report;
    return true;
}

static bool group_all(flush *f)
{
    for (sotto_upload_request *u = f->uploads; u; u = u->next)
        for (size_t i = 0; i < u->count; i++)
            if (!put(f, &u->reports[i]))
                return false;
    return true;
}

/* ---- segments --------------------------------------------------------------------------------------------------- */

/* Every report that is acceptable so far, sealed; which of them the marks refuse is only known later. */
static sotto_status seal_group(flush *f, group *g, sotto_err *err)
{
    sotto_bytes *records = sotto_arena_take_array(&f->arena, g->count, sizeof *records);

    g->marks = sotto_arena_take_array(&f->arena, g->count, sizeof *g->marks);
    g->refused = sotto_arena_take_array(&f->arena, g->count, POINTER);
    g->segment.skip = sotto_arena_take(&f->arena, g->count / 8 + 1);
    if (!g->marks || !g->refused || !g->segment.skip || !records)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a segment");
    for (size_t i = 0; i < g->count; i++) {
        sotto_uploaded *r = g->reports[i];

        memcpy(g->marks[i].report, r->id, sizeof g->marks[i].report);
        g->marks[i].bucket = r->bucket;
        g->marks[i].wanted = r->error == 0;
        if (r->error == 0)
            records[g->segment.reports++] = r->record;
    }
    g->segment.task = g->task->n;
    g->segment.bucket = g->bucket;
    g->segment.owner = f->intake->server->instance;
    if (g->segment.reports == 0)
        return SOTTO_OK;
    return sotto_segment_seal(&g->segment, &f->intake->server->columns, records, g->segment.reports,
                              &f->arena, err);
}

/* ---- the transaction ---------------------------------------------------------------------------------------------- */

static uint8_t verdict(const group *g, size_t i)
{
    if (g->reports[i]->error)
        return g->reports[i]->error;
    if (g->closed)
        return SOTTO_REPORT_BATCH_COLLECTED;
    return g->marks[i].taken && SOTTO_RULE(leader_replays) ? SOTTO_REPORT_REPLAYED : 0;
}

/* Which records of the segment are not to be used, and how often each cause occurred. */
static void sort_out(group *g)
{
    size_t record = 0;

    g->segment.skipped = 0;
    memset(g->segment.skip, 0, g->segment.reports / 8 + 1);
    memset(g->causes, 0, sizeof g->causes);
    for (size_t i = 0; i < g->count; i++) {
        uint8_t error = verdict(g, i);

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

/* Each report once for each cause, however often it comes. */
static sotto_status count_refused(sotto_tx *tx, flush *f, const group *g, unsigned cause,
                                  sotto_err *err)
{
    sotto_batch_key key = sotto_batch_of_bucket(g->bucket);
    uint64_t fresh = g->causes[cause];
    size_t count = 0;

    for (size_t i = 0; i < g->count; i++)
        if (verdict(g, i) == cause)
            g->refused[count++] = g->reports[i]->id;
    if (SOTTO_RULE(refusals_counted_once))
        SOTTO_TRY(sotto_refusals_note(tx, g->task->n, cause, g->refused, count, &fresh, err));
    if (fresh == 0)
        return SOTTO_OK;
    f->wrote = true;
    return sotto_batch_reject(tx, g->task->n, &key, cause, f->intake->server->shard, fresh, err);
}

static sotto_status store_group(sotto_tx *tx, flush *f, group *g, sotto_err *err)
{
    if (g->crowded) { /* times that strangers make up must not become rows */
        sort_out(g);
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_release_lock(tx, g->task->n, false, err));
    SOTTO_TRY(sotto_batch_is_shut(tx, &g->closed, g->task->n, g->bucket, err));
    if (!SOTTO_RULE(leader_closed_bucket))
        g->closed = false;
    if (!g->closed)
        SOTTO_TRY(sotto_marks_take(tx, g->task->n, g->marks, g->count, err));
    sort_out(g);
    for (unsigned cause = 1; cause < SOTTO_REPORT_ERRORS; cause++)
        if (g->causes[cause] > 0)
            SOTTO_TRY(count_refused(tx, f, g, cause, err));
    if (g->segment.reports == g->segment.skipped)
        return SOTTO_OK;
    f->wrote = true;
    return sotto_segment_put(tx, &g->segment, err);
}

static sotto_status store(sotto_tx *tx, void *context, sotto_err *err)
{
    flush *f = context;

    f->wrote = !SOTTO_RULE(limbo_until_written);
    for (group *g = f->first; g; g = g->next)
        SOTTO_TRY(store_group(tx, f, g, err));
    return SOTTO_OK;
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

static bool grow_limbo(sotto_intake *intake)
{
    size_t cap = intake->limbo_cap ? 2 * intake->limbo_cap : 16;
    sotto_spool_place *more = sotto_alloc(cap * sizeof *more);

    if (!more)
        return false;
    if (intake->limbo_count > 0)
        memcpy(more, intake->limbo, intake->limbo_count * sizeof *more);
    sotto_release(intake->limbo, intake->limbo_cap * sizeof *more);
    intake->limbo = more;
    intake->limbo_cap = cap;
    return true;
}

/* On the store's thread, in the order of the commits. A place that can't be remembered is lost until the next start. */
static void settle_places(sotto_intake *intake, const flush *f, sotto_status status)
{
    sotto_spool *spool = intake->server->leader->spool;

    if (!spool)
        return;
    for (; status == SOTTO_OK && f->wrote && intake->limbo_count > 0; intake->limbo_count--)
        sotto_spool_give_back(spool, &intake->limbo[intake->limbo_count - 1]);
    for (const group *g = f->first; g; g = g->next) {
        if (g->segment.place.len == 0)
            continue;
        if (status == SOTTO_OK) {
            if (g->segment.reports == g->segment.skipped) /* it got no row */
                sotto_spool_give_back(spool, &g->segment.place);
        } else if (intake->limbo_count < intake->limbo_cap || grow_limbo(intake)) {
            intake->limbo[intake->limbo_count++] = g->segment.place;
        }
    }
}

/* ---- the flush ------------------------------------------------------------------------------------------------------ */

static void start_flushes(sotto_intake *intake);

/* Keeps a group's reports in memory for their job; NULL: it will read them. */
static sotto_warm *hold(const flush *f, const group *g)
{
    sotto_warm *warm = sotto_warm_new(f->intake->server->leader, g->segment.reports, g->uploads);
    const sotto_upload_request *last = NULL;

    if (!warm)
        return NULL;
    warm->place = g->segment.place;
    for (size_t i = 0; i < g->count; i++) {
        const sotto_uploaded *r = g->reports[i];

        if (r->upload != last)
            sotto_warm_add_upload(warm, r->upload);
        last = r->upload;
        if (r->error == 0)
            sotto_warm_add_record(warm, r->record);
    }
    return warm;
}

/* Hands the segments on to their lanes. */
static void announce(flush *f)
{
    sotto_leader *leader = f->intake->server->leader;
    uint64_t now = sotto_leader_now_ms();

    for (group *g = f->first; g; g = g->next) {
        sotto_load_segment segment = {g->segment.n, g->segment.reports - g->segment.skipped, NULL,
                                      0};

        sotto_metrics_reports(f->intake->server->metrics, g->causes, SOTTO_REPORT_ERRORS);
        for (size_t r = 0; r < g->count; r++)
            g->reports[r]->error = verdict(g, r);
        if (segment.reports == 0)
            continue;
        segment.warm = hold(f, g);
        /* One that is forgotten here is found by the sweep. */
        (void)(sotto_lanes_add(leader->lanes, g->task->n, g->bucket, &segment,
                               sotto_leader_full_job(f->intake->server, g->task), now) == SOTTO_OK);
    }
    sotto_leader_wake(leader);
}

/* A full disk fails every flush: one line a second says so. */
static void tell(sotto_intake *intake, const sotto_err *err)
{
    uint64_t now = sotto_leader_now_ms(), failed;
    bool due;

    (void)pthread_mutex_lock(&intake->lock);
    failed = ++intake->failed;
    due = intake->told_ms == 0 || now - intake->told_ms >= TELL_EVERY_MS;
    if (due) {
        intake->told_ms = now;
        intake->failed = 0;
    }
    (void)pthread_mutex_unlock(&intake->lock);
    if (due)
        sotto_log(&intake->server->options.log, SOTTO_LOG_ERROR, "upload.not_stored",
                  sotto_log_uint("flushes", failed),
                  sotto_log_text("reason", err && err->reason[0] ? err->reason : "out of memory"));
}

static void end_flush(flush *f, sotto_status status)
{
    sotto_intake *intake = f->intake;
    sotto_upload_request *next;

    for (sotto_upload_request *u = f->uploads; u; u = next) {
        next = u->next;
        if (status == SOTTO_OK || !SOTTO_RULE(stored_before_answer))
            sotto_upload_answer(u);
        else
            sotto_upload_give_up(u, status);
    }
    f->uploads = NULL;
    sotto_arena_reset(&f->arena);
    (void)pthread_mutex_lock(&intake->lock);
    f->busy = false;
    (void)pthread_mutex_unlock(&intake->lock);
    start_flushes(intake);
}

/* The answers are written on a worker: the store's thread has the next commit to make. */
static void after_commit(void *context, sotto_worker *worker)
{
    flush *f = context;

    (void)worker;
    if (f->job.status == SOTTO_OK)
        announce(f);
    end_flush(f, f->job.status);
}

static void hand_back(flush *f, sotto_status status)
{
    f->job.status = status;
    if (sotto_pool_post(f->intake->server->pool, after_commit, f, NULL) != SOTTO_OK)
        after_commit(f, NULL);
}

static void on_stored(void *context, sotto_status status, const sotto_err *err)
{
    flush *f = context;

    if (status != SOTTO_OK)
        tell(f->intake, err);
    settle_places(f->intake, f, status);
    hand_back(f, status);
}

static void commit(flush *f)
{
    f->job = (sotto_db_job){store, f, on_stored, f, NULL, SOTTO_OK, {0}};
    sotto_db_post(f->intake->server->db, &f->job);
}

static void on_spooled(void *context, sotto_status status, const sotto_err *err)
{
    flush *f = context;
    const sotto_spool_piece *piece = f->spooled.pieces;

    if (status != SOTTO_OK) {
        tell(f->intake, err);
        hand_back(f, status);
        return;
    }
    for (group *g = f->first; g; g = g->next)
        if (g->segment.reports > 0)
            g->segment.place = piece++->place;
    commit(f);
}

static void spool_bodies(flush *f, sotto_spool *spool)
{
    sotto_spool_piece *pieces = sotto_arena_take_array(&f->arena, f->count + 1, sizeof *pieces);
    size_t count = 0;

    if (!pieces) {
        tell(f->intake, NULL);
        end_flush(f, SOTTO_NO_MEMORY);
        return;
    }
    for (group *g = f->first; g; g = g->next)
        if (g->segment.reports > 0)
            pieces[count++] = (sotto_spool_piece){g->segment.body, {0}};
    f->spooled = (sotto_spool_job){pieces, count, on_spooled, f, NULL, SOTTO_OK, {0}};
    sotto_spool_post(spool, &f->spooled);
}

/* Takes the oldest of what was gathered. */
static void take_gathered(sotto_intake *intake, flush *f)
{
    size_t taken = 0, bytes = 0;
    sotto_upload_request **at;

    (void)pthread_mutex_lock(&intake->lock);
    f->uploads = intake->first;
    for (at = &intake->first; *at && taken < MAX_GATHERED && bytes < MAX_BYTES; at = &(*at)->next) {
        taken += (*at)->count;
        bytes += (*at)->arena.held;
    }
    intake->first = *at;
    intake->bytes -= bytes;
    *at = NULL;
    if (!intake->first)
        intake->end = &intake->first;
    (void)pthread_mutex_unlock(&intake->lock);
}

static void run_flush(void *context, sotto_worker *worker)
{
    flush *f = context;
    sotto_spool *spool = f->intake->server->leader->spool;
    sotto_status status = SOTTO_OK;
    sotto_err err = {0};

    (void)worker;
    take_gathered(f->intake, f);
    f->first = NULL;
    f->end = &f->first;
    f->count = f->bytes = 0;
    memset(f->table, 0, sizeof f->table);
    if (!group_all(f))
        status = SOTTO_NO_MEMORY;
    for (group *g = f->first; status == SOTTO_OK && g; g = g->next) {
        status = seal_group(f, g, &err);
        f->bytes += g->segment.body.len;
    }
    if (status != SOTTO_OK)
        tell(f->intake, &err);
    if (status != SOTTO_OK || !f->first) /* or another flush took what there was */
        end_flush(f, status);
    else if (spool && f->bytes >= SPOOLED)
        spool_bodies(f, spool);
    else
        commit(f);
}

/* A flush that may begin now, marked as busy; NULL: none. */
static flush *next_flush(sotto_intake *intake)
{
    flush *idle = NULL;
    size_t busy = 0;

    (void)pthread_mutex_lock(&intake->lock);
    for (size_t i = 0; i < FLUSHES; i++) {
        busy += intake->flushes[i].busy;
        if (!intake->flushes[i].busy)
            idle = &intake->flushes[i];
    }
    if (!intake->first || (busy > 0 && intake->bytes < MUCH))
        idle = NULL;
    if (idle)
        idle->busy = true;
    else if (busy == 0)
        (void)pthread_cond_broadcast(&intake->idle);
    (void)pthread_mutex_unlock(&intake->lock);
    return idle;
}

static void start_flushes(sotto_intake *intake)
{
    flush *f = next_flush(intake);

    /* A full queue must not leave what was gathered behind. */
    if (f && sotto_pool_post(intake->server->pool, run_flush, f, NULL) != SOTTO_OK)
        run_flush(f, NULL);
}

void sotto_intake_put(sotto_intake *intake, sotto_upload_request *upload)
{
    upload->next = NULL;
    (void)pthread_mutex_lock(&intake->lock);
    *intake->end = upload;
    intake->end = &upload->next;
    intake->bytes += upload->arena.held;
    (void)pthread_mutex_unlock(&intake->lock);
    start_flushes(intake);
}

sotto_status sotto_intake_open(sotto_intake **out, sotto_server *server, sotto_err *err)
{
    sotto_intake *intake = sotto_alloc(sizeof *intake);

    if (!intake)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the intake");
    intake->server = server;
    intake->end = &intake->first;
    for (size_t i = 0; i < FLUSHES; i++) {
        intake->flushes[i].intake = intake;
        sotto_arena_init(&intake->flushes[i].arena, MEMORY);
    }
    (void)pthread_mutex_init(&intake->lock, NULL);
    (void)pthread_cond_init(&intake->idle, NULL);
    *out = intake;
    return SOTTO_OK;
}

static bool is_idle(const sotto_intake *intake)
{
    for (size_t i = 0; i < FLUSHES; i++)
        if (intake->flushes[i].busy)
            return false;
    return !intake->first;
}

void sotto_intake_settle(sotto_intake *intake)
{
    if (!intake)
        return;
    (void)pthread_mutex_lock(&intake->lock);
    while (!is_idle(intake))
        (void)pthread_cond_wait(&intake->idle, &intake->lock);
    (void)pthread_mutex_unlock(&intake->lock);
}

void sotto_intake_close(sotto_intake *intake)
{
    if (!intake)
        return;
    sotto_intake_settle(intake);
    for (size_t i = 0; i < FLUSHES; i++)
        sotto_arena_clear(&intake->flushes[i].arena);
    sotto_release(intake->limbo, intake->limbo_cap * sizeof *intake->limbo);
    (void)pthread_cond_destroy(&intake->idle);
    (void)pthread_mutex_destroy(&intake->lock);
    sotto_release(intake, sizeof *intake);
}
