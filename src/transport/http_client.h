/* transport/http_client.h - HTTP calls that finish later: kept-alive connections, limits, retries.
 *
 * Callers:  serve/ (leader to helper), collect/, programs.
 * Memory:   a call is copied when it is made; a response is borrowed until `done` returns.
 * Threads:  one of its own, on which every `done` runs and must not wait. Calls may be made from any thread, also
 *           from within `done`.
 * Secrets:  header fields carry bearer tokens: never logged, never in an error's reason, wiped with the call.
 *
 * Redirects are not followed and no proxy is taken from the environment: a token goes where it was sent.
 */
#ifndef SOTTO_TRANSPORT_HTTP_CLIENT_H
#define SOTTO_TRANSPORT_HTTP_CLIENT_H

#include "sotto/log.h"
#include "transport/http.h"

typedef struct sotto_http_client sotto_http_client;

/* Zero in a number takes the default given here. */
typedef struct sotto_http_client_options {
    const char *ca_file;  /* PEM; NULL: the system's. Peers are always verified by chain and name */
    const char *proxy;    /* NULL: none                                                  */
    bool plain_anywhere;  /* else http:// is for loopback only                           */
    unsigned max_active;  /* 64 calls on the wire at once; others wait their turn        */
    unsigned max_waiting; /* 4,096 calls that are not done                               */
    unsigned connect_ms;  /* 5,000                                                       */
    unsigned backoff_ms;  /* 100: first wait before a retry; it doubles, with jitter     */
    unsigned
        max_backoff_ms; /* 30,000; a Retry-After beyond it ends the call with the answer as it is */
    const sotto_log_sink *log; /* may be NULL; outlives the client                         */
} sotto_http_client_options;

/*   SOTTO_MISSING  the CA file can't be read */
SOTTO_MUST_USE sotto_status sotto_http_client_open(sotto_http_client **client,
                                                   const sotto_http_client_options *options,
                                                   sotto_err *err);

/* Ends every call that is not done with SOTTO_STALE, then the thread. Not to be called from `done`. NULL is fine. */
void sotto_http_client_close(sotto_http_client *client);

typedef struct sotto_http_call {
    sotto_http_method method;
    const char *url;
    const sotto_http_field *fields; /* names may not repeat */
    size_t field_count;
    sotto_bytes body;
    bool repeatable;   /* a POST that may be sent twice; GET, PUT, DELETE and OPTIONS always may */
    unsigned attempts; /* 5 in all                                                     */
    unsigned timeout_ms; /* 30,000 for each attempt                                      */
    size_t max_response; /* 16 MiB of body                                               */
} sotto_http_call;

typedef struct sotto_http_response {
    unsigned status;
    sotto_bytes body;
    sotto_bytes fields;     /* as they came; see sotto_http_response_field                */
    unsigned attempts;      /* it took                                                    */
    unsigned retry_after_s; /* the answer's own; 0: none                                  */
} sotto_http_response;

/* A field of the response by its name in lower case; the last one if it repeats. */
bool sotto_http_response_field(const sotto_http_response *response, const char *name,
                               sotto_bytes *value);

/* Called once for every call that was taken.
 *   SOTTO_OK         an answer came, whatever its status; response holds it
 *   SOTTO_IO         none came, after all attempts; response is NULL in this and the cases below
 *   SOTTO_TOO_LARGE  the answer passed max_response
 *   SOTTO_REJECTED   the peer's certificate is not to be trusted
 *   SOTTO_STALE      the client was closed first
 *   SOTTO_NO_MEMORY
 */
typedef void sotto_http_done(void *context, sotto_status status,
                             const sotto_http_response *response, const sotto_err *err);

/* Whether a URL can be called: what sotto_http_call_start asks before anything is sent. `host` gets its host.
 *   SOTTO_MALFORMED  it is not a URL of http or https, or has a user in it
 *   SOTTO_DENIED     plain http:// to a host that isn't loopback, unless plain_anywhere
 *   SOTTO_NO_MEMORY
 */
SOTTO_MUST_USE sotto_status sotto_http_url_check(char *host, size_t size, const char *url,
                                                 bool plain_anywhere, sotto_err *err);

/* Starts a call. Retried with growing waits, at least as long as Retry-After says: on 429; and for what may be repeated,
 * on 408, 500, 502, 503, 504 and lost connections. A request that was never sent is always retried.
 *   SOTTO_DENIED     plain http:// to a host that isn't loopback; `done` isn't called in this and the cases below
 *   SOTTO_AGAIN      max_waiting calls are under way
 *   SOTTO_MALFORMED  the URL or a field is malformed
 *   SOTTO_NO_MEMORY
 */
SOTTO_MUST_USE sotto_status sotto_http_call_start(sotto_http_client *client,
                                                  const sotto_http_call *call,
                                                  sotto_http_done *done, void *context,
                                                  sotto_err *err);

/* The same, waiting for the end. The response lives in the arena. Not to be called from `done`. */
SOTTO_MUST_USE sotto_status sotto_http_call_wait(sotto_http_client *client,
                                                 sotto_http_response *response,
                                                 const sotto_http_call *call, sotto_arena *arena,
                                                 sotto_err *err);

#endif
