/* query/compile.h - a query compiled as a device compiles it: under the verifier, within limits, nothing read yet.
 *
 * Callers:  device/events/query.c over the event store; query/check.c over empty tables, for lint.
 * Memory:   connections and the verifier are the caller's.
 * Threads:  as the connection.
 *
 * One function decides for both, so that lint and a device can't disagree about a query.
 */
#ifndef SOTTO_QUERY_COMPILE_H
#define SOTTO_QUERY_COMPILE_H

#include "query/verifier.h"

enum { SOTTO_COMPILED_MAX_COLUMNS = 128 };

/* Compiles the query on a connection that has the verifier's streams, and once more on an empty copy where the order of
 * rows may matter. The authorizer stays on the connection, and the verifier's list of fields is sealed.
 *   SOTTO_MALFORMED  SQLite does not understand it
 *   SOTTO_DENIED     the policy does not allow it; the reason says what
 *   SOTTO_TOO_LARGE  it passes one of the policy's limits
 */
SOTTO_MUST_USE sotto_status sotto_compile(sqlite3 *db, sqlite3_stmt **out, sotto_verifier *verifier,
                                          sotto_bytes sql, sotto_err *err);

/* Which column of the answer has this name. SOTTO_MISSING: none, or more than one. */
SOTTO_MUST_USE sotto_status sotto_compiled_column(sqlite3_stmt *statement, size_t *column,
                                                  const char *name, sotto_err *err);

/* ---- its parts ---- */

/* Sets the authorizer and the limits, and prepares; returns SQLite's code. */
int sotto_compile_prepare(sqlite3 *db, sqlite3_stmt **out, sotto_verifier *verifier,
                          sotto_bytes sql, const char **tail);
/* Why it was not compiled: the verifier's reason, or SQLite's message. */
sotto_status sotto_compile_refused(const sotto_verifier *verifier, sqlite3 *db, int code,
                                   sotto_err *err);
void sotto_compile_limits(sqlite3 *db, const sotto_query_limits *limits);
void sotto_compile_limit(sqlite3 *db, int which, uint64_t value);

#endif
