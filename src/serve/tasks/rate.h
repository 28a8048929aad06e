/* serve/tasks/rate.h - did more reports come than there are devices to send them? (Talwar et al. 2024, section 4.8)
 *
 * Callers:  both roles, in the transaction that would release a batch; `sotto admin batch`.
 * Secrets:  none; but the numbers are for this server's operator, not for peers.
 *
 * Each operator states the population; the expected number of reports in a window follows from the recipe's participation
 * and dummies. Twice as many may come. Beyond that, whoever filled the batch may know all but one of its reports: it is
 * held until the operator releases it with a reason, which is kept.
 */
#ifndef SOTTO_SERVE_TASKS_RATE_H
#define SOTTO_SERVE_TASKS_RATE_H

#include "serve/tasks/batches.h"
#include "sotto/rejections.h"

#define SOTTO_RATE_HELD "the batch is held: more reports came than this operator expects"

typedef struct sotto_rate {
    sotto_rate_checking checking; /* what the collector is told, if the sum is released now */
    bool held;
    bool began;  /* newly held: it was not when it was last checked */
    bool let_go; /* it would be held, but its operator released it */
    uint64_t arrived, expected;
} sotto_rate;

/* Reports that so many devices explain within a batch's window. Each device counts with its chance to take part, or to send a
 * dummy. Where devices choose one of several slots, it counts for the slots that the window touches. */
uint64_t sotto_rate_expected(const sotto_server_task *task, const sotto_batch_range *range,
                             uint64_t population);

/* How many devices may answer the task, as this operator stated; 0: not stated. */
SOTTO_MUST_USE sotto_status sotto_rate_population(sotto_tx *tx, uint64_t *out, int64_t task,
                                                  sotto_err *err);

/* Whether the batch is to be held; then the row that says so is there. What counts: at the leader, the reports that it
 * acknowledged; at the helper, the reports in the jobs that it got. Those among them that turned out invalid count too;
 * those that the leader rejected at upload do not. The population is read here, in this transaction; without one nothing is held.
 *   verified  reports in the sum
 *   history   a batch is also compared with the largest earlier one of the same task, in proportion to its time. This
 *             finds a jump, not a flood that grows slowly or was there from the start */
SOTTO_MUST_USE sotto_status sotto_rate_check(sotto_tx *tx, sotto_rate *rate,
                                             const sotto_server_task *task,
                                             const sotto_batch_range *range, uint64_t verified,
                                             bool history, sotto_err *err);

/* Logs each time that a batch is newly held, and when a batch is released that the operator had to release. Call it after
 * the commit. */
void sotto_rate_tell(const sotto_log_sink *log, const sotto_server_task *task,
                     const sotto_rate *rate);

/* How many batches are held now. Those released since, with a reason or by a corrected population, don't count. */
SOTTO_MUST_USE sotto_status sotto_rate_count(sotto_tx *tx, uint64_t *held, sotto_role role,
                                             sotto_err *err);

/* Releases a held batch. SOTTO_MISSING: none is held at this place, or not any more; the reason says
 * which. */
typedef struct sotto_rate_release {
    int64_t task;
    sotto_batch_range range;
    const char *reason; /* kept; not empty */
} sotto_rate_release;
sotto_status sotto_rate_release_batch(sotto_tx *tx, void *rate_release, sotto_err *err);

typedef struct sotto_held {
    int64_t task;
    sotto_batch_range range;
    uint64_t arrived, expected;
    const char *reason; /* for which it was released, or ""; borrowed until the callback returns */
    bool
        held; /* now. Neither held nor with a reason: collected under a corrected population, or its task is
               * retired */
} sotto_held;
typedef sotto_status sotto_held_fn(void *context, const sotto_held *held, sotto_err *err);
/* Every batch that was ever held, the oldest first. */
SOTTO_MUST_USE sotto_status sotto_rate_list(sotto_tx *tx, sotto_held_fn *show, void *context,
                                            sotto_err *err);

#endif
