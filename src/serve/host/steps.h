/* serve/host/steps.h - work that waits in queues of leases, done step by step: one runner for every queue of a service.
 *
 * Callers:  the host opens it; services have a row for each queue, end their steps, and say when to look.
 * Threads:  one of its own claims and begins. A step ends on any thread.
 *
 * An item is a row's number in eight bytes (host/row.h). The runner claims items that are ready, at most as many as may be
 * under way, and has the service begin a step of each. Whoever began ends it, exactly once:
 *
 *     sotto_step_done    the item is finished: it leaves its queue
 *     sotto_step_retry   it failed: it is tried again, later each time
 *     sotto_step_wait    nothing is wrong, something is missing: it is looked at again then, or when
 *                        sotto_steps_hurry says that something changed
 *     sotto_step_end     the service's own transaction has finished or released the lease, or found it gone
 *
 * A process that dies has its leases run out, and another goes on.
 */
#ifndef SOTTO_SERVE_HOST_STEPS_H
#define SOTTO_SERVE_HOST_STEPS_H

#include "db/lease.h"
#include "db/store.h"
#include "serve/host/service.h"

enum { SOTTO_STEP_REASON = 160 };

typedef struct sotto_step {
    struct sotto_steps *steps;
    const sotto_queue *queue;
    sotto_lease lease;      /* of one that the service began: once it has one       */
    int64_t n;              /* the row that the item names                          */
    int64_t retry_after_ms; /* what a peer asked for; 0: nothing                    */
    int64_t wait_ms;        /* ours: until it is ready again                        */
    uint64_t since_ms;      /* ours: when it began                                  */
    sotto_db_job db;        /* ours                                                 */
} sotto_step;

typedef struct sotto_steps sotto_steps;

/* ---- ending a step: each frees it, now or once the store has answered ------------------------------------------- */

void sotto_step_done(sotto_step *step);
/* reason: as sotto_step_note_retry; NULL: nothing is noted. */
void sotto_step_retry(sotto_step *step, const char *reason);
void sotto_step_wait(sotto_step *step, int64_t milliseconds);
void sotto_step_end(sotto_step *step);

/* For a service that retries in a transaction of its own, and ends the step after it: gives the lease back for as long as
 * sotto_step_backoff_ms says. */
SOTTO_MUST_USE sotto_status sotto_step_release(sotto_tx *tx, const sotto_step *step,
                                               sotto_err *err);
/* How long an item waits that has been claimed so many times: the queue's first wait, doubled with each claim up to the
 * longest. It is never less than a peer asked for. */
int64_t sotto_step_backoff_ms(const sotto_queue *queue, int64_t attempts, int64_t retry_after_ms);

/* Notes why a step of this queue did not finish, for health. NULL is "". */
void sotto_step_note_retry(const sotto_step *step, const char *reason);
/* The last that was noted, and the row; false: none was. */
bool sotto_steps_last_retry(sotto_steps *steps, const sotto_queue *queue, int64_t *n,
                            char reason[SOTTO_STEP_REASON]);

/* ---- for the service ---------------------------------------------------------------------------------------------- */

/* A step that the service begins by itself, of an item that is not queued yet; it is counted as the others. NULL: as many are
 * under way as may be, the runner stops, or there is no memory. */
sotto_step *sotto_step_begin(sotto_steps *steps, const sotto_queue *queue, int64_t n);
/* Whether one could begin. */
bool sotto_steps_have_room(sotto_steps *steps, const sotto_queue *queue);

/* Something may have become ready: call `idle` again. From any thread; cheap. */
void sotto_steps_wake(sotto_steps *steps);
/* ... and look into the database for work to claim, too. */
void sotto_steps_look(sotto_steps *steps);
/* Something changed that items of this queue may wait for: those that wait in this process are tried now. Cheap if none
 * does. */
void sotto_steps_hurry(sotto_steps *steps, const sotto_queue *queue);

/* ---- for metrics ---------------------------------------------------------------------------------------------------- */

/* Milliseconds from a step's beginning to its end; the last row is for all that took longer. */
enum { SOTTO_STEP_TIMES = 10 };
extern const unsigned sotto_step_times_ms[SOTTO_STEP_TIMES - 1];
typedef struct sotto_step_times {
    uint64_t counts[SOTTO_STEP_TIMES];
    uint64_t sum_ms;
} sotto_step_times;
void sotto_steps_times(sotto_steps *steps, const sotto_queue *queue, sotto_step_times *out);

/* ---- for the host --------------------------------------------------------------------------------------------------- */

/* Nothing is claimed before sotto_steps_start. lease_ms: how long an item is held. */
SOTTO_MUST_USE sotto_status sotto_steps_open(sotto_steps **steps, const sotto_service *service,
                                             sotto_db *db, uint64_t lease_ms, sotto_err *err);
/* state: the service's. alone: no other process has this database, so that what one before it held is taken over at once. */
SOTTO_MUST_USE sotto_status sotto_steps_start(sotto_steps *steps, void *state, bool alone,
                                              sotto_err *err);
/* Begins no more; waits for what is under way up to the deadline. NULL is fine. */
void sotto_steps_stop(sotto_steps *steps, uint64_t milliseconds);
/* Once the store is closed: waits for the last to end. NULL is fine. */
void sotto_steps_close(sotto_steps *steps);

#endif
