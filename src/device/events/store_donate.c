#include "device/events/store_internal.h"

#include "base/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. NUL is refused too, since SQLite's
 * functions end a text there. */
static bool utf8_valid(sotto_bytes text)
{
    const uint8_t *at = text.data, *end = text.len ? text.data + text.len : text.data;

    while (at != end) {
        uint32_t lead = *at++;
        unsigned more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        uint32_t point = more == 0 ? lead : lead & (0x3fU >> more);
        static const uint32_t least[] = {1, 0x80, 0x800, 0x10000};

        if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || (size_t)(end - at) < more)
            return false;
        for (unsigned i = 0; i < more; i++, at++) {
            if ((*at & 0xc0) != 0x80)
                return false;
            point = point << 6 | (*at & 0x3fU);
        }
        if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
            return false;
    }
    return true;
}

static sotto_status check_value(const sotto_stream *stream, const sotto_field *field,
                                const sotto_value *value, sotto_err *err)
{
    bool fits = value->type == field->type;

    if (value->type == SOTTO_TYPE_NULL)
        return SOTTO_OK;
    if (value->type == SOTTO_TYPE_TEXT && value->as.text.len > SOTTO_STORE_MAX_TEXT)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%s.%s: a text of more than %d bytes", stream->name,
                          field->name, SOTTO_STORE_MAX_TEXT);
    if (fits && value->type == SOTTO_TYPE_REAL)
        fits = isfinite(value->as.real);
    else if (fits && value->type == SOTTO_TYPE_BOOLEAN)
        fits = value->as.integer == 0 || value->as.integer == 1;
    else if (fits && value->type == SOTTO_TYPE_TEXT)
        fits = utf8_valid(value->as.text);
    if (SOTTO_RULE(typed_values) && !fits)
        return sotto_fail(err, SOTTO_MALFORMED, "%s.%s: a value that does not fit the field",
                          stream->name, field->name);
    return SOTTO_OK;
}

static sotto_status check_event(const sotto_stream *stream, const sotto_event *event,
                                sotto_err *err)
{
    if (event->value_count != stream->field_count)
        return sotto_fail(err, SOTTO_MALFORMED, "stream %s: %zu values for %zu fields",
                          stream->name, event->value_count, stream->field_count);
    for (size_t i = 0; i < stream->field_count; i++)
        SOTTO_TRY(check_value(stream, &stream->fields[i], &event->values[i], err));
    return SOTTO_OK;
}

static sotto_status prepare_insert(sotto_store *store, size_t index, sotto_err *err)
{
    const sotto_stream *stream = &store->streams[index];
    char sql[512];
    size_t used = (size_t)snprintf(sql, sizeof sql, "INSERT INTO \"%s\" VALUES(?,?", stream->name);

    for (size_t i = 0; i < stream->field_count; i++)
        used += (size_t)snprintf(sql + used, sizeof sql - used, ",?");
    (void)snprintf(sql + used, sizeof sql - used, ") ON CONFLICT(" SOTTO_STORE_ID ") DO NOTHING");
    return sotto_sqlite_prepare(store->db, &store->tables[index].insert, sql, stream->name, err);
}

static int bind_value(sqlite3_stmt *statement, int at, const sotto_value *value)
{
    switch (value->type) {
    case SOTTO_TYPE_INTEGER:
    case SOTTO_TYPE_BOOLEAN:
        return sqlite3_bind_int64(statement, at, value->as.integer);
    case SOTTO_TYPE_REAL:
        return sqlite3_bind_double(statement, at, value->as.real);
    case SOTTO_TYPE_TEXT: /* an empty text may have no address, which would bind NULL */
        return sqlite3_bind_text(statement, at,
                                 value->as.text.len ? (const char *)value->as.text.data : "",
                                 (int)value->as.text.len, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(statement, at);
    }
}

static sotto_status insert(sotto_store *store, size_t index, const sotto_event *event, bool *added,
                           sotto_err *err)
{
    sotto_store_table *table = &store->tables[index];

    if (!table->insert)
        SOTTO_TRY(prepare_insert(store, index, err));
    int code = sqlite3_bind_blob(table->insert, 1, event->id, sizeof event->id, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(table->insert, 2, event->time);
    for (size_t i = 0; i < event->value_count && code == SQLITE_OK; i++)
        code = bind_value(table->insert, (int)i + 3, &event->values[i]);
    sotto_status status = code == SQLITE_OK ? sotto_sqlite_done(table->insert, event->stream, err)
                                            : sotto_sqlite_fail(err, code, event->stream);
    (void)sqlite3_clear_bindings(table->insert); /* they point into the caller's memory */
    *added = status == SOTTO_OK && sqlite3_changes(store->db) > 0;
    return status;
}

static sotto_status count_rows(sotto_store *store, size_t index, sotto_err *err)
{
    int64_t rows;

    if (store->tables[index].rows >= 0)
        return SOTTO_OK;
    SOTTO_TRY(sotto_store_rows(store, &rows, store->streams[index].name, err));
    store->tables[index].rows = rows;
    return SOTTO_OK;
}

/* An eighth of slack, so that a full stream is cut once in a while rather than at every donation. */
static sotto_status cut_streams(sotto_store *store, sotto_err *err)
{
    for (size_t i = 0; i < store->stream_count; i++) {
        const sotto_stream *stream = &store->streams[i];
        int64_t most = (int64_t)stream->max_rows;

        if (store->tables[i].rows <= most + most / 8)
            continue;
        SOTTO_TRY(sotto_store_drop_oldest(store, stream->name, stream->max_rows, err));
        store->tables[i].rows = most;
    }
    return sotto_store_fit(store, err);
}

static sotto_status donate(sotto_store *store, const sotto_event *events, size_t count,
                           size_t *added, sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t index;
        bool new_one;

        SOTTO_TRY(sotto_store_find(store, events[i].stream, &index, err));
        SOTTO_TRY(check_event(&store->streams[index], &events[i], err));
        SOTTO_TRY(count_rows(store, index, err));
        SOTTO_TRY(insert(store, index, &events[i], &new_one, err));
        store->tables[index].rows += new_one;
        *added += new_one;
    }
    return cut_streams(store, err);
}

static sotto_status donate_at_once(sotto_store *store, const sotto_event *events, size_t count,
                                   size_t *added, sotto_err *err)
{
    *added = 0;
    SOTTO_TRY(sotto_store_run(store, "BEGIN IMMEDIATE", "donation", err));
    sotto_status status = donate(store, events, count, added, err);
    if (status == SOTTO_OK)
        status = sotto_store_run(store, "COMMIT", "donation", err);
    if (status != SOTTO_OK) {
        sotto_sqlite_rollback(store->db);
        sotto_store_recount(store);
    }
    return status;
}

sotto_status sotto_store_donate(sotto_store *store, const sotto_event *events, size_t count,
                                size_t *added, sotto_err *err)
{
    sotto_status status;
    sotto_err why;
    size_t new_ones;
    int left = SOTTO_STORE_FOLLOWS;

    if (added)
        *added = 0;
    /* Asked again afterwards: no lock on a damaged file keeps another process from setting it aside before the commit. An
     * event is kept once, so donating it again is safe. */
    do {
        why = (sotto_err){0};
        SOTTO_TRY(sotto_store_follow(store, err));
        status = donate_at_once(store, events, count, &new_ones, &why);
    } while (!sotto_store_in_place(store) && --left > 0);
    if (left == 0)
        return sotto_store_restless(err);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s", why.reason);
    if (added)
        *added = new_ones;
    return SOTTO_OK;
}
