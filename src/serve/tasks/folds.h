/* serve/tasks/folds.h - one share for many small jobs of a batch: both roles' verbs.
 *
 * Callers:  batches.c, repair.c, erase.c; the leader, who decides which jobs go together, when it stores a job.
 * Secrets:  shares; they are sealed before they reach the database and unsealed behind it.
 *
 * A job with few reports and a long share adds the share to a fold, and keeps its own count and checksum in sub_aggregate. The
 * leader names the fold in its request, so that both sides put the same jobs together. Folded shares can't be separated again: a
 * repair that has to drop one of these jobs drops all of them (repair.h). docs/decisions/0089.
 */
#ifndef SOTTO_SERVE_TASKS_FOLDS_H
#define SOTTO_SERVE_TASKS_FOLDS_H

#include "serve/tasks/batches.h"

/* The request's field: the fold's number, in decimal. Servers of another make ignore it. */
#define SOTTO_FOLD_FIELD "sotto-fold"
enum { SOTTO_FOLD_TEXT = 20 };

/* Writes a number and a NUL. */
void sotto_fold_encode(char out[SOTTO_FOLD_TEXT], int64_t fold);
/* 0 if invalid: then the job keeps a share of its own. */
int64_t sotto_fold_decode(sotto_bytes text);

/* Whether so many reports are too few for a share of their own. */
bool sotto_fold_is_wanted(const sotto_server_task *task, size_t reports);
/* Leader: the fold of a job with so many reports: one of this process that has room, or a new one. */
SOTTO_MUST_USE sotto_status sotto_fold_choose(sotto_tx *tx, int64_t *fold,
                                              const sotto_server_task *task,
                                              const sotto_batch_key *batch, unsigned shard,
                                              size_t reports, sotto_err *err);
/* Adds sub->sum to fold sub->fold of its batch, which is made where it is missing. */
SOTTO_MUST_USE sotto_status sotto_fold_add(sotto_tx *tx, const sotto_column_keys *keys,
                                           const sotto_server_task *task,
                                           const sotto_sub_aggregate *sub, sotto_arena *arena,
                                           sotto_err *err);
/* Merges every fold of the range into sum. */
SOTTO_MUST_USE sotto_status sotto_folds_merge(sotto_tx *tx, sotto_tally *sum,
                                              const sotto_column_keys *keys,
                                              const sotto_server_task *task,
                                              const sotto_batch_range *range, sotto_arena *arena,
                                              sotto_err *err);
/* Drops a fold. The caller must drop all of its jobs. */
SOTTO_MUST_USE sotto_status sotto_fold_drop(sotto_tx *tx, int64_t task,
                                            const sotto_batch_key *batch, int64_t fold,
                                            sotto_err *err);

#endif
