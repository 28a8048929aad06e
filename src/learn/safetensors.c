#include "learn/model_file.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "base/rule.h"

size_t sotto_model_file_size(const sotto_model *model)
{
    return model->parameters * 4 + model->tensor_count * 512 + 1024 + model->head.len;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static void put_little(sotto_writer *w, uint64_t value, unsigned bytes)
{
    uint8_t out[8];

    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
    sotto_write_bytes(w, sotto_bytes_of(out, bytes));
}

static void put_floats(sotto_writer *w, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &x[i], sizeof bits);
        put_little(w, bits, 4);
    }
}

static size_t header_of(const sotto_model *model, char *out, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < model->tensor_count; i++) {
        const sotto_tensor *t = &model->tensors[i];

        len += (size_t)snprintf(out + len, size - len, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[",
                                i ? "," : "{", t->name);
        for (unsigned d = 0; d < t->dimensions; d++)
            len += (size_t)snprintf(out + len, size - len, "%s%zu", d ? "," : "", t->shape[d]);
        len += (size_t)snprintf(out + len, size - len, "],\"data_offsets\":[%zu,%zu]}",
                                t->offset * 4, (t->offset + t->count) * 4);
    }
    len += (size_t)snprintf(out + len, size - len, "}");
    while (len % 8 != 0) /* so that numbers are aligned */
        out[len++] = ' ';
    return len;
}

sotto_status sotto_safetensors_encode(const sotto_model *model, const float *weights,
                                      sotto_buf *out, sotto_err *err)
{
    char header[SOTTO_MODEL_TENSORS * 192 + 16];
    sotto_writer w = sotto_writer_on(out);

    if (model->config.type == SOTTO_MODEL_OWN) {
        sotto_write_bytes(&w, model->head);
    } else {
        const size_t len = header_of(model, header, sizeof header);

        put_little(&w, len, 8);
        sotto_write_bytes(&w, sotto_bytes_of(header, len));
    }
    put_floats(&w, weights, model->parameters);
    return sotto_writer_finish(&w, "safetensors", err);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static bool is_shape(const json_t *shape, const sotto_tensor *t)
{
    if (!json_is_array(shape) || json_array_size(shape) != t->dimensions)
        return false;
    for (unsigned d = 0; d < t->dimensions; d++)
        if (!json_is_integer(json_array_get(shape, d)) ||
            json_integer_value(json_array_get(shape, d)) != (json_int_t)t->shape[d])
            return false;
    return true;
}

/* Where it stands among `bytes` of data; false: nowhere. */
static bool place_of(const json_t *entry, const sotto_tensor *t, size_t bytes, size_t *from)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_int_t a = json_integer_value(json_array_get(offsets, 0));
    const json_int_t b = json_integer_value(json_array_get(offsets, 1));

    if (json_array_size(offsets) != 2 || !json_is_integer(json_array_get(offsets, 0)) ||
        !json_is_integer(json_array_get(offsets, 1)) || a < 0 || b < a ||
        (uint64_t)b > (uint64_t)bytes)
        return false;
    *from = (size_t)a;
    return (uint64_t)(b - a) == (uint64_t)t->count * 4;
}

static sotto_status read_tensor(const sotto_tensor *t, const json_t *entry, sotto_bytes data,
                                float *weights, size_t *from, sotto_err *err)
{
    const char *type = json_string_value(json_object_get(entry, "dtype"));

    if (!entry)
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: %s is missing", t->name);
    if (!type || strcmp(type, "F32") != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: %s: dtype F32 wanted", t->name);
    if (!is_shape(json_object_get(entry, "shape"), t))
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: %s has another shape", t->name);
    if (json_object_size(entry) != 3 || !place_of(entry, t, data.len, from))
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: %s: its data_offsets are wrong",
                          t->name);
    const bool finite = sotto_floats_read(weights + t->offset, data.data + *from, t->count);
    if (SOTTO_RULE(finite_model_files) && !finite)
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: %s: a number is not finite", t->name);
    return SOTTO_OK;
}

/* No two tensors share a byte, and together they fill the data: then nothing is hidden in the file. */
static sotto_status check_places(const sotto_model *model, const size_t *from, size_t bytes,
                                 sotto_err *err)
{
    size_t covered = 0;

    for (size_t i = 0; i < model->tensor_count; i++) {
        covered += model->tensors[i].count * 4;
        for (size_t j = 0; j < i; j++)
            if (from[i] < from[j] + model->tensors[j].count * 4 &&
                from[j] < from[i] + model->tensors[i].count * 4)
                return sotto_fail(err, SOTTO_MALFORMED, "safetensors: tensors overlap");
    }
    if (covered != bytes)
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: %zu bytes of data wanted, not %zu",
                          covered, bytes);
    return SOTTO_OK;
}

static sotto_status read_all(const sotto_model *model, float *weights, const json_t *header,
                             sotto_bytes data, sotto_err *err)
{
    const json_t *remarks = json_object_get(header, "__metadata__");
    size_t from[SOTTO_MODEL_TENSORS] = {0};

    if (!json_is_object(header))
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: the header is no JSON object");
    if (json_object_size(header) != model->tensor_count + (remarks != NULL))
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: %zu tensors wanted, not %zu",
                          model->tensor_count,
                          json_object_size(header) - (size_t)(remarks != NULL));
    for (size_t i = 0; i < model->tensor_count; i++) {
        const sotto_tensor *t = &model->tensors[i];

        SOTTO_TRY(read_tensor(t, json_object_get(header, t->name), data, weights, &from[i], err));
    }
    return check_places(model, from, data.len, err);
}

static bool header_length(sotto_bytes file, uint64_t *len)
{
    *len = 0;
    for (unsigned i = 8; file.len >= 8 && i-- > 0;)
        *len = *len << 8 | file.data[i];
    return file.len >= 8 && *len <= SOTTO_SAFETENSORS_HEADER && *len <= file.len - 8;
}

sotto_status sotto_safetensors_decode(const sotto_model *model, float *weights, sotto_bytes file,
                                      sotto_err *err)
{
    uint64_t len;
    json_t *header;

    if (!header_length(file, &len))
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: the length of its header is wrong");
    header = json_loadb((const char *)file.data + 8, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
    const sotto_bytes data = sotto_bytes_of(file.data + 8 + len, file.len - 8 - (size_t)len);
    const sotto_status status = read_all(model, weights, header, data, err);
    json_decref(header);
    return status;
}

sotto_status sotto_model_own(sotto_model *out, sotto_bytes file, sotto_err *err)
{
    uint64_t len;

    memset(out, 0, sizeof *out);
    if (!header_length(file, &len))
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: the length of its header is wrong");
    const size_t head = 8 + (size_t)len, numbers = (file.len - head) / 4;
    if (numbers < 1 || numbers > SOTTO_MODEL_PARAMETERS || (file.len - head) % 4 != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "safetensors: 1 to %zu numbers of 4 bytes wanted",
                          SOTTO_MODEL_PARAMETERS);
    out->config.type = SOTTO_MODEL_OWN;
    out->parameters = numbers;
    out->head = sotto_bytes_of(file.data, head);
    return SOTTO_OK;
}
