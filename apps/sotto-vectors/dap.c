/* DAP messages: one count for each, which must decode and encode to the same bytes, or be refused. Values that
 * are derived (keys, ids, times, URLs) are one count each. */
#include "families.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "dap/task_configuration.h"
#include "sotto-vectors/dap_forms.h"

static bool has(const json_t *item, const char *key)
{
    return json_object_get(item, key) != NULL;
}

static bool is_message(const json_t *item)
{
    return has(item, "type") && has(item, "hex");
}

static bool is_derived(const json_t *item)
{
    return has(item, "aggregation_job_resp") && !has(item, "dap_version");
}

static bool is_taskprov(const json_t *item)
{
    return has(item, "task_configuration") && has(item, "verify_key_init");
}

static bool is_time(const json_t *item)
{
    return has(item, "time_precision") && (has(item, "posix") || has(item, "posix_range"));
}

static bool is_url(const json_t *item)
{
    return has(item, "task_id") && has(item, "url");
}

bool sotto_vectors_dap_knows(const json_t *item)
{
    return is_message(item) || is_derived(item) || is_taskprov(item) || is_time(item) ||
           is_url(item);
}

/* ---- messages -------------------------------------------------------------------------------- */

static sotto_status check_again(const sotto_dap_form *form, sotto_bytes wire,
                                sotto_dap_profile profile, sotto_arena *arena, sotto_err *err)
{
    const size_t cap = wire.len + 64;
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, arena, cap, err));
    SOTTO_TRY(form->again(&out, wire, profile, err));
    return sotto_vectors_compare(wire, sotto_buf_bytes(&out), "encoded again", err);
}

/* The pieces a message is made of, where the file lists them, are the message. */
static sotto_status check_layout(const json_t *item, sotto_bytes wire, sotto_arena *arena,
                                 sotto_err *err)
{
    const json_t *layout = json_object_get(item, "layout");
    size_t at = 0;

    if (layout == NULL)
        return SOTTO_OK;
    for (size_t i = 0; i < json_array_size(layout); i++) {
        sotto_bytes piece;

        SOTTO_TRY(sotto_json_hex(&piece, json_array_get(json_array_get(layout, i), 1), "layout",
                                 arena, err));
        if (piece.len > wire.len - at)
            return sotto_fail(err, SOTTO_MALFORMED, "layout: longer than hex");
        SOTTO_TRY(
            sotto_vectors_compare(piece, sotto_bytes_of(wire.data + at, piece.len), "layout", err));
        at += piece.len;
    }
    if (at != wire.len)
        return sotto_fail(err, SOTTO_MALFORMED, "layout: shorter than hex");
    return SOTTO_OK;
}

static sotto_status check_refused(const sotto_dap_form *form, sotto_bytes wire,
                                  sotto_dap_profile profile, sotto_arena *arena, sotto_err *err)
{
    sotto_status status = check_again(form, wire, profile, arena, NULL);

    if (status != SOTTO_MALFORMED && status != SOTTO_MISSING && status != SOTTO_DENIED)
        return sotto_fail(err, SOTTO_REJECTED, "is not refused");
    return SOTTO_OK;
}

static sotto_status check_message(const sotto_vector_file *file, const json_t *item,
                                  const sotto_dap_form *form, sotto_err *err)
{
    const char *expect = json_string_value(json_object_get(item, "expect"));
    const char *wanted = json_string_value(json_object_get(item, "profile"));
    const bool janus = strcmp(file->kind, "janus") == 0 || (wanted && !strcmp(wanted, "janus"));
    const sotto_dap_profile profile = janus ? SOTTO_DAP_JANUS : SOTTO_DAP_DRAFT18;
    sotto_bytes wire;

    SOTTO_TRY(sotto_json_get_hex(&wire, item, "hex", file->arena, err));
    if (expect && strcmp(expect, "reject") == 0)
        return check_refused(form, wire, profile, file->arena, err);
    if (expect && strcmp(expect, "accept") != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "expect: neither accept nor reject");
    SOTTO_TRY(check_layout(item, wire, file->arena, err));
    return check_again(form, wire, profile, file->arena, err);
}

/* ---- messages by the names of their keys ----------------------------------------------------- */

static sotto_status check_derived(const sotto_vector_file *file, const char *key,
                                  const json_t *value, sotto_err *err)
{
    static const struct {
        const char *key, *type;
    } keys[] = {
        {"aggregation_job_init_req", "AggregationJobInitReq"},
        {"aggregation_job_resp", "AggregationJobResp"},
        {"aggregation_job_continue_req", "AggregationJobContinueReq"},
    };
    sotto_bytes wire;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strncmp(key, keys[i].key, strlen(keys[i].key)) == 0) {
            SOTTO_TRY(sotto_json_hex(&wire, value, key, file->arena, err));
            return check_again(sotto_dap_form_named(keys[i].type), wire, SOTTO_DAP_DRAFT18,
                               file->arena, err);
        }
    return sotto_fail(err, SOTTO_MISSING, "no message of this name");
}

/* ---- values ---------------------------------------------------------------------------------- */

static sotto_status check_key(const sotto_vector_file *file, const json_t *item, const char *seed,
                              const char *key, sotto_dap_key_salt salt, sotto_err *err)
{
    sotto_bytes seed_bytes, wanted, task_id;
    uint8_t got[SOTTO_DAP_VERIFY_KEY_SIZE];

    SOTTO_TRY(sotto_json_get_hex(&seed_bytes, item, seed, file->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&wanted, item, key, file->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&task_id, item, "task_id", file->arena, err));
    SOTTO_TRY(sotto_dap_verify_key_derive(got, seed_bytes, task_id.data, salt, err));
    return sotto_vectors_compare(wanted, sotto_bytes_of(got, sizeof got), key, err);
}

static sotto_status check_taskprov(const sotto_vector_file *file, const json_t *item,
                                   sotto_err *err)
{
    sotto_bytes configuration, wanted;
    uint8_t id[SOTTO_TASK_ID_SIZE], again[SOTTO_TASK_ID_SIZE];
    char text[SOTTO_DAP_ID_TEXT_MAX];
    const char *spelled;

    SOTTO_TRY(sotto_json_get_hex(&configuration, item, "task_configuration", file->arena, err));
    SOTTO_TRY(check_again(sotto_dap_form_named("TaskConfiguration"), configuration,
                          SOTTO_DAP_DRAFT18, file->arena, err));
    sotto_task_id_derive(id, configuration);
    SOTTO_TRY(sotto_json_get_hex(&wanted, item, "task_id", file->arena, err));
    SOTTO_TRY(sotto_vectors_compare(wanted, sotto_bytes_of(id, sizeof id), "task_id", err));
    SOTTO_TRY(sotto_json_get_text(&spelled, item, "task_id_base64url", err));
    sotto_dap_id_encode(text, sotto_bytes_of(id, sizeof id));
    SOTTO_TRY(sotto_vectors_compare(sotto_bytes_of(spelled, strlen(spelled)),
                                    sotto_bytes_of(text, strlen(text)), "task_id_base64url", err));
    SOTTO_TRY(
        sotto_dap_id_decode(again, sizeof again, sotto_bytes_of(spelled, strlen(spelled)), err));
    SOTTO_TRY(sotto_vectors_compare(wanted, sotto_bytes_of(again, sizeof again), "task_id", err));
    SOTTO_TRY(
        check_key(file, item, "verify_key_init", "verify_key_32", SOTTO_DAP_SALT_TASKPROV, err));
    return check_key(file, item, "dap_text_verify_key_seed", "dap_text_verify_key_32",
                     SOTTO_DAP_SALT_DAP, err);
}

static sotto_status check_number(uint64_t wanted, uint64_t got, const char *what, sotto_err *err)
{
    if (wanted != got)
        return sotto_fail(err, SOTTO_REJECTED, "%s: %llu, not %llu", what, (unsigned long long)got,
                          (unsigned long long)wanted);
    return SOTTO_OK;
}

/* Both numbers of an array, or one number and a duration of none. */
static sotto_dap_interval span_of(const json_t *item, const char *key)
{
    const json_t *value = json_object_get(item, key);
    sotto_dap_interval span = {0};

    if (json_is_array(value)) {
        span.start = (uint64_t)json_integer_value(json_array_get(value, 0));
        span.duration = (uint64_t)json_integer_value(json_array_get(value, 1));
    } else {
        span.start = (uint64_t)json_integer_value(value);
    }
    return span;
}

static sotto_status check_time(const sotto_vector_file *file, const json_t *item, sotto_err *err)
{
    uint64_t precision, first, last;

    (void)file;
    SOTTO_TRY(sotto_json_get_uint(&precision, item, "time_precision", err));
    if (precision == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "time_precision: 0");
    if (has(item, "posix")) {
        const uint64_t posix = span_of(item, "posix").start;
        const char *key = has(item, "time") ? "time" : "bucket";

        return check_number(span_of(item, key).start, sotto_dap_time_of(posix, precision), key,
                            err);
    }
    const sotto_dap_interval interval = span_of(item, "interval");
    const sotto_dap_interval range = span_of(item, "posix_range");
    if (!sotto_dap_interval_valid(interval) ||
        !sotto_dap_seconds_of(&first, interval.start, precision) ||
        !sotto_dap_seconds_of(&last, interval.start + interval.duration, precision))
        return sotto_fail(err, SOTTO_MALFORMED, "interval: not valid");
    SOTTO_TRY(check_number(range.start, first, "posix_range", err));
    return check_number(range.duration, last, "posix_range", err);
}

static sotto_status check_url(const sotto_vector_file *file, const json_t *item, sotto_err *err)
{
    sotto_dap_path path = {.resource = SOTTO_DAP_AGGREGATION_JOBS, .has_id = true}, again;
    char memory[512];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const char *base, *url;
    sotto_bytes task_id, id;

    SOTTO_TRY(sotto_json_get_text(&base, item, "base", err));
    SOTTO_TRY(sotto_json_get_text(&url, item, "url", err));
    SOTTO_TRY(sotto_json_get_hex(&task_id, item, "task_id", file->arena, err));
    SOTTO_TRY(sotto_json_get_hex(&id, item, "aggregation_job_id", file->arena, err));
    if (task_id.len != sizeof path.task_id || id.len != sizeof path.id)
        return sotto_fail(err, SOTTO_MALFORMED, "ids: not 32 and 16 bytes");
    memcpy(path.task_id, task_id.data, task_id.len);
    memcpy(path.id, id.data, id.len);
    SOTTO_TRY(sotto_dap_path_encode(&out, sotto_bytes_of(base, strlen(base)), &path, err));
    SOTTO_TRY(
        sotto_vectors_compare(sotto_bytes_of(url, strlen(url)), sotto_buf_bytes(&out), "url", err));
    SOTTO_TRY(sotto_dap_path_decode(
        &again, sotto_bytes_of(out.data + strlen(base), out.len - strlen(base)), err));
    SOTTO_TRY(sotto_vectors_compare(task_id, sotto_bytes_of(again.task_id, sizeof again.task_id),
                                    "task_id", err));
    return sotto_vectors_compare(id, sotto_bytes_of(again.id, sizeof again.id),
                                 "aggregation_job_id", err);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void run_derived(const sotto_vector_file *file, const json_t *item)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)item, key, value)
    {
        sotto_err err = {0};
        const sotto_status status = check_derived(file, key, value, &err);

        sotto_vectors_tell(file, key, status, &err);
    }
}

static void run_message(const sotto_vector_file *file, const json_t *item, const char *name)
{
    const char *type = json_string_value(json_object_get(item, "type"));
    const sotto_dap_form *form = type != NULL ? sotto_dap_form_named(type) : NULL;
    sotto_err err = {0};

    if (form == NULL) {
        sotto_tally_skip(file->tally, file->path, name, "no type of this name");
        return;
    }
    const sotto_status status = check_message(file, item, form, &err);
    sotto_vectors_tell(file, name, status, &err);
}

static void run_item(const sotto_vector_file *file, const json_t *item, const char *number)
{
    const char *id = json_string_value(json_object_get(item, "id")),
               *name = id != NULL && number[0] != 0 ? id : number;
    sotto_status status;
    sotto_err err = {0};

    if (is_message(item)) {
        run_message(file, item, name);
        return;
    }
    if (is_derived(item)) {
        run_derived(file, item);
        return;
    }
    if (is_taskprov(item))
        status = check_taskprov(file, item, &err);
    else if (is_time(item))
        status = check_time(file, item, &err);
    else if (is_url(item))
        status = check_url(file, item, &err);
    else
        status = sotto_fail(&err, SOTTO_MALFORMED, "not an entry like its neighbours");
    sotto_vectors_tell(file, name, status, &err);
}

void sotto_vectors_dap(const sotto_vector_file *file)
{
    sotto_vectors_each(file, run_item);
}
