#include "query/copy.h"

#include "query/sqlite.h"

#include <string.h>

/* ---- what is read of a stream ----------------------------------------------------------------------------- */

static bool is_first_of_its_stream(const sotto_verifier *verifier, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(verifier->accessed[i].stream, verifier->accessed[at].stream) == 0)
            return false;
    }
    return true;
}

static sotto_type type_of(const sotto_verifier *verifier, const sotto_access *access)
{
    for (size_t i = 0; i < verifier->stream_count; i++) {
        const sotto_stream *stream = &verifier->streams[i];

        for (size_t j = 0; j < stream->field_count; j++) {
            if (strcmp(stream->name, access->stream) == 0 &&
                strcmp(stream->fields[j].name, access->field) == 0)
                return stream->fields[j].type;
        }
    }
    return SOTTO_TYPE_INTEGER; /* event_time */
}

/* Appends one text for each field that is read of a stream, with commas between; returns how many. */
typedef void append_field(sqlite3_str *sql, const sotto_access *access, sotto_type type,
                          unsigned number);

static unsigned append_fields(sqlite3_str *sql, const sotto_verifier *verifier, const char *stream,
                              append_field *append)
{
    unsigned count = 0;

    for (size_t i = 0; i < verifier->accessed_count; i++) {
        const sotto_access *access = &verifier->accessed[i];

        if (strcmp(access->stream, stream) != 0 || strcmp(access->field, SOTTO_FIELD_ROWS) == 0)
            continue;
        if (count++)
            sqlite3_str_appendchar(sql, 1, ',');
        append(sql, access, type_of(verifier, access), count);
    }
    return count;
}

/* The same types as in the store, since a column's type decides how it is compared. */
static void append_definition(sqlite3_str *sql, const sotto_access *access, sotto_type type,
                              unsigned number)
{
    const char *name = type == SOTTO_TYPE_TEXT   ? "TEXT"
                       : type == SOTTO_TYPE_REAL ? "REAL"
                                                 : "INTEGER";

    (void)number;
    sqlite3_str_appendf(sql, "\"%w\" %s", access->field, name);
}

/* -0.0 equals 0.0, so no order could be made of the two. */
static void append_value(sqlite3_str *sql, const sotto_access *access, sotto_type type,
                         unsigned number)
{
    (void)number;
    sqlite3_str_appendf(sql, "\"%w\"%s", access->field, type == SOTTO_TYPE_REAL ? "+0.0" : "");
}

static void append_number(sqlite3_str *sql, const sotto_access *access, sotto_type type,
                          unsigned number)
{
    (void)access, (void)type;
    sqlite3_str_appendf(sql, "%u", number);
}

static void append_parameter(sqlite3_str *sql, const sotto_access *access, sotto_type type,
                             unsigned number)
{
    (void)access, (void)type, (void)number;
    sqlite3_str_appendchar(sql, 1, '?');
}

/* ---- texts ------------------------------------------------------------------------------------------------ */

/* Where only the number of rows is read, rows have one column without a value. */
static void write_create(sqlite3_str *sql, const sotto_verifier *verifier, const char *stream)
{
    sqlite3_str_appendf(sql, "CREATE TABLE \"%w\"(", stream);
    if (!append_fields(sql, verifier, stream, append_definition))
        sqlite3_str_appendall(sql, "sotto_row");
    sqlite3_str_appendall(sql, ");");
}

static void write_select(sqlite3_str *sql, const sotto_verifier *verifier, const char *stream)
{
    sqlite3_str_appendall(sql, "SELECT ");
    unsigned fields = append_fields(sql, verifier, stream, append_value);
    sqlite3_str_appendf(sql, fields ? " FROM \"%w\"" : "NULL FROM \"%w\"", stream);
    if (verifier->policy->by_time)
        sqlite3_str_appendf(sql, " WHERE " SOTTO_STORE_TIME ">=%lld",
                            (long long)verifier->policy->since);
    if (fields) {
        sqlite3_str_appendall(sql, " ORDER BY ");
        (void)append_fields(sql, verifier, stream, append_number);
    }
}

static void write_insert(sqlite3_str *sql, const sotto_verifier *verifier, const char *stream)
{
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES(", stream);
    if (!append_fields(sql, verifier, stream, append_parameter))
        sqlite3_str_appendall(sql, "NULL");
    sqlite3_str_appendall(sql, ")");
}

/* ---- the copy --------------------------------------------------------------------------------------------- */

sotto_status sotto_query_copy_open(sqlite3 **out, const sotto_verifier *verifier, sotto_err *err)
{
    const sotto_sqlite_options options = {.path = ":memory:", .memory = true, .unclaimed = true};

    SOTTO_TRY(sotto_sqlite_open(out, &options, err));
    sqlite3_str *text = sqlite3_str_new(*out);
    for (size_t i = 0; i < verifier->accessed_count; i++) {
        if (is_first_of_its_stream(verifier, i))
            write_create(text, verifier, verifier->accessed[i].stream);
    }
    char *sql = sqlite3_str_finish(text);
    sotto_status status = SOTTO_OK; /* and no text, for a query that reads no stream */
    if (sql)
        status = sotto_sqlite_run(*out, sql, "query", err);
    else if (verifier->accessed_count)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "query");
    sqlite3_free(sql);
    if (status != SOTTO_OK) {
        sotto_sqlite_close(*out);
        *out = NULL;
    }
    return status;
}

typedef void write_text(sqlite3_str *sql, const sotto_verifier *verifier, const char *stream);

static int prepare(sqlite3 *db, sqlite3_stmt **out, const sotto_verifier *verifier,
                   const char *stream, write_text *write)
{
    sqlite3_str *text = sqlite3_str_new(db);

    *out = NULL;
    write(text, verifier, stream);
    char *sql = sqlite3_str_finish(text);
    int code =
        sql ? sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_NO_VTAB, out, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static int insert_row(sqlite3_stmt *insert, sqlite3_stmt *row)
{
    int code = SQLITE_OK;

    for (int i = 0; i < sqlite3_bind_parameter_count(insert) && code == SQLITE_OK; i++)
        code = sqlite3_bind_value(insert, i + 1, sqlite3_column_value(row, i));
    if (code == SQLITE_OK)
        (void)sqlite3_step(insert);
    return code == SQLITE_OK ? sqlite3_reset(insert) : code;
}

static int fill_stream(sqlite3 *copy, sqlite3 *store, const sotto_verifier *verifier,
                       const char *stream)
{
    sqlite3_stmt *rows = NULL, *insert = NULL;
    int code = prepare(store, &rows, verifier, stream, write_select);

    if (code == SQLITE_OK)
        code = prepare(copy, &insert, verifier, stream, write_insert);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        code = insert_row(insert, rows);
    (void)sqlite3_finalize(rows);
    (void)sqlite3_finalize(insert);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* One row, whatever the stream has: until the statement is stepped again it holds the moment that all others read. */
static void write_holder(sqlite3_str *sql, const sotto_verifier *verifier, const char *stream)
{
    (void)verifier;
    sqlite3_str_appendf(sql, "SELECT EXISTS(SELECT 1 FROM \"%w\")", stream);
}

int sotto_query_copy_fill(sqlite3 *copy, sqlite3 *store, const sotto_verifier *verifier)
{
    sqlite3_stmt *holder = NULL;
    int code = sqlite3_exec(copy, "BEGIN", NULL, NULL, NULL);

    if (code == SQLITE_OK && verifier->accessed_count)
        code = prepare(store, &holder, verifier, verifier->accessed[0].stream, write_holder);
    if (code == SQLITE_OK && holder && (code = sqlite3_step(holder)) == SQLITE_ROW)
        code = SQLITE_OK;
    for (size_t i = 0; i < verifier->accessed_count && code == SQLITE_OK; i++) {
        if (is_first_of_its_stream(verifier, i))
            code = fill_stream(copy, store, verifier, verifier->accessed[i].stream);
    }
    (void)sqlite3_finalize(holder);
    return code == SQLITE_OK ? sqlite3_exec(copy, "COMMIT", NULL, NULL, NULL) : code;
}
