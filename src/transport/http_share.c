/* An address's share of what bodies may hold: bytes, and connections that read one.
 *
 * While half of either is free, any address may use it, so a server behind one proxy loses nothing. Once half is used, an
 * address at its share is refused until it holds less, and the other half is left for others. */
#include "transport/http_server_internal.h"

#include "base/rule.h"

enum { NO_LIMIT = 100 };

static bool has_share(const sotto_http_conn *conn)
{
    return conn->loop->server->options.address_share < NO_LIMIT && !conn->request->vouched;
}

/* Another body of this address is held, so this is not its only one. */
static bool has_others(const sotto_http_conn *conn)
{
    return atomic_load(&conn->peer->bytes) > conn->request->body_charge;
}

static bool passes_share_of_bytes(const sotto_http_conn *conn, size_t bytes)
{
    const sotto_http_server *server = conn->loop->server;
    const size_t most = server->options.max_bytes_in_flight;

    return has_share(conn) && has_others(conn) &&
           atomic_load(&server->in_flight) + bytes > most / 2 &&
           atomic_load(&conn->peer->bytes) + bytes > most / 100 * server->options.address_share;
}

bool sotto_http_share_charge(sotto_http_conn *conn, size_t bytes)
{
    sotto_http_server *server = conn->loop->server;
    sotto_http_request *request = conn->request;

    if (SOTTO_RULE(share_of_bytes) && passes_share_of_bytes(conn, bytes)) {
        atomic_fetch_add(&server->over_share, 1);
        return false;
    }
    if (!sotto_http_reserve(server, bytes))
        return false;
    if (!request->peer) {
        request->peer = conn->peer;
        sotto_http_peer_keep(request->peer);
    }
    atomic_fetch_add(&request->peer->bytes, bytes);
    request->body_charge += bytes;
    request->charge += bytes;
    return true;
}

void sotto_http_share_discharge(sotto_http_request *request)
{
    if (!request->peer)
        return;
    atomic_fetch_sub(&request->peer->bytes, request->body_charge);
    sotto_http_peer_leave(&request->loop->server->peers, request->peer);
    request->peer = NULL;
}

static bool passes_share_of_connections(const sotto_http_conn *conn)
{
    const sotto_http_server *server = conn->loop->server;
    const uint64_t most = server->options.max_connections;

    return has_share(conn) && atomic_load(&server->conn_count) > most / 2 &&
           atomic_load(&conn->peer->bodies) >= 1 + most * server->options.address_share / 100;
}

bool sotto_http_share_begin_body(sotto_http_conn *conn)
{
    if (SOTTO_RULE(share_of_connections) && passes_share_of_connections(conn)) {
        atomic_fetch_add(&conn->loop->server->over_share, 1);
        return false;
    }
    conn->in_body = true;
    atomic_fetch_add(&conn->peer->bodies, 1);
    return true;
}

void sotto_http_share_end_body(sotto_http_conn *conn)
{
    if (conn->in_body)
        atomic_fetch_sub(&conn->peer->bodies, 1);
    conn->in_body = false;
}
