/* serve/leader/stalled.h - collections that were asked for and have no answer yet: how many, since when, and why.
 *
 * Callers:  a leader's health.
 * Memory:   plain values.
 *
 * Only this shows them: the collector who asked may have gone, and hears only that the answer is not ready.
 */
#ifndef SOTTO_SERVE_LEADER_STALLED_H
#define SOTTO_SERVE_LEADER_STALLED_H

#include "dap/dap.h"
#include "serve/tasks/tasks.h"

enum { SOTTO_STALLED_WHY = 200, SOTTO_STALLED_SECONDS = 60 };

typedef struct sotto_stalled {
    uint64_t count;     /* of those that have waited for SOTTO_STALLED_SECONDS and longer */
    int64_t n, seconds; /* the oldest's row, and how long it has waited                    */
    char task[SOTTO_DAP_ID_TEXT_MAX]; /* of the oldest                                     */
    bool closed; /* the oldest waits for the helper; else why, in a few words:             */
    char why[SOTTO_STALLED_WHY];
} sotto_stalled;

/* Of a leader; count 0: none stands. */
SOTTO_MUST_USE sotto_status sotto_stalled_look(sotto_tx *tx, sotto_stalled *out, sotto_tasks *tasks,
                                               sotto_err *err);

#endif
