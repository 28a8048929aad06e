/* A client that makes one report for each command. */
#include "interop.h"

#include "base/clock.h"
#include "dap/report.h"
#include "dap/upload.h"
#include "device/report.h"
#include "sotto/random.h"
#include "transport/http_client.h"

#include <string.h>

enum { THREADS = 4, MEMORY = 256 << 20, CONFIGS = 16, MAX_URL = 2048, MAX_LIST = 1 << 16 };

static sotto_http_client *http;

static sotto_status url_of(char out[MAX_URL], const sotto_task *task, sotto_bytes base,
                           sotto_dap_resource resource, sotto_err *err)
{
    sotto_dap_path path = {.resource = resource};
    sotto_buf text = sotto_buf_over(out, MAX_URL - 1);

    memcpy(path.task_id, task->id, sizeof path.task_id);
    SOTTO_TRY(sotto_dap_path_encode(&text, base, &path, err));
    out[text.len] = 0;
    return SOTTO_OK;
}

/* The aggregator's key that we can seal to, encoded. */
static sotto_status fetch_key(sotto_bytes *out, const sotto_task *task, sotto_bytes base,
                              sotto_arena *arena, sotto_err *err)
{
    char url[MAX_URL];
    sotto_http_response response;
    sotto_hpke_config configs[CONFIGS];
    const sotto_hpke_config *picked;
    sotto_buf wire = sotto_buf_over(sotto_arena_take(arena, 256), 256);
    size_t count;

    if (!wire.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a key");
    SOTTO_TRY(url_of(url, task, base, SOTTO_DAP_HPKE_CONFIG, err));
    SOTTO_TRY(sotto_http_call_wait(
        http, &response,
        &(sotto_http_call){.method = SOTTO_HTTP_GET, .url = url, .max_response = MAX_LIST}, arena,
        err));
    if (response.status != 200)
        return sotto_fail(err, SOTTO_IO, "hpke_config: answer %u", response.status);
    SOTTO_TRY(sotto_hpke_config_list_decode(configs, CONFIGS, &count, response.body, err));
    SOTTO_TRY(sotto_hpke_config_pick(&picked, configs, count, err));
    SOTTO_TRY(sotto_hpke_config_encode(&wire, picked, err));
    *out = sotto_buf_bytes(&wire);
    return SOTTO_OK;
}

/* One number, or a list of them. */
static sotto_status read_measurement(sotto_measurement *out, const json_t *in, sotto_arena *arena,
                                     sotto_err *err)
{
    size_t count = json_is_array(in) ? json_array_size(in) : 1;
    uint64_t *values = sotto_arena_take_array(arena, count + 1, sizeof *values);

    if (!values)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a measurement");
    for (size_t i = 0; i < count; i++)
        SOTTO_TRY(interop_decimal(&values[i], json_is_array(in) ? json_array_get(in, i) : in,
                                  "measurement", err));
    *out = (sotto_measurement){values, count};
    return SOTTO_OK;
}

static sotto_status shard(sotto_report_parts *parts, const sotto_task *task,
                          sotto_measurement measurement, sotto_arena *arena, sotto_err *err)
{
    uint8_t context[SOTTO_DAP_CONTEXT_SIZE];
    uint8_t *rand = sotto_arena_take(arena, task->sizes.rand);
    sotto_buf open = sotto_buf_over(sotto_arena_take(arena, task->sizes.public_share + 1),
                                    task->sizes.public_share);
    sotto_buf shares[2] = {
        sotto_buf_over(sotto_arena_take(arena, task->sizes.leader_share), task->sizes.leader_share),
        sotto_buf_over(sotto_arena_take(arena, task->sizes.helper_share), task->sizes.helper_share),
    };
    sotto_prio3 vdaf;

    if (!rand || !open.data || !shares[0].data || !shares[1].data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report");
    SOTTO_TRY(sotto_prio3_init(&vdaf, arena, &task->vdaf, err));
    SOTTO_TRY(sotto_random_bytes(parts->id, sizeof parts->id, err));
    SOTTO_TRY(sotto_random_bytes(rand, task->sizes.rand, err));
    sotto_dap_context(context, task->id);
    SOTTO_TRY(sotto_prio3_shard(&vdaf, &open, shares, sotto_bytes_of(context, sizeof context),
                                measurement, parts->id, sotto_bytes_of(rand, task->sizes.rand),
                                arena, err));
    parts->public_share = sotto_buf_bytes(&open);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++)
        parts->shares[who] = sotto_buf_bytes(&shares[who]);
    return SOTTO_OK;
}

static sotto_status send(const sotto_task *task, sotto_bytes report, sotto_arena *arena,
                         sotto_err *err)
{
    char url[MAX_URL];
    sotto_http_field type = {"Content-Type", sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ)};
    sotto_http_response response;
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status failed;
    sotto_reader in;

    SOTTO_TRY(url_of(url, task, task->leader_url, SOTTO_DAP_REPORTS, err));
    SOTTO_TRY(sotto_http_call_wait(http, &response,
                                   &(sotto_http_call){.method = SOTTO_HTTP_POST,
                                                      .url = url,
                                                      .fields = &type,
                                                      .field_count = 1,
                                                      .body = report,
                                                      .repeatable = true,
                                                      .max_response = MAX_LIST},
                                   arena, err));
    if (response.status / 100 != 2)
        return sotto_fail(err, SOTTO_IO, "reports: answer %u", response.status);
    SOTTO_TRY(sotto_dap_upload_errors_decode(&errors, response.body, err));
    in = sotto_reader_over(errors.statuses);
    if (sotto_dap_upload_errors_next(&in, &failed))
        return sotto_fail(err, SOTTO_DENIED, "the report was refused: %s",
                          sotto_dap_report_error_name(failed.error));
    return SOTTO_OK;
}

static sotto_status upload(const json_t *in, json_t *out, sotto_arena *arena, sotto_err *err)
{
    const json_t *time = json_object_get(in, "time");
    uint64_t seconds = sotto_clock_wall(&sotto_clock_system) / 1000000000;
    sotto_report_parts parts = {0};
    sotto_measurement measurement;
    sotto_entropy entropy;
    sotto_status status;
    sotto_task task;
    sotto_buf report;
    size_t size;

    (void)out;
    SOTTO_TRY(interop_task(&task, in, arena, err));
    SOTTO_TRY(read_measurement(&measurement, json_object_get(in, "measurement"), arena, err));
    if (time && !json_is_null(time))
        SOTTO_TRY(interop_number(&seconds, in, "time", err));
    SOTTO_TRY(fetch_key(&parts.keys[SOTTO_REPORT_LEADER], &task, task.leader_url, arena, err));
    SOTTO_TRY(fetch_key(&parts.keys[SOTTO_REPORT_HELPER], &task, task.helper_url, arena, err));
    parts.time = sotto_dap_time_of(seconds, task.precision);
    memcpy(parts.task, task.id, sizeof parts.task);
    parts.configuration = task.configuration;
    SOTTO_TRY(shard(&parts, &task, measurement, arena, err));
    size = sotto_report_size(&parts);
    report = sotto_buf_over(sotto_arena_take(arena, size), size);
    if (!report.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a report");
    sotto_entropy_system(&entropy);
    status = sotto_report_seal(&report, &parts, parts.keys, &entropy, arena, err);
    sotto_entropy_clear(&entropy);
    return status == SOTTO_OK ? send(&task, sotto_buf_bytes(&report), arena, err) : status;
}

sotto_status interop_client(const interop_options *options, sotto_err *err)
{
    static const interop_command commands[] = {{"upload", upload}, {NULL, NULL}};
    sotto_pool *pool = NULL;
    sotto_status status = sotto_http_client_open(&http, &(sotto_http_client_options){0}, err);

    if (status == SOTTO_OK)
        status = sotto_pool_open(
            &pool,
            &(sotto_pool_options){.threads = THREADS, .queue = 1024, .arena_ceiling = MEMORY}, err);
    if (status == SOTTO_OK)
        status = interop_serve(commands, pool, options->listen, err);
    sotto_pool_close(pool);
    sotto_http_client_close(http);
    return status;
}
