/* serve/host/host_metrics.h - everything that is counted, as Prometheus reads it (exposition format 0.0.4).
 *
 * Callers:  the operations port; services write their own lines with the same two verbs.
 * Secrets:  none: counts and names of causes.
 */
#ifndef SOTTO_SERVE_HOST_HOST_METRICS_H
#define SOTTO_SERVE_HOST_HOST_METRICS_H

#include "base/writer.h"
#include "serve/host/host.h"

/* # HELP and # TYPE; lines of the family follow. */
void sotto_metric_head(sotto_writer *w, const char *name, const char *type, const char *help);
/* A family of one. */
void sotto_metric_one(sotto_writer *w, const char *name, const char *type, const char *help,
                      uint64_t value);

/* What the process is and uses: part of the host's. */
void sotto_process_metrics_write(sotto_writer *w, sotto_host *host);

/* Appends the whole text: the service's, then the host's. */
SOTTO_MUST_USE sotto_status sotto_host_metrics_write(sotto_buf *out, sotto_host *host,
                                                     sotto_err *err);

#endif
