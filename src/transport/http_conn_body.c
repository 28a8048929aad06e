/* Reading a request's body, by its length or in chunks, and the rest of a body that nobody wants.
 *
 * There is one way to read a body: bytes come from the connection and are put where the request wants them. A handler that
 * wants its body whole has them gathered in the request's memory; one that wants pieces is called with each. */
#define _GNU_SOURCE

#include "transport/http_conn.h"

#include "base/alloc.h"

#include <event2/buffer.h>
#include <string.h>
#include <sys/socket.h>

enum {
    FIRST_BODY = 4096,    /* what a body gets before much of it has come */
    MAX_READ = 256 << 10, /* of a body, at once */
    MAX_TURN = 1 << 20,   /* of one body before others have their turn   */
    KEPT_PART = 16        /* of a body has come: it may have a kept block */
};

bool sotto_http_conn_hand_over(sotto_http_conn *conn)
{
    sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_BUSY);
    conn->busy = true;
    conn->left = 0;
    conn->request->whole = true;
    return sotto_http_request_call_body(conn->request) ? sotto_http_conn_deliver(conn) : false;
}

/* ---- where bytes go ------------------------------------------------------------------------------ */

/* Room for the whole body once a part of it has come, if the process keeps a block of that size: then nothing is copied each time
 * the body doubles. It is memory that the process has anyway, so that what is announced still takes none. */
static uint8_t *kept_for_all(const sotto_http_request *request, size_t *cap)
{
    const uint64_t all = request->head.content_length;
    uint8_t *body;

    if (request->head.chunked || request->body_len < all / KEPT_PART || *cap >= all)
        return NULL;
    body = sotto_alloc_kept((size_t)all);
    if (body)
        *cap = (size_t)all;
    return body;
}

/* Makes room for `more` bytes. Memory that is new to the process follows what has come, never what was announced, and is at most
 * twice as much. */
static bool grow_body(sotto_http_conn *conn, size_t more)
{
    sotto_http_request *request = conn->request;
    const uint64_t limit = request->head.chunked ? conn->max_body : request->head.content_length;
    const size_t need = request->body_len + more;
    size_t cap = request->body_cap * 2;
    uint8_t *body;

    if (need <= request->body_cap)
        return true;
    cap = cap < FIRST_BODY ? FIRST_BODY : cap;
    cap = cap < need ? need : cap;
    cap = cap > limit ? (size_t)limit : cap;
    body = kept_for_all(request, &cap);
    body = body ? body : sotto_alloc(cap);
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
    if (!conn->request->head.chunked)
        conn->left -= len;
    conn->taken += len;
    conn->moved += len;
}

/* Calls the handler. SOTTO_HTTP_END: it answered or failed, and the connection goes on with that. */
static sotto_http_flow give(sotto_http_conn *conn, sotto_bytes piece)
{
    sotto_http_request *request = conn->request;
    const sotto_http_flow flow = sotto_http_request_call_piece(request, piece);

    if (flow == SOTTO_HTTP_NEXT)
        return flow;
    if (flow == SOTTO_HTTP_WAIT) {
        conn->waits = true;
        return flow;
    }
    if (flow == SOTTO_HTTP_FAIL)
        sotto_http_request_render(request, &(sotto_http_reply){.status = 500}, NULL);
    sotto_http_conn_deliver(conn);
    return SOTTO_HTTP_END;
}

/* So many bytes more are in the body's memory, and are charged for: what has come, or the first block. */
static sotto_http_flow append(sotto_http_conn *conn, size_t len)
{
    sotto_http_request *request = conn->request;
    const size_t least = request->body_cap < FIRST_BODY ? request->body_cap : FIRST_BODY;
    size_t due;

    request->body_len += len;
    due = request->body_len < least ? least : request->body_len;
    if (due > request->body_charge && !sotto_http_share_charge(conn, due - request->body_charge))
        return SOTTO_HTTP_FAIL;
    return SOTTO_HTTP_NEXT;
}

/* SOTTO_HTTP_FAIL: there is no room for it. */
static sotto_http_flow put(sotto_http_conn *conn, sotto_bytes bytes)
{
    sotto_http_request *request = conn->request;

    took(conn, bytes.len);
    if (request->body_in_pieces)
        return give(conn, bytes);
    if (!grow_body(conn, bytes.len))
        return SOTTO_HTTP_FAIL;
    memcpy(request->body + request->body_len, bytes.data, bytes.len);
    return append(conn, bytes.len);
}

/* Where bytes may be read to without a copy: *room of them. NULL: no memory. */
static uint8_t *place_for(sotto_http_conn *conn, size_t *room)
{
    sotto_http_request *request = conn->request;

    if (request->place) {
        *room = request->place_room > MAX_READ ? MAX_READ : request->place_room;
        return request->place;
    }
    *room = SOTTO_HTTP_MAX_PIECE;
    if (request->body_in_pieces)
        return sotto_http_loop_piece(conn->loop);
    if (request->body_len == request->body_cap && !grow_body(conn, 1))
        return NULL;
    *room = request->body_cap - request->body_len;
    *room = *room > MAX_READ ? MAX_READ : *room; /* which is charged for once it is there */
    return request->body + request->body_len;
}

/* The rest of what waits in the socket goes where it belongs. libevent would take it 4 KiB at a time, asking the kernel
 * each time how much there is, and copy it once more. Errors and the end are left for libevent to find. */
static sotto_http_flow read_straight(sotto_http_conn *conn)
{
    sotto_http_request *request = conn->request;
    sotto_http_flow flow = SOTTO_HTTP_NEXT;

    for (size_t sum = 0; flow == SOTTO_HTTP_NEXT && conn->left > 0 && sum < MAX_TURN;) {
        size_t room;
        uint8_t *at = place_for(conn, &room);
        ssize_t got;

        if (!at)
            return SOTTO_HTTP_FAIL;
        room = room > conn->left ? (size_t)conn->left : room;
        got = recv(conn->fd, at, room, MSG_DONTWAIT);
        if (got <= 0)
            break;
        took(conn, (size_t)got);
        sum += (size_t)got;
        if (request->body_in_pieces)
            flow = give(conn, sotto_bytes_of(at, (size_t)got));
        else
            flow = append(conn, (size_t)got);
    }
    return flow;
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* What a step returns after `put`, where it does not just go on. */
static bool stop(sotto_http_conn *conn, sotto_http_flow flow)
{
    if (flow == SOTTO_HTTP_FAIL)
        return sotto_http_conn_refuse(conn, 503);
    return flow == SOTTO_HTTP_END;
}

bool sotto_http_conn_step_body(sotto_http_conn *conn)
{
    struct evbuffer *input = sotto_http_conn_input(conn);
    sotto_http_flow flow = SOTTO_HTTP_NEXT;

    if (evbuffer_get_length(input) == 0 && conn->left > 0)
        return conn->eof ? sotto_http_conn_die(conn) : false;
    if (conn->waits)
        return false;
    while (flow == SOTTO_HTTP_NEXT && conn->left > 0 && evbuffer_get_length(input) > 0) {
        size_t len = evbuffer_get_contiguous_space(input); /* of what is there, despite its name */
        const uint8_t *bytes;

        len = len > conn->left ? (size_t)conn->left : len;
        bytes = evbuffer_pullup(input, (ev_ssize_t)len);
        if (!bytes)
            return sotto_http_conn_die(conn);
        flow = put(conn, sotto_bytes_of(bytes, len));
        evbuffer_drain(input, len);
    }
    if (flow == SOTTO_HTTP_NEXT && !conn->tls && conn->left > 0)
        flow = read_straight(conn);
    if (flow != SOTTO_HTTP_NEXT)
        return stop(conn, flow);
    /* The end may have been seen before what came ahead of it was wanted: nothing else tells of it again. */
    return conn->left == 0 ? sotto_http_conn_hand_over(conn) : conn->eof;
}

/* Data that is there, or that a chunk's line announces, beyond what is allowed. */
static bool is_too_long(const sotto_http_conn *conn, size_t piece)
{
    const uint64_t room = conn->max_body - conn->taken;
    const bool in_data = conn->chunks.state == SOTTO_HTTP_CHUNK_DATA;

    return piece > room || (in_data && conn->chunks.left > room - piece);
}

bool sotto_http_conn_step_chunked(sotto_http_conn *conn)
{
    struct evbuffer *input = sotto_http_conn_input(conn);
    size_t len = evbuffer_get_length(input), taken = 0;
    sotto_http_flow flow = SOTTO_HTTP_NEXT;
    const bool done = conn->chunks.state == SOTTO_HTTP_CHUNK_DONE;
    sotto_bytes piece;
    uint8_t *text;

    if (conn->waits && (len > 0 || done || !conn->eof))
        return false;
    if (done)
        return sotto_http_conn_hand_over(conn);
    if (len == 0)
        return conn->eof ? sotto_http_conn_die(conn) : false;
    len = len > SOTTO_HTTP_MAX_READ ? SOTTO_HTTP_MAX_READ : len;
    text = evbuffer_pullup(input, (ev_ssize_t)len);
    if (!text)
        return sotto_http_conn_die(conn);
    while (flow == SOTTO_HTTP_NEXT && taken < len && conn->chunks.state < SOTTO_HTTP_CHUNK_DONE) {
        taken += sotto_http_chunks_next(&conn->chunks, sotto_bytes_of(text + taken, len - taken),
                                        &piece);
        if (is_too_long(conn, piece.len))
            return sotto_http_conn_refuse(conn, 413);
        if (piece.len > 0)
            flow = put(conn, piece);
    }
    evbuffer_drain(input, taken);
    if (flow != SOTTO_HTTP_NEXT)
        return stop(conn, flow);
    return conn->chunks.state == SOTTO_HTTP_CHUNK_BAD ? sotto_http_conn_refuse(conn, 400) : true;
}

/* The handler's own call for this: also where nothing has come, so that it can answer. */
void sotto_http_conn_wake_body(sotto_http_conn *conn)
{
    conn->waits = false;
    conn->since = sotto_http_conn_now(); /* the client's time stood still */
    conn->moved = 0;
    (void)give(conn, sotto_bytes_of(NULL, 0));
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
    return conn->left == 0 ? sotto_http_conn_enter(conn, SOTTO_HTTP_CONN_HEAD) : conn->eof;
}
