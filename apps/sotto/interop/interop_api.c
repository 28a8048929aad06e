/* The interop test API: POST /internal/test/{command}, JSON in and out, and 200 whatever comes of it. */
#define _POSIX_C_SOURCE 200809L
#include "interop.h"

#include "base/alloc.h"
#include "serve/tasks/server.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODY = 4 << 20 };

static struct {
    const interop_command *commands;
    _Atomic(sotto_pool *) pool; /* set once it runs, which may be after the first request */
} role;

typedef struct asked {
    const interop_command *command;
    sotto_http_request *request;
} asked;

static void answer(sotto_http_request *request, const json_t *out)
{
    static const sotto_http_field type = {"Content-Type", "application/json"};
    char *text = json_dumps(out, JSON_COMPACT);

    sotto_http_answer(request, &(sotto_http_reply){text ? 200 : 500, &type, 1,
                                                   sotto_bytes_of(text, text ? strlen(text) : 0)});
    free(text);
}

static void tell_error(json_t *out, const char *reason)
{
    (void)json_object_clear(out);
    (void)json_object_set_new(out, "status", json_string("error"));
    (void)json_object_set_new(out, "error", json_string(reason));
}

static sotto_status run_command(const interop_command *command, sotto_bytes body, json_t *out,
                                sotto_arena *arena, sotto_err *err)
{
    json_t *in =
        json_loadb(body.len ? (const char *)body.data : "", body.len, JSON_REJECT_DUPLICATES, NULL);
    sotto_status status;

    if (json_is_object(in))
        status = command->run(in, out, arena, err);
    else
        status = sotto_fail(err, SOTTO_MALFORMED, "the request is not a JSON object");
    json_decref(in);
    return status;
}

static void work(void *context, sotto_worker *worker)
{
    asked *a = context;
    json_t *out = json_object();
    sotto_err err = {0};
    sotto_status status =
        run_command(a->command, sotto_http_request_body(a->request), out, worker->arena, &err);

    if (status != SOTTO_OK)
        tell_error(out, err.reason);
    else if (!json_object_get(out, "status"))
        (void)json_object_set_new(out, "status", json_string("success"));
    answer(a->request, out);
    json_decref(out);
    sotto_release(a, sizeof *a);
}

/* "ready" has no table entry: an empty object says it all. */
static const interop_command *find(const sotto_http_request *request, bool *ready)
{
    *ready = false;
    if (sotto_http_request_segments(request) != 3 ||
        !sotto_http_request_segment_is(request, 0, "internal") ||
        !sotto_http_request_segment_is(request, 1, "test"))
        return NULL;
    *ready = sotto_http_request_segment_is(request, 2, "ready");
    for (const interop_command *c = role.commands; c->name; c++)
        if (sotto_http_request_segment_is(request, 2, c->name))
            return c;
    return NULL;
}

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    bool ready;

    (void)context;
    *max_body = MAX_BODY;
    if (!find(request, &ready) && !ready)
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    if (sotto_http_request_method(request) != SOTTO_HTTP_POST)
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 405});
    return true;
}

static void on_body(void *context, sotto_http_request *request)
{
    bool ready;
    const interop_command *command = find(request, &ready);
    asked *a = ready ? NULL : sotto_alloc(sizeof *a);
    sotto_pool *pool = atomic_load(&role.pool);

    (void)context;
    if (ready) {
        json_t *nothing = json_object();

        answer(request, nothing);
        json_decref(nothing);
        return;
    }
    if (a)
        *a = (asked){command, request};
    if (!a || !pool || sotto_pool_post(pool, work, a, NULL) != SOTTO_OK) {
        sotto_release(a, a ? sizeof *a : 0);
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503, .retry_after_s = 1});
    }
}

const sotto_http_handler interop_handler = {.head = on_head, .body = on_body};

void interop_commands(const interop_command *commands)
{
    role.commands = commands;
}

void interop_begin(sotto_pool *pool)
{
    atomic_store(&role.pool, pool);
}

sotto_status interop_serve(const interop_command *commands, sotto_pool *pool, const char *listen,
                           sotto_err *err)
{
    sotto_http_server *server;
    uint16_t port;
    char host[128];

    SOTTO_TRY(sotto_host_listen_read(host, sizeof host, &port, listen, err));
    interop_commands(commands);
    interop_begin(pool);
    SOTTO_TRY(sotto_http_server_open(&server,
                                     &(sotto_http_server_options){.address = host, .port = port},
                                     &interop_handler, NULL, err));
    interop_wait(sotto_http_server_port(server));
    sotto_http_server_close(server);
    return SOTTO_OK;
}
