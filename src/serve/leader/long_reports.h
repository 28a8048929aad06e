/* serve/leader/long_reports.h - long reports of a flush: opened, through the leader's first step, and summed, a few at a time.
 *
 * Callers:  flush.c, before a group's segment is sealed.
 * Memory:   a few shares in the worker's arena, while the call lasts; of the rest only part and sum stay.
 * Secrets:  the leader's input shares, and the sum of a group's.
 *
 * A share of 10,000 bins has 160 KB. Opened, verified and added up while it is in the processor's cache, each of its bytes is fetched
 * once. Nothing is acknowledged yet: what the transaction refuses then is in the sum already, and the job of that segment
 * reads its reports from the disk.
 */
#ifndef SOTTO_SERVE_LEADER_LONG_REPORTS_H
#define SOTTO_SERVE_LEADER_LONG_REPORTS_H

#include "serve/leader/flush.h"

/* Opens all acceptable reports of a group, whose task has long ones, and puts the group into the order of ids. Errors stand in each
 * report. g->cached is their part and sum; NULL: the job will read them. What fails is the whole flush's failure. */
SOTTO_MUST_USE sotto_status sotto_long_reports_open(sotto_flush *f, sotto_flush_group *g,
                                                    sotto_worker *worker, sotto_err *err);

#endif
