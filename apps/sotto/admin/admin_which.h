/* apps/sotto/admin/admin_which.h - a task's row number and its buckets, as people know them: its id, and times. */
#ifndef SOTTO_APPS_ADMIN_WHICH_H
#define SOTTO_APPS_ADMIN_WHICH_H

#include "admin.h"
#include "dap/dap.h"
#include "db/store.h"
#include "recipe/calendar.h"

#include <stdio.h>

typedef struct sotto_which_task sotto_which_task;
typedef struct sotto_which {
    sotto_arena *arena;
    const sotto_which_task *tasks;
} sotto_which;

typedef struct sotto_which_time {
    char from[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT]; /* until itself is not in it */
} sotto_which_time;

/* Every task of this server; they stay in the admin's arena. */
SOTTO_MUST_USE sotto_status sotto_which_open(sotto_which *which, sotto_admin *admin);
/* As `sotto admin task list` prints it; "?" if there is none. */
const char *sotto_which_task_id(const sotto_which *which, int64_t n);
/* The times of buckets. False: they are not known, since the task can't be read by this version. */
bool sotto_which_times(const sotto_which *which, sotto_which_time *out, int64_t n, uint64_t first,
                       uint64_t end);

/* What writes a list's lines goes by this, and counts them. */
typedef struct sotto_listing {
    const sotto_admin *admin;
    sotto_which which;
    FILE *out; /* for the lines; not stdout: what reads may be run again, from its start */
    uint64_t lines;
    sotto_db_fn *read; /* writes them */
} sotto_listing;

/* A verb that takes no words: `list` gets a sotto_listing. Printed when all is read. If a pager waited in the middle of it, nothing
 * that is erased could leave SQLite's WAL. PostgreSQL would end the transaction, which would then begin anew. */
int sotto_listing_run(const char *verb, sotto_db_fn *list, int argc, char **argv);

#endif
