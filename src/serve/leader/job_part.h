/* serve/leader/job_part.h - some of a job's reports, through the leader's first step together: a segment's, or all of them.
 *
 * Callers:  long_reports.c, on the way to disk; job_verify.c for all others.
 * Memory:   in the arena of its first call; reports are borrowed until they are summed.
 * Secrets:  shares, and the sum of a few of them.
 *
 * Shares of long reports are added up while the helper's answer is awaited, as if all of them were going to hold, and go. So a
 * job needs the memory of its sum, not that of its reports. Those few that don't hold are read back and taken off.
 */
#ifndef SOTTO_SERVE_LEADER_JOB_PART_H
#define SOTTO_SERVE_LEADER_JOB_PART_H

#include "aggregate/method.h"
#include "serve/leader/segments.h"
#include "serve/tasks/tasks.h"

typedef struct sotto_job_part {
    sotto_kept_report *reports; /* once summed, without the leader's share */
    size_t count;
    sotto_vdaf_batch batch; /* without outbound: our own first step rejected the report */
    bool summed;            /* all that have outbound are in a sum, and their shares are gone */
} sotto_job_part;

/* Whether a task's reports are so long that they are summed at once. */
bool sotto_job_part_is_long(const sotto_server_task *task);
/* Puts reports into the order of their ids, which devices draw at random. In the order in which they came, a helper and a relay
 * could match them with devices. The order is the same whenever a part is read again. */
void sotto_job_part_mix(sotto_kept_report *reports, size_t count);
/* The first step of these reports, mixed. */
SOTTO_MUST_USE sotto_status sotto_job_part_begin(sotto_job_part *part,
                                                 const sotto_server_task *task,
                                                 sotto_kept_report *reports, size_t count,
                                                 sotto_arena *arena, sotto_err *err);
/* An empty part with room for so many long reports. */
SOTTO_MUST_USE sotto_status sotto_job_part_open(sotto_job_part *part, size_t room,
                                                sotto_arena *arena, sotto_err *err);
/* The first step of some more, which come in the order of their ids, and adds them to the sum: what the reports lie in may go.
 * After a failure part and sum are of no use. */
SOTTO_MUST_USE sotto_status sotto_job_part_add(sotto_job_part *part, sotto_tally *sum,
                                               const sotto_server_task *task,
                                               const sotto_kept_report *reports, size_t count,
                                               sotto_arena *arena, sotto_err *err);
/* Both for all reports of a part, in any order. */
SOTTO_MUST_USE sotto_status sotto_job_part_sum(sotto_job_part *part, sotto_tally *sum,
                                               const sotto_server_task *task,
                                               const sotto_kept_report *reports, size_t count,
                                               sotto_arena *arena, sotto_err *err);

#endif
