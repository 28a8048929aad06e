#define _GNU_SOURCE
#include "door.h"

#include "base/alloc.h"
#include "sim/random.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PAIRS = 400,
    PIECE = 64 * 1024,
    REQUEST = 4 * 1024 * 1024, /* longer ones are not repeated */
    SERVERS = 4,
    LATE_MS = 300,   /* a repetition comes up to so much later  */
    GHOST_MS = 5000, /* and waits so long for its answer        */
    POLL_MS = 20
};

/* Bytes on their way in one direction. */
typedef struct stream {
    uint8_t *bytes;
    size_t cap, start, len;
    double held_until;
} stream;

typedef struct pair {
    int client, server; /* client -1: a ghost, which repeats a request and hears no answer */
    stream up, down;
    uint8_t *request; /* what the client sent since the server last spoke */
    size_t request_len;
    bool too_long, answered;
    double since;
} pair;

struct sotto_door {
    int listener, stop[2];
    uint16_t port;
    pthread_t thread;
    bool started;
    uint16_t servers[SERVERS];
    size_t server_count, turn;
    pair pairs[PAIRS];
    size_t count;
    sotto_sim_random random;
    pthread_mutex_t lock; /* of what follows */
    sotto_door_harm harm;
    sotto_door_counts counts;
};

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool chance(sotto_door *d, double probability, uint64_t *counter)
{
    if (probability <= 0 || !sotto_sim_random_chance(&d->random, probability))
        return false;
    (void)pthread_mutex_lock(&d->lock);
    (*counter)++;
    (void)pthread_mutex_unlock(&d->lock);
    return true;
}

/* ---- pairs ---------------------------------------------------------------------------------------------------- */

static bool take_stream(stream *s, size_t cap)
{
    *s = (stream){.bytes = sotto_alloc(cap), .cap = cap};
    return s->bytes != NULL;
}

static void drop(sotto_door *d, size_t i)
{
    pair *p = &d->pairs[i];

    if (p->client >= 0)
        (void)close(p->client);
    (void)close(p->server);
    sotto_release(p->up.bytes, p->up.bytes ? p->up.cap : 0);
    sotto_release(p->down.bytes, p->down.bytes ? p->down.cap : 0);
    sotto_release(p->request, p->request ? REQUEST : 0);
    d->count--;
    if (i != d->count)
        d->pairs[i] = d->pairs[d->count];
}

/* A connection to the next server that takes one; -1: none does. */
static int reach(sotto_door *d)
{
    for (size_t i = 0; i < d->server_count; i++) {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

        to.sin_port = htons(d->servers[d->turn++ % d->server_count]);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
            fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    return -1;
}

/* client -1: a ghost. False: no room or no server; the client is closed. */
static bool add_pair(sotto_door *d, int client)
{
    pair p = {.client = client, .server = -1, .since = now_ms()};
    int one = 1;

    if (d->count < PAIRS)
        p.server = reach(d);
    if (p.server < 0 || !take_stream(&p.up, client >= 0 ? PIECE : REQUEST) ||
        !take_stream(&p.down, PIECE)) {
        if (client >= 0)
            (void)close(client);
        if (p.server >= 0)
            (void)close(p.server);
        sotto_release(p.up.bytes, p.up.bytes ? p.up.cap : 0);
        return false;
    }
    if (client >= 0) {
        (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        (void)fcntl(client, F_SETFL, O_NONBLOCK);
    }
    d->pairs[d->count++] = p;
    (void)pthread_mutex_lock(&d->lock);
    d->counts.connections += client >= 0;
    (void)pthread_mutex_unlock(&d->lock);
    return true;
}

/* ---- harm ------------------------------------------------------------------------------------------------------- */

static sotto_door_harm harm_now(sotto_door *d)
{
    sotto_door_harm harm;

    (void)pthread_mutex_lock(&d->lock);
    harm = d->harm;
    (void)pthread_mutex_unlock(&d->lock);
    return harm;
}

/* The server speaks: the request before that was whole. */
static void maybe_repeat(sotto_door *d, size_t i, const sotto_door_harm *harm)
{
    pair *p = &d->pairs[i];
    size_t len = p->request_len;

    p->request_len = 0;
    if (len == 0 || p->too_long || p->client < 0) {
        p->too_long = false;
        return;
    }
    if (!chance(d, harm->duplicate, &d->counts.duplicates) || !add_pair(d, -1))
        return;
    pair *ghost = &d->pairs[d->count - 1];
    memcpy(ghost->up.bytes, d->pairs[i].request, len);
    ghost->up.len = len;
    ghost->up.held_until = now_ms() + (double)sotto_sim_random_below(&d->random, LATE_MS);
    if (harm->on_duplicate)
        harm->on_duplicate(harm->context, sotto_bytes_of(ghost->up.bytes, len));
}

static void remember(pair *p, const uint8_t *bytes, size_t len)
{
    if (p->client < 0)
        return;
    if (!p->request)
        p->request = sotto_alloc(REQUEST);
    if (!p->request || p->request_len + len > REQUEST) {
        p->too_long = true;
        return;
    }
    memcpy(p->request + p->request_len, bytes, len);
    p->request_len += len;
}

/* ---- carrying ------------------------------------------------------------------------------------------------------ */

/* False: this pair is done with. */
static bool receive(sotto_door *d, size_t i, bool up)
{
    pair *p = &d->pairs[i];
    stream *s = up ? &p->up : &p->down;
    sotto_door_harm harm = harm_now(d);
    ssize_t got = recv(up ? p->client : p->server, s->bytes, PIECE, 0);

    if (got < 0 && errno == EAGAIN)
        return true;
    if (got <= 0)
        return false;
    s->start = 0;
    s->len = (size_t)got;
    if (p->client < 0) { /* a ghost's answer */
        s->len = 0;
        p->answered = true;
        return false;
    }
    if (chance(d, harm.cut, &d->counts.cuts))
        return false;
    if (chance(d, harm.delay, &d->counts.delays))
        s->held_until = now_ms() + (double)sotto_sim_random_below(&d->random, harm.delay_ms + 1);
    if (up && harm.duplicate > 0)
        remember(p, s->bytes, s->len);
    else if (!up)
        maybe_repeat(d, i, &harm);
    return true;
}

static bool forward(stream *s, int to)
{
    while (s->start < s->len) {
        ssize_t sent = send(to, s->bytes + s->start, s->len - s->start, MSG_NOSIGNAL);

        if (sent < 0)
            return errno == EAGAIN;
        s->start += (size_t)sent;
    }
    s->start = s->len = 0;
    return true;
}

static bool serve_pair(sotto_door *d, size_t i, short client_events, short server_events)
{
    double now = now_ms();
    pair *p = &d->pairs[i];

    if (client_events && p->up.len == 0 && !receive(d, i, true))
        return false;
    p = &d->pairs[i];
    if (server_events && p->down.len == 0 && !receive(d, i, false))
        return false;
    p = &d->pairs[i];
    if (p->up.len > 0 && p->up.held_until <= now && !forward(&p->up, p->server))
        return false;
    if (p->down.len > 0 && p->down.held_until <= now && !forward(&p->down, p->client))
        return false;
    return p->client >= 0 || now - p->since < GHOST_MS;
}

/* What to wait for: bytes where there is room for them, room where there are bytes. */
static short wants(const stream *in, const stream *out, double now)
{
    short events = in->len == 0 ? POLLIN : 0;

    if (out->len > 0 && out->held_until <= now)
        events |= POLLOUT;
    return events;
}

static void *run(void *context)
{
    sotto_door *d = context;
    struct pollfd fds[2 + 2 * PAIRS];

    for (;;) {
        size_t count = d->count;
        double now = now_ms();

        fds[0] = (struct pollfd){.fd = d->stop[0], .events = POLLIN};
        fds[1] = (struct pollfd){.fd = d->listener, .events = POLLIN};
        for (size_t i = 0; i < count; i++) {
            const pair *p = &d->pairs[i];

            fds[2 + 2 * i] =
                (struct pollfd){.fd = p->client, .events = wants(&p->up, &p->down, now)};
            fds[3 + 2 * i] =
                (struct pollfd){.fd = p->server, .events = wants(&p->down, &p->up, now)};
        }
        if (poll(fds, 2 + 2 * count, POLL_MS) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            return NULL;
        for (size_t i = count; i-- > 0;) /* backwards: dropping one moves the last */
            if (!serve_pair(d, i, fds[2 + 2 * i].revents, fds[3 + 2 * i].revents))
                drop(d, i);
        if (fds[1].revents) {
            int client = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);

            if (client >= 0)
                (void)add_pair(d, client);
        }
    }
}

/* ---- up and down ------------------------------------------------------------------------------------------------------ */

sotto_status sotto_door_open(sotto_door **out, uint16_t *port, sotto_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    sotto_door *d = sotto_alloc(sizeof *d);

    *out = NULL;
    if (!d)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a door");
    (void)pthread_mutex_init(&d->lock, NULL);
    d->stop[0] = d->stop[1] = -1;
    sotto_sim_random_init(&d->random, 11);
    d->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (d->listener < 0 || pipe2(d->stop, O_CLOEXEC) != 0 ||
        bind(d->listener, (const struct sockaddr *)&address, len) != 0 ||
        listen(d->listener, 128) != 0 ||
        getsockname(d->listener, (struct sockaddr *)&address, &len) != 0 ||
        pthread_create(&d->thread, NULL, run, d) != 0) {
        sotto_door_close(d);
        return sotto_fail(err, SOTTO_IO, "a door can't be opened");
    }
    d->started = true;
    *port = d->port = ntohs(address.sin_port);
    *out = d;
    return SOTTO_OK;
}

uint16_t sotto_door_port(const sotto_door *d)
{
    return d->port;
}

void sotto_door_close(sotto_door *d)
{
    if (!d)
        return;
    if (d->stop[1] >= 0)
        (void)close(d->stop[1]);
    if (d->started)
        (void)pthread_join(d->thread, NULL);
    if (d->stop[0] >= 0)
        (void)close(d->stop[0]);
    if (d->listener >= 0)
        (void)close(d->listener);
    while (d->count > 0)
        drop(d, 0);
    (void)pthread_mutex_destroy(&d->lock);
    sotto_release(d, sizeof *d);
}

void sotto_door_add(sotto_door *d, uint16_t port)
{
    if (d->server_count < SERVERS)
        d->servers[d->server_count++] = port;
}

void sotto_door_set_harm(sotto_door *d, const sotto_door_harm *harm)
{
    (void)pthread_mutex_lock(&d->lock);
    d->harm = *harm;
    (void)pthread_mutex_unlock(&d->lock);
}

void sotto_door_count(sotto_door *d, sotto_door_counts *out)
{
    (void)pthread_mutex_lock(&d->lock);
    *out = d->counts;
    (void)pthread_mutex_unlock(&d->lock);
}
