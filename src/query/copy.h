/* query/copy.h - a database for one query, with what the query reads and nothing else.
 *
 * Rows of a table come in some order, whether a query asks for one or not. It is that of their numbers, so of donation,
 * or that of an index, so of ids or times. LIMIT, a bare column, a sum that overflows halfway: many things make that
 * order visible, and SQLite's authorizer is asked about none of them. So the query gets a copy: only the columns that
 * it was found to read, no index, no other table, and rows in the order of their own values. Two stores that have the
 * same values in these columns have the same copy, whatever else differs.
 *
 * Callers:  query/compile.c; device/events/query.c.
 * Memory:   the copy lives in memory, in the query's allowance, and is gone with its connection.
 * Secrets:  every row.
 */
#ifndef SOTTO_QUERY_COPY_H
#define SOTTO_QUERY_COPY_H

#include "query/verifier.h"

/* Opens an empty copy: a table for each stream that the verifier found to be read, with the fields read of it. */
SOTTO_MUST_USE sotto_status sotto_query_copy_open(sqlite3 **out, const sotto_verifier *verifier,
                                                  sotto_err *err);

/* Fills it with what the store has at one moment. Returns SQLite's code for whatever failed. While
 * it runs, the copy has no authorizer, and that of the store lets rows be counted. */
int sotto_query_copy_fill(sqlite3 *copy, sqlite3 *store, const sotto_verifier *verifier);

#endif
