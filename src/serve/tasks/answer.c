#include "serve/tasks/answer.h"

#include "sotto/random.h"

#include <stdio.h>
#include <string.h>

enum { LOCATION = 1024 };

/* False: there is none to tell. */
static bool location_of(char out[LOCATION], const sotto_server *server,
                        const sotto_server_task *task, sotto_dap_resource collection,
                        sotto_bytes id, bool waiting)
{
    sotto_dap_path path = {.resource = collection, .has_id = true};
    const char *base = server->host->options.path;
    size_t len = strlen(base);
    sotto_buf text = sotto_buf_over(out, LOCATION - 1);

    if (id.len != sizeof path.id)
        return false;
    memcpy(path.task_id, task->dap.id, sizeof path.task_id);
    memcpy(path.id, id.data, sizeof path.id);
    path.has_step = waiting && collection == SOTTO_DAP_AGGREGATION_JOBS;
    while (len > 0 && base[len - 1] == '/')
        len--;
    if (sotto_dap_path_encode(&text, sotto_bytes_of(base, len), &path, NULL) != SOTTO_OK)
        return false;
    out[text.len] = 0;
    return true;
}

void sotto_answer_message(sotto_server *server, sotto_http_request *request, unsigned status,
                          sotto_dap_message message, sotto_bytes body,
                          const sotto_server_task *task, sotto_dap_resource collection,
                          sotto_bytes id)
{
    char location[LOCATION];
    sotto_http_field fields[2] = {{"Content-Type", sotto_dap_media_type(message)}};
    size_t count = 1;

    if (location_of(location, server, task, collection, id, false))
        fields[count++] = (sotto_http_field){"Location", location};
    sotto_http_answer(request, &(sotto_http_reply){status, fields, count, body});
}

void sotto_answer_later(sotto_server *server, sotto_http_request *request, unsigned status,
                        const sotto_server_task *task, sotto_dap_resource collection,
                        sotto_bytes id, unsigned retry_after_s)
{
    char location[LOCATION], seconds[16];
    sotto_http_field fields[2] = {{"Retry-After", seconds}};
    size_t count = 1;

    (void)snprintf(seconds, sizeof seconds, "%u", retry_after_s);
    if (location_of(location, server, task, collection, id, true))
        fields[count++] = (sotto_http_field){"Location", location};
    sotto_http_answer(request, &(sotto_http_reply){status, fields, count, {NULL, 0}});
}

void sotto_answer_nothing(sotto_http_request *request)
{
    sotto_http_answer(request, &(sotto_http_reply){.status = 204});
}

void sotto_resource_id(uint8_t out[SOTTO_RESOURCE_ID_SIZE], const char *kind,
                       const sotto_server_task *task, sotto_bytes body)
{
    sotto_dap_resource_id(out, kind, task->dap.id, body);
}

sotto_status sotto_row_number(int64_t *out, sotto_err *err)
{
    uint64_t n;

    SOTTO_TRY(sotto_random_bytes(&n, sizeof n, err));
    *out = (int64_t)(n >> 1);
    return SOTTO_OK;
}
