/* transport/http_conn.h - how the files of a connection know each other.
 *
 *   http_conn.c        its life, and turns: a step for each state until nothing moves
 *   http_conn_read.c   the steps that read a request
 *   http_conn_write.c  answers and refusals, and the steps that leave
 *   http_conn_time.c   how long each state may last
 *
 * Callers:  these four; the loop knows a connection by http_server_internal.h alone.
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
bool sotto_http_conn_step_body(sotto_http_conn *conn);
bool sotto_http_conn_step_chunked(sotto_http_conn *conn);
bool sotto_http_conn_step_discard(sotto_http_conn *conn);
/* http_conn_write.c */
bool sotto_http_conn_step_closing(sotto_http_conn *conn);
bool sotto_http_conn_step_linger(sotto_http_conn *conn);

/* http_conn_write.c: what is written waits in the loop's buffer until it is flushed. Both return true. */
bool sotto_http_conn_deliver(sotto_http_conn *conn); /* its request's answer */
bool sotto_http_conn_refuse(sotto_http_conn *conn, unsigned status);
void sotto_http_conn_flush(sotto_http_conn *conn);

#endif
