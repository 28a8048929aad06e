/* The leader's own thread: it forms jobs as lanes fill, and picks up what others left behind. It polls nothing: uploads,
 * jobs and collections wake it; the timers behind that are for what was lost. */
#define _POSIX_C_SOURCE 200809L
#include "serve/leader/leader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rule.h"
#include "base/wait.h"
#include "serve/leader/collection.h"
#include "serve/leader/leader_health.h"
#include "serve/leader/rejected_ids.h"
#include "serve/leader/replicas.h"
#include "serve/leader/segments.h"
#include "serve/tasks/schema.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ADOPT_AT_ONCE = 256, CLAIM_AT_ONCE = 4, LOOK_EVERY_MS = 1000 };

typedef struct sotto_leader_thread {
    pthread_t id;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool woken, stopping, look; /* look: into the database, now */
    unsigned jobs;              /* in flight                    */
    char retry[SOTTO_LEADER_REASON];
} leader_thread;

uint64_t sotto_leader_now_ms(void)
{
    return sotto_clock_monotonic(&sotto_clock_system) / 1000000;
}

size_t sotto_leader_full_job(const sotto_server *server, const sotto_server_task *task)
{
    enum { MEMORY_OF_A_JOB = 4 << 20 }; /* of bodies; what is computed from them comes on top */
    if (!task)
        return 1;
    size_t limits[] = {
        server->options.job_reports,
        MEMORY_OF_A_JOB / (task->dap.report_bytes + 1),
        /* What any helper of ours reads, however it is configured: one that it refused would be lost. */
        SOTTO_JOB_MAX_REPORTS,
        (SOTTO_JOB_MAX_BYTES - SOTTO_JOB_HEAD) / sotto_task_job_entry(task),
    };
    size_t least = limits[0];

    for (size_t i = 1; i < sizeof limits / sizeof limits[0]; i++)
        least = limits[i] < least ? limits[i] : least;
    return least > 0 ? least : 1;
}

/* ---- waking -------------------------------------------------------------------------------------------------- */

static void wake(sotto_leader *leader, bool look)
{
    leader_thread *t = leader->thread;

    (void)pthread_mutex_lock(&t->lock);
    t->woken = true;
    t->look = t->look || look;
    (void)pthread_cond_signal(&t->change);
    (void)pthread_mutex_unlock(&t->lock);
}

void sotto_leader_wake(sotto_leader *leader)
{
    wake(leader, false);
}

void sotto_leader_look(sotto_leader *leader)
{
    wake(leader, true);
}

/* By the leader's thread, which knows: nobody is woken. */
static void add_jobs(leader_thread *t, int change)
{
    (void)pthread_mutex_lock(&t->lock);
    t->jobs = (unsigned)((int)t->jobs + change);
    (void)pthread_mutex_unlock(&t->lock);
}

void sotto_leader_job_ended(sotto_leader *leader)
{
    leader_thread *t = leader->thread;

    sotto_collections_recheck(leader); /* first: once no job is counted, the leader may go */
    (void)pthread_mutex_lock(&t->lock);
    t->jobs--;
    t->woken = true;
    (void)pthread_cond_broadcast(&t->change);
    (void)pthread_mutex_unlock(&t->lock);
}

void sotto_leader_note_retry(sotto_leader *leader, const char *reason)
{
    leader_thread *t = leader->thread;

    (void)pthread_mutex_lock(&t->lock);
    (void)snprintf(t->retry, sizeof t->retry, "%s", reason ? reason : "");
    (void)pthread_mutex_unlock(&t->lock);
}

void sotto_leader_last_retry(sotto_leader *leader, char reason[SOTTO_LEADER_REASON])
{
    leader_thread *t = leader->thread;

    (void)pthread_mutex_lock(&t->lock);
    memcpy(reason, t->retry, sizeof t->retry);
    (void)pthread_mutex_unlock(&t->lock);
}

static bool may_start(sotto_leader *leader)
{
    leader_thread *t = leader->thread;
    bool may;

    (void)pthread_mutex_lock(&t->lock);
    may = !t->stopping && t->jobs < leader->server->options.jobs_in_flight;
    (void)pthread_mutex_unlock(&t->lock);
    return may;
}

/* ---- what there is to do ------------------------------------------------------------------------------------------ */

static uint64_t form_jobs(sotto_leader *leader)
{
    uint64_t wait = LOOK_EVERY_MS;
    sotto_job_segments segments;

    while (may_start(leader) &&
           sotto_lanes_take(leader->lanes, &segments, sotto_leader_now_ms(), &wait)) {
        const sotto_server_task *task = sotto_tasks_by_row(leader->server->tasks, segments.task);

        add_jobs(leader->thread, 1);
        if (sotto_leader_job_start(leader, &segments))
            continue;
        add_jobs(leader->thread, -1);
        for (size_t i = 0; i < segments.count; i++)
            (void)(sotto_lanes_add(leader->lanes, segments.task, segments.bucket, &segments.list[i],
                                   sotto_leader_full_job(leader->server, task),
                                   sotto_leader_now_ms()) == SOTTO_OK);
        return 10; /* the compute threads are busy: a moment later */
    }
    return wait;
}

typedef struct claim {
    int64_t queue, duration_ms;
    sotto_lease leases[CLAIM_AT_ONCE];
    size_t count;
} claim;

static sotto_status claim_some(sotto_tx *tx, void *context, sotto_err *err)
{
    claim *c = context;

    return sotto_lease_claim(tx, c->leases, CLAIM_AT_ONCE, &c->count, c->queue, c->duration_ms,
                             err);
}

/* What was claimed but can't be started now is found again when its lease ends. */
static void claim_work(sotto_leader *leader, int64_t queue)
{
    claim c = {.queue = queue,
               .duration_ms = (int64_t)leader->server->host->options.lease_seconds * 1000};

    do {
        if (!may_start(leader) ||
            sotto_db_run(leader->server->db, claim_some, &c, NULL) != SOTTO_OK)
            return;
        for (size_t i = 0; i < c.count; i++) {
            if (queue == SOTTO_QUEUE_COLLECTIONS) {
                (void)sotto_collection_step(leader, &c.leases[i]);
                continue;
            }
            add_jobs(leader->thread, 1);
            if (!sotto_leader_job_resume(leader, &c.leases[i]))
                add_jobs(leader->thread, -1);
        }
    } while (c.count == CLAIM_AT_ONCE);
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

/* Segments of our own that stand in no lane: their commit was told to have failed and had not, or memory ran out when they
 * were to be put there. One whose job is being formed at this moment is found too, and claimed once all the same. */
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
            if (!sotto_lanes_have(leader->lanes, a->after) && SOTTO_RULE(segments_recalled))
                good = to_lane(leader, &a->segments[i]) == SOTTO_OK;
        }
        if (a->count < ADOPT_AT_ONCE)
            break;
    }
    sotto_release(a, a ? sizeof *a : 0);
}

/* ---- the thread --------------------------------------------------------------------------------------------------------- */

/* Until something happens or the time is up; *look if the database should be looked into. False: stop. */
static bool wait_for_change(leader_thread *t, uint64_t wait_ms, bool *look)
{
    const struct timespec until = sotto_wait_until(wait_ms);
    bool go_on;

    (void)pthread_mutex_lock(&t->lock);
    while (!t->woken && !t->stopping && pthread_cond_timedwait(&t->change, &t->lock, &until) == 0)
        ;
    *look = t->look;
    t->woken = t->look = false;
    go_on = !t->stopping;
    (void)pthread_mutex_unlock(&t->lock);
    return go_on;
}

static void *run(void *context)
{
    sotto_leader *leader = context;
    uint64_t looked = 0, recalled = sotto_leader_now_ms(), wait = 0;
    bool look = true;

    while (wait_for_change(leader->thread, wait, &look)) {
        uint64_t now = sotto_leader_now_ms();

        if (look || now - looked >= LOOK_EVERY_MS) {
            claim_work(leader, SOTTO_QUEUE_COLLECTIONS);
            claim_work(leader, SOTTO_QUEUE_JOBS);
            (void)(adopt(leader, false, NULL) == SOTTO_OK); /* else next time */
            sotto_leader_flush_for_others(leader);
            looked = now;
        }
        if (now - recalled >= leader->server->host->options.lease_seconds * 1000) {
            recall(leader);
            recalled = now;
        }
        wait = form_jobs(leader);
    }
    return NULL;
}

static sotto_status end_leases(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)context;
    SOTTO_TRY(sotto_lease_take_over(tx, SOTTO_QUEUE_JOBS, err));
    return sotto_lease_take_over(tx, SOTTO_QUEUE_COLLECTIONS, err);
}

/* What a process that was killed had under way waits for its leases to end, unless nobody else can hold them. */
static sotto_status take_over(sotto_leader *leader, sotto_err *err)
{
    bool alone = leader->spool != NULL; /* which one process has at a time */

    if (alone)
        SOTTO_TRY(sotto_db_run(leader->server->db, end_leases, NULL, err));
    return adopt(leader, alone, err);
}

/* What the parts of a leader wake; it does not run yet. */
static leader_thread *new_thread(void)
{
    leader_thread *t = sotto_alloc(sizeof *t);

    if (!t || !sotto_wait_init(&t->change)) {
        sotto_release(t, t ? sizeof *t : 0);
        return NULL;
    }
    (void)pthread_mutex_init(&t->lock, NULL);
    return t;
}

static sotto_status start_thread(sotto_leader *leader, sotto_err *err)
{
    leader_thread *t = leader->thread;

    if (leader->spool)
        SOTTO_TRY(
            sotto_db_read(leader->server->db, sotto_segments_claim_places, leader->spool, err));
    SOTTO_TRY(take_over(leader, err));
    if (pthread_create(&t->id, NULL, run, leader) != 0)
        return sotto_fail(err, SOTTO_IO, "no thread for the leader");
    t->started = true;
    return sotto_leader_others_open(leader, err);
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

sotto_status sotto_leader_open(sotto_leader **out, sotto_server *server, sotto_err *err)
{
    sotto_leader *leader = sotto_alloc(sizeof *leader);
    sotto_status status;

    if (!leader)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the leader");
    leader->server = server;
    *out = leader; /* the parts below call for it */
    leader->thread = new_thread();
    status = leader->thread ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "the leader");
    if (status == SOTTO_OK)
        status = sotto_leader_health_new(&leader->health, err);
    if (status == SOTTO_OK)
        status = sotto_spool_open(&leader->spool, server->host->options.database,
                                  server->host->options.vfs, err);
    if (status == SOTTO_OK)
        status = sotto_lanes_open(&leader->lanes, server->options.job_delay_ms, err);
    if (status == SOTTO_OK)
        status = sotto_collections_open(&leader->collections, leader, err);
    if (status == SOTTO_OK)
        status = count_rejected(leader, err);
    if (status == SOTTO_OK)
        status = sotto_intake_open(&leader->intake, server, err);
    if (status == SOTTO_OK)
        status = start_thread(leader, err);
    if (status != SOTTO_OK) {
        sotto_leader_close(leader, 0);
        *out = NULL;
    }
    return status;
}

/* True once no job is in flight. */
static bool wait_for_jobs(leader_thread *t, uint64_t milliseconds)
{
    uint64_t until = sotto_leader_now_ms() + milliseconds;
    bool idle;

    do {
        struct timespec moment = {0, 5000000};

        (void)pthread_mutex_lock(&t->lock);
        idle = t->jobs == 0;
        (void)pthread_mutex_unlock(&t->lock);
        if (!idle)
            (void)nanosleep(&moment, NULL);
    } while (!idle && sotto_leader_now_ms() < until);
    return idle;
}

void sotto_leader_stop(sotto_leader *leader, uint64_t milliseconds)
{
    leader_thread *t = leader->thread;

    sotto_leader_others_close(leader);
    if (!t || !t->started)
        return;
    (void)pthread_mutex_lock(&t->lock);
    t->stopping = true;
    (void)pthread_cond_broadcast(&t->change);
    (void)pthread_mutex_unlock(&t->lock);
    (void)pthread_join(t->id, NULL);
    t->started = false;
    (void)wait_for_jobs(t, milliseconds);
}

void sotto_leader_settle(sotto_leader *leader)
{
    sotto_intake_settle(leader->intake);
}

void sotto_leader_close(sotto_leader *leader, uint64_t milliseconds)
{
    if (!leader)
        return;
    sotto_leader_stop(leader, milliseconds);
    sotto_intake_settle(leader->intake); /* which wants the spool ... */
    sotto_spool_close(
        leader->spool); /* ... whose thread may still be on its way out of the intake */
    sotto_intake_close(leader->intake);
    sotto_collections_close(leader->collections);
    sotto_lanes_close(leader->lanes);
    if (leader->thread) {
        (void)pthread_cond_destroy(&leader->thread->change);
        (void)pthread_mutex_destroy(&leader->thread->lock);
    }
    sotto_release(leader->thread, leader->thread ? sizeof *leader->thread : 0);
    sotto_leader_health_free(leader->health);
    sotto_release(leader, sizeof *leader);
}
