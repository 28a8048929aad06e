/* Models of a session by their digest, over HTTP: what devices fetch. Whoever gets one compares it with the digest that it asked for. */
#include "learn_run.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hex.h"
#include "transport/http_server.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 256 << 20 };

/* GET /models/DIGEST */
static bool head(void *context, sotto_http_request *request, size_t *max_body)
{
    uint8_t digest[SOTTO_MODEL_HASH];

    (void)context;
    *max_body = 0;
    if (sotto_http_request_method(request) != SOTTO_HTTP_GET)
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 405});
    if (sotto_http_request_segments(request) != 2 ||
        !sotto_http_request_segment_is(request, 0, "models") ||
        !sotto_hex_decode(digest, sizeof digest, sotto_http_request_segment(request, 1)))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    return true;
}

/* A file of this machine's disk, read on the server's thread: nothing else is served there. */
static void body(void *context, sotto_http_request *request)
{
    static const sotto_http_field type = {"Content-Type", "application/octet-stream"};
    const learn_run *run = context;
    const sotto_bytes digest = sotto_http_request_segment(request, 1);
    char path[DEMO_FILE + LEARN_HEX];
    sotto_arena arena;
    sotto_bytes file;

    sotto_arena_init(&arena, LONGEST);
    (void)snprintf(path, sizeof path, "%s/models/%.*s", run->folder, (int)digest.len,
                   (const char *)digest.data);
    if (sotto_file_read(&file, path, LONGEST, &arena, NULL) == SOTTO_OK)
        sotto_http_answer(request, &(sotto_http_reply){200, &type, 1, file});
    else
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    sotto_arena_clear(&arena);
}

sotto_status learn_models_open(learn_run *run, sotto_err *err)
{
    static const sotto_http_handler handler = {.head = head, .body = body};

    SOTTO_TRY(sotto_http_server_open(
        &run->models, &(sotto_http_server_options){.address_share = 100}, &handler, run, err));
    (void)snprintf(run->models_url, sizeof run->models_url, "http://127.0.0.1:%u/models/",
                   sotto_http_server_port(run->models));
    return SOTTO_OK;
}

void learn_models_close(learn_run *run)
{
    sotto_http_server_close(run->models);
    run->models = NULL;
}
