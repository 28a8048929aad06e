#include "serve/leader/peer.h"

#include "serve/tasks/answer.h"

#include <stdio.h>
#include <string.h>

/* The pairing's URL, to which every task's is equal: so the token goes nowhere else, whatever a task says. */
static sotto_bytes helper_of(const sotto_server_task *task)
{
    return sotto_bytes_of(task->pairing->helper_url, strlen(task->pairing->helper_url));
}

static bool url_of(char *out, size_t size, const sotto_server_task *task,
                   sotto_dap_resource resource, sotto_bytes body)
{
    sotto_dap_path path = {.resource = resource, .has_id = task->profile == SOTTO_DAP_JANUS};
    sotto_buf text = sotto_buf_over(out, size - 1);
    sotto_bytes base = helper_of(task);

    memcpy(path.task_id, task->dap.id, sizeof path.task_id);
    if (path.has_id)
        sotto_resource_id(path.id, "chosen by the leader", task, body);
    while (base.len > 0 && base.data[base.len - 1] == '/')
        base.len--;
    if (sotto_dap_path_encode(&text, base, &path, NULL) != SOTTO_OK)
        return false;
    out[text.len] = 0;
    return true;
}

/* Our own resources have one form, whatever the profile: other helpers do not have them. */
static bool repairs_url(char *out, size_t size, const sotto_server_task *task)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];
    sotto_bytes base = helper_of(task);
    int len;

    sotto_dap_id_encode(id, sotto_bytes_of(task->dap.id, sizeof task->dap.id));
    while (base.len > 0 && base.data[base.len - 1] == '/')
        base.len--;
    len = snprintf(out, size, "%.*s/tasks/%s/repairs", (int)base.len, (const char *)base.data, id);
    return len > 0 && (size_t)len < size;
}

static void fill(sotto_peer_call *call, const sotto_server_task *task, sotto_dap_message message,
                 sotto_bytes body)
{
    bool janus = task->profile == SOTTO_DAP_JANUS;

    memset(call, 0, sizeof *call);
    (void)snprintf(call->token, sizeof call->token, janus ? "%s" : "Bearer %s",
                   task->pairing->leader_token);
    call->fields[0] = (sotto_http_field){"Content-Type", sotto_dap_media_type(message)};
    call->fields[1] = (sotto_http_field){janus ? "DAP-Auth-Token" : "Authorization", call->token};
    call->http = (sotto_http_call){.method = janus ? SOTTO_HTTP_PUT : SOTTO_HTTP_POST,
                                   .url = call->url,
                                   .fields = call->fields,
                                   .field_count = 2,
                                   .body = body,
                                   .repeatable = true,
                                   .attempts = 3};
}

bool sotto_peer_create(sotto_peer_call *call, const sotto_server_task *task,
                       sotto_dap_resource resource, sotto_dap_message message, sotto_bytes body)
{
    fill(call, task, message, body);
    return url_of(call->url, sizeof call->url, task, resource, body);
}

bool sotto_peer_repair(sotto_peer_call *call, const sotto_server_task *task, sotto_bytes body)
{
    fill(call, task, SOTTO_DAP_REPAIR_REQ, body);
    call->http.method = SOTTO_HTTP_POST;
    return repairs_url(call->url, sizeof call->url, task);
}

void sotto_peer_name_fold(sotto_peer_call *call, int64_t fold)
{
    sotto_fold_encode(call->fold, fold);
    call->fields[call->http.field_count++] = (sotto_http_field){SOTTO_FOLD_FIELD, call->fold};
}

int64_t sotto_peer_wait_ms(const sotto_http_response *response)
{
    enum { LONGEST_S = 120 }; /* db/lease.c treats a longer wait as a clock that jumped */
    unsigned seconds = response->retry_after_s;

    return (int64_t)(seconds < LONGEST_S ? seconds : LONGEST_S) * 1000;
}

bool sotto_peer_delete(sotto_peer_call *call, const sotto_server_task *task, sotto_bytes location)
{
    fill(call, task, SOTTO_DAP_AGGREGATION_JOB_INIT_REQ, sotto_bytes_of(NULL, 0));
    call->http.method = SOTTO_HTTP_DELETE;
    call->http.fields = &call->fields[1]; /* there is no body to have a type */
    call->http.field_count = 1;
    return sotto_http_locate(call->url, sizeof call->url, helper_of(task), location, NULL) ==
           SOTTO_OK;
}

void sotto_peer_call_clear(sotto_peer_call *call)
{
    sotto_wipe(call->token, sizeof call->token);
}
