/* While one commit is on its way, what arrives is gathered; then all of it becomes segments and one commit. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader.h"
#include "serve/marks.h"
#include "serve/metrics.h"
#include "serve/release.h"
#include "serve/upload.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "transport/dap.h"

#include <pthread.h>
#include <string.h>

/* One commit takes no more than this: beyond it a sync is a small part of the work, and memory is not. */
enum { MEMORY = 512 << 20, MAX_GATHERED = 4096, MAX_BYTES = 8 << 20 };
enum { POINTER = sizeof(void *) };

/* The reports of one task and bucket within a flush. */
typedef struct group {
    const sotto_server_task *task;
    uint64_t bucket;
    sotto_uploaded **reports;
    sotto_mark *marks;
    size_t count, cap;
    bool closed; /* the transaction found the bucket released: nothing is taken */
    uint64_t causes[SOTTO_REPORT_ERRORS];
    sotto_segment segment;
} group;

typedef struct flush {
    sotto_intake *intake;
    sotto_upload_request *uploads;
    group *groups;
    size_t count, cap;
    sotto_arena arena;
    sotto_db_job job;
} flush;

struct sotto_intake {
    sotto_server *server;
    pthread_mutex_t lock;
    pthread_cond_t idle;
    sotto_upload_request *first, **end; /* gathered, the oldest first */
    bool busy;                          /* a flush is on its way       */
    flush now;
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

static group *new_group(flush *f)
{
    if (f->count == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 16;
        group *groups = sotto_arena_take_array(&f->arena, cap, sizeof *groups);

        if (!groups)
            return NULL;
        if (f->count > 0)
            memcpy(groups, f->groups, f->count * sizeof *groups);
        f->groups = groups;
        f->cap = cap;
    }
    return &f->groups[f->count++];
}

/* The newest group of this task and bucket that has room; nearly always the last one. */
static group *group_of(flush *f, const sotto_server_task *task, uint64_t bucket)
{
    size_t full = sotto_leader_full_job(f->intake->server, task);
    group *g;

    for (size_t i = f->count; i > 0; i--) {
        g = &f->groups[i - 1];
        if (g->task == task && g->bucket == bucket) {
            if (g->count < full)
                return g;
            break;
        }
    }
    g = new_group(f);
    if (g)
        *g = (group){.task = task, .bucket = bucket};
    return g;
}

static bool put(flush *f, const sotto_server_task *task, sotto_uploaded *report)
{
    group *g = group_of(f, task, report->bucket);

    if (!g || (g->count == g->cap && !grow(&f->arena, g)))
        return false;
    g->reports[g->count++] = report;
    return true;
}

static bool group_all(flush *f)
{
    for (sotto_upload_request *u = f->uploads; u; u = u->next)
        for (size_t i = 0; i < u->count; i++)
            if (!put(f, u->task, &u->reports[i]))
                return false;
    return true;
}

/* ---- segments --------------------------------------------------------------------------------------------------- */

/* Every report that is acceptable so far, sealed; which of them the marks refuse is only known later. */
static sotto_status seal_group(flush *f, group *g, sotto_err *err)
{
    size_t size = 0;
    sotto_buf records;

    for (size_t i = 0; i < g->count; i++)
        size += g->reports[i]->error ? 0 : g->reports[i]->record.len;
    g->marks = sotto_arena_take_array(&f->arena, g->count, sizeof *g->marks);
    g->segment.skip = sotto_arena_take(&f->arena, g->count / 8 + 1);
    records = sotto_buf_over(sotto_arena_take(&f->arena, size + 1), size);
    if (!g->marks || !g->segment.skip || !records.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a segment");
    for (size_t i = 0; i < g->count; i++) {
        sotto_uploaded *r = g->reports[i];

        memcpy(g->marks[i].report, r->id, sizeof g->marks[i].report);
        g->marks[i].bucket = r->bucket;
        g->marks[i].wanted = r->error == 0;
        if (r->error == 0) {
            memcpy(records.data + records.len, r->record.data, r->record.len);
            records.len += r->record.len;
            g->segment.reports++;
        }
    }
    g->segment.task = g->task->n;
    g->segment.bucket = g->bucket;
    g->segment.owner = f->intake->server->instance;
    if (g->segment.reports == 0)
        return SOTTO_OK;
    return sotto_segment_seal(&g->segment, &f->intake->server->columns, sotto_buf_bytes(&records),
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

static sotto_status store_group(sotto_tx *tx, sotto_intake *intake, group *g, sotto_err *err)
{
    sotto_batch_key key = sotto_batch_of_bucket(g->bucket);

    SOTTO_TRY(sotto_release_lock(tx, g->task->n, false, err));
    SOTTO_TRY(sotto_batch_is_shut(tx, &g->closed, g->task->n, g->bucket, err));
    if (!SOTTO_RULE(leader_closed_bucket))
        g->closed = false;
    if (!g->closed)
        SOTTO_TRY(sotto_marks_take(tx, g->task->n, g->marks, g->count, err));
    sort_out(g);
    for (unsigned cause = 1; cause < SOTTO_REPORT_ERRORS; cause++)
        if (g->causes[cause] > 0)
            SOTTO_TRY(sotto_batch_reject(tx, g->task->n, &key, cause, intake->server->shard,
                                         g->causes[cause], err));
    if (g->segment.reports > g->segment.skipped)
        SOTTO_TRY(sotto_segment_put(tx, &g->segment, err));
    return SOTTO_OK;
}

static sotto_status store(sotto_tx *tx, void *context, sotto_err *err)
{
    flush *f = context;

    for (size_t i = 0; i < f->count; i++)
        SOTTO_TRY(store_group(tx, f->intake, &f->groups[i], err));
    return SOTTO_OK;
}

/* ---- the flush ------------------------------------------------------------------------------------------------------ */

static void start_flush(sotto_intake *intake);

/* Hands the segments on to their lanes. */
static void announce(flush *f)
{
    sotto_leader *leader = f->intake->server->leader;
    uint64_t now = sotto_leader_now_ms();

    for (size_t i = 0; i < f->count; i++) {
        group *g = &f->groups[i];
        size_t reports = g->segment.reports - g->segment.skipped;

        sotto_metrics_reports(f->intake->server->metrics, g->causes, SOTTO_REPORT_ERRORS);
        for (size_t r = 0; r < g->count; r++)
            g->reports[r]->error = verdict(g, r);
        /* One that is forgotten here is found by the sweep. */
        if (reports > 0)
            (void)(sotto_lanes_add(leader->lanes, g->task->n, g->bucket, g->segment.n, reports,
                                   sotto_leader_full_job(f->intake->server, g->task),
                                   now) == SOTTO_OK);
    }
    sotto_leader_wake(leader);
}

static void end_flush(flush *f, sotto_status status)
{
    sotto_intake *intake = f->intake;
    sotto_upload_request *next;
    bool more;

    for (sotto_upload_request *u = f->uploads; u; u = next) {
        next = u->next;
        if (status == SOTTO_OK)
            sotto_upload_answer(u);
        else
            sotto_upload_give_up(u, status);
    }
    f->uploads = NULL;
    sotto_arena_reset(&f->arena);
    (void)pthread_mutex_lock(&intake->lock);
    more = intake->first != NULL;
    intake->busy = more;
    if (!more)
        (void)pthread_cond_broadcast(&intake->idle);
    (void)pthread_mutex_unlock(&intake->lock);
    if (more)
        start_flush(intake);
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

static void on_stored(void *context, sotto_status status, const sotto_err *err)
{
    flush *f = context;

    (void)err;
    f->job.status = status;
    if (sotto_pool_post(f->intake->server->pool, after_commit, f, NULL) != SOTTO_OK)
        after_commit(f, NULL);
}

static void run_flush(void *context, sotto_worker *worker)
{
    flush *f = context;
    sotto_intake *intake = f->intake;
    sotto_upload_request **at;
    sotto_status status = SOTTO_OK;
    size_t taken = 0, bytes = 0;

    (void)worker;
    (void)pthread_mutex_lock(&intake->lock);
    f->uploads = intake->first;
    for (at = &intake->first; *at && taken < MAX_GATHERED && bytes < MAX_BYTES; at = &(*at)->next) {
        taken += (*at)->count;
        bytes += (*at)->arena.held;
    }
    intake->first = *at;
    *at = NULL;
    if (!intake->first)
        intake->end = &intake->first;
    (void)pthread_mutex_unlock(&intake->lock);
    f->groups = NULL;
    f->count = f->cap = 0;
    if (!group_all(f))
        status = SOTTO_NO_MEMORY;
    for (size_t i = 0; status == SOTTO_OK && i < f->count; i++)
        status = seal_group(f, &f->groups[i], NULL);
    if (status != SOTTO_OK) {
        end_flush(f, status);
        return;
    }
    f->job = (sotto_db_job){store, f, on_stored, f, NULL, SOTTO_OK, {0}};
    sotto_db_post(intake->server->db, &f->job);
}

static void start_flush(sotto_intake *intake)
{
    if (sotto_pool_post(intake->server->pool, run_flush, &intake->now, NULL) != SOTTO_OK)
        run_flush(&intake->now, NULL); /* a full queue must not leave what was gathered behind */
}

void sotto_intake_put(sotto_intake *intake, sotto_upload_request *upload)
{
    bool start;

    upload->next = NULL;
    (void)pthread_mutex_lock(&intake->lock);
    *intake->end = upload;
    intake->end = &upload->next;
    start = !intake->busy;
    intake->busy = true;
    (void)pthread_mutex_unlock(&intake->lock);
    if (start)
        start_flush(intake);
}

sotto_status sotto_intake_open(sotto_intake **out, sotto_server *server, sotto_err *err)
{
    sotto_intake *intake = sotto_alloc(sizeof *intake);

    if (!intake)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the intake");
    intake->server = server;
    intake->end = &intake->first;
    intake->now.intake = intake;
    sotto_arena_init(&intake->now.arena, MEMORY);
    (void)pthread_mutex_init(&intake->lock, NULL);
    (void)pthread_cond_init(&intake->idle, NULL);
    *out = intake;
    return SOTTO_OK;
}

void sotto_intake_close(sotto_intake *intake)
{
    if (!intake)
        return;
    (void)pthread_mutex_lock(&intake->lock);
    while (intake->busy)
        (void)pthread_cond_wait(&intake->idle, &intake->lock);
    (void)pthread_mutex_unlock(&intake->lock);
    sotto_arena_clear(&intake->now.arena);
    (void)pthread_cond_destroy(&intake->idle);
    (void)pthread_mutex_destroy(&intake->lock);
    sotto_release(intake, sizeof *intake);
}
