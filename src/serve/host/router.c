#include "serve/host/router.h"

#include <stdio.h>
#include <string.h>

/* Segments of the server's own path, before what the service names. */
static size_t path_depth(const sotto_host *host)
{
    size_t depth = 0;

    for (const char *at = host->options.path; *at; at++)
        depth += *at != '/' && (at[1] == '/' || at[1] == 0);
    return depth;
}

sotto_bytes sotto_route_segment(const sotto_host *host, const sotto_http_request *request, size_t i)
{
    return sotto_http_request_segment(request, path_depth(host) + i);
}

static bool path_is(const char *path, const sotto_http_request *request, size_t base)
{
    size_t i = base;

    for (const char *at = path; *at; i++) {
        sotto_bytes segment = sotto_http_request_segment(request, i);
        size_t len = strcspn(at, "/");

        if (i >= sotto_http_request_segments(request) ||
            (at[0] != '{' && (len != segment.len || memcmp(at, segment.data, len) != 0)))
            return false;
        at += len + (at[len] == '/');
    }
    return i == sotto_http_request_segments(request);
}

/* The route of this path and method; *any: one of this path by whichever method, NULL if there is none. */
static const sotto_route *find(const sotto_host *host, const sotto_http_request *request,
                               const sotto_route **any)
{
    const sotto_service *service = host->service;
    size_t base = path_depth(host);

    *any = NULL;
    for (size_t i = 0; i < service->route_count; i++) {
        const sotto_route *route = &service->routes[i];

        if (!path_is(route->path, request, base))
            continue;
        *any = route;
        if (route->method == sotto_http_request_method(request))
            return route;
    }
    return NULL;
}

void sotto_route_allow(char out[SOTTO_ALLOW], const sotto_host *host, const sotto_route *like,
                       sotto_route_filter *filter, const void *context)
{
    const sotto_service *service = host->service;
    size_t len = 0;

    out[0] = 0;
    for (size_t i = 0; i < service->route_count && len < SOTTO_ALLOW; i++) {
        const sotto_route *route = &service->routes[i];

        if (strcmp(route->path, like->path) == 0 && (!filter || filter(route, context)))
            len += (size_t)snprintf(out + len, SOTTO_ALLOW - len, "%s%s%s", len ? ", " : "",
                                    sotto_http_method_name(route->method),
                                    route->method == SOTTO_HTTP_GET ? ", HEAD" : "");
    }
}

static void refuse_method(sotto_host *host, const sotto_route *any, sotto_http_request *request)
{
    char allow[SOTTO_ALLOW];

    if (host->service->refuse_method) {
        host->service->refuse_method(host->state, any, request);
        return;
    }
    sotto_route_allow(allow, host, any, NULL, NULL);
    (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 405, .allow = allow});
}

/* NULL once it has answered. */
static const sotto_route *find_or_refuse(sotto_host *host, sotto_http_request *request)
{
    const sotto_route *any, *route = find(host, request, &any);

    if (!any)
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    else if (!route)
        refuse_method(host, any, request);
    return route;
}

static bool is_internal(const sotto_host *host, const sotto_http_request *request)
{
    return host->options.internal && sotto_http_request_segment_is(request, 0, "internal");
}

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    sotto_host *host = context;
    const sotto_route *route;

    *max_body = 0;
    if (is_internal(host, request))
        return host->options.internal->head(host->state, request, max_body);
    route = find_or_refuse(host, request);
    if (!route)
        return false;
    *max_body = route->max_body;
    if (route->piece)
        sotto_http_request_stream(request);
    return !route->admit || route->admit(host->state, route, request, max_body);
}

static void on_body(void *context, sotto_http_request *request)
{
    sotto_host *host = context;
    const sotto_route *route;

    if (is_internal(host, request)) {
        host->options.internal->body(host->state, request);
        return;
    }
    route = find_or_refuse(host, request);
    if (route)
        route->handle(host->state, route, request);
}

/* Requests under /internal come whole. Routes don't change, so the one that the head found is there. */
static sotto_http_flow on_piece(void *context, sotto_http_request *request, sotto_bytes piece)
{
    sotto_host *host = context;
    const sotto_route *any, *route = find(host, request, &any);

    return route->piece(host->state, route, request, piece);
}

static void on_lost(void *context, sotto_http_request *request)
{
    sotto_host *host = context;
    const sotto_route *any, *route = is_internal(host, request) ? NULL : find(host, request, &any);

    if (route && route->lost)
        route->lost(host->state, route, request);
}

const sotto_http_handler sotto_router = {
    .head = on_head, .body = on_body, .lost = on_lost, .piece = on_piece};
