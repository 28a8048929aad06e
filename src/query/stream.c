#include "query/stream.h"

#include <stdio.h>
#include <string.h>

bool sotto_stream_name_valid(const char *name)
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
    if (!sotto_stream_name_valid(stream->name))
        return sotto_fail(err, SOTTO_MALFORMED, "stream '%.63s': not a valid name", stream->name);
    if (stream->field_count == 0 || stream->field_count > SOTTO_STORE_MAX_FIELDS)
        return sotto_fail(err, SOTTO_MALFORMED, "stream %s: %zu fields", stream->name,
                          stream->field_count);
    if (stream->max_age <= 0 || stream->max_rows == 0 || stream->max_rows > INT64_MAX / 2)
        return sotto_fail(err, SOTTO_MALFORMED, "stream %s: without limits on age and rows",
                          stream->name);
    for (size_t i = 0; i < stream->field_count; i++) {
        const sotto_field *field = &stream->fields[i];

        if (!sotto_stream_name_valid(field->name))
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

sotto_status sotto_streams_check(const sotto_stream *streams, size_t count, sotto_err *err)
{
    for (size_t i = 0; i < count; i++) {
        SOTTO_TRY(check_stream(&streams[i], err));
        for (size_t j = 0; j < i; j++) {
            if (strcmp(streams[i].name, streams[j].name) == 0)
                return sotto_fail(err, SOTTO_MALFORMED, "stream %s: twice", streams[i].name);
        }
    }
    return SOTTO_OK;
}

const char *sotto_type_name(sotto_type type)
{
    static const char *const names[] = {"null", "integer", "real", "text", "boolean"};

    return names[type];
}

static const char *column_type(sotto_type type)
{
    static const char *const names[] = {"", "INTEGER", "REAL", "TEXT", "INTEGER"};

    return names[type];
}

void sotto_stream_create(char out[SOTTO_STREAM_SQL], const sotto_stream *stream)
{
    const size_t size = SOTTO_STREAM_SQL;
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
