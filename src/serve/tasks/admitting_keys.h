/* serve/tasks/admitting_keys.h - under which keys of an issuer the reports of a task are admitted: one key for each collection.
 *
 * Callers:  tasks*.c stores them with a task and loads them with it; serve/tasks/token_check.h looks them up.
 * Memory:   lists are borrowed, or lie in the arena of the task.
 * Secrets:  none.
 *
 * A key is for a window of the task's time. Windows follow each other without a gap from the task's opening to its close, so a
 * report's time has one key. A task never gets a second key for the same time: that would be a second token for each device.
 */
#ifndef SOTTO_SERVE_TASKS_ADMITTING_KEYS_H
#define SOTTO_SERVE_TASKS_ADMITTING_KEYS_H

#include "dap/admission.h"
#include "db/sql.h"
#include "sotto/recipe.h"

/* Of one task: a window each day for more than a year. */
enum { SOTTO_ADMITTING_KEYS_MOST = 512, SOTTO_ISSUER_NAME = 255 };

typedef struct sotto_admitting_key {
    uint8_t spki[SOTTO_TYPE2_SPKI];
    uint64_t opens, closes; /* seconds since 1970 */
    /* Of keys that were loaded: */
    int64_t n; /* of its id: the same in every task that has it */
    uint8_t id[SOTTO_TOKEN_KEY_ID];
    uint8_t challenge[SOTTO_TOKEN_DIGEST]; /* of tokens for this window */
    bool cleared; /* what was spent of it is deleted (serve/tasks/spent_tokens.h) */
} sotto_admitting_key;

typedef struct sotto_admitting_keys {
    const char *issuer;              /* its name in the recipe; NULL: the task asks for no tokens */
    const sotto_admitting_key *list; /* by their opening */
    size_t count;
    bool arc; /* the task asks for ARC: the key is this server's own, and the list is empty */
    const struct sotto_arc_key *own; /* ... of a task that was loaded (serve/tasks/arc_keys.h) */
} sotto_admitting_keys;

/* SOTTO_DENIED: windows that overlap, have gaps or cut a unit of time in two, or are not the task's; or no name. SOTTO_MALFORMED: not a
 * key of type 2. */
SOTTO_MUST_USE sotto_status sotto_admitting_keys_check(const sotto_admitting_keys *keys,
                                                       const sotto_task *task, sotto_err *err);
/* Stores the keys of a task by its row, unless it has them already.
 *   SOTTO_DENIED  it has others */
SOTTO_MUST_USE sotto_status sotto_admitting_keys_put(sotto_tx *tx, const sotto_admitting_keys *keys,
                                                     int64_t task, sotto_err *err);
/* SOTTO_MISSING: it has none. */
SOTTO_MUST_USE sotto_status sotto_admitting_keys_load(sotto_tx *tx, sotto_admitting_keys *out,
                                                      int64_t task, sotto_arena *arena,
                                                      sotto_err *err);

#endif
