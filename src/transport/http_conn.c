/* A connection is a state and a step for each state. A turn steps until nothing moves, then writes what came of it, settles
 * how many bytes the connection holds, and lets it go if it is dead. */
#define _GNU_SOURCE

#include "transport/http_conn.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

uint64_t sotto_http_conn_now(void)
{
    return sotto_clock_monotonic(&sotto_clock_system);
}

struct evbuffer *sotto_http_conn_input(const sotto_http_conn *conn)
{
    return bufferevent_get_input(conn->bev);
}

size_t sotto_http_conn_waiting(const sotto_http_conn *conn)
{
    return evbuffer_get_length(bufferevent_get_output(conn->bev));
}

bool sotto_http_conn_enter(sotto_http_conn *conn, sotto_http_conn_state state)
{
    if (conn->in_body && state != SOTTO_HTTP_CONN_BODY && state != SOTTO_HTTP_CONN_CHUNKED)
        sotto_http_share_end_body(conn);
    conn->state = state;
    conn->since = sotto_http_conn_now();
    conn->moved = 0;
    return true;
}

bool sotto_http_conn_die(sotto_http_conn *conn)
{
    return sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_DEAD);
}

/* ---- turns ---------------------------------------------------------------------------------------- */

static bool step_busy(sotto_http_conn *conn)
{
    (void)conn;
    return false;
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
    const size_t held =
        evbuffer_get_length(sotto_http_conn_input(conn)) + sotto_http_conn_waiting(conn);
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

void sotto_http_conn_turn(sotto_http_conn *conn)
{
    static bool (*const step[])(sotto_http_conn *) = {
        [SOTTO_HTTP_CONN_HEAD] = sotto_http_conn_step_head,
        [SOTTO_HTTP_CONN_BODY] = sotto_http_conn_step_body,
        [SOTTO_HTTP_CONN_CHUNKED] = sotto_http_conn_step_chunked,
        [SOTTO_HTTP_CONN_BUSY] = step_busy,
        [SOTTO_HTTP_CONN_STREAM] = sotto_http_conn_step_stream,
        [SOTTO_HTTP_CONN_DISCARD] = sotto_http_conn_step_discard,
        [SOTTO_HTTP_CONN_CLOSING] = sotto_http_conn_step_closing,
        [SOTTO_HTTP_CONN_LINGER] = sotto_http_conn_step_linger,
        [SOTTO_HTTP_CONN_DEAD] = step_dead,
    };

    while (step[conn->state](conn)) {
    }
    sotto_http_conn_flush(conn);
    if (!settle(conn) &&
        (conn->state == SOTTO_HTTP_CONN_HEAD || conn->state == SOTTO_HTTP_CONN_BODY ||
         conn->state == SOTTO_HTTP_CONN_CHUNKED)) {
        sotto_http_conn_refuse(conn, 503);
        sotto_http_conn_step_closing(conn);
    }
    if (conn->state == SOTTO_HTTP_CONN_DEAD)
        sotto_http_conn_free(conn);
    else
        sotto_http_room_enqueue(conn);
}

/* ---- what happens to it -------------------------------------------------------------------------- */

static void on_bytes(struct bufferevent *bev, void *context)
{
    (void)bev;
    sotto_http_conn_turn(context);
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    sotto_http_conn *conn = context;

    (void)bev;
    if (what & (BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT))
        sotto_http_conn_die(conn);
    else if (what & BEV_EVENT_EOF)
        conn->eof = true;
    sotto_http_conn_turn(conn);
}

void sotto_http_conn_answer(sotto_http_request *request)
{
    sotto_http_conn *conn = request->conn;

    if (!conn) {
        sotto_http_request_free(request);
        return;
    }
    sotto_http_conn_deliver(conn);
    sotto_http_conn_turn(conn);
}

void sotto_http_conn_woken(sotto_http_request *request)
{
    sotto_http_conn *conn = request->conn;

    /* While the handler has the request, no timeout runs; and the reason for the wake-up may be
     * gone. */
    if (!conn || conn->busy)
        return;
    if (conn->state == SOTTO_HTTP_CONN_BODY || conn->state == SOTTO_HTTP_CONN_CHUNKED)
        sotto_http_conn_wake_body(conn);
    conn->waits = conn->waits && conn->state != SOTTO_HTTP_CONN_STREAM;
    sotto_http_conn_turn(conn);
}

void sotto_http_conn_sweep(sotto_http_conn *conn)
{
    if (conn->state == SOTTO_HTTP_CONN_STREAM && conn->request->source.endless) {
        conn->waits = false;
        sotto_http_conn_turn(conn);
        return;
    }
    if (conn->state != SOTTO_HTTP_CONN_HEAD || evbuffer_get_length(sotto_http_conn_input(conn)) > 0)
        return;
    sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_CLOSING);
    sotto_http_conn_turn(conn);
}

/* ---- life ---------------------------------------------------------------------------------------- */

void sotto_http_conn_open(sotto_http_loop *loop, int fd)
{
    sotto_http_server *server = loop->server;
    sotto_http_conn *conn = sotto_alloc(sizeof *conn);
    const int one = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (conn)
        conn->peer = sotto_http_peer_find(&server->peers, fd);
    if (conn && conn->peer) {
        conn->bev = server->tls ? sotto_http_tls_accept(server->tls, loop->base, fd)
                                : bufferevent_socket_new(loop->base, fd, BEV_OPT_CLOSE_ON_FREE);
    }
    if (!conn || !conn->bev) {
        sotto_http_peer_leave(&server->peers, conn ? conn->peer : NULL);
        sotto_release(conn, sizeof *conn);
        (void)close(fd);
        atomic_fetch_sub(&loop->conn_count, 1);
        sotto_http_server_lost_connections(server, 1);
        return;
    }
    conn->loop = loop;
    conn->fd = fd;
    conn->tls = server->tls != NULL;
    conn->next = loop->conns;
    if (conn->next)
        conn->next->previous = conn;
    loop->conns = conn;
    sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_HEAD);
    bufferevent_setcb(conn->bev, on_bytes, on_bytes, on_event, conn);
    /* Never more than one head and one read ahead of what was asked for. */
    bufferevent_setwatermark(conn->bev, EV_READ, 0, server->options.max_head + SOTTO_HTTP_MAX_READ);
    if (bufferevent_enable(conn->bev, EV_READ | EV_WRITE) != 0)
        sotto_http_conn_free(conn);
    else
        sotto_http_room_enqueue(conn);
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
    sotto_http_room_leave(conn);
    sotto_http_share_end_body(conn);
    sotto_http_peer_leave(&loop->server->peers, conn->peer);
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        loop->conns = conn->next;
    if (conn->next)
        conn->next->previous = conn->previous;
    sotto_http_discharge(loop->server, conn->charge);
    bufferevent_free(conn->bev);
    sotto_release(conn, sizeof *conn);
    /* libevent closes the socket a little later, and only then is there room for another. */
    loop->leaving++;
    event_active(loop->gone, EV_WRITE, 0);
}
