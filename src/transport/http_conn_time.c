/* How long a connection may take over what it does: the rule for each state. */
#include "transport/http_conn.h"

#include "base/rule.h"

#include <event2/buffer.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

enum { LINGER_MS = 2000, MS = 1000000 };

static bool expired(uint64_t now, uint64_t since, uint64_t ms)
{
    return now > since && (now - since) / MS > ms;
}

/* Each window of time must carry its bytes, so that a quick start does not allow a slow rest. */
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

/* Bytes of ours that the client's kernel has taken. What our own kernel holds has not been sent. The kernel takes megabytes
 * from us, and no more until a third of that has gone, which is seconds for a slow client that is fast enough. */
static uint64_t taken_by_client(const sotto_http_conn *conn)
{
    int unsent = 0;

    if (ioctl(conn->fd, SIOCOUTQ, &unsent) != 0 || unsent < 0)
        unsent = 0;
    return conn->put - sotto_http_conn_waiting(conn) - (uint64_t)unsent;
}

/* More may come to wait while some is taken, so what was taken is what counts. */
static bool takes_too_slowly(sotto_http_conn *conn, uint64_t now)
{
    const uint64_t taken = taken_by_client(conn);
    uint64_t moved;

    /* With TLS, what our kernel holds is a little longer than what we wrote: so the difference is never below
     * 0. */
    if (conn->write_since == 0 || (int64_t)(taken - conn->write_from) < 0)
        conn->write_from = taken;
    if (conn->write_since == 0)
        conn->write_since = now;
    moved = taken - conn->write_from;
    if (too_slow(conn, now, &conn->write_since, &moved, conn->loop->server->options.write_ms))
        return true;
    conn->write_from = taken - moved; /* a new window has moved nothing yet */
    return false;
}

typedef enum verdict { IN_TIME, LEAVE, CUT, REFUSE } verdict;

static verdict verdict_on_head(const sotto_http_conn *conn, uint64_t now)
{
    const sotto_http_server_options *o = &conn->loop->server->options;
    const bool silent = evbuffer_get_length(sotto_http_conn_input(conn)) == 0;

    if (silent && conn->served)
        return expired(now, conn->since, o->idle_ms) ? LEAVE : IN_TIME;
    if (!expired(now, conn->since, o->head_ms))
        return IN_TIME;
    return silent ? CUT : REFUSE;
}

static verdict verdict_on_body(sotto_http_conn *conn, uint64_t now)
{
    const sotto_http_server_options *o = &conn->loop->server->options;

    if (conn->waits) /* the handler is slow, not the client */
        return IN_TIME;
    /* The least rate alone would let a long body be held for a long time. One in pieces is not held. */
    if (SOTTO_RULE(upload_has_its_time) && !conn->request->body_in_pieces &&
        expired(now, conn->request->since, o->upload_ms))
        return REFUSE;
    return too_slow(conn, now, &conn->since, &conn->moved, o->body_ms) ? REFUSE : IN_TIME;
}

static verdict verdict_on_time(sotto_http_conn *conn, uint64_t now)
{
    const unsigned body_ms = conn->loop->server->options.body_ms;

    if (sotto_http_conn_waiting(conn) > 0)
        return takes_too_slowly(conn, now) ? CUT : IN_TIME;
    conn->write_since = 0;
    switch (conn->state) {
    case SOTTO_HTTP_CONN_HEAD:
        return verdict_on_head(conn, now);
    case SOTTO_HTTP_CONN_BODY:
    case SOTTO_HTTP_CONN_CHUNKED:
        return verdict_on_body(conn, now);
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
        sotto_http_conn_refuse(conn, 408);
    else
        sotto_http_conn_die(conn);
    sotto_http_conn_turn(conn);
}
