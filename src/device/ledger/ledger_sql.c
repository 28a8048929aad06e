#include "device/ledger/ledger_internal.h"

#include <string.h>

static int bind_bytes(sqlite3_stmt *statement, int at, sotto_bytes bytes)
{
    /* An address of NULL would bind NULL. */
    return sqlite3_bind_blob64(statement, at, bytes.len ? (const void *)bytes.data : "", bytes.len,
                               SQLITE_STATIC);
}

/* The first value goes to parameter `at`. */
static int bind(sqlite3_stmt *statement, int at, const char *format, va_list args)
{
    int code = SQLITE_OK;

    for (; *format && code == SQLITE_OK; at++, format++) {
        switch (*format) {
        case 'i':
            code = sqlite3_bind_int64(statement, at, va_arg(args, int64_t));
            break;
        case 'u':
            code = sqlite3_bind_int64(statement, at, (sqlite3_int64)va_arg(args, uint64_t));
            break;
        case 'd':
            code = sqlite3_bind_double(statement, at, va_arg(args, double));
            break;
        case 't': {
            const char *text = va_arg(args, const char *);

            code = sqlite3_bind_text(statement, at, text ? text : "", -1, SQLITE_STATIC);
            break;
        }
        default:
            code = bind_bytes(statement, at, va_arg(args, sotto_bytes));
        }
    }
    return code;
}

/* ---- statements that are kept ------------------------------------------------------------------------------ */

/* A report runs some eighty statements, many of them several times. Memory is scarce on a device; what is simulated in
 * memory may keep all of them. */
static sotto_status lend(sotto_ledger *ledger, sqlite3_stmt **out, const char *sql, sotto_err *err)
{
    return sotto_statements_lend(&ledger->statements, ledger->db, out, sql, "ledger", err);
}

void sotto_ledger_release(sotto_ledger *ledger, sqlite3_stmt *statement)
{
    sotto_statements_release(&ledger->statements, ledger->db, statement,
                             ledger->memory ? SOTTO_STATEMENTS : SOTTO_LEDGER_STATEMENTS);
}

/* ---- running them ------------------------------------------------------------------------------------------- */

static sotto_status prepare(sotto_ledger *ledger, sqlite3_stmt **out, sotto_err *err,
                            const char *sql, const char *format, va_list args)
{
    SOTTO_TRY(lend(ledger, out, sql, err));
    int code = bind(*out, 1, format, args);
    return code == SQLITE_OK ? SOTTO_OK : sotto_sqlite_fail(err, code, "ledger");
}

sotto_status sotto_ledger_run(sotto_ledger *ledger, sotto_err *err, const char *sql,
                              const char *format, ...)
{
    sqlite3_stmt *statement = NULL;
    va_list args;

    va_start(args, format);
    sotto_status status = prepare(ledger, &statement, err, sql, format, args);
    va_end(args);
    if (status == SOTTO_OK)
        status = sotto_sqlite_done(statement, "ledger", err);
    sotto_ledger_release(ledger, statement);
    return status;
}

static sotto_status insert(sotto_ledger *ledger, sqlite3_stmt *statement, const char *table,
                           int64_t *id, sotto_err *err, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int code = *id ? sqlite3_bind_int64(statement, 1, *id) : SQLITE_OK; /* else it is NULL */
    if (code == SQLITE_OK)
        code = bind(statement, 2, format, args);
    sotto_status status = code == SQLITE_OK ? sotto_sqlite_done(statement, "ledger", err)
                                            : sotto_sqlite_fail(err, code, "ledger");
    if (status == SOTTO_OK) {
        *id = sqlite3_last_insert_rowid(ledger->db);
        sotto_ledger_fold_values(ledger, table, *id, format, again);
    }
    va_end(again);
    return status;
}

sotto_status sotto_ledger_insert(sotto_ledger *ledger, const char *table, int64_t *id,
                                 sotto_err *err, const char *sql, const char *format, ...)
{
    sqlite3_stmt *statement = NULL;
    va_list args;

    va_start(args, format);
    sotto_status status = lend(ledger, &statement, sql, err);
    if (status == SOTTO_OK)
        status = insert(ledger, statement, table, id, err, format, args);
    va_end(args);
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_status sotto_ledger_find(sotto_ledger *ledger, sqlite3_stmt **out, bool *row, sotto_err *err,
                               const char *sql, const char *format, ...)
{
    va_list args;

    *out = NULL;
    *row = false;
    va_start(args, format);
    sotto_status status = prepare(ledger, out, err, sql, format, args);
    va_end(args);
    return status == SOTTO_OK ? sotto_ledger_next(*out, row, err) : status;
}

sotto_status sotto_ledger_next(sqlite3_stmt *statement, bool *row, sotto_err *err)
{
    int code = sqlite3_step(statement);

    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SOTTO_OK
                                                     : sotto_sqlite_fail(err, code, "ledger");
}

sotto_status sotto_ledger_number(sotto_ledger *ledger, int64_t *out, const char *sql,
                                 sotto_err *err)
{
    sqlite3_stmt *statement;
    bool row;
    sotto_status status = sotto_ledger_find(ledger, &statement, &row, err, sql, "");

    *out = status == SOTTO_OK && row ? sqlite3_column_int64(statement, 0) : 0;
    sotto_ledger_release(ledger, statement);
    return status;
}

sotto_bytes sotto_ledger_blob(sqlite3_stmt *statement, int column)
{
    const void *data = sqlite3_column_blob(statement, column);

    return sotto_bytes_of(data, data ? (size_t)sqlite3_column_bytes(statement, column) : 0);
}

const char *sotto_ledger_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text ? text : "";
}

bool sotto_ledger_digest(sqlite3_stmt *statement, int column, uint8_t out[SOTTO_LEDGER_DIGEST])
{
    sotto_bytes blob = sotto_ledger_blob(statement, column);

    if (blob.len != SOTTO_LEDGER_DIGEST)
        return false;
    memcpy(out, blob.data, SOTTO_LEDGER_DIGEST);
    return true;
}
