/* serve/leader/collection_internal.h - one step of one collection, as the files share it that do it.
 *
 *     collection_step.c   the list of steps; what is asked of the helper; who waits
 *     collection_close.c  what is waited for, and the transaction that closes the batch
 *     collection_repair.c what is done when the helper's batch is not the same
 */
#ifndef SOTTO_SERVE_LEADER_COLLECTION_INTERNAL_H
#define SOTTO_SERVE_LEADER_COLLECTION_INTERNAL_H

#include "serve/leader/collection.h"
#include "serve/tasks/rate.h"

typedef struct sotto_collecting {
    sotto_leader *leader;
    sotto_server *server;
    sotto_step *step;
    int64_t n; /* its row */
    const sotto_server_task *task;
    int64_t task_row, state;
    sotto_batch_range range;
    sotto_bytes query; /* the collector's exact bytes                       */
    sotto_buf request; /* to the helper                                     */
    sotto_buf own;     /* our share, an encoded HpkeCiphertext              */
    sotto_buf answer;  /* the CollectionJobResp                             */
    uint64_t reports, first_bucket, last_bucket;
    const char *problem;           /* the helper's, once it refused                    */
    sotto_bytes dropped;           /* jobs that the helper does not agree on           */
    const char *detail;            /* why that can't be repaired; NULL: it can         */
    uint64_t left_out;             /* reports in them that were ours                   */
    int64_t repairs;               /* so far                                           */
    bool busy;                     /* reports of the batch are still under way         */
    bool closed_now;               /* by this step                                     */
    sotto_rate rate;               /* what this step found                             */
    char retry[SOTTO_STEP_REASON]; /* why the helper gave no share; "": not known */
    sotto_arena arena;
    sotto_arena_mark base;
    sotto_db_job db;
} sotto_collecting;

/* Reads the row and, if it waits, closes its batch once that is complete and large enough. May run again. */
sotto_status sotto_collection_advance(sotto_tx *tx, void *collecting, sotto_err *err);

/* Checks the lease and reads the row. SOTTO_MISSING: it is gone. */
SOTTO_MUST_USE sotto_status sotto_collection_read(sotto_tx *tx, sotto_collecting *s,
                                                  sotto_err *err);
/* Fixes what is released: our sealed share, the request to the helper, the counts beside them, in a row that is
 * closed. Nothing of it leaves before the helper has agreed, so until then it may be replaced. */
SOTTO_MUST_USE sotto_status sotto_collection_fix(sotto_tx *tx, sotto_collecting *s,
                                                 const sotto_sub_aggregate *sum, sotto_err *err);

/* ---- steps; each goes on by itself, and may end s ---------------------------------------------------------------- */

void sotto_collection_post(sotto_collecting *s, sotto_db_fn *fn, sotto_db_done *done);
/* Asks the helper for its share. */
void sotto_collection_ask(sotto_collecting *s);
/* Stores s->answer, or if s->problem is set that it failed, for good. */
void sotto_collection_finish(sotto_collecting *s);
/* The step is tried again from the row. */
void sotto_collection_try_later(sotto_collecting *s);
void sotto_collection_end(sotto_collecting *s);
/* The helper said batchMismatch, which s->problem is: drops what differs on both sides and asks again, or finishes. */
void sotto_collection_repair(sotto_collecting *s);

#endif
