/* serve/tasks/batches.h - what has been added to which batch, and which batches are closed: both roles' verbs.
 *
 * Callers:  leader and helper, inside sotto_db_run.
 * Secrets:  shares; they are sealed before they reach the database and unsealed behind it.
 */
#ifndef SOTTO_SERVE_TASKS_BATCHES_H
#define SOTTO_SERVE_TASKS_BATCHES_H

#include "dap/report.h"
#include "db/sealed.h"
#include "db/sql.h"
#include "serve/tasks/tasks.h"

/* A bucket's time in eight bytes (time-interval), or the id of a leader-selected batch. */
typedef struct sotto_batch_key {
    uint8_t bytes[SOTTO_BATCH_ID_SIZE];
    size_t len;
} sotto_batch_key;

sotto_batch_key sotto_batch_of_bucket(uint64_t bucket);
/* From its form in a row. SOTTO_MALFORMED: not a batch's name, and *out is empty. */
SOTTO_MUST_USE sotto_status sotto_batch_key_read(sotto_batch_key *out, sotto_bytes stored,
                                                 sotto_err *err);

/* What one job added to one batch, or what a whole batch adds up to. */
typedef struct sotto_sub_aggregate {
    sotto_batch_key batch;
    uint64_t reports;
    uint8_t checksum[SOTTO_CHECKSUM_SIZE];
    uint64_t first_bucket, last_bucket; /* of the reports in it, both included */
    int64_t fold;           /* that its share goes into (folds.h); 0: it has a share of its own */
    const sotto_tally *sum; /* folded: what is added */
    sotto_bytes share; /* not folded: encoded, sizes.out_share bytes; sealed in sotto_batch_add */
} sotto_sub_aggregate;

/* Counts one more report: its time, and its id in the checksum. The share is added elsewhere. */
void sotto_sub_aggregate_count(sotto_sub_aggregate *sub, const sotto_report_metadata *metadata);

/* Which buckets, or which batch, somebody asks for. */
typedef struct sotto_batch_range {
    bool leader_selected;
    uint64_t first_bucket, end_bucket; /* end_bucket itself is not in it */
    sotto_batch_key batch;
} sotto_batch_range;

/* The first and the last batch of a range, both in it. */
sotto_batch_key sotto_batch_range_first(const sotto_batch_range *range);
sotto_batch_key sotto_batch_range_last(const sotto_batch_range *range);

/* Whether a stored release covers this bucket or batch: then nothing may be added to it any more. */
SOTTO_MUST_USE sotto_status sotto_batch_is_closed(sotto_tx *tx, bool *closed, int64_t task,
                                                  const sotto_batch_key *batch, sotto_err *err);
/* Whether reports for this bucket are rejected at upload: it was released, or a collection has enough reports and waits only for
 * the last jobs. */
SOTTO_MUST_USE sotto_status sotto_batch_is_shut(sotto_tx *tx, bool *shut, int64_t task,
                                                uint64_t bucket, sotto_err *err);
/* Whether a stored release shares any bucket with the range. */
SOTTO_MUST_USE sotto_status sotto_batch_range_is_free(sotto_tx *tx, bool *is_free, int64_t task,
                                                      const sotto_batch_range *range,
                                                      sotto_err *err);
/* Seals a share for the row of this job and batch; outside the transaction, since it takes time. */
SOTTO_MUST_USE sotto_status sotto_batch_seal_share(sotto_bytes *sealed,
                                                   const sotto_column_keys *keys,
                                                   const sotto_server_task *task, int64_t job,
                                                   const sotto_batch_key *batch, sotto_bytes share,
                                                   sotto_arena *arena, sotto_err *err);
/* sub->share is sealed, or sub->sum goes into a fold. SOTTO_DENIED: this job has added to this batch before. */
SOTTO_MUST_USE sotto_status sotto_batch_add(sotto_tx *tx, const sotto_column_keys *keys,
                                            const sotto_server_task *task, int64_t job,
                                            const sotto_sub_aggregate *sub, sotto_arena *arena,
                                            sotto_err *err);
/* Reports in every sub-aggregate of the range. */
SOTTO_MUST_USE sotto_status sotto_batch_count(sotto_tx *tx, uint64_t *reports, int64_t task,
                                              const sotto_batch_range *range, sotto_err *err);
/* Reports in every job of the range, whatever became of them. */
SOTTO_MUST_USE sotto_status sotto_batch_count_jobs(sotto_tx *tx, uint64_t *reports, int64_t task,
                                                   const sotto_batch_range *range, sotto_err *err);
/* Merges every sub-aggregate of the range into sum, whose share lies in the arena. */
SOTTO_MUST_USE sotto_status sotto_batch_sum(sotto_tx *tx, sotto_sub_aggregate *sum,
                                            const sotto_column_keys *keys,
                                            const sotto_server_task *task,
                                            const sotto_batch_range *range, sotto_arena *arena,
                                            sotto_err *err);
/* Causes that are counted besides DAP's report errors. Those below SOTTO_CAUSE_HELPER were found by this side, of reports
 * that arrived: they count in the volume check. */
enum {
    SOTTO_CAUSE_DROPPED = 63,     /* of jobs that the two differ on: serve/tasks/repair.h */
    SOTTO_CAUSE_HELPER = 64,      /* plus the helper's report error                 */
    SOTTO_CAUSE_ABANDONED = 128,  /* leader: of jobs that had to be abandoned       */
    SOTTO_CAUSE_UNREADABLE = 129, /* leader: abandoned by the operator, serve/leader/unreadable.h */
    SOTTO_CAUSES = 130
};

/* Counts rejected reports, by DAP's report error, or one of ours. */
SOTTO_MUST_USE sotto_status sotto_batch_reject(sotto_tx *tx, int64_t task,
                                               const sotto_batch_key *batch, unsigned cause,
                                               unsigned shard, uint64_t reports, sotto_err *err);
/* For a batch that the leader selected. Reports that were rejected at upload, or abandoned before they had a job, belonged to
 * no batch; they now count for this one. */
SOTTO_MUST_USE sotto_status sotto_batch_claim_rejections(sotto_tx *tx, int64_t task,
                                                         const sotto_batch_key *batch,
                                                         unsigned shard, sotto_err *err);
/* reports[cause], for causes below `causes`, over the range. */
SOTTO_MUST_USE sotto_status sotto_batch_rejections(sotto_tx *tx, uint64_t *reports, size_t causes,
                                                   int64_t task, const sotto_batch_range *range,
                                                   sotto_err *err);

#endif
