#include "db/sqlite.h"

#include "base/alloc.h"
#include "db/sqlite_join.h"

#include <string.h>

typedef struct lite_statement {
    sotto_statement common;
    sqlite3_stmt *sql;
    uint64_t changed;
} lite_statement;

static sotto_lite *of(sotto_conn *conn)
{
    return (sotto_lite *)conn;
}

/* SQLite takes a whole transaction back by itself after some failures: what ran before is gone too. */
static sotto_status fail(sotto_conn *conn, int code, const char *text, sotto_err *err)
{
    sotto_trouble trouble = SOTTO_TROUBLE_FAILED;

    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
        trouble = SOTTO_TROUBLE_CONFLICT;
    else if (sqlite3_get_autocommit(of(conn)->db))
        trouble = SOTTO_TROUBLE_BROKEN;
    return sotto_conn_fail(conn, err, trouble, sotto_lite_status(code), "sqlite: %s in: %.80s",
                           sqlite3_errstr(code), text);
}

/* ---- transactions ------------------------------------------------------------------------------------ */

static sotto_status fixed(sotto_conn *conn, int which, sotto_err *err)
{
    static const char *const texts[SOTTO_LITE_FIXED] = {
        [SOTTO_LITE_BEGIN] = "BEGIN IMMEDIATE", [SOTTO_LITE_BEGIN_READ] = "BEGIN",
        [SOTTO_LITE_COMMIT] = "COMMIT",         [SOTTO_LITE_ROLLBACK] = "ROLLBACK",
        [SOTTO_LITE_MARK] = "SAVEPOINT f",      [SOTTO_LITE_KEEP] = "RELEASE f",
        [SOTTO_LITE_UNDO] = "ROLLBACK TO f",
    };
    sotto_lite *lite = of(conn);
    int code = SQLITE_OK;

    if (!lite->fixed[which])
        code = sqlite3_prepare_v3(lite->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                                  &lite->fixed[which], NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(lite->fixed[which]);
        (void)sqlite3_reset(lite->fixed[which]);
    }
    return code == SQLITE_DONE ? SOTTO_OK : fail(conn, code, texts[which], err);
}

static sotto_status lite_reconnect(sotto_conn *conn, sotto_err *err)
{
    (void)conn;
    (void)err;
    return SOTTO_OK; /* a file is always there */
}

static sotto_status lite_begin(sotto_conn *conn, bool read_only, sotto_err *err)
{
    sotto_lite_join_forget(of(conn)->db);
    return fixed(conn, read_only ? SOTTO_LITE_BEGIN_READ : SOTTO_LITE_BEGIN, err);
}

static sotto_status lite_commit(sotto_conn *conn, sotto_err *err)
{
    return fixed(conn, SOTTO_LITE_COMMIT, err);
}

/* Also behind a transaction that SQLite took back by itself. The next read or checkpoint would write what it left. */
static void lite_rollback(sotto_conn *conn)
{
    if (!sqlite3_get_autocommit(of(conn)->db))
        (void)fixed(conn, SOTTO_LITE_ROLLBACK, NULL);
    if (sqlite3_get_autocommit(of(conn)->db))
        sotto_lite_join_forget(of(conn)->db);
}

static sotto_status lite_mark(sotto_conn *conn, sotto_err *err)
{
    return fixed(conn, SOTTO_LITE_MARK, err);
}

static sotto_status lite_keep(sotto_conn *conn, sotto_err *err)
{
    return fixed(conn, SOTTO_LITE_KEEP, err);
}

static sotto_status lite_undo(sotto_conn *conn, sotto_err *err)
{
    SOTTO_TRY(fixed(conn, SOTTO_LITE_UNDO, err));
    return fixed(conn, SOTTO_LITE_KEEP, err);
}

static sotto_status lite_script(sotto_conn *conn, const char *sql, sotto_err *err)
{
    int code = sqlite3_exec(of(conn)->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? SOTTO_OK : fail(conn, code, sql, err);
}

static sotto_status lite_exclude(sotto_conn *conn, sotto_err *err)
{
    (void)conn;
    (void)err;
    return SOTTO_OK; /* BEGIN IMMEDIATE has done so already */
}

/* ---- statements -------------------------------------------------------------------------------------- */

static sotto_status lite_prepare(sotto_conn *conn, sotto_statement **out, const char *sql,
                                 unsigned parameters, sotto_err *err)
{
    lite_statement *s = sotto_alloc(sizeof *s);
    const char *rest = NULL;

    (void)parameters;
    if (!s)
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                               "no memory for SQL");
    int code = sqlite3_prepare_v3(of(conn)->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->sql, &rest);
    if (code == SQLITE_OK && s->sql && rest[strspn(rest, " ;\n")] == 0) {
        *out = &s->common;
        return SOTTO_OK;
    }
    (void)sqlite3_finalize(s->sql);
    sotto_release(s, sizeof *s);
    if (code != SQLITE_OK)
        return fail(conn, code, sql, err);
    return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_BUG, "not one statement: %.80s",
                           sql);
}

static void lite_finalize(sotto_statement *statement)
{
    lite_statement *s = (lite_statement *)statement;

    (void)sqlite3_finalize(s->sql);
    sotto_release(s, sizeof *s);
}

static void lite_reset(sotto_statement *statement)
{
    lite_statement *s = (lite_statement *)statement;

    (void)sqlite3_reset(s->sql);
    (void)sqlite3_clear_bindings(s->sql);
}

static void lite_bind(sotto_statement *statement, unsigned at, const sotto_cell *value)
{
    sqlite3_stmt *sql = ((lite_statement *)statement)->sql;
    sotto_bytes bytes = value->bytes;
    int code = SQLITE_OK;

    switch (value->type) {
    case SOTTO_COLUMN_INT:
        code = sqlite3_bind_int64(sql, (int)at, value->number);
        break;
    case SOTTO_COLUMN_BYTES:
        code = sqlite3_bind_blob64(sql, (int)at, bytes.data, bytes.len, SQLITE_STATIC);
        break;
    case SOTTO_COLUMN_TEXT:
        code = sqlite3_bind_text64(sql, (int)at, (const char *)bytes.data, bytes.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
        break;
    default:
        code = sqlite3_bind_null(sql, (int)at);
    }
    if (code != SQLITE_OK)
        (void)fail(statement->conn, code, statement->text, NULL);
}

static sotto_status lite_step(sotto_statement *statement, bool *row, sotto_err *err)
{
    lite_statement *s = (lite_statement *)statement;
    int code = sqlite3_step(s->sql);

    *row = code == SQLITE_ROW;
    if (code == SQLITE_DONE)
        s->changed = sqlite3_stmt_readonly(s->sql)
                         ? 0
                         : (uint64_t)sqlite3_changes64(of(statement->conn)->db);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return SOTTO_OK;
    return fail(statement->conn, code, statement->text, err);
}

static uint64_t lite_changed(const sotto_statement *statement)
{
    return ((const lite_statement *)statement)->changed;
}

/* Not as a statement: SQLite acts on it when it is compiled, so one that is kept would act once. */
static sotto_status lite_erasing(sotto_conn *conn, bool on, sotto_err *err)
{
    const char *sql = on ? "PRAGMA secure_delete=ON" : "PRAGMA secure_delete=FAST";
    int code = sqlite3_exec(of(conn)->db, sql, NULL, NULL, NULL);

    of(conn)->erased = true;
    return code == SQLITE_OK ? SOTTO_OK : fail(conn, code, sql, err);
}

static bool lite_column(const sotto_statement *statement, unsigned column, sotto_cell *out)
{
    sqlite3_stmt *sql = ((const lite_statement *)statement)->sql;
    int at = (int)column;

    if (column >= (unsigned)sqlite3_column_count(sql))
        return false;
    switch (sqlite3_column_type(sql, at)) {
    case SQLITE_INTEGER:
        *out = (sotto_cell){.type = SOTTO_COLUMN_INT, .number = sqlite3_column_int64(sql, at)};
        return true;
    case SQLITE_BLOB:
        *out = (sotto_cell){.type = SOTTO_COLUMN_BYTES};
        out->bytes.data = sqlite3_column_blob(sql, at);
        break;
    case SQLITE_TEXT:
        *out = (sotto_cell){.type = SOTTO_COLUMN_TEXT};
        out->bytes.data = sqlite3_column_text(sql, at);
        break;
    case SQLITE_NULL:
        *out = (sotto_cell){.type = SOTTO_COLUMN_NULL};
        return true;
    default: /* floating point: PostgreSQL's would be another number */
        return false;
    }
    out->bytes.len = (size_t)sqlite3_column_bytes(sql, at);
    if (!out->bytes.data && out->bytes.len > 0)
        return false; /* no memory for a copy */
    if (!out->bytes.data)
        out->bytes.data = (const uint8_t *)"";
    return true;
}

/* ---- maintenance -------------------------------------------------------------------------------------------- */

static void copy_wal(sotto_lite *lite)
{
    int in_wal = 0, copied = 0;
    int code =
        sqlite3_wal_checkpoint_v2(lite->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_wal, &copied);

    if (code != SQLITE_OK)
        return; /* the WAL stays, and with it everything in it */
    /* The WAL is synced before its pages are copied, the file after the last of them was. */
    lite->syncs += in_wal == copied ? 2U : 1U;
}

/* Copies the WAL into the file when it has grown: while nobody waits for an answer that is ready. The sweeper does most of
 * it. But as long as commits go on it never gets to the end, and only a WAL that was copied to its end starts anew. So the
 * writer copies the little that is left. */
static void lite_tidy(sotto_conn *conn)
{
    enum { TOO_MANY = 8 };
    sotto_lite *lite = of(conn);

    if (lite->sweeper && lite->erased)
        sotto_lite_sweeper_cut(lite->sweeper);
    lite->erased = false;
    if (lite->sweeper && sotto_lite_sweeper_done(lite->sweeper, &lite->syncs)) {
        copy_wal(lite);
        return;
    }
    if (lite->wal_pages < lite->tidy_at)
        return;
    /* If a reader holds on to old pages, look again once as many have been added. */
    lite->tidy_at = lite->wal_pages + lite->checkpoint;
    if (lite->sweeper && lite->wal_pages / TOO_MANY < lite->checkpoint) {
        sotto_lite_sweeper_ask(lite->sweeper);
        return;
    }
    if (lite->sweeper) /* it can't keep up: the writer waits, or the WAL would grow without end */
        sotto_lite_sweeper_wait(lite->sweeper);
    copy_wal(lite);
}

static uint64_t lite_syncs(const sotto_conn *conn)
{
    return ((const sotto_lite *)conn)->syncs;
}

static const sotto_dialect dialect[] = {
    {"int", "INTEGER"},
    {"bytes", "BLOB"},
    {"id", "INTEGER PRIMARY KEY AUTOINCREMENT"},
    {"strict", "STRICT"},
    {"keyed", "WITHOUT ROWID"},
    {"only_postgres", "--"},
    {"now", "sotto_now()"},
    {"lock", ""},        /* one writer at a time */
    {"skip_locked", ""}, /* the same             */
    {NULL, NULL},
};

const sotto_driver sotto_driver_sqlite = {
    .name = "sqlite",
    .dialect = dialect,
    .find_table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1",
    .placeholder = '?',
    .group = 256,
    .connect = sotto_lite_connect,
    .close = sotto_lite_close,
    .reconnect = lite_reconnect,
    .begin = lite_begin,
    .commit = lite_commit,
    .rollback = lite_rollback,
    .mark = lite_mark,
    .keep = lite_keep,
    .undo = lite_undo,
    .script = lite_script,
    .exclude = lite_exclude,
    .prepare = lite_prepare,
    .finalize = lite_finalize,
    .reset = lite_reset,
    .bind = lite_bind,
    .step = lite_step,
    .changed = lite_changed,
    .erasing = lite_erasing,
    .column = lite_column,
    .tidy = lite_tidy,
    .syncs = lite_syncs,
    .backup = sotto_lite_backup,
};
