/* serve/leader/cached_reports.h - the reports of a segment that are still in memory, so that its job need not read them back.
 *
 * Callers:  the intake makes them once a segment is on disk, long_reports.c before that; lanes carry them; the job frees them.
 * Memory:   a sotto_cached_reports keeps the uploads alive whose reports it has, or, of long reports, only their sum. Their
 *           bytes are bounded. Reports beyond that are read back from the database, which only costs time.
 * Secrets:  the leader's input shares; wiped with the uploads.
 */
#ifndef SOTTO_SERVE_LEADER_CACHED_REPORTS_H
#define SOTTO_SERVE_LEADER_CACHED_REPORTS_H

#include "serve/leader/job_part.h"

struct sotto_leader;
struct sotto_upload_request;

typedef struct sotto_cached_reports {
    sotto_spool_place place; /* of the segment's body                            */
    sotto_bytes *records;    /* those that its job is to take                     */
    size_t count, room;
    struct sotto_upload_request **uploads;
    size_t upload_count, upload_room;
    /* Of long reports, in place of records and uploads: */
    bool begun;
    sotto_job_part part;
    sotto_tally sum;
    struct sotto_leader *leader;
    sotto_arena part_memory, sum_memory;
    size_t held; /* counted in the leader's cached_bytes */
} sotto_cached_reports;

/* NULL: no memory for it, or there is too much already. */
sotto_cached_reports *sotto_cached_reports_new(struct sotto_leader *leader, size_t records,
                                               size_t uploads);
/* At most as many as it was made for. */
void sotto_cached_reports_add_upload(sotto_cached_reports *cached,
                                     struct sotto_upload_request *upload);
void sotto_cached_reports_add_record(sotto_cached_reports *cached, sotto_bytes record);
/* Part and sum of long reports are there: from now on what they take counts. */
void sotto_cached_reports_count(sotto_cached_reports *cached);
/* Its sum was added to another. */
void sotto_cached_reports_forget_sum(sotto_cached_reports *cached);
/* NULL is fine. */
void sotto_cached_reports_free(sotto_cached_reports *cached);

#endif
