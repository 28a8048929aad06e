#include "device/events/store_internal.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <stdio.h>
#include <string.h>

/* Lower case only, so that SQLite's own case folding can't make two names one, and nothing to quote. */
bool sotto_store_name_valid(const char *name)
{
    static const char *const reserved[] = {"rowid", "oid", SOTTO_STORE_ID, SOTTO_STORE_TIME};
    size_t len = strlen(name);

    if (len == 0 || len > SOTTO_STORE_MAX_NAME || name[0] < 'a' || name[0] > 'z')
        return false;
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
        return false;
    if (strncmp(name, "sotto_", 6) == 0 || strncmp(name, "sqlite_", 7) == 0)
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcmp(name, reserved[i]) == 0)
            return false;
    }
    return true;
}

static sotto_status check_stream(const sotto_stream *stream, sotto_err *err)
{
    if (!sotto_store_name_valid(stream->name))
        return sotto_fail(err, SOTTO_MALFORMED, "stream '%.63s': not a valid name", stream->name);
    if (stream->field_count == 0 || stream->field_count > SOTTO_STORE_MAX_FIELDS)
        return sotto_fail(err, SOTTO_MALFORMED, "stream %s: %zu fields", stream->name,
                          stream->field_count);
    if (stream->max_age <= 0 || stream->max_rows == 0 || stream->max_rows > INT64_MAX / 2)
        return sotto_fail(err, SOTTO_MALFORMED, "stream %s: without limits on age and rows",
                          stream->name);
    for (size_t i = 0; i < stream->field_count; i++) {
        const sotto_field *field = &stream->fields[i];

        if (!sotto_store_name_valid(field->name))
            return sotto_fail(err, SOTTO_MALFORMED, "stream %s: field '%.63s': not a valid name",
                              stream->name, field->name);
        if (field->type < SOTTO_TYPE_INTEGER || field->type > SOTTO_TYPE_BOOLEAN)
            return sotto_fail(err, SOTTO_MALFORMED, "stream %s: field %s: no such type",
                              stream->name, field->name);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(stream->fields[j].name, field->name) == 0)
                return sotto_fail(err, SOTTO_MALFORMED, "stream %s: field %s: twice", stream->name,
                                  field->name);
        }
    }
    return SOTTO_OK;
}

static const char *copy_text(sotto_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = sotto_arena_take(arena, size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static bool copy_stream(sotto_arena *arena, sotto_stream *to, const sotto_stream *from)
{
    sotto_field *fields = sotto_arena_take_array(arena, from->field_count, sizeof *fields);

    if (!fields)
        return false;
    for (size_t i = 0; i < from->field_count; i++) {
        fields[i] = (sotto_field){copy_text(arena, from->fields[i].name), from->fields[i].type};
        if (!fields[i].name)
            return false;
    }
    *to = *from;
    to->fields = fields;
    to->name = copy_text(arena, from->name);
    return to->name != NULL;
}

sotto_status sotto_store_copy_streams(sotto_store *store, const sotto_store_options *options,
                                      sotto_err *err)
{
    size_t count = options->stream_count;
    size_t room = count ? count : 1; /* a store may be opened just to forget what is in it */

    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(check_stream(&options->streams[i], err));
        for (size_t j = 0; j < i; j++) {
            if (strcmp(options->streams[i].name, options->streams[j].name) == 0)
                return sotto_fail(err, SOTTO_MALFORMED, "stream %s: twice",
                                  options->streams[i].name);
        }
    }
    store->streams = sotto_arena_take_array(&store->arena, room, sizeof *store->streams);
    store->tables = sotto_arena_take_array(&store->arena, room, sizeof *store->tables);
    if (!store->streams || !store->tables)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu streams", count);
    for (size_t i = 0; i < count; i++) {
        if (!copy_stream(&store->arena, &store->streams[i], &options->streams[i]))
            return sotto_fail(err, SOTTO_NO_MEMORY, "%zu streams", count);
    }
    store->stream_count = count;
    return SOTTO_OK;
}

sotto_status sotto_store_find(const sotto_store *store, const char *stream, size_t *index,
                              sotto_err *err)
{
    for (*index = 0; *index < store->stream_count; (*index)++) {
        if (strcmp(store->streams[*index].name, stream) == 0)
            return SOTTO_OK;
    }
    return sotto_fail(err, SOTTO_MISSING, "stream '%.63s': not declared", stream);
}

static const char *type_name(sotto_type type)
{
    static const char *const names[] = {"null", "integer", "real", "text", "boolean"};

    return names[type];
}

static const char *column_type(sotto_type type)
{
    static const char *const names[] = {"", "INTEGER", "REAL", "TEXT", "INTEGER"};

    return names[type];
}

/* "age:integer,ngram:text": what a schema is compared by. */
static void describe(char *out, size_t size, const sotto_stream *stream)
{
    size_t used = 0;

    for (size_t i = 0; i < stream->field_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s:%s", i ? "," : "",
                                 stream->fields[i].name, type_name(stream->fields[i].type));
}

static void write_table(char *out, size_t size, const sotto_stream *stream)
{
    size_t used = (size_t)snprintf(out, size,
                                   "CREATE TABLE \"%s\"(" SOTTO_STORE_ID
                                   " BLOB NOT NULL UNIQUE, " SOTTO_STORE_TIME " INTEGER NOT NULL",
                                   stream->name);

    for (size_t i = 0; i < stream->field_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, ", \"%s\" %s", stream->fields[i].name,
                                 column_type(stream->fields[i].type));
    if (used < size)
        (void)snprintf(out + used, size - used, ") STRICT");
}

/* Retention's: without it every tick would look at every event. A store in memory holds few, and is opened often; a
 * file made before there was an index gets one. */
static sotto_status index_times(const sotto_store *store, const sotto_stream *stream,
                                sotto_err *err)
{
    char sql[2 * SOTTO_STORE_MAX_NAME + 80];

    if (store->memory)
        return SOTTO_OK;
    (void)snprintf(sql, sizeof sql,
                   "CREATE INDEX IF NOT EXISTS \"sotto_time_of_%s\" ON \"%s\"(" SOTTO_STORE_TIME
                   ")",
                   stream->name, stream->name);
    return sotto_sqlite_run(store->db, sql, stream->name, err);
}

static sotto_status same_fields(sqlite3_stmt *known, const sotto_stream *stream, const char *fields,
                                bool *exists, sotto_err *err)
{
    (void)sqlite3_bind_text(known, 1, stream->name, -1, SQLITE_STATIC);
    int code = sqlite3_step(known);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(known, 0) : NULL;
    bool same = text && strcmp(text, fields) == 0;

    *exists = code == SQLITE_ROW;
    (void)sqlite3_reset(known);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return sotto_sqlite_fail(err, code, "streams");
    if (*exists && !same && SOTTO_RULE(fixed_schema))
        return sotto_fail(err, SOTTO_DENIED, "stream %s: its fields are fixed, and were others",
                          stream->name);
    return SOTTO_OK;
}

static sotto_status lay_out_stream(sotto_store *store, const sotto_stream *stream,
                                   sqlite3_stmt *known, sqlite3_stmt *record, char *sql,
                                   sotto_err *err)
{
    bool exists;

    describe(sql, SOTTO_STORE_SQL, stream);
    SOTTO_TRY(same_fields(known, stream, sql, &exists, err));
    (void)sqlite3_bind_text(record, 1, stream->name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(record, 2, sql, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_int64(record, 3, stream->max_age);
    (void)sqlite3_bind_int64(record, 4, (sqlite3_int64)stream->max_rows);
    SOTTO_TRY(sotto_sqlite_done(record, "streams", err));
    if (!exists) {
        write_table(sql, SOTTO_STORE_SQL, stream);
        SOTTO_TRY(sotto_sqlite_run(store->db, sql, stream->name, err));
    }
    return index_times(store, stream, err);
}

static void absorb_text(sotto_hash *hash, const char *text)
{
    sotto_hash_update(hash, sotto_bytes_of(text, strlen(text) + 1));
}

static void absorb_number(sotto_hash *hash, uint64_t number)
{
    sotto_hash_update(hash, sotto_bytes_of(&number, sizeof number));
}

void sotto_store_layout(const sotto_store *store, uint8_t out[32])
{
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    absorb_text(&hash, "events");
    for (size_t i = 0; i < store->stream_count; i++) {
        const sotto_stream *stream = &store->streams[i];

        absorb_text(&hash, stream->name);
        absorb_number(&hash, (uint64_t)stream->max_age);
        absorb_number(&hash, stream->max_rows);
        absorb_number(&hash, stream->field_count);
        for (size_t j = 0; j < stream->field_count; j++) {
            absorb_text(&hash, stream->fields[j].name);
            absorb_number(&hash, (uint64_t)stream->fields[j].type);
        }
    }
    sotto_hash_final(&hash, out);
}

static const char own_tables[] =
    "CREATE TABLE IF NOT EXISTS sotto_streams(name TEXT PRIMARY KEY, fields TEXT NOT NULL,"
    " max_age INTEGER NOT NULL, max_rows INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS sotto_notes(name TEXT PRIMARY KEY, value INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;";
/* The WHERE keeps an unchanged rule from being a write, so that opening a store costs no sync. */
static const char record_stream[] =
    "INSERT INTO sotto_streams VALUES(?,?,?,?) ON CONFLICT(name) DO UPDATE SET"
    " max_age=excluded.max_age, max_rows=excluded.max_rows"
    " WHERE max_age<>excluded.max_age OR max_rows<>excluded.max_rows";

sotto_status sotto_store_lay_out(sotto_store *store, sotto_err *err)
{
    sqlite3_stmt *known = NULL, *record = NULL;

    SOTTO_TRY(sotto_sqlite_run(store->db, "BEGIN IMMEDIATE", "layout", err));
    char *sql = sotto_arena_take(&store->scratch, SOTTO_STORE_SQL);
    sotto_status status = SOTTO_OK;
    if (!sql)
        status = sotto_fail(err, SOTTO_NO_MEMORY, "layout");
    if (status == SOTTO_OK)
        status = sotto_sqlite_run(store->db, own_tables, "layout", err);
    if (status == SOTTO_OK)
        status = sotto_sqlite_prepare(
            store->db, &known, "SELECT fields FROM sotto_streams WHERE name=?", "layout", err);
    if (status == SOTTO_OK)
        status = sotto_sqlite_prepare(store->db, &record, record_stream, "layout", err);
    for (size_t i = 0; i < store->stream_count && status == SOTTO_OK; i++)
        status = lay_out_stream(store, &store->streams[i], known, record, sql, err);
    (void)sqlite3_finalize(known);
    (void)sqlite3_finalize(record);
    sotto_arena_clear(&store->scratch);
    if (status == SOTTO_OK)
        status = sotto_sqlite_run(store->db, "COMMIT", "layout", err);
    if (status != SOTTO_OK)
        sotto_sqlite_rollback(store->db);
    return status;
}
