/* serve/tasks/gc.h - clearing away what tasks leave behind that closed long ago, without changing what was counted.
 *
 * Callers:  `sotto admin gc`.
 *
 * A task is first retired, for good: no process that starts takes reports or jobs of it any more, and those that run
 * have rejected them since `late` (serve/tasks/server.h). Only then do its marks, the ids of rejected reports, sub-aggregates,
 * finished jobs and answers to repairs go. What was released stays, and so do the counts of rejected reports: no bucket can be
 * released a second time.
 */
#ifndef SOTTO_SERVE_TASKS_GC_H
#define SOTTO_SERVE_TASKS_GC_H

#include "serve/tasks/tasks.h"

typedef struct sotto_gc {
    sotto_role role;
    int64_t now;           /* seconds since 1970                                            */
    uint64_t late_seconds; /* the server's own                                              */
    uint64_t keep_seconds; /* a task stays this long after its close; at least late and a day */
    uint64_t pass_rows;    /* rows in one transaction; 0: 5,000                             */
    uint64_t most_rows;    /* rows in this run; 0: no limit                                 */
    /* what became of it */
    uint64_t retired, waiting; /* waiting: old enough, but reports of it are still under way  */
    uint64_t broken;           /* tasks that do not compile, and are left alone               */
    uint64_t marks, sub_aggregates, jobs, repairs; /* rows that went ... */
    uint64_t refusals;                             /* ... and those of rejected ids */
    uint64_t tokens;                               /* ... and of spent tokens       */
} sotto_gc;

/* May be repeated at any time, and beside a running server.
 *   SOTTO_DENIED  keep_seconds is shorter than late_seconds and a day */
SOTTO_MUST_USE sotto_status sotto_gc_run(sotto_db *db, sotto_gc *gc, sotto_err *err);

#endif
