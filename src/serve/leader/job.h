/* serve/leader/job.h - one aggregation job on its way through the leader.
 *
 *     jobs.c    the list of steps: form, store, send, finish
 *     job_verify.c  what is computed: the request, and the sum from the helper's answer
 *     job_part.c    reports through the first step, and the sum of long ones
 *     job_store.c   the transactions
 */
#ifndef SOTTO_SERVE_LEADER_JOB_H
#define SOTTO_SERVE_LEADER_JOB_H

#include "dap/job.h"
#include "serve/leader/leader.h"
#include "serve/leader/segments.h"

/* What is to be written down of one of a job's segments. */
typedef struct sotto_segment_note {
    int64_t n;                                /* -1: all of them */
    char why[sizeof((sotto_err *)0)->reason]; /* why it could not be read; empty: it could after
                                               * all */
} sotto_segment_note;

typedef struct sotto_leader_job {
    sotto_leader *leader;
    const sotto_server_task *task;
    int64_t n; /* its row */
    uint8_t
        id[SOTTO_RESOURCE_ID_SIZE]; /* a hash of its request, by which the helper knows it too */
    sotto_step *step;
    bool resumed;                /* it was on disk before                       */
    bool on_disk;                /* it is on disk by now, and owns its segments */
    bool unread;                 /* its segments could not be read, or some     */
    bool lost;                   /* resumed: no segment is left, nor a request that opens */
    int64_t refusals;            /* how often the helper refused this request before this attempt */
    bool refused;                /* ... and now                                 */
    sotto_job_segments segments; /* segments; if it was resumed, once they are read */
    sotto_segment_note *notes;   /* as many as note_count                  */
    size_t note_count;
    sotto_spool_place *places; /* of the segments' bodies, given back when they are gone */
    uint64_t bucket;
    sotto_batch_key batch;
    int64_t fold;          /* where its share goes; 0: it keeps it (serve/tasks/folds.h) */
    sotto_job_part *parts; /* of long reports one for each segment, else one */
    size_t part_count;
    sotto_tally sum;      /* of long reports: all that were sent             */
    size_t count;         /* of reports in all parts                         */
    sotto_bytes *records; /* those that were read last, not skipped; of long ones a segment's */
    size_t read;          /* ... how many                          */
    sotto_arena body;     /* ... and what those of long ones lie in */
    size_t at;            /* the segment that is read next         */
    bool left_out;        /* ... it can't be read, and the job goes on without it */
    uint64_t stored;      /* reports that its row says it has, if it was resumed */
    sotto_buf request;    /* empty: no report was left to send             */
    sotto_buf sealed;     /* the request as it is stored, unless resumed   */
    sotto_spool_piece stored_request; /* ... where, if not in its row */
    sotto_spool_job spooled;
    sotto_bytes answer;
    sotto_bytes place; /* where the helper says that its job is; empty: it does not */
    sotto_sub_aggregate sub;
    uint64_t causes[SOTTO_CAUSES];
    sotto_db_job db;
    sotto_arena arena;
} sotto_leader_job;

/* The first step of the reports that were loaded. */
SOTTO_MUST_USE sotto_status sotto_leader_begin(sotto_leader_job *job, sotto_err *err);
/* The same for long reports, segment by segment, which it loads where they are not in memory. */
SOTTO_MUST_USE sotto_status sotto_leader_begin_long(sotto_leader_job *job, sotto_err *err);
/* Writes the request and seals it. */
SOTTO_MUST_USE sotto_status sotto_leader_write_request(sotto_leader_job *job, sotto_err *err);
/* Works the helper's answer into sub and causes. SOTTO_MALFORMED: the answer is not one for this request.
 * SOTTO_AGAIN: all is too early for the helper; the same request may succeed later. */
SOTTO_MUST_USE sotto_status sotto_leader_conclude(sotto_leader_job *job, sotto_err *err);

/* How many reports the job has. The segments of one that was resumed may be gone, from a copy that was put back
 * (serve/leader/backup.h): its row still knows how many it had. */
uint64_t sotto_leader_job_reports(const sotto_leader_job *job);

/* What the request is sealed to in its row. */
sotto_column_place sotto_leader_request_place(uint8_t row[8], const sotto_leader_job *job);

/* In a transaction that reads. The row of a job that was on disk: */
sotto_status sotto_leader_load_row(sotto_tx *tx, void *job, sotto_err *err);
/* The segments' reports, into the arena: */
sotto_status sotto_leader_load(sotto_tx *tx, void *job, sotto_err *err);
/* The reports of segment `at` alone, into `body`. None, if others have it or it is left out. */
sotto_status sotto_leader_load_segment(sotto_tx *tx, void *job, sotto_err *err);
/* Runs one of them, and writes down what could not be read. */
SOTTO_MUST_USE sotto_status sotto_leader_read(sotto_leader_job *job, sotto_db_fn *load,
                                              sotto_err *err);
/* Writes down what could not be read, or could be after all, unless another process has it by
 * now. */
bool sotto_leader_has_note(const sotto_leader_job *job);
sotto_status sotto_leader_note(sotto_tx *tx, void *job, sotto_err *err);
/* As sotto_leader_load without a transaction, if all of them are in memory. */
bool sotto_leader_is_cached(const sotto_leader_job *job);
SOTTO_MUST_USE sotto_status sotto_leader_load_cached(sotto_leader_job *job, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_leader_make_places(sotto_leader_job *job, sotto_err *err);
/* What the segments hold in memory goes; they are read from the database if they are needed again. */
void sotto_leader_let_go(sotto_leader_job *job);
/* Which batch the job's reports go to, where the leader selects. */
sotto_status sotto_leader_pick_batch(sotto_tx *tx, void *job, sotto_err *err);
/* Claims the segments and stores the request. SOTTO_STALE: another process has them, or the batch
 * closed. */
sotto_status sotto_leader_store(sotto_tx *tx, void *job, sotto_err *err);
/* Gives the lease back for a while; counts the refusal if there was one. */
sotto_status sotto_leader_put_off(sotto_tx *tx, void *job, sotto_err *err);
/* Stores the sum, counts what was rejected and destroys the segments. SOTTO_STALE: another process
 * did. */
sotto_status sotto_leader_finish(sotto_tx *tx, void *job, sotto_err *err);
/* Ends a job whose answer is not one for its request: its reports count as abandoned. */
sotto_status sotto_leader_abandon(sotto_tx *tx, void *job, sotto_err *err);

#endif
