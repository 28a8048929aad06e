/* Sending an answer while it is made: the source is asked for a piece whenever the client has taken the last one. */
#define _GNU_SOURCE

#include "transport/http_conn.h"

#include <event2/buffer.h>

enum {
    MAX_TURN = 1 << 20, /* of one answer before others have their turn */
    EACH_PIECE = 64     /* what a piece counts for beside its bytes    */
};

/* Frames a piece. False: no memory. */
static bool write_framed(const sotto_http_conn *conn, const uint8_t *data, size_t len)
{
    struct evbuffer *out = conn->loop->out;

    if (len == 0)
        return true;
    if (!conn->request->answer_chunked)
        return evbuffer_add(out, data, len) == 0;
    return evbuffer_add_printf(out, "%zx\r\n", len) > 0 && evbuffer_add(out, data, len) == 0 &&
           evbuffer_add(out, "\r\n", 2) == 0;
}

/* Asks the source for a piece of at most `room` bytes, unless a drain ends what is endless. */
static sotto_http_flow ask(sotto_http_conn *conn, uint8_t *data, size_t room, size_t *len)
{
    sotto_http_request *request = conn->request;
    const sotto_http_source *source = &request->source;
    sotto_http_flow flow;

    *len = 0;
    if (source->endless && atomic_load(&conn->loop->server->draining))
        return SOTTO_HTTP_END;
    flow = source->more(source->context, request, data, room, len);
    return *len > room ? SOTTO_HTTP_FAIL : flow;
}

static sotto_http_flow write_piece(sotto_http_conn *conn, size_t *len)
{
    sotto_http_request *request = conn->request;
    uint8_t *data = sotto_http_loop_piece(conn->loop);
    const bool told = request->source.length != SOTTO_HTTP_UNTOLD;
    size_t room = SOTTO_HTTP_MAX_PIECE;
    sotto_http_flow flow;

    *len = 0;
    if (!data)
        return SOTTO_HTTP_FAIL;
    room = told && room > request->answer_left ? (size_t)request->answer_left : room;
    flow = ask(conn, data, room, len);
    if (flow == SOTTO_HTTP_FAIL || !write_framed(conn, data, *len))
        return SOTTO_HTTP_FAIL;
    if (told) {
        request->answer_left -= *len;
        if (request->answer_left == 0)
            return SOTTO_HTTP_END;
        return flow == SOTTO_HTTP_END ? SOTTO_HTTP_FAIL : flow; /* it promised more */
    }
    if (flow == SOTTO_HTTP_END && request->answer_chunked &&
        evbuffer_add(conn->loop->out, "0\r\n\r\n", 5) != 0)
        return SOTTO_HTTP_FAIL;
    return flow;
}

/* A client that has gone is noticed by reading, which goes on; one that takes nothing, by a
 * timeout. */
bool sotto_http_conn_step_stream(sotto_http_conn *conn)
{
    if (conn->eof)
        return sotto_http_conn_die(conn);
    sotto_http_conn_flush(conn);
    for (size_t sum = 0, len; sum < MAX_TURN; sum += len + EACH_PIECE) {
        sotto_http_flow flow;

        /* What waits now is taken, and then this is called again. */
        if (conn->state == SOTTO_HTTP_CONN_DEAD || conn->waits || sotto_http_conn_waiting(conn) > 0)
            return false;
        flow = write_piece(conn, &len);
        if (flow == SOTTO_HTTP_FAIL)
            return sotto_http_conn_die(conn);
        if (flow == SOTTO_HTTP_END) {
            conn->request->answer_whole = true;
            return sotto_http_conn_finish(conn);
        }
        conn->waits = flow == SOTTO_HTTP_WAIT;
        sotto_http_conn_flush(conn);
    }
    sotto_http_loop_put(conn->request, false); /* it goes on after others */
    return false;
}
