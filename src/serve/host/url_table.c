#define _POSIX_C_SOURCE 200809L
#include "serve/host/url_table.h"

#include "base/alloc.h"
#include "transport/http_client.h"

#include <stdio.h>
#include <string.h>

struct sotto_url_table {
    size_t count;
    sotto_url_row rows[SOTTO_URL_ROWS];
};

size_t sotto_url_table_count(const sotto_url_table *table)
{
    return table->count;
}

const sotto_url_row *sotto_url_table_row(const sotto_url_table *table, size_t index)
{
    return &table->rows[index];
}

const sotto_url_row *sotto_url_table_find(const sotto_url_table *table, sotto_bytes name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->rows[i].name) == name.len &&
            memcmp(table->rows[i].name, name.data, name.len) == 0)
            return &table->rows[i];
    return NULL;
}

static sotto_status add_line(sotto_url_table *table, const char *line, size_t number,
                             bool plain_http, sotto_err *err)
{
    sotto_url_row *row = &table->rows[table->count];
    char host[256], rest[2];
    sotto_err why = {0};

    if (table->count == SOTTO_URL_ROWS)
        return sotto_fail(err, SOTTO_MALFORMED, "line %zu: more than %d rows", number,
                          SOTTO_URL_ROWS);
    if (sscanf(line, "%511s %511s %1s", row->name, row->url, rest) != 2)
        return sotto_fail(err, SOTTO_MALFORMED, "line %zu: not a name and a URL", number);
    if (sotto_url_table_find(table, sotto_bytes_of(row->name, strlen(row->name))))
        return sotto_fail(err, SOTTO_MALFORMED, "line %zu: this name is there already", number);
    const sotto_status status = sotto_http_url_check(host, sizeof host, row->url, plain_http, &why);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "line %zu: %s", number, why.reason);
    table->count++;
    return SOTTO_OK;
}

static sotto_status read_lines(sotto_url_table *table, FILE *file, bool plain_http, sotto_err *err)
{
    char line[2 * SOTTO_URL_WORD + 16];

    for (size_t number = 1; fgets(line, sizeof line, file); number++) {
        const size_t start = strspn(line, " \t\r\n");

        if (!strchr(line, '\n') && !feof(file))
            return sotto_fail(err, SOTTO_MALFORMED, "line %zu: too long", number);
        if (line[start] != 0 && line[start] != '#')
            SOTTO_TRY(add_line(table, line, number, plain_http, err));
    }
    if (ferror(file))
        return sotto_fail(err, SOTTO_MISSING, "it can't be read");
    return table->count > 0 ? SOTTO_OK : sotto_fail(err, SOTTO_MALFORMED, "it has no row");
}

sotto_status sotto_url_table_read(sotto_url_table **out, const char *path, bool plain_http,
                                  sotto_err *err)
{
    FILE *file = fopen(path, "r");
    sotto_url_table *table;
    sotto_err why = {0};
    sotto_status status;

    if (!file)
        return sotto_fail(err, SOTTO_MISSING, "%.100s: it can't be read", path);
    table = sotto_alloc(sizeof *table);
    status = SOTTO_NO_MEMORY;
    if (table)
        status = read_lines(table, file, plain_http, &why);
    (void)fclose(file);
    if (status != SOTTO_OK) {
        sotto_url_table_free(table);
        return sotto_fail(err, status, "%.80s: %.70s", path, why.reason);
    }
    *out = table;
    return SOTTO_OK;
}

void sotto_url_table_free(sotto_url_table *table)
{
    sotto_release(table, table ? sizeof *table : 0);
}
