#define _POSIX_C_SOURCE 200809L
#include "support/csv_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { AT_ONCE = 1 << 18 };

struct sotto_csv_stream {
    FILE *file;
    char path[128]; /* for reasons */
    uint64_t size, read;
    uint64_t line, next_line; /* of the last record, and of the one that follows */
    uint64_t record_at;       /* offset of the last record                      */
    uint8_t buffer[AT_ONCE];  /* of the file      */
    size_t start, end;        /* of what is unread */
    uint8_t record[SOTTO_CSV_RECORD];
    size_t length;
    sotto_csv_field fields[SOTTO_CSV_FIELDS];
    size_t count;
    char **names;
    size_t columns;
};

const char *sotto_csv_shown(char out[SOTTO_CSV_SHOWN], sotto_bytes text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len && n + 4 < SOTTO_CSV_SHOWN; i++)
        out[n++] = text.data[i] < 0x20 || text.data[i] > 0x7e ? '?' : (char)text.data[i];
    if (n < text.len) {
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n] = 0;
    return out;
}

/* ---- bytes ------------------------------------------------------------------------------------------------ */

/* The next byte without taking it; -1: there is none. */
static int peek(sotto_csv_stream *csv)
{
    if (csv->start == csv->end) {
        csv->start = 0;
        csv->end = fread(csv->buffer, 1, sizeof csv->buffer, csv->file);
        csv->read += csv->end;
    }
    return csv->start < csv->end ? csv->buffer[csv->start] : -1;
}

static int take(sotto_csv_stream *csv)
{
    const int c = peek(csv);

    csv->start += c >= 0;
    return c;
}

/* RFC 3629: no surrogates, nothing overlong, nothing above U+10FFFF. */
static bool is_utf8(sotto_bytes text)
{
    for (size_t i = 0; i < text.len;) {
        const uint8_t c = text.data[i++];
        unsigned more = c < 0x80                ? 0
                        : c >= 0xc2 && c < 0xe0 ? 1
                        : c >= 0xe0 && c < 0xf0 ? 2
                        : c >= 0xf0 && c < 0xf5 ? 3
                                                : 9;

        if (more == 9 || text.len - i < more)
            return false;
        if (more > 1) {
            const uint8_t d = text.data[i];

            if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) ||
                (c == 0xf4 && d > 0x8f))
                return false;
        }
        for (; more > 0; more--)
            if ((text.data[i++] & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* ---- one record ------------------------------------------------------------------------------------------- */

typedef enum ended { FIELD, RECORD, FILE_END } ended;

/* Passes over the rest of a record that is no good. */
static void skip_line(sotto_csv_stream *csv)
{
    int c;

    while ((c = take(csv)) >= 0 && c != '\n' && c != '\r')
        ;
    if (c == '\r' && peek(csv) == '\n')
        (void)take(csv);
    csv->next_line += c >= 0;
}

static sotto_status bad(sotto_csv_stream *csv, sotto_err *err, const char *what, bool skip)
{
    if (skip)
        skip_line(csv);
    return sotto_fail(err, SOTTO_MALFORMED, "%s: line %llu: %s", csv->path,
                      (unsigned long long)csv->line, what);
}

/* A quote that is never closed takes all rows behind it with it. So the line alone is bad, and the next one is read anew; a pipe can't go back. */
static sotto_status never_closed(sotto_csv_stream *csv, const char *what, sotto_err *err)
{
    if (fseek(csv->file, (long)csv->record_at, SEEK_SET) != 0)
        return sotto_fail(err, SOTTO_IO,
                          "%s: line %llu: %s; rows behind it are lost in a pipe: save it to a file",
                          csv->path, (unsigned long long)csv->line, what);
    csv->read = csv->record_at;
    csv->start = csv->end = 0;
    csv->next_line = csv->line;
    return bad(csv, err, what, true);
}

static bool put(sotto_csv_stream *csv, int c)
{
    if (csv->length == sizeof csv->record)
        return false;
    csv->record[csv->length++] = (uint8_t)c;
    return true;
}

/* What ends a field, taken. */
static bool ends(sotto_csv_stream *csv, int c, ended *how)
{
    *how = c == ',' ? FIELD : c < 0 ? FILE_END : RECORD;
    if (c == '\r' && peek(csv) == '\n')
        (void)take(csv);
    csv->next_line += c == '\r' || c == '\n';
    return c == ',' || c < 0 || c == '\r' || c == '\n';
}

static sotto_status read_quoted(sotto_csv_stream *csv, ended *how, sotto_err *err)
{
    int c;

    for (;;) {
        if ((c = take(csv)) < 0)
            return never_closed(csv, "a quote is not closed before the file ends; close it", err);
        if (c == '"') {
            if (peek(csv) != '"')
                break;
            c = take(csv);
        }
        csv->next_line += c == '\n' || (c == '\r' && peek(csv) != '\n');
        if (!put(csv, c))
            return never_closed(csv, "a quote is not closed within 1 MiB; close it", err);
    }
    c = take(csv);
    if (!ends(csv, c, how))
        return bad(csv, err, "text behind a closing quote; write a quote within quotes twice",
                   true);
    return SOTTO_OK;
}

static sotto_status read_plain(sotto_csv_stream *csv, int c, ended *how, sotto_err *err)
{
    for (; !ends(csv, c, how); c = take(csv)) {
        if (c == '"')
            return bad(csv, err,
                       "a quote within a field; put the field into quotes, and write it twice",
                       true);
        if (!put(csv, c))
            return bad(csv, err, "a record of more than 1 MiB; is this a CSV file?", true);
    }
    return SOTTO_OK;
}

/* Into csv->fields. Their texts are set once the record no longer grows. */
static sotto_status read_fields(sotto_csv_stream *csv, ended *how, sotto_err *err)
{
    size_t starts[SOTTO_CSV_FIELDS + 1];

    csv->length = csv->count = 0;
    csv->line = csv->next_line;
    csv->record_at = csv->read - (csv->end - csv->start);
    do {
        if (csv->count == SOTTO_CSV_FIELDS)
            return bad(csv, err, "more than 1,024 fields; keep the columns that the query reads",
                       true);
        const int c = take(csv);

        starts[csv->count] = csv->length;
        csv->fields[csv->count].quoted = c == '"';
        SOTTO_TRY(c == '"' ? read_quoted(csv, how, err) : read_plain(csv, c, how, err));
        csv->count++;
    } while (*how == FIELD);
    starts[csv->count] = csv->length;
    for (size_t i = 0; i < csv->count; i++)
        csv->fields[i].text = sotto_bytes_of(csv->record + starts[i], starts[i + 1] - starts[i]);
    return SOTTO_OK;
}

static sotto_status check_text(sotto_csv_stream *csv, sotto_err *err)
{
    const sotto_bytes all = sotto_bytes_of(csv->record, csv->length);

    if (all.len > 0 && memchr(all.data, 0, all.len))
        return bad(csv, err,
                   "a NUL byte; this is no text, or it is UTF-16 (iconv -f UTF-16 -t UTF-8)",
                   false);
    /* Field by field: two halves of a character in two fields are no text. */
    for (size_t i = 0; i < csv->count; i++)
        if (!is_utf8(csv->fields[i].text))
            return bad(csv, err, "not UTF-8; convert the file (iconv -f WINDOWS-1252 -t UTF-8)",
                       false);
    return SOTTO_OK;
}

static sotto_status next(sotto_csv_stream *csv, sotto_err *err)
{
    ended how;

    do {
        if (peek(csv) < 0)
            return ferror(csv->file) ? sotto_fail(err, SOTTO_IO, "%s: it can't be read", csv->path)
                                     : SOTTO_MISSING;
        SOTTO_TRY(read_fields(csv, &how, err));
    } while (csv->count == 1 && csv->fields[0].text.len == 0 && !csv->fields[0].quoted);
    return check_text(csv, err);
}

sotto_status sotto_csv_stream_next(sotto_csv_stream *csv, const sotto_csv_field **fields,
                                   sotto_err *err)
{
    SOTTO_TRY(next(csv, err));
    if (csv->count != csv->columns)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: line %llu: %zu fields for %zu columns",
                          csv->path, (unsigned long long)csv->line, csv->count, csv->columns);
    *fields = csv->fields;
    return SOTTO_OK;
}

/* ---- the whole file --------------------------------------------------------------------------------------- */

static sotto_status read_names(sotto_csv_stream *csv, sotto_err *err)
{
    sotto_status status = next(csv, err);

    if (status == SOTTO_MISSING)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: it is empty; its first line names the columns",
                          csv->path);
    SOTTO_TRY(status);
    csv->names = calloc(csv->count, sizeof *csv->names);
    if (!csv->names)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%s", csv->path);
    while (csv->columns < csv->count) {
        const sotto_bytes name = csv->fields[csv->columns].text;
        char shown[SOTTO_CSV_SHOWN], *copy = strndup((const char *)name.data, name.len);

        if (!copy)
            return sotto_fail(err, SOTTO_NO_MEMORY, "%s", csv->path);
        csv->names[csv->columns++] = copy;
        for (size_t i = 0; i + 1 < csv->columns; i++)
            if (strcmp(csv->names[i], copy) == 0)
                return sotto_fail(err, SOTTO_MALFORMED,
                                  "%s: line 1: two columns are named '%s'; rename one", csv->path,
                                  sotto_csv_shown(shown, name));
    }
    return SOTTO_OK;
}

static sotto_status pass_mark(sotto_csv_stream *csv, sotto_err *err)
{
    (void)peek(csv);
    if (csv->end >= 2 && ((csv->buffer[0] == 0xff && csv->buffer[1] == 0xfe) ||
                          (csv->buffer[0] == 0xfe && csv->buffer[1] == 0xff)))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "%s: it is UTF-16; convert it (iconv -f UTF-16 -t UTF-8)", csv->path);
    if (csv->end >= 3 && memcmp(csv->buffer, "\xef\xbb\xbf", 3) == 0)
        csv->start = 3;
    return SOTTO_OK;
}

sotto_status sotto_csv_stream_of(sotto_csv_stream **out, FILE *file, const char *name,
                                 sotto_err *err)
{
    sotto_csv_stream *csv = calloc(1, sizeof *csv);
    struct stat about;
    sotto_status status = SOTTO_OK;

    *out = NULL;
    if (!csv) {
        (void)fclose(file);
        return sotto_fail(err, SOTTO_NO_MEMORY, "%.100s", name);
    }
    (void)snprintf(csv->path, sizeof csv->path, "%.100s", name);
    csv->next_line = 1;
    csv->file = file;
    if (fileno(file) >= 0 && fstat(fileno(file), &about) == 0) {
        if (S_ISDIR(about.st_mode))
            status = sotto_fail(err, SOTTO_MISSING, "%s: it is a directory", csv->path);
        csv->size = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    }
    if (status == SOTTO_OK)
        status = pass_mark(csv, err);
    if (status == SOTTO_OK)
        status = read_names(csv, err);
    if (status == SOTTO_OK)
        *out = csv;
    else
        sotto_csv_stream_close(csv);
    return status;
}

sotto_status sotto_csv_stream_open(sotto_csv_stream **out, const char *path, sotto_err *err)
{
    FILE *file = fopen(path, "rb");

    *out = NULL;
    if (!file)
        return sotto_fail(err, SOTTO_MISSING, "%.100s: %s", path, strerror(errno));
    return sotto_csv_stream_of(out, file, path, err);
}

void sotto_csv_stream_close(sotto_csv_stream *csv)
{
    if (!csv)
        return;
    for (size_t i = 0; i < csv->columns; i++)
        free(csv->names[i]);
    free(csv->names);
    if (csv->file)
        (void)fclose(csv->file);
    free(csv);
}

sotto_status sotto_csv_stream_rewind(sotto_csv_stream *csv, sotto_err *err)
{
    ended how;

    if (fseek(csv->file, 0, SEEK_SET) != 0)
        return sotto_fail(err, SOTTO_IO, "%s: it is read more than once; save it to a file first",
                          csv->path);
    csv->read = csv->start = csv->end = 0;
    csv->next_line = 1;
    SOTTO_TRY(pass_mark(csv, err));
    do
        SOTTO_TRY(read_fields(csv, &how, err));
    while (csv->count == 1 && csv->fields[0].text.len == 0 && !csv->fields[0].quoted &&
           how != FILE_END);
    return SOTTO_OK;
}

size_t sotto_csv_stream_columns(const sotto_csv_stream *csv)
{
    return csv->columns;
}

const char *sotto_csv_stream_column(const sotto_csv_stream *csv, size_t i)
{
    return csv->names[i];
}

bool sotto_csv_stream_find(const sotto_csv_stream *csv, const char *name, size_t *column)
{
    for (*column = 0; *column < csv->columns; ++*column)
        if (strcmp(csv->names[*column], name) == 0)
            return true;
    return false;
}

uint64_t sotto_csv_stream_line(const sotto_csv_stream *csv)
{
    return csv->line;
}

uint64_t sotto_csv_stream_at(const sotto_csv_stream *csv)
{
    return csv->read - (csv->end - csv->start);
}

uint64_t sotto_csv_stream_size(const sotto_csv_stream *csv)
{
    return csv->size;
}
