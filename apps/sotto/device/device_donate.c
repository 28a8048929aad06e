/* Events from lines of JSON. */
#include "device.h"

#include "base/hex.h"
#include "query/stream.h"
#include "recipe/calendar.h"
#include "sotto/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100 };

/* Events of one transaction; their texts live in the rows they were read from. */
typedef struct batch {
    size_t count;
    json_t *rows[BATCH];
    sotto_event events[BATCH];
    sotto_value values[BATCH][SOTTO_STORE_MAX_FIELDS];
} batch;

static const sotto_stream *find_stream(const sotto_device_job *job, const char *name)
{
    for (size_t i = 0; i < job->options.stream_count; i++)
        if (strcmp(job->options.streams[i].name, name) == 0)
            return &job->options.streams[i];
    return NULL;
}

static bool read_value(sotto_value *out, sotto_type type, const json_t *value)
{
    *out = (sotto_value){.type = SOTTO_TYPE_NULL};
    if (!value || json_is_null(value))
        return true;
    out->type = type;
    switch (type) {
    case SOTTO_TYPE_INTEGER:
        out->as.integer = json_integer_value(value);
        return json_is_integer(value);
    case SOTTO_TYPE_REAL:
        out->as.real = json_number_value(value);
        return json_is_number(value);
    case SOTTO_TYPE_BOOLEAN:
        out->as.integer = json_is_true(value);
        return json_is_boolean(value);
    case SOTTO_TYPE_TEXT:
        out->as.text = sotto_bytes_of(json_string_value(value), json_string_length(value));
        return json_is_string(value);
    case SOTTO_TYPE_NULL:
        break;
    }
    return false;
}

static sotto_status read_time(sotto_device_job *job, sotto_event *event, const json_t *value)
{
    event->time = job->now ? job->at : (int64_t)time(NULL);
    if (!value)
        return SOTTO_OK;
    if (json_is_integer(value))
        event->time = json_integer_value(value);
    else if (!json_is_string(value) ||
             !sotto_calendar_parse_time(&event->time, json_string_value(value)))
        return sotto_fail(&job->err, SOTTO_MALFORMED,
                          SOTTO_STORE_TIME ": neither a time nor seconds since 1970");
    return SOTTO_OK;
}

static sotto_status read_id(sotto_device_job *job, sotto_event *event, const json_t *value)
{
    const char *text = json_string_value(value);

    if (!value)
        return sotto_random_bytes(event->id, sizeof event->id, &job->err);
    return text && sotto_hex_decode(event->id, sizeof event->id, sotto_bytes_of(text, strlen(text)))
               ? SOTTO_OK
               : sotto_fail(&job->err, SOTTO_MALFORMED, SOTTO_STORE_ID ": not %zu digits 0-9a-f",
                            sizeof event->id * 2);
}

static bool is_known(const sotto_stream *stream, const char *name)
{
    for (size_t i = 0; i < stream->field_count; i++)
        if (strcmp(stream->fields[i].name, name) == 0)
            return true;
    return strcmp(name, SOTTO_STORE_ID) == 0 || strcmp(name, SOTTO_STORE_TIME) == 0;
}

static sotto_status read_event(sotto_device_job *job, batch *b, const sotto_stream *stream,
                               json_t *row)
{
    sotto_event *event = &b->events[b->count];
    sotto_value *values = b->values[b->count];
    const char *name;
    json_t *value;

    json_object_foreach(row, name, value) if (!is_known(stream, name)) return sotto_fail(
        &job->err, SOTTO_MALFORMED, "%s has no field '%.60s'", stream->name, name);
    for (size_t i = 0; i < stream->field_count; i++)
        if (!read_value(&values[i], stream->fields[i].type,
                        json_object_get(row, stream->fields[i].name)))
            return sotto_fail(&job->err, SOTTO_MALFORMED, "%s: not of its type, which is %s",
                              stream->fields[i].name, sotto_type_name(stream->fields[i].type));
    for (size_t i = 0; i < stream->field_count; i++)
        if (values[i].type == SOTTO_TYPE_TEXT && values[i].as.text.len > SOTTO_STORE_MAX_TEXT)
            return sotto_fail(&job->err, SOTTO_MALFORMED, "%s: more than %d bytes",
                              stream->fields[i].name, SOTTO_STORE_MAX_TEXT);
    *event =
        (sotto_event){.stream = stream->name, .values = values, .value_count = stream->field_count};
    SOTTO_TRY(read_time(job, event, json_object_get(row, SOTTO_STORE_TIME)));
    return read_id(job, event, json_object_get(row, SOTTO_STORE_ID));
}

static sotto_status flush(sotto_device_job *job, batch *b, uint64_t *added)
{
    size_t new = 0;
    sotto_status status = SOTTO_OK;
    sotto_err err = {0}; /* not the job's, which may say already what is wrong with a later line */

    if (b->count)
        status = sotto_device_donate(job->device, b->events, b->count, &new, &err);
    if (status != SOTTO_OK)
        (void)sotto_fail(&job->err, status, "%s", err.reason);
    *added += new;
    while (b->count)
        json_decref(b->rows[--b->count]);
    return status;
}

static sotto_status read_line(sotto_device_job *job, batch *b, const sotto_stream *stream,
                              sotto_bytes line)
{
    json_error_t where;
    json_t *row = json_loadb((const char *)line.data, line.len, JSON_REJECT_DUPLICATES, &where);

    if (!row) /* the parser's own words would hold some of the event */
        return sotto_fail(&job->err, SOTTO_MALFORMED, "column %d: not JSON", where.column);
    b->rows[b->count] = row;
    sotto_status status = SOTTO_MALFORMED;
    if (json_is_object(row))
        status = read_event(job, b, stream, row);
    else
        (void)sotto_fail(&job->err, SOTTO_MALFORMED, "no JSON object");
    if (status == SOTTO_OK)
        b->count++;
    else
        json_decref(row);
    return status;
}

static sotto_status donate_lines(sotto_device_job *job, const sotto_stream *stream,
                                 sotto_bytes text, uint64_t *number, uint64_t *added)
{
    static batch b;
    sotto_status status = SOTTO_OK;

    while (text.len > 0 && status == SOTTO_OK) {
        const uint8_t *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len, used = len + (end != NULL);

        ++*number;
        if (len > 0)
            status = read_line(job, &b, stream, sotto_bytes_of(text.data, len));
        if (status == SOTTO_OK && b.count == BATCH)
            status = flush(job, &b, added);
        text = sotto_bytes_of(text.data + used, text.len - used);
    }
    sotto_status last = flush(job, &b, added);
    return status == SOTTO_OK ? last : status;
}

int sotto_device_run_donate(sotto_device_job *job)
{
    const sotto_stream *stream = find_stream(job, job->words[0]);
    uint64_t number = 0, added = 0;
    sotto_bytes text;

    if (!job->lines) {
        (void)fprintf(stderr, "sotto device donate: which events? --json-lines FILE\n");
        return EXIT_USAGE;
    }
    if (!stream) {
        (void)sotto_fail(&job->err, SOTTO_MISSING, "no stream '%.60s' in %.60s", job->words[0],
                         job->streams);
        return sotto_device_complain(job);
    }
    if (sotto_device_read_file(job, &text, job->lines) != SOTTO_OK)
        return sotto_device_complain(job);
    if (donate_lines(job, stream, text, &number, &added) != SOTTO_OK) {
        int code = sotto_device_complain(job);

        (void)fprintf(stderr, "line %" PRIu64 "; %" PRIu64 " %s before it %s added\n", number,
                      added, added == 1 ? "event" : "events", added == 1 ? "was" : "were");
        return code;
    }
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_bool(&j, "ok", true);
        sotto_json_text(&j, "stream", stream->name);
        sotto_json_uint(&j, "added", added);
        sotto_device_print_object(&j);
    } else
        printf("%" PRIu64 " %s added to %s. %s on this device.\n", added,
               added == 1 ? "event was" : "events were", stream->name,
               added == 1 ? "It stays" : "They stay");
    return EXIT_DONE;
}
