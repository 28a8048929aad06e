#include "device/events/query_internal.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "query/compile.h"
#include "query/copy.h"
#include "query/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Few steps between two looks at the clock, since one of them may be a LIKE over a long text. */
enum { STEPS_PER_LOOK = 20, MOST_COLUMNS = SOTTO_COMPILED_MAX_COLUMNS };

/* Pages of the event file also hold what the query may not read. So the number of pages that SQLite caches must not
 * decide whether the query passes its limit. */
static int64_t memory_taken(const sotto_query *query)
{
    int64_t taken = sotto_memory_held() - query->held;
    int pages = 0, most;

    if (taken > (int64_t)query->limits.memory)
        (void)sqlite3_db_status(query->db, SQLITE_DBSTATUS_CACHE_USED, &pages, &most, 0);
    return taken - pages;
}

static const char *limit_passed(const sotto_query *query)
{
    const sotto_query_limits *limits = &query->limits;

    if (SOTTO_RULE(limit_steps) && query->steps / query->passes > limits->steps)
        return "steps";
    if (SOTTO_RULE(limit_time) &&
        (sotto_clock_monotonic(query->clock) - query->started) / query->passes >
            limits->nanoseconds)
        return "time";
    if (SOTTO_RULE(limit_memory) && memory_taken(query) > (int64_t)limits->memory)
        return "memory";
    return NULL;
}

static int look_around(void *context)
{
    sotto_query *query = context;

    query->steps += STEPS_PER_LOOK;
    if (!query->over)
        query->over = limit_passed(query);
    return query->over != NULL;
}

static sotto_status failed(sotto_query *query, sqlite3 *db, int code, sotto_err *err)
{
    query->failed = true;
    if (query->over && query->verifier.why.status == SOTTO_OK)
        return sotto_fail(err, SOTTO_TOO_LARGE, "query: takes more %s than allowed", query->over);
    return sotto_compile_refused(&query->verifier, db, code, err);
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
    int code = sotto_compile_prepare(query->copy, &query->ordered, &query->verifier,
                                     sotto_bytes_of(text, strlen(text)), NULL);

    if (code != SQLITE_OK || query->verifier.why.status != SOTTO_OK)
        return failed(query, query->copy, code, err);
    return SOTTO_OK;
}

/* A sort takes each row whole, longer than a value of the query's may be. */
static int fill_copy(sotto_query *query)
{
    sotto_compile_limit(query->db, SQLITE_LIMIT_LENGTH, 4 * SOTTO_SQLITE_MAX_VALUE);
    sotto_compile_limit(query->db, SQLITE_LIMIT_SQL_LENGTH, SOTTO_SQLITE_MAX_VALUE);
    query->verifier.counting = true;
    int code = sotto_query_copy_fill(query->copy, query->db, &query->verifier);
    query->verifier.counting = false;
    sotto_compile_limits(query->db, &query->limits);
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

/* To open one takes as long as a report's proof. It is kept without cached pages, statements or authorizer. After any
 * failure it is closed instead. */
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
    const bool stays = sotto_linked_queries && store->memory;
    sotto_query *query = stays ? sotto_linked_queries->take(store, policy, sql) : NULL;

    *out = query;
    if (query) {
        query->clock = clock ? clock : &sotto_clock_system;
        return SOTTO_OK;
    }
    query = sotto_alloc(sizeof *query);
    if (!query)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    query->stays = stays;
    query->clock = clock ? clock : &sotto_clock_system;
    query->limits = sotto_query_limits_of(policy);
    sotto_verifier_init(&query->verifier, policy, store->streams, store->stream_count);
    query->store = store;
    sotto_status status = borrow(query, err);
    if (status == SOTTO_OK)
        status = sotto_compile(query->db, &query->statement, &query->verifier, sql, err);
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
    return sotto_compiled_column(query->statement, column, name, err);
}

size_t sotto_query_columns(const sotto_query *query, const char **names, size_t room)
{
    const int count = sqlite3_column_count(query->statement);
    size_t i = 0;

    for (; i < room && (int)i < count; i++)
        names[i] = sqlite3_column_name(query->statement, (int)i);
    return i;
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
        return false;
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

/* `in_any_order` is whether the caller treats no row as the first. Then a query that does not either is run on the
 * store itself, and its rows are the same whatever order they come in. */
static sotto_status start(sotto_query *query, sqlite3_stmt **out, bool in_any_order, sotto_err *err)
{
    bool copied = query->verifier.order_matters || !in_any_order;

    *out = query->statement;
    if (SOTTO_RULE(memory_counted) && !sotto_memory_counted())
        return sotto_fail(err, SOTTO_DENIED, "query: SQLite counts no memory in this process");
    query->held = sotto_memory_held();
    query->over = NULL;
    start_pass(query, query->db, 1);
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
        if (SOTTO_RULE(limit_rows) && rows == query->limits.rows) {
            status = too_many(query, err);
            break;
        }
        rows++;
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

/* *out stays NULL for a query that has no place in brackets, such as one that ends in an open comment. */
static sotto_status put_in_brackets(sotto_query *query, sqlite3_stmt *all, sqlite3_stmt **out,
                                    const char *before, const char *after, sotto_err *err)
{
    sqlite3 *db = sqlite3_db_handle(all);
    const char *text = sqlite3_sql(all);
    size_t len = strlen(text), size = len + 128;
    char *sql = sotto_alloc(size);

    if (!sql)
        return sotto_fail(err, SOTTO_NO_MEMORY, "query");
    while (len > 0 && strchr(" \t\r\n;", text[len - 1]))
        len--;
    (void)snprintf(sql, size, "%s(\n%.*s\n)%s", before, (int)len, text, after);
    sotto_compile_limit(db, SQLITE_LIMIT_SQL_LENGTH, size);
    int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_NO_VTAB, out, NULL);
    sotto_compile_limit(db, SQLITE_LIMIT_SQL_LENGTH, query->limits.sql_bytes);
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
        return sotto_fail(err, SOTTO_AGAIN, "query: events were erased meanwhile");
    return failed(query, sqlite3_db_handle(statement), code, err);
}

static sotto_status count_rows(sotto_query *query, sqlite3_stmt *all, uint64_t *rows,
                               sotto_err *err)
{
    int code;

    *rows = 0;
    if (query->count) {
        SOTTO_TRY(step_to(query, query->count, 0, err));
        *rows = (uint64_t)sqlite3_column_int64(query->count, 0);
    } else {
        while ((code = sqlite3_step(all)) == SQLITE_ROW && *rows <= query->limits.rows)
            (*rows)++;
        (void)sqlite3_reset(all);
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            return failed(query, sqlite3_db_handle(all), code, err);
    }
    if (SOTTO_RULE(limit_rows) && *rows > query->limits.rows)
        return too_many(query, err);
    return SOTTO_OK;
}

static void drop_brackets(sotto_query *query)
{
    (void)sqlite3_finalize(query->one);
    (void)sqlite3_finalize(query->count);
    query->one = NULL;
    query->count = NULL;
}

/* One of those that are kept may pass over another number of rows. */
static sotto_status pass_over(sotto_query *query, sqlite3_stmt *all, uint64_t number,
                              sotto_err *err)
{
    char after[48];

    if (query->one && query->passed == number)
        return SOTTO_OK;
    (void)sqlite3_finalize(query->one);
    query->one = NULL;
    query->passed = number;
    (void)snprintf(after, sizeof after, " LIMIT 1 OFFSET %" PRIu64, number);
    return put_in_brackets(query, all, &query->one, "SELECT * FROM ", after, err);
}

static sotto_status take_one(sotto_query *query, sqlite3_stmt *all, sotto_choose_fn *choose,
                             sotto_row_fn *row, void *context, sotto_err *err)
{
    sotto_status status = SOTTO_OK;
    uint64_t rows = 0, number;

    /* Not an answer: the number goes to `choose` and nowhere else, as it would if we counted while stepping. */
    query->verifier.counting = true;
    if (!query->count)
        status = put_in_brackets(query, all, &query->count, "SELECT count(*) FROM ", "", err);
    if (status == SOTTO_OK)
        status = count_rows(query, all, &rows, err);
    query->verifier.counting = false;
    if (status != SOTTO_OK || rows == 0)
        return status;
    SOTTO_TRY(choose(context, &number, rows, err));
    /* It takes a part of what counting took, and one row. With what counting left, whether it ends would depend on which
     * events come before the chosen one; so it has its own allowance, and more than it needs. */
    start_pass(query, sqlite3_db_handle(all), 2);
    if (query->count)
        SOTTO_TRY(pass_over(query, all, number, err));
    SOTTO_TRY(query->one ? step_to(query, query->one, 0, err) : step_to(query, all, number, err));
    return hand_out(query->one ? query->one : all, row, context, err);
}

sotto_status sotto_query_one(sotto_query *query, sotto_choose_fn *choose, sotto_row_fn *row,
                             void *context, sotto_err *err)
{
    sqlite3_stmt *all;
    sotto_status status = start(query, &all, true, err);

    if (status == SOTTO_OK)
        status = take_one(query, all, choose, row, context, err);
    if (query->copy || !query->stays)
        drop_brackets(query);
    (void)sqlite3_reset(query->one);
    (void)sqlite3_reset(query->count);
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
    if (query->stays && !query->failed)
        return;
    drop_brackets(query);
    (void)sqlite3_finalize(query->statement);
    query->statement = NULL;
    give_back(query);
}

void sotto_query_close(sotto_query *query)
{
    if (!query || (query->stays && !query->failed && sotto_linked_queries->keep(query)))
        return;
    query->stays = false;
    sotto_query_finish(query);
    sotto_release(query, sizeof *query);
}

sqlite3 *sotto_query_connection(const sotto_query *query)
{
    return query->db;
}
