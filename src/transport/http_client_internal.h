/* transport/http_client_internal.h - how the client's files know each other.
 *
 *   http_client.c  opens and closes; the thread, its queues, when what is tried
 *   http_wait.c    what the thread waits for: libcurl's sockets and timer, and a wake from others
 *   http_call.c    one call: its copy, its options for libcurl, what comes back
 *   http_direct.c  calls over plain HTTP to an address, without libcurl
 *   http_retry.c   whether to try again
 */
#ifndef SOTTO_TRANSPORT_HTTP_CLIENT_INTERNAL_H
#define SOTTO_TRANSPORT_HTTP_CLIENT_INTERNAL_H

#include "transport/http_client.h"
#include "transport/http_retry.h"

#include <netinet/in.h>
#include <pthread.h>

#include <curl/curl.h>

enum { SOTTO_HTTP_MAX_RESPONSE_FIELDS = 16 << 10, SOTTO_HTTP_CHECKED_URL = 256 };

typedef struct sotto_http_pending sotto_http_pending;
typedef struct sotto_http_direct sotto_http_direct;

/* A URL that needs no libcurl; views into it. */
typedef struct sotto_http_direct_url {
    struct sockaddr_in to;
    const char *authority, *path;
    size_t authority_len;
} sotto_http_direct_url;

/* A call under way: its copy of what was asked, and what has come. */
struct sotto_http_pending {
    sotto_http_pending *next;
    sotto_http_done *done;
    void *context;
    CURL *easy; /* NULL: without libcurl, and then `wire` goes to `to` */
    sotto_bytes wire;
    struct sockaddr_in to;
    struct curl_slist *fields;
    sotto_http_method method;
    bool repeatable;
    bool too_large;
    bool no_memory;
    unsigned attempts, attempt;
    unsigned timeout_ms;
    size_t max_response;
    uint64_t due;       /* ns: not before */
    uint64_t until;     /* ns: an attempt without libcurl ends then, connecting included */
    uint64_t announced; /* length of the answer's body, as its head says; 0: it does not */
    uint8_t *body;
    size_t body_cap;
    sotto_http_response response;
    char *received_fields; /* grows up to SOTTO_HTTP_MAX_RESPONSE_FIELDS */
    size_t field_len, field_cap;
    char host[128];             /* for logs and reasons               */
    char said[CURL_ERROR_SIZE]; /* libcurl's own words on a failure; it writes here */
    size_t size;                /* of all this          */
    sotto_bytes sent;
    char *url; /* both point behind this struct */
};

typedef struct sotto_http_pending_list {
    sotto_http_pending *first, **end;
} sotto_http_pending_list;

/* What the thread waits for. An event of epoll has a connection, or an odd number in its place: a descriptor. */
typedef struct sotto_http_wait {
    int epoll, wake;
    bool timed;   /* libcurl wants to be called at `due`, whatever happens */
    uint64_t due; /* ns */
} sotto_http_wait;

struct sotto_http_client {
    sotto_http_client_options options;
    char *ca_file, *proxy; /* copies behind this struct */
    size_t size;
    CURLM *multi;
    sotto_http_wait wait;
    pthread_t thread;
    sotto_http_pending_list ready;    /* may start                 */
    sotto_http_pending_list sleeping; /* wait before another try   */
    sotto_http_pending_list active;   /* libcurl has them          */
    unsigned active_count;
    sotto_http_direct *direct, *idle; /* connections: all of them, and those without a call */
    unsigned direct_count;            /* max_active at most */
    uint64_t direct_due;              /* ns: none of them waits for longer before then */
    pthread_mutex_t lock;             /* guards what follows */
    sotto_http_pending_list inbox;
    unsigned count; /* calls not done */
    bool closing;
    CURL **spare; /* handles that are set up, and wait for a call: max_active at most */
    unsigned spare_count;
    char checked[SOTTO_HTTP_CHECKED_URL]; /* the URL that passed last, and its host */
    char checked_host[128];
};

/* http_call.c */
SOTTO_MUST_USE sotto_status sotto_http_pending_new(sotto_http_pending **pending,
                                                   sotto_http_client *client,
                                                   const sotto_http_call *call, sotto_err *err);
void sotto_http_pending_free(sotto_http_pending *pending, sotto_http_client *client);
/* Makes the handle ready for another attempt. */
SOTTO_MUST_USE sotto_status sotto_http_pending_prepare(sotto_http_pending *pending);

/* False: it is too large, or there is no memory; the call says which. */
SOTTO_MUST_USE bool sotto_http_pending_take(sotto_http_pending *pending, sotto_bytes body);
/* The lines of a head; in place of those before it. */
SOTTO_MUST_USE bool sotto_http_pending_take_fields(sotto_http_pending *pending, sotto_bytes head);
/* Before another attempt. */
void sotto_http_pending_reset(sotto_http_pending *pending);

/* http_client.c: an attempt without libcurl has ended.
 *   broken  SOTTO_OK, or what no repetition mends */
void sotto_http_client_conclude(sotto_http_client *client, sotto_http_pending *pending,
                                sotto_http_outcome outcome, sotto_status broken, const char *why);

/* http_direct.c */
SOTTO_MUST_USE bool sotto_http_direct_reads(sotto_http_direct_url *out, const char *url);
SOTTO_MUST_USE bool sotto_http_direct_takes(const sotto_http_client *client,
                                            const sotto_http_call *call);
/* kept: a new attempt, over a connection that is open already if there is one. Else one goes on over another connection. */
void sotto_http_direct_start(sotto_http_client *client, sotto_http_pending *pending, bool kept);
void sotto_http_direct_on_event(void *connection, unsigned events);
/* Ends what waited for too long; when to look again, in ns. */
uint64_t sotto_http_direct_expire(sotto_http_client *client);
/* Ends connections until one had a call, which is returned; NULL: there is none left. */
sotto_http_pending *sotto_http_direct_end(sotto_http_client *client);

/* http_wait.c. Close after a failure is allowed. */
SOTTO_MUST_USE bool sotto_http_wait_open(sotto_http_client *client);
void sotto_http_wait_close(sotto_http_client *client);
/* Waits for at most so long, then lets libcurl do what is due. */
void sotto_http_wait_run(sotto_http_client *client, int timeout_ms);
/* From any thread: ends the wait. */
void sotto_http_wait_wake(sotto_http_client *client);

#endif
