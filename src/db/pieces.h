/* db/pieces.h - long bytes as rows of a table, where the database takes those sooner than one long value.
 *
 * Callers:  serve/, for bodies of segments.
 * Memory:   nothing is kept; bytes are borrowed for the call.
 * Threads:  those of the transaction (db/sql.h).
 *
 * PostgreSQL cuts a long value into pieces of 2,000 bytes, each with a row of an index, and holds all of it in memory twice. Rows
 * that fill a page, sent with COPY, take it two thirds of the time (decision 247). The table has three columns:
 *
 *     CREATE TABLE name (n {int} NOT NULL, i {int} NOT NULL, piece {bytes} NOT NULL);
 *
 * Read them with SELECT piece FROM name WHERE n = ?1 ORDER BY i.
 */
#ifndef SOTTO_DB_PIECES_H
#define SOTTO_DB_PIECES_H

#include "db/sql.h"

/* Of a piece; the last one has fewer. With its row's head and the other columns it fills a page of PostgreSQL's. */
enum { SOTTO_PIECE_SIZE = 8100 };

/* Whether the database has a fast way for them. */
bool sotto_pieces_wanted(const sotto_tx *tx);

/* Adds the bytes as pieces 0, 1, ... of n.
 *   SOTTO_BUG  this database does not want them; others as sotto_sql_step
 */
SOTTO_MUST_USE sotto_status sotto_pieces_put(sotto_tx *tx, const char *table, int64_t n,
                                             sotto_bytes bytes, sotto_err *err);

#endif
