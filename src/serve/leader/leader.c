/* When jobs are formed: as lanes fill, and of what processes that are gone left behind. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader/leader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rule.h"
#include "db/spool_shared.h"
#include "serve/leader/arrivals.h"
#include "serve/leader/collection_waits.h"
#include "serve/leader/leader_health.h"
#include "serve/leader/rejected_ids.h"
#include "serve/leader/replicas.h"
#include "serve/leader/segments.h"

#include <string.h>

enum { ADOPT_AT_ONCE = 256, FORM_EVERY_MS = 1000 };
/* A lane whose reports pause for this part of job_delay_ms gives its job (decision 390). An answer takes less, so who sends
 * one request after another makes no pause. */
enum { QUIET = 8 };

size_t sotto_leader_full_job(const sotto_server *server, const sotto_server_task *task)
{
    /* Bytes of bodies, which stay until the answer, or of sums of long ones, each of a few reports. What is computed from them
     * is not counted. */
    enum { BODIES = 4 << 20, SUMS = 24 << 20, A_SUM = 8 };
    if (!task)
        return 1;
    size_t limits[] = {
        server->options.job_reports,
        sotto_job_part_is_long(task) ? (SUMS / task->dap.sizes.out_share + 1) * A_SUM
                                     : BODIES / (task->dap.report_bytes + 1),
        /* A size that every sotto helper reads, however it is configured: a larger job would be refused, and
         * abandoned. */
        SOTTO_JOB_MAX_REPORTS,
        (SOTTO_JOB_MAX_BYTES - SOTTO_JOB_HEAD) / sotto_task_job_entry(task),
    };
    size_t least = limits[0];

    for (size_t i = 1; i < sizeof limits / sizeof limits[0]; i++)
        least = limits[i] < least ? limits[i] : least;
    return least > 0 ? least : 1;
}

/* PostgreSQL may still commit what failed, so these places are not used again while this process lives. */
sotto_spool *sotto_leader_spool_for(const sotto_leader *leader, size_t bytes)
{
    enum { MOST_IN_DOUBT = 256 << 20 };

    if (SOTTO_RULE(in_doubt_bounded) && atomic_load(&leader->in_doubt_bytes) >= MOST_IN_DOUBT)
        return NULL;
    return bytes >= SOTTO_SPOOL_LEAST ? leader->spool : NULL;
}

/* ---- what there is to do ------------------------------------------------------------------------------------------ */

static uint64_t form_jobs(sotto_leader *leader)
{
    uint64_t wait = FORM_EVERY_MS;
    sotto_job_segments segments;

    sotto_lanes_expect(leader->lanes, sotto_intake_is_busy(leader->intake));
    while (sotto_steps_have_room(leader->steps, &sotto_leader_queues[SOTTO_LEADER_JOBS]) &&
           sotto_lanes_take(leader->lanes, &segments, sotto_clock_ms(), &wait)) {
        const sotto_server_task *task = sotto_tasks_by_row(leader->server->tasks, segments.task);

        if (sotto_leader_job_start(leader, &segments))
            continue;
        for (size_t i = 0; i < segments.count; i++)
            (void)(sotto_lanes_add(leader->lanes, segments.task, segments.bucket, &segments.list[i],
                                   sotto_leader_full_job(leader->server, task),
                                   sotto_clock_ms()) == SOTTO_OK);
        return 10; /* the compute threads are busy: a moment later */
    }
    return wait;
}

typedef struct adoption {
    sotto_segment segments[ADOPT_AT_ONCE];
    size_t count;
    int64_t owner, age_ms, after;
} adoption;

static sotto_status adopt_some(sotto_tx *tx, void *context, sotto_err *err)
{
    adoption *a = context;

    return sotto_segments_adopt(tx, a->segments, ADOPT_AT_ONCE, &a->count, a->owner, a->age_ms,
                                err);
}

static sotto_status to_lane(sotto_leader *leader, const sotto_segment *s)
{
    const sotto_server_task *task = sotto_tasks_by_row(leader->server->tasks, s->task);

    return sotto_lanes_add(leader->lanes, s->task, s->bucket,
                           &(sotto_job_segment){s->n, s->reports - s->skipped, NULL, 0},
                           sotto_leader_full_job(leader->server, task), 0);
}

/* Segments of processes that are gone. If there is no other process, their age does not matter. */
static sotto_status adopt(sotto_leader *leader, bool alone, sotto_err *err)
{
    sotto_server *server = leader->server;
    adoption *a = sotto_alloc(sizeof *a);
    sotto_status status = a ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "the leader");

    while (status == SOTTO_OK) {
        a->owner = server->instance;
        a->age_ms = alone ? 0 : (int64_t)server->host->options.lease_seconds * 1000;
        status = sotto_db_run(server->db, adopt_some, a, err);
        for (size_t i = 0; status == SOTTO_OK && i < a->count; i++)
            status = to_lane(leader, &a->segments[i]);
        if (status != SOTTO_OK || a->count < ADOPT_AT_ONCE)
            break;
    }
    sotto_release(a, a ? sizeof *a : 0);
    return status;
}

static sotto_status recall_some(sotto_tx *tx, void *context, sotto_err *err)
{
    adoption *a = context;

    return sotto_segments_of(tx, a->segments, ADOPT_AT_ONCE, &a->count, a->owner, a->age_ms,
                             a->after, err);
}

/* Our own segments that are in no lane. Their commit was reported as failed but had succeeded, or memory ran out before
 * they were put there. A segment whose job is being formed just now is found too, but it can be claimed only once. */
static void recall(sotto_leader *leader)
{
    sotto_server *server = leader->server;
    adoption *a = sotto_alloc(sizeof *a);
    bool good = a != NULL;

    if (good) {
        a->owner = server->instance;
        a->age_ms = (int64_t)server->host->options.lease_seconds * 1000;
        a->after = -1;
    }
    while (good) {
        good = sotto_db_read(server->db, recall_some, a, NULL) == SOTTO_OK; /* else next time */
        for (size_t i = 0; good && i < a->count; i++) {
            a->after = a->segments[i].n;
            if (!sotto_lanes_have(leader->lanes, a->after))
                good = to_lane(leader, &a->segments[i]) == SOTTO_OK;
        }
        if (a->count < ADOPT_AT_ONCE)
            break;
    }
    sotto_release(a, a ? sizeof *a : 0);
}

/* ---- when ----------------------------------------------------------------------------------------------------------- */

uint64_t sotto_leader_idle(sotto_leader *leader, bool looked)
{
    uint64_t now = sotto_clock_ms();

    if (looked) {
        (void)(adopt(leader, false, NULL) == SOTTO_OK); /* else next time */
        sotto_leader_flush_for_others(leader);
    }
    if (now - leader->recalled_ms >= leader->server->host->options.lease_seconds * 1000) {
        recall(leader);
        leader->recalled_ms = now;
    }
    return form_jobs(leader);
}

/* What a process that was killed left in the lanes waits for a lease's time, unless nobody else can have it. */
static sotto_status take_over(sotto_leader *leader, sotto_err *err)
{
    bool alone = leader->alone;

    if (alone)
        SOTTO_TRY(
            sotto_db_read(leader->server->db, sotto_segments_claim_places, leader->spool, err));
    SOTTO_TRY(adopt(leader, alone, err));
    return sotto_leader_others_open(leader, err);
}

static bool is_named(void *context, uint64_t file)
{
    const sotto_leader *leader = context;
    sotto_segments_of_file find = {.file = file};

    return sotto_db_read(leader->server->db, sotto_segments_name_file, &find, NULL) != SOTTO_OK ||
           find.named;
}

static sotto_status open_spool(sotto_leader *leader, sotto_err *err)
{
    const sotto_server *server = leader->server;
    const char *directory = server->options.bodies;

    leader->alone = strcmp(sotto_db_kind(server->db), "sqlite") == 0;
    if (!directory)
        return sotto_spool_open(&leader->spool, server->host->options.database,
                                server->host->options.vfs, err);
    if (leader->alone)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "bodies: SQLite keeps them in a file beside it, and needs no directory");
    SOTTO_TRY(sotto_spool_open_in(&leader->spool, directory, (uint64_t)server->instance, err));
    size_t gone = sotto_spool_shared_sweep(directory, (uint64_t)server->instance, is_named, leader);
    if (gone > 0)
        sotto_log(server->log, SOTTO_LOG_INFO, "bodies.swept", sotto_log_uint("files", gone));
    return SOTTO_OK;
}

static sotto_status read_counted(sotto_tx *tx, void *context, sotto_err *err)
{
    return sotto_rejected_ids_counted(tx, context, err);
}

static sotto_status count_rejected(sotto_leader *leader, sotto_err *err)
{
    uint64_t counted;

    SOTTO_TRY(sotto_db_read(leader->server->db, read_counted, &counted, err));
    atomic_init(&leader->noted, counted);
    return SOTTO_OK;
}

sotto_status sotto_leader_open(sotto_server *server, sotto_err *err)
{
    sotto_leader *leader = sotto_alloc(sizeof *leader);
    sotto_status status;

    if (!leader)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the leader");
    leader->server = server;
    server->own = leader; /* the parts below call for it */
    leader->steps = server->host->steps;
    leader->recalled_ms = sotto_clock_ms();
    status = sotto_last_seen_new(&leader->health, sizeof(sotto_leader_health_view), err);
    if (status == SOTTO_OK)
        status = open_spool(leader, err);
    if (status == SOTTO_OK)
        status = sotto_lanes_open(&leader->lanes, server->options.job_delay_ms,
                                  server->options.job_delay_ms / QUIET, err);
    if (status == SOTTO_OK)
        status = count_rejected(leader, err);
    if (status == SOTTO_OK)
        status = sotto_intake_open(&leader->intake, server, err);
    if (status == SOTTO_OK)
        status = sotto_arrivals_open(&leader->arrivals, server->pool, sotto_upload_open_many, err);
    if (status == SOTTO_OK)
        status = sotto_collection_waits_open(&leader->waits, server->db, err);
    if (status == SOTTO_OK)
        status = take_over(leader, err);
    if (status != SOTTO_OK) {
        sotto_leader_close(leader);
        server->own = NULL;
    }
    return status;
}

void sotto_leader_stop(sotto_leader *leader)
{
    sotto_leader_others_close(leader);
}

void sotto_leader_settle(sotto_leader *leader)
{
    sotto_intake_settle(leader->intake);
    sotto_spool_settle(leader->spool); /* requests of jobs, which go on in the store */
}

void sotto_leader_close(sotto_leader *leader)
{
    if (!leader)
        return;
    sotto_leader_stop(leader);
    sotto_collection_waits_close(leader->waits);
    sotto_intake_settle(leader->intake); /* which wants the spool ... */
    sotto_spool_close(leader->spool);    /* ... its thread may still be inside the intake */
    sotto_intake_close(leader->intake);
    sotto_arrivals_close(leader->arrivals);
    sotto_lanes_close(leader->lanes);
    sotto_last_seen_free(leader->health);
    sotto_release(leader, sizeof *leader);
}
