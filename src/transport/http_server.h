/* transport/http_server.h - an HTTP/1.1 server: several loops, limits everywhere, answers from any thread, bodies whole or
 * in pieces.
 *
 * Callers:  serve/ and the programs, with a handler that routes.
 * Memory:   a request belongs to the server until `body` is called, then to the handler until it calls
 *           sotto_http_answer, which is due exactly once. Everything that a request hands out is borrowed
 *           from it. Each byte of a head, a body or an answer is counted against one cap over all connections.
 * Threads:  handlers are called on the loops' threads, several at once, and must not wait there.
 *           sotto_http_answer may be called on any thread, also after the server is closed.
 * Secrets:  heads carry bearer tokens: they are never logged, and wiped with the request. Who the client is
 *           (its address) is not offered to handlers, nor logged; it is known while a connection of it is open, or a body of
 *           it held.
 *
 *     static bool head(void *context, sotto_http_request *request, size_t *max_body) {
 *         if (sotto_http_request_method(request) != SOTTO_HTTP_PUT)
 *             return sotto_http_refuse(request, &(sotto_http_problem){.status = 405});
 *         *max_body = 4096;
 *         return true;
 *     }
 *     static void body(void *context, sotto_http_request *request) {
 *         queue_for_compute_threads(context, request); // which call sotto_http_answer
 *     }
 */
#ifndef SOTTO_TRANSPORT_HTTP_SERVER_H
#define SOTTO_TRANSPORT_HTTP_SERVER_H

#include "sotto/log.h"
#include "transport/http.h"
#include "transport/http_problem.h"

typedef struct sotto_http_server sotto_http_server;
typedef struct sotto_http_request sotto_http_request;

/* ---- what a request says ------------------------------------------------------------------------ */

sotto_http_method sotto_http_request_method(const sotto_http_request *request);
/* The path between its slashes, percent-decoded: "/tasks/x/reports" has 3 segments. Empty segments, "." and
 * ".." never get here. Past the last segment: empty bytes. */
size_t sotto_http_request_segments(const sotto_http_request *request);
sotto_bytes sotto_http_request_segment(const sotto_http_request *request, size_t index);
/* Is segment `index` this text? */
bool sotto_http_request_segment_is(const sotto_http_request *request, size_t index,
                                   const char *text);
/* The value of ?name=value, as it came (not percent-decoded). A name given twice is the first one's. */
bool sotto_http_request_parameter(const sotto_http_request *request, const char *name,
                                  sotto_bytes *value);
/* A header field; name in lower case. Host, Content-Type, Content-Length, Authorization and DAP-Auth-Token
 * come at most once, or the request is refused; of others this is the first. */
bool sotto_http_request_field(const sotto_http_request *request, const char *name,
                              sotto_bytes *value);
/* Whole, in one piece; empty while `head` runs, and for a body that came in pieces. */
sotto_bytes sotto_http_request_body(const sotto_http_request *request);
/* Nothing in the body is a secret of anybody's: it was sealed by whoever sent it. So its memory goes without being wiped. */
void sotto_http_request_seals_body(sotto_http_request *request);
/* The body's memory goes, before the answer; what `body` gave is gone. The request still counts against the bytes in
 * flight as if it had it, since its handler made something of it. */
void sotto_http_request_forget_body(sotto_http_request *request);
/* Called while `head` runs: the handler knows the client, by a token for example, which may stand for many (a leader, a
 * gateway). Its address has no share to keep to. */
void sotto_http_request_vouch(sotto_http_request *request);
/* A note that a handler may leave for itself, NULL at first. */
void sotto_http_request_remember(sotto_http_request *request, void *note);
void *sotto_http_request_note(const sotto_http_request *request);

/* ---- answering ---------------------------------------------------------------------------------- */

typedef struct sotto_http_reply {
    unsigned status; /* 200 to 599 */
    const sotto_http_field *fields;
    size_t field_count; /* Date, Content-Length and Connection are ours, not to be given */
    sotto_bytes body;
} sotto_http_reply;

/* Answers and gives the request back; it may not be touched afterwards. The reply is copied before this returns.
 * If the client has gone, the server is closed, or memory is short, nothing is sent and nothing breaks. */
void sotto_http_answer(sotto_http_request *request, const sotto_http_reply *reply);

/* Answers with a problem document (RFC 9457) and returns false, for handlers of heads. */
bool sotto_http_refuse(sotto_http_request *request, const sotto_http_problem *problem);

/* ---- bodies and answers in pieces ---------------------------------------------------------------- */

/* What a callback says of a body that it takes, or of an answer that it makes, piece by piece. */
typedef enum sotto_http_flow {
    SOTTO_HTTP_NEXT, /* go on                                                            */
    SOTTO_HTTP_WAIT, /* call again after sotto_http_wake, and not before                 */
    SOTTO_HTTP_END,  /* of an answer: that was all                                       */
    SOTTO_HTTP_FAIL  /* it can't go on: a client that sends is told 500; an answer is cut
                      * off, so that the client sees that it isn't whole                 */
} sotto_http_flow;

/* Called while `head` runs: this request's body goes to `piece` as it comes, and the server never holds it whole. Its limit
 * may be beyond what is allowed in flight. `body` is called at the end of the body, as for others. */
void sotto_http_request_stream(sotto_http_request *request);
/* Called while `head` runs, after that: this body comes whole after all. */
void sotto_http_request_gather(sotto_http_request *request);

/* Called from `piece`, unless that answers or fails: the next piece may be read straight into this memory, at most so much of it.
 * It then begins there. Pieces come elsewhere, too, over TLS for example. The memory lasts until the next callback. */
void sotto_http_request_read_to(sotto_http_request *request, uint8_t *at, size_t room);

/* On any thread: whoever said SOTTO_HTTP_WAIT is called again soon, on the loop's thread. Without need it does no harm.
 * Allowed from `head` to `body` or `lost` of a body, or to a `piece` that answers or fails, after which neither is called. Of an
 * answer, allowed from sotto_http_answer_stream to `over`. A handler's own thread that calls it must hold a lock against those. */
void sotto_http_wake(sotto_http_request *request);

#define SOTTO_HTTP_UNTOLD UINT64_MAX /* a length: the end shows when it comes */

/* An answer's body that is made while it is sent. */
typedef struct sotto_http_source {
    /* Writes at most `room` bytes, at least one unless it waits, ends or fails; sets *len. Called on the loop's thread whenever
     * the client has taken what there was, so the client's pace is the source's. */
    sotto_http_flow (*more)(void *context, sotto_http_request *request, uint8_t *out, size_t room,
                            size_t *len);
    /* Called once, at the end of everything, on the loop's thread (on the caller's if the server is closed). whole: all of it
     * was handed to the kernel or waits to be; otherwise the client went away, was too slow, or the server was closed. */
    void (*over)(void *context, sotto_http_request *request, bool whole);
    void *context;
    uint64_t length; /* of all of it; or SOTTO_HTTP_UNTOLD: sent in chunks                     */
    bool endless;    /* it lasts until somebody ends it (server-sent events): a drain ends it */
} sotto_http_source;

/* Answers with the reply's status and fields and the source's body; reply->body is not used. Takes the request, like
 * sotto_http_answer: between this and `over` only sotto_http_wake may have it. A client that ends its side of the connection
 * has gone. http_pipe.h has a source that other threads write into. */
void sotto_http_answer_stream(sotto_http_request *request, const sotto_http_reply *reply,
                              const sotto_http_source *source);

typedef struct sotto_http_handler sotto_http_handler;
struct sotto_http_handler {
    /* The head is read, the body is not. Sets *max_body (0: none allowed) and returns true, or answers before it
     * returns false. A longer body is refused with 413 before it is read. */
    bool (*head)(void *context, sotto_http_request *request, size_t *max_body);
    /* The request is whole and belongs to the handler now. */
    void (*body)(void *context, sotto_http_request *request);
    /* May be NULL. A request that `head` let through dies before `body`: the note can be given up. The request
     * may not be answered. */
    void (*lost)(void *context, sotto_http_request *request);
    /* NULL: no request asks for it. The next piece of a body that comes in pieces, borrowed for this call; empty after a
     * sotto_http_wake. SOTTO_HTTP_WAIT: this piece is taken, and nothing more is read from the client, whose time stands
     * still meanwhile. It may answer, which ends the request: the rest of the body is thrown away. */
    sotto_http_flow (*piece)(void *context, sotto_http_request *request, sotto_bytes piece);
};

/* ---- the server --------------------------------------------------------------------------------- */

/* Zero in a number takes the default given here. */
typedef struct sotto_http_server_options {
    const char *address;     /* "127.0.0.1", "::", ... ; NULL: 127.0.0.1                         */
    uint16_t port;           /* 0: any free one, see sotto_http_server_port                       */
    const char *certificate; /* PEM files; both or none. Without them the server speaks plain     */
    const char *private_key; /* HTTP, which is refused for an address that isn't loopback ...     */
    bool plain_anywhere;     /* ... unless this is set                                            */
    unsigned loops;          /* threads: 1, at most 64                                            */
    unsigned max_connections; /* 10,000; for one more, an idle one is closed, or it is told 503 */
    unsigned
        grace_ms; /* 2,000: so long a connection without a whole head is not closed for another */
    size_t max_bytes_in_flight; /* 256 MiB over all connections; past it 503 and Retry-After      */
    size_t max_head;            /* 16 KiB: request line and fields, else 431                      */
    unsigned max_fields;        /* 64, at most 64, else 431                                       */
    unsigned idle_ms;           /* 60,000 between requests                                        */
    unsigned head_ms;   /* 10,000 from the first byte of a head (or the connection) to its last */
    unsigned upload_ms; /* 120,000: for all of a body that is held whole                   */
    unsigned body_ms;   /* 10,000: in each such time a body ends or goes on at ... */
    unsigned write_ms;  /* 10,000: in each such time an answer is taken whole or at ... */
    unsigned min_rate;  /* ... 16,384 bytes a second                                    */
    /* 25: what bodies of one address (of an IPv6 network of /64) may hold, in percent of bytes in flight and of connections.
     * It counts once half of either is taken; past it 503. An address's only body may always grow. 100: no limit, for a
     * server whose clients come through a proxy. */
    unsigned address_share;
    unsigned retry_after_s;    /* 1: what a 503 of ours asks for                                 */
    const sotto_log_sink *log; /* may be NULL; outlives the server                               */
} sotto_http_server_options;

/* Listens and starts its threads. Options are copied; handler and context outlive the server.
 *   SOTTO_DENIED   plain HTTP was asked for on an address that isn't loopback, or others may read the key
 *   SOTTO_MISSING  the certificate or key can't be read
 *   SOTTO_REJECTED they don't belong together
 *   SOTTO_IO       the address can't be listened on, or no thread can be started
 */
SOTTO_MUST_USE sotto_status sotto_http_server_open(sotto_http_server **server,
                                                   const sotto_http_server_options *options,
                                                   const sotto_http_handler *handler, void *context,
                                                   sotto_err *err);

uint16_t sotto_http_server_port(const sotto_http_server *server);

/* Stops accepting, tells kept-alive clients to go, waits until every request is answered and written.
 *   SOTTO_AGAIN  some were still under way after timeout_ms; they go on, drain again or close
 */
SOTTO_MUST_USE sotto_status sotto_http_server_drain(sotto_http_server *server, unsigned timeout_ms,
                                                    sotto_err *err);

/* Cuts whatever is left and ends the threads. Requests that handlers still hold stay valid; answering them
 * sends nothing. Not to be called from a handler. NULL is fine. */
void sotto_http_server_close(sotto_http_server *server);

/* Milliseconds from a request's head to its answer; the last row is for all that took longer. */
enum { SOTTO_HTTP_TIMES = 9 };
extern const unsigned sotto_http_times_ms[SOTTO_HTTP_TIMES - 1];

/* Since the server was opened; for metrics. */
typedef struct sotto_http_server_counts {
    uint64_t connections_accepted;
    uint64_t connections_refused;   /* over the cap, or out of descriptors            */
    uint64_t connections_made_room; /* closed at the cap for another                  */
    uint64_t connections_most;      /* the cap                                        */
    uint64_t connections_now;
    uint64_t bytes_in_flight_now;
    uint64_t requests;                /* heads that parsed                                       */
    uint64_t malformed;               /* heads or bodies that did not                            */
    uint64_t too_large;               /* bodies over their limit                                 */
    uint64_t overloaded;              /* 503 for the cap on bytes, or an address's share         */
    uint64_t over_share;              /* of those: for the share                                 */
    uint64_t timed_out;               /* clients too slow in sending or taking                   */
    uint64_t answers[4];              /* 2xx, 3xx, 4xx, 5xx, to heads that parsed                */
    uint64_t times[SOTTO_HTTP_TIMES]; /* of those: up to sotto_http_times_ms        */
    uint64_t time_ns;                 /* of all of them together                    */
} sotto_http_server_counts;

void sotto_http_server_count(const sotto_http_server *server, sotto_http_server_counts *counts);

#endif
