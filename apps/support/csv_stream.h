/* support/csv_stream.h - comma-separated values (RFC 4180) of any length, a record at a time.
 *
 * Memory:  a buffer of the longest record; a record's fields are borrowed until the next one is read.
 *
 * A byte order mark, CRLF and lone carriage returns at line ends, quotes, and line ends within quotes are fine; empty lines are
 * passed over. Whatever else is wrong with a record is said with its line, and the next record can be read after it.
 */
#ifndef SOTTO_APPS_CSV_STREAM_H
#define SOTTO_APPS_CSV_STREAM_H

#include "sotto/base.h"

#include <stdio.h>

enum { SOTTO_CSV_FIELDS = 1024, SOTTO_CSV_RECORD = 1 << 20 };

typedef struct sotto_csv_field {
    sotto_bytes text; /* without its quotes */
    bool quoted;
} sotto_csv_field;

typedef struct sotto_csv_stream sotto_csv_stream;

/* Opens it and reads its first record: the names of the columns.
 *   SOTTO_MISSING    the file can't be opened
 *   SOTTO_MALFORMED  it has no such record, or it is no UTF-8 text; the reason says what to do */
SOTTO_MUST_USE sotto_status sotto_csv_stream_open(sotto_csv_stream **out, const char *path,
                                                  sotto_err *err);
/* The same of an open file, which is closed with it, whatever happens. */
SOTTO_MUST_USE sotto_status sotto_csv_stream_of(sotto_csv_stream **out, FILE *file,
                                                const char *name, sotto_err *err);
/* NULL is fine. */
void sotto_csv_stream_close(sotto_csv_stream *csv);

size_t sotto_csv_stream_columns(const sotto_csv_stream *csv);
/* A name of a column, as the file writes it. */
const char *sotto_csv_stream_column(const sotto_csv_stream *csv, size_t i);
/* False: no column has this name. */
bool sotto_csv_stream_find(const sotto_csv_stream *csv, const char *name, size_t *column);

/* The next record that isn't empty: as many fields as there are columns.
 *   SOTTO_MISSING    there is none (nothing is written to err)
 *   SOTTO_MALFORMED  this record is none; the reason begins with its line. The next call goes on behind it
 *   SOTTO_IO         the file can't be read */
SOTTO_MUST_USE sotto_status sotto_csv_stream_next(sotto_csv_stream *csv,
                                                  const sotto_csv_field **fields, sotto_err *err);
/* Where the last record began, from 1. */
uint64_t sotto_csv_stream_line(const sotto_csv_stream *csv);
/* Bytes of the file that were read, and all of them; 0: not known, as of a pipe. */
uint64_t sotto_csv_stream_at(const sotto_csv_stream *csv);
uint64_t sotto_csv_stream_size(const sotto_csv_stream *csv);
/* From the first record behind the names again. SOTTO_IO: a pipe has no way back. */
SOTTO_MUST_USE sotto_status sotto_csv_stream_rewind(sotto_csv_stream *csv, sotto_err *err);

/* A text of a stranger for a reason: short, and without control codes. */
enum { SOTTO_CSV_SHOWN = 40 };
const char *sotto_csv_shown(char out[SOTTO_CSV_SHOWN], sotto_bytes text);

#endif
