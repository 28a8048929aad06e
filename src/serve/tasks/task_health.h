/* serve/tasks/task_health.h - what both roles tell of their tasks and batches: lines of /readyz, gauges of /metrics.
 *
 * Callers:  the two services' hooks (host/service.h).
 * Threads:  the host's health thread reads the database; whoever asks gets what it saw last.
 */
#ifndef SOTTO_SERVE_TASKS_TASK_HEALTH_H
#define SOTTO_SERVE_TASKS_TASK_HEALTH_H

#include "serve/tasks/server.h"

enum { SOTTO_RELEASE_STATES = 5 }; /* serve/tasks/schema.h */

/* What server->health (host/last_seen.h) holds. */
typedef struct sotto_task_health_view {
    uint64_t tasks, unpaired, broken, without_population, held;
    uint64_t releases[SOTTO_RELEASE_STATES];
    sotto_keys_known keys;
} sotto_task_health_view;

/* In a transaction that reads, each second; releases every tenth time, since there may be many. */
SOTTO_MUST_USE sotto_status sotto_task_health_read(sotto_tx *tx, sotto_server *server,
                                                   sotto_err *err);
/* Appends a line for each thing that is missing or worth knowing. */
void sotto_task_health_describe(const sotto_task_health_view *view, sotto_buf *out);

#endif
