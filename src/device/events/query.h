/* device/events/query.h - one query over the events of this device, checked before it runs.
 *
 *     sotto_query_open      compiled under the policy; nothing has been read yet
 *     sotto_query_accessed  what it would read, for the ledger to judge
 *     sotto_query_run       rows, one by one
 *
 * Callers:  the report path of this room.
 * Memory:   the store and the policy are borrowed and must outlive the query.
 * Threads:  as the store.
 * Secrets:  every row. Reasons quote the recipe's text at most, never a value.
 */
#ifndef SOTTO_DEVICE_QUERY_H
#define SOTTO_DEVICE_QUERY_H

#include "base/clock.h"
#include "device/events/store.h"
#include "query/verifier.h"

typedef struct sotto_query sotto_query;

/* Compiles the query on a connection of its own, which can only read and sees the event file only.
 *   SOTTO_MALFORMED  SQLite does not understand it
 *   SOTTO_DENIED     the policy does not allow it; the reason says what
 *   SOTTO_TOO_LARGE  it passes one of the policy's limits
 */
SOTTO_MUST_USE sotto_status sotto_query_open(sotto_query **out, sotto_store *store,
                                             const sotto_query_policy *policy, sotto_bytes sql,
                                             const sotto_clock *clock, sotto_err *err);

/* The fields that it reads anywhere: answer, condition, order, sub-select. From here on the list is fixed; a
 * query that would read more, since the schema changed below it, is denied. Borrowed. */
const sotto_access *sotto_query_accessed(const sotto_query *query, size_t *count);

/* Which column of the answer has this name. SOTTO_MISSING: none, or more than one. */
SOTTO_MUST_USE sotto_status sotto_query_column(const sotto_query *query, size_t *column,
                                               const char *name, sotto_err *err);

/* The names of its columns, in their order, at most `room` of them. Borrowed. */
size_t sotto_query_columns(const sotto_query *query, const char **names, size_t room);

/* Runs it once, calling row (values are null, integer, real or text) for each row. Rows come in the query's own order;
 * where it has none, in one that depends on the values it reads and on nothing else. Rows handed out before a failure
 * are to be thrown away.
 *   SOTTO_DENIED     as above; or an answer of raw bytes
 *   SOTTO_TOO_LARGE  steps, time, memory, rows or the length of a value
 */
SOTTO_MUST_USE sotto_status sotto_query_run(sotto_query *query, sotto_row_fn *row, void *context,
                                            sotto_err *err);
/* Calls row for the first row alone, in the same order, if there is one. */
SOTTO_MUST_USE sotto_status sotto_query_first(sotto_query *query, sotto_row_fn *row, void *context,
                                              sotto_err *err);
/* Calls row for one row of the answer, if it has any: `choose` returns its number, below count. How rows are numbered
 * may depend on what the query may not read, so each number must be as likely as any other.
 *   SOTTO_AGAIN  another process erased events meanwhile */
typedef sotto_status sotto_choose_fn(void *context, uint64_t *number, uint64_t count,
                                     sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_query_one(sotto_query *query, sotto_choose_fn *choose,
                                            sotto_row_fn *row, void *context, sotto_err *err);
/* Hands its connection back to the store; from then on it only knows what it accessed. */
void sotto_query_finish(sotto_query *query);
/* NULL is fine. */
void sotto_query_close(sotto_query *query);

/* For tests: the connection. */
sqlite3 *sotto_query_connection(const sotto_query *query);

#endif
