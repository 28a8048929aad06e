/* db/sql.h - one statement inside a transaction, in the SQL that both databases understand.
 *
 *     sotto_sql q;
 *     bool row;
 *
 *     SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT state FROM jobs WHERE id = ?1 {lock}", err));
 *     sotto_sql_bytes(&q, 1, id);
 *     SOTTO_TRY(sotto_sql_step(&q, &row, err));
 *     state = row ? sotto_sql_column_int(&q, 0) : 0;
 *
 * Callers:  the stores of serve/, inside functions that db/store.h runs.
 * Memory:   statements are kept by their text, for each connection; a sotto_sql is a handle to copy. What is
 *           bound is borrowed until the statement's last step; what a column yields, until the next.
 * Threads:  a transaction belongs to the thread that runs its function.
 * Secrets:  values never appear in reasons; the text of a statement does, so it holds no values.
 *
 * Parameters are ?1, ?2, ... and columns count from 0. Three types travel: 64-bit integers, bytes, and text
 * (UTF-8), each of which may be NULL. Where dialects differ, the text says what it means in braces:
 *
 *     {int} {bytes} {id} {strict}   column types, a key that counts by itself, and the end of CREATE TABLE
 *     {keyed}                       also there: rows stand in the order of their primary key, and nowhere else
 *     {only_postgres}               the rest of the line is for PostgreSQL
 *     {now}                         the database's clock: milliseconds since 1970, when the statement began
 *     {lock}                        FOR UPDATE: rows stay as they were read until the commit
 *     {skip_locked}                 the same, and rows that another transaction has locked are passed over
 *
 * Upserts are ON CONFLICT (...) DO NOTHING or DO UPDATE; RETURNING works. A sum of integers is wider than they
 * are in PostgreSQL: CAST(sum(x) AS BIGINT). A result is held in memory as a whole: use LIMIT.
 *
 * After a statement has failed the transaction can only be rolled back, and every later call says the same.
 */
#ifndef SOTTO_DB_SQL_H
#define SOTTO_DB_SQL_H

#include "sotto/base.h"

/* A transaction in progress: what db/store.h hands to a function. */
typedef struct sotto_tx sotto_tx;

/* Preparing the same text again restarts the statement; an older handle to it is then refused (SOTTO_BUG),
 * so a loop over its rows can't silently become another loop. */
typedef struct sotto_sql {
    struct sotto_statement *statement;
    uint64_t use;
} sotto_sql;

/* Parameters of a statement, at most. */
enum { SOTTO_SQL_PARAMETERS = 8192 };

/*   SOTTO_BUG  the text is not SQL, or not SQL of this schema
 *   others     as sotto_sql_step
 */
SOTTO_MUST_USE sotto_status sotto_sql_prepare(sotto_tx *tx, sotto_sql *out, const char *text,
                                              sotto_err *err);

/* head VALUES (?1,?2),(?3,?4),... tail: one statement, and in PostgreSQL one round trip, for many rows. The values of row
 * i have the numbers i * columns + 1 and on. They are bound in that order, all of them, none NULL, and those of one
 * column have one type. PostgreSQL gets them as an array for each column, which takes it less time (decision 31).
 *     INSERT INTO seen (id) ... ON CONFLICT DO NOTHING RETURNING id      which of them are new
 *     SELECT ... WHERE id IN ( ... )                                     many by name
 */
SOTTO_MUST_USE sotto_status sotto_sql_prepare_rows(sotto_tx *tx, sotto_sql *out, const char *head,
                                                   unsigned columns, unsigned rows,
                                                   const char *tail, sotto_err *err);

/* How many of so many rows (at least 1) had better go together next. Statements are kept by their text, which in SQLite
 * changes with the number of rows: then it is one of a few. */
unsigned sotto_sql_rows_at_once(const sotto_tx *tx, unsigned columns, size_t rows);

/* Whether an INSERT of rows that are nearly always new had better do without ON CONFLICT. PostgreSQL then looks each row up once, and
 * writes less into its log; one that is there already fails the transaction. */
bool sotto_tx_may_clash(sotto_tx *tx);
/* After a statement has failed: whether a row was there already. The function is then run again, as after a conflict, and has to go about
 * it in another way. */
bool sotto_tx_retry_clash(sotto_tx *tx);

/* A lock over every process that uses the database, until the end of the transaction: any number of shared holders, or one
 * exclusive holder. It leaves no trace on the disk, as a row that is locked FOR SHARE does, which every commit of every replica
 * would write. What was committed before it was got is seen by the statements after it. `what` is any number; different ones may
 * share a lock, so hold one exclusive guard at most, and take it before the rows that shared holders change. */
SOTTO_MUST_USE sotto_status sotto_tx_guard(sotto_tx *tx, int64_t what, bool exclusive,
                                           sotto_err *err);

/* Those that are not bound are NULL. A number out of range makes the next step fail with SOTTO_BUG, so that
 * binding needs no check of its own. */
void sotto_sql_int(sotto_sql *q, unsigned at, int64_t value);
void sotto_sql_bytes(sotto_sql *q, unsigned at, sotto_bytes value); /* data NULL, len 0: empty */
void sotto_sql_text(sotto_sql *q, unsigned at, const char *value);  /* NULL is NULL            */
void sotto_sql_null(sotto_sql *q, unsigned at);

/* Goes to the next row; at the end *row is false and the statement may be bound and stepped anew.
 *   SOTTO_DENIED     a constraint of the schema forbids it
 *   SOTTO_IO         the database is busy, full, failing, or gone; the store tries again where that may help
 *   SOTTO_NO_MEMORY, SOTTO_TOO_LARGE
 */
SOTTO_MUST_USE sotto_status sotto_sql_step(sotto_sql *q, bool *row, sotto_err *err);

/* Whether there is a row, and no more of it: the statement is at its end afterwards. sotto_sql_run behind a step that found
 * none would ask again. */
SOTTO_MUST_USE sotto_status sotto_sql_any(sotto_sql *q, bool *found, sotto_err *err);

/* Steps to the end and drops the rows. *changed: rows inserted, updated or deleted; NULL is fine. */
SOTTO_MUST_USE sotto_status sotto_sql_run(sotto_sql *q, uint64_t *changed, sotto_err *err);

/* The same for a DELETE or an UPDATE that is to erase. SQLite: nothing of what the rows held is left in the file, even where
 * pages become free, and the WAL is cut off behind it soon (erase_ms in db/store.h). PostgreSQL: it goes when the server
 * vacuums, and its log is its own. */
SOTTO_MUST_USE sotto_status sotto_sql_erase(sotto_sql *q, uint64_t *changed, sotto_err *err);

/* Of the current row. NULL reads as 0, no bytes, "". Another type than is asked for reads as the same, and
 * makes the transaction fail at its end with SOTTO_BUG. */
int64_t sotto_sql_column_int(const sotto_sql *q, unsigned column);
sotto_bytes sotto_sql_column_bytes(const sotto_sql *q, unsigned column);
const char *sotto_sql_column_text(const sotto_sql *q, unsigned column);
bool sotto_sql_column_null(const sotto_sql *q, unsigned column);
/* Copies exactly len bytes; another length is SOTTO_MALFORMED, naming the statement. */
SOTTO_MUST_USE sotto_status sotto_sql_column_fixed(const sotto_sql *q, unsigned column, void *out,
                                                   size_t len, sotto_err *err);

#endif
