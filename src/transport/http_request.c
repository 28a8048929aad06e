#define _POSIX_C_SOURCE 200809L

#include "transport/http_server_internal.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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
    server = request->loop->server;
    sotto_release(request->body, request->body_cap);
    sotto_release(request->answer, request->answer_len);
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
        sotto_http_request_render(request, &(sotto_http_reply){.status = 500});
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

void sotto_http_request_forget_body(sotto_http_request *request)
{
    sotto_release(request->body, request->body_cap);
    request->body = NULL;
    request->body_len = request->body_cap = 0;
}

void sotto_http_request_remember(sotto_http_request *request, void *note)
{
    request->note = note;
}

void *sotto_http_request_note(const sotto_http_request *request)
{
    return request->note;
}

/* ---- the answer ---------------------------------------------------------------------------------- */

/* RFC 9110, 5.6.7, written anew once a second. The C library's own words depend on the locale. */
static const char *date_now(void)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static _Thread_local time_t written;
    static _Thread_local char text[64];
    const time_t now = time(NULL);
    struct tm at;

    if (now == written || !gmtime_r(&now, &at))
        return text;
    (void)snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[at.tm_wday % 7],
                   at.tm_mday, months[at.tm_mon % 12], at.tm_year + 1900, at.tm_hour, at.tm_min,
                   at.tm_sec);
    written = now;
    return text;
}

static void write_text(sotto_writer *out, const char *text)
{
    sotto_write_bytes(out, sotto_bytes_of(text, strlen(text)));
}

static void write_number(sotto_writer *out, uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    sotto_write_bytes(out, sotto_bytes_of(digits + at, sizeof digits - at));
}

static void write_head(sotto_writer *out, const sotto_http_request *request,
                       const sotto_http_reply *reply)
{
    write_text(out, "HTTP/1.1 ");
    write_number(out, reply->status);
    write_text(out, " ");
    write_text(out, sotto_http_status_phrase(reply->status));
    write_text(out, "\r\nDate: ");
    write_text(out, date_now());
    if (reply->status != 204 && reply->status != 304) {
        write_text(out, "\r\nContent-Length: ");
        write_number(out, reply->body.len);
    }
    if (request->closes)
        write_text(out, "\r\nConnection: close");
    else if (request->head.minor == 0)
        write_text(out, "\r\nConnection: keep-alive");
    for (size_t i = 0; i < reply->field_count; i++) {
        write_text(out, "\r\n");
        write_text(out, reply->fields[i].name);
        write_text(out, ": ");
        write_text(out, reply->fields[i].value);
    }
    write_text(out, "\r\n\r\n");
}

static size_t room_for(const sotto_http_reply *reply)
{
    size_t room = 256 + reply->body.len;

    for (size_t i = 0; i < reply->field_count; i++)
        room += strlen(reply->fields[i].name) + strlen(reply->fields[i].value) + 4;
    return room;
}

const unsigned sotto_http_times_ms[SOTTO_HTTP_TIMES - 1] = {1, 5, 20, 100, 500, 2000, 10000, 60000};

void sotto_http_request_count(const sotto_http_request *request, unsigned status)
{
    sotto_http_server *server = request->loop->server;
    uint64_t ns = sotto_clock_monotonic(&sotto_clock_system) - request->since;
    size_t row = 0;

    while (row < SOTTO_HTTP_TIMES - 1 && ns > (uint64_t)sotto_http_times_ms[row] * 1000000)
        row++;
    atomic_fetch_add_explicit(&server->answers[status / 100 - 2], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&server->times[row], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&server->time_ns, ns, memory_order_relaxed);
}

void sotto_http_request_render(sotto_http_request *request, const sotto_http_reply *reply)
{
    static const sotto_http_reply broken = {.status = 500};
    sotto_http_server *server = request->loop->server;
    sotto_buf buf;
    sotto_writer out;

    /* A handler that would let a value start a line of its own answers nothing that it meant to. */
    if (reply->status < 200 || reply->status > 599 ||
        !sotto_http_fields_are_clean(reply->fields, reply->field_count))
        reply = &broken;
    sotto_http_request_count(request, reply->status);
    request->closes = !request->head.keep_alive || atomic_load(&server->draining) ||
                      (!request->let_through && request->close_if_refused);
    const size_t room = room_for(reply);
    request->answer = sotto_alloc(room);
    if (!request->answer)
        return;
    buf = sotto_buf_over(request->answer, room);
    out = sotto_writer_on(&buf);
    write_head(&out, request, reply);
    if (!request->head.is_head && reply->status != 204 && reply->status != 304)
        sotto_write_bytes(&out, reply->body);
    if (sotto_writer_finish(&out, "answer", NULL) != SOTTO_OK)
        buf.len = 0;
    request->answer_len = buf.len;
    request->charge += room;
    sotto_http_charge(server, room);
}

void sotto_http_answer(sotto_http_request *request, const sotto_http_reply *reply)
{
    sotto_http_request_render(request, reply);
    if (in_callback == request)
        answered_here = true;
    else
        sotto_http_loop_put(request);
}

bool sotto_http_refuse(sotto_http_request *request, const sotto_http_problem *problem)
{
    uint8_t text[1024];
    char seconds[16];
    sotto_buf body = sotto_buf_over(text, sizeof text);
    sotto_http_field fields[4] = {{"Content-Type", SOTTO_HTTP_PROBLEM_TYPE}};
    size_t count = 1;

    /* A document that does not fit is left out: the status says enough. */
    if (sotto_http_problem_encode(&body, problem, NULL) != SOTTO_OK)
        count = 0;
    if (problem->retry_after_s > 0) {
        (void)snprintf(seconds, sizeof seconds, "%u", problem->retry_after_s);
        fields[count++] = (sotto_http_field){"Retry-After", seconds};
    }
    if (problem->allow)
        fields[count++] = (sotto_http_field){"Allow", problem->allow};
    if (problem->challenge)
        fields[count++] = (sotto_http_field){"WWW-Authenticate", problem->challenge};
    sotto_http_answer(request, &(sotto_http_reply){.status = problem->status,
                                                   .fields = fields,
                                                   .field_count = count,
                                                   .body = sotto_buf_bytes(&body)});
    return false;
}
