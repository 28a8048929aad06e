#include "device/events/query.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "device/events/query_copy.h"
#include "device/events/store_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Few steps between two looks at the clock, since one of them may be a LIKE over a long text. */
enum {
    STEPS_PER_LOOK = 20,
    EXPRESSION_DEPTH = 64,
    FUNCTION_ARGUMENTS = 8,
    LIKE_PATTERN = 128,
    MACHINE_STEPS = 50000, /* length of a compiled statement */
    MOST_COLUMNS = 128
};

struct sotto_query {
    sqlite3 *db;
    sotto_store *store;      /* takes the connection back */
    sqlite3_stmt *statement; /* over the store */
    sqlite3 *copy; /* of what it reads, in an order that tells nothing else; NULL: not made */
    sqlite3_stmt *ordered; /* over the copy */
    sotto_verifier verifier;
    sotto_query_limits limits;
    const sotto_clock *clock;
    uint64_t started; /* ns                      */
    uint64_t steps;   /* taken so far, about     */
    unsigned passes;  /* what this one may take, in limits */
    int64_t heap;     /* SQLite's, at the start  */
    const char *over; /* which limit was passed  */
    bool failed;      /* to compile, or as it ran */
};

/* Pages of the event file hold what the query may not read as well: how many SQLite keeps must not decide whether the
 * query passes its limit. */
static int64_t memory_taken(const sotto_query *query)
{
    int64_t taken = sqlite3_memory_used() - query->heap;
    int pages = 0, most;

    if (SOTTO_RULE(pages_apart) && taken > (int64_t)query->limits.memory)
        (void)sqlite3_db_status(query->db, SQLITE_DBSTATUS_CACHE_USED, &pages, &most, 0);
    return taken - pages;
}

static int look_around(void *context)
{
    sotto_query *query = context;
    const sotto_query_limits *limits = &query->limits;

    query->steps += STEPS_PER_LOOK;
    if (query->steps / query->passes > limits->steps && SOTTO_RULE(limit_steps))
        query->over = "steps";
    else if ((sotto_clock_monotonic(query->clock) - query->started) / query->passes >
                 limits->nanoseconds &&
             SOTTO_RULE(limit_time))
        query->over = "time";
    else if (memory_taken(query) > (int64_t)limits->memory && SOTTO_RULE(limit_memory))
        query->over = "memory";
    return query->over != NULL;
}

static void set_limit(sqlite3 *db, int which, uint64_t value)
{
    (void)sqlite3_limit(db, which, value > INT_MAX ? INT_MAX : (int)value);
}

/* The schema was read before: a limit on length would otherwise apply to the streams' own definitions. */
static void set_limits(const sotto_query *query, sqlite3 *db)
{
    const sotto_query_limits *limits = &query->limits;

    if (SOTTO_RULE(limit_values))
        set_limit(db, SQLITE_LIMIT_LENGTH, limits->value_bytes);
    set_limit(db, SQLITE_LIMIT_SQL_LENGTH, limits->sql_bytes);
    if (SOTTO_RULE(limit_depth))
        set_limit(db, SQLITE_LIMIT_EXPR_DEPTH, EXPRESSION_DEPTH);
    set_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, limits->selects);
    set_limit(db, SQLITE_LIMIT_FUNCTION_ARG, FUNCTION_ARGUMENTS);
    if (SOTTO_RULE(limit_patterns))
        set_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LIKE_PATTERN);
    set_limit(db, SQLITE_LIMIT_VDBE_OP, MACHINE_STEPS);
    set_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, 0);
    set_limit(db, SQLITE_LIMIT_ATTACHED, 0);
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

static sotto_status failed(sotto_query *query, sqlite3 *db, int code, sotto_err *err)
{
    query->failed = true;
    if (query->verifier.why.status != SOTTO_OK)
        return sotto_fail(err, SOTTO_DENIED, "%s", query->verifier.why.reason);
    if (query->over)
        return sotto_fail(err, SOTTO_TOO_LARGE, "query: takes more %s than allowed", query->over);
    return misunderstood(sqlite3_errmsg(db), code, err);
}

static int prepare(sotto_query *query, sqlite3 *db, sqlite3_stmt **out, sotto_bytes sql,
                   const char **tail)
{
    (void)sqlite3_set_authorizer(db, sotto_verifier_decide, &query->verifier);
    set_limits(query, db);
    return sqlite3_prepare_v3(db, sql.len ? (const char *)sql.data : "", (int)sql.len,
                              SOTTO_RULE(no_table_functions) ? SQLITE_PREPARE_NO_VTAB : 0, out,
                              tail);
}

static sotto_status compile(sotto_query *query, sotto_bytes sql, sotto_err *err)
{
    const char *tail = NULL;
    const char *text = (const char *)sql.data;

    SOTTO_TRY(sotto_verifier_read_text(&query->verifier, sql, err));
    int code = prepare(query, query->db, &query->statement, sql, &tail);
    if (code != SQLITE_OK || query->verifier.why.status != SOTTO_OK)
        return failed(query, query->db, code, err);
    size_t used = query->statement ? (size_t)(tail - text) : sql.len;
    SOTTO_TRY(sotto_verifier_check_statement(&query->verifier, query->statement,
                                             sotto_bytes_of(tail, sql.len - used), err));
    int columns = sqlite3_column_count(query->statement);
    if ((columns > (int)query->limits.columns || columns > MOST_COLUMNS) &&
        SOTTO_RULE(limit_columns))
        return sotto_fail(err, SOTTO_TOO_LARGE, "query: %d columns, %u allowed", columns,
                          (unsigned)query->limits.columns);
    query->verifier.sealed = true;
    if (!SOTTO_RULE(authorizer_stays))
        (void)sqlite3_set_authorizer(query->db, NULL, NULL);
    return SOTTO_OK;
}

/* ---- a copy ----------------------------------------------------------------------------------------------- */

static void drop_copy(sotto_query *query)
{
    (void)sqlite3_finalize(query->ordered);
    sotto_sqlite_close(query->copy);
    query->ordered = NULL;
    query->copy = NULL;
}

static sotto_status compile_on_copy(sotto_query *query, sotto_err *err)
{
    const char *text = sqlite3_sql(query->statement);
    int code =
        prepare(query, query->copy, &query->ordered, sotto_bytes_of(text, strlen(text)), NULL);

    if (code != SQLITE_OK || query->verifier.why.status != SOTTO_OK)
        return failed(query, query->copy, code, err);
    return SOTTO_OK;
}

/* What SQLite read without telling is not in the copy: the query is refused when it is offered. */
static sotto_status try_copy(sotto_query *query, sotto_err *err)
{
    sotto_status status = sotto_query_copy_open(&query->copy, &query->verifier, err);

    if (status == SOTTO_OK)
        status = compile_on_copy(query, err);
    drop_copy(query);
    return status;
}

/* A sort takes each row whole, longer than a value of the query's may be. */
static int fill_copy(sotto_query *query)
{
    set_limit(query->db, SQLITE_LIMIT_LENGTH, 4 * SOTTO_SQLITE_MAX_VALUE);
    set_limit(query->db, SQLITE_LIMIT_SQL_LENGTH, SOTTO_SQLITE_MAX_VALUE);
    query->verifier.counting = true;
    int code = sotto_query_copy_fill(query->copy, query->db, &query->verifier);
    query->verifier.counting = false;
    set_limits(query, query->db);
    return code;
}

/* ---- a connection ----------------------------------------------------------------------------------------- */

static sotto_status borrow(sotto_query *query, sotto_err *err)
{
    sotto_store *store = query->store;
    const sotto_sqlite_options options = {.storage = &store->storage,
                                          .path = store->path,
                                          .memory = store->memory,
                                          .application = SOTTO_SQLITE_EVENTS,
                                          .version = SOTTO_STORE_VERSION,
                                          .read_only = true};

    query->db = store->reader;
    store->reader = NULL;
    if (query->db && sotto_sqlite_renew(query->db, &options, NULL) == SOTTO_OK)
        return SOTTO_OK;
    sotto_sqlite_close(query->db);
    query->db = NULL;
    return sotto_sqlite_open(&query->db, &options, err);
}

/* To open one takes as long as a report's proof. It is kept without memory, statements, or anybody's say over it; one
 * in which anything went wrong is not. */
static void give_back(sotto_query *query)
{
    sqlite3 *db = query->db;
    sotto_store *store = query->store;

    query->db = NULL;
    if (!db || store->reader || query->failed || sqlite3_next_stmt(db, NULL) ||
        !sqlite3_get_autocommit(db)) {
        sotto_sqlite_close(db);
        return;
    }
    (void)sqlite3_set_authorizer(db, NULL, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    (void)sqlite3_db_release_memory(db);
    store->reader = db;
}

sotto_status sotto_query_open(sotto_query **out, sotto_store *store,
                              const sotto_query_policy *policy, sotto_bytes sql,
                              const sotto_clock *clock, sotto_err *err)
{
    sotto_query *query = sotto_alloc(sizeof *query);

    *out = NULL;
    if (!query)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    query->clock = clock ? clock : &sotto_clock_system;
    query->limits = sotto_query_limits_of(policy);
    sotto_verifier_init(&query->verifier, policy, store->streams, store->stream_count);
    query->store = store;
    sotto_status status = borrow(query, err);
    if (status == SOTTO_OK)
        status = compile(query, sql, err);
    if (status == SOTTO_OK && query->verifier.order_matters)
        status = try_copy(query, err);
    query->failed = status != SOTTO_OK;
    if (status == SOTTO_OK)
        *out = query;
    else
        sotto_query_close(query);
    return status;
}

const sotto_access *sotto_query_accessed(const sotto_query *query, size_t *count)
{
    *count = query->verifier.accessed_count;
    return query->verifier.accessed;
}

sotto_status sotto_query_column(const sotto_query *query, size_t *column, const char *name,
                                sotto_err *err)
{
    int columns = sqlite3_column_count(query->statement), found = 0;

    for (int i = 0; i < columns; i++) {
        const char *column_name = sqlite3_column_name(query->statement, i);

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

static bool read_value(sqlite3_stmt *statement, int column, sotto_value *value)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        *value = (sotto_value){.type = SOTTO_TYPE_INTEGER,
                               .as.integer = sqlite3_column_int64(statement, column)};
        return true;
    case SQLITE_FLOAT:
        *value = (sotto_value){.type = SOTTO_TYPE_REAL,
                               .as.real = sqlite3_column_double(statement, column)};
        return true;
    case SQLITE_TEXT: {
        const void *text = sqlite3_column_text(statement, column);
        size_t len = (size_t)sqlite3_column_bytes(statement, column);
        *value = (sotto_value){.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of(text, len)};
        return text != NULL;
    }
    case SQLITE_NULL:
        *value = (sotto_value){.type = SOTTO_TYPE_NULL};
        return true;
    default:
        *value = (sotto_value){.type = SOTTO_TYPE_NULL};
        return !SOTTO_RULE(no_raw_bytes);
    }
}

static sotto_status hand_out(sqlite3_stmt *statement, sotto_row_fn *row, void *context,
                             sotto_err *err)
{
    sotto_value values[MOST_COLUMNS]; /* clearing all of them would cost more than the row */
    int columns = sqlite3_column_count(statement);

    /* A schema that changed under the query may have given it more columns than it was compiled with. */
    if (columns > MOST_COLUMNS)
        return sotto_fail(err, SOTTO_TOO_LARGE, "query: %d columns", columns);
    for (int i = 0; i < columns; i++) {
        if (!read_value(statement, i, &values[i]))
            return sotto_fail(err, SOTTO_DENIED, "query: column %d holds raw bytes", i + 1);
    }
    return row(context, values, (size_t)columns, err);
}

static void start_pass(sotto_query *query, sqlite3 *db, unsigned passes)
{
    query->started = sotto_clock_monotonic(query->clock);
    query->steps = 0;
    query->passes = passes;
    sqlite3_progress_handler(db, STEPS_PER_LOOK, look_around, query);
}

/* `in_any_order` is whether the caller takes no row for the first: then a query that does not either is run on the
 * store itself, and its rows are the same whatever order they come in. */
static sotto_status start(sotto_query *query, sqlite3_stmt **out, bool in_any_order, sotto_err *err)
{
    bool copied = query->verifier.order_matters;

    *out = query->statement;
    query->heap = sqlite3_memory_used();
    query->over = NULL;
    start_pass(query, query->db, 1);
    if (SOTTO_RULE(first_in_order) && !in_any_order)
        copied = true;
    if (!copied)
        return SOTTO_OK;
    SOTTO_TRY(sotto_query_copy_open(&query->copy, &query->verifier, err));
    int code = fill_copy(query);
    if (code != SQLITE_OK)
        return failed(query, query->db, code, err);
    SOTTO_TRY(compile_on_copy(query, err));
    start_pass(query, query->copy, 1);
    *out = query->ordered;
    return SOTTO_OK;
}

static void stop(sotto_query *query)
{
    (void)sqlite3_reset(query->statement);
    sqlite3_progress_handler(query->db, 0, NULL, NULL);
    drop_copy(query);
}

static sotto_status too_many(const sotto_query *query, sotto_err *err)
{
    return sotto_fail(err, SOTTO_TOO_LARGE, "query: more than %u rows",
                      (unsigned)query->limits.rows);
}

sotto_status sotto_query_run(sotto_query *query, sotto_row_fn *row, void *context, sotto_err *err)
{
    sqlite3_stmt *statement;
    sotto_status status = start(query, &statement, false, err);
    uint32_t rows = 0;
    int code = SQLITE_DONE;

    while (status == SOTTO_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (rows++ == query->limits.rows && SOTTO_RULE(limit_rows))
            status = too_many(query, err);
        else
            status = hand_out(statement, row, context, err);
    }
    if (status == SOTTO_OK && code != SQLITE_DONE)
        status = failed(query, sqlite3_db_handle(statement), code, err);
    stop(query);
    return status;
}

/* ---- one row ---------------------------------------------------------------------------------------------- */

/* Stepping through 10,000 rows costs more than all the rest of a report, so SQLite counts them and passes over those
 * before the chosen one. Both statements are the query itself in brackets, compiled under the same authorizer: they
 * can read nothing that it doesn't. The one that counts is not reset before the other is done, so that both see the
 * same events. */
typedef struct bracketed {
    sqlite3_stmt *all; /* the query itself, over the store or the copy */
    sqlite3_stmt *count, *one;
} bracketed;

/* *out stays NULL for a query that has no place in brackets, such as one that ends in an open comment. */
static sotto_status put_in_brackets(sotto_query *query, const bracketed *b, sqlite3_stmt **out,
                                    const char *before, const char *after, sotto_err *err)
{
    sqlite3 *db = sqlite3_db_handle(b->all);
    const char *text = sqlite3_sql(b->all);
    size_t len = strlen(text), size = len + 128;
    char *sql = sotto_alloc(size);

    if (!sql)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    while (len > 0 && strchr(" \t\r\n;", text[len - 1]))
        len--;
    (void)snprintf(sql, size, "%s(\n%.*s\n)%s", before, (int)len, text, after);
    set_limit(db, SQLITE_LIMIT_SQL_LENGTH, size);
    int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_NO_VTAB, out, NULL);
    set_limit(db, SQLITE_LIMIT_SQL_LENGTH, query->limits.sql_bytes);
    sotto_release(sql, size);
    if (code == SQLITE_NOMEM)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    query->verifier.why =
        (sotto_err){0}; /* what is denied here is not run; the query itself was allowed */
    return SOTTO_OK;
}

/* Steps to the row with this number. */
static sotto_status step_to(sotto_query *query, sqlite3_stmt *statement, uint64_t number,
                            sotto_err *err)
{
    int code = SQLITE_ROW;

    for (uint64_t i = 0; i <= number && code == SQLITE_ROW; i++)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return SOTTO_OK;
    if (code == SQLITE_DONE)
        return sotto_fail(err, SOTTO_AGAIN, "query: events went while it ran");
    return failed(query, sqlite3_db_handle(statement), code, err);
}

static sotto_status count_rows(sotto_query *query, const bracketed *b, uint64_t *rows,
                               sotto_err *err)
{
    int code;

    *rows = 0;
    if (b->count) {
        SOTTO_TRY(step_to(query, b->count, 0, err));
        *rows = (uint64_t)sqlite3_column_int64(b->count, 0);
    } else {
        while ((code = sqlite3_step(b->all)) == SQLITE_ROW && *rows <= query->limits.rows)
            (*rows)++;
        (void)sqlite3_reset(b->all);
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            return failed(query, sqlite3_db_handle(b->all), code, err);
    }
    return *rows > query->limits.rows && SOTTO_RULE(limit_rows) ? too_many(query, err) : SOTTO_OK;
}

static sotto_status take_one(sotto_query *query, bracketed *b, sotto_choose_fn *choose,
                             sotto_row_fn *row, void *context, sotto_err *err)
{
    char after[48];
    uint64_t rows = 0, number;

    /* Not an answer: the number goes to `choose` and nowhere else, as it would if we counted while stepping. */
    query->verifier.counting = true;
    sotto_status status = put_in_brackets(query, b, &b->count, "SELECT count(*) FROM ", "", err);
    if (status == SOTTO_OK)
        status = count_rows(query, b, &rows, err);
    query->verifier.counting = false;
    if (status != SOTTO_OK || rows == 0)
        return status;
    SOTTO_TRY(choose(context, &number, rows, err));
    /* It takes a part of what counting took, and one row. With what counting left, whether it ends would depend on which
     * events come before the chosen one; so it has its own allowance, and more than it needs. */
    if (SOTTO_RULE(passes_apart))
        start_pass(query, sqlite3_db_handle(b->all), 2);
    (void)snprintf(after, sizeof after, " LIMIT 1 OFFSET %" PRIu64, number);
    if (b->count)
        SOTTO_TRY(put_in_brackets(query, b, &b->one, "SELECT * FROM ", after, err));
    SOTTO_TRY(b->one ? step_to(query, b->one, 0, err) : step_to(query, b->all, number, err));
    return hand_out(b->one ? b->one : b->all, row, context, err);
}

sotto_status sotto_query_one(sotto_query *query, sotto_choose_fn *choose, sotto_row_fn *row,
                             void *context, sotto_err *err)
{
    bracketed b = {NULL, NULL, NULL};
    sotto_status status = start(query, &b.all, true, err);

    if (status == SOTTO_OK)
        status = take_one(query, &b, choose, row, context, err);
    (void)sqlite3_finalize(b.one);
    (void)sqlite3_finalize(b.count);
    stop(query);
    return status;
}

sotto_status sotto_query_first(sotto_query *query, sotto_row_fn *row, void *context, sotto_err *err)
{
    sqlite3_stmt *statement;
    sotto_status status = start(query, &statement, false, err);

    if (status == SOTTO_OK) {
        int code = sqlite3_step(statement);

        if (code == SQLITE_ROW)
            status = hand_out(statement, row, context, err);
        else if (code != SQLITE_DONE)
            status = failed(query, sqlite3_db_handle(statement), code, err);
    }
    stop(query);
    return status;
}

void sotto_query_finish(sotto_query *query)
{
    drop_copy(query);
    (void)sqlite3_finalize(query->statement);
    query->statement = NULL;
    give_back(query);
}

void sotto_query_close(sotto_query *query)
{
    if (!query)
        return;
    sotto_query_finish(query);
    sotto_release(query, sizeof *query);
}

sqlite3 *sotto_query_connection(const sotto_query *query)
{
    return query->db;
}
