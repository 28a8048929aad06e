/* A client that makes one report for each command. */
#include "interop.h"

#include "base/arena.h"
#include "base/clock.h"
#include "dap/upload.h"
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

/* The aggregator's key that we can seal to. */
static sotto_status fetch_key(sotto_hpke_config *out, const sotto_task *task, sotto_bytes base,
                              sotto_arena *arena, sotto_err *err)
{
    char url[MAX_URL];
    sotto_http_response response;
    sotto_hpke_config configs[CONFIGS];
    const sotto_hpke_config *picked;
    size_t count;

    SOTTO_TRY(url_of(url, task, base, SOTTO_DAP_HPKE_CONFIG, err));
    SOTTO_TRY(sotto_http_call_wait(
        http, &response,
        &(sotto_http_call){.method = SOTTO_HTTP_GET, .url = url, .max_response = MAX_LIST}, arena,
        err));
    if (response.status != 200)
        return sotto_fail(err, SOTTO_IO, "hpke_config: answer %u", response.status);
    SOTTO_TRY(sotto_hpke_config_list_decode(configs, CONFIGS, &count, response.body, err));
    SOTTO_TRY(sotto_hpke_config_pick(&picked, configs, count, err));
    *out = *picked; /* borrows from the answer, which is in the arena */
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

static sotto_status make(sotto_bytes *out, const sotto_task *task, uint64_t time,
                         sotto_measurement measurement, const sotto_hpke_config *to,
                         sotto_arena *arena, sotto_err *err)
{
    sotto_report_draft draft = {.configuration = task->configuration, .metadata = {.time = time}};
    sotto_dap_report report;
    sotto_buf random, wire;
    sotto_vdaf vdaf;

    memcpy(draft.task_id, task->id, sizeof draft.task_id);
    SOTTO_TRY(sotto_vdaf_open(&vdaf, &task->vdaf, arena, err));
    SOTTO_TRY(sotto_buf_take(&random, arena, sotto_report_random_size(&vdaf), err));
    SOTTO_TRY(sotto_random_bytes(random.data, random.cap, err));
    SOTTO_TRY(sotto_report_make(&report, &draft, &vdaf, measurement, to,
                                sotto_bytes_of(random.data, random.cap), arena, err));
    SOTTO_TRY(sotto_buf_take(&wire, arena, sotto_dap_report_size(&report), err));
    SOTTO_TRY(sotto_dap_report_encode(&wire, &report, err));
    *out = sotto_buf_bytes(&wire);
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
        return sotto_fail(err, SOTTO_DENIED, "the report was rejected: %s",
                          sotto_dap_report_error_name(failed.error));
    return SOTTO_OK;
}

static sotto_status upload(const json_t *in, json_t *out, sotto_arena *arena, sotto_err *err)
{
    const json_t *time = json_object_get(in, "time");
    uint64_t seconds = sotto_clock_wall(&sotto_clock_system) / 1000000000;
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
    sotto_measurement measurement;
    sotto_bytes report;
    sotto_task task;

    (void)out;
    SOTTO_TRY(interop_task(&task, in, arena, err));
    SOTTO_TRY(read_measurement(&measurement, json_object_get(in, "measurement"), arena, err));
    if (time && !json_is_null(time))
        SOTTO_TRY(interop_number(&seconds, in, "time", err));
    SOTTO_TRY(fetch_key(&to[SOTTO_REPORT_LEADER], &task, task.leader_url, arena, err));
    SOTTO_TRY(fetch_key(&to[SOTTO_REPORT_HELPER], &task, task.helper_url, arena, err));
    SOTTO_TRY(make(&report, &task, sotto_dap_time_of(seconds, task.precision), measurement, to,
                   arena, err));
    return send(&task, report, arena, err);
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
