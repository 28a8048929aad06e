/* Streams as a small JSON file describes them. */
#include "device.h"

#include "recipe/calendar.h"

#include <string.h>

/* clang-format off */
const char sotto_device_streams_example[] =
    "{\n"
    "  \"keyboard_ngrams\": {\n"
    "    \"fields\": {\"age\": \"integer\", \"ngram\": \"text\", \"perplexity\": \"real\"},\n"
    "    \"max_age\": \"30d\",\n"
    "    \"max_rows\": 10000\n"
    "  }\n"
    "}\n";
/* clang-format on */

static sotto_type type_of(const char *name)
{
    static const char *const names[] = {[SOTTO_TYPE_INTEGER] = "integer",
                                        [SOTTO_TYPE_REAL] = "real",
                                        [SOTTO_TYPE_TEXT] = "text",
                                        [SOTTO_TYPE_BOOLEAN] = "boolean"};

    for (int i = SOTTO_TYPE_INTEGER; name && i <= SOTTO_TYPE_BOOLEAN; i++)
        if (strcmp(names[i], name) == 0)
            return (sotto_type)i;
    return SOTTO_TYPE_NULL;
}

static sotto_status read_fields(sotto_device_job *job, sotto_stream *stream, json_t *fields)
{
    size_t count = json_object_size(fields), i = 0;
    sotto_field *made = sotto_arena_take_array(&job->arena, count + 1, sizeof *made);
    const char *name;
    json_t *type;

    if (!made)
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "streams");
    json_object_foreach(fields, name, type)
    {
        made[i] = (sotto_field){sotto_device_keep(job, name), type_of(json_string_value(type))};
        if (made[i].type == SOTTO_TYPE_NULL)
            return sotto_fail(&job->err, SOTTO_MALFORMED,
                              "streams: %.60s.%.60s: neither integer, real, text nor boolean",
                              stream->name, name);
        if (!made[i++].name)
            return sotto_fail(&job->err, SOTTO_NO_MEMORY, "streams");
    }
    stream->fields = made;
    stream->field_count = count;
    return SOTTO_OK;
}

static sotto_status read_stream(sotto_device_job *job, sotto_stream *out, const char *name,
                                json_t *value)
{
    const char *age = NULL;
    json_int_t rows = 0;
    uint64_t seconds;
    json_t *fields = NULL;

    out->name = sotto_device_keep(job, name);
    if (!out->name)
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "streams");
    /* ! refuses any other key. */
    if (json_unpack(value, "{s:o, s:s, s:I !}", "fields", &fields, "max_age", &age, "max_rows",
                    &rows) != 0 ||
        !json_is_object(fields) || rows <= 0)
        return sotto_fail(&job->err, SOTTO_MALFORMED,
                          "streams: %.60s: needs fields (an object), max_age (such as \"30d\") and "
                          "max_rows, nothing else",
                          name);
    if (!sotto_calendar_parse_duration(&seconds, age))
        return sotto_fail(&job->err, SOTTO_MALFORMED,
                          "streams: %.60s: max_age: not such as \"30d\"", name);
    out->max_age = (int64_t)seconds;
    out->max_rows = (uint64_t)rows;
    return read_fields(job, out, fields);
}

static sotto_status read_each(sotto_device_job *job, json_t *root)
{
    size_t count = json_object_size(root), i = 0;
    sotto_stream *streams = sotto_arena_take_array(&job->arena, count + 1, sizeof *streams);
    const char *name;
    json_t *value;

    if (!streams)
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "streams");
    json_object_foreach(root, name, value) SOTTO_TRY(read_stream(job, &streams[i++], name, value));
    job->options.streams = streams;
    job->options.stream_count = count;
    return SOTTO_OK;
}

sotto_status sotto_device_read_streams(sotto_device_job *job, sotto_bytes json)
{
    json_error_t where;
    json_t *root = json_loadb((const char *)json.data, json.len, JSON_REJECT_DUPLICATES, &where);

    if (!json_is_object(root)) {
        json_decref(root);
        return root ? sotto_fail(&job->err, SOTTO_MALFORMED, "streams: no JSON object")
                    : sotto_fail(&job->err, SOTTO_MALFORMED, "streams: line %d, column %d: %.80s",
                                 where.line, where.column, where.text);
    }
    sotto_status status = read_each(job, root);
    json_decref(root);
    return status;
}
