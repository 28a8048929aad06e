/* query/statements.h - statements of one connection that stay compiled for their next use.
 *
 * Callers:  the event store and the ledger. Compiling a statement costs more than running it.
 * Memory:   each statement that is kept costs a few KiB; whoever hands one back says how many may be.
 * Threads:  as the connection.
 */
#ifndef SOTTO_QUERY_STATEMENTS_H
#define SOTTO_QUERY_STATEMENTS_H

#include "query/sqlite.h"

enum { SOTTO_STATEMENTS = 64 };

/* All zero: none. */
typedef struct sotto_statements {
    sqlite3_stmt *kept[SOTTO_STATEMENTS]; /* used last first; one that is in use is not here */
    uint32_t marks[SOTTO_STATEMENTS];     /* of their texts: equal texts have equal ones     */
    size_t count;
} sotto_statements;

/* One that is kept and has this text, or else compiles it. Hand *out back. */
SOTTO_MUST_USE sotto_status sotto_statements_lend(sotto_statements *statements, sqlite3 *db,
                                                  sqlite3_stmt **out, const char *sql,
                                                  const char *what, sotto_err *err);
/* Takes it back; what it read is gone, and what was bound to it is not looked at again. NULL is fine.
 *   db    the connection as it is now: a statement of another one is finalised
 *   most  that are kept, at most SOTTO_STATEMENTS
 */
void sotto_statements_release(sotto_statements *statements, sqlite3 *db, sqlite3_stmt *statement,
                              size_t most);
/* Finalises all that are kept; the connection can't be closed before. */
void sotto_statements_drop(sotto_statements *statements);

#endif
