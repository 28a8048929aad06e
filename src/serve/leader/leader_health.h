/* serve/leader/leader_health.h - what a leader tells of its jobs, collections and segments, beside tasks/task_health.h.
 *
 * Callers:  the leader's hooks (host/service.h).
 * Threads:  the host's health thread reads the database; whoever asks gets what it saw last.
 */
#ifndef SOTTO_SERVE_LEADER_LEADER_HEALTH_H
#define SOTTO_SERVE_LEADER_LEADER_HEALTH_H

#include "serve/leader/leader.h"
#include "serve/leader/stalled.h"

/* What leader->health (host/last_seen.h) holds. */
typedef struct sotto_leader_health_view {
    uint64_t unreadable; /* segments                                                          */
    uint64_t unanswered; /* jobs that were tried without success and wait for another try     */
    uint64_t in_jobs;    /* reports of jobs that are not finished, tried before or not        */
    char retry[SOTTO_STEP_REASON]; /* why the last job that was put off by this process was */
    sotto_stalled stalled;         /* collections without an answer                         */
} sotto_leader_health_view;

/* In a transaction that reads, each second; collections every tenth time. */
SOTTO_MUST_USE sotto_status sotto_leader_health_read(sotto_tx *tx, sotto_leader *leader,
                                                     sotto_err *err);
/* Appends a line for each thing that is missing or worth knowing. */
void sotto_leader_health_describe(const sotto_leader_health_view *view, sotto_buf *out);
void sotto_leader_health_metrics(sotto_writer *w, sotto_leader *leader);

#endif
