#include "device/events/store_internal.h"

#include "base/rule.h"
#include "crypto/hash.h"
#include "query/stream.h"

#include <stdio.h>
#include <string.h>

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

    SOTTO_TRY(sotto_streams_check(options->streams, count, err));
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

static bool same_stream(const sotto_stream *a, const sotto_stream *b)
{
    if (strcmp(a->name, b->name) != 0 || a->max_age != b->max_age || a->max_rows != b->max_rows ||
        a->field_count != b->field_count)
        return false;
    for (size_t i = 0; i < a->field_count; i++)
        if (strcmp(a->fields[i].name, b->fields[i].name) != 0 ||
            a->fields[i].type != b->fields[i].type)
            return false;
    return true;
}

bool sotto_store_has_streams(const sotto_store *store, const sotto_stream *streams, size_t count)
{
    if (count != store->stream_count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!same_stream(&store->streams[i], &streams[i]))
            return false;
    return true;
}

/* "age:integer,ngram:text": what a schema is compared by. */
static void describe(char *out, size_t size, const sotto_stream *stream)
{
    size_t used = 0;

    for (size_t i = 0; i < stream->field_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s:%s", i ? "," : "",
                                 stream->fields[i].name, sotto_type_name(stream->fields[i].type));
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
    if (SOTTO_RULE(fixed_schema) && *exists && !same)
        return sotto_fail(err, SOTTO_DENIED, "stream %s: known with other fields", stream->name);
    return SOTTO_OK;
}

static sotto_status lay_out_stream(sotto_store *store, const sotto_stream *stream,
                                   sqlite3_stmt *known, sqlite3_stmt *record, char *sql,
                                   sotto_err *err)
{
    bool exists;

    describe(sql, SOTTO_STREAM_SQL, stream);
    SOTTO_TRY(same_fields(known, stream, sql, &exists, err));
    (void)sqlite3_bind_text(record, 1, stream->name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(record, 2, sql, -1, SQLITE_TRANSIENT);
    (void)sqlite3_bind_int64(record, 3, stream->max_age);
    (void)sqlite3_bind_int64(record, 4, (sqlite3_int64)stream->max_rows);
    SOTTO_TRY(sotto_sqlite_done(record, "streams", err));
    if (!exists) {
        sotto_stream_create(sql, stream);
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
    char *sql = sotto_arena_take(&store->scratch, SOTTO_STREAM_SQL);
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
