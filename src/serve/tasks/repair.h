/* serve/tasks/repair.h - the jobs of a batch, and those of them that leader and helper don't agree on: both roles' verbs.
 *
 * Callers:  helper/repairs.c and collection_repair.c, inside transactions that hold sotto_release_lock exclusively.
 * Memory:   lists lie in the caller's arena.
 *
 * What is left out is a whole job, on both sides, before any share of any of its buckets was released. Its reports are
 * counted as rejected, and their marks stay: they can't be sent again. Jobs that share a fold (folds.h) go together. Where the two
 * sides folded differently, the one that dropped more says so by its next list, and the other drops the rest.
 */
#ifndef SOTTO_SERVE_TASKS_REPAIR_H
#define SOTTO_SERVE_TASKS_REPAIR_H

#include "dap/repair.h"
#include "serve/tasks/batches.h"
#include "serve/tasks/server.h"

/* What one job added to one bucket. */
typedef struct sotto_repair_row {
    int64_t n;    /* the job's row           */
    int64_t fold; /* that has its share, or 0 */
    sotto_dap_repair_job job;
} sotto_repair_row;

typedef struct sotto_repair_list {
    sotto_repair_row *rows; /* ascending by id */
    size_t row_count;
    sotto_dap_repair_job *jobs; /* the same, added up by id */
    size_t count;
} sotto_repair_list;

/* Everything that this side has in the range. SOTTO_TOO_LARGE: more jobs than a message lists. */
SOTTO_MUST_USE sotto_status sotto_repair_read(sotto_tx *tx, sotto_repair_list *out,
                                              const sotto_server *server,
                                              const sotto_server_task *task,
                                              const sotto_batch_range *range, sotto_arena *arena,
                                              sotto_err *err);

/* Where two lists differ. */
typedef struct sotto_repair_difference {
    sotto_dap_repair_resp
        jobs;        /* in one list only, or different in the two, or in one fold with such a job */
    uint64_t agreed; /* reports of all others                          */
} sotto_repair_difference;
SOTTO_MUST_USE sotto_status sotto_repair_compare(sotto_repair_difference *out,
                                                 const sotto_repair_list *ours,
                                                 const sotto_dap_repair_req *theirs,
                                                 sotto_arena *arena, sotto_err *err);

/* Drops those of our jobs that are named, and those that are folded with them; *dropped counts their reports.
 *   own           the release's row that asks for it; -1: none
 *   SOTTO_DENIED  one of their buckets belongs to another release: nothing may change in it any more */
SOTTO_MUST_USE sotto_status sotto_repair_drop(sotto_tx *tx, uint64_t *dropped,
                                              const sotto_server *server,
                                              const sotto_server_task *task,
                                              const sotto_repair_list *ours,
                                              const sotto_dap_repair_resp *named, int64_t own,
                                              sotto_arena *arena, sotto_err *err);

#endif
