/* Long bytes as rows, by COPY in its binary format: a signature, rows, and an end. A row has its number of columns, then each
 * column's length and bytes, all numbers in network order. */
#include "base/alloc.h"
#include "db/pieces.h"
#include "db/postgres.h"

#include <stdio.h>
#include <string.h>

enum {
    COLUMNS = 3,
    ROW_HEAD = 2 + (4 + 8) + (4 + 8) + 4,
    AT_ONCE = 8, /* rows that are handed to libpq together: it sends in blocks of 8 KiB */
    ROOM = AT_ONCE * (ROW_HEAD + SOTTO_PIECE_SIZE),
};

static const uint8_t signature[19] = "PGCOPY\n\377\r\n"; /* a zero, no flags, no extension */

static bool put_head(sotto_buf *out, int64_t n, uint64_t i, size_t len)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_uint(&w, COLUMNS, 2);
    sotto_write_uint(&w, 8, 4);
    sotto_write_uint(&w, (uint64_t)n, 8);
    sotto_write_uint(&w, 8, 4);
    sotto_write_uint(&w, i, 8);
    sotto_write_uint(&w, len, 4);
    return sotto_writer_finish(&w, "a piece", NULL) == SOTTO_OK;
}

static bool send(PGconn *server, sotto_buf *rows)
{
    bool sent = PQputCopyData(server, (const char *)rows->data, (int)rows->len) == 1;

    rows->len = 0;
    return sent;
}

/* False: the connection is lost, or the server has failed already. The result tells which. */
static bool send_rows(PGconn *server, sotto_buf *rows, int64_t n, sotto_bytes bytes)
{
    static const uint8_t end[2] = {0xff, 0xff};
    uint64_t i = 0;

    if (PQputCopyData(server, (const char *)signature, sizeof signature) != 1)
        return false;
    for (size_t at = 0; at < bytes.len; at += SOTTO_PIECE_SIZE) {
        size_t len = bytes.len - at < SOTTO_PIECE_SIZE ? bytes.len - at : SOTTO_PIECE_SIZE;

        if (!put_head(rows, n, i++, len))
            return false;
        memcpy(rows->data + rows->len, bytes.data + at, len);
        rows->len += len;
        if (rows->cap - rows->len < ROW_HEAD + SOTTO_PIECE_SIZE && !send(server, rows))
            return false;
    }
    return send(server, rows) && PQputCopyData(server, (const char *)end, sizeof end) == 1;
}

/* Ends the copy, whether all was sent or not, and judges it. */
static sotto_status end_copy(sotto_conn *conn, const char *sql, bool sent, sotto_err *err)
{
    PGconn *server = sotto_pg_of(conn)->server;
    sotto_status status = SOTTO_OK;
    PGresult *result;

    (void)PQputCopyEnd(server, sent ? NULL : "not all was sent");
    while ((result = PQgetResult(server)) != NULL) {
        if (status == SOTTO_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
            status = sotto_pg_fail(conn, result, sql, err);
        PQclear(result);
    }
    if (status == SOTTO_OK && !sent)
        status = sotto_pg_fail(conn, NULL, sql, err);
    return status;
}

sotto_status sotto_pg_put_pieces(sotto_conn *conn, const char *table, int64_t n, sotto_bytes bytes,
                                 sotto_err *err)
{
    PGconn *server = sotto_pg_of(conn)->server;
    sotto_buf rows = sotto_buf_over(sotto_alloc(ROOM), ROOM);
    sotto_status status;
    PGresult *result;
    char sql[128];
    bool ready;

    if (!rows.data)
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                               "no memory for rows");
    (void)snprintf(sql, sizeof sql, "COPY %.64s (n, i, piece) FROM STDIN (FORMAT binary)", table);
    result = PQexec(server, sql);
    ready = PQresultStatus(result) == PGRES_COPY_IN;
    status = ready ? SOTTO_OK : sotto_pg_fail(conn, result, sql, err);
    PQclear(result);
    if (ready)
        status = end_copy(conn, sql, send_rows(server, &rows, n, bytes), err);
    sotto_release(rows.data, rows.cap);
    return status;
}
