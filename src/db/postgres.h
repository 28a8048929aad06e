/* db/postgres.h - what the files of the PostgreSQL driver share: connections and statements. */
#ifndef SOTTO_DB_POSTGRES_H
#define SOTTO_DB_POSTGRES_H

#include "db/driver.h"

#include <libpq-fe.h>

enum { SOTTO_PG_EPOCH = 96 };

typedef struct sotto_pg {
    sotto_conn common;
    PGconn *server;
    const char *address;        /* the store's */
    uint64_t names;             /* of prepared statements, given so far            */
    char xid[24];               /* of the current transaction                      */
    bool leaves_mark;           /* ... which finds a table for it                  */
    int64_t writer;             /* drawn once; the row of its marks                */
    uint64_t mark;              /* of the last commit that was sent                */
    char epoch[SOTTO_PG_EPOCH]; /* the server's life: changes with every recovery  */
    char doubt[SOTTO_PG_EPOCH]; /* its epoch when a commit's answer was lost       */
} sotto_pg;

/* Judges a failed result, which may be NULL; `text` is the statement, never its values. */
sotto_status sotto_pg_fail(sotto_conn *conn, const PGresult *result, const char *text,
                           sotto_err *err);

sotto_status sotto_pg_prepare(sotto_conn *conn, sotto_statement **out, const char *sql,
                              unsigned parameters, sotto_err *err);
void sotto_pg_finalize(sotto_statement *statement);
void sotto_pg_reset(sotto_statement *statement);
void sotto_pg_bind(sotto_statement *statement, unsigned at, const sotto_cell *value);
sotto_status sotto_pg_step(sotto_statement *statement, bool *row, sotto_err *err);
uint64_t sotto_pg_changed(const sotto_statement *statement);
bool sotto_pg_column(const sotto_statement *statement, unsigned column, sotto_cell *out);

static inline sotto_pg *sotto_pg_of(sotto_conn *conn)
{
    return (sotto_pg *)conn;
}

#endif
