#include "serve/host/operations.h"

#include "base/alloc.h"
#include "base/hex.h"
#include "crypto/hash.h"
#include "serve/host/bearer.h"
#include "serve/host/descriptors.h"
#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "transport/http_server.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 64 << 10, BYTES_IN_FLIGHT = 4 << 20 };

struct sotto_operations {
    sotto_host *host;
    sotto_http_server *http;
    uint8_t text[TEXT]; /* of the one answer that is being written: there is one loop */
};

/* The first `len` bytes of a MAC, for one purpose. */
static void derive(char *hex, size_t len, const sotto_column_keys *columns, const char *purpose)
{
    uint8_t mac[32];

    sotto_hmac_once(mac, SOTTO_SHA256, sotto_bytes_of(columns->key[0], sizeof columns->key[0]),
                    sotto_bytes_of(purpose, strlen(purpose)));
    sotto_hex_encode(hex, sotto_bytes_of(mac, len));
    sotto_wipe(mac, sizeof mac);
}

void sotto_operations_token(char out[SOTTO_DRAIN_TOKEN], const sotto_column_keys *columns)
{
    derive(out, (SOTTO_DRAIN_TOKEN - 1) / 2, columns, "sotto operations: drain");
}

void sotto_operations_identity(char out[SOTTO_SERVER_IDENTITY], const sotto_column_keys *columns,
                               const char *service)
{
    char purpose[80];

    (void)snprintf(purpose, sizeof purpose, "sotto operations: identity of a %.40s", service);
    derive(out, (SOTTO_SERVER_IDENTITY - 1) / 2, columns, purpose);
}

/* ---- answers -------------------------------------------------------------------------------------------------------- */

static void answer_text(sotto_http_request *request, unsigned status, sotto_bytes body)
{
    const sotto_http_field fields[] = {{"Content-Type", "text/plain; charset=utf-8"},
                                       {"Cache-Control", "no-store"}};

    sotto_http_answer(request, &(sotto_http_reply){status, fields, 2, body});
}

static void on_health(sotto_operations *o, sotto_http_request *request)
{
    (void)o;
    answer_text(request, 200, sotto_bytes_of("ok\n", 3));
}

static void on_ready(sotto_operations *o, sotto_http_request *request)
{
    char identity[SOTTO_SERVER_IDENTITY];
    const sotto_http_field fields[] = {{"Content-Type", "text/plain; charset=utf-8"},
                                       {"Cache-Control", "no-store"},
                                       {SOTTO_SERVER_FIELD, identity}};
    sotto_buf out = sotto_buf_over(o->text, sizeof o->text);
    bool ready = sotto_health_describe(o->host, &out);

    sotto_operations_identity(identity, &o->host->columns, o->host->service->name);
    sotto_http_answer(request,
                      &(sotto_http_reply){ready ? 200 : 503, fields, 3, sotto_buf_bytes(&out)});
}

static void on_metrics(sotto_operations *o, sotto_http_request *request)
{
    const sotto_http_field fields[] = {
        {"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}};
    sotto_buf out = sotto_buf_over(o->text, sizeof o->text);

    if (sotto_host_metrics_write(&out, o->host, NULL) == SOTTO_OK)
        sotto_http_answer(request, &(sotto_http_reply){200, fields, 1, sotto_buf_bytes(&out)});
    else
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 500});
}

static bool may_drain(const sotto_operations *o, const sotto_http_request *request)
{
    char token[SOTTO_DRAIN_TOKEN];
    bool same;

    sotto_operations_token(token, &o->host->columns);
    same = sotto_bytes_equal(sotto_bearer_of(request), sotto_bytes_of(token, sizeof token - 1));
    sotto_wipe(token, sizeof token);
    return same;
}

static void on_drain(sotto_operations *o, sotto_http_request *request)
{
    const sotto_host_options *options = &o->host->options;

    if (!may_drain(o, request)) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 401});
    } else if (!options->on_drain) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 501});
    } else {
        options->on_drain(options->drain_context);
        answer_text(request, 202, sotto_bytes_of("draining\n", 9));
    }
}

/* ---- the port --------------------------------------------------------------------------------------------------------- */

typedef struct page {
    const char *name;
    sotto_http_method method;
    void (*answer)(sotto_operations *o, sotto_http_request *request);
} page;

static const page pages[] = {
    {"healthz", SOTTO_HTTP_GET, on_health},
    {"readyz", SOTTO_HTTP_GET, on_ready},
    {"metrics", SOTTO_HTTP_GET, on_metrics},
    {"drain", SOTTO_HTTP_POST, on_drain},
};

static const page *find(const sotto_http_request *request)
{
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (sotto_http_request_segments(request) == 1 &&
            sotto_http_request_segment_is(request, 0, pages[i].name))
            return &pages[i];
    return NULL;
}

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    const page *found = find(request);

    (void)context;
    *max_body = 0;
    if (!found)
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    if (found->method != sotto_http_request_method(request))
        return sotto_http_refuse(
            request,
            &(sotto_http_problem){.status = 405, .allow = sotto_http_method_name(found->method)});
    return true;
}

static void on_body(void *context, sotto_http_request *request)
{
    find(request)->answer(context, request);
}

static const sotto_http_handler handler = {.head = on_head, .body = on_body};

sotto_status sotto_operations_open(sotto_operations **out, sotto_host *host, sotto_err *err)
{
    sotto_operations *o = sotto_alloc(sizeof *o);
    char address[128];
    uint16_t port;
    sotto_status status;

    if (!o)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the operations port");
    o->host = host;
    status = sotto_host_listen_read(address, sizeof address, &port, host->options.operations, err);
    if (status == SOTTO_OK)
        status = sotto_http_server_open(
            &o->http,
            &(sotto_http_server_options){.address = address,
                                         .port = port,
                                         .plain_anywhere = host->options.operations_anywhere,
                                         .loops = 1,
                                         .max_connections = SOTTO_OPERATIONS_CONNECTIONS,
                                         .max_bytes_in_flight = BYTES_IN_FLIGHT,
                                         .log = &host->options.log},
            &handler, o, err);
    if (status != SOTTO_OK) {
        sotto_release(o, sizeof *o);
        return status;
    }
    *out = o;
    return SOTTO_OK;
}

void sotto_operations_close(sotto_operations *operations)
{
    if (!operations)
        return;
    sotto_http_server_close(operations->http);
    sotto_release(operations, sizeof *operations);
}

unsigned sotto_operations_port(const sotto_operations *operations)
{
    return sotto_http_server_port(operations->http);
}
