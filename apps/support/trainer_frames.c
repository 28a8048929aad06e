#include "support/trainer_frames.h"

#include "base/floats.h"
#include "base/rule.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 65536 };

/* ---- frames ---------------------------------------------------------------------------------------------------- */

sotto_status sotto_frame_head_decode(sotto_frame_kind *kind, size_t *body,
                                     const uint8_t head[SOTTO_FRAME_HEAD], size_t most_update,
                                     sotto_err *err)
{
    const uint32_t length = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 |
                            (uint32_t)head[2] << 8 | (uint32_t)head[3];
    size_t most;

    switch (head[4]) {
    case SOTTO_FRAME_HELLO:
        most = SOTTO_TRAINER_HELLO;
        break;
    case SOTTO_FRAME_UPDATE:
        most = most_update;
        break;
    case SOTTO_FRAME_FAILED:
        most = SOTTO_TRAINER_REASON;
        break;
    default:
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: a frame of kind %u", head[4]);
    }
    *kind = (sotto_frame_kind)head[4];
    if (SOTTO_RULE(trainer_frames_bounded) && (length == 0 || length - 1 > most))
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: a frame of %" PRIu32 " bytes", length);
    *body = length - 1;
    return SOTTO_OK;
}

void sotto_frame_head_encode(uint8_t head[SOTTO_FRAME_HEAD], sotto_frame_kind kind, size_t body)
{
    const uint32_t length = (uint32_t)body + 1;

    head[0] = (uint8_t)(length >> 24);
    head[1] = (uint8_t)(length >> 16);
    head[2] = (uint8_t)(length >> 8);
    head[3] = (uint8_t)length;
    head[4] = (uint8_t)kind;
}

sotto_status sotto_trainer_hello_check(sotto_bytes body, const char *model, sotto_err *err)
{
    const size_t len = strlen(model);
    bool known = false;

    if (body.len < 2 || (body.data[0] << 8 | body.data[1]) != SOTTO_TRAINER_VERSION)
        return sotto_fail(err, SOTTO_DENIED, "trainer: it speaks another version than %d",
                          SOTTO_TRAINER_VERSION);
    for (size_t at = 2; at < body.len;) {
        const size_t name = body.data[at++];

        if (name > body.len - at)
            return sotto_fail(err, SOTTO_MALFORMED, "trainer: a name ends behind its frame");
        known |= name == len && memcmp(body.data + at, model, len) == 0;
        at += name;
    }
    if (!known)
        return sotto_fail(err, SOTTO_DENIED, "trainer: it does not train \"%.60s\"", model);
    return SOTTO_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------ */

static json_t *cell_of(const sotto_value *value)
{
    switch (value->type) {
    case SOTTO_TYPE_INTEGER:
    case SOTTO_TYPE_BOOLEAN:
        return json_integer((json_int_t)value->as.integer);
    case SOTTO_TYPE_REAL:
        return json_real(value->as.real);
    case SOTTO_TYPE_TEXT:
        return json_stringn((const char *)value->as.text.data, value->as.text.len);
    case SOTTO_TYPE_NULL:
        break;
    }
    return json_null();
}

static json_t *rows_of(const sotto_trainer_input *in)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < in->row_count; i++) {
        json_t *row = json_array();

        for (size_t k = 0; k < in->column_count; k++) {
            json_t *cell = cell_of(&in->cells[i * in->column_count + k]);

            /* NaN, or text that is no UTF-8: left out, it would move the cells behind it. */
            (void)json_array_append_new(row, cell ? cell : json_null());
        }
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *job_of(const sotto_trainer_input *in)
{
    json_t *columns = json_array();
    char seed[24];

    for (size_t i = 0; i < in->column_count; i++)
        (void)json_array_append_new(columns, json_string(in->columns[i]));
    (void)snprintf(seed, sizeof seed, "%" PRIu64, in->seed);
    return json_pack("{ss sI ss ss sI sI sf sf ss so so}", "recipe", in->recipe, "round",
                     (json_int_t)in->round, "model", in->model, "algorithm", in->algorithm,
                     "epochs", (json_int_t)in->epochs, "batch", (json_int_t)in->batch, "rate",
                     in->rate, "clip", in->clip, "seed", seed, "columns", columns, "rows",
                     rows_of(in));
}

sotto_status sotto_trainer_job_encode(sotto_bytes *out, const sotto_trainer_input *input,
                                      sotto_arena *arena, sotto_err *err)
{
    json_t *job = job_of(input);
    const size_t len = job ? json_dumpb(job, NULL, 0, JSON_COMPACT) : 0;
    uint8_t *bytes = len ? sotto_arena_take(arena, len + 4) : NULL;

    if (bytes) {
        for (unsigned i = 0; i < 4; i++)
            bytes[i] = (uint8_t)(len >> 8 * (3 - i));
        (void)json_dumpb(job, (char *)bytes + 4, len, JSON_COMPACT);
        *out = sotto_bytes_of(bytes, len + 4);
    }
    json_decref(job);
    return bytes ? SOTTO_OK : sotto_fail(err, SOTTO_NO_MEMORY, "trainer: no memory for the rows");
}

/* ---- updates --------------------------------------------------------------------------------------------------- */

size_t sotto_trainer_update_most(size_t parameters)
{
    return 4 * parameters + HEADER + 8;
}

typedef struct tensors {
    json_t *header; /* owned */
    sotto_bytes data;
} tensors;

static sotto_status open_file(tensors *out, sotto_bytes file, const char *what, sotto_err *err)
{
    uint64_t len = 0;

    *out = (tensors){0};
    for (unsigned i = 8; file.len >= 8 && i-- > 0;)
        len = len << 8 | file.data[i];
    if (file.len < 8 || len > HEADER || len > file.len - 8)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: the %s is no safetensors file", what);
    out->header =
        json_loadb((const char *)file.data + 8, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
    out->data = sotto_bytes_of(file.data + 8 + len, file.len - 8 - (size_t)len);
    if (!json_is_object(out->header))
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: the %s has no header", what);
    return SOTTO_OK;
}

/* Where a float32 tensor stands; false: nowhere in the data. */
static bool place_of(const json_t *tensor, size_t bytes, size_t *from, size_t *to)
{
    const json_t *offsets = json_object_get(tensor, "data_offsets");
    const char *type = json_string_value(json_object_get(tensor, "dtype"));
    const json_int_t a = json_integer_value(json_array_get(offsets, 0)),
                     b = json_integer_value(json_array_get(offsets, 1));

    if (!type || strcmp(type, "F32") != 0 || json_array_size(offsets) != 2 ||
        !json_is_integer(json_array_get(offsets, 0)) ||
        !json_is_integer(json_array_get(offsets, 1)) || a < 0 || b < a || (uint64_t)b > bytes ||
        a % 4 || b % 4)
        return false;
    *from = (size_t)a;
    *to = (size_t)b;
    return true;
}

static sotto_status take_tensor(float *update, size_t count, const char *name, const json_t *wanted,
                                const tensors *model, const tensors *found, sotto_err *err)
{
    const json_t *tensor = json_object_get(found->header, name);
    size_t to, end, from, stop;

    if (!place_of(wanted, model->data.len, &to, &end) || end > 4 * count)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: the model's \"%.40s\" is damaged", name);
    if (!tensor)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: \"%.40s\" is missing", name);
    if (SOTTO_RULE(trainer_shapes_kept) &&
        !json_equal(json_object_get(tensor, "shape"), json_object_get(wanted, "shape")))
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: \"%.40s\" has another shape", name);
    if (!place_of(tensor, found->data.len, &from, &stop) || stop - from != end - to)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: \"%.40s\" has another length", name);
    const bool finite = sotto_floats_read(update + to / 4, found->data.data + from, (end - to) / 4);
    if (SOTTO_RULE(trainer_numbers_finite) && !finite)
        return sotto_fail(err, SOTTO_REJECTED, "trainer: a number is not finite");
    return SOTTO_OK;
}

static size_t tensor_count(const json_t *header)
{
    return json_object_size(header) - (json_object_get(header, "__metadata__") != NULL);
}

static sotto_status take_all(float *update, size_t count, const tensors *model,
                             const tensors *found, sotto_err *err)
{
    const char *name;
    json_t *wanted;

    if (tensor_count(found->header) != tensor_count(model->header) ||
        found->data.len != model->data.len)
        return sotto_fail(err, SOTTO_MALFORMED, "trainer: the update has other tensors");
    json_object_foreach(model->header, name, wanted)
    {
        if (strcmp(name, "__metadata__") != 0)
            SOTTO_TRY(take_tensor(update, count, name, wanted, model, found, err));
    }
    return SOTTO_OK;
}

sotto_status sotto_trainer_update_decode(float *update, size_t count, sotto_bytes file,
                                         sotto_bytes model, sotto_err *err)
{
    tensors known = {0}, found = {0};
    sotto_status status = open_file(&known, model, "model", err);

    if (status == SOTTO_OK)
        status = open_file(&found, file, "update", err);
    if (status == SOTTO_OK)
        status = take_all(update, count, &known, &found, err);
    json_decref(known.header);
    json_decref(found.header);
    return status;
}
