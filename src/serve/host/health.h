/* serve/host/health.h - what a server does for itself by the clock, and whether it is well.
 *
 * Callers:  the host opens and closes it; the operations port asks.
 * Threads:  one of its own. Asking never waits for the database: it gets what that thread saw last.
 */
#ifndef SOTTO_SERVE_HOST_HEALTH_H
#define SOTTO_SERVE_HOST_HEALTH_H

#include "serve/host/host.h"

typedef struct sotto_health sotto_health;

typedef struct sotto_health_view {
    bool database; /* the last check succeeded, and is recent */
    bool draining;
} sotto_health_view;

/* Checks once, so that a server knows its state when it opens; then every second, after the service's
 * tick. */
SOTTO_MUST_USE sotto_status sotto_health_open(sotto_health **health, sotto_host *host,
                                              sotto_err *err);
/* NULL is fine. */
void sotto_health_close(sotto_health *health);

void sotto_health_look(sotto_health *health, sotto_health_view *view);
/* From now on the view says so. NULL is fine. */
void sotto_health_set_draining(sotto_health *health);

/* Appends "ready" or "not ready" and a line for each thing that is missing or worth knowing, the service's too; returns
 * whether the server is ready. */
bool sotto_health_describe(sotto_host *host, sotto_buf *out);

/* The host's own lines of it. */
bool sotto_health_view_describe(const sotto_health_view *view, sotto_buf *out);

/* For a service's own lines: text; and text around a number. What does not fit is left out. */
void sotto_health_say(sotto_buf *out, const char *text);
void sotto_health_say_number(sotto_buf *out, const char *before, uint64_t number,
                             const char *after);

#endif
