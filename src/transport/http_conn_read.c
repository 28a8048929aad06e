/* Reading a request's head, and what its handler says to it. */
#define _GNU_SOURCE

#include "transport/http_conn.h"

#include <event2/buffer.h>

enum { MAX_OUTPUT = 256 << 10 }; /* waiting for a client before its next request is begun */

/* Whether a body of the announced length can be taken; 0, or the status to refuse it with before it is read. */
static unsigned refuse_length(const sotto_http_conn *conn)
{
    const sotto_http_server *server = conn->loop->server;
    const uint64_t length = conn->request->head.content_length,
                   most = server->options.max_bytes_in_flight;

    if (length > conn->max_body)
        return 413;
    if (conn->request->body_in_pieces) /* it is never held */
        return 0;
    if (length > most)
        return 413;
    return length + atomic_load(&server->in_flight) > most ? 503 : 0;
}

/* A short body that came with its head is there already, so it needs no share of the
 * connections. */
static bool is_here(const sotto_http_conn *conn)
{
    return conn->left <= evbuffer_get_length(sotto_http_conn_input(conn));
}

/* The head let the request through: its body is next, unless it is longer than allowed. */
static bool begin_body(sotto_http_conn *conn)
{
    const sotto_http_head *head = &conn->request->head;
    const unsigned refused = refuse_length(conn);

    if (refused)
        return sotto_http_conn_refuse(conn, refused);
    if (!head->chunked && head->content_length == 0)
        return sotto_http_conn_hand_over(conn);
    if (!is_here(conn) && !sotto_http_share_begin_body(conn))
        return sotto_http_conn_refuse(conn, 503);
    /* A client that has begun to send the body needs no 100 Continue. */
    if (head->expects_continue && evbuffer_get_length(sotto_http_conn_input(conn)) == 0)
        evbuffer_add(conn->loop->out, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    conn->chunks = (sotto_http_chunks){0};
    conn->taken = 0;
    conn->waits = false;
    return sotto_http_conn_enter(conn,
                                 head->chunked ? SOTTO_HTTP_CONN_CHUNKED : SOTTO_HTTP_CONN_BODY);
}

static bool begin_request(sotto_http_conn *conn)
{
    static const sotto_http_field allow = {"Allow", "GET, HEAD, PUT, POST, DELETE, OPTIONS"};
    sotto_http_server *server = conn->loop->server;
    sotto_http_request *request = conn->request;
    sotto_http_head *head = &request->head;
    const unsigned refused =
        sotto_http_head_parse(head, request->text, request->text_len, server->options.max_fields);

    if (refused)
        return sotto_http_conn_refuse(conn, refused);
    atomic_fetch_add_explicit(&server->requests, 1, memory_order_relaxed);
    request->known = true;
    conn->left = head->chunked ? UINT64_MAX : head->content_length;
    conn->max_body = 0;
    request->close_if_refused = conn->left > SOTTO_HTTP_MAX_DISCARD || head->expects_continue;
    if (head->any_target) {
        sotto_http_request_render(request, &(sotto_http_reply){204, &allow, 1, {NULL, 0}}, NULL);
        return sotto_http_conn_deliver(conn);
    }
    return sotto_http_request_call_head(request, &conn->max_body) ? begin_body(conn)
                                                                  : sotto_http_conn_deliver(conn);
}

bool sotto_http_conn_step_head(sotto_http_conn *conn)
{
    struct evbuffer *input = sotto_http_conn_input(conn);
    const size_t max = conn->loop->server->options.max_head;
    size_t len = evbuffer_get_length(input), end;
    const uint8_t *text;

    /* A client that doesn't take its answers gets no more of them. */
    if (sotto_http_conn_waiting(conn) > MAX_OUTPUT)
        return false;
    /* An answer from before a drain did not say that it is the last one, and may be sent after idle connections
     * were closed. */
    if (len == 0)
        return conn->eof || atomic_load(&conn->loop->server->draining)
                   ? sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_CLOSING)
                   : false;
    if (conn->scanned == 0)
        conn->since = sotto_http_conn_now();
    text = evbuffer_pullup(input, (ev_ssize_t)(len < max ? len : max));
    if (!text)
        return sotto_http_conn_die(conn);
    if (len >= 2 && !conn->skipped && text[0] == '\r' && text[1] == '\n') {
        conn->skipped = true; /* RFC 9112, 2.2: one empty line is forgiven */
        evbuffer_drain(input, 2);
        return true;
    }
    end = sotto_http_head_end(sotto_bytes_of(text, len < max ? len : max), conn->scanned);
    if (end == 0) {
        conn->scanned = len < max ? len : max;
        if (len >= max)
            return sotto_http_conn_refuse(conn, 431);
        return conn->eof ? sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_CLOSING) : false;
    }
    conn->request = sotto_http_request_new(conn, text, end);
    evbuffer_drain(input, end);
    return conn->request ? begin_request(conn) : sotto_http_conn_refuse(conn, 503);
}
