/* serve/tasks/schema.h - the tables of a leader or helper, by numbered forward migrations. */
#ifndef SOTTO_SERVE_TASKS_SCHEMA_H
#define SOTTO_SERVE_TASKS_SCHEMA_H

#include "db/migrate.h"
#include "serve/host/row.h"

/* Queues of db/lease.h; an item is the row's n in eight bytes. */
enum { SOTTO_QUEUE_JOBS = 1, SOTTO_QUEUE_COLLECTIONS = 2 };

/* States of a job's row. */
enum {
    SOTTO_JOB_SENT = 1,
    SOTTO_JOB_DONE = 2,
    SOTTO_JOB_ABANDONED = 3,
    SOTTO_JOB_DROPPED = 4, /* done, and undone since the other side did not agree */
};

/* States of a release's row. From SOTTO_RELEASE_CLOSED on its buckets take no more reports. */
enum {
    SOTTO_RELEASE_REFUSED =
        0, /* leader: another collection took its buckets; none are closed by this one */
    SOTTO_RELEASE_WAITING = 1, /* leader: for reports and jobs                    */
    SOTTO_RELEASE_CLOSED = 2,  /* leader: the helper's share is being asked for   */
    SOTTO_RELEASE_DONE = 3,
    SOTTO_RELEASE_FAILED = 4, /* after it was closed: its buckets stay closed    */
};

enum { SOTTO_SERVE_MIGRATIONS = 15 };
extern const sotto_migration sotto_serve_migrations[SOTTO_SERVE_MIGRATIONS];

#endif
