/* support/csv.h - comma-separated values (RFC 4180) of one line a record.
 *
 * Memory:  rows borrow from the file's text, which is changed in place (quotes removed, fields ended).
 *
 * A quoted field may not run over the end of its line: a forgotten quote then spoils one row instead of
 * swallowing the rest of the file.
 */
#ifndef SOTTO_APPS_CSV_H
#define SOTTO_APPS_CSV_H

#include "sotto/base.h"

enum { SOTTO_CSV_COLUMNS = 32 };

typedef struct sotto_csv_row {
    const char *fields[SOTTO_CSV_COLUMNS];
    size_t count;
    size_t line; /* of the file, from 1 */
} sotto_csv_row;

typedef struct sotto_csv {
    char *at; /* what is not read yet; ends with 0 */
    char *end;
    size_t line;
    char *header; /* the first line as it stands, without its end */
    sotto_csv_row columns;
    sotto_arena *arena;
} sotto_csv;

/* Reads the whole file into the arena and takes its first line as names of columns (a byte order mark is
 * passed over). SOTTO_MALFORMED: the first line is no CSV record; `header` is set even then. */
SOTTO_MUST_USE sotto_status sotto_csv_open(sotto_csv *csv, const char *path, sotto_arena *arena,
                                           sotto_err *err);

/* The next line that isn't empty. SOTTO_MISSING: there is none (nothing is written to err). SOTTO_MALFORMED: that line is
 * no record, or has another number of fields than there are columns; row->line tells which, the reason does not. */
SOTTO_MUST_USE sotto_status sotto_csv_next(sotto_csv *csv, sotto_csv_row *row, sotto_err *err);

/* The field below that name, or NULL if no column has it. */
const char *sotto_csv_get(const sotto_csv *csv, const sotto_csv_row *row, const char *column);

#endif
