#include "device/events/store_internal.h"

#include "base/rule.h"
#include "query/stream.h"

#include <stdio.h>
#include <string.h>

enum { SQL = 384, MOST_STREAMS = 256, FIT_ROUNDS = 64 };

/* A stream as the file knows it, which may be more than the host declared this time. */
typedef struct kept_stream {
    char name[SOTTO_STORE_MAX_NAME + 1];
    int64_t max_age;
    int64_t max_rows;
} kept_stream;

typedef struct kept_list {
    kept_stream streams[MOST_STREAMS];
    size_t count;
} kept_list;

sotto_status sotto_store_note(sotto_store *store, const char *name, int64_t value, sotto_err *err)
{
    char sql[SQL];

    (void)snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO sotto_notes VALUES('%s',%lld)", name,
                   (long long)value);
    return sotto_store_run(store, sql, "notes", err);
}

typedef struct kept_notes {
    int64_t erase_pending;
    int64_t set_aside_at;
    int64_t tick;
} kept_notes;

static sotto_status read_notes(sotto_store *store, kept_notes *out, sotto_err *err)
{
    sqlite3_stmt *statement;
    int code;

    *out = (kept_notes){0};
    SOTTO_TRY(
        sotto_store_lend(store, &statement, "SELECT name, value FROM sotto_notes", "notes", err));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);

        if (name && strcmp(name, "erase_pending") == 0)
            out->erase_pending = sqlite3_column_int64(statement, 1);
        if (name && strcmp(name, "set_aside_at") == 0)
            out->set_aside_at = sqlite3_column_int64(statement, 1);
        if (name && strcmp(name, "tick") == 0)
            out->tick = sqlite3_column_int64(statement, 1);
    }
    sotto_store_release(store, statement);
    return code == SQLITE_DONE ? SOTTO_OK : sotto_sqlite_fail(err, code, "notes");
}

sotto_status sotto_store_note_tick(sotto_store *store, int64_t conditions, sotto_err *err)
{
    SOTTO_TRY(sotto_store_follow(store, err));
    return sotto_store_note(store, "tick", conditions, err);
}

sotto_status sotto_store_noted_tick(sotto_store *store, int64_t *conditions, sotto_err *err)
{
    kept_notes notes;

    *conditions = 0;
    SOTTO_TRY(sotto_store_follow(store, err));
    SOTTO_TRY(read_notes(store, &notes, err));
    *conditions = notes.tick;
    return SOTTO_OK;
}

void sotto_store_recount(sotto_store *store)
{
    for (size_t i = 0; i < store->stream_count; i++)
        store->tables[i].rows = -1;
}

static sotto_status list_streams(sotto_store *store, kept_list *list, sotto_err *err)
{
    sqlite3_stmt *statement;
    int code;

    list->count = 0;
    SOTTO_TRY(sotto_store_lend(
        store, &statement, "SELECT name, max_age, max_rows FROM sotto_streams", "streams", err));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && list->count < MOST_STREAMS) {
        kept_stream *kept = &list->streams[list->count];
        const char *name = (const char *)sqlite3_column_text(statement, 0);

        if (!name || !sotto_stream_name_valid(name))
            break; /* not written by us: refuse below rather than build SQL from it */
        (void)snprintf(kept->name, sizeof kept->name, "%s", name);
        kept->max_age = sqlite3_column_int64(statement, 1);
        kept->max_rows = sqlite3_column_int64(statement, 2);
        list->count++;
    }
    sotto_store_release(store, statement);
    if (code == SQLITE_ROW)
        return sotto_fail(err, SOTTO_MALFORMED, "streams: a name that is not valid, or too many");
    return code == SQLITE_DONE ? SOTTO_OK : sotto_sqlite_fail(err, code, "streams");
}

/* Rows that went leave bytes behind until erase_bytes; the note remembers that across a crash. */
static sotto_status drop_rows(sotto_store *store, const char *stream, const char *sql,
                              sotto_err *err)
{
    int before = sqlite3_total_changes(store->db);

    SOTTO_TRY(sotto_store_run(store, sql, stream, err));
    if (sqlite3_total_changes(store->db) == before)
        return SOTTO_OK;
    return sotto_store_note(store, "erase_pending", 1, err);
}

/* At most as many rows as numbers from the first to the last. That takes two lookups; a count would read every
 * row. */
static sotto_status rows_at_most(sotto_store *store, const char *stream, int64_t *rows,
                                 sotto_err *err)
{
    char sql[SQL];

    (void)snprintf(sql, sizeof sql,
                   "SELECT (SELECT max(rowid) FROM \"%s\") - (SELECT min(rowid) FROM \"%s\") + 1",
                   stream, stream);
    return sotto_store_number(store, rows, sql, stream, err);
}

sotto_status sotto_store_drop_oldest(sotto_store *store, const char *stream, uint64_t keep,
                                     sotto_err *err)
{
    char sql[SQL];
    int64_t most;

    SOTTO_TRY(rows_at_most(store, stream, &most, err));
    if (most >= 0 && (uint64_t)most <= keep)
        return SOTTO_OK;
    (void)snprintf(sql, sizeof sql,
                   "DELETE FROM \"%s\" WHERE rowid <= (SELECT rowid FROM \"%s\""
                   " ORDER BY rowid DESC LIMIT 1 OFFSET %llu)",
                   stream, stream, (unsigned long long)keep);
    return drop_rows(store, stream, sql, err);
}

static sotto_status drop_aged(sotto_store *store, const kept_stream *kept, int64_t now,
                              sotto_err *err)
{
    char sql[SQL];

    (void)snprintf(sql, sizeof sql,
                   "UPDATE \"%s\" SET " SOTTO_STORE_TIME "=%lld WHERE " SOTTO_STORE_TIME ">%lld",
                   kept->name, (long long)now, (long long)now);
    SOTTO_TRY(sotto_store_run(store, sql, kept->name, err));
    if (now < INT64_MIN + kept->max_age)
        return SOTTO_OK;
    (void)snprintf(sql, sizeof sql, "DELETE FROM \"%s\" WHERE " SOTTO_STORE_TIME "<%lld",
                   kept->name, (long long)(now - kept->max_age));
    return drop_rows(store, kept->name, sql, err);
}

static sotto_status within_bytes(sotto_store *store, bool *within, sotto_err *err)
{
    int64_t pages, unused, size;

    SOTTO_TRY(sotto_store_number(store, &pages, "PRAGMA page_count", "size", err));
    SOTTO_TRY(sotto_store_number(store, &unused, "PRAGMA freelist_count", "size", err));
    SOTTO_TRY(sotto_store_number(store, &size, "PRAGMA page_size", "size", err));
    *within = (uint64_t)(pages - unused) * (uint64_t)size <= store->max_bytes;
    return SOTTO_OK;
}

/* An eighth of every stream at a time: the stream that fills the store gives most, and none is emptied to
 * make room for another. */
static sotto_status drop_eighths(sotto_store *store, const kept_list *list, sotto_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->streams[i].name;
        int64_t rows;

        SOTTO_TRY(sotto_store_rows(store, &rows, name, err));
        SOTTO_TRY(sotto_store_drop_oldest(store, name, (uint64_t)(rows - rows / 8), err));
    }
    sotto_store_recount(store);
    return SOTTO_OK;
}

/* Tens of KiB of cached pages, freed for the report that is made next. */
static sotto_status take_list(sotto_store *store, kept_list **list, sotto_err *err)
{
    *list = sotto_arena_take(&store->scratch, sizeof **list);
    if (!*list)
        return sotto_fail(err, SOTTO_NO_MEMORY, "streams");
    return list_streams(store, *list, err);
}

static sotto_status fit(sotto_store *store, const kept_list *list, sotto_err *err)
{
    bool within = false;

    for (int round = 0; round < FIT_ROUNDS; round++) {
        SOTTO_TRY(within_bytes(store, &within, err));
        if (within)
            break;
        SOTTO_TRY(drop_eighths(store, list, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_store_fit(sotto_store *store, sotto_err *err)
{
    kept_list *list;
    bool within;

    SOTTO_TRY(within_bytes(store, &within, err));
    if (within) /* nearly always true: then the list need not be read */
        return SOTTO_OK;
    sotto_status status = take_list(store, &list, err);
    if (status == SOTTO_OK)
        status = fit(store, list, err);
    sotto_arena_clear(&store->scratch);
    return status;
}

static sotto_status drop_expired(sotto_store *store, const kept_list *list, int64_t now,
                                 sotto_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const kept_stream *kept = &list->streams[i];

        /* A host can't have declared this value, and times are computed with it. */
        if (SOTTO_RULE(retention_as_declared) && (kept->max_age <= 0 || kept->max_rows <= 0))
            return sotto_fail(err, SOTTO_MALFORMED, "%s: no retention rule", kept->name);
        SOTTO_TRY(drop_aged(store, kept, now, err));
        SOTTO_TRY(sotto_store_drop_oldest(store, kept->name, (uint64_t)kept->max_rows, err));
    }
    return fit(store, list, err);
}

static sotto_status drop_all(sotto_store *store, const kept_list *list, const char *stream,
                             sotto_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->streams[i].name;
        char sql[SQL];

        if (stream && strcmp(name, stream) != 0)
            continue;
        (void)snprintf(sql, sizeof sql, "DELETE FROM \"%s\"", name);
        SOTTO_TRY(drop_rows(store, name, sql, err));
    }
    return SOTTO_OK;
}

/* secure_delete zeroes what is freed, but a page that was rebalanced can keep a stale copy of a row in its
 * gap, and the WAL keeps whole old pages. Writing every page anew and cutting the WAL leaves neither. The WAL
 * is cut even where no row went: it may hold a donation whose commit failed half way. */
static sotto_status erase_bytes(sotto_store *store, const kept_notes *notes, sotto_err *err)
{
    bool pending = notes->erase_pending != 0;

    if (pending)
        SOTTO_TRY(sotto_store_run(store, "VACUUM", "erasing", err));
    if (!store->memory)
        SOTTO_TRY(sotto_sqlite_truncate_wal(store->db, err));
    return pending ? sotto_store_note(store, "erase_pending", 0, err) : SOTTO_OK;
}

static sotto_status erase_aside(sotto_store *store, sotto_err *err)
{
    if (store->memory)
        return SOTTO_OK;
    return sotto_vfs_erase(&store->storage, store->aside, err);
}

/* What was set aside held events as old as the oldest rule allows. */
static sotto_status expire_aside(sotto_store *store, const kept_list *list, const kept_notes *notes,
                                 int64_t now, sotto_err *err)
{
    int64_t since = notes->set_aside_at, longest = 0;

    for (size_t i = 0; i < list->count; i++)
        longest = list->streams[i].max_age > longest ? list->streams[i].max_age : longest;
    if (now >= since && now - since <= longest)
        return SOTTO_OK;
    return erase_aside(store, err);
}

/* What is dropped and the note that it must be erased are one transaction. */
static sotto_status commit(sotto_store *store, sotto_status status, sotto_err *err)
{
    if (status == SOTTO_OK)
        status = sotto_store_run(store, "COMMIT", "erasing", err);
    if (status != SOTTO_OK)
        sotto_sqlite_rollback(store->db);
    sotto_store_recount(store);
    return status;
}

/* The list behind BEGIN: another process may have declared a stream, and donated to it, while we waited. */
static sotto_status begin(sotto_store *store, kept_list **list, sotto_err *err)
{
    SOTTO_TRY(sotto_store_follow(store, err));
    SOTTO_TRY(sotto_store_run(store, "BEGIN IMMEDIATE", "erasing", err));
    sotto_status status = take_list(store, list, err);
    if (status != SOTTO_OK)
        sotto_sqlite_rollback(store->db);
    return status;
}

/* Whether a stream has events that are too old, from the future, or too many: may be true by mistake,
 * never false. */
static sotto_status is_due(sotto_store *store, const kept_stream *kept, int64_t now, bool *due,
                           sotto_err *err)
{
    char sql[2 * SQL];
    int64_t found;

    *due = true;
    if (kept->max_age <= 0 || kept->max_rows <= 0) /* which drop_expired refuses */
        return SOTTO_OK;
    int64_t oldest = now < INT64_MIN + kept->max_age ? INT64_MIN + 1 : now - kept->max_age;
    (void)snprintf(sql, sizeof sql,
                   "SELECT (SELECT min(" SOTTO_STORE_TIME
                   ") FROM \"%s\")<%lld OR (SELECT max(" SOTTO_STORE_TIME
                   ") FROM \"%s\")>%lld OR (SELECT max(rowid) FROM \"%s\")-"
                   "(SELECT min(rowid) FROM \"%s\")>=%lld",
                   kept->name, (long long)oldest, kept->name, (long long)now, kept->name,
                   kept->name, (long long)kept->max_rows);
    SOTTO_TRY(sotto_store_number(store, &found, sql, kept->name, err));
    *due = found != 0;
    return SOTTO_OK;
}

typedef struct survey {
    kept_list *list;
    kept_notes notes;
    bool due;
} survey;

static sotto_status look_around(sotto_store *store, survey *out, int64_t now, sotto_err *err)
{
    out->due = !sotto_sqlite_smaller(store->db, store->memory, store->max_bytes);
    SOTTO_TRY(take_list(store, &out->list, err));
    for (size_t i = 0; i < out->list->count && !out->due; i++)
        SOTTO_TRY(is_due(store, &out->list->streams[i], now, &out->due, err));
    return read_notes(store, &out->notes, err);
}

/* Nearly always there is nothing to do, and a quick look shows that. It is one snapshot, since another process may be
 * declaring a stream. */
static sotto_status look(sotto_store *store, survey *out, int64_t now, sotto_err *err)
{
    SOTTO_TRY(sotto_store_follow(store, err));
    SOTTO_TRY(sotto_store_run(store, "BEGIN", "retention", err));
    sotto_status status = look_around(store, out, now, err);
    sotto_sqlite_rollback(store->db);
    return status;
}

static sotto_status retain(sotto_store *store, survey *s, int64_t now, sotto_err *err)
{
    SOTTO_TRY(look(store, s, now, err));
    if (s->due) {
        sotto_arena_reset(&store->scratch);
        SOTTO_TRY(begin(store, &s->list, err));
        SOTTO_TRY(commit(store, drop_expired(store, s->list, now, err), err));
        SOTTO_TRY(read_notes(store, &s->notes, err));
    }
    return expire_aside(store, s->list, &s->notes, now, err);
}

sotto_status sotto_store_retain(sotto_store *store, int64_t now, sotto_err *err)
{
    survey s = {0};
    sotto_status status = retain(store, &s, now, err);

    sotto_arena_clear(&store->scratch);
    return status == SOTTO_OK ? erase_bytes(store, &s.notes, err) : status;
}

static sotto_status forget(sotto_store *store, const char *stream, sotto_err *err)
{
    kept_list *list;

    SOTTO_TRY(begin(store, &list, err));
    return commit(store, drop_all(store, list, stream, err), err);
}

/* What was set aside can't be told apart by streams: it goes with any of them. */
static sotto_status forget_at_once(sotto_store *store, const char *stream, sotto_err *err)
{
    kept_notes notes;
    sotto_status status = forget(store, stream, err);

    sotto_arena_clear(&store->scratch);
    SOTTO_TRY(status);
    SOTTO_TRY(erase_aside(store, err));
    SOTTO_TRY(read_notes(store, &notes, err));
    return erase_bytes(store, &notes, err);
}

sotto_status sotto_store_forget(sotto_store *store, const char *stream, sotto_err *err)
{
    sotto_status status;
    sotto_err why;
    size_t index;
    int left = SOTTO_STORE_FOLLOWS;

    if (stream)
        SOTTO_TRY(sotto_store_find(store, stream, &index, err));
    do { /* what another process set aside meanwhile is forgotten as well */
        why = (sotto_err){0};
        status = forget_at_once(store, stream, &why);
    } while (store->db && !sotto_store_in_place(store) && --left > 0);
    if (left == 0)
        return sotto_store_restless(err);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%s", why.reason);
}
