/* serve/tasks/arc_keys.h - this server's own keys of ARC: one for each epoch, under which it issues credentials and verifies them.
 *
 * Callers:  `sotto admin arc` makes them; tasks*.c binds tasks to them; serve/tasks/arc_issue.c issues; gc.c erases.
 * Memory:   outputs are the caller's.
 * Secrets:  private keys: sealed columns, and loaded with a task; wiped with its arena.
 *
 * Epochs of one server never overlap, and the schedule of a task lies within one. A device has one credential for each key, so it has
 * one tag for each task. With two keys it would have two.
 */
#ifndef SOTTO_SERVE_TASKS_ARC_KEYS_H
#define SOTTO_SERVE_TASKS_ARC_KEYS_H

#include "dap/arc_admission.h"
#include "db/sealed.h"
#include "db/sql.h"
#include "db/store.h"
#include "sotto/recipe.h"

enum { SOTTO_ARC_EPOCHS_LISTED = 512 };

typedef struct sotto_arc_key {
    int64_t n; /* of its id: what spent tags stand under */
    sotto_arc_epoch epoch;
    uint8_t public_key[SOTTO_ARC_PUBLIC];
    uint8_t attester[32]; /* SHA-256 of the bearer token of who may have credentials issued */
    sotto_arc_private secret;
    bool cleared; /* what was spent of it is deleted, or its private key is */
} sotto_arc_key;

/* Makes the key of an epoch, once: asked again it gives the same one.
 *   attester  SHA-256 of the bearer token of who may have credentials issued; given again it replaces the one before
 *   SOTTO_DENIED  another epoch overlaps this one */
SOTTO_MUST_USE sotto_status sotto_arc_key_add(sotto_db *db, sotto_arc_key *out, bool *made,
                                              uint64_t opens, uint64_t closes,
                                              const uint8_t attester[32],
                                              const sotto_column_keys *columns, sotto_err *err);
/* By its id, with its private key, for the attester that may use it; wipe it.
 *   attester  SHA-256 of the bearer token of who asks
 *   SOTTO_MISSING  there is none
 *   SOTTO_DENIED   it is another attester's; its private key was not read
 *   SOTTO_STALE    its private key is erased */
SOTTO_MUST_USE sotto_status sotto_arc_key_get(sotto_db *db, sotto_arc_key *out,
                                              const uint8_t id[SOTTO_TOKEN_KEY_ID],
                                              const uint8_t attester[32],
                                              const sotto_column_keys *columns, sotto_err *err);
/* Writes the public list, in the form of recipe/listed_keys.h: epochs that close after `since`, oldest first. */
SOTTO_MUST_USE sotto_status sotto_arc_keys_list(sotto_db *db, sotto_buf *out, uint64_t since,
                                                sotto_err *err);

/* ---- inside a transaction ---- */

/* The key of the epoch that has all of this time is that task's from now on: its schedule, or that of all rounds of which a device
 * draws one.
 *   SOTTO_DENIED  there is no such epoch */
SOTTO_MUST_USE sotto_status sotto_arc_key_bind(sotto_tx *tx, int64_t opens, int64_t closes,
                                               int64_t n, sotto_err *err);
/* SOTTO_MISSING: the task has none. */
SOTTO_MUST_USE sotto_status sotto_arc_key_load(sotto_tx *tx, sotto_arc_key *out, int64_t task,
                                               const sotto_column_keys *columns, sotto_err *err);
/* Erases private keys of epochs that closed before this time (seconds since 1970). */
SOTTO_MUST_USE sotto_status sotto_arc_keys_erase(sotto_tx *tx, int64_t before, sotto_err *err);

#endif
