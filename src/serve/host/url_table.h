/* serve/host/url_table.h - a file that says what goes where: lines of a name and a URL.
 *
 * Callers:  gateway/ (a URL prefix that clients name, and where it really is), relay/ (a gateway's name and its URL).
 * Memory:   everything is the table's, and ends with it.
 *
 *     # comment
 *     https://leader.example/dap/   http://127.0.0.1:8787/dap/
 */
#ifndef SOTTO_SERVE_HOST_URL_TABLE_H
#define SOTTO_SERVE_HOST_URL_TABLE_H

#include "sotto/base.h"

enum { SOTTO_URL_ROWS = 256, SOTTO_URL_WORD = 512 };

typedef struct sotto_url_row {
    char name[SOTTO_URL_WORD];
    char url[SOTTO_URL_WORD];
} sotto_url_row;

typedef struct sotto_url_table sotto_url_table;

/* Every URL is one that a client of ours can call; no name is listed twice.
 *   SOTTO_MISSING    the file can't be read
 *   SOTTO_MALFORMED  the reason names the line
 *   SOTTO_DENIED     plain HTTP off loopback, unless plain_http
 */
SOTTO_MUST_USE sotto_status sotto_url_table_read(sotto_url_table **out, const char *path,
                                                 bool plain_http, sotto_err *err);
/* NULL is fine. */
void sotto_url_table_free(sotto_url_table *table);

size_t sotto_url_table_count(const sotto_url_table *table);
const sotto_url_row *sotto_url_table_row(const sotto_url_table *table, size_t index);
/* The row of this name; NULL: there is none. */
const sotto_url_row *sotto_url_table_find(const sotto_url_table *table, sotto_bytes name);

#endif
