/* A connection is a state and a step for each state. A turn steps until nothing moves, then writes what came of it, settles
 * how many bytes the connection holds, and lets it go if it is dead. */
#define _GNU_SOURCE

#include "transport/http_server_internal.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    FIRST_BODY = 4096,      /* what a body gets before much of it has come              */
    MUCH_BODY = 64 << 10,   /* once this much of it has come, more follows             */
    MAX_TURN = 1 << 20,     /* of one body before others have their turn                */
    MAX_READ = 64 << 10,    /* looked at in one piece                                   */
    MAX_OUTPUT = 256 << 10, /* waiting for a client before its next request is begun    */
    LINGER_MS = 2000,
    MS = 1000000
};

static uint64_t now_ns(void)
{
    return sotto_clock_monotonic(&sotto_clock_system);
}

static struct evbuffer *input_of(const sotto_http_conn *conn)
{
    return bufferevent_get_input(conn->bev);
}

static size_t output_waiting(const sotto_http_conn *conn)
{
    return evbuffer_get_length(bufferevent_get_output(conn->bev));
}

static bool enter(sotto_http_conn *conn, sotto_http_conn_state state)
{
    conn->state = state;
    conn->since = now_ns();
    conn->moved = 0;
    return true;
}

static bool die(sotto_http_conn *conn)
{
    return enter(conn, SOTTO_HTTP_CONN_DEAD);
}

/* ---- answering ----------------------------------------------------------------------------------- */

/* Sends the request's answer and lets it go. What follows depends on whether the client was heard out. */
static bool deliver(sotto_http_conn *conn)
{
    sotto_http_request *request = conn->request;

    if (request->answer_len == 0 ||
        evbuffer_add(conn->loop->out, request->answer, request->answer_len) != 0) {
        die(conn);
    } else if (request->closes) {
        conn->unread = conn->left > 0;
        enter(conn, SOTTO_HTTP_CONN_CLOSING);
    } else {
        enter(conn, conn->left > 0 ? SOTTO_HTTP_CONN_DISCARD : SOTTO_HTTP_CONN_HEAD);
    }
    conn->served = true;
    conn->busy = false;
    conn->skipped = false;
    conn->scanned = 0;
    conn->request = NULL;
    sotto_http_request_free(request);
    return true;
}

/* The server's own refusal. There is no telling where the next request would begin, so this is the last one. */
static bool refuse(sotto_http_conn *conn, unsigned status)
{
    sotto_http_server *server = conn->loop->server;
    const sotto_http_problem problem = {.status = status};
    uint8_t memory[256];
    sotto_buf body = sotto_buf_over(memory, sizeof memory);
    char retry[48] = "";

    if (conn->request) {
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
        return die(conn);
    return enter(conn, SOTTO_HTTP_CONN_CLOSING);
}

/* ---- heads --------------------------------------------------------------------------------------- */

static bool hand_over(sotto_http_conn *conn)
{
    enter(conn, SOTTO_HTTP_CONN_BUSY);
    conn->busy = true;
    conn->left = 0;
    return sotto_http_request_call_body(conn->request) ? deliver(conn) : false;
}

/* The head let the request through: its body is next, unless it is longer than allowed. */
static bool begin_body(sotto_http_conn *conn)
{
    sotto_http_server *server = conn->loop->server;
    const sotto_http_head *head = &conn->request->head;

    if (head->content_length > conn->max_body ||
        head->content_length > server->options.max_bytes_in_flight)
        return refuse(conn, 413);
    if (head->content_length + atomic_load(&server->in_flight) >
        server->options.max_bytes_in_flight)
        return refuse(conn, 503);
    if (!head->chunked && head->content_length == 0)
        return hand_over(conn);
    /* One who has begun to send needs no leave to go on. */
    if (head->expects_continue && evbuffer_get_length(input_of(conn)) == 0)
        evbuffer_add(conn->loop->out, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    conn->chunks = (sotto_http_chunks){0};
    return enter(conn, head->chunked ? SOTTO_HTTP_CONN_CHUNKED : SOTTO_HTTP_CONN_BODY);
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
        return refuse(conn, refused);
    atomic_fetch_add_explicit(&server->requests, 1, memory_order_relaxed);
    conn->left = head->chunked ? UINT64_MAX : head->content_length;
    conn->max_body = 0;
    request->close_if_refused = conn->left > SOTTO_HTTP_MAX_DISCARD || head->expects_continue;
    if (head->any_target) {
        sotto_http_request_render(request, &(sotto_http_reply){204, &allow, 1, {NULL, 0}});
        return deliver(conn);
    }
    return sotto_http_request_call_head(request, &conn->max_body) ? begin_body(conn)
                                                                  : deliver(conn);
}

static bool step_head(sotto_http_conn *conn)
{
    struct evbuffer *input = input_of(conn);
    const size_t max = conn->loop->server->options.max_head;
    size_t len = evbuffer_get_length(input), end;
    const uint8_t *text;

    /* A client that doesn't take its answers gets no more of them. */
    if (output_waiting(conn) > MAX_OUTPUT)
        return false;
    if (len == 0)
        return conn->eof ? enter(conn, SOTTO_HTTP_CONN_CLOSING) : false;
    if (conn->scanned == 0)
        conn->since = now_ns();
    text = evbuffer_pullup(input, (ev_ssize_t)(len < max ? len : max));
    if (!text)
        return die(conn);
    if (len >= 2 && !conn->skipped && text[0] == '\r' && text[1] == '\n') {
        conn->skipped = true; /* RFC 9112, 2.2: one empty line is forgiven */
        evbuffer_drain(input, 2);
        return true;
    }
    end = sotto_http_head_end(sotto_bytes_of(text, len < max ? len : max), conn->scanned);
    if (end == 0) {
        conn->scanned = len < max ? len : max;
        if (len >= max)
            return refuse(conn, 431);
        return conn->eof ? enter(conn, SOTTO_HTTP_CONN_CLOSING) : false;
    }
    conn->request = sotto_http_request_new(conn, text, end);
    evbuffer_drain(input, end);
    return conn->request ? begin_request(conn) : refuse(conn, 503);
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

static bool step_body(sotto_http_conn *conn)
{
    struct evbuffer *input = input_of(conn);
    sotto_http_request *request = conn->request;
    size_t len = evbuffer_get_length(input);

    if (len == 0)
        return conn->eof ? die(conn) : false;
    len = len > conn->left ? (size_t)conn->left : len;
    if (!grow_body(conn, len, request->head.content_length))
        return refuse(conn, 503);
    if (evbuffer_remove(input, request->body + request->body_len, len) != (int)len)
        return die(conn);
    took(conn, len);
    if (!conn->tls && evbuffer_get_length(input) == 0 && !read_straight(conn))
        return refuse(conn, 503);
    return conn->left == 0 ? hand_over(conn) : false;
}

static bool step_chunked(sotto_http_conn *conn)
{
    struct evbuffer *input = input_of(conn);
    sotto_http_request *request = conn->request;
    size_t len = evbuffer_get_length(input), taken = 0;
    sotto_bytes piece;
    uint8_t *text;

    if (len == 0)
        return conn->eof ? die(conn) : false;
    len = len > MAX_READ ? MAX_READ : len;
    text = evbuffer_pullup(input, (ev_ssize_t)len);
    if (!text)
        return die(conn);
    while (taken < len && conn->chunks.state < SOTTO_HTTP_CHUNK_DONE) {
        taken += sotto_http_chunks_next(&conn->chunks, sotto_bytes_of(text + taken, len - taken),
                                        &piece);
        if (piece.len > conn->max_body - request->body_len)
            return refuse(conn, 413);
        if (piece.len == 0)
            continue;
        if (!grow_body(conn, piece.len, conn->max_body))
            return refuse(conn, 503);
        memcpy(request->body + request->body_len, piece.data, piece.len);
        request->body_len += piece.len;
        conn->moved += piece.len;
    }
    evbuffer_drain(input, taken);
    if (conn->chunks.state == SOTTO_HTTP_CHUNK_BAD)
        return refuse(conn, 400);
    return conn->chunks.state == SOTTO_HTTP_CHUNK_DONE ? hand_over(conn) : true;
}

/* ---- waiting and leaving ------------------------------------------------------------------------- */

static bool step_busy(sotto_http_conn *conn)
{
    (void)conn;
    return false;
}

static bool step_discard(sotto_http_conn *conn)
{
    struct evbuffer *input = input_of(conn);
    size_t len = evbuffer_get_length(input);

    if (len == 0)
        return conn->eof ? enter(conn, SOTTO_HTTP_CONN_CLOSING) : false;
    len = len > conn->left ? (size_t)conn->left : len;
    evbuffer_drain(input, len);
    conn->left -= len;
    conn->moved += len;
    return conn->left == 0 ? enter(conn, SOTTO_HTTP_CONN_HEAD) : false;
}

/* Hands to the kernel what the turn wrote. Sending at once, rather than when epoll says that one may, saves two system
 * calls an answer. */
static void flush(sotto_http_conn *conn)
{
    struct evbuffer *out = conn->loop->out;

    if (evbuffer_get_length(out) > 0 && !conn->tls && output_waiting(conn) == 0 &&
        evbuffer_write(out, conn->fd) < 0 && errno != EAGAIN && errno != EINTR)
        conn->state = SOTTO_HTTP_CONN_DEAD;
    if (evbuffer_get_length(out) > 0 && conn->state != SOTTO_HTTP_CONN_DEAD)
        bufferevent_write_buffer(conn->bev, out);
    evbuffer_drain(out, evbuffer_get_length(out));
}

/* A socket closed with unread bytes resets the connection, and the answer might be lost on its way. */
static bool step_closing(sotto_http_conn *conn)
{
    flush(conn);
    if (conn->state == SOTTO_HTTP_CONN_DEAD || output_waiting(conn) > 0)
        return false;
    if (conn->tls)
        sotto_http_tls_finish(conn->bev);
    if (conn->eof || !conn->unread || shutdown(conn->fd, SHUT_WR) != 0)
        die(conn);
    else
        enter(conn, SOTTO_HTTP_CONN_LINGER);
    return false;
}

static bool step_linger(sotto_http_conn *conn)
{
    evbuffer_drain(input_of(conn), evbuffer_get_length(input_of(conn)));
    return conn->eof ? die(conn) : false;
}

static bool step_dead(sotto_http_conn *conn)
{
    (void)conn;
    return false;
}

/* Counts what the connection's buffers hold. False if that is more than all connections may hold together. */
static bool settle(sotto_http_conn *conn)
{
    sotto_http_server *server = conn->loop->server;
    const size_t held = evbuffer_get_length(input_of(conn)) + output_waiting(conn);
    bool fits = true;

    if (held < conn->charge) {
        sotto_http_discharge(server, conn->charge - held);
    } else if (held > conn->charge && !sotto_http_reserve(server, held - conn->charge)) {
        sotto_http_charge(server, held - conn->charge);
        fits = false;
    }
    conn->charge = held;
    return fits;
}

static void turn(sotto_http_conn *conn)
{
    static bool (*const step[])(sotto_http_conn *) = {
        [SOTTO_HTTP_CONN_HEAD] = step_head,       [SOTTO_HTTP_CONN_BODY] = step_body,
        [SOTTO_HTTP_CONN_CHUNKED] = step_chunked, [SOTTO_HTTP_CONN_BUSY] = step_busy,
        [SOTTO_HTTP_CONN_DISCARD] = step_discard, [SOTTO_HTTP_CONN_CLOSING] = step_closing,
        [SOTTO_HTTP_CONN_LINGER] = step_linger,   [SOTTO_HTTP_CONN_DEAD] = step_dead,
    };

    while (step[conn->state](conn)) {
    }
    flush(conn);
    if (!settle(conn) &&
        (conn->state == SOTTO_HTTP_CONN_HEAD || conn->state == SOTTO_HTTP_CONN_BODY ||
         conn->state == SOTTO_HTTP_CONN_CHUNKED)) {
        refuse(conn, 503);
        step_closing(conn);
    }
    if (conn->state == SOTTO_HTTP_CONN_DEAD)
        sotto_http_conn_free(conn);
}

/* ---- what happens to it -------------------------------------------------------------------------- */

static void on_bytes(struct bufferevent *bev, void *context)
{
    (void)bev;
    turn(context);
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    sotto_http_conn *conn = context;

    (void)bev;
    if (what & (BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT))
        die(conn);
    else if (what & BEV_EVENT_EOF)
        conn->eof = true;
    turn(conn);
}

void sotto_http_conn_answer(sotto_http_request *request)
{
    sotto_http_conn *conn = request->conn;

    if (!conn) {
        sotto_http_request_free(request);
        return;
    }
    deliver(conn);
    turn(conn);
}

static bool expired(uint64_t now, uint64_t since, uint64_t ms)
{
    return now > since && (now - since) / MS > ms;
}

/* Each window of time must carry its bytes, so that a quick start earns no leave to dawdle later. */
static bool too_slow(const sotto_http_conn *conn, uint64_t now, uint64_t *since, uint64_t *moved,
                     uint64_t ms)
{
    if (!expired(now, *since, ms))
        return false;
    if (*moved * 1000 < conn->loop->server->options.min_rate * ms)
        return true;
    *since = now;
    *moved = 0;
    return false;
}

static bool takes_too_slowly(sotto_http_conn *conn, uint64_t now)
{
    const size_t waiting = output_waiting(conn);

    if (conn->write_since == 0) {
        conn->write_since = now;
        conn->written = 0;
    } else if (waiting < conn->waiting) {
        conn->written += conn->waiting - waiting;
    }
    conn->waiting = waiting;
    return too_slow(conn, now, &conn->write_since, &conn->written,
                    conn->loop->server->options.write_ms);
}

typedef enum verdict { IN_TIME, LEAVE, CUT, REFUSE } verdict;

static verdict verdict_on_head(const sotto_http_conn *conn, uint64_t now)
{
    const sotto_http_server_options *o = &conn->loop->server->options;
    const bool silent = evbuffer_get_length(input_of(conn)) == 0;

    if (silent && conn->served)
        return expired(now, conn->since, o->idle_ms) ? LEAVE : IN_TIME;
    if (!expired(now, conn->since, o->head_ms))
        return IN_TIME;
    return silent ? CUT : REFUSE;
}

static verdict verdict_on_time(sotto_http_conn *conn, uint64_t now)
{
    const unsigned body_ms = conn->loop->server->options.body_ms;

    if (output_waiting(conn) > 0)
        return takes_too_slowly(conn, now) ? CUT : IN_TIME;
    conn->write_since = 0;
    switch (conn->state) {
    case SOTTO_HTTP_CONN_HEAD:
        return verdict_on_head(conn, now);
    case SOTTO_HTTP_CONN_BODY:
    case SOTTO_HTTP_CONN_CHUNKED:
        return too_slow(conn, now, &conn->since, &conn->moved, body_ms) ? REFUSE : IN_TIME;
    case SOTTO_HTTP_CONN_DISCARD:
        return too_slow(conn, now, &conn->since, &conn->moved, body_ms) ? CUT : IN_TIME;
    case SOTTO_HTTP_CONN_LINGER:
        return expired(now, conn->since, LINGER_MS) ? LEAVE : IN_TIME;
    default:
        return IN_TIME;
    }
}

void sotto_http_conn_check_time(sotto_http_conn *conn, uint64_t now)
{
    const verdict found = verdict_on_time(conn, now);

    if (found == IN_TIME)
        return;
    if (found == CUT)
        atomic_fetch_add(&conn->loop->server->timed_out, 1);
    if (found == REFUSE)
        refuse(conn, 408);
    else
        die(conn);
    turn(conn);
}

void sotto_http_conn_sweep(sotto_http_conn *conn)
{
    if (conn->state != SOTTO_HTTP_CONN_HEAD || evbuffer_get_length(input_of(conn)) > 0)
        return;
    enter(conn, SOTTO_HTTP_CONN_CLOSING);
    turn(conn);
}

/* ---- life ---------------------------------------------------------------------------------------- */

void sotto_http_conn_open(sotto_http_loop *loop, int fd)
{
    sotto_http_server *server = loop->server;
    sotto_http_conn *conn = sotto_alloc(sizeof *conn);
    const int one = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (conn) {
        conn->bev = server->tls ? sotto_http_tls_accept(server->tls, loop->base, fd)
                                : bufferevent_socket_new(loop->base, fd, BEV_OPT_CLOSE_ON_FREE);
    }
    if (!conn || !conn->bev) {
        sotto_release(conn, sizeof *conn);
        (void)close(fd);
        atomic_fetch_sub(&loop->conn_count, 1);
        sotto_http_server_lost_connection(server);
        return;
    }
    conn->loop = loop;
    conn->fd = fd;
    conn->tls = server->tls != NULL;
    conn->next = loop->conns;
    if (conn->next)
        conn->next->previous = conn;
    loop->conns = conn;
    enter(conn, SOTTO_HTTP_CONN_HEAD);
    bufferevent_setcb(conn->bev, on_bytes, on_bytes, on_event, conn);
    /* Never more than one head and one read ahead of what was asked for. */
    bufferevent_setwatermark(conn->bev, EV_READ, 0, server->options.max_head + MAX_READ);
    if (bufferevent_enable(conn->bev, EV_READ | EV_WRITE) != 0) {
        sotto_http_conn_free(conn);
    }
}

void sotto_http_conn_free(sotto_http_conn *conn)
{
    sotto_http_loop *loop = conn->loop;
    sotto_http_request *request = conn->request;

    if (request && conn->busy) {
        request->conn = NULL; /* its handler has it */
    } else if (request) {
        sotto_http_request_call_lost(request);
        sotto_http_request_free(request);
    }
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        loop->conns = conn->next;
    if (conn->next)
        conn->next->previous = conn->previous;
    sotto_http_discharge(loop->server, conn->charge);
    bufferevent_free(conn->bev);
    sotto_release(conn, sizeof *conn);
    atomic_fetch_sub(&loop->conn_count, 1);
    sotto_http_server_lost_connection(loop->server);
}
