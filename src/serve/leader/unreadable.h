/* serve/leader/unreadable.h - reports that were acknowledged and can't be read back: noted by the leader, abandoned by its operator.
 *
 * Callers:  job_store.c notes; leader_health.c counts; `sotto admin segment` lists and abandons. Inside sotto_db_run.
 * Secrets:  none are shown.
 *
 * A disk may damage what lies on it, and a datastore key may be missing. Nothing that was acknowledged is thrown away for that:
 * its batch waits. Only the operator knows whether the bytes or the key can be had again, so only the operator ends that wait,
 * with a reason that is kept.
 */
#ifndef SOTTO_SERVE_LEADER_UNREADABLE_H
#define SOTTO_SERVE_LEADER_UNREADABLE_H

#include "db/sql.h"

/* What a process found when it read a segment, and for which job. Nothing is written if the segment is no longer its own: the
 * new owner may be able to read it. */
typedef struct sotto_unreadable_finding {
    const char *why; /* it can't be read; NULL: it can */
    int64_t segment; /* of a job: -1 is all of its segments */
    int64_t owner;   /* of one that waits */
    int64_t job;     /* whose lease the caller holds; -1: it waits */
} sotto_unreadable_finding;
SOTTO_MUST_USE sotto_status sotto_unreadable_note(sotto_tx *tx,
                                                  const sotto_unreadable_finding *finding,
                                                  sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_unreadable_count(sotto_tx *tx, uint64_t *segments,
                                                   sotto_err *err);

typedef struct sotto_unreadable {
    int64_t segment, task;
    uint64_t bucket;
    uint64_t reports;   /* its own                                                         */
    uint64_t together;  /* ... and those that go with it: its job's, if that was sent      */
    bool sent;          /* it is in a job that was sent: all of that goes                  */
    const char *why;    /* it can't be read; both borrowed until the callback returns      */
    const char *reason; /* "" while it waits; else the operator's for having abandoned it  */
} sotto_unreadable;
typedef sotto_status sotto_unreadable_fn(void *context, const sotto_unreadable *line,
                                         sotto_err *err);
/* Those that wait, as many as sotto_unreadable_count says, then those that were abandoned; the lowest numbers first. */
SOTTO_MUST_USE sotto_status sotto_unreadable_list(sotto_tx *tx, sotto_unreadable_fn *show,
                                                  void *context, sotto_err *err);

/* Destroys a segment that was noted, and the job that it is in: their reports are counted as rejected, by a cause of their own.
 * What the helper has added up of that job it drops at collection: see serve/tasks/repair.h.
 *   SOTTO_MISSING  no such segment
 *   SOTTO_DENIED   it is not marked unreadable, or there is no reason. Or it could be read with a datastore key that is
 *                  missing, and the operator did not say that this key is lost */
typedef struct sotto_giving_up {
    int64_t segment;
    const char *reason;   /* kept; not empty */
    const char *lost_key; /* which is gone for good: sotto_column_key_name; NULL: none */
    uint64_t reports;     /* that went */
    bool key_is_missing;  /* that is why they did not */
} sotto_giving_up;
sotto_status sotto_unreadable_give_up(sotto_tx *tx, void *giving_up, sotto_err *err);

#endif
