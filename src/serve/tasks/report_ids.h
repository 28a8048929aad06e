/* serve/tasks/report_ids.h - which reports were taken, so that none is taken twice.
 *
 * Callers:  the leader when it takes uploads in, the helper when it commits a job; inside sotto_db_run.
 * Secrets:  none: report ids are public.
 */
#ifndef SOTTO_SERVE_TASKS_REPORT_IDS_H
#define SOTTO_SERVE_TASKS_REPORT_IDS_H

#include "dap/report.h"
#include "db/sql.h"

#include <stdatomic.h>

typedef struct sotto_report_id {
    uint8_t report[SOTTO_REPORT_ID_SIZE];
    uint64_t bucket;
    bool wanted;                  /* in: take this one                */
    bool taken;                   /* out: it had been taken before    */
    struct sotto_report_id *next; /* our own: those that are wanted, by their ids */
} sotto_report_id;

/* Whether ids were found to be taken of late, in one process. Zeroed: never. */
typedef struct sotto_replays {
    atomic_uint_fast64_t until_ms; /* until then each id is asked about */
} sotto_replays;

/* Marks the wanted ones as taken; those taken before stay as they are. Of two equal ids in one call, the
 * first is taken now and the second counts as taken before.
 * replays: where PostgreSQL met no replay for a minute, it is not asked about each id. If one was taken, the transaction runs once more, and
 * asks. NULL: it always asks. */
SOTTO_MUST_USE sotto_status sotto_report_ids_take(sotto_tx *tx, int64_t task,
                                                  sotto_report_id *marks, size_t count,
                                                  sotto_replays *replays, sotto_err *err);
/* Only says which of the wanted ones were taken before. */
SOTTO_MUST_USE sotto_status sotto_report_ids_find(sotto_tx *tx, int64_t task,
                                                  sotto_report_id *marks, size_t count,
                                                  sotto_err *err);
/* Gives back one that was taken in this transaction. */
SOTTO_MUST_USE sotto_status sotto_report_ids_give_back(sotto_tx *tx, int64_t task,
                                                       const sotto_report_id *mark, sotto_err *err);

#endif
