#include "dap/task_configuration.h"

#include "aggregate/method.h"
#include "crypto/hash.h"
#include "dap/report.h"

enum {
    EXTENSION_TASK_INTERVAL = 1,
    EXTENSION_ANONYMITY = 0xff01, /* private use: flags in a byte, a token type in two */
    INTERVAL_SIZE = 16,
    ANONYMITY_SIZE = 3,
    TOKEN_TYPE_2 = 2,
    TOKEN_TYPE_ARC = 0xe5ac,
    HEADER = 2 + 2, /* of an extension */
    MAX_VDAF = 4 + 2 + SOTTO_VDAF_MAX_PARAMETERS
};

/* ---- the VDAF ------------------------------------------------------------------------------------ */

typedef struct vdaf_wire {
    uint32_t type;
    sotto_bytes parameters;
} vdaf_wire;

static vdaf_wire read_vdaf(sotto_reader *in)
{
    vdaf_wire vdaf;

    vdaf.type = (uint32_t)sotto_read_uint(in, 4);
    vdaf.parameters = sotto_read_opaque16(in);
    return vdaf;
}

/* Numbers of the private range are below 0 here. */
static int32_t type_of(uint32_t wire)
{
    return wire > INT32_MAX ? -1 - (int32_t)~wire : (int32_t)wire;
}

static sotto_status understand_vdaf(sotto_vdaf_config *out, vdaf_wire vdaf, sotto_err *err)
{
    const sotto_method *method = sotto_method_of(type_of(vdaf.type));

    if (!method)
        return sotto_fail(err, SOTTO_MISSING, "task configuration: a VDAF that we don't know");
    *out = (sotto_vdaf_config){.type = type_of(vdaf.type)};
    return method->two_server->parameters_decode(out, vdaf.parameters, err);
}

sotto_status sotto_task_vdaf_encode(sotto_buf *out, const sotto_vdaf_config *vdaf, sotto_err *err)
{
    const sotto_vdaf_client_ops *ops = sotto_vdaf_client_of(vdaf->type);
    uint8_t memory[SOTTO_VDAF_MAX_PARAMETERS];
    sotto_buf parameters = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(out);

    if (!ops)
        return sotto_fail(err, SOTTO_MISSING, "DAP has no configuration for this type of VDAF");
    SOTTO_TRY(ops->parameters_encode(&parameters, vdaf, err));
    sotto_write_uint(&w, (uint32_t)vdaf->type, 4);
    sotto_write_opaque16(&w, sotto_buf_bytes(&parameters));
    return sotto_writer_finish(&w, "VDAF configuration", err);
}

sotto_status sotto_task_vdaf_decode(sotto_vdaf_config *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const vdaf_wire vdaf = read_vdaf(&in);

    SOTTO_TRY(sotto_reader_finish(&in, "VDAF configuration", err));
    return understand_vdaf(out, vdaf, err);
}

/* ---- the configuration --------------------------------------------------------------------------- */

static void write_extensions(sotto_writer *w, const sotto_task_configuration *task)
{
    if (task->extensions.len > 0) {
        sotto_write_opaque16(w, task->extensions);
        return;
    }
    sotto_write_uint(w,
                     (task->has_interval ? HEADER + INTERVAL_SIZE : 0U) +
                         (task->anonymity ? HEADER + ANONYMITY_SIZE : 0U),
                     2);
    if (task->has_interval) {
        sotto_write_uint(w, EXTENSION_TASK_INTERVAL, 2);
        sotto_write_uint(w, INTERVAL_SIZE, 2);
        sotto_write_uint(w, task->interval_start, 8);
        sotto_write_uint(w, task->interval_duration, 8);
    }
    if (task->anonymity) {
        sotto_write_uint(w, EXTENSION_ANONYMITY, 2);
        sotto_write_uint(w, ANONYMITY_SIZE, 2);
        sotto_write_uint(w, task->anonymity, 1);
        sotto_write_uint(w, task->token_type, 2);
    }
}

sotto_status sotto_task_configuration_encode(sotto_buf *out, const sotto_task_configuration *task,
                                             sotto_err *err)
{
    uint8_t memory[MAX_VDAF];
    sotto_buf vdaf = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(out);

    SOTTO_TRY(sotto_task_vdaf_encode(&vdaf, &task->vdaf, err));
    sotto_write_opaque8(&w, task->task_info);
    sotto_write_opaque16(&w, task->leader_url);
    sotto_write_opaque16(&w, task->helper_url);
    sotto_write_uint(&w, task->time_precision, 8);
    sotto_write_uint(&w, task->min_batch_size, 8);
    sotto_write_uint(&w, task->batch_mode, 1);
    sotto_write_opaque16(&w, task->batch_config);
    sotto_write_bytes(&w, sotto_buf_bytes(&vdaf));
    write_extensions(&w, task);
    return sotto_writer_finish(&w, "task configuration", err);
}

sotto_status sotto_task_url_check(sotto_bytes url, sotto_err *err)
{
    if (url.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "task configuration: an empty URL");
    for (size_t i = 0; i < url.len; i++)
        if (url.data[i] > 0x7f)
            return sotto_fail(err, SOTTO_MALFORMED, "task configuration: a URL is not ASCII");
    return SOTTO_OK;
}

static sotto_status read_interval(sotto_task_configuration *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    out->has_interval = true;
    out->interval_start = sotto_read_uint(&in, 8);
    out->interval_duration = sotto_read_uint(&in, 8);
    return sotto_reader_finish(&in, "task interval", err);
}

/* One encoding for each meaning: no extension where nothing is asked for, and a token type where tokens are. */
static sotto_status read_anonymity(sotto_task_configuration *out, sotto_bytes wire, sotto_err *err)
{
    enum { KNOWN = SOTTO_TASK_RELAY | SOTTO_TASK_TOKENS | SOTTO_TASK_LOG };
    sotto_reader in = sotto_reader_over(wire);

    out->anonymity = (unsigned)sotto_read_uint(&in, 1);
    out->token_type = (unsigned)sotto_read_uint(&in, 2);
    SOTTO_TRY(sotto_reader_finish(&in, "task anonymity", err));
    if (out->anonymity == 0 || (out->anonymity & ~(unsigned)KNOWN) ||
        !(out->anonymity & SOTTO_TASK_TOKENS) != !out->token_type)
        return sotto_fail(err, SOTTO_MALFORMED, "task anonymity: invalid flags or token type");
    return SOTTO_OK;
}

static sotto_status find_extensions(sotto_task_configuration *out, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(out->extensions);
    sotto_extension extension;

    SOTTO_TRY(sotto_extensions_check(out->extensions, "task extensions", err));
    while (sotto_extensions_next(&in, &extension))
        if (extension.type == EXTENSION_TASK_INTERVAL)
            SOTTO_TRY(read_interval(out, extension.data, err));
        else if (extension.type == EXTENSION_ANONYMITY)
            SOTTO_TRY(read_anonymity(out, extension.data, err));
    return SOTTO_OK;
}

static vdaf_wire read_fields(sotto_reader *in, sotto_task_configuration *out)
{
    vdaf_wire vdaf;

    *out = (sotto_task_configuration){.task_info = sotto_read_opaque8(in)};
    out->leader_url = sotto_read_opaque16(in);
    out->helper_url = sotto_read_opaque16(in);
    out->time_precision = sotto_read_uint(in, 8);
    out->min_batch_size = sotto_read_uint(in, 8);
    out->batch_mode = (unsigned)sotto_read_uint(in, 1);
    out->batch_config = sotto_read_opaque16(in);
    vdaf = read_vdaf(in);
    out->extensions = sotto_read_opaque16(in);
    return vdaf;
}

sotto_bytes sotto_task_configuration_read(sotto_reader *in)
{
    const uint8_t *start = in->at;
    sotto_task_configuration task;

    (void)read_fields(in, &task);
    return sotto_bytes_of(start, (size_t)(in->at - start));
}

sotto_status sotto_task_configuration_decode(sotto_task_configuration *out, sotto_bytes wire,
                                             sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const vdaf_wire vdaf = read_fields(&in, out);

    SOTTO_TRY(sotto_reader_finish(&in, "task configuration", err));
    if (out->task_info.len == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "task configuration: task_info is empty");
    if (out->time_precision == 0)
        return sotto_fail(err, SOTTO_MALFORMED, "task configuration: time_precision is 0");
    SOTTO_TRY(sotto_task_url_check(out->leader_url, err));
    SOTTO_TRY(sotto_task_url_check(out->helper_url, err));
    SOTTO_TRY(find_extensions(out, err));
    return understand_vdaf(&out->vdaf, vdaf, err);
}

sotto_status sotto_task_configuration_check(const sotto_task_configuration *task,
                                            unsigned anonymity, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(task->extensions);
    sotto_extension extension;

    while (sotto_extensions_next(&in, &extension))
        if (extension.type != EXTENSION_TASK_INTERVAL &&
            !(extension.type == EXTENSION_ANONYMITY && (task->anonymity & ~anonymity) == 0 &&
              (task->token_type == TOKEN_TYPE_2 || task->token_type == TOKEN_TYPE_ARC)))
            return sotto_fail(err, SOTTO_MISSING, "task configuration: extension %u is unknown",
                              (unsigned)extension.type);
    if (task->batch_mode != 1 && task->batch_mode != 2)
        return sotto_fail(err, SOTTO_MISSING, "task configuration: batch mode %u is unknown",
                          task->batch_mode);
    if (task->batch_config.len > 0)
        return sotto_fail(err, SOTTO_MISSING, "task configuration: batch_config is not empty");
    return SOTTO_OK;
}

void sotto_task_id_derive(uint8_t out[SOTTO_TASK_ID_SIZE], sotto_bytes configuration)
{
    static const char label[] = "dap-taskprov task id";
    sotto_hash hash;
    uint8_t salt[32];

    sotto_hash_once(salt, SOTTO_SHA256, sotto_bytes_of(label, sizeof label - 1));
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(salt, sizeof salt));
    sotto_hash_update(&hash, configuration);
    sotto_hash_final(&hash, out);
}
