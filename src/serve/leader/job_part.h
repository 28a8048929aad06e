/* serve/leader/job_part.h - some of a job's reports, through the leader's first step together: a segment's, or all of them.
 *
 * Callers:  long_reports.c, on the way to disk; job_verify.c for all others.
 * Memory:   in the arena of its first call; records are borrowed until they are summed.
 * Secrets:  shares, and the sum of a few of them.
 *
 * Shares of long reports are added up while the helper's answer is awaited, as if all of them were valid, and then freed. So a
 * job needs the memory of its sum, not that of its reports. The few invalid ones are read back and subtracted.
 */
#ifndef SOTTO_SERVE_LEADER_JOB_PART_H
#define SOTTO_SERVE_LEADER_JOB_PART_H

#include "aggregate/method.h"
#include "serve/leader/segments.h"
#include "serve/tasks/tasks.h"

typedef struct sotto_job_part {
    sotto_bytes *shares; /* DAP's ReportShare of each, encoded: its id first */
    size_t count;
    sotto_vdaf_batch batch; /* without outbound: our own first step rejected the report */
    bool summed;            /* all that have outbound are in a sum, and their shares are gone */
} sotto_job_part;

/* Whether a task's reports are so long that they are summed at once. */
bool sotto_job_part_is_long(const sotto_server_task *task);
/* Puts records into the order of their ids, which devices draw at random. In the order in which they came, a helper and a relay
 * could match them with devices. The order is the same whenever a part is read again. */
void sotto_job_part_mix(sotto_bytes *records, size_t count);
/* The first step of these reports, mixed. Their records are borrowed for as long as the part lives. */
SOTTO_MUST_USE sotto_status sotto_job_part_begin(sotto_job_part *part,
                                                 const sotto_server_task *task,
                                                 sotto_bytes *records, size_t count,
                                                 sotto_arena *arena, sotto_err *err);
/* An empty part with room for so many long reports. */
SOTTO_MUST_USE sotto_status sotto_job_part_open(sotto_job_part *part, size_t room,
                                                sotto_arena *arena, sotto_err *err);
/* The first step of some more, in the order of their ids, and adds them to the sum: the memory of inputs and shares may be freed.
 * After a failure part and sum must not be used.
 *   report_shares  DAP's ReportShare of each, encoded; the public share of its input lies in it */
SOTTO_MUST_USE sotto_status sotto_job_part_add(sotto_job_part *part, sotto_tally *sum,
                                               const sotto_server_task *task,
                                               const sotto_vdaf_report *inputs,
                                               const sotto_bytes *report_shares, size_t count,
                                               sotto_arena *arena, sotto_err *err);
/* Both for all records of a part, in any order. */
SOTTO_MUST_USE sotto_status sotto_job_part_sum(sotto_job_part *part, sotto_tally *sum,
                                               const sotto_server_task *task, sotto_bytes *records,
                                               size_t count, sotto_arena *arena, sotto_err *err);

#endif
