/* serve/tasks/listing.h - what a database holds, for whoever looks at it from the command line.
 *
 * Callers:  `sotto admin`, and serve/tasks/gc.c.
 * Memory:   what a callback gets is borrowed until it returns.
 * Secrets:  none are shown.
 */
#ifndef SOTTO_SERVE_TASKS_LISTING_H
#define SOTTO_SERVE_TASKS_LISTING_H

#include "serve/tasks/tasks.h"

typedef struct sotto_task_line {
    const sotto_server_task
        *task;      /* compiled; NULL: it does not compile here, or not to the task that its row
                     * names */
    int64_t n;      /* its row                              */
    sotto_bytes id; /* as it is stored                      */
    const char *
        broken; /* why it can't be served; else NULL. A task that waits for its pairing can be, later */
    bool paired;
    bool retired; /* cleared away: serve/tasks/gc.h             */
    bool busy;    /* reports of it wait, or are in a job  */
    uint64_t population;
} sotto_task_line;
typedef sotto_status sotto_task_line_fn(void *context, const sotto_task_line *line, sotto_err *err);
/* Every task of this role, the oldest first; one that does not compile, a newer version's or damaged, hides no other. Not to be called back into the database.
 *   keys  that open the pairings and this server's HPKE keys; NULL: whether one can be opened, or a parties file names a
 *         stranger's, is not looked at */
SOTTO_MUST_USE sotto_status sotto_list_tasks(sotto_db *db, const sotto_column_keys *keys,
                                             sotto_role role, sotto_task_line_fn *show,
                                             void *context, sotto_err *err);

typedef struct sotto_pairing_line {
    const char *fingerprint;
    const char *parties; /* leader and helper, with a line feed between them */
    const char
        *collector_key; /* to which sums are sealed; "" if it has none; NULL: it can't be read */
    const char *leader_url, *helper_url; /* NULL: it can't be read */
    const char *broken;                  /* why not; else NULL     */
} sotto_pairing_line;
typedef sotto_status sotto_pairing_line_fn(void *context, const sotto_pairing_line *line,
                                           sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_list_pairings(sotto_db *db, const sotto_column_keys *keys,
                                                sotto_pairing_line_fn *show, void *context,
                                                sotto_err *err);

#endif
