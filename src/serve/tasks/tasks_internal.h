/* serve/tasks/tasks_internal.h - a compiled task and what it hangs from, within tasks*.c. */
#ifndef SOTTO_SERVE_TASKS_TASKS_INTERNAL_H
#define SOTTO_SERVE_TASKS_TASKS_INTERNAL_H

#include "dap/report.h"
#include "serve/host/keys.h"
#include "serve/tasks/tasks.h"

#define SOTTO_TASKS_CHANNEL "tasks" /* whose waiters look for new rows */

/* A task and a pairing must agree. Whoever adds either compares them, under this lock, in every process. A guard of db/sql.h;
 * keys.c has 0. */
enum { SOTTO_PROVISIONING = 1 };

/* One pairing for two servers: the text that names them, as the table has it. */
enum {
    SOTTO_PARTIES_TEXT = 3 * SOTTO_PARTY_NAME
}; /* a recipe's names may be longer than any pairing's */
void sotto_pairing_parties(char out[SOTTO_PARTIES_TEXT], const char *leader, const char *helper);

typedef struct sotto_task_entry {
    struct sotto_task_entry *next; /* found before this one */
    sotto_server_task task;
    sotto_pairing pairing;
    const struct sotto_party_entry *us; /* in the parties file; NULL: a bare task has none */
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    bool has_verify_key; /* of its own, not from the pairing's seed */
    sotto_arena arena;   /* of the recipe, the configuration and the tables */
} sotto_task_entry;

/* NULL: no memory. */
sotto_task_entry *sotto_task_entry_new(void);
/* NULL is fine. */
void sotto_task_entry_free(sotto_task_entry *entry);

/* From a recipe and its parties; or, where the recipe is empty, from a bare task as sotto_task_bare_encode wrote it. */
SOTTO_MUST_USE sotto_status sotto_task_entry_compile(sotto_task_entry *entry, sotto_role role,
                                                     sotto_bytes recipe, sotto_bytes parties,
                                                     size_t cohort, sotto_mistakes *mistakes,
                                                     sotto_err *err);
/* SOTTO_REJECTED: it is not the task that its row names, so that the row was altered. */
SOTTO_MUST_USE sotto_status sotto_task_entry_check(const sotto_task_entry *entry, sotto_bytes id,
                                                   sotto_err *err);
/* Checks that this server's ring has every key under its name in the parties file that is still to be used. Devices
 * seal until SOTTO_SEAL_GRACE after the schedule. Of a task that is stored it may have been deleted since:
 * reports that came before are still worked on.
 *   SOTTO_DENIED  one is not: whoever has it would read this server's half of every report that is sealed to it */
SOTTO_MUST_USE sotto_status sotto_task_entry_keys(const sotto_task_entry *entry, sotto_tx *tx,
                                                  const sotto_own_keys *own, bool stored,
                                                  sotto_err *err);
/* Notes that devices have a parties file with these keys of this server. */
SOTTO_MUST_USE sotto_status sotto_task_entry_name(const sotto_task_entry *entry, sotto_tx *tx,
                                                  const sotto_own_keys *own, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_task_bare_encode(sotto_buf *out, const sotto_bare_task *task,
                                                   sotto_err *err);

/* A row's pairing; wipe it. */
SOTTO_MUST_USE sotto_status sotto_pairing_unseal(sotto_pairing *out, const sotto_column_keys *keys,
                                                 const char *fingerprint, sotto_bytes sealed,
                                                 sotto_err *err);

/* Fills in the pairing of a compiled task and its verification key; where its parties are not paired yet, task.pairing stays
 * NULL.
 *   SOTTO_DENIED    the task's collector has another key than the one that was paired, or a server another URL
 *   SOTTO_REJECTED  the pairing that is stored for these parties is others' */
SOTTO_MUST_USE sotto_status sotto_task_entry_pair(sotto_task_entry *entry, sotto_tx *tx,
                                                  const sotto_column_keys *keys, sotto_err *err);

#endif
