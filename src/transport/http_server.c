#define _GNU_SOURCE

#include "transport/http_server_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/wait.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- bytes in flight ----------------------------------------------------------------------------- */

bool sotto_http_reserve(sotto_http_server *server, size_t bytes)
{
    const size_t before = atomic_fetch_add(&server->in_flight, bytes);

    if (bytes <= server->options.max_bytes_in_flight &&
        before <= server->options.max_bytes_in_flight - bytes)
        return true;
    atomic_fetch_sub(&server->in_flight, bytes);
    return false;
}

void sotto_http_charge(sotto_http_server *server, size_t bytes)
{
    atomic_fetch_add(&server->in_flight, bytes);
}

void sotto_http_discharge(sotto_http_server *server, size_t bytes)
{
    if (bytes > 0)
        atomic_fetch_sub(&server->in_flight, bytes);
}

/* ---- opening ------------------------------------------------------------------------------------- */

static void use_default(unsigned *value, unsigned usual)
{
    if (*value == 0)
        *value = usual;
}

static void fill_in(sotto_http_server_options *o)
{
    if (!o->address)
        o->address = "127.0.0.1";
    use_default(&o->loops, 1);
    use_default(&o->max_connections, 10000);
    use_default(&o->max_fields, SOTTO_HTTP_MAX_FIELDS);
    use_default(&o->idle_ms, 60000);
    use_default(&o->head_ms, 10000);
    use_default(&o->grace_ms, 2000);
    use_default(&o->upload_ms, 120000);
    use_default(&o->address_share, 25);
    use_default(&o->body_ms, 10000);
    use_default(&o->write_ms, 10000);
    use_default(&o->min_rate, 16384);
    use_default(&o->retry_after_s, 1);
    if (o->max_bytes_in_flight == 0)
        o->max_bytes_in_flight = (size_t)256 << 20;
    if (o->max_head == 0)
        o->max_head = 16 << 10;
}

static sotto_status check(const sotto_http_server_options *o, const sotto_http_handler *handler,
                          sotto_err *err)
{
    if (!handler->head || !handler->body)
        return sotto_fail(err, SOTTO_BUG, "an HTTP handler lacks a function");
    if (o->loops > SOTTO_HTTP_MAX_LOOPS || o->max_fields > SOTTO_HTTP_MAX_FIELDS ||
        o->address_share > 100)
        return sotto_fail(err, SOTTO_BUG, "at most %d loops, %d fields and a share of 100 percent",
                          SOTTO_HTTP_MAX_LOOPS, SOTTO_HTTP_MAX_FIELDS);
    if (!o->certificate != !o->private_key)
        return sotto_fail(err, SOTTO_DENIED, "TLS needs a certificate and its private key");
    if (!o->certificate && !o->plain_anywhere &&
        !sotto_http_host_is_loopback(sotto_bytes_of(o->address, strlen(o->address))))
        return sotto_fail(err, SOTTO_DENIED,
                          "%s is not loopback: give a certificate, or allow plain HTTP",
                          o->address);
    return SOTTO_OK;
}

static sotto_status listen_on(sotto_http_server *server, const struct addrinfo *info,
                              sotto_err *err)
{
    const sotto_http_server_options *o = &server->options;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = {.v6 = {0}};
    socklen_t len = sizeof bound;
    const int one = 1;

    server->listener = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0)
        return sotto_fail(err, SOTTO_IO, "no socket: %s", strerror(errno));
    (void)setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server->listener, info->ai_addr, info->ai_addrlen) != 0 ||
        listen(server->listener, SOMAXCONN) != 0 ||
        getsockname(server->listener, &bound.any, &len) != 0)
        return sotto_fail(err, SOTTO_IO, "can't listen on %s port %u: %s", o->address, o->port,
                          strerror(errno));
    server->port = ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
    return SOTTO_OK;
}

static sotto_status listen_to(sotto_http_server *server, sotto_err *err)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char port[8];
    sotto_status status;

    (void)snprintf(port, sizeof port, "%u", server->options.port);
    if (getaddrinfo(server->options.address, port, &hints, &found) != 0)
        return sotto_fail(err, SOTTO_IO, "%s is no address", server->options.address);
    status = listen_on(server, found, err);
    freeaddrinfo(found);
    return status;
}

static sotto_status start(sotto_http_server *server, sotto_err *err)
{
    const sotto_http_server_options *o = &server->options;

    SOTTO_TRY(sotto_http_peers_init(&server->peers, err));
    if (o->certificate)
        SOTTO_TRY(sotto_http_tls_open(&server->tls, o->certificate, o->private_key, err));
    SOTTO_TRY(listen_to(server, err));
    for (unsigned i = 0; i < o->loops; i++) {
        SOTTO_TRY(sotto_http_loop_open(&server->loops[i], server, err));
        server->loop_count++;
    }
    for (unsigned i = 0; i < o->loops; i++)
        SOTTO_TRY(sotto_http_loop_start(&server->loops[i], err));
    return SOTTO_OK;
}

sotto_status sotto_http_server_open(sotto_http_server **server,
                                    const sotto_http_server_options *options,
                                    const sotto_http_handler *handler, void *context,
                                    sotto_err *err)
{
    sotto_http_server_options filled = *options;
    sotto_http_server *made;
    sotto_status status;

    *server = NULL;
    fill_in(&filled);
    SOTTO_TRY(check(&filled, handler, err));
    made = sotto_alloc(sizeof *made);
    if (!made || !sotto_wait_init(&made->emptied)) {
        sotto_release(made, made ? sizeof *made : 0);
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for an HTTP server");
    }
    made->options = filled;
    made->handler = handler;
    made->context = context;
    made->listener = -1;
    atomic_init(&made->refs, 1);
    (void)pthread_mutex_init(&made->lock, NULL);
    for (unsigned i = 0; i < SOTTO_HTTP_MAX_LOOPS; i++) {
        made->loops[i].wake_fd = made->loops[i].spare = -1;
        (void)pthread_mutex_init(&made->loops[i].lock, NULL);
    }
    status = start(made, err);
    if (status != SOTTO_OK) {
        sotto_http_server_close(made);
        return status;
    }
    made->options.address = made->options.certificate = made->options.private_key = NULL;
    sotto_log(filled.log, SOTTO_LOG_INFO, "http.listening",
              sotto_log_text("address", filled.address), sotto_log_uint("port", made->port),
              sotto_log_text("tls", made->tls ? "yes" : "no"));
    *server = made;
    return SOTTO_OK;
}

uint16_t sotto_http_server_port(const sotto_http_server *server)
{
    return server->port;
}

/* ---- draining and closing ------------------------------------------------------------------------ */

static void tell_drain(sotto_http_server *server)
{
    pthread_mutex_lock(&server->lock);
    pthread_cond_broadcast(&server->emptied);
    pthread_mutex_unlock(&server->lock);
}

void sotto_http_server_lost_connections(sotto_http_server *server, unsigned count)
{
    if (atomic_fetch_sub(&server->conn_count, count) == count && atomic_load(&server->draining))
        tell_drain(server);
}

void sotto_http_server_swept(sotto_http_server *server)
{
    atomic_fetch_add(&server->swept, 1);
    tell_drain(server);
}

/* "No connections" counts only after every loop has looked: the first may be about to accept
 * one. */
static bool is_empty(const sotto_http_server *server)
{
    return atomic_load(&server->swept) == server->loop_count &&
           atomic_load(&server->conn_count) == 0;
}

sotto_status sotto_http_server_drain(sotto_http_server *server, unsigned timeout_ms, sotto_err *err)
{
    const struct timespec until = sotto_wait_until(timeout_ms);
    bool empty;

    atomic_store(&server->draining, true);
    /* From now on the kernel refuses new connections. */
    (void)shutdown(server->listener, SHUT_RDWR);
    for (unsigned i = 0; i < server->loop_count; i++)
        sotto_http_loop_wake(&server->loops[i]);
    pthread_mutex_lock(&server->lock);
    while (!is_empty(server) &&
           pthread_cond_timedwait(&server->emptied, &server->lock, &until) == 0) {
    }
    empty = is_empty(server);
    pthread_mutex_unlock(&server->lock);
    if (!empty)
        return sotto_fail(err, SOTTO_AGAIN, "%u connections are still busy",
                          atomic_load(&server->conn_count));
    return SOTTO_OK;
}

void sotto_http_server_unref(sotto_http_server *server)
{
    if (atomic_fetch_sub(&server->refs, 1) != 1)
        return;
    for (unsigned i = 0; i < SOTTO_HTTP_MAX_LOOPS; i++)
        (void)pthread_mutex_destroy(&server->loops[i].lock);
    sotto_http_peers_clear(&server->peers);
    (void)pthread_cond_destroy(&server->emptied);
    (void)pthread_mutex_destroy(&server->lock);
    sotto_release(server, sizeof *server);
}

void sotto_http_server_close(sotto_http_server *server)
{
    if (!server)
        return;
    atomic_store(&server->stopping, true);
    for (unsigned i = 0; i < server->options.loops; i++)
        if (server->loops[i].started)
            sotto_http_loop_wake(&server->loops[i]);
    for (unsigned i = 0; i < server->options.loops; i++)
        sotto_http_loop_close(&server->loops[i]);
    if (server->listener >= 0)
        (void)close(server->listener);
    sotto_http_tls_close(server->tls);
    sotto_http_server_unref(server);
}

void sotto_http_server_count(const sotto_http_server *server, sotto_http_server_counts *counts)
{
    *counts = (sotto_http_server_counts){
        .connections_accepted = atomic_load(&server->accepted),
        .connections_refused = atomic_load(&server->refused),
        .connections_made_room = atomic_load(&server->made_room),
        .connections_most = server->options.max_connections,
        .connections_now = atomic_load(&server->conn_count),
        .bytes_in_flight_now = atomic_load(&server->in_flight),
        .requests = atomic_load(&server->requests),
        .malformed = atomic_load(&server->malformed),
        .too_large = atomic_load(&server->too_large),
        .overloaded = atomic_load(&server->overloaded),
        .over_share = atomic_load(&server->over_share),
        .timed_out = atomic_load(&server->timed_out),
        .time_ns = atomic_load(&server->time_ns),
    };
    for (size_t i = 0; i < sizeof counts->answers / sizeof counts->answers[0]; i++)
        counts->answers[i] = atomic_load(&server->answers[i]);
    for (size_t i = 0; i < SOTTO_HTTP_TIMES; i++)
        counts->times[i] = atomic_load(&server->times[i]);
}
