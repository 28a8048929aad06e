#include "transport/http_server_internal.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

/* The request that this thread is handing to a handler right now. */
static _Thread_local const sotto_http_request *in_callback;
static _Thread_local bool answered_here;

/* ---- life ---------------------------------------------------------------------------------------- */

sotto_http_request *sotto_http_request_new(sotto_http_conn *conn, const uint8_t *text, size_t len)
{
    sotto_http_server *server = conn->loop->server;
    const size_t size = sizeof(sotto_http_request) + len;
    sotto_http_request *request;

    if (!sotto_http_reserve(server, size))
        return NULL;
    request = sotto_alloc(size);
    if (!request) {
        sotto_http_discharge(server, size);
        return NULL;
    }
    request->loop = conn->loop;
    request->conn = conn;
    request->charge = size;
    request->since = sotto_clock_monotonic(&sotto_clock_system);
    request->text_len = len;
    memcpy(request->text, text, len);
    atomic_fetch_add(&server->refs, 1);
    return request;
}

void sotto_http_request_free(sotto_http_request *request)
{
    sotto_http_server *server;

    if (!request)
        return;
    if (request->source.over)
        request->source.over(request->source.context, request, request->answer_whole);
    request->source.over = NULL;
    if (request->wakes && sotto_http_loop_will_free(request))
        return;
    server = request->loop->server;
    sotto_http_share_discharge(request);
    sotto_http_request_forget_body(request);
    if (request->answer != request->short_answer)
        sotto_release(request->answer, request->answer_cap);
    sotto_http_discharge(server, request->charge);
    sotto_release(request, sizeof *request + request->text_len);
    sotto_http_server_unref(server);
}

bool sotto_http_request_call_head(sotto_http_request *request, size_t *max_body)
{
    const sotto_http_server *server = request->loop->server;
    bool through;

    in_callback = request;
    answered_here = false;
    through = server->handler->head(server->context, request, max_body);
    in_callback = NULL;
    if (!through && !answered_here)
        sotto_http_request_render(request, &(sotto_http_reply){.status = 500}, NULL);
    request->let_through = through && !answered_here;
    return request->let_through;
}

bool sotto_http_request_call_body(sotto_http_request *request)
{
    const sotto_http_server *server = request->loop->server;

    in_callback = request;
    answered_here = false;
    server->handler->body(server->context, request);
    in_callback = NULL;
    return answered_here;
}

sotto_http_flow sotto_http_request_call_piece(sotto_http_request *request, sotto_bytes piece)
{
    const sotto_http_server *server = request->loop->server;
    sotto_http_flow flow;

    request->place = NULL;
    in_callback = request;
    answered_here = false;
    flow = server->handler->piece(server->context, request, piece);
    in_callback = NULL;
    if (answered_here)
        return SOTTO_HTTP_END;
    return flow == SOTTO_HTTP_END ? SOTTO_HTTP_FAIL
                                  : flow; /* a body ends when its client says so */
}

void sotto_http_request_answered(sotto_http_request *request)
{
    if (in_callback == request)
        answered_here = true;
    else
        sotto_http_loop_put(request, true);
}

void sotto_http_wake(sotto_http_request *request)
{
    sotto_http_loop_put(request, false);
}

void sotto_http_request_stream(sotto_http_request *request)
{
    request->body_in_pieces = request->wakes = request->loop->server->handler->piece != NULL;
}

void sotto_http_request_gather(sotto_http_request *request)
{
    request->body_in_pieces = request->wakes = false;
}

void sotto_http_request_read_to(sotto_http_request *request, uint8_t *at, size_t room)
{
    request->place = room > 0 ? at : NULL;
    request->place_room = room;
}

void sotto_http_request_call_lost(sotto_http_request *request)
{
    const sotto_http_server *server = request->loop->server;

    if (request->let_through && server->handler->lost)
        server->handler->lost(server->context, request);
    request->let_through = false;
}

/* ---- what it says -------------------------------------------------------------------------------- */

sotto_http_method sotto_http_request_method(const sotto_http_request *request)
{
    return request->head.method;
}

size_t sotto_http_request_segments(const sotto_http_request *request)
{
    return request->head.segment_count;
}

sotto_bytes sotto_http_request_segment(const sotto_http_request *request, size_t index)
{
    if (index >= request->head.segment_count)
        return sotto_bytes_of(NULL, 0);
    return request->head.segments[index];
}

bool sotto_http_request_segment_is(const sotto_http_request *request, size_t index,
                                   const char *text)
{
    return index < request->head.segment_count &&
           sotto_bytes_equal_vartime(request->head.segments[index],
                                     sotto_bytes_of(text, strlen(text)));
}

bool sotto_http_request_parameter(const sotto_http_request *request, const char *name,
                                  sotto_bytes *value)
{
    sotto_bytes rest = request->head.query;
    const size_t len = strlen(name);

    while (rest.len > 0) {
        const uint8_t *amp = memchr(rest.data, '&', rest.len);
        const size_t pair = amp ? (size_t)(amp - rest.data) : rest.len;

        if (pair >= len && memcmp(rest.data, name, len) == 0 &&
            (pair == len || rest.data[len] == '=')) {
            *value = pair == len ? sotto_bytes_of(rest.data + len, 0)
                                 : sotto_bytes_of(rest.data + len + 1, pair - len - 1);
            return true;
        }
        rest.data += amp ? pair + 1 : pair;
        rest.len -= amp ? pair + 1 : pair;
    }
    return false;
}

bool sotto_http_request_field(const sotto_http_request *request, const char *name,
                              sotto_bytes *value)
{
    const sotto_http_line *line = sotto_http_head_field(&request->head, name);

    if (line)
        *value = line->value;
    return line != NULL;
}

sotto_bytes sotto_http_request_body(const sotto_http_request *request)
{
    return sotto_bytes_of(request->body, request->body_len);
}

void sotto_http_request_seals_body(sotto_http_request *request)
{
    request->sealed = true;
}

void sotto_http_request_forget_body(sotto_http_request *request)
{
    if (request->sealed)
        sotto_release_sealed(request->body, request->body_cap);
    else
        sotto_release(request->body, request->body_cap);
    request->body = NULL;
    request->body_len = request->body_cap = 0;
}

void sotto_http_request_vouch(sotto_http_request *request)
{
    request->vouched = true;
}

void sotto_http_request_remember(sotto_http_request *request, void *note)
{
    request->note = note;
}

void *sotto_http_request_note(const sotto_http_request *request)
{
    return request->note;
}
