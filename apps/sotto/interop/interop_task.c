/* Tasks as the interop test API tells them. */
#include "interop.h"

#include "base/arena.h"
#include "dap/task_configuration.h"

#include <string.h>

static const char TASK_INFO[] = "task-info"; /* the API has none; what Janus puts there */

/* ---- values ---------------------------------------------------------------------------------------------- */

sotto_status interop_text(const char **out, const json_t *in, const char *key, sotto_err *err)
{
    const json_t *value = json_object_get(in, key);

    *out = json_string_value(value);
    if (!*out || strlen(*out) != json_string_length(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: a string is needed", key);
    return SOTTO_OK;
}

sotto_status interop_number(uint64_t *out, const json_t *in, const char *key, sotto_err *err)
{
    const json_t *value = json_object_get(in, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: a number is needed", key);
    *out = (uint64_t)json_integer_value(value);
    return SOTTO_OK;
}

sotto_status interop_decimal(uint64_t *out, const json_t *value, const char *what, sotto_err *err)
{
    const char *text = json_string_value(value);
    size_t len = text ? strspn(text, "0123456789") : 0;
    uint64_t number = 0;

    if (len == 0 || len > 20 || len != json_string_length(value))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: a decimal number in a string is needed", what);
    for (size_t i = 0; i < len; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');

        if (number > (UINT64_MAX - digit) / 10)
            return sotto_fail(err, SOTTO_TOO_LARGE, "%s: more than 64 bits", what);
        number = 10 * number + digit;
    }
    *out = number;
    return SOTTO_OK;
}

sotto_status interop_bytes(sotto_bytes *out, const json_t *in, const char *key, size_t size,
                           sotto_arena *arena, sotto_err *err)
{
    const char *text;
    uint8_t *memory;

    SOTTO_TRY(interop_text(&text, in, key, err));
    if (size == 0)
        size = strlen(text) * 3 / 4;
    memory = sotto_arena_take(arena, size + 1);
    if (!memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%s", key);
    if (sotto_dap_id_decode(memory, size, sotto_bytes_of(text, strlen(text)), NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: base64url is needed, of the right length",
                          key);
    *out = sotto_bytes_of(memory, size);
    return SOTTO_OK;
}

/* ---- VDAFs ----------------------------------------------------------------------------------------------- */

/* Which parameters a type has, and what the API calls its bound. */
static const struct vdaf {
    const char *name;
    sotto_prio3_type type;
    bool is_vector;
    const char *max; /* NULL: none */
} vdafs[] = {
    {"Prio3Count", SOTTO_PRIO3_COUNT, false, NULL},
    {"Prio3Sum", SOTTO_PRIO3_SUM, false, "max_measurement"},
    {"Prio3SumVec", SOTTO_PRIO3_SUM_VEC, true, "max_measurement"},
    {"Prio3Histogram", SOTTO_PRIO3_HISTOGRAM, true, NULL},
    {"Prio3MultihotCountVec", SOTTO_PRIO3_MULTIHOT_COUNT_VEC, true, "max_weight"},
    {"Prio3L1BoundSum", SOTTO_PRIO3_L1_BOUND_SUM, true, "max_measurement"},
};
enum { VDAFS = sizeof vdafs / sizeof vdafs[0] };

static sotto_status read_vdaf(sotto_prio3_config *out, const json_t *in, sotto_err *err)
{
    const struct vdaf *v = vdafs;
    const char *name;

    SOTTO_TRY(interop_text(&name, in, "type", err));
    while (v < vdafs + VDAFS && strcmp(v->name, name) != 0)
        v++;
    if (v == vdafs + VDAFS)
        return sotto_fail(err, SOTTO_MISSING, "vdaf: %.60s is not one of ours", name);
    *out = (sotto_prio3_config){.type = v->type, .shares = 2};
    if (v->max)
        SOTTO_TRY(interop_decimal(&out->max, json_object_get(in, v->max), v->max, err));
    if (!v->is_vector)
        return SOTTO_OK;
    SOTTO_TRY(interop_decimal(&out->length, json_object_get(in, "length"), "length", err));
    return interop_decimal(&out->chunk_length, json_object_get(in, "chunk_length"), "chunk_length",
                           err);
}

/* ---- tasks ----------------------------------------------------------------------------------------------- */

/* Both ends or none. */
static sotto_status read_interval(sotto_task_configuration *c, const json_t *in, sotto_err *err)
{
    const json_t *start = json_object_get(in, "task_start"), *end = json_object_get(in, "task_end");
    uint64_t from, until;

    if ((!start || json_is_null(start)) && (!end || json_is_null(end)))
        return SOTTO_OK;
    SOTTO_TRY(interop_number(&from, in, "task_start", err));
    SOTTO_TRY(interop_number(&until, in, "task_end", err));
    if (until < from)
        return sotto_fail(err, SOTTO_MALFORMED, "task_end comes before task_start");
    c->has_interval = true;
    c->interval_start = sotto_dap_time_of(from, c->time_precision);
    c->interval_duration = sotto_dap_time_of(until, c->time_precision) - c->interval_start;
    return SOTTO_OK;
}

static sotto_status read_configuration(sotto_task_configuration *c, const json_t *in,
                                       sotto_err *err)
{
    const char *leader, *helper;
    uint64_t mode;

    *c =
        (sotto_task_configuration){.task_info = {(const uint8_t *)TASK_INFO, sizeof TASK_INFO - 1}};
    SOTTO_TRY(interop_text(&leader, in, "leader", err));
    SOTTO_TRY(interop_text(&helper, in, "helper", err));
    SOTTO_TRY(interop_number(&c->time_precision, in, "time_precision", err));
    SOTTO_TRY(interop_number(&c->min_batch_size, in, "min_batch_size", err));
    SOTTO_TRY(interop_number(&mode, in, "batch_mode", err));
    SOTTO_TRY(read_vdaf(&c->vdaf, json_object_get(in, "vdaf"), err));
    if (c->time_precision == 0 || mode < SOTTO_DAP_TIME_INTERVAL ||
        mode > SOTTO_DAP_LEADER_SELECTED)
        return sotto_fail(err, SOTTO_MALFORMED, "invalid time_precision or batch_mode");
    c->leader_url = sotto_bytes_of(leader, strlen(leader));
    c->helper_url = sotto_bytes_of(helper, strlen(helper));
    c->batch_mode = (unsigned)mode;
    return read_interval(c, in, err);
}

sotto_status interop_task(sotto_task *out, const json_t *in, sotto_arena *arena, sotto_err *err)
{
    sotto_task_configuration c;
    sotto_prio3 vdaf;
    sotto_bytes id;
    sotto_buf wire;
    size_t size;

    memset(out, 0, sizeof *out);
    SOTTO_TRY(interop_bytes(&id, in, "task_id", sizeof out->id, arena, err));
    SOTTO_TRY(read_configuration(&c, in, err));
    SOTTO_TRY(sotto_prio3_init(&vdaf, arena, &c.vdaf, err));
    size = c.leader_url.len + c.helper_url.len + 512;
    SOTTO_TRY(sotto_buf_take(&wire, arena, size, err));
    SOTTO_TRY(sotto_task_configuration_encode(&wire, &c, err));
    /* The URLs from the arena, not from the JSON: the task outlives it. */
    SOTTO_TRY(sotto_task_configuration_decode(&c, sotto_buf_bytes(&wire), err));
    memcpy(out->id, id.data, sizeof out->id);
    out->configuration = sotto_buf_bytes(&wire);
    out->leader_url = c.leader_url;
    out->helper_url = c.helper_url;
    out->precision = c.time_precision;
    out->min_batch_size = c.min_batch_size;
    out->batch_mode = c.batch_mode;
    out->vdaf = c.vdaf;
    out->sizes = vdaf.sizes;
    out->closes = INT64_MAX;
    return SOTTO_OK;
}
