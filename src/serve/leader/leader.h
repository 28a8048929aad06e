/* serve/leader/leader.h - what the leader's parts know of each other.
 *
 *     arrivals.c        requests that wait for a compute thread, which takes many small ones at once
 *     upload.c          requests in, reports opened
 *     intake.c          what was opened becomes segments, one commit for all that waited
 *     long_reports.c    ... long reports are opened and summed on the way
 *     cached_reports.c  reports that are still in memory when their job is formed
 *     lanes.c           segments that wait for a job, by task and bucket
 *     jobs.c            a job: formed, sent, finished
 *     collections.c     collection jobs: waiting, closed, done
 *     collection_waits.c  collectors whose answer is a moment away
 *     replicas.c        several leaders over one PostgreSQL
 *     leader.c          when jobs are formed, and what happens at the start
 *     leader_service.c  all of it as a service on a host
 */
#ifndef SOTTO_SERVE_LEADER_LEADER_H
#define SOTTO_SERVE_LEADER_LEADER_H

#include "serve/host/steps.h"
#include "serve/leader/cached_reports.h"
#include "serve/tasks/batches.h"
#include "serve/tasks/server.h"

#include <stdatomic.h>

/* ---- intake ------------------------------------------------------------------------------------------------- */

typedef struct sotto_intake sotto_intake;
struct sotto_upload_request; /* upload.h */

SOTTO_MUST_USE sotto_status sotto_intake_open(sotto_intake **intake, sotto_server *server,
                                              sotto_err *err);
/* Waits until what it has is answered; store and spool must still run. NULL is fine. */
void sotto_intake_settle(sotto_intake *intake);
/* NULL is fine. */
void sotto_intake_close(sotto_intake *intake);
/* Takes over a chain of requests (by `next`) whose reports are opened, or are long; each is answered once they are on disk, or
 * refused. worker: who calls; NULL is fine. */
void sotto_intake_put(sotto_intake *intake, struct sotto_upload_request *chain,
                      sotto_worker *worker);
/* From now on no commit waits for more reports. NULL is fine. */
void sotto_intake_hurry(sotto_intake *intake);
/* For tests: how soon one commit follows another, and how many reports wait for one. */
struct sotto_pace *sotto_intake_pace(sotto_intake *intake);
size_t sotto_intake_waiting(sotto_intake *intake);
/* Whether uploads are gathered or stored just now. */
bool sotto_intake_is_busy(sotto_intake *intake);

/* ---- lanes: what waits for a job ------------------------------------------------------------------------------ */

typedef struct sotto_lanes sotto_lanes;

/* Buckets in which reports wait: a stranger may choose them, so their number is bounded, for each task and for all. */
enum {
    SOTTO_JOB_MAX_SEGMENTS = 1024,
    SOTTO_MAX_LANES = 4096,
    SOTTO_MAX_TASK_LANES = SOTTO_MAX_LANES / 4
};

typedef struct sotto_job_segment {
    int64_t n;
    size_t reports;               /* that its job is to take                       */
    sotto_cached_reports *cached; /* NULL: they are to be read from the database   */
    unsigned tries;               /* jobs of it that could not be formed           */
} sotto_job_segment;

/* In `tries`, beside their number: one of those with which it was tried could not be read, so that its next job is to have no
 * other segment. */
#define SOTTO_TRIED_ALONE 0x80000000U

static inline unsigned sotto_job_segment_tries(const sotto_job_segment *s)
{
    return s->tries & ~SOTTO_TRIED_ALONE;
}

static inline bool sotto_job_segment_is_alone(const sotto_job_segment *s)
{
    return (s->tries & SOTTO_TRIED_ALONE) != 0;
}

/* One more try; alone: its next job is to be its own. The number stays below the bit. */
static inline void sotto_job_segment_tried(sotto_job_segment *s, bool alone)
{
    unsigned tries = sotto_job_segment_tries(s);

    s->tries =
        (tries < SOTTO_TRIED_ALONE - 1 ? tries + 1 : tries) | (alone ? SOTTO_TRIED_ALONE : 0);
}

/* Segments that go into one job. */
typedef struct sotto_job_segments {
    int64_t task;
    uint64_t bucket;
    size_t count;
    sotto_job_segment list[SOTTO_JOB_MAX_SEGMENTS];
    size_t reports;
} sotto_job_segments;

/* A lane gives a job job_delay_ms after its oldest segment came, or once nothing came to it for quiet_ms. */
SOTTO_MUST_USE sotto_status sotto_lanes_open(sotto_lanes **lanes, uint64_t job_delay_ms,
                                             uint64_t quiet_ms, sotto_err *err);
void sotto_lanes_close(sotto_lanes *lanes);
/* Takes what the segment holds over. full: reports that make a full job of this task. One that was tried before lets its
 * lane rest, a tenth of a second at first and half a minute at most, whoever flushes it.
 *   SOTTO_NO_MEMORY  forgotten here; the leader finds it in the database once a lease has passed */
SOTTO_MUST_USE sotto_status sotto_lanes_add(sotto_lanes *lanes, int64_t task, uint64_t bucket,
                                            const sotto_job_segment *segment, size_t full,
                                            uint64_t now_ms);
/* Whether a segment of this number waits here. */
bool sotto_lanes_have(sotto_lanes *lanes, int64_t n);
/* Whether reports of this bucket may still come: it has a lane, or the bounds for this task and for all leave room. The
 * buckets of now and just before, where honest reports are, are always allowed. */
bool sotto_lanes_have_room(sotto_lanes *lanes, int64_t task, uint64_t bucket, uint64_t present);
/* For tables of tasks and buckets. */
uint64_t sotto_lanes_hash(int64_t task, uint64_t bucket);
/* Whether the partly filled jobs of these buckets should be sent at once. */
void sotto_lanes_flush(sotto_lanes *lanes, int64_t task, const sotto_batch_range *range);
/* Whether more is on its way, so that lanes to which nothing came for a while wait on. */
void sotto_lanes_expect(sotto_lanes *lanes, bool more);
/* Segments for a job that is full, has waited long enough, or is to be flushed. False: none; *wait_ms until the next. */
bool sotto_lanes_take(sotto_lanes *lanes, sotto_job_segments *out, uint64_t now_ms,
                      uint64_t *wait_ms);
size_t sotto_lanes_reports(sotto_lanes *lanes);

/* ---- the leader -------------------------------------------------------------------------------------------------- */

/* Which collection was looked at last, by when it was asked for. */
typedef struct sotto_collection_cursor {
    int64_t added, n;
} sotto_collection_cursor;

typedef struct sotto_leader {
    sotto_server *server;
    sotto_last_seen *health;
    struct sotto_arrivals *arrivals;
    sotto_intake *intake;
    sotto_lanes *lanes;
    sotto_steps *steps; /* the host's */
    struct sotto_leader_others *others;
    struct sotto_collection_waits *waits;
    /* By the thread of steps alone: */
    sotto_collection_cursor flushed;
    uint64_t recalled_ms;         /* when segments of our own were last looked for */
    sotto_spool *spool;           /* where bodies are kept; NULL: in their rows */
    bool alone;                   /* over SQLite: one process has the database at a time */
    atomic_size_t in_doubt_bytes; /* what failed commits named in a spool that replicas share */
    atomic_size_t cached_bytes;   /* bytes of uploads that wait for their job in memory */
    atomic_uint_least64_t
        noted; /* refusals that strangers can make up: all that were counted before the start, and
                                    those noted by this process since (serve/leader/rejected_ids.h) */
} sotto_leader;

/* The queues of a leader, as host/steps.h has them: collections are driven, and jobs that were put off gone on with. */
enum { SOTTO_LEADER_COLLECTIONS, SOTTO_LEADER_JOBS, SOTTO_LEADER_QUEUES };
extern const sotto_queue sotto_leader_queues[SOTTO_LEADER_QUEUES];

/* What a server of this role has as its own; NULL until it is open. */
static inline sotto_leader *sotto_leader_of(const sotto_server *server)
{
    return (sotto_leader *)server->own;
}

SOTTO_MUST_USE sotto_status sotto_leader_open(sotto_server *server, sotto_err *err);
/* Hears no more of other replicas. */
void sotto_leader_stop(sotto_leader *leader);
/* Waits until every upload is answered. Then the store may be closed. */
void sotto_leader_settle(sotto_leader *leader);
/* NULL is fine. */
void sotto_leader_close(sotto_leader *leader);
/* Forms jobs of what waits, and of what others left behind; as sotto_service.idle. */
uint64_t sotto_leader_idle(sotto_leader *leader, bool looked);

/* Where so many bytes are put; NULL: they go with their row. */
sotto_spool *sotto_leader_spool_for(const sotto_leader *leader, size_t bytes);

/* Reports in a full job: as configured, or fewer where shares are long. So jobs in flight fit in memory, and a job's
 * request is one that the helper reads. task: NULL if it is not loaded: how many there may be is not known, and each
 * segment is a job. */
size_t sotto_leader_full_job(const sotto_server *server, const sotto_server_task *task);

/* Forms a job of these segments and drives it to its end; sorts them. False: it can't be started now, and what the
 * segments hold stays the caller's. */
bool sotto_leader_job_start(sotto_leader *leader, sotto_job_segments *segments);
/* Goes on with a job that is on disk and was claimed. */
void sotto_leader_job_resume(sotto_leader *leader, sotto_step *step);

#endif
