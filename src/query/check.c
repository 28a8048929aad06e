#include "query/check.h"

#include "base/alloc.h"
#include "query/compile.h"
#include "query/sqlite.h"
#include "query/stream.h"

#include <stdio.h>
#include <string.h>

/* ---- over streams that are known ---------------------------------------------------------------------------- */

static sotto_status lay_out(sqlite3 *db, const sotto_stream *streams, size_t count, sotto_err *err)
{
    char *sql = sotto_alloc(SOTTO_STREAM_SQL);
    sotto_status status = SOTTO_OK;

    if (!sql)
        return sotto_fail(err, SOTTO_NO_MEMORY, "streams");
    for (size_t i = 0; i < count && status == SOTTO_OK; i++) {
        sotto_stream_create(sql, &streams[i]);
        status = sotto_sqlite_run(db, sql, streams[i].name, err);
    }
    sotto_release(sql, SOTTO_STREAM_SQL);
    return status;
}

static sotto_status check_columns(sotto_query_finding *out, sqlite3_stmt *statement,
                                  const sotto_query_question *question, sotto_err *err)
{
    size_t column;

    for (out->missing = 0; out->missing < question->column_count; out->missing++)
        SOTTO_TRY(sotto_compiled_column(statement, &column, question->columns[out->missing], err));
    return SOTTO_OK;
}

/* SQLite's own message, where the verifier had nothing against the query. */
typedef struct message {
    char text[2 * SOTTO_STORE_MAX_NAME + 80];
    bool more; /* behind the statement that it is about, there is another */
} message;

static const char *after(const char *text, const char *start)
{
    size_t len = strlen(start);

    return strncmp(text, start, len) == 0 ? text + len : NULL;
}

static bool is_ambiguous(const message *said)
{
    return after(said->text, "ambiguous column name: ") != NULL;
}

/* SQLite reads a statement to its end before it looks for columns. */
static bool has_more(sqlite3 *db, const sotto_query_question *question,
                     const sotto_query_policy *policy)
{
    const char *tail = NULL, *text = (const char *)question->sql.data;
    sqlite3_stmt *statement = NULL;
    sotto_verifier verifier;

    sotto_verifier_init(&verifier, policy, question->streams, question->stream_count);
    verifier.listed = true;
    (void)sotto_compile_prepare(db, &statement, &verifier, question->sql, &tail);
    (void)sqlite3_finalize(statement);
    size_t used = tail ? (size_t)(tail - text) : question->sql.len;
    return sotto_verifier_check_tail(sotto_bytes_of(tail, question->sql.len - used), NULL) !=
           SOTTO_OK;
}

static sotto_status compile(sqlite3 *db, sotto_query_finding *out, message *said,
                            const sotto_query_question *question, sotto_err *err)
{
    const sotto_query_policy anything = {
        .queries = &question->sql, .query_count = 1, .by_time = question->by_time};
    const sotto_query_policy *policy = question->policy ? question->policy : &anything;
    sqlite3_stmt *statement;
    sotto_verifier verifier;

    sotto_verifier_init(&verifier, policy, question->streams, question->stream_count);
    sotto_status status = sotto_compile(db, &statement, &verifier, question->sql, err);
    if (status == SOTTO_MALFORMED)
        (void)snprintf(said->text, sizeof said->text, "%s", sqlite3_errmsg(db));
    said->more = is_ambiguous(said) && has_more(db, question, policy);
    if (status == SOTTO_OK)
        status = check_columns(out, statement, question, err);
    (void)sqlite3_finalize(statement);
    out->accessed_count = verifier.accessed_count;
    memcpy(out->accessed, verifier.accessed, sizeof out->accessed);
    return status;
}

static sotto_status check(sotto_query_finding *out, message *said,
                          const sotto_query_question *question, sotto_err *err)
{
    const sotto_sqlite_options options = {.path = ":memory:", .memory = true, .unclaimed = true};
    sqlite3 *db;

    *said = (message){.text = ""};
    SOTTO_TRY(sotto_sqlite_open(&db, &options, err));
    sotto_status status = lay_out(db, question->streams, question->stream_count, err);
    if (status == SOTTO_OK)
        status = compile(db, out, said, question, err);
    sotto_sqlite_close(db);
    return status;
}

/* ---- over streams that are made up -------------------------------------------------------------------------- */

/* SQLite reports unknown tables and columns one at a time; each is then added. */
enum { MOST_STREAMS = 16, MOST_ROUNDS = 256 };

typedef struct made_up {
    const sotto_query_question *question;
    sotto_stream streams[MOST_STREAMS];
    size_t count;
    sotto_field fields[MOST_STREAMS][SOTTO_STORE_MAX_FIELDS];
    char stream_names[MOST_STREAMS][SOTTO_STORE_MAX_NAME + 1];
    char names[MOST_STREAMS][SOTTO_STORE_MAX_FIELDS][SOTTO_STORE_MAX_NAME + 1];
} made_up;

/* A name as a stream could have it: SQLite takes upper case for lower case. */
static bool take_name(char out[SOTTO_STORE_MAX_NAME + 1], const char *name, size_t len)
{
    if (len > SOTTO_STORE_MAX_NAME)
        return false;
    for (size_t i = 0; i < len; i++)
        out[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
    out[len] = 0;
    return sotto_stream_name_valid(out);
}

static bool add_field(made_up *m, size_t stream, const char *name)
{
    sotto_stream *s = &m->streams[stream];

    for (size_t i = 0; i < s->field_count; i++) {
        if (strcmp(s->fields[i].name, name) == 0)
            return false;
    }
    if (s->field_count == SOTTO_STORE_MAX_FIELDS)
        return false;
    char *kept = m->names[stream][s->field_count];
    (void)snprintf(kept, SOTTO_STORE_MAX_NAME + 1, "%s", name);
    m->fields[stream][s->field_count++] = (sotto_field){kept, SOTTO_TYPE_INTEGER};
    return true;
}

typedef enum learned { LEARNED, REFUSED, OPEN } learned;

static learned learn_table(made_up *m, const char *name)
{
    if (m->count == MOST_STREAMS)
        return OPEN;
    if (!take_name(m->stream_names[m->count], name, strlen(name)))
        return REFUSED;
    m->streams[m->count] = (sotto_stream){.name = m->stream_names[m->count],
                                          .fields = m->fields[m->count],
                                          .max_age = 1,
                                          .max_rows = 1};
    m->count++;
    for (size_t i = 0; i < m->question->likely_count; i++) {
        const sotto_field_name *likely = &m->question->likely[i];

        if (strcmp(likely->stream, m->stream_names[m->count - 1]) == 0 &&
            sotto_stream_name_valid(likely->field))
            (void)add_field(m, m->count - 1, likely->field);
    }
    return LEARNED;
}

/* Where the column has a table's name, that one gets it; else the first that lacks it, since the name before the dot may
 * stand for any of them. A table that gets it needlessly can only make a later name ambiguous. */
static learned learn_column(made_up *m, const char *name)
{
    const char *dot = strchr(name, '.');
    char field[SOTTO_STORE_MAX_NAME + 1], table[SOTTO_STORE_MAX_NAME + 1];

    if (!take_name(field, dot ? dot + 1 : name, strlen(dot ? dot + 1 : name)))
        return REFUSED;
    bool named = dot && take_name(table, name, (size_t)(dot - name));
    for (size_t i = 0; named && i < m->count; i++) {
        if (strcmp(m->streams[i].name, table) == 0)
            return add_field(m, i, field) ? LEARNED : REFUSED;
    }
    for (size_t i = 0; i < m->count; i++) {
        if (add_field(m, i, field))
            return LEARNED;
    }
    return REFUSED;
}

static const char *without_main(const char *name)
{
    return sqlite3_strnicmp(name, "main.", 5) == 0 ? name + 5 : name;
}

static learned learn(made_up *m, const message *said)
{
    const char *table = after(said->text, "no such table: "),
               *column = after(said->text, "no such column: ");

    if (table)
        return learn_table(m, without_main(table));
    if (column)
        return learn_column(m, without_main(column));
    return is_ambiguous(said) ? OPEN : REFUSED;
}

static sotto_status check_made_up(sotto_query_finding *out, made_up *m,
                                  const sotto_query_question *question, sotto_err *err)
{
    sotto_query_question over = *question;
    message said;

    m->question = question;
    for (unsigned round = 0; round < MOST_ROUNDS; round++) {
        sotto_err why = {0};

        over.streams = m->streams;
        over.stream_count = m->count;
        sotto_status status = check(out, &said, &over, &why);
        learned what = status == SOTTO_MALFORMED && said.text[0] ? learn(m, &said) : REFUSED;
        if (what == OPEN && said.more)
            return sotto_fail(err, SOTTO_DENIED, "query: more than one statement");
        if (what == OPEN)
            break;
        if (what == REFUSED)
            return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
    }
    out->open = true;
    return SOTTO_OK;
}

sotto_status sotto_query_check(sotto_query_finding *out, const sotto_query_question *question,
                               sotto_err *err)
{
    message said;

    *out = (sotto_query_finding){0};
    if (question->streams) {
        SOTTO_TRY(sotto_streams_check(question->streams, question->stream_count, err));
        return check(out, &said, question, err);
    }
    made_up *m = sotto_alloc(sizeof *m);
    if (!m)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    sotto_status status = check_made_up(out, m, question, err);
    sotto_release(m, sizeof *m);
    return status;
}
