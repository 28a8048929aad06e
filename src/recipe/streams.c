/* Streams as a small JSON file describes them, by the table that docs/recipe.md is printed from. */
#include "recipe/model.h"
#include "recipe/schema.h"

#include "query/stream.h"

#include <string.h>

static sotto_type type_of(const char *name)
{
    static const char *const names[] = {[SOTTO_TYPE_INTEGER] = "integer",
                                        [SOTTO_TYPE_REAL] = "real",
                                        [SOTTO_TYPE_TEXT] = "text",
                                        [SOTTO_TYPE_BOOLEAN] = "boolean"};

    for (int i = SOTTO_TYPE_INTEGER; i <= SOTTO_TYPE_BOOLEAN; i++)
        if (strcmp(names[i], name) == 0)
            return (sotto_type)i;
    return SOTTO_TYPE_NULL;
}

static void read_fields(sotto_reading *r, sotto_stream *out, json_t *fields)
{
    sotto_field *made = sotto_reading_take(r, json_object_size(fields), sizeof *made);
    const char *name;
    json_t *type;

    out->fields = made;
    if (!made)
        return;
    json_object_foreach(fields, name, type)
    {
        made[out->field_count++] =
            (sotto_field){sotto_reading_copy(r, name), type_of(json_string_value(type))};
    }
}

static void read_all(sotto_reading *r, sotto_streams *out)
{
    sotto_stream *made = sotto_reading_take(r, json_object_size(r->root), sizeof *made);
    const char *name;
    json_t *json;

    out->items = made;
    if (!made)
        return;
    json_object_foreach(r->root, name, json)
    {
        sotto_stream *stream = &made[out->count++];

        stream->name = sotto_reading_copy(r, name);
        stream->max_age = (int64_t)sotto_reading_duration(json, "max_age");
        stream->max_rows = (uint64_t)json_integer_value(json_object_get(json, "max_rows"));
        read_fields(r, stream, json_object_get(json, "fields"));
    }
}

sotto_status sotto_streams_read(const sotto_streams **out, sotto_bytes json, sotto_arena *arena,
                                sotto_mistakes *mistakes, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_reading r;
    sotto_streams *streams = NULL;
    sotto_status status = sotto_reading_open(&r, "streams", json, arena, mistakes, err);

    *out = NULL;
    if (status == SOTTO_OK)
        streams = sotto_reading_take(&r, 1, sizeof *streams);
    if (streams && mistakes->errors == 0)
        read_all(&r, streams);
    if (status == SOTTO_OK)
        status = sotto_reading_finish(&r, err);
    sotto_reading_close(&r);
    if (status == SOTTO_OK && streams) /* names, and how many fields there are */
        status = sotto_streams_check(streams->items, streams->count, err);
    if (status == SOTTO_OK)
        *out = streams;
    return status;
}
