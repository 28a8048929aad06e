/* The text of an answer: its head, and its body where that is not made in pieces. */
#define _POSIX_C_SOURCE 200809L

#include "transport/http_server_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/writer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

static void write_number(sotto_writer *out, uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    sotto_write_bytes(out, sotto_bytes_of(digits + at, sizeof digits - at));
}

/* Says how long the body is. A body of unknown length is sent in chunks; HTTP/1.0 has no chunks, so there the connection's end
 * is the body's. */
static void write_length(sotto_writer *out, const sotto_http_request *request, uint64_t length)
{
    if (request->answer_chunked) {
        sotto_write_text(out, "\r\nTransfer-Encoding: chunked");
    } else if (length != SOTTO_HTTP_UNTOLD) {
        sotto_write_text(out, "\r\nContent-Length: ");
        write_number(out, length);
    }
}

static bool has_no_body(unsigned status)
{
    return status == 204 || status == 304;
}

static void write_head(sotto_writer *out, const sotto_http_request *request,
                       const sotto_http_reply *reply, uint64_t length)
{
    sotto_write_text(out, "HTTP/1.1 ");
    write_number(out, reply->status);
    sotto_write_text(out, " ");
    sotto_write_text(out, sotto_http_status_phrase(reply->status));
    sotto_write_text(out, "\r\nDate: ");
    sotto_write_text(out, date_now());
    if (!has_no_body(reply->status))
        write_length(out, request, length);
    if (request->closes)
        sotto_write_text(out, "\r\nConnection: close");
    else if (request->head.minor == 0)
        sotto_write_text(out, "\r\nConnection: keep-alive");
    for (size_t i = 0; i < reply->field_count; i++) {
        sotto_write_text(out, "\r\n");
        sotto_write_text(out, reply->fields[i].name);
        sotto_write_text(out, ": ");
        sotto_write_text(out, reply->fields[i].value);
    }
    sotto_write_text(out, "\r\n\r\n");
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

/* How the source's body is sent, and whether anything of it is. */
static void plan_pieces(sotto_http_request *request, const sotto_http_source *source,
                        unsigned status)
{
    const bool untold = source->length == SOTTO_HTTP_UNTOLD;

    request->answer_left = source->length;
    request->answer_chunked = untold && request->head.minor > 0 && !has_no_body(status);
    request->answer_in_pieces =
        !request->head.is_head && !has_no_body(status) && source->length > 0;
    request->closes = request->closes || (untold && request->head.minor == 0);
}

void sotto_http_request_render(sotto_http_request *request, const sotto_http_reply *reply,
                               const sotto_http_source *source)
{
    static const sotto_http_reply broken = {.status = 500};
    sotto_http_server *server = request->loop->server;
    sotto_buf buf;
    sotto_writer out;

    /* A header value that could start a new line is refused, with the whole answer. */
    if (reply->status < 200 || reply->status > 599 ||
        !sotto_http_fields_are_clean(reply->fields, reply->field_count)) {
        reply = &broken;
        source = NULL;
    }
    sotto_http_request_count(request, reply->status);
    request->closes = !request->head.keep_alive || atomic_load(&server->draining) ||
                      (!request->whole && request->close_if_refused);
    if (source)
        plan_pieces(request, source, reply->status);
    const size_t room = room_for(reply);
    request->answer =
        room <= sizeof request->short_answer ? request->short_answer : sotto_alloc(room);
    if (!request->answer)
        return;
    request->answer_cap = room;
    buf = sotto_buf_over(request->answer, room);
    out = sotto_writer_on(&buf);
    write_head(&out, request, reply, source ? source->length : reply->body.len);
    if (!source && !request->head.is_head && !has_no_body(reply->status))
        sotto_write_bytes(&out, reply->body);
    if (sotto_writer_finish(&out, "answer", NULL) != SOTTO_OK)
        buf.len = 0;
    request->answer_len = buf.len;
    request->charge += room;
    sotto_http_charge(server, room);
}

void sotto_http_answer(sotto_http_request *request, const sotto_http_reply *reply)
{
    sotto_http_request_render(request, reply, NULL);
    sotto_http_request_answered(request);
}

void sotto_http_answer_stream(sotto_http_request *request, const sotto_http_reply *reply,
                              const sotto_http_source *source)
{
    request->source = *source;
    request->wakes = true;
    sotto_http_request_render(request, reply, source);
    sotto_http_request_answered(request);
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
