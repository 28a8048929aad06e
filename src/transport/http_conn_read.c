/* Reading a request: its head, then its body, whole or in chunks; and the rest of a body that nobody wants. */
#define _GNU_SOURCE

#include "transport/http_conn.h"

#include "base/alloc.h"

#include <event2/buffer.h>
#include <string.h>
#include <sys/socket.h>

enum {
    FIRST_BODY = 4096,     /* what a body gets before much of it has come           */
    MUCH_BODY = 64 << 10,  /* once this much of it has come, more follows           */
    MAX_TURN = 1 << 20,    /* of one body before others have their turn             */
    MAX_OUTPUT = 256 << 10 /* waiting for a client before its next request is begun */
};

/* ---- heads --------------------------------------------------------------------------------------- */

static bool hand_over(sotto_http_conn *conn)
{
    sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_BUSY);
    conn->busy = true;
    conn->left = 0;
    return sotto_http_request_call_body(conn->request) ? sotto_http_conn_deliver(conn) : false;
}

/* The head let the request through: its body is next, unless it is longer than allowed. */
static bool begin_body(sotto_http_conn *conn)
{
    sotto_http_server *server = conn->loop->server;
    const sotto_http_head *head = &conn->request->head;

    if (head->content_length > conn->max_body ||
        head->content_length > server->options.max_bytes_in_flight)
        return sotto_http_conn_refuse(conn, 413);
    if (head->content_length + atomic_load(&server->in_flight) >
        server->options.max_bytes_in_flight)
        return sotto_http_conn_refuse(conn, 503);
    if (!head->chunked && head->content_length == 0)
        return hand_over(conn);
    /* One who has begun to send needs no leave to go on. */
    if (head->expects_continue && evbuffer_get_length(sotto_http_conn_input(conn)) == 0)
        evbuffer_add(conn->loop->out, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    conn->chunks = (sotto_http_chunks){0};
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
        sotto_http_request_render(request, &(sotto_http_reply){204, &allow, 1, {NULL, 0}});
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
    /* An answer from before a drain did not say that it is the last, and may be sent after the idle were swept. */
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

/* ---- bodies -------------------------------------------------------------------------------------- */

/* Makes room for `more` bytes. Memory follows what has come, never what was announced. */
static bool grow_body(sotto_http_conn *conn, size_t more, uint64_t limit)
{
    sotto_http_request *request = conn->request;
    sotto_http_server *server = conn->loop->server;
    const size_t need = request->body_len + more;
    size_t cap = request->body_cap * (request->body_cap < MUCH_BODY ? 2 : 4);
    uint8_t *body;

    if (need <= request->body_cap)
        return true;
    cap = cap < FIRST_BODY ? FIRST_BODY : cap;
    cap = cap < need ? need : cap;
    cap = cap > limit ? (size_t)limit : cap;
    if (!sotto_http_reserve(server, cap - request->body_cap))
        return false;
    request->charge += cap - request->body_cap;
    body = sotto_alloc(cap);
    if (!body)
        return false;
    if (request->body_len > 0)
        memcpy(body, request->body, request->body_len);
    sotto_release(request->body, request->body_cap);
    request->body = body;
    request->body_cap = cap;
    return true;
}

static void took(sotto_http_conn *conn, size_t len)
{
    conn->request->body_len += len;
    conn->left -= len;
    conn->moved += len;
}

/* The rest of what waits in the socket goes where it belongs. libevent would take it 4 KiB at a time, asking the kernel
 * each time how much there is, and copy it once more. Errors and the end are left for libevent to find. False: no memory. */
static bool read_straight(sotto_http_conn *conn)
{
    sotto_http_request *request = conn->request;

    for (size_t taken = 0; conn->left > 0 && taken < MAX_TURN;) {
        ssize_t got;

        if (request->body_len == request->body_cap &&
            !grow_body(conn, 1, request->head.content_length))
            return false;
        got = recv(conn->fd, request->body + request->body_len,
                   request->body_cap - request->body_len, MSG_DONTWAIT);
        if (got <= 0)
            break;
        took(conn, (size_t)got);
        taken += (size_t)got;
    }
    return true;
}

bool sotto_http_conn_step_body(sotto_http_conn *conn)
{
    struct evbuffer *input = sotto_http_conn_input(conn);
    sotto_http_request *request = conn->request;
    size_t len = evbuffer_get_length(input);

    if (len == 0)
        return conn->eof ? sotto_http_conn_die(conn) : false;
    len = len > conn->left ? (size_t)conn->left : len;
    if (!grow_body(conn, len, request->head.content_length))
        return sotto_http_conn_refuse(conn, 503);
    if (evbuffer_remove(input, request->body + request->body_len, len) != (int)len)
        return sotto_http_conn_die(conn);
    took(conn, len);
    if (!conn->tls && evbuffer_get_length(input) == 0 && !read_straight(conn))
        return sotto_http_conn_refuse(conn, 503);
    return conn->left == 0 ? hand_over(conn) : false;
}

bool sotto_http_conn_step_chunked(sotto_http_conn *conn)
{
    struct evbuffer *input = sotto_http_conn_input(conn);
    sotto_http_request *request = conn->request;
    size_t len = evbuffer_get_length(input), taken = 0;
    sotto_bytes piece;
    uint8_t *text;

    if (len == 0)
        return conn->eof ? sotto_http_conn_die(conn) : false;
    len = len > SOTTO_HTTP_MAX_READ ? SOTTO_HTTP_MAX_READ : len;
    text = evbuffer_pullup(input, (ev_ssize_t)len);
    if (!text)
        return sotto_http_conn_die(conn);
    while (taken < len && conn->chunks.state < SOTTO_HTTP_CHUNK_DONE) {
        taken += sotto_http_chunks_next(&conn->chunks, sotto_bytes_of(text + taken, len - taken),
                                        &piece);
        if (piece.len > conn->max_body - request->body_len)
            return sotto_http_conn_refuse(conn, 413);
        if (piece.len == 0)
            continue;
        if (!grow_body(conn, piece.len, conn->max_body))
            return sotto_http_conn_refuse(conn, 503);
        memcpy(request->body + request->body_len, piece.data, piece.len);
        request->body_len += piece.len;
        conn->moved += piece.len;
    }
    evbuffer_drain(input, taken);
    if (conn->chunks.state == SOTTO_HTTP_CHUNK_BAD)
        return sotto_http_conn_refuse(conn, 400);
    return conn->chunks.state == SOTTO_HTTP_CHUNK_DONE ? hand_over(conn) : true;
}

bool sotto_http_conn_step_discard(sotto_http_conn *conn)
{
    struct evbuffer *input = sotto_http_conn_input(conn);
    size_t len = evbuffer_get_length(input);

    if (len == 0)
        return conn->eof ? sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_CLOSING) : false;
    len = len > conn->left ? (size_t)conn->left : len;
    evbuffer_drain(input, len);
    conn->left -= len;
    conn->moved += len;
    return conn->left == 0 ? sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_HEAD) : false;
}
