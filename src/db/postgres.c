#define _POSIX_C_SOURCE 200809L

#include "db/postgres.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "sotto/random.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- failures ---------------------------------------------------------------------------------------- */

typedef struct verdict {
    const char *state; /* SQLSTATE, or the beginning of several */
    sotto_trouble trouble;
    sotto_status status;
} verdict;

static const verdict verdicts[] = {
    {"40001", SOTTO_TROUBLE_CONFLICT, SOTTO_IO}, /* serialization failure                   */
    {"40P01", SOTTO_TROUBLE_CONFLICT, SOTTO_IO}, /* deadlock                                */
    {"55P03", SOTTO_TROUBLE_CONFLICT, SOTTO_IO}, /* a lock was not to be had in time        */
    {"57014", SOTTO_TROUBLE_CONFLICT, SOTTO_IO}, /* a statement took too long               */
    {"57P", SOTTO_TROUBLE_LOST, SOTTO_IO},       /* the server is going down, or not yet up */
    {"08", SOTTO_TROUBLE_LOST, SOTTO_IO},
    {"23", SOTTO_TROUBLE_FAILED, SOTTO_DENIED}, /* constraints           */
    {"25006", SOTTO_TROUBLE_FAILED, SOTTO_DENIED},
    {"42501", SOTTO_TROUBLE_FAILED, SOTTO_DENIED},
    {"53200", SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY},
    {"53", SOTTO_TROUBLE_FAILED, SOTTO_IO}, /* disk full, and the like */
    {"54", SOTTO_TROUBLE_FAILED, SOTTO_TOO_LARGE},
    {"58", SOTTO_TROUBLE_FAILED, SOTTO_IO},
    {"XX0", SOTTO_TROUBLE_FAILED, SOTTO_MALFORMED}, /* damaged data         */
    {"", SOTTO_TROUBLE_FAILED, SOTTO_BUG},
};

static const char *field(const PGresult *result, int which)
{
    const char *text = result ? PQresultErrorField(result, which) : NULL;

    return text ? text : "";
}

/* The server's message may quote values (classes 22 and 23 do), so only classes whose messages hold none are repeated.
 * Those are lost connections, conflicts, mistakes in SQL (which quote SQL), resources, and the server's own operation. */
static const char *message(const PGresult *result)
{
    static const char *const classes[] = {"08", "28", "3D", "40", "42", "53", "55", "57", "58"};
    const char *state = field(result, PG_DIAG_SQLSTATE);

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strncmp(state, classes[i], 2) == 0)
            return field(result, PG_DIAG_MESSAGE_PRIMARY);
    return "";
}

sotto_status sotto_pg_fail(sotto_conn *conn, const PGresult *result, const char *text,
                           sotto_err *err)
{
    const char *state = field(result, PG_DIAG_SQLSTATE);
    const char *severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const verdict *v = verdicts;

    if (PQstatus(sotto_pg_of(conn)->server) != CONNECTION_OK || strcmp(severity, "FATAL") == 0 ||
        strcmp(severity, "PANIC") == 0)
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_LOST, SOTTO_IO,
                               "postgres: the connection is lost %s %.90s", state, message(result));
    if (!state[0]) /* libpq's own: it had no memory for the answer */
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_NO_MEMORY,
                               "postgres: no answer to: %.80s", text);
    conn->clashed = conn->trouble == SOTTO_TROUBLE_NONE && strcmp(state, "23505") == 0;
    while (strncmp(state, v->state, strlen(v->state)) != 0)
        v++;
    return sotto_conn_fail(conn, err, v->trouble, v->status, "postgres: %s %.60s in: %.70s", state,
                           message(result), text);
}

static sotto_status run(sotto_conn *conn, PGresult **out, const char *sql, sotto_err *err)
{
    PGresult *result = PQexec(sotto_pg_of(conn)->server, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
        sotto_status bad = sotto_pg_fail(conn, result, sql, err);
        PQclear(result);
        return bad;
    }
    if (out)
        *out = result;
    else
        PQclear(result);
    return SOTTO_OK;
}

static void copy_value(char *out, size_t size, const PGresult *result, int column)
{
    (void)snprintf(out, size, "%s", PQgetvalue(result, 0, column));
}

/* ---- connections ------------------------------------------------------------------------------------- */

static void hear_nothing(void *context, const char *notice)
{
    (void)context;
    (void)notice; /* libpq would print it */
}

/* A replica that is stopped in the middle of a transaction must not hold its locks for ever: the server ends it.
 * The others wait for a lock no longer than that. */
static const char settings[] =
    "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on; SET lock_timeout = '10s';"
    "SET idle_in_transaction_session_timeout = '10s'; SET statement_timeout = '60s';"
    "SET client_min_messages = warning; SET bytea_output = 'hex';"
    /* Plans are made while tables are empty, and kept: an index is what will be right. A plan for the values at hand, which the
     * server makes five times of each statement, is no better, and copies long bodies into the plan. */
    "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;"
    /* Which makes whatever has no index seem dear enough to be compiled: 37 ms to count one row. */
    "SET jit = off;"
    /* 4 MiB that are taken and released once. From then on the C library (glibc) keeps blocks of that size. Else it gives those of
     * each body back to the system, and page faults are 17 % of the server's time (decision 340). */
    "SELECT octet_length(repeat(repeat(' ', 8192), 512))";

/* Durable: the session waits for its commits, and the server syncs. The epoch tells lives of the server apart: the
 * statistics start anew with every recovery from a crash, the start time with every start. */
static const char inquiry[] =
    "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),"
    " current_setting('fsync'), current_setting('full_page_writes'),"
    " current_setting('server_version_num'),"
    " pg_postmaster_start_time()::text || '/' ||"
    " coalesce((SELECT stats_reset::text FROM pg_stat_bgwriter), '')";

static sotto_status introduce(sotto_pg *pg, sotto_err *err)
{
    PGresult *result = NULL;

    SOTTO_TRY(run(&pg->common, NULL, settings, err));
    SOTTO_TRY(run(&pg->common, &result, inquiry, err));
    bool durable = strcmp(PQgetvalue(result, 0, 0), "off") != 0 &&
                   strcmp(PQgetvalue(result, 0, 1), "on") == 0 &&
                   strcmp(PQgetvalue(result, 0, 2), "on") == 0;
    long version = strtol(PQgetvalue(result, 0, 3), NULL, 10);
    copy_value(pg->epoch, sizeof pg->epoch, result, 4);
    PQclear(result);
    if (version < 130000)
        return sotto_fail(err, SOTTO_DENIED, "postgres: version 13 is the oldest that will do");
    if (!durable)
        return sotto_fail(err, SOTTO_DENIED,
                          "postgres: fsync or full_page_writes is off: commits might not last");
    return SOTTO_OK;
}

/* libpq's own sentence, in `out`, or nothing where it might hold the password. libpq leaves the password itself out; but
 * an address that was cut in the wrong places (a password with "/" or "@" in a URI) has parts of it in other fields. */
static void explain(char *out, size_t size, const PGconn *server)
{
    const char *said = PQerrorMessage(server), *password = PQpass(server), *port = PQport(server);
    const char *const names[] = {PQhost(server), PQdb(server), PQuser(server)};
    const char *cause = strstr(said, " failed: ");
    bool cut = port && strspn(port, "0123456789,") != strlen(port);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cut = cut || (names[i] && strpbrk(names[i], "@"));
    out[0] = 0;
    if (SOTTO_RULE(postgres_password_unsaid) &&
        (cut || (password && password[0] && strstr(said, password))))
        return;
    if (cause && strcspn(said, "\n") >= size) /* a long socket path hides the cause */
        said = cause + strlen(" failed: ");
    (void)snprintf(out, size, "%.*s", (int)strcspn(said, "\n"), said);
}

/* An address that libpq can't read is quoted by its complaint, password included. */
static sotto_status check_address(const char *address, sotto_err *err)
{
    PQconninfoOption *read = PQconninfoParse(address, NULL);

    if (SOTTO_RULE(postgres_address_unsaid) && !read)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "postgres: the address is no connection string: quote values with spaces,"
                          " percent-encode in a URI");
    PQconninfoFree(read);
    return SOTTO_OK;
}

static sotto_status dial(sotto_pg *pg, sotto_err *err)
{
    char said[140];

    /* Settings in the address, expanded last, win over these. A server whose machine is gone says nothing: half a minute
     * of silence where an answer is due ends the connection, not the kernel's two hours. */
    const char *const words[] = {"connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "fallback_application_name",
                                 "dbname",
                                 NULL};
    const char *const values[] = {"5", "10", "5", "4", "30000", "sotto", pg->address, NULL};

    SOTTO_TRY(check_address(pg->address, err));
    PQfinish(pg->server);
    pg->server = PQconnectdbParams(words, values, 1);
    if (!pg->server)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a connection");
    (void)PQsetNoticeProcessor(pg->server, hear_nothing, NULL);
    if (PQstatus(pg->server) != CONNECTION_OK) {
        explain(said, sizeof said, pg->server);
        return sotto_fail(err, SOTTO_IO, "postgres: %s",
                          said[0] ? said : "no connection; check host, user and password");
    }
    return introduce(pg, err);
}

static void close_connection(sotto_conn *conn)
{
    if (!conn)
        return;
    PQfinish(sotto_pg_of(conn)->server);
    sotto_pg_of(conn)->server = NULL;
    sotto_conn_forget(conn);
    sotto_release(conn, sizeof(sotto_pg));
}

static sotto_status open_connection(sotto_conn **out, const sotto_db_options *options,
                                    bool read_only, sotto_err *err)
{
    sotto_pg *pg = sotto_alloc(sizeof *pg);

    (void)read_only; /* each transaction says so itself */
    *out = NULL;
    if (!pg)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a connection");
    pg->common.driver = &sotto_driver_postgres;
    pg->address = options->address;
    sotto_status status = sotto_random_bytes(&pg->writer, sizeof pg->writer, err);
    if (status == SOTTO_OK)
        status = dial(pg, err);
    if (status == SOTTO_OK)
        *out = &pg->common;
    else
        close_connection(&pg->common);
    return status;
}

static sotto_status reopen_connection(sotto_conn *conn, sotto_err *err)
{
    return dial(sotto_pg_of(conn), err);
}

/* ---- transactions ------------------------------------------------------------------------------------ */

/* The transaction's number comes with the same round trip, in case the commit's answer gets lost. So does whether there
 * is a table for marks, since the very first transaction is the one that makes it. */
static const char begin_writing[] =
    "BEGIN ISOLATION LEVEL READ COMMITTED;"
    " SELECT pg_current_xact_id()::text, to_regclass('sotto_mark') IS NOT NULL";

static sotto_status pg_begin(sotto_conn *conn, bool read_only, sotto_err *err)
{
    sotto_pg *pg = sotto_pg_of(conn);
    PGresult *result = NULL;

    if (read_only)
        return run(conn, NULL, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
    SOTTO_TRY(run(conn, &result, begin_writing, err));
    copy_value(pg->xid, sizeof pg->xid, result, 0);
    pg->leaves_mark = PQgetvalue(result, 0, 1)[0] == 't';
    PQclear(result);
    return SOTTO_OK;
}

/* Commits, and leaves its mark in the same round trip. Whoever left none for a week is gone, or will leave a new one. */
static sotto_status send_commit(sotto_conn *conn, PGresult **out, sotto_err *err)
{
    sotto_pg *pg = sotto_pg_of(conn);
    char sql[320];

    if (!pg->leaves_mark)
        return run(conn, out, "COMMIT", err);
    pg->mark++;
    (void)snprintf(
        sql, sizeof sql,
        "%sINSERT INTO sotto_mark (writer, mark, left_at) VALUES (%" PRId64 ", %" PRIu64
        ", now()) ON CONFLICT (writer) DO UPDATE"
        " SET mark = excluded.mark, left_at = excluded.left_at; COMMIT",
        pg->mark == 1 ? "DELETE FROM sotto_mark WHERE left_at < now() - interval '7 days'; " : "",
        pg->writer, pg->mark);
    return run(conn, out, sql, err);
}

static sotto_status pg_commit(sotto_conn *conn, sotto_err *err)
{
    sotto_pg *pg = sotto_pg_of(conn);
    PGresult *result = NULL;

    memcpy(pg->doubt, pg->epoch, sizeof pg->doubt);
    SOTTO_TRY(send_commit(conn, &result, err));
    bool committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;
    PQclear(result);
    if (!committed) /* a transaction that had failed is rolled back without complaint */
        return sotto_conn_fail(conn, err, SOTTO_TROUBLE_FAILED, SOTTO_BUG,
                               "postgres: committed after a failure");
    return SOTTO_OK;
}

/* While the server lives it knows the fate of each number, also that one is still under way. After a crash, numbers that
 * had not reached the disk are given out again, and another transaction's fate would be taken for ours. But then no
 * transaction is under way any more, and the mark is there exactly if the commit is. */
static sotto_status pg_resolve(sotto_conn *conn, bool *committed, sotto_err *err)
{
    sotto_pg *pg = sotto_pg_of(conn);
    bool crashed = strcmp(pg->doubt, pg->epoch) != 0;
    PGresult *result = NULL;
    char sql[128];

    *committed = false;
    if (crashed && !pg->leaves_mark)
        return SOTTO_OK; /* nobody knows */
    if (crashed)
        (void)snprintf(sql, sizeof sql,
                       "SELECT 'committed' FROM sotto_mark WHERE writer = %" PRId64
                       " AND mark = %" PRIu64,
                       pg->writer, pg->mark);
    else
        (void)snprintf(sql, sizeof sql, "SELECT pg_xact_status('%s'::xid8)", pg->xid);
    SOTTO_TRY(run(conn, &result, sql, err));
    const char *fate = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    *committed = strcmp(fate, "committed") == 0;
    bool going_on = strcmp(fate, "in progress") == 0;
    PQclear(result);
    return going_on ? sotto_fail(err, SOTTO_AGAIN, "postgres: the commit is under way") : SOTTO_OK;
}

static void pg_rollback(sotto_conn *conn)
{
    PGTransactionStatusType state = PQtransactionStatus(sotto_pg_of(conn)->server);

    if (state != PQTRANS_IDLE && state != PQTRANS_UNKNOWN)
        (void)run(conn, NULL, "ROLLBACK", NULL);
}

static sotto_status pg_mark(sotto_conn *conn, sotto_err *err)
{
    return run(conn, NULL, "SAVEPOINT f", err);
}

static sotto_status pg_keep(sotto_conn *conn, sotto_err *err)
{
    return run(conn, NULL, "RELEASE f", err);
}

static sotto_status pg_undo(sotto_conn *conn, sotto_err *err)
{
    return run(conn, NULL, "ROLLBACK TO f; RELEASE f", err);
}

static sotto_status pg_script(sotto_conn *conn, const char *sql, sotto_err *err)
{
    return run(conn, NULL, sql, err);
}

/* Held until the transaction ends. The number is "sotto" in letters, so that others choose another. */
static sotto_status pg_exclude(sotto_conn *conn, sotto_err *err)
{
    return run(conn, NULL, "SELECT pg_advisory_xact_lock(495791141999)", err);
}

/* ---- wake-ups ---------------------------------------------------------------------------------------- */

static sotto_status pg_notify(sotto_conn *conn, const char *channel, sotto_err *err)
{
    char sql[96];

    /* The name holds letters, digits and _ alone (sotto_tx_wake). */
    (void)snprintf(sql, sizeof sql, "NOTIFY sotto, '%.*s'", SOTTO_DB_CHANNEL_NAME, channel);
    return run(conn, NULL, sql, err);
}

static void hear(PGconn *server, void (*heard)(void *, const char *), void *context)
{
    PGnotify *note;

    while ((note = PQnotifies(server))) {
        heard(context, note->extra);
        PQfreemem(note);
    }
}

static sotto_status pg_listen(sotto_conn *conn, int stop_fd,
                              void (*heard)(void *context, const char *channel), void *context,
                              sotto_err *err)
{
    PGconn *server = sotto_pg_of(conn)->server;

    SOTTO_TRY(run(conn, NULL, "LISTEN sotto", err));
    heard(context, NULL);
    for (;;) {
        struct pollfd fds[2] = {{.fd = PQsocket(server), .events = POLLIN},
                                {.fd = stop_fd, .events = POLLIN}};

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return sotto_fail(err, SOTTO_IO, "postgres: can't wait for wake-ups");
        if (fds[1].revents)
            return SOTTO_OK;
        if (!PQconsumeInput(server))
            return sotto_fail(err, SOTTO_IO, "postgres: the listening connection is lost");
        hear(server, heard, context);
    }
}

/* Milliseconds at the statement's beginning: the same for every row, so that an index can be used. */
static const sotto_dialect dialect[] = {
    {"int", "BIGINT"},
    {"bytes", "BYTEA"},
    {"id", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"},
    {"strict", ""},
    {"keyed", ""},
    {"only_postgres", ""},
    {"now", "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)"},
    {"lock", "FOR UPDATE"},
    {"skip_locked", "FOR UPDATE SKIP LOCKED"},
    {NULL, NULL},
};

const sotto_driver sotto_driver_postgres = {
    .name = "postgres",
    .dialect = dialect,
    .find_table = "SELECT 1 FROM pg_tables WHERE tablename = ?1 AND schemaname = current_schema()",
    .placeholder = '$',
    .guards = {"SELECT pg_advisory_xact_lock_shared(?1)", "SELECT pg_advisory_xact_lock(?1)"},
    .asks_twice = true,
    .arrays = true,
    .group = 1,
    .connect = open_connection,
    .close = close_connection,
    .reconnect = reopen_connection,
    .begin = pg_begin,
    .commit = pg_commit,
    .resolve = pg_resolve,
    .rollback = pg_rollback,
    .mark = pg_mark,
    .keep = pg_keep,
    .undo = pg_undo,
    .script = pg_script,
    .exclude = pg_exclude,
    .notify = pg_notify,
    .prepare = sotto_pg_prepare,
    .finalize = sotto_pg_finalize,
    .reset = sotto_pg_reset,
    .bind = sotto_pg_bind,
    .step = sotto_pg_step,
    .changed = sotto_pg_changed,
    .column = sotto_pg_column,
    .listen = pg_listen,
};
