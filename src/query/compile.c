#include "query/compile.h"

#include "base/rule.h"
#include "query/copy.h"
#include "query/sqlite.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    EXPRESSION_DEPTH = 64,
    FUNCTION_ARGUMENTS = 8,
    LIKE_PATTERN = 128,
    MACHINE_STEPS = 50000 /* length of a compiled statement */
};

void sotto_compile_limit(sqlite3 *db, int which, uint64_t value)
{
    (void)sqlite3_limit(db, which, value > INT_MAX ? INT_MAX : (int)value);
}

/* The schema was read before: a limit on length would otherwise apply to the streams' own definitions. */
void sotto_compile_limits(sqlite3 *db, const sotto_query_limits *limits)
{
    sotto_compile_limit(db, SQLITE_LIMIT_LENGTH, limits->value_bytes);
    sotto_compile_limit(db, SQLITE_LIMIT_SQL_LENGTH, limits->sql_bytes);
    sotto_compile_limit(db, SQLITE_LIMIT_EXPR_DEPTH, EXPRESSION_DEPTH);
    sotto_compile_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, limits->selects);
    sotto_compile_limit(db, SQLITE_LIMIT_FUNCTION_ARG, FUNCTION_ARGUMENTS);
    sotto_compile_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LIKE_PATTERN);
    sotto_compile_limit(db, SQLITE_LIMIT_VDBE_OP, MACHINE_STEPS);
    sotto_compile_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 0);
    sotto_compile_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}

/* SQLite's message quotes the query, which is public, but may hold any byte of it. */
static sotto_status misunderstood(const char *message, int code, sotto_err *err)
{
    char text[120];
    sotto_status status = sotto_status_of_sqlite(code);

    (void)snprintf(text, sizeof text, "%s", message);
    for (char *c = text; *c; c++) {
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    }
    return sotto_fail(err, status == SOTTO_BUG ? SOTTO_MALFORMED : status, "query: %s", text);
}

sotto_status sotto_compile_refused(const sotto_verifier *verifier, sqlite3 *db, int code,
                                   sotto_err *err)
{
    if (verifier->why.status != SOTTO_OK)
        return sotto_fail(err, SOTTO_DENIED, "%s", verifier->why.reason);
    return misunderstood(sqlite3_errmsg(db), code, err);
}

int sotto_compile_prepare(sqlite3 *db, sqlite3_stmt **out, sotto_verifier *verifier,
                          sotto_bytes sql, const char **tail)
{
    const sotto_query_limits limits = sotto_query_limits_of(verifier->policy);

    (void)sqlite3_set_authorizer(db, sotto_verifier_decide, verifier);
    sotto_compile_limits(db, &limits);
    return sqlite3_prepare_v3(db, sql.len ? (const char *)sql.data : "", (int)sql.len,
                              SQLITE_PREPARE_NO_VTAB, out, tail);
}

/* A column that SQLite read without reporting it is not in the copy: then the query is refused when
 * it is offered. */
static sotto_status try_copy(sqlite3_stmt *statement, sotto_verifier *verifier, sotto_err *err)
{
    const char *text = sqlite3_sql(statement);
    sqlite3_stmt *ordered = NULL;
    sqlite3 *copy;

    SOTTO_TRY(sotto_query_copy_open(&copy, verifier, err));
    int code =
        sotto_compile_prepare(copy, &ordered, verifier, sotto_bytes_of(text, strlen(text)), NULL);
    sotto_status status = SOTTO_OK;
    if (code != SQLITE_OK || verifier->why.status != SOTTO_OK)
        status = sotto_compile_refused(verifier, copy, code, err);
    (void)sqlite3_finalize(ordered);
    sotto_sqlite_close(copy);
    return status;
}

static sotto_status compile(sqlite3 *db, sqlite3_stmt **out, sotto_verifier *verifier,
                            sotto_bytes sql, sotto_err *err)
{
    const sotto_query_limits limits = sotto_query_limits_of(verifier->policy);
    const char *tail = NULL;

    SOTTO_TRY(sotto_verifier_read_text(verifier, sql, err));
    int code = sotto_compile_prepare(db, out, verifier, sql, &tail);
    if (code != SQLITE_OK || verifier->why.status != SOTTO_OK)
        return sotto_compile_refused(verifier, db, code, err);
    size_t used = *out ? (size_t)(tail - (const char *)sql.data) : sql.len;
    SOTTO_TRY(
        sotto_verifier_check_statement(verifier, *out, sotto_bytes_of(tail, sql.len - used), err));
    int columns = sqlite3_column_count(*out);
    if (SOTTO_RULE(limit_columns) &&
        (columns > (int)limits.columns || columns > SOTTO_COMPILED_MAX_COLUMNS))
        return sotto_fail(err, SOTTO_TOO_LARGE, "query: %d columns, %u allowed", columns,
                          (unsigned)limits.columns);
    SOTTO_TRY(sotto_verifier_read_times(verifier, err));
    verifier->sealed = true;
    return verifier->order_matters ? try_copy(*out, verifier, err) : SOTTO_OK;
}

sotto_status sotto_compile(sqlite3 *db, sqlite3_stmt **out, sotto_verifier *verifier,
                           sotto_bytes sql, sotto_err *err)
{
    *out = NULL;
    sotto_status status = compile(db, out, verifier, sql, err);
    if (status != SOTTO_OK) {
        (void)sqlite3_finalize(*out);
        *out = NULL;
    }
    return status;
}

sotto_status sotto_compiled_column(sqlite3_stmt *statement, size_t *column, const char *name,
                                   sotto_err *err)
{
    int columns = sqlite3_column_count(statement), found = 0;

    for (int i = 0; i < columns; i++) {
        const char *column_name = sqlite3_column_name(statement, i);

        if (!column_name)
            return sotto_fail(err, SOTTO_NO_MEMORY, "query: its columns' names");
        if (strcmp(column_name, name) == 0) {
            *column = (size_t)i;
            found++;
        }
    }
    if (found == 1)
        return SOTTO_OK;
    return sotto_fail(err, SOTTO_MISSING, "query: %s column of its answer is named \"%.63s\"",
                      found ? "more than one" : "no", name);
}
