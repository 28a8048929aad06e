/* transport/http_server_internal.h - how the server's files know each other.
 *
 *   http_server.c   opens, drains, closes; the cap on bytes
 *   http_loop.c     one thread with its event base: accepting, waking up, the clock
 *   http_conn.c     one connection: a state and a step for each state (see http_conn.h)
 *   http_room.c     which connection closes for another at the cap
 *   http_request.c  what handlers see
 *   http_answer.c   the text of an answer
 *   http_tls.c      certificate and key, which may change while the server runs
 *   http_peer.c     what each address holds
 *   http_share.c    an address's share of that
 *   http_pipe.c     a source for answers that other threads write; uses the public interface alone
 *
 * A connection is touched by its loop's thread alone. A request travels: other threads render its answer, or wake it, and put
 * it into the loop's queue, the only thing here that is locked. The server's memory lives until the last request is gone.
 */
#ifndef SOTTO_TRANSPORT_HTTP_SERVER_INTERNAL_H
#define SOTTO_TRANSPORT_HTTP_SERVER_INTERNAL_H

#include "transport/http_parse.h"
#include "transport/http_peer.h"
#include "transport/http_server.h"

#include <pthread.h>
#include <stdatomic.h>

struct bufferevent;
struct evbuffer;
struct event;
struct event_base;

enum {
    SOTTO_HTTP_MAX_LOOPS = 64,
    SOTTO_HTTP_MAX_DISCARD = 64 << 10,
    SOTTO_HTTP_MAX_PIECE = 64 << 10
};

typedef struct sotto_http_tls sotto_http_tls;
typedef struct sotto_http_loop sotto_http_loop;
typedef struct sotto_http_conn sotto_http_conn;

/* Connections that may close for another, see http_room.c. */
typedef struct sotto_http_queue {
    sotto_http_conn *first, *last;
} sotto_http_queue;

enum { SOTTO_HTTP_SHORT_ANSWER = 320 };

struct sotto_http_request {
    sotto_http_loop *loop;
    sotto_http_conn *conn;    /* NULL once the client has gone; the loop's thread only */
    sotto_http_request *next; /* in the loop's queue                                   */
    void *note;
    uint8_t *body;
    size_t body_len;
    size_t body_cap;
    uint8_t *place; /* the next piece may be read to; NULL: nobody said */
    size_t place_room;
    uint8_t *answer; /* head and body, ready to be sent; in short_answer where that is enough */
    size_t answer_len, answer_cap;
    size_t charge;         /* bytes of it counted as in flight  */
    size_t body_charge;    /* of those: for its body            */
    sotto_http_peer *peer; /* which is charged too; NULL: nothing is */
    uint64_t since;        /* when its head was whole, ns       */
    bool known;            /* its head parsed: whatever it is answered counts   */
    bool let_through;      /* by `head`, and not answered yet                  */
    bool sealed;           /* the body is no secret, and is not wiped          */
    bool vouched;          /* by `head`: no share of its address applies       */
    bool whole;            /* its body has come                                */
    bool close_if_refused; /* too much of the body is to come to throw it away */
    bool closes;           /* the answer said so                               */
    bool wakes;            /* body or answer in pieces: sotto_http_wake may be called  */
    bool body_in_pieces;
    bool answer_in_pieces; /* by `source`, once `answer`, its head, is sent            */
    bool answer_chunked;
    bool answer_whole;
    bool queued, answered, gone; /* guarded by the loop's lock; gone: freed with its turn    */
    sotto_http_source source;
    uint64_t answer_left; /* of the source's length */
    sotto_http_head head;
    uint8_t short_answer[SOTTO_HTTP_SHORT_ANSWER];
    size_t text_len;
    uint8_t text[]; /* the head as it came; views point here */
};

typedef enum sotto_http_conn_state {
    SOTTO_HTTP_CONN_HEAD,
    SOTTO_HTTP_CONN_BODY,
    SOTTO_HTTP_CONN_CHUNKED,
    SOTTO_HTTP_CONN_BUSY,    /* the request is with its handler        */
    SOTTO_HTTP_CONN_STREAM,  /* an answer is sent as it is made        */
    SOTTO_HTTP_CONN_DISCARD, /* the rest of a refused body             */
    SOTTO_HTTP_CONN_CLOSING, /* when all is written                    */
    SOTTO_HTTP_CONN_LINGER,  /* so that the client can read the answer */
    SOTTO_HTTP_CONN_DEAD
} sotto_http_conn_state;

struct sotto_http_conn {
    sotto_http_loop *loop;
    sotto_http_conn *previous, *next;
    struct bufferevent *bev;
    int fd;
    bool tls;
    bool busy;    /* the handler has the request           */
    bool eof;     /* the client sends no more              */
    bool served;  /* a request before this one             */
    bool skipped; /* an empty line before the head         */
    bool unread;  /* closes before the client was heard out */
    bool in_body; /* counted as such for its peer          */
    bool waits;   /* for sotto_http_wake                   */
    sotto_http_conn_state state;
    sotto_http_request *request; /* the one being read or answered */
    sotto_http_peer *peer;
    sotto_http_chunks chunks;
    size_t max_body;
    uint64_t left;           /* bytes of the body still to come         */
    uint64_t taken;          /* bytes of the body that have come        */
    size_t scanned;          /* bytes of the head looked at             */
    size_t charge;           /* buffered bytes counted as in flight     */
    uint64_t since;          /* when what it does, or its window, began, ns */
    uint64_t moved;          /* bytes of a body since then              */
    uint64_t write_since;    /* when output began to wait; 0: none waits */
    uint64_t write_from;     /* bytes that the client had taken then     */
    uint64_t put;            /* bytes ever written for it                */
    sotto_http_queue *queue; /* where it stands; NULL: nowhere           */
    sotto_http_conn *queue_previous, *queue_next;
    uint64_t queue_since; /* `since` when it took its place            */
};

struct sotto_http_loop {
    sotto_http_server *server;
    pthread_t thread;
    bool started;
    struct event_base *base;
    struct event *wake;
    struct event *tick;
    struct event *accept; /* the first loop's only */
    struct event *gone;   /* sockets of freed connections are closed */
    struct evbuffer *out; /* what one turn of a connection writes */
    uint8_t *piece;       /* of a body or an answer, on its way; NULL until one is needed */
    int wake_fd;
    bool swept;         /* idle connections were told to go */
    int spare;          /* the first loop's: a descriptor to give up for one accept; -1: none */
    uint64_t told_full; /* when the log last heard that there are no descriptors, ns  */
    sotto_http_conn *conns;
    sotto_http_queue idle, fresh;
    unsigned leaving;           /* freed, and their sockets not closed yet */
    atomic_bool asked_for_room; /* by the first loop                  */
    atomic_uint conn_count;
    pthread_mutex_t lock; /* guards what follows */
    sotto_http_request *answered, **answered_end;
    int *handed; /* sockets from the first loop */
    unsigned handed_count;
    bool woken;
    bool closed;
};

struct sotto_http_server {
    sotto_http_server_options options; /* its strings are not kept */
    const sotto_http_handler *handler;
    void *context;
    sotto_http_tls *tls; /* NULL: plain HTTP */
    int listener;
    uint16_t port;
    atomic_size_t refs; /* the owner and every request */
    atomic_bool draining;
    atomic_uint swept; /* loops that accept nobody and have told the idle to go */
    atomic_bool stopping;
    atomic_size_t in_flight;
    sotto_http_peers peers;
    atomic_uint conn_count;
    atomic_uint_fast64_t accepted, refused, requests, malformed, too_large, overloaded, timed_out,
        over_share, made_room;
    atomic_uint_fast64_t answers[4], times[SOTTO_HTTP_TIMES], time_ns;
    pthread_mutex_t lock; /* with `emptied`: for drain */
    pthread_cond_t emptied;
    unsigned loop_count;
    sotto_http_loop loops[SOTTO_HTTP_MAX_LOOPS];
};

/* http_server.c */
/* Counts bytes; false, counting none, where the cap would be passed. */
bool sotto_http_reserve(sotto_http_server *server, size_t bytes);
void sotto_http_charge(sotto_http_server *server, size_t bytes); /* whatever the cap says */
void sotto_http_discharge(sotto_http_server *server, size_t bytes);
void sotto_http_server_unref(sotto_http_server *server);
void sotto_http_server_lost_connections(sotto_http_server *server, unsigned count);
void sotto_http_server_swept(sotto_http_server *server); /* one loop more */

/* http_loop.c */
SOTTO_MUST_USE sotto_status sotto_http_loop_open(sotto_http_loop *loop, sotto_http_server *server,
                                                 sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_http_loop_start(sotto_http_loop *loop, sotto_err *err);
void sotto_http_loop_wake(sotto_http_loop *loop);
void sotto_http_loop_close(sotto_http_loop *loop);
/* Queues a request for its loop, with its answer or to be woken. If the loop has ended, an answered one is freed. */
void sotto_http_loop_put(sotto_http_request *request, bool answered);
/* Is it queued? Then its turn frees it. */
bool sotto_http_loop_will_free(sotto_http_request *request);
/* SOTTO_HTTP_MAX_PIECE bytes, for one piece at a time; NULL: no memory. */
uint8_t *sotto_http_loop_piece(sotto_http_loop *loop);

/* http_conn.c, http_conn_time.c */
void sotto_http_conn_open(sotto_http_loop *loop, int fd); /* takes the socket */
void sotto_http_conn_answer(sotto_http_request *request); /* which was queued */
void sotto_http_conn_woken(sotto_http_request *request);  /* the same          */
void sotto_http_conn_check_time(sotto_http_conn *conn, uint64_t now);
void sotto_http_conn_sweep(sotto_http_conn *conn); /* ends it if it is idle or endless */
void sotto_http_conn_free(sotto_http_conn *conn);

/* http_room.c */
void sotto_http_room_enqueue(
    sotto_http_conn *conn); /* at the end of the queue that it belongs in now */
void sotto_http_room_leave(sotto_http_conn *conn);
bool sotto_http_room_make(sotto_http_loop *loop); /* true: a connection of this loop was closed */

/* http_request.c */
/* NULL: no memory, or too many bytes in flight. */
sotto_http_request *sotto_http_request_new(sotto_http_conn *conn, const uint8_t *text, size_t len);
void sotto_http_request_free(sotto_http_request *request);
/* True: let through; false: it holds an answer. */
bool sotto_http_request_call_head(sotto_http_request *request, size_t *max_body);
/* True: the handler answered at once. An answer that comes otherwise is queued. */
bool sotto_http_request_call_body(sotto_http_request *request);
/* SOTTO_HTTP_END: the handler answered. */
sotto_http_flow sotto_http_request_call_piece(sotto_http_request *request, sotto_bytes piece);
void sotto_http_request_call_lost(sotto_http_request *request);
/* The handler's answer is in the request: it goes at once, if its callback runs here, or through the queue. */
void sotto_http_request_answered(sotto_http_request *request);

/* http_answer.c */
/* Renders the answer into the request; of one in pieces, its head. source: NULL, the body is the reply's. */
void sotto_http_request_render(sotto_http_request *request, const sotto_http_reply *reply,
                               const sotto_http_source *source);
/* Of an answer to a head that parsed, for metrics. */
void sotto_http_request_count(const sotto_http_request *request, unsigned status);

/* http_share.c */
/* Counts bytes of the connection's body as in flight, for its address too. False, counting none: past the cap, or the share. */
bool sotto_http_share_charge(sotto_http_conn *conn, size_t bytes);
void sotto_http_share_discharge(sotto_http_request *request); /* its body's */
/* The connection begins to read a body. False: its address has its share of connections that do. */
bool sotto_http_share_begin_body(sotto_http_conn *conn);
void sotto_http_share_end_body(sotto_http_conn *conn); /* or had begun none */

/* http_tls.c */
SOTTO_MUST_USE sotto_status sotto_http_tls_open(sotto_http_tls **tls, const char *certificate,
                                                const char *private_key, sotto_err *err);
void sotto_http_tls_close(sotto_http_tls *tls);
/* NULL if there is no memory; the socket is then still the caller's. */
struct bufferevent *sotto_http_tls_accept(sotto_http_tls *tls, struct event_base *base, int fd);
/* Says goodbye, so that the client knows that nothing was cut off. */
void sotto_http_tls_finish(struct bufferevent *bev);

#endif
