/* An answer that is not ready may wait for a helper that is gone. The leader doesn't say so, and the collector can ask. */
#include "collect.h"

#include "base/arena.h"
#include "transport/http_client.h"

#include <stdio.h>

enum { TIMEOUT_MS = 30000, URL = 2048 };

bool sotto_collect_helper_answers(const sotto_collect_job *job)
{
    const sotto_bytes base = job->task.helper_url;
    const bool slash = base.len > 0 && base.data[base.len - 1] == '/';
    const sotto_http_client_options options = {
        .ca_file = job->ca, .plain_anywhere = job->plain, .connect_ms = TIMEOUT_MS};
    sotto_http_client *client = NULL;
    sotto_http_response response;
    sotto_arena arena;
    char url[URL];

    if ((size_t)snprintf(url, sizeof url, "%.*s%shpke_config", (int)base.len,
                         (const char *)base.data, slash ? "" : "/") >= sizeof url)
        return true; /* nothing is known of it */
    const sotto_http_call call = {
        .method = SOTTO_HTTP_GET, .url = url, .attempts = 1, .timeout_ms = TIMEOUT_MS};
    sotto_arena_init(&arena, (size_t)1 << 20);
    sotto_status status = sotto_http_client_open(&client, &options, NULL);
    if (status == SOTTO_OK)
        status = sotto_http_call_wait(client, &response, &call, &arena, NULL);
    sotto_http_client_close(client);
    sotto_arena_clear(&arena);
    return status != SOTTO_IO;
}
