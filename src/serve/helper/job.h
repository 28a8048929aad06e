/* serve/helper/job.h - one aggregation job on its way through the helper: verified, committed, answered.
 *
 *     jobs.c    from the request to the answer: the list of steps
 *     verify.c  opens and verifies the reports, adds up those that hold
 *     commit.c  the one transaction that stores it all
 */
#ifndef SOTTO_SERVE_HELPER_JOB_H
#define SOTTO_SERVE_HELPER_JOB_H

#include "dap/job.h"
#include "serve/tasks/batches.h"
#include "serve/tasks/report_ids.h"
#include "serve/tasks/spent_tokens.h"
#include "serve/tasks/task_request.h"

enum {
    SOTTO_HELPER_MAX_REPORTS = 4096, /* in one job                             */
    SOTTO_HELPER_MAX_BATCHES = 256,  /* that one job adds to                   */
    SOTTO_HELPER_CHUNK = 64,         /* reports that are verified at once, at most */
};

/* One report of the job. */
typedef struct sotto_helper_report {
    sotto_dap_verify_init init; /* borrowed from the request                              */
    size_t batch;               /* index into batches                                     */
    uint8_t error;              /* 0: none so far; else what the leader is told           */
    bool spent;                 /* found by a transaction: another report had its token   */
    bool over;                  /* found by a transaction: the round's sum has no room    */
    bool crowded;               /* the same: another report of its slot is in the sum     */
    sotto_bytes outbound;       /* if it is valid: the answer's payload, in the job's arena */
} sotto_helper_report;

typedef struct sotto_helper_batch {
    sotto_sub_aggregate sub; /* its share unsealed until the commit */
    sotto_tally sum;
    bool closed; /* found by a transaction: nothing may be added */
} sotto_helper_batch;

typedef struct sotto_helper_job {
    sotto_task_request ask; /* first; the arena is reset to its base when the sums are made again */
    uint8_t body_id
        [SOTTO_RESOURCE_ID_SIZE]; /* of the request's bytes; the id, unless the leader chose that */
    bool chosen;                  /* the leader chose the id                       */
    bool other;                   /* ... and once for other bytes                  */
    sotto_dap_job_init_req req;
    sotto_helper_report *reports;
    sotto_report_id *marks;         /* of the reports, in their order */
    sotto_token_spend *spends;      /* the same, where the task asks for tokens; else NULL */
    sotto_token_spend **spend_list; /* room for pointers to all of them                    */
    size_t count;
    sotto_helper_batch *batches;
    size_t batch_count;
    sotto_buf answer; /* encoded                                                    */
    bool known;       /* the transaction found the job there: answer is the stored one */
    bool changed;     /* the transaction found marks or closed batches that the sums lack */
    bool early;       /* every report is too early by our clock: see jobs.c */
    unsigned tries;
} sotto_helper_job;

/* Opens, checks and verifies every report that no mark and no closed batch excludes; fills in sums and the answer.
 * May be called again after a transaction found more to exclude. */
SOTTO_MUST_USE sotto_status sotto_helper_verify(sotto_helper_job *job, sotto_worker *worker,
                                                sotto_err *err);

/* In a transaction that only reads: is the job known, which batches are closed? (Replays are
 * rare: the transaction that takes the marks finds them, and the sums are made again.) */
sotto_status sotto_helper_look(sotto_tx *tx, void *job, sotto_err *err);
/* In the transaction that stores it all. SOTTO_STALE with job->changed: verify again without what was found. */
sotto_status sotto_helper_commit(sotto_tx *tx, void *job, sotto_err *err);

#endif
