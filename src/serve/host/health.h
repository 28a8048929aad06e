/* serve/host/health.h - what a server does for itself by the clock: HPKE keys move on, and it knows how it is.
 *
 * Callers:  the server opens and closes it; the operations port looks.
 * Threads:  one of its own. Looking never waits for the database: it gets what that thread saw last.
 */
#ifndef SOTTO_SERVE_HOST_HEALTH_H
#define SOTTO_SERVE_HOST_HEALTH_H

#include "serve/host/server.h"
#include "serve/leader/leader.h"
#include "serve/leader/stalled.h"

typedef struct sotto_health sotto_health;

enum { SOTTO_HEALTH_STATES = 5 }; /* of a release: serve/tasks/schema.h */

typedef struct sotto_health_view {
    bool database; /* the last look succeeded, and that was not long ago */
    bool draining;
    uint64_t tasks, unpaired, broken, without_population, held;
    uint64_t unreadable; /* segments */
    uint64_t
        unanswered;   /* leader: jobs that were tried without success and wait for another try  */
    uint64_t in_jobs; /* leader: reports of jobs that are not finished, tried before or not     */
    char
        retry[SOTTO_LEADER_REASON]; /* why the last job that was put off by this process was      */
    uint64_t releases[SOTTO_HEALTH_STATES];
    sotto_stalled stalled; /* leader: collections without an answer */
} sotto_health_view;

/* Looks once, so that a server that opens knows how it is; then every second. Keys are looked after every ten seconds
 * of the server's clock. */
SOTTO_MUST_USE sotto_status sotto_health_open(sotto_health **health, sotto_server *server,
                                              sotto_err *err);
/* NULL is fine. */
void sotto_health_close(sotto_health *health);

void sotto_health_look(sotto_health *health, sotto_health_view *view);
/* From now on the view says so. NULL is fine. */
void sotto_health_set_draining(sotto_health *health);

/* Appends a line for each thing that is missing or worth knowing; returns whether the server is ready. */
bool sotto_health_describe(const sotto_health_view *view, sotto_buf *out);

#endif
