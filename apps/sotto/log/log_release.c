/* What a release tells the log: of which recipe, when, which devices, how many, and the digest of the answer with its receipt. */
#include "log_release.h"

#include "base/arena.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "recipe/calendar.h"

#include <jansson.h>
#include <string.h>

static json_t *parse(sotto_bytes file)
{
    return json_loadb((const char *)file.data, file.len, JSON_REJECT_DUPLICATES, NULL);
}

bool sotto_log_has(sotto_bytes file, const char *key)
{
    json_t *json = parse(file);
    const bool is = json_is_object(json_object_get(json, key));

    json_decref(json);
    return is;
}

static bool read_time(uint64_t *out, const json_t *json)
{
    int64_t seconds;

    if (!json_is_string(json) || !sotto_calendar_parse_time(&seconds, json_string_value(json)) ||
        seconds < 0)
        return false;
    *out = (uint64_t)seconds;
    return true;
}

/* In the order of the recipe, which jansson keeps. */
static bool read_cohort(sotto_buf *out, json_t *values)
{
    sotto_writer w = sotto_writer_on(out);
    const char *field;
    json_t *value;

    if (!json_is_object(values))
        return false;
    json_object_foreach(values, field, value)
    {
        if (!json_is_string(value))
            return false;
        sotto_write_opaque8(&w, sotto_bytes_of(field, strlen(field)));
        sotto_write_opaque16(&w,
                             sotto_bytes_of(json_string_value(value), json_string_length(value)));
    }
    return sotto_writer_finish(&w, "cohort", NULL) == SOTTO_OK;
}

static bool read_answer(sotto_tlog_entry *out, sotto_buf *cohort, const json_t *json)
{
    const json_t *hash = json_object_get(json_object_get(json, "receipt"), "recipe_hash"),
                 *reports = json_object_get(json, "reports");

    if (!json_is_string(hash) || !json_is_integer(reports) || json_integer_value(reports) < 0 ||
        !sotto_hex_decode(out->digest, sizeof out->digest,
                          sotto_bytes_of(json_string_value(hash), json_string_length(hash))) ||
        !read_time(&out->start, json_object_get(json, "from")) ||
        !read_time(&out->end, json_object_get(json, "until")) || out->end < out->start ||
        !read_cohort(cohort, json_object_get(json, "cohort_values")))
        return false;
    out->count = (uint64_t)json_integer_value(reports);
    out->cohort = sotto_buf_bytes(cohort);
    return true;
}

sotto_status sotto_log_release_read(sotto_log_job *job, sotto_log_object *object)
{
    json_t *json = parse(object->bytes);
    sotto_buf cohort = {0};
    bool good;

    object->type = SOTTO_ENTRY_RELEASE;
    object->entry = (sotto_tlog_entry){0};
    good = sotto_buf_take(&cohort, &job->arena, SOTTO_ENTRY_COHORT_MAX, &job->err) == SOTTO_OK &&
           read_answer(&object->entry, &cohort, json);
    json_decref(json);
    if (!good)
        return sotto_fail(&job->err, SOTTO_MALFORMED,
                          "%.60s: not an answer as `sotto collect --json` prints it", job->path);
    sotto_hash_once(object->entry.receipt, SOTTO_SHA256, object->bytes);
    object->bytes = sotto_bytes_of(NULL, 0); /* the log has its digest alone */
    return SOTTO_OK;
}
