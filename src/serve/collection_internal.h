/* serve/collection_internal.h - one step of one collection, as the files share it that do it.
 *
 *     collection_step.c   the list of steps; what is asked of the helper; who waits
 *     collection_close.c  what is waited for, and the transaction that closes the batch
 */
#ifndef SOTTO_SERVE_COLLECTION_INTERNAL_H
#define SOTTO_SERVE_COLLECTION_INTERNAL_H

#include "serve/collection.h"

typedef struct sotto_collecting {
    sotto_collections *all;
    sotto_server *server;
    sotto_lease lease;
    int64_t n;
    const sotto_server_task *task;
    int64_t task_row, state;
    sotto_batch_range range;
    sotto_bytes query; /* the collector's exact bytes                       */
    sotto_buf request; /* to the helper                                     */
    sotto_buf own;     /* our share, an encoded HpkeCiphertext              */
    sotto_buf answer;  /* the CollectionJobResp                             */
    uint64_t reports, first_bucket, last_bucket;
    const char *problem; /* the helper's, once it refused                    */
    bool busy;           /* reports of the batch are still under way         */
    bool closed_now;     /* by this step                                     */
    int64_t wait_ms;
    sotto_arena arena;
    sotto_arena_mark base;
    sotto_db_job db;
} sotto_collecting;

/* Reads the row and, if it waits, closes its batch once that is complete and large enough. May run again. */
sotto_status sotto_collection_advance(sotto_tx *tx, void *collecting, sotto_err *err);

#endif
