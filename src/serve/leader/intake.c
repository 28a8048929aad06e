/* Uploads that arrive during a commit are gathered, and become segments in the next commit. Where bodies have a spool, they are
 * synced there first, so that a row never names bytes that may still be lost. Where commits take less time than PACE_MS, the
 * next one waits that long for more reports, unless it has enough. So reports that come one by one share syncs. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader/flush.h"
#include "serve/leader/leader.h"
#include "serve/leader/pace.h"
#include "serve/tasks/metrics.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rule.h"
#include "dap/dap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* One commit takes no more than MAX_BYTES, or than fill every lane of the first step. Beyond that a sync is a small part
 * of the work, but memory is not. A second one is begun beside the first only for much or many, so that what comes in small
 * pieces still shares its commits. */
enum {
    MEMORY = 512 << 20,
    MAX_GATHERED = 4096,
    MAX_BYTES = 8 << 20,
    MUCH = 1 << 20,
    FLUSHES = 3,
    LANES = 8
};
enum { TELL_EVERY_MS = 1000 };
/* From the beginning of one commit to that of the next, where there are fewer reports than that. */
enum { PACE_MS = 4, ENOUGH = 128, SOME = 32 };
enum { FEW = 64 };

typedef struct flush {
    sotto_intake *intake;
    sotto_flush work;
    sotto_spool_job spooled;
    sotto_db_job job;
    bool busy; /* on its way */
} flush;

struct sotto_intake {
    sotto_server *server;
    pthread_mutex_t lock;
    pthread_cond_t idle;
    sotto_upload_request *first, **end; /* gathered, the oldest first */
    size_t bytes, reports;              /* ... and how much that is   */
    size_t taken;                       /* by the last flush          */
    sotto_pace *pace;
    flush flushes[FLUSHES];
    /* Places of rows whose commit failed. Until the next commit that writes, the disk may still show them as used. */
    sotto_spool_place *in_doubt;
    size_t in_doubt_count, in_doubt_cap;
    uint64_t failed, told_ms; /* flushes that failed since somebody was told, and when that was */
};

/* ---- places ----------------------------------------------------------------------------------------------------- */

static bool grow_in_doubt(sotto_intake *intake)
{
    size_t cap = intake->in_doubt_cap ? 2 * intake->in_doubt_cap : 16;
    sotto_spool_place *more = sotto_alloc_grow(intake->in_doubt, intake->in_doubt_cap,
                                               intake->in_doubt_count, cap, sizeof *more);

    if (!more)
        return false;
    intake->in_doubt = more;
    intake->in_doubt_cap = cap;
    return true;
}

/* On the store's thread, in the order of the commits. A place that can't be remembered is lost until the next start. */
static void settle_places(sotto_intake *intake, const flush *f, sotto_status status)
{
    sotto_leader *leader = sotto_leader_of(intake->server);
    sotto_spool *spool = leader->spool;

    if (!spool)
        return;
    for (; status == SOTTO_OK && f->work.wrote && intake->in_doubt_count > 0;
         intake->in_doubt_count--)
        sotto_spool_give_back(spool, &intake->in_doubt[intake->in_doubt_count - 1]);
    for (const sotto_flush_group *g = f->work.first; g; g = g->next) {
        if (g->segment.place.len == 0)
            continue;
        if (status == SOTTO_OK) {
            if (g->segment.reports == g->segment.skipped) /* it got no row */
                sotto_spool_give_back(spool, &g->segment.place);
        } else if (g->segment.place.file != 0) {
            atomic_fetch_add(&leader->in_doubt_bytes, (size_t)g->segment.place.len);
        } else if (intake->in_doubt_count < intake->in_doubt_cap || grow_in_doubt(intake)) {
            intake->in_doubt[intake->in_doubt_count++] = g->segment.place;
        }
    }
}

/* ---- the flush ------------------------------------------------------------------------------------------------------ */

static void start_flushes(sotto_intake *intake, bool here, sotto_worker *worker);
static size_t bytes_of(const sotto_upload_request *upload);

/* Keeps a group's reports in memory for their job; NULL: it will read them. */
static sotto_cached_reports *hold(const flush *f, const sotto_flush_group *g)
{
    sotto_cached_reports *cached = sotto_cached_reports_new(sotto_leader_of(f->intake->server),
                                                            g->segment.reports, g->uploads);
    const sotto_upload_request *last = NULL;

    if (!cached)
        return NULL;
    cached->place = g->segment.place;
    for (size_t i = 0; i < g->count; i++) {
        const sotto_uploaded *r = g->reports[i];

        if (r->upload != last)
            sotto_cached_reports_add_upload(cached, r->upload);
        last = r->upload;
        if (r->error == 0)
            sotto_cached_reports_add_record(cached, r->record);
    }
    return cached;
}

/* Somebody sends what is refused, again and again, or a task has many broken devices. */
static void count_notes(const sotto_server *server, uint64_t noted)
{
    uint64_t before = atomic_fetch_add(&sotto_leader_of(server)->noted, noted);

    if (before < server->options.most_rejected_ids &&
        before + noted >= server->options.most_rejected_ids)
        sotto_log(server->log, SOTTO_LOG_WARNING, "upload.refusals_not_noted",
                  sotto_log_uint("noted", before + noted));
}

static void forget_sum(sotto_flush_group *g)
{
    sotto_cached_reports_free(g->cached);
    g->cached = NULL;
}

/* What is in memory of a group that is stored. The sum of long ones is of all that were opened: if the transaction refused one,
 * the job reads the others. */
static void keep_in_memory(const flush *f, sotto_flush_group *g)
{
    if (!sotto_job_part_is_long(g->task)) {
        if (g->segment.reports > g->segment.skipped)
            g->cached = hold(f, g);
        return;
    }
    if (SOTTO_RULE(long_sum_is_whole) && g->segment.skipped > 0)
        forget_sum(g);
    if (g->segment.reports == 0)
        forget_sum(g);
    if (g->cached)
        g->cached->place = g->segment.place;
}

/* What became of each report. */
static void announce(flush *f)
{
    for (sotto_flush_group *g = f->work.first; g; g = g->next) {
        sotto_metrics_reports(f->intake->server->metrics, g->causes, SOTTO_REPORT_ERRORS);
        count_notes(f->intake->server, g->noted);
        for (size_t r = 0; r < g->count; r++)
            g->reports[r]->error = sotto_flush_verdict(g, r);
        keep_in_memory(f, g);
    }
}

static void to_lanes(flush *f)
{
    sotto_leader *leader = sotto_leader_of(f->intake->server);

    for (sotto_flush_group *g = f->work.first; g; g = g->next) {
        sotto_job_segment segment = {g->segment.n, g->segment.reports - g->segment.skipped,
                                     g->cached, 0};

        if (segment.reports == 0)
            continue;
        g->cached = NULL;
        /* A segment that is not put into a lane here is found by the sweep. */
        (void)(sotto_lanes_add(leader->lanes, g->task->n, g->bucket, &segment,
                               sotto_leader_full_job(f->intake->server, g->task),
                               sotto_clock_ms()) == SOTTO_OK);
    }
    sotto_steps_wake(leader->steps);
}

/* A full disk fails every flush: one line a second says so. */
static void tell(sotto_intake *intake, const sotto_err *err)
{
    uint64_t now = sotto_clock_ms(), failed;
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
        sotto_log(intake->server->log, SOTTO_LOG_ERROR, "upload.not_stored",
                  sotto_log_uint("flushes", failed),
                  sotto_log_text("reason", err && err->reason[0] ? err->reason : "out of memory"));
}

static void end_flush(flush *f, sotto_status status)
{
    sotto_intake *intake = f->intake;
    sotto_upload_request *next;

    for (sotto_upload_request *u = f->work.uploads; u; u = next) {
        next = u->next;
        if (status == SOTTO_OK)
            sotto_upload_answer(u);
        else
            sotto_upload_give_up(u, status);
    }
    f->work.uploads = NULL;
    for (sotto_flush_group *g = f->work.first; g; g = g->next)
        forget_sum(g); /* of what was not stored */
    f->work.first = NULL;
    sotto_arena_clear(&f->work.arena); /* large blocks are kept for all (base/alloc.h) */
    (void)pthread_mutex_lock(&intake->lock);
    f->busy = false;
    (void)pthread_mutex_unlock(&intake->lock);
    start_flushes(intake, false, NULL);
}

/* worker is NULL on the store's thread. */
static void after_commit(void *context, sotto_worker *worker)
{
    flush *f = context;

    (void)worker;
    if (f->job.status == SOTTO_OK) {
        announce(f);
        to_lanes(f);
    }
    end_flush(f, f->job.status);
}

/* Few answers are written sooner than another thread is woken for them. */
static bool has_few_answers(const flush *f)
{
    size_t reports = 0;

    for (const sotto_flush_group *g = f->work.first; g; g = g->next) {
        if (sotto_job_part_is_long(g->task))
            return false;
        reports += g->count;
    }
    return reports <= FEW;
}

/* Many answers are written on a worker: the store's thread has the next commit to make. */
static void hand_back(flush *f, sotto_status status)
{
    bool here = status == SOTTO_OK && has_few_answers(f);

    f->job.status = status;
    if (here || sotto_pool_post(f->intake->server->pool, after_commit, f, NULL) != SOTTO_OK)
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

static sotto_status store(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_flush_store(tx, context, err);
}

static void commit(flush *f)
{
    f->job = (sotto_db_job){store, &f->work, on_stored, f, NULL, SOTTO_OK, {0}};
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
    for (sotto_flush_group *g = f->work.first; g; g = g->next)
        if (g->segment.reports > 0)
            g->segment.place = piece++->place;
    commit(f);
}

static void spool_bodies(flush *f, sotto_spool *spool)
{
    sotto_spool_piece *pieces =
        sotto_arena_take_array(&f->work.arena, f->work.count + 1, sizeof *pieces);
    size_t count = 0;

    if (!pieces) {
        tell(f->intake, NULL);
        end_flush(f, SOTTO_NO_MEMORY);
        return;
    }
    for (sotto_flush_group *g = f->work.first; g; g = g->next)
        if (g->segment.reports > 0)
            pieces[count++] = (sotto_spool_piece){
                g->segment.body, {0}, g->segment.shares, g->segment.share_count};
    f->spooled = (sotto_spool_job){pieces, count, on_spooled, f, NULL, SOTTO_OK, {0}};
    sotto_spool_post(spool, &f->spooled);
}

/* Takes the oldest of what was gathered. */
static void take_gathered(sotto_intake *intake, flush *f)
{
    size_t taken = 0, bytes = 0;
    sotto_upload_request **at;

    (void)pthread_mutex_lock(&intake->lock);
    f->work.uploads = intake->first;
    for (at = &intake->first; *at && taken < MAX_GATHERED && (bytes < MAX_BYTES || taken < LANES);
         at = &(*at)->next) {
        taken += (*at)->count;
        bytes += bytes_of(*at);
    }
    intake->first = *at;
    intake->bytes -= bytes;
    intake->reports -= taken;
    if (taken > 0)
        intake->taken = taken;
    *at = NULL;
    if (!intake->first)
        intake->end = &intake->first;
    (void)pthread_mutex_unlock(&intake->lock);
}

static void prepare(void *context, sotto_worker *worker)
{
    flush *f = context;
    sotto_spool *spool = NULL;
    sotto_status status;
    sotto_err err = {0};

    status = sotto_flush_prepare(&f->work, worker, &err);
    if (status == SOTTO_OK)
        spool = sotto_leader_spool_for(sotto_leader_of(f->intake->server), f->work.bytes);
    if (status == SOTTO_OK && !spool)
        status = sotto_flush_join(&f->work, &err);
    if (status != SOTTO_OK)
        tell(f->intake, &err);
    if (status != SOTTO_OK || !f->work.first) /* or another flush took what there was */
        end_flush(f, status);
    else if (spool)
        spool_bodies(f, spool);
    else
        commit(f);
}

/* Long reports are opened here, which takes a worker. Where there is none, their clients retry. */
static void run_flush(void *context, sotto_worker *worker)
{
    flush *f = context;

    take_gathered(f->intake, f);
    f->work.first = NULL;
    if (worker || !sotto_flush_is_long(&f->work))
        prepare(f, worker);
    else if (sotto_pool_post(f->intake->server->pool, prepare, f, NULL) != SOTTO_OK)
        end_flush(f, SOTTO_AGAIN);
}

/* A sync is a small part of the work then; the lock is held. */
static bool has_enough(const sotto_intake *intake)
{
    return intake->reports >= ENOUGH || (intake->bytes >= MUCH && intake->reports >= LANES);
}

/* Much, or as many as the last one had: where clients wait for their answers before they send more, these are all that come. */
static bool has_all(const sotto_intake *intake)
{
    return intake->bytes >= MUCH || (intake->reports >= SOME && intake->reports >= intake->taken);
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
    if (!intake->first || (busy > 0 && !has_enough(intake)))
        idle = NULL;
    if (idle && !sotto_pace_begin(intake->pace, has_enough(intake) || has_all(intake)))
        idle = NULL;
    if (idle)
        idle->busy = true;
    else if (busy == 0)
        (void)pthread_cond_broadcast(&intake->idle);
    (void)pthread_mutex_unlock(&intake->lock);
    return idle;
}

/* here: run it on this thread instead of waking another; worker: this thread, or NULL if it is no worker. A flush that has ended starts no
 * other by itself: with commits that fail, the calls would nest without end. */
static void start_flushes(sotto_intake *intake, bool here, sotto_worker *worker)
{
    flush *f = next_flush(intake);

    /* If the queue is full, what was gathered must still be flushed. */
    if (f && (here || sotto_pool_post(intake->server->pool, run_flush, f, NULL) != SOTTO_OK))
        run_flush(f, worker);
}

static void on_due(void *context)
{
    start_flushes(context, true, NULL);
}

/* Long ones are still in their requests. */
static size_t bytes_of(const sotto_upload_request *upload)
{
    return upload->arena.held + (upload->dap_reports ? upload->body_bytes : 0);
}

void sotto_intake_put(sotto_intake *intake, sotto_upload_request *chain, sotto_worker *worker)
{
    sotto_upload_request *last = chain;
    size_t bytes = bytes_of(chain), reports = chain->count;

    for (; last->next; last = last->next) {
        bytes += bytes_of(last->next);
        reports += last->next->count;
    }
    (void)pthread_mutex_lock(&intake->lock);
    *intake->end = chain;
    intake->end = &last->next;
    intake->bytes += bytes;
    intake->reports += reports;
    (void)pthread_mutex_unlock(&intake->lock);
    start_flushes(intake, true, worker);
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
        intake->flushes[i].work.server = server;
        sotto_arena_init(&intake->flushes[i].work.arena, MEMORY);
    }
    (void)pthread_mutex_init(&intake->lock, NULL);
    (void)pthread_cond_init(&intake->idle, NULL);
    *out = intake;
    return sotto_pace_open(&intake->pace, PACE_MS, on_due, intake, err);
}

sotto_pace *sotto_intake_pace(sotto_intake *intake)
{
    return intake->pace;
}

size_t sotto_intake_waiting(sotto_intake *intake)
{
    size_t reports;

    (void)pthread_mutex_lock(&intake->lock);
    reports = intake->reports;
    (void)pthread_mutex_unlock(&intake->lock);
    return reports;
}

static bool is_idle(const sotto_intake *intake)
{
    for (size_t i = 0; i < FLUSHES; i++)
        if (intake->flushes[i].busy)
            return false;
    return !intake->first;
}

bool sotto_intake_is_busy(sotto_intake *intake)
{
    bool idle;

    (void)pthread_mutex_lock(&intake->lock);
    idle = is_idle(intake);
    (void)pthread_mutex_unlock(&intake->lock);
    return !idle;
}

void sotto_intake_hurry(sotto_intake *intake)
{
    if (intake && intake->pace)
        sotto_pace_set(intake->pace, 0);
}

void sotto_intake_settle(sotto_intake *intake)
{
    if (!intake)
        return;
    sotto_intake_hurry(intake);
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
    sotto_pace_close(intake->pace);
    for (size_t i = 0; i < FLUSHES; i++)
        sotto_arena_clear(&intake->flushes[i].work.arena);
    sotto_release(intake->in_doubt, intake->in_doubt_cap * sizeof *intake->in_doubt);
    (void)pthread_cond_destroy(&intake->idle);
    (void)pthread_mutex_destroy(&intake->lock);
    sotto_release(intake, sizeof *intake);
}
