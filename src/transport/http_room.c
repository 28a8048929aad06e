/* Room for one more connection at the cap: which connection closes for it.
 *
 * Two queues a loop, each in the order of `since`, hold the connections that wait for their client's next head:
 *   idle   has been answered and is silent. Closing it costs an honest client one reconnection.
 *   fresh  has not sent a whole head yet: new, in its TLS handshake, or in the middle of a head.
 * The connection that has been idle longest goes first; then the oldest fresh one, if it has had `grace_ms`. Every other
 * connection has a request under way, and stays. A share for each address, as bodies have it (http_share.c), would be one more question in `next_to_go`. */
#include "transport/http_conn.h"

#include "base/rule.h"

#include <event2/buffer.h>

enum { MS = 1000000 };

static sotto_http_queue *queue_of(const sotto_http_conn *conn)
{
    sotto_http_loop *loop = conn->loop;

    /* A client that has not taken its answer yet is not idle: closing would cut the answer. */
    if (SOTTO_RULE(request_not_evicted) &&
        (conn->state != SOTTO_HTTP_CONN_HEAD || sotto_http_conn_waiting(conn) > 0))
        return NULL;
    return conn->served && evbuffer_get_length(sotto_http_conn_input(conn)) == 0 ? &loop->idle
                                                                                 : &loop->fresh;
}

void sotto_http_room_leave(sotto_http_conn *conn)
{
    sotto_http_queue *queue = conn->queue;

    if (!queue)
        return;
    *(conn->queue_previous ? &conn->queue_previous->queue_next : &queue->first) = conn->queue_next;
    *(conn->queue_next ? &conn->queue_next->queue_previous : &queue->last) = conn->queue_previous;
    conn->queue = NULL;
    conn->queue_previous = conn->queue_next = NULL;
}

void sotto_http_room_enqueue(sotto_http_conn *conn)
{
    sotto_http_queue *queue = queue_of(conn);

    if (queue == conn->queue && conn->queue_since == conn->since)
        return;
    sotto_http_room_leave(conn);
    if (!queue)
        return;
    /* `since` is always the time of the change that brought it here, so the end of the queue keeps the order. */
    conn->queue = queue;
    conn->queue_since = conn->since;
    conn->queue_previous = queue->last;
    *(queue->last ? &queue->last->queue_next : &queue->first) = conn;
    queue->last = conn;
}

static sotto_http_conn *next_to_go(const sotto_http_loop *loop, uint64_t now)
{
    sotto_http_conn *oldest = loop->fresh.first;

    if (loop->idle.first)
        return loop->idle.first;
    if (SOTTO_RULE(head_has_grace) && oldest &&
        now < oldest->since + (uint64_t)loop->server->options.grace_ms * MS)
        return NULL;
    return oldest;
}

bool sotto_http_room_make(sotto_http_loop *loop)
{
    sotto_http_conn *conn = next_to_go(loop, sotto_http_conn_now());

    if (!conn)
        return false;
    atomic_fetch_add(&loop->server->made_room, 1);
    /* No 408 for a head that is not whole: saying it and waiting until it is read would hold the descriptor. */
    if (conn->queue == &loop->idle)
        sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_CLOSING);
    else
        sotto_http_conn_die(conn);
    sotto_http_conn_turn(conn);
    return true;
}
