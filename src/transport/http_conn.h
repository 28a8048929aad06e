/* transport/http_conn.h - how the files of a connection know each other.
 *
 *   http_conn.c        its life, and turns: a step for each state until nothing moves
 *   http_conn_read.c   the step that reads a head
 *   http_conn_body.c   the steps that read a body
 *   http_conn_write.c  answers and refusals, and the steps that leave
 *   http_conn_stream.c the step that sends an answer in pieces
 *   http_conn_time.c   how long each state may last
 *
 * Callers:  these six; the loop knows a connection by http_server_internal.h alone.
 * Threads:  a connection is touched by its loop's thread alone.
 */
#ifndef SOTTO_TRANSPORT_HTTP_CONN_H
#define SOTTO_TRANSPORT_HTTP_CONN_H

#include "transport/http_server_internal.h"

enum { SOTTO_HTTP_MAX_READ = 64 << 10 }; /* looked at in one piece */

/* http_conn.c */
uint64_t sotto_http_conn_now(void); /* ns */
struct evbuffer *sotto_http_conn_input(const sotto_http_conn *conn);
size_t sotto_http_conn_waiting(const sotto_http_conn *conn); /* bytes the client hasn't taken */
/* Both return true, as a step does that got somewhere. */
bool sotto_http_conn_enter(sotto_http_conn *conn, sotto_http_conn_state state);
bool sotto_http_conn_die(sotto_http_conn *conn);
/* Frees the connection if it is dead. */
void sotto_http_conn_turn(sotto_http_conn *conn);

/* Steps: true if there may be more to do at once. */
/* http_conn_read.c */
bool sotto_http_conn_step_head(sotto_http_conn *conn);
/* http_conn_body.c */
bool sotto_http_conn_step_body(sotto_http_conn *conn);
bool sotto_http_conn_step_chunked(sotto_http_conn *conn);
bool sotto_http_conn_step_discard(sotto_http_conn *conn);
/* http_conn_stream.c */
bool sotto_http_conn_step_stream(sotto_http_conn *conn);
/* http_conn_write.c */
bool sotto_http_conn_step_closing(sotto_http_conn *conn);
bool sotto_http_conn_step_linger(sotto_http_conn *conn);

/* http_conn_body.c: the body is whole, and the request the handler's. Returns as a step does. */
bool sotto_http_conn_hand_over(sotto_http_conn *conn);
/* The handler that waits is called. */
void sotto_http_conn_wake_body(sotto_http_conn *conn);

/* http_conn_write.c: what is written waits in the loop's buffer until it is flushed. These return true. */
bool sotto_http_conn_deliver(
    sotto_http_conn *conn); /* its request's answer, or the head of one in pieces */
bool sotto_http_conn_finish(
    sotto_http_conn *conn); /* all of the answer is written                       */
bool sotto_http_conn_refuse(sotto_http_conn *conn, unsigned status);
void sotto_http_conn_flush(sotto_http_conn *conn);

#endif
