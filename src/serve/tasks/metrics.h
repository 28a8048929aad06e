/* serve/tasks/metrics.h - what a leader or helper did since the start, counted; and their lines for Prometheus.
 *
 * Callers:  handlers, intake, jobs and collections count; the operations port has it written out.
 * Threads:  counting never waits.
 * Secrets:  none: counts and names of causes.
 */
#ifndef SOTTO_SERVE_TASKS_METRICS_H
#define SOTTO_SERVE_TASKS_METRICS_H

#include "serve/tasks/server.h"

typedef enum sotto_metric {
    SOTTO_METRIC_UPLOADS_FAILED, /* uploads that were told to try again                */
    SOTTO_METRIC_JOBS_FORMED,    /* leader: on disk                                     */
    SOTTO_METRIC_JOBS_SENT,      /* to the helper, each time                            */
    SOTTO_METRIC_JOBS_FINISHED,  /* added up                                            */
    SOTTO_METRIC_JOBS_RETRIED,   /* given back, for later                               */
    SOTTO_METRIC_JOBS_ABANDONED, /* the answer was none for the request                 */
    SOTTO_METRIC_JOBS_ANSWERED,  /* helper: verified and committed                      */
    SOTTO_METRIC_JOBS_REPEATED,  /* helper: answered with the stored bytes              */
    SOTTO_METRIC_JOBS_REFUSED,   /* helper: the request was none                        */
    SOTTO_METRIC_JOBS_FAILED,    /* helper: told to try again                           */
    SOTTO_METRIC_TASKS_UNKNOWN,  /* helper: what a leader would ask, of no task of ours */
    SOTTO_METRIC_REPORTS_AGGREGATED,
    SOTTO_METRIC_COLLECTIONS_CLOSED, /* leader: batches closed for a collection            */
    SOTTO_METRIC_COLLECTIONS_RETRIED,
    SOTTO_METRIC_COLLECTIONS_DONE,
    SOTTO_METRIC_COLLECTIONS_FAILED, /* the helper refused for good                        */
    SOTTO_METRIC_REPAIRS_ASKED,      /* leader: of the helper                              */
    SOTTO_METRIC_REPAIRS_DONE,       /* jobs were dropped, or none had to be                */
    SOTTO_METRIC_REPAIRS_REFUSED,
    SOTTO_METRICS
} sotto_metric;

typedef struct sotto_metrics sotto_metrics;

SOTTO_MUST_USE sotto_status sotto_metrics_new(sotto_metrics **metrics, sotto_err *err);
/* NULL is fine, here and below. */
void sotto_metrics_free(sotto_metrics *metrics);

void sotto_metrics_count(sotto_metrics *metrics, sotto_metric which, uint64_t times);
/* reports[cause]: 0 is accepted, others are DAP's report errors and those of serve/leader/leader.h. */
void sotto_metrics_reports(sotto_metrics *metrics, const uint64_t *reports, size_t causes);
uint64_t sotto_metrics_get(const sotto_metrics *metrics, sotto_metric which);

/* What both roles tell, and what they counted. */
SOTTO_MUST_USE sotto_status sotto_metrics_write(sotto_writer *w, sotto_server *server,
                                                sotto_err *err);

#endif
