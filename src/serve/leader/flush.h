/* serve/leader/flush.h - many uploads as one commit: reports by task and bucket, their sealed segments, and their rows.
 *
 * Callers:  serve/leader/intake.c, which decides when, and looks after what the segments' bodies lie in.
 * Memory:   all that a flush makes is in its arena.
 * Secrets:  records of reports, until they are sealed.
 */
#ifndef SOTTO_SERVE_LEADER_FLUSH_H
#define SOTTO_SERVE_LEADER_FLUSH_H

#include "dap/dap.h"
#include "serve/leader/segments.h"
#include "serve/leader/upload.h"
#include "serve/tasks/report_ids.h"
#include "serve/tasks/server.h"

enum { SOTTO_FLUSH_TABLE = 256 };

/* The reports of one task and bucket within a flush. */
typedef struct sotto_flush_group {
    const sotto_server_task *task;
    uint64_t bucket;
    sotto_uploaded **reports;
    sotto_report_id *marks;
    const uint8_t **refused; /* room for the ids of those that one cause refuses */
    size_t count, cap;
    size_t uploads; /* that these came with                                             */
    bool crowded;   /* too many buckets wait already: nothing is taken                  */
    bool closed;    /* the transaction found the bucket released: nothing is taken      */
    uint64_t causes
        [SOTTO_REPORT_ERRORS]; /* as they are told                                                 */
    uint64_t noted;            /* refusals that strangers can make up, noted by the transaction */
    sotto_segment segment;
    struct sotto_cached_reports
        *cached; /* once it is stored, or long ones before; NULL: the job will read them */
    struct sotto_flush_group *next, *chain; /* in the flush; in its table */
} sotto_flush_group;

typedef struct sotto_flush {
    sotto_server *server;
    sotto_upload_request *uploads;
    sotto_flush_group *first;
    size_t count, bytes;               /* of groups; of their sealed bodies */
    struct sotto_token_spend **spends; /* room for tokens of all reports that have one */
    size_t tokens;                     /* ... how many                                 */
    bool wrote;                        /* a row: there is something to commit */
    sotto_arena arena;
    sotto_flush_group **end;
    sotto_flush_group *table[SOTTO_FLUSH_TABLE]; /* the newest group of each task and bucket */
} sotto_flush;

/* Whether it has long reports, which are opened here. */
bool sotto_flush_is_long(const sotto_flush *f);
/* Groups what `uploads` hold, opens what is long, and seals their segments. worker: NULL if nothing is long. */
SOTTO_MUST_USE sotto_status sotto_flush_prepare(sotto_flush *f, sotto_worker *worker,
                                                sotto_err *err);
/* Makes each body one piece, for its row: those of long reports have their shares where they came. */
SOTTO_MUST_USE sotto_status sotto_flush_join(sotto_flush *f, sotto_err *err);
/* All of it, inside sotto_db_run; may run again. Bodies that have a place go by their place. */
SOTTO_MUST_USE sotto_status sotto_flush_store(sotto_tx *tx, sotto_flush *f, sotto_err *err);
/* What became of a report of the group, once it is stored: a report error, or 0. */
uint8_t sotto_flush_verdict(const sotto_flush_group *g, size_t report);

#endif
