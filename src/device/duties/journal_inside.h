/* device/duties/journal_inside.h - the journal as its files share it: statements and transactions.
 */
#ifndef SOTTO_DEVICE_DUTIES_JOURNAL_INSIDE_H
#define SOTTO_DEVICE_DUTIES_JOURNAL_INSIDE_H

#include "device/duties/journal.h"

/* Key generations: what was called, what was seen on the board, and what this device said there, once in a step. */
#define SOTTO_JOURNAL_KEYGEN_SCHEMA                                                                \
    "CREATE TABLE IF NOT EXISTS keygen (n INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL"     \
    " UNIQUE, place INTEGER NOT NULL, call BLOB, seed BLOB, since INTEGER NOT NULL,"               \
    " step INTEGER NOT NULL, ended INTEGER NOT NULL) STRICT;"                                      \
    "CREATE TABLE IF NOT EXISTS posted (keygen INTEGER NOT NULL, step INTEGER NOT NULL, place"     \
    " INTEGER NOT NULL, wire BLOB NOT NULL, PRIMARY KEY (keygen, step, place)) STRICT;"            \
    "CREATE TABLE IF NOT EXISTS said (keygen INTEGER NOT NULL, step INTEGER NOT NULL, wire BLOB"   \
    " NOT NULL, sent INTEGER NOT NULL, PRIMARY KEY (keygen, step)) STRICT;"
#define SOTTO_JOURNAL_KEYGEN_FORGET                                                                \
    "UPDATE keygen SET call = NULL, seed = NULL, ended = 1; DELETE FROM posted; DELETE FROM said"

/* Inside a transaction; nothing for an empty tree. Load: an empty tree where there is none. */
#define SOTTO_JOURNAL_TREE_SCHEMA                                                                  \
    "CREATE TABLE IF NOT EXISTS tree (duty INTEGER PRIMARY KEY, edge BLOB NOT NULL) STRICT;"
SOTTO_MUST_USE sotto_status sotto_journal_store_tree(sotto_journal *j, int64_t n,
                                                     const sotto_merkle_tree *tree, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_load_tree(sotto_journal *j, int64_t n,
                                                    sotto_merkle_tree *tree, sotto_arena *arena,
                                                    sotto_err *err);

/* Messages that several have to have: who has them. An earlier table named witnesses by their places in the policy, which may change: what
 * waits is handed out again. */
#define SOTTO_JOURNAL_HANDED_SCHEMA                                                                \
    "CREATE TABLE IF NOT EXISTS handed_to (row INTEGER NOT NULL, who BLOB NOT NULL, PRIMARY KEY"   \
    " (row, who)) STRICT;"                                                                         \
    "DROP TRIGGER IF EXISTS no_more_handed; DROP TABLE IF EXISTS handed;"

/* What members take to the next round. */
#define SOTTO_JOURNAL_CARRIED_SCHEMA                                                               \
    "CREATE TABLE IF NOT EXISTS carried (session BLOB PRIMARY KEY, number INTEGER NOT NULL,"       \
    " until INTEGER NOT NULL, share BLOB NOT NULL) STRICT;"
SOTTO_MUST_USE sotto_status sotto_journal_store_carried(sotto_journal *j, const sotto_round *round,
                                                        sotto_bytes what, sotto_err *err);

void sotto_journal_bind(sqlite3_stmt *q, int at, sotto_bytes b);
SOTTO_MUST_USE sotto_status sotto_journal_prepare(sotto_journal *j, sqlite3_stmt **q,
                                                  const char *sql, sotto_err *err);
/* A statement without rows, and its end. */
SOTTO_MUST_USE sotto_status sotto_journal_run(sqlite3_stmt *q, sotto_err *err);
/* The same with a number in the place of ?1. */
SOTTO_MUST_USE sotto_status sotto_journal_run_for(sotto_journal *j, const char *sql, int64_t n,
                                                  sotto_err *err);
/* False: no row, or a failure, which *status tells. */
SOTTO_MUST_USE bool sotto_journal_row(sqlite3_stmt *q, sotto_status *status, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_column(sqlite3_stmt *q, int at, sotto_bytes *out,
                                                 sotto_arena *arena, sotto_err *err);
/* End a transaction whose work had this status; the second leaves nothing of what was erased in the WAL. */
SOTTO_MUST_USE sotto_status sotto_journal_finish(sotto_journal *j, sotto_status status,
                                                 sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_journal_finish_erased(sotto_journal *j, sotto_status status,
                                                        sotto_err *err);
/* Inside a transaction: this message waits no longer. */
SOTTO_MUST_USE sotto_status sotto_journal_forget(sotto_journal *j, int64_t row, sotto_err *err);
/* Inside a transaction. SOTTO_DENIED: one stands that says something else. */
SOTTO_MUST_USE sotto_status sotto_journal_insert_vow(sotto_journal *j, const uint8_t session[32],
                                                     const sotto_vow *vow, sotto_err *err);

#endif
