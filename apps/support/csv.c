#include "csv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Some things that can be opened have no size: read until there is no more. */
static sotto_status read_all(sotto_csv *csv, FILE *in, sotto_err *err)
{
    size_t cap = (size_t)1 << 16, len = 0;
    char *text = sotto_arena_take(csv->arena, cap);

    for (;;) {
        if (text == NULL)
            return sotto_fail(err, SOTTO_NO_MEMORY, "file too large");
        len += fread(text + len, 1, cap - 1 - len, in);
        if (ferror(in))
            return sotto_fail(err, SOTTO_IO, "cannot read: %s", strerror(errno));
        if (len < cap - 1)
            break;
        char *larger = sotto_arena_take(csv->arena, 2 * cap);
        if (larger != NULL)
            memcpy(larger, text, len);
        text = larger;
        cap *= 2;
    }
    text[len] = 0;
    csv->at = text;
    csv->end = text + len;
    return SOTTO_OK;
}

/* Ends the line in place and moves on to the next. NULL at the end of the file. */
static char *take_line(sotto_csv *csv, size_t *len)
{
    if (csv->at == csv->end)
        return NULL;
    char *line = csv->at;
    char *stop = memchr(line, '\n', (size_t)(csv->end - line));

    csv->at = stop != NULL ? stop + 1 : csv->end;
    stop = stop != NULL ? stop : csv->end;
    if (stop > line && stop[-1] == '\r')
        stop--;
    *stop = 0;
    *len = (size_t)(stop - line);
    csv->line++;
    return line;
}

/* Unquotes the field at `at` in place; returns where it ended (at its comma or at the end), or NULL. */
static char *take_quoted(char *at, const char **field)
{
    char *to = at;

    *field = at;
    for (at++; *at != 0; at++) {
        if (*at == '"' && at[1] != '"')
            break;
        at += *at == '"';
        *to++ = *at;
    }
    if (*at != '"' || (at[1] != ',' && at[1] != 0))
        return NULL;
    *to = 0;
    return at + 1;
}

static sotto_status split(sotto_csv_row *row, char *line, size_t len, sotto_err *err)
{
    row->count = 0;
    if (strlen(line) != len)
        return sotto_fail(err, SOTTO_MALFORMED, "a zero byte");
    for (char *at = line;; at++) {
        if (row->count == SOTTO_CSV_COLUMNS)
            return sotto_fail(err, SOTTO_MALFORMED, "more than %d fields", SOTTO_CSV_COLUMNS);
        if (*at == '"') {
            at = take_quoted(at, &row->fields[row->count]);
            if (at == NULL)
                return sotto_fail(err, SOTTO_MALFORMED, "field %zu: a stray quote", row->count + 1);
        } else {
            row->fields[row->count] = at;
            at += strcspn(at, ",");
        }
        row->count++;
        if (*at == 0)
            return SOTTO_OK;
        *at = 0;
    }
}

sotto_status sotto_csv_open(sotto_csv *csv, const char *path, sotto_arena *arena, sotto_err *err)
{
    static char nothing[1];
    FILE *in = fopen(path, "rb");
    sotto_err here = {0};
    size_t len = 0;

    *csv = (sotto_csv){.arena = arena, .header = nothing};
    if (in == NULL)
        return sotto_fail(err, SOTTO_IO, "cannot open: %s", strerror(errno));
    sotto_status status = read_all(csv, in, err);
    (void)fclose(in);
    if (status != SOTTO_OK)
        return status;
    if (csv->end - csv->at >= 3 && memcmp(csv->at, "\xef\xbb\xbf", 3) == 0)
        csv->at += 3;
    char *line = take_line(csv, &len);
    if (line == NULL)
        return SOTTO_OK;
    char *copy = sotto_arena_take(arena, len + 1);
    if (copy == NULL)
        return sotto_fail(err, SOTTO_NO_MEMORY, "file too large");
    memcpy(copy, line, len + 1);
    csv->header = copy;
    csv->columns.line = csv->line;
    status = split(&csv->columns, line, len, &here);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "line 1: %.140s", here.reason);
}

sotto_status sotto_csv_next(sotto_csv *csv, sotto_csv_row *row, sotto_err *err)
{
    size_t len = 0;
    char *line = NULL;

    do {
        line = take_line(csv, &len);
        if (line == NULL)
            return SOTTO_MISSING;
    } while (len == 0);
    row->line = csv->line;
    SOTTO_TRY(split(row, line, len, err));
    if (row->count != csv->columns.count)
        return sotto_fail(err, SOTTO_MALFORMED, "%zu fields, not %zu", row->count,
                          csv->columns.count);
    return SOTTO_OK;
}

const char *sotto_csv_get(const sotto_csv *csv, const sotto_csv_row *row, const char *column)
{
    for (size_t i = 0; i < csv->columns.count && i < row->count; i++)
        if (strcmp(csv->columns.fields[i], column) == 0)
            return row->fields[i];
    return NULL;
}
