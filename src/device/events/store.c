#include "base/alloc.h"
#include "device/events/memory_image.h"
#include "device/events/query_internal.h"

#include <stdio.h>
#include <string.h>

enum { ARENA = 1 << 20, DEFAULT_BYTES = 64 << 20 };

/* ---- statements ------------------------------------------------------------------------------------------- */

sotto_status sotto_store_lend(sotto_store *store, sqlite3_stmt **out, const char *sql,
                              const char *what, sotto_err *err)
{
    return sotto_statements_lend(&store->statements, store->db, out, sql, what, err);
}

/* A store in a file is used rarely, and its statements would take memory that reports need. */
void sotto_store_release(sotto_store *store, sqlite3_stmt *statement)
{
    sotto_statements_release(&store->statements, store->db, statement,
                             store->memory ? SOTTO_STATEMENTS : 0);
}

sotto_status sotto_store_run(sotto_store *store, const char *sql, const char *what, sotto_err *err)
{
    sqlite3_stmt *statement;

    SOTTO_TRY(sotto_store_lend(store, &statement, sql, what, err));
    sotto_status status = sotto_sqlite_done(statement, what, err);
    sotto_store_release(store, statement);
    return status;
}

sotto_status sotto_store_number(sotto_store *store, int64_t *out, const char *sql, const char *what,
                                sotto_err *err)
{
    sqlite3_stmt *statement;

    *out = 0;
    SOTTO_TRY(sotto_store_lend(store, &statement, sql, what, err));
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    sotto_store_release(store, statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SOTTO_OK
                                                     : sotto_sqlite_fail(err, code, what);
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

static sotto_status fill_memory(sotto_store *store, const sotto_sqlite_options *options,
                                sotto_err *err)
{
    uint8_t layout[SOTTO_MEMORY_LAYOUT];
    bool copied;

    sotto_store_layout(store, layout);
    SOTTO_TRY(sotto_memory_image_copy(store->db, &copied, layout, err));
    if (copied)
        return SOTTO_OK;
    SOTTO_TRY(sotto_sqlite_claim(store->db, options, err));
    SOTTO_TRY(sotto_store_lay_out(store, err));
    sotto_memory_image_keep(store->db, layout);
    return SOTTO_OK;
}

static sotto_status open_file(sotto_store *store, sotto_err *err)
{
    const sotto_sqlite_options options = {.storage = &store->storage,
                                          .path = store->path,
                                          .memory = store->memory,
                                          .unclaimed = true,
                                          .application = SOTTO_SQLITE_EVENTS,
                                          .version = SOTTO_STORE_VERSION};

    SOTTO_TRY(sotto_sqlite_open(&store->db, &options, err));
    if (store->memory)
        return fill_memory(store, &options, err);
    SOTTO_TRY(sotto_sqlite_check(store->db, err));
    return sotto_store_lay_out(store, err);
}

/* The last connection that is closed takes the WAL along, and that should be one that may write. */
static void close_file(sotto_store *store)
{
    sotto_statements_drop(&store->statements);
    if (store->kept)
        sotto_linked_queries->drop(store);
    sotto_sqlite_close(store->reader);
    sotto_sqlite_close(store->db);
    store->reader = NULL;
    store->db = NULL;
}

/* The WAL belongs to the damaged file: replayed into a fresh one it would damage that too. */
static sotto_status move_aside(sotto_store *store, sotto_err *err)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};

    close_file(store);
    SOTTO_TRY(sotto_vfs_erase(&store->storage, store->aside, err));
    SOTTO_TRY(sotto_vfs_rename(&store->storage, store->path, store->aside, err));
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char name[SOTTO_VFS_PATH];

        (void)snprintf(name, sizeof name, "%s%s", store->path, beside[i]);
        SOTTO_TRY(sotto_vfs_erase(&store->storage, name, err));
    }
    return SOTTO_OK;
}

static sotto_status open_again(sotto_store *store, sotto_err *why)
{
    close_file(store);
    *why = (sotto_err){0};
    return open_file(store, why);
}

static sotto_status open_or_start_over(sotto_store *store, int64_t now, sotto_err *err)
{
    sotto_err why = {0};
    sotto_status status = open_file(store, &why);

    /* Another process may have found the same, and its fresh file is in place by now. */
    if (status == SOTTO_MALFORMED && !store->memory)
        status = open_again(store, &why);
    if (status != SOTTO_MALFORMED || store->memory)
        return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
    SOTTO_TRY(move_aside(store, err));
    SOTTO_TRY(open_file(store, err));
    store->was_set_aside = true;
    return sotto_store_note(store, "set_aside_at", now, err);
}

static void drop_inserts(sotto_store *store)
{
    for (size_t i = 0; i < store->stream_count; i++) {
        (void)sqlite3_finalize(store->tables[i].insert);
        store->tables[i].insert = NULL;
    }
}

/* Before the other file is opened: both would have one -shm. SQLite sees that this one has moved, and leaves the WAL
 * that has its name now alone. */
static void leave_file(sotto_store *store)
{
    drop_inserts(store);
    sotto_store_recount(store);
    close_file(store);
    store->marked = false;
}

bool sotto_store_in_place(const sotto_store *store)
{
    return store->memory || (store->db && sotto_sqlite_in_place(store->db));
}

sotto_status sotto_store_restless(sotto_err *err)
{
    return sotto_fail(err, SOTTO_IO, "the event file keeps being replaced");
}

sotto_status sotto_store_follow(sotto_store *store, sotto_err *err)
{
    if (sotto_store_in_place(store))
        return SOTTO_OK;
    leave_file(store);
    sotto_status status = open_or_start_over(store, store->opened_at, err);
    if (status != SOTTO_OK)
        leave_file(store); /* the next call tries again */
    return status;
}

static sotto_status fill(sotto_store *store, const sotto_store_options *options, sotto_err *err)
{
    store->memory = !options->path;
    store->opened_at = options->now;
    store->max_bytes = options->max_bytes ? options->max_bytes : DEFAULT_BYTES;
    if (options->storage)
        store->storage = *options->storage;
    if (store->memory)
        sotto_sqlite_memory_name(store->path, sizeof store->path);
    else if (strlen(options->path) > sizeof store->path - 16)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a path of %zu bytes", strlen(options->path));
    else
        (void)snprintf(store->path, sizeof store->path, "%s", options->path);
    (void)snprintf(store->aside, sizeof store->aside, "%.*s.corrupt", SOTTO_VFS_PATH - 16,
                   store->path);
    SOTTO_TRY(sotto_store_copy_streams(store, options, err));
    sotto_store_recount(store);
    return SOTTO_OK;
}

/* ---- stores in memory, used again ------------------------------------------------------------------------- */

bool sotto_store_blank(sotto_store *store)
{
    uint8_t layout[SOTTO_MEMORY_LAYOUT];

    if (!store->memory || !store->db)
        return false;
    sotto_store_layout(store, layout);
    store->marked = false;
    sotto_store_recount(store);
    return sotto_memory_image_restore(store->db, layout);
}

static bool reuse(sotto_store *store, const sotto_store_options *options)
{
    if (options->path || !sotto_store_has_streams(store, options->streams, options->stream_count))
        return false;
    store->opened_at = options->now;
    store->max_bytes = options->max_bytes ? options->max_bytes : DEFAULT_BYTES;
    return true;
}

sotto_status sotto_store_open(sotto_store **out, const sotto_store_options *options, sotto_err *err)
{
    if (options->spare && reuse(options->spare, options)) {
        *out = options->spare;
        return SOTTO_OK;
    }
    sotto_store_close(options->spare);
    sotto_store *store = sotto_alloc(sizeof *store);

    *out = NULL;
    if (!store)
        return sotto_fail(err, SOTTO_NO_MEMORY, "event store");
    sotto_arena_init(&store->arena, ARENA);
    sotto_arena_init(&store->scratch, ARENA);
    sotto_status status = fill(store, options, err);
    if (status == SOTTO_OK)
        status = open_or_start_over(store, options->now, err);
    if (status == SOTTO_OK)
        *out = store;
    else
        sotto_store_close(store);
    return status;
}

void sotto_store_close(sotto_store *store)
{
    if (!store)
        return;
    drop_inserts(store);
    close_file(store);
    sotto_arena_clear(&store->arena);
    sotto_arena_clear(&store->scratch);
    sotto_release(store, sizeof *store);
}

const char *sotto_store_set_aside(const sotto_store *store)
{
    return store->was_set_aside ? store->aside : NULL;
}

sotto_status sotto_store_rows(sotto_store *store, int64_t *rows, const char *name, sotto_err *err)
{
    char sql[128];

    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", name);
    return sotto_store_number(store, rows, sql, name, err);
}

sotto_status sotto_store_count(sotto_store *store, const char *stream, uint64_t *events,
                               sotto_err *err)
{
    int64_t rows;
    size_t index;

    *events = 0;
    SOTTO_TRY(sotto_store_find(store, stream, &index, err));
    SOTTO_TRY(sotto_store_rows(store, &rows, store->streams[index].name, err));
    *events = (uint64_t)rows;
    return SOTTO_OK;
}

static sotto_value column_value(sqlite3_stmt *statement, int column, sotto_type type)
{
    sotto_value value = {.type = type};

    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        value.type = SOTTO_TYPE_NULL;
    else if (type == SOTTO_TYPE_REAL)
        value.as.real = sqlite3_column_double(statement, column);
    else if (type == SOTTO_TYPE_TEXT) {
        const void *text = sqlite3_column_text(statement, column);
        value.as.text = sotto_bytes_of(text, (size_t)sqlite3_column_bytes(statement, column));
    } else
        value.as.integer = sqlite3_column_int64(statement, column);
    return value;
}

sotto_status sotto_store_show(sotto_store *store, const char *stream, uint64_t most,
                              sotto_row_fn *row, void *context, sotto_err *err)
{
    sotto_value values[SOTTO_STORE_MAX_FIELDS + 1];
    char sql[192];
    sqlite3_stmt *statement;
    size_t index;
    int code = SQLITE_DONE;

    SOTTO_TRY(sotto_store_find(store, stream, &index, err));
    SOTTO_TRY(sotto_store_follow(store, err));
    const sotto_stream *s = &store->streams[index];
    (void)snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" ORDER BY rowid DESC LIMIT %llu", s->name,
                   (unsigned long long)(most > INT64_MAX ? INT64_MAX : most));
    SOTTO_TRY(sotto_sqlite_prepare(store->db, &statement, sql, stream, err));
    sotto_status status = SOTTO_OK;
    while (status == SOTTO_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < s->field_count; i++)
            values[i] = column_value(statement, (int)i + 2, s->fields[i].type);
        values[s->field_count] = column_value(statement, 1, SOTTO_TYPE_INTEGER);
        status = row(context, values, s->field_count + 1, err);
    }
    (void)sqlite3_finalize(statement);
    if (status == SOTTO_OK && code != SQLITE_DONE)
        status = sotto_sqlite_fail(err, code, stream);
    return status;
}
