/* One thread with its event base. Whatever other threads want of it goes through a locked queue and an eventfd, which is
 * written only when the loop isn't already about to look. */
#define _GNU_SOURCE

#include "transport/http_server_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_HANDED = 256, MAX_ACCEPTS = 64, TELL_AGAIN_MS = 10000, MS = 1000000 };

void sotto_http_loop_wake(sotto_http_loop *loop)
{
    const uint64_t one = 1;

    /* It fails only when the counter is full, and then the loop is awake. */
    if (write(loop->wake_fd, &one, sizeof one) < 0)
        return;
}

void sotto_http_loop_put(sotto_http_request *request, bool answered)
{
    sotto_http_loop *loop = request->loop;
    bool wake, closed;

    pthread_mutex_lock(&loop->lock);
    closed = loop->closed;
    wake = !closed && !loop->woken;
    if (!closed) {
        request->answered = request->answered || answered;
        if (!request->queued) {
            request->queued = true;
            request->next = NULL;
            *loop->answered_end = request;
            loop->answered_end = &request->next;
        }
        loop->woken = true;
        if (wake)
            sotto_http_loop_wake(
                loop); /* under the lock: the descriptor is closed after `closed` is set */
    }
    pthread_mutex_unlock(&loop->lock);
    if (closed && answered)
        sotto_http_request_free(request);
}

bool sotto_http_loop_will_free(sotto_http_request *request)
{
    bool queued;

    pthread_mutex_lock(&request->loop->lock);
    queued = request->queued;
    request->gone = queued;
    pthread_mutex_unlock(&request->loop->lock);
    return queued;
}

/* Takes the first off a list that was the queue. It may be queued again at once, by whoever wakes it. */
static sotto_http_request *unqueue(sotto_http_loop *loop, sotto_http_request **list, bool *answered,
                                   bool *gone)
{
    sotto_http_request *request = *list;

    pthread_mutex_lock(&loop->lock);
    *list = request->next;
    *answered = request->answered;
    *gone = request->gone;
    request->queued = request->answered = false;
    pthread_mutex_unlock(&loop->lock);
    return request;
}

static void go_on_with_queue(sotto_http_loop *loop, sotto_http_request *list)
{
    while (list) {
        bool answered, gone;
        sotto_http_request *request = unqueue(loop, &list, &answered, &gone);

        if (gone)
            sotto_http_request_free(request);
        else if (answered)
            sotto_http_conn_answer(request);
        else
            sotto_http_conn_woken(request);
    }
}

uint8_t *sotto_http_loop_piece(sotto_http_loop *loop)
{
    if (!loop->piece)
        loop->piece = sotto_alloc(SOTTO_HTTP_MAX_PIECE);
    return loop->piece;
}

static bool hand_socket(sotto_http_loop *loop, int fd)
{
    bool taken;

    pthread_mutex_lock(&loop->lock);
    taken = !loop->closed && loop->handed_count < MAX_HANDED;
    if (taken)
        loop->handed[loop->handed_count++] = fd;
    pthread_mutex_unlock(&loop->lock);
    if (taken)
        sotto_http_loop_wake(loop);
    return taken;
}

/* ---- accepting ----------------------------------------------------------------------------------- */

static bool is_full(const sotto_http_server *server)
{
    return atomic_load(&server->conn_count) >= server->options.max_connections;
}

static void turn_away(sotto_http_server *server, int fd)
{
    char text[128];
    char unread[4096];
    const int len = evutil_snprintf(text, sizeof text,
                                    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: %u\r\n"
                                    "Content-Length: 0\r\nConnection: close\r\n\r\n",
                                    server->options.retry_after_s);

    atomic_fetch_add(&server->refused, 1);
    if (!server->tls && len > 0) {
        (void)send(fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
        /* Bytes left unread would make the kernel reset the connection, and the client might lose the answer. */
        for (unsigned i = 0; i < 4 && recv(fd, unread, sizeof unread, MSG_DONTWAIT) > 0; i++) {
        }
    }
    (void)close(fd);
}

static void place(sotto_http_loop *first, int fd)
{
    sotto_http_server *server = first->server;
    sotto_http_loop *loop = first;

    if (is_full(server)) {
        turn_away(server, fd);
        return;
    }
    atomic_fetch_add(&server->conn_count, 1);
    atomic_fetch_add(&server->accepted, 1);
    for (unsigned i = 0; i < server->loop_count; i++)
        if (atomic_load(&server->loops[i].conn_count) < atomic_load(&loop->conn_count))
            loop = &server->loops[i];
    if (loop != first) {
        atomic_fetch_add(&loop->conn_count, 1);
        if (hand_socket(loop, fd))
            return;
        atomic_fetch_sub(&loop->conn_count, 1); /* it takes none in just now: this one does */
    }
    atomic_fetch_add(&first->conn_count, 1);
    sotto_http_conn_open(first, fd);
}

static int accept_one(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* True: a connection of this loop closes, and there is room once its socket is closed, in this round of the loop. Other
 * loops have only been asked: whoever comes next finds their room. */
static bool make_room(sotto_http_loop *first)
{
    sotto_http_server *server = first->server;

    if (sotto_http_room_make(first))
        return true;
    for (unsigned i = 1; i < server->loop_count; i++) {
        atomic_store(&server->loops[i].asked_for_room, true);
        sotto_http_loop_wake(&server->loops[i]);
    }
    return false;
}

static void take_spare(sotto_http_loop *loop)
{
    if (loop->spare < 0)
        loop->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* There is no descriptor, though connections are capped so that there should be. The spare one is closed for an accept, so that
 * waiting clients get 503. Then the listener rests until the loop's next tick: otherwise epoll would call in a busy loop. */
static void run_out(sotto_http_loop *loop, int listener, int why)
{
    const uint64_t now = sotto_clock_monotonic(&sotto_clock_system);

    if (loop->told_full == 0 || now - loop->told_full > (uint64_t)TELL_AGAIN_MS * MS) {
        sotto_log(loop->server->options.log, SOTTO_LOG_WARNING, "http.accept_paused",
                  sotto_log_int("errno", why));
        loop->told_full = now;
    }
    for (int i = 0; loop->spare >= 0 && i < MAX_ACCEPTS; i++) {
        int fd;

        (void)close(loop->spare);
        loop->spare = -1;
        fd = accept_one(listener);
        if (fd >= 0)
            turn_away(loop->server, fd);
        take_spare(loop);
        if (fd < 0)
            break;
    }
    event_del(loop->accept);
}

static void on_accept(int listener, short what, void *context)
{
    sotto_http_loop *loop = context;

    (void)what;
    for (int i = 0; i < MAX_ACCEPTS; i++) {
        int fd, why;

        /* Only the first accept is sure to find a client. If more wait, epoll calls again. */
        if (i > 0 && is_full(loop->server))
            return;
        if (is_full(loop->server) && make_room(loop))
            return;
        fd = accept_one(listener);
        if (fd >= 0) {
            place(loop, fd);
            continue;
        }
        why = errno;
        if (why == EMFILE && make_room(loop))
            return;
        if (why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM)
            run_out(loop, listener, why);
        return;
    }
}

/* ---- the thread ---------------------------------------------------------------------------------- */

static void sweep(sotto_http_loop *loop)
{
    for (sotto_http_conn *conn = loop->conns, *next; conn; conn = next) {
        next = conn->next;
        sotto_http_conn_sweep(conn);
    }
}

static void drain_begins(sotto_http_loop *loop)
{
    if (loop->accept)
        event_del(loop->accept);
    sweep(loop);
    loop->swept = true;
    sotto_http_server_swept(loop->server);
}

static void on_wake(int fd, short what, void *context)
{
    sotto_http_loop *loop = context;
    sotto_http_request *answered;
    int handed[MAX_HANDED];
    unsigned handed_count;
    uint64_t count;

    (void)what;
    if (read(fd, &count, sizeof count) < 0 && errno != EAGAIN)
        return;
    pthread_mutex_lock(&loop->lock);
    answered = loop->answered;
    loop->answered = NULL;
    loop->answered_end = &loop->answered;
    handed_count = loop->handed_count;
    memcpy(handed, loop->handed, handed_count * sizeof handed[0]);
    loop->handed_count = 0;
    loop->woken = false;
    pthread_mutex_unlock(&loop->lock);
    for (unsigned i = 0; i < handed_count; i++)
        sotto_http_conn_open(loop, handed[i]);
    if (handed_count > 0 && loop->swept) /* the first loop had accepted them before it was swept */
        sweep(loop);
    go_on_with_queue(loop, answered);
    if (atomic_exchange(&loop->asked_for_room, false))
        (void)sotto_http_room_make(loop);
    if (atomic_load(&loop->server->draining) && !loop->swept)
        drain_begins(loop);
    if (atomic_load(&loop->server->stopping))
        event_base_loopbreak(loop->base);
}

static void on_gone(int fd, short what, void *context)
{
    sotto_http_loop *loop = context;
    const unsigned count = loop->leaving;

    (void)fd;
    (void)what;
    loop->leaving = 0;
    atomic_fetch_sub(&loop->conn_count, count);
    if (count > 0)
        sotto_http_server_lost_connections(loop->server, count);
}

static void on_tick(int fd, short what, void *context)
{
    sotto_http_loop *loop = context;
    const uint64_t now = sotto_clock_monotonic(&sotto_clock_system);

    (void)fd;
    (void)what;
    for (sotto_http_conn *conn = loop->conns, *next; conn; conn = next) {
        next = conn->next;
        sotto_http_conn_check_time(conn, now);
    }
    if (loop->accept && !loop->swept && !event_pending(loop->accept, EV_READ, NULL))
        event_add(loop->accept, NULL);
    if (loop->accept)
        take_spare(loop);
}

static void *run(void *context)
{
    sotto_http_loop *loop = context;
    sigset_t pipe;

    /* Writing to a client that has gone is an error, not a reason to end the program (SIGPIPE). */
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    (void)event_base_dispatch(loop->base);
    while (loop->conns)
        sotto_http_conn_free(loop->conns);
    return NULL;
}

/* Often enough that a limit is overrun by an eighth at most. */
static struct timeval tick_of(const sotto_http_server_options *o)
{
    unsigned ms = o->idle_ms < o->head_ms ? o->idle_ms : o->head_ms;

    ms = o->body_ms < ms ? o->body_ms : ms;
    ms = o->upload_ms < ms ? o->upload_ms : ms;
    ms = (o->write_ms < ms ? o->write_ms : ms) / 8;
    ms = ms < 5 ? 5 : ms > 250 ? 250 : ms;
    return (struct timeval){.tv_sec = 0, .tv_usec = (suseconds_t)ms * 1000};
}

sotto_status sotto_http_loop_open(sotto_http_loop *loop, sotto_http_server *server, sotto_err *err)
{
    const struct timeval tick = tick_of(&server->options);
    struct event_config *config = event_config_new();

    loop->server = server;
    loop->answered_end = &loop->answered;
    if (config) {
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
        loop->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    loop->out = evbuffer_new();
    loop->handed = sotto_alloc(MAX_HANDED * sizeof loop->handed[0]);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!loop->base || !loop->out || !loop->handed || loop->wake_fd < 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for an HTTP loop");
    loop->wake = event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_wake, loop);
    loop->tick = event_new(loop->base, -1, EV_PERSIST, on_tick, loop);
    loop->gone = event_new(loop->base, -1, 0, on_gone, loop);
    if (!loop->wake || !loop->tick || !loop->gone || event_add(loop->wake, NULL) != 0 ||
        event_add(loop->tick, &tick) != 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for an HTTP loop");
    if (loop != &server->loops[0])
        return SOTTO_OK;
    loop->accept = event_new(loop->base, server->listener, EV_READ | EV_PERSIST, on_accept, loop);
    if (!loop->accept || event_add(loop->accept, NULL) != 0)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for an HTTP loop");
    take_spare(loop);
    return SOTTO_OK;
}

sotto_status sotto_http_loop_start(sotto_http_loop *loop, sotto_err *err)
{
    if (pthread_create(&loop->thread, NULL, run, loop) != 0)
        return sotto_fail(err, SOTTO_IO, "no thread for an HTTP loop");
    loop->started = true;
    return SOTTO_OK;
}

/* A callback that libevent deferred keeps its connection until it has run, also a connection that was closed meanwhile. */
static void run_deferred(struct event_base *base)
{
    enum { ROUNDS = 8 }; /* one is enough, and none can go on */

    for (unsigned i = 0; i < ROUNDS && event_base_get_num_events(base, EVENT_BASE_COUNT_ACTIVE) > 0;
         i++)
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

void sotto_http_loop_close(sotto_http_loop *loop)
{
    sotto_http_request *answered;

    if (loop->started)
        (void)pthread_join(loop->thread, NULL);
    pthread_mutex_lock(&loop->lock);
    loop->closed = true;
    answered = loop->answered;
    for (unsigned i = 0; i < loop->handed_count; i++) {
        (void)close(loop->handed[i]);
        sotto_http_server_lost_connections(loop->server, 1);
    }
    loop->handed_count = 0;
    pthread_mutex_unlock(&loop->lock);
    /* No connection is left. A request that was woken and is neither answered nor gone still belongs to its
     * handler. */
    while (answered) {
        bool done, gone;
        sotto_http_request *request = unqueue(loop, &answered, &done, &gone);

        if (done || gone)
            sotto_http_request_free(request);
    }
    if (loop->accept)
        event_free(loop->accept);
    if (loop->tick)
        event_free(loop->tick);
    if (loop->wake)
        event_free(loop->wake);
    if (loop->base) {
        run_deferred(loop->base);
        if (loop->gone)
            event_free(loop->gone);
        event_base_free(loop->base);
    }
    if (loop->out)
        evbuffer_free(loop->out);
    if (loop->wake_fd >= 0)
        (void)close(loop->wake_fd);
    if (loop->spare >= 0)
        (void)close(loop->spare);
    sotto_release(loop->piece, SOTTO_HTTP_MAX_PIECE);
    sotto_release(loop->handed, MAX_HANDED * sizeof loop->handed[0]);
}
