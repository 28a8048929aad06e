/* Calls without libcurl: over plain HTTP, to an address that is written in the URL. A gateway and its leader often stand on one machine or behind one
 * tunnel. There libcurl takes longer for a call than the kernel does. No name is looked up, no proxy asked, no TLS spoken
 * here: whatever needs one of these is libcurl's.
 *
 * A connection stays with epoll until it ends. While it is idle, anything that happens on it ends it. */
#define _GNU_SOURCE
#include "transport/http_client_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/http_parse.h"
#include "transport/http_reply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, MOST_BODY = 64 << 10, PORT_DIGITS = 5 };

struct sotto_http_direct {
    sotto_http_direct *next, **at; /* of all */
    sotto_http_direct *next_idle;
    sotto_http_client *client;
    sotto_http_pending *p; /* NULL: idle */
    struct sockaddr_in to;
    int fd;
    bool used; /* it has had an answer: it may be dead, and nobody knows */
    bool connecting, sending, in_body;
    uint64_t due; /* ns */
    size_t sent;  /* of what goes over the wire */
    size_t in_len, scanned;
    size_t early; /* bytes of heads before the answer's own */
    sotto_http_reply_head head;
    uint64_t left; /* of a sized body */
    sotto_http_chunks chunks;
    uint8_t in[SOTTO_HTTP_MAX_RESPONSE_FIELDS];
};

static uint64_t now_ns(void)
{
    return sotto_clock_monotonic(&sotto_clock_system);
}

/* ---- which calls ------------------------------------------------------------------------------------------------ */

static bool read_port(uint16_t *out, const char *text, size_t len)
{
    unsigned port = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = 10 * port + (unsigned)(text[i] - '0');
    }
    *out = htons((uint16_t)port);
    return len > 0 && len <= PORT_DIGITS && port > 0 && port <= UINT16_MAX;
}

/* "/." and "/..", as a whole segment. */
static bool is_dots(const char *at)
{
    const size_t dots = at[0] == '/' ? strspn(at + 1, ".") : 0;

    return (dots == 1 || dots == 2) && (at[1 + dots] == 0 || strchr("/?", at[1 + dots]));
}

/* libcurl takes dots out of paths, and refuses what is not of a URL: such ones are left to it. */
static bool is_plain(const char *path)
{
    for (const char *at = path; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '#' || is_dots(at))
            return false;
    return *path == '/';
}

bool sotto_http_direct_reads(sotto_http_direct_url *out, const char *url)
{
    static const char scheme[] = "http://";
    char host[INET_ADDRSTRLEN];

    *out = (sotto_http_direct_url){.to = {.sin_family = AF_INET, .sin_port = htons(80)}};
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    out->authority = url + sizeof scheme - 1;
    out->authority_len = strcspn(out->authority, "/?#");
    out->path = out->authority + out->authority_len;
    const size_t len = strcspn(out->authority, ":/?#");
    if (len >= sizeof host || !is_plain(out->path))
        return false;
    memcpy(host, out->authority, len);
    host[len] = 0;
    return inet_pton(AF_INET, host, &out->to.sin_addr) == 1 &&
           (len == out->authority_len ||
            read_port(&out->to.sin_port, out->authority + len + 1, out->authority_len - len - 1));
}

/* libcurl puts these in the place of its own: here there would be two of them. */
static bool has_field_of_ours(const sotto_http_call *call)
{
    static const char *const ours[] = {
        "host", "accept", "content-length", "transfer-encoding", "connection", "expect"};

    for (size_t i = 0; i < call->field_count; i++) {
        const sotto_bytes name = sotto_bytes_of(call->fields[i].name, strlen(call->fields[i].name));

        for (size_t j = 0; j < sizeof ours / sizeof ours[0]; j++)
            if (sotto_http_equal_caseless(name, ours[j]))
                return true;
    }
    return false;
}

/* A long body may be refused before it is whole, and libcurl hears that. What may not be sent twice goes over a connection of its own. */
bool sotto_http_direct_takes(const sotto_http_client *client, const sotto_http_call *call)
{
    return !client->proxy && call->body.len <= MOST_BODY &&
           (call->repeatable || call->method != SOTTO_HTTP_POST) && !has_field_of_ours(call);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void leave_idle(sotto_http_direct *c)
{
    sotto_http_direct **at = &c->client->idle;

    while (*at && *at != c)
        at = &(*at)->next_idle;
    if (*at)
        *at = c->next_idle;
}

static void end(sotto_http_direct *c)
{
    if (!c->p)
        leave_idle(c);
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    c->client->direct_count--;
    /* Closing takes it from epoll only where no child of fork has it, too. */
    (void)epoll_ctl(c->client->wait.epoll, EPOLL_CTL_DEL, c->fd, NULL);
    (void)close(c->fd);
    sotto_release(c, sizeof *c);
}

static bool wait_for(const sotto_http_direct *c, int how, bool to_send)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u64 = (uintptr_t)c};

    if (to_send)
        event.events |= EPOLLOUT;
    return epoll_ctl(c->client->wait.epoll, how, c->fd, &event) == 0;
}

static sotto_http_direct *open_one(sotto_http_client *client, const sotto_http_pending *p)
{
    const int one = 1;
    sotto_http_direct *c = sotto_alloc(sizeof *c);

    if (!c)
        return NULL;
    c->client = client;
    c->to = p->to;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd >= 0)
        (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->connecting = c->sending = true;
    if (c->fd < 0 ||
        (connect(c->fd, (const struct sockaddr *)&c->to, sizeof c->to) != 0 &&
         errno != EINPROGRESS) ||
        !wait_for(c, EPOLL_CTL_ADD, true)) {
        if (c->fd >= 0)
            (void)close(c->fd);
        sotto_release(c, sizeof *c);
        return NULL;
    }
    c->at = &client->direct;
    c->next = client->direct;
    if (c->next)
        c->next->at = &c->next;
    client->direct = c;
    client->direct_count++;
    return c;
}

/* Bytes that came behind an answer may wait in the kernel, and epoll was not asked since: they would be taken for the next answer. */
static bool is_quiet(const sotto_http_direct *c)
{
    uint8_t byte;

    return recv(c->fd, &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
}

/* Not while events are gone through: it ends connections that may have one. */
static sotto_http_direct *take_idle(sotto_http_client *client, const sotto_http_pending *p)
{
    for (sotto_http_direct **at = &client->idle; *at;) {
        sotto_http_direct *c = *at;

        if (c->to.sin_port != p->to.sin_port || c->to.sin_addr.s_addr != p->to.sin_addr.s_addr) {
            at = &c->next_idle;
        } else if (is_quiet(c)) {
            *at = c->next_idle;
            return c;
        } else {
            end(c); /* which takes it from the list */
        }
    }
    return NULL;
}

/* As many connections as there may be calls: one more ends the one that was idle for longest. As take_idle, not among events. */
static void make_room(sotto_http_client *client)
{
    sotto_http_direct *last = client->idle;

    if (client->direct_count < client->options.max_active || !last)
        return;
    while (last->next_idle)
        last = last->next_idle;
    end(last);
}

/* ---- the end of a call --------------------------------------------------------------------------------------------- */

static void fail(sotto_http_direct *c, sotto_http_outcome outcome, sotto_status broken,
                 const char *why)
{
    sotto_http_client *client = c->client;
    sotto_http_pending *p = c->p;

    end(c);
    sotto_http_client_conclude(client, p, outcome, broken, why);
}

/* The peer ended it. A kept connection that is dead has not had the request: it goes again, over a new one. */
static void lose(sotto_http_direct *c)
{
    sotto_http_client *client = c->client;
    sotto_http_pending *p = c->p;

    if (!c->used || c->in_len > 0 || c->in_body || c->early > 0) {
        fail(c, SOTTO_HTTP_LOST, SOTTO_OK, "the connection ended before its answer");
        return;
    }
    end(c);
    sotto_http_direct_start(client, p, false);
}

static unsigned seconds_of(sotto_bytes text)
{
    char copy[64];
    uint64_t seconds = 0;
    size_t digits = 0;

    while (digits < text.len && digits < 10 && text.data[digits] >= '0' && text.data[digits] <= '9')
        seconds = 10 * seconds + (uint64_t)(text.data[digits++] - '0');
    if (digits < text.len && text.len < sizeof copy) { /* a date */
        memcpy(copy, text.data, text.len);
        copy[text.len] = 0;
        const time_t at = curl_getdate(copy, NULL), now = time(NULL);
        seconds = at > now ? (uint64_t)(at - now) : 0;
    }
    return seconds < 1U << 30 ? (unsigned)seconds : 1U << 30;
}

/* `rest`: bytes that came behind the answer, which nobody asked for. */
static void complete(sotto_http_direct *c, size_t rest)
{
    sotto_http_client *client = c->client;
    sotto_http_pending *p = c->p;

    p->response.status = c->head.status;
    if (c->head.keep_alive && rest == 0 && !c->sending) {
        c->p = NULL;
        c->used = true;
        c->next_idle = client->idle;
        client->idle = c;
    } else {
        end(c);
    }
    sotto_http_client_conclude(client, p, SOTTO_HTTP_ANSWERED, SOTTO_OK, "");
}

/* ---- what comes ----------------------------------------------------------------------------------------------------- */

static void give_up(sotto_http_direct *c)
{
    fail(c, SOTTO_HTTP_LOST, c->p->too_large ? SOTTO_TOO_LARGE : SOTTO_NO_MEMORY,
         c->p->too_large ? "the answer is too large" : "no memory for an answer");
}

/* False: the connection is no more, or the answer is whole. */
static bool read_chunks(sotto_http_direct *c, sotto_bytes in)
{
    while (c->chunks.state != SOTTO_HTTP_CHUNK_DONE) {
        sotto_bytes piece = {0};
        const size_t taken = sotto_http_chunks_next(&c->chunks, in, &piece);

        if (c->chunks.state == SOTTO_HTTP_CHUNK_BAD) {
            fail(c, SOTTO_HTTP_LOST, SOTTO_OK, "the answer is malformed");
            return false;
        }
        if (piece.len > 0 && !sotto_http_pending_take(c->p, piece)) {
            give_up(c);
            return false;
        }
        if (taken == 0)
            return true;
        in = sotto_bytes_of(in.data + taken, in.len - taken);
    }
    complete(c, in.len);
    return false;
}

static bool read_body(sotto_http_direct *c, sotto_bytes in)
{
    if (c->head.chunked)
        return read_chunks(c, in);
    const size_t len = c->head.sized && in.len > c->left ? (size_t)c->left : in.len;
    if (len > 0 && !sotto_http_pending_take(c->p, sotto_bytes_of(in.data, len))) {
        give_up(c);
        return false;
    }
    c->left -= c->head.sized ? len : 0;
    if (!c->head.sized || c->left > 0)
        return true;
    complete(c, in.len - len);
    return false;
}

/* Heads before the answer itself, as 100 (Continue), are passed over. All of them together are bounded as one is: else a peer that
 * sends nothing else would keep the thread here. */
static bool pass_over(sotto_http_direct *c, size_t len)
{
    c->early += len;
    if (c->early > sizeof c->in) {
        c->p->too_large = true;
        give_up(c);
        return false;
    }
    c->in_len -= len;
    memmove(c->in, c->in + len, c->in_len);
    c->scanned = 0;
    return true;
}

static bool read_head(sotto_http_direct *c)
{
    const size_t len = sotto_http_head_end(sotto_bytes_of(c->in, c->in_len), c->scanned);

    c->scanned = c->in_len;
    if (len == 0 && c->in_len < sizeof c->in)
        return true;
    c->p->too_large = len == 0;
    if (len == 0 || !sotto_http_pending_take_fields(c->p, sotto_bytes_of(c->in, len))) {
        give_up(c);
        return false;
    }
    if (!sotto_http_reply_parse(&c->head, sotto_bytes_of(c->in, len))) {
        fail(c, SOTTO_HTTP_LOST, SOTTO_OK, "the answer is malformed");
        return false;
    }
    const sotto_bytes rest = sotto_bytes_of(c->in + len, c->in_len - len);
    if (c->head.status < 200)
        return pass_over(c, len) && read_head(c);
    c->p->response.retry_after_s = seconds_of(c->head.retry_after);
    c->in_body = true;
    c->left = c->head.length;
    c->p->announced = c->head.sized ? c->head.length : 0;
    return read_body(c, rest);
}

static void pull(sotto_http_direct *c)
{
    for (;;) {
        const size_t from = c->in_body ? 0 : c->in_len, room = sizeof c->in - from;
        const ssize_t n = recv(c->fd, c->in + from, room, 0);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            if (n == 0 && c->in_body && !c->head.sized && !c->head.chunked) {
                c->head.keep_alive = false;
                complete(c, 0);
            } else {
                lose(c);
            }
            return;
        }
        const bool was_body = c->in_body;
        c->in_len = was_body ? c->in_len : c->in_len + (size_t)n;
        if (!(was_body ? read_body(c, sotto_bytes_of(c->in, (size_t)n)) : read_head(c)) ||
            (size_t)n < room)
            return; /* epoll tells of more */
    }
}

/* ---- what goes ------------------------------------------------------------------------------------------------------ */

static void push(sotto_http_direct *c)
{
    const sotto_bytes wire = c->p->wire;
    const ssize_t n = send(c->fd, wire.data + c->sent, wire.len - c->sent, MSG_NOSIGNAL);
    const bool before = c->sending;

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        lose(c);
        return;
    }
    c->sent += n > 0 ? (size_t)n : 0;
    c->sending = c->sent < wire.len;
    if (c->sending != before && !wait_for(c, EPOLL_CTL_MOD, c->sending))
        lose(c);
}

static void connected(sotto_http_direct *c)
{
    socklen_t len = sizeof(int);
    int error = 0;

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0) {
        fail(c, SOTTO_HTTP_UNSENT, SOTTO_OK, "no connection");
        return;
    }
    c->connecting = false;
    c->due = c->p->until;
    push(c);
}

static void begin(sotto_http_direct *c, sotto_http_pending *p)
{
    sotto_http_client *client = c->client;
    const uint64_t connect_by = now_ns() + (uint64_t)client->options.connect_ms * MS;

    c->p = p;
    c->sent = c->in_len = c->scanned = c->early = 0;
    c->in_body = false;
    c->chunks = (sotto_http_chunks){0};
    c->due = c->connecting && connect_by < p->until ? connect_by : p->until;
    if (c->due < client->direct_due)
        client->direct_due = c->due;
    if (!c->connecting)
        push(c);
}

void sotto_http_direct_start(sotto_http_client *client, sotto_http_pending *p, bool kept)
{
    sotto_http_direct *c = NULL;

    sotto_http_pending_reset(p);
    if (kept) {
        p->until = now_ns() + (uint64_t)p->timeout_ms * MS;
        c = take_idle(client, p);
        if (!c)
            make_room(client);
    }
    if (!c)
        c = open_one(client, p);
    if (c)
        begin(c, p);
    else
        sotto_http_client_conclude(client, p, SOTTO_HTTP_UNSENT, SOTTO_OK, "no connection");
}

/* ---- from the thread -------------------------------------------------------------------------------------------------- */

void sotto_http_direct_on_event(void *connection, unsigned events)
{
    sotto_http_direct *c = connection;

    if (!c->p)
        end(c);
    else if (c->connecting)
        connected(c);
    else if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        pull(c);
    else
        push(c);
}

uint64_t sotto_http_direct_expire(sotto_http_client *client)
{
    const uint64_t now = now_ns();
    uint64_t next = UINT64_MAX;

    if (now < client->direct_due)
        return client->direct_due;
    for (sotto_http_direct *c = client->direct, *after; c; c = after) {
        after = c->next;
        if (c->p && c->due <= now)
            fail(c, c->connecting ? SOTTO_HTTP_UNSENT : SOTTO_HTTP_LOST, SOTTO_OK, "timeout");
        else if (c->p && c->due < next)
            next = c->due;
    }
    client->direct_due = next;
    return next;
}

sotto_http_pending *sotto_http_direct_end(sotto_http_client *client)
{
    sotto_http_pending *p = NULL;

    while (client->direct && !p) {
        p = client->direct->p;
        end(client->direct);
    }
    return p;
}
