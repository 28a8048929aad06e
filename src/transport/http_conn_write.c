/* Writing: a handler's answer, the server's own refusals, and leaving so that the client can read them. */
#define _GNU_SOURCE

#include "transport/http_conn.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <sys/socket.h>

/* The answer is written, and the request goes. What follows depends on whether the whole request was
 * read. */
bool sotto_http_conn_finish(sotto_http_conn *conn)
{
    sotto_http_request *request = conn->request;

    if (request->closes) {
        conn->unread = conn->left > 0;
        sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_CLOSING);
    } else {
        sotto_http_conn_enter(conn,
                              conn->left > 0 ? SOTTO_HTTP_CONN_DISCARD : SOTTO_HTTP_CONN_HEAD);
    }
    conn->served = true;
    conn->busy = false;
    conn->skipped = false;
    conn->scanned = 0;
    conn->request = NULL;
    sotto_http_request_free(request);
    return true;
}

/* Sends what the kernel takes at once, where nothing else waits to be sent before it: a short answer is then not copied again. False:
 * the client has gone. */
static bool send_now(sotto_http_conn *conn, const sotto_http_request *request, size_t *sent)
{
    ssize_t n;

    *sent = 0;
    if (conn->tls || request->answer_in_pieces || evbuffer_get_length(conn->loop->out) > 0 ||
        sotto_http_conn_waiting(conn) > 0)
        return true;
    n = send(conn->fd, request->answer, request->answer_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    *sent = (size_t)n;
    conn->put += (uint64_t)n;
    return true;
}

bool sotto_http_conn_deliver(sotto_http_conn *conn)
{
    sotto_http_request *request = conn->request;
    size_t sent;

    conn->busy = conn->waits = false;
    request->let_through = false; /* its handler is done with it: it can't be lost any more */
    if (request->answer_len == 0 || !send_now(conn, request, &sent) ||
        (sent < request->answer_len &&
         evbuffer_add(conn->loop->out, request->answer + sent, request->answer_len - sent) != 0))
        return sotto_http_conn_die(conn);
    if (request->answer_in_pieces)
        return sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_STREAM);
    request->answer_whole = true;
    return sotto_http_conn_finish(conn);
}

/* The server's own refusal. It is not known where the next request would begin, so this is the last one. */
bool sotto_http_conn_refuse(sotto_http_conn *conn, unsigned status)
{
    sotto_http_server *server = conn->loop->server;
    const sotto_http_problem problem = {.status = status};
    uint8_t memory[256];
    sotto_buf body = sotto_buf_over(memory, sizeof memory);
    char retry[48] = "";

    if (conn->request) {
        if (conn->request->known)
            sotto_http_request_count(conn->request, status);
        sotto_http_request_call_lost(conn->request);
        sotto_http_request_free(conn->request);
        conn->request = NULL;
    }
    if (status == 503) {
        atomic_fetch_add(&server->overloaded, 1);
        (void)evutil_snprintf(retry, sizeof retry, "Retry-After: %u\r\n",
                              server->options.retry_after_s);
    } else if (status == 413) {
        atomic_fetch_add(&server->too_large, 1);
    } else if (status == 408) {
        atomic_fetch_add(&server->timed_out, 1);
    } else {
        atomic_fetch_add(&server->malformed, 1);
    }
    conn->unread = true;
    if (sotto_http_problem_encode(&body, &problem, NULL) != SOTTO_OK ||
        evbuffer_add_printf(conn->loop->out,
                            "HTTP/1.1 %u %s\r\nContent-Type: " SOTTO_HTTP_PROBLEM_TYPE
                            "\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n%.*s",
                            status, sotto_http_status_phrase(status), body.len, retry,
                            (int)body.len, (const char *)memory) < 0)
        return sotto_http_conn_die(conn);
    return sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_CLOSING);
}

/* Hands to the kernel what the turn wrote. Sending at once, rather than when epoll says that one may, saves two system
 * calls an answer. */
void sotto_http_conn_flush(sotto_http_conn *conn)
{
    struct evbuffer *out = conn->loop->out;

    conn->put += evbuffer_get_length(out);
    if (evbuffer_get_length(out) > 0 && !conn->tls && sotto_http_conn_waiting(conn) == 0 &&
        evbuffer_write(out, conn->fd) < 0 && errno != EAGAIN && errno != EINTR)
        conn->state = SOTTO_HTTP_CONN_DEAD;
    if (evbuffer_get_length(out) > 0 && conn->state != SOTTO_HTTP_CONN_DEAD)
        bufferevent_write_buffer(conn->bev, out);
    evbuffer_drain(out, evbuffer_get_length(out));
}

/* A socket closed with unread bytes resets the connection, and the answer might be lost on its way. */
bool sotto_http_conn_step_closing(sotto_http_conn *conn)
{
    sotto_http_conn_flush(conn);
    if (conn->state == SOTTO_HTTP_CONN_DEAD || sotto_http_conn_waiting(conn) > 0)
        return false;
    if (conn->tls)
        sotto_http_tls_finish(conn->bev);
    if (conn->eof || !conn->unread || shutdown(conn->fd, SHUT_WR) != 0)
        sotto_http_conn_die(conn);
    else
        sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_LINGER);
    return false;
}

bool sotto_http_conn_step_linger(sotto_http_conn *conn)
{
    evbuffer_drain(sotto_http_conn_input(conn), evbuffer_get_length(sotto_http_conn_input(conn)));
    return conn->eof ? sotto_http_conn_die(conn) : false;
}
