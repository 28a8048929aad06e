#define _GNU_SOURCE
#include "traffic.h"

#include "base/alloc.h"
#include "dap/dap.h"
#include "dap/upload.h"
#include "maker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 512, ANSWER = 128 * 1024, PAUSE_MS = 50, TIMEOUT_MS = 30000, TICK_MS = 2 };

typedef struct request {
    struct request *next;
    sotto_traffic_body body;
    double due_ms;
    double not_before_ms;
    bool again;      /* an earlier try may have been stored                 */
    bool on_purpose; /* a replay: its reports were answered before        */
} request;

typedef struct connection {
    int fd;
    bool connecting;
    uint16_t port;
    request *now; /* on its way */
    char head[HEAD];
    size_t fixed_len, head_len, sent;
    double sent_ms, rest_until_ms;
    char *answer;
    size_t answer_len;
} connection;

typedef struct client {
    const sotto_traffic_options *o;
    sotto_traffic *t;
    int epoll;
    connection connections[SOTTO_TRAFFIC_CONNECTIONS];
    request *waiting, **waiting_end; /* to be sent again */
    request *spare;
    size_t under_way;
    bool exhausted;
    double start_ms;
    uint64_t made;
    uint64_t dice;
    char path[128];
} client;

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- requests ------------------------------------------------------------------------------------------------- */

static request *new_request(client *c)
{
    request *r = c->spare;

    if (r) {
        c->spare = r->next;
    } else {
        r = sotto_alloc(sizeof *r);
        if (r && c->o->room > 0) {
            r->body.room = sotto_buf_over(sotto_alloc(c->o->room), c->o->room);
            if (!r->body.room.data) {
                sotto_release(r, sizeof *r);
                r = NULL;
            }
        }
    }
    if (r) {
        sotto_buf room = r->body.room;

        *r = (request){.body = {.room = room}};
        r->body.room.len = 0;
    }
    return r;
}

static void put_back(client *c, request *r)
{
    r->next = c->spare;
    c->spare = r;
}

static void wait_again(client *c, request *r, double after_ms)
{
    r->next = NULL;
    r->not_before_ms = now_ms() + after_ms;
    *c->waiting_end = r;
    c->waiting_end = &r->next;
}

static request *take_waiting(client *c, double now)
{
    for (request **at = &c->waiting; *at; at = &(*at)->next) {
        request *r = *at;

        if (r->not_before_ms > now)
            continue;
        *at = r->next;
        if (!*at)
            c->waiting_end = at;
        return r;
    }
    return NULL;
}

/* The next request that is due, or NULL. */
static request *take(client *c, double now)
{
    request *r = take_waiting(c, now);
    double due = c->o->rate > 0 ? c->start_ms + (double)c->made * 1e3 / c->o->rate : now;

    if (r || c->exhausted || due > now)
        return r;
    r = new_request(c);
    if (!r || !c->o->next(c->o->context, &r->body)) {
        c->exhausted = true;
        if (r)
            put_back(c, r);
        return NULL;
    }
    r->due_ms = due;
    c->made++;
    c->under_way++;
    c->t->requests++;
    return r;
}

/* ---- answers ------------------------------------------------------------------------------------------------------ */

/* Which report of the request has this id; `from` is where the last one was found. */
static bool find(const client *c, const request *r, const uint8_t *id, size_t *from)
{
    for (size_t i = 0; i < r->body.count; i++) {
        size_t at = (*from + i) % r->body.count;
        uint8_t mine[SOTTO_REPORT_ID_SIZE];

        sotto_maker_id(mine, c->o->seed, r->body.first + at);
        if (memcmp(mine, id, sizeof mine) == 0) {
            *from = at;
            return true;
        }
    }
    return false;
}

static void set_fate(client *c, const request *r, size_t i, uint8_t error)
{
    uint8_t *fate = &c->o->fates[r->body.first + i];
    bool known = (*fate & SOTTO_FATE) == SOTTO_FATE_ACKNOWLEDGED;

    *fate |= error == SOTTO_REPORT_REPLAYED    ? SOTTO_FATE_REPLAYED
             : error == SOTTO_REPORT_TOO_EARLY ? SOTTO_FATE_EARLY
                                               : 0;
    /* "Replayed", of an id that nobody else has: it is kept. So a server answers what it could not answer the first time;
     * whoever hears it the first time was not answered honestly. */
    if (error == SOTTO_REPORT_REPLAYED && !known) {
        c->t->kept_unsaid += !r->again;
        error = 0;
    }
    if (error == 0) {
        c->t->taken_twice += known; /* what was acknowledged may not be taken as new */
        c->t->acknowledged += !known;
    }
    if (!known)
        *fate = (uint8_t)((*fate & ~SOTTO_FATE) |
                          (error == 0 ? SOTTO_FATE_ACKNOWLEDGED : SOTTO_FATE_REFUSED + error));
}

/* It may have been stored, or refused, without our hearing of it. */
static void doubt(client *c, request *r)
{
    r->again = true;
    for (size_t i = 0; i < r->body.count; i++)
        c->o->fates[r->body.first + i] |= SOTTO_FATE_UNSURE;
}

/* True if some reports came too early by the server's clock, and are to be sent again. */
static bool read_errors(client *c, request *r, sotto_bytes body)
{
    sotto_dap_upload_errors errors;
    sotto_dap_upload_status status;
    sotto_reader in;
    size_t at = 0, next = 0;
    bool early = false;

    if (sotto_dap_upload_errors_decode(&errors, body, NULL) != SOTTO_OK) {
        c->t->wrong++;
        return false;
    }
    in = sotto_reader_over(errors.statuses);
    while (sotto_dap_upload_errors_next(&in, &status)) {
        if (!find(c, r, status.report_id, &at)) {
            c->t->wrong++;
            continue;
        }
        for (; next < at; next++)
            set_fate(c, r, next, 0);
        early = early || status.error == SOTTO_REPORT_TOO_EARLY;
        set_fate(c, r, at, status.error);
        next = at + 1;
    }
    for (; next < r->body.count; next++)
        set_fate(c, r, next, 0);
    return early;
}

static bool chance(client *c, double probability)
{
    c->dice = c->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(c->dice >> 11) / 9007199254740992.0 < probability;
}

static void on_answer(client *c, connection *n, unsigned status, sotto_bytes body)
{
    request *r = n->now;
    double now = now_ms();

    n->now = NULL;
    if (status != 200) {
        if (status != 429 && status / 100 != 5)
            c->t->wrong++;
        c->t->refused_whole++;
        doubt(c, r);
        n->rest_until_ms = now + PAUSE_MS;
        wait_again(c, r, PAUSE_MS);
        return;
    }
    c->t->answered++;
    if (c->o->latencies && c->t->latency_count < c->o->latency_room && !r->on_purpose)
        c->o->latencies[c->t->latency_count++] = (float)(now - r->due_ms);
    if (c->o->sealed)
        body.len = 0;
    if (read_errors(c, r, body)) {
        r->again = true;
        wait_again(c, r, PAUSE_MS);
        return;
    }
    if (r->on_purpose)
        c->t->replayed += r->body.count;
    if (!r->on_purpose && chance(c, c->o->replays)) {
        r->on_purpose = true;
        r->again = false;
        wait_again(c, r, PAUSE_MS);
        return;
    }
    c->under_way--;
    put_back(c, r);
}

/* ---- connections ---------------------------------------------------------------------------------------------------- */

static void lose(client *c, connection *n, double rest_ms)
{
    request *r = n->now;

    if (n->fd >= 0)
        (void)close(n->fd);
    n->fd = -1;
    n->rest_until_ms = now_ms() + rest_ms;
    n->now = NULL;
    if (!r)
        return;
    if (n->sent > 0) {
        c->t->unanswered++;
        doubt(c, r);
    }
    wait_again(c, r, rest_ms);
}

static bool open_connection(client *c, connection *n)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(n->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.ptr = n}};
    int one = 1;

    n->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (n->fd < 0)
        return false;
    (void)setsockopt(n->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    n->answer_len = 0;
    if ((connect(n->fd, (const struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) ||
        epoll_ctl(c->epoll, EPOLL_CTL_ADD, n->fd, &event) != 0) {
        lose(c, n, PAUSE_MS);
        return false;
    }
    n->connecting = true;
    return true;
}

static void go_on_sending(client *c, connection *n)
{
    sotto_bytes body = n->now->body.reports;
    size_t total = n->head_len + body.len;

    while (n->sent < total) {
        size_t in_body = n->sent > n->head_len ? n->sent - n->head_len : 0;
        size_t in_head = n->sent < n->head_len ? n->sent : n->head_len;
        struct iovec parts[2] = {
            {n->head + in_head, n->head_len - in_head},
            {(void *)(uintptr_t)(body.data + in_body), body.len - in_body},
        };
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t sent = sendmsg(n->fd, &message, MSG_NOSIGNAL);

        if (sent < 0) {
            if (errno != EAGAIN && errno != ENOTCONN)
                lose(c, n, PAUSE_MS);
            return;
        }
        n->sent += (size_t)sent;
    }
}

/* Digits of a number; returns how many. */
static size_t put_number(char *out, uint64_t value)
{
    char digits[24];
    size_t count = 0;

    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    for (size_t i = 0; i < count; i++)
        out[i] = digits[count - 1 - i];
    return count;
}

static void put_text(connection *n, const char *text, size_t len)
{
    memcpy(n->head + n->head_len, text, len);
    n->head_len += len;
}

/* Its first lines are the same for every request of a connection (begin_head), and stand there already. */
static void send_request(client *c, connection *n, request *r)
{
    static const char length[] = "\r\nContent-Length: ", end[] = "\r\n\r\n";

    n->now = r;
    n->head_len = n->fixed_len;
    n->head_len += put_number(n->head + n->head_len, r->body.first);
    put_text(n, length, sizeof length - 1);
    n->head_len += put_number(n->head + n->head_len, r->body.reports.len);
    put_text(n, end, sizeof end - 1);
    n->sent = 0;
    n->answer_len = 0;
    n->sent_ms = now_ms();
    go_on_sending(c, n);
}

static void begin_head(const client *c, connection *n)
{
    int len =
        snprintf(n->head, sizeof n->head,
                 "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: "
                 "%s\r\n" SOTTO_TRAFFIC_FIRST ": ",
                 c->path, n->port,
                 c->o->media_type ? c->o->media_type : sotto_dap_media_type(SOTTO_DAP_UPLOAD_REQ));

    n->fixed_len = (size_t)len;
}

static void feed(client *c, connection *n, double now)
{
    request *r;

    if (n->now || n->rest_until_ms > now)
        return;
    r = take(c, now);
    if (!r)
        return;
    if (n->fd < 0 && !open_connection(c, n)) {
        wait_again(c, r, PAUSE_MS);
        return;
    }
    send_request(c, n, r);
}

/* The length of a whole answer, 0 while it is not whole. */
static size_t whole(const connection *n, unsigned *status, bool *closes, sotto_bytes *body)
{
    static const char length[] = "content-length:", close_too[] = "connection: close";
    const char *end = memmem(n->answer, n->answer_len, "\r\n\r\n", 4), *line = n->answer;
    size_t head, len = 0;

    if (!end)
        return 0;
    head = (size_t)(end - n->answer) + 4;
    *status = (unsigned)strtoul(n->answer + strlen("HTTP/1.1 "), NULL, 10);
    *closes = false;
    while ((line = memchr(line, '\n', (size_t)(end - line)))) {
        line++;
        if ((*line | 0x20) != 'c')
            continue;
        if (strncasecmp(line, length, sizeof length - 1) == 0)
            len = strtoul(line + sizeof length - 1, NULL, 10);
        *closes = *closes || strncasecmp(line, close_too, sizeof close_too - 1) == 0;
    }
    if (n->answer_len < head + len)
        return 0;
    *body = sotto_bytes_of(n->answer + head, len);
    return head + len;
}

static void read_answer(client *c, connection *n)
{
    unsigned status = 0;
    sotto_bytes body;
    bool closes;

    for (;;) {
        ssize_t got =
            recv(n->fd, n->answer + n->answer_len, ANSWER - 1 - n->answer_len, MSG_DONTWAIT);

        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0 || !n->now) {
            lose(c, n, PAUSE_MS / 10.0);
            return;
        }
        n->answer_len += (size_t)got;
        n->answer[n->answer_len] = 0;
        if (!whole(n, &status, &closes, &body))
            continue;
        on_answer(c, n, status, body);
        n->answer_len = 0;
        if (closes) {
            lose(c, n, 0);
            return;
        }
        feed(c, n, now_ms());
        return;
    }
}

static void on_event(client *c, connection *n, uint32_t events)
{
    if (n->fd < 0)
        return;
    if ((events & EPOLLOUT) && n->now)
        go_on_sending(c, n);
    if (n->fd >= 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        read_answer(c, n);
}

/* ---- the run ---------------------------------------------------------------------------------------------------------- */

static void look_after(client *c)
{
    double now = now_ms(), timeout = c->o->timeout_ms ? c->o->timeout_ms : TIMEOUT_MS;

    for (unsigned i = 0; i < c->o->connections; i++) {
        connection *n = &c->connections[i];

        if (n->now && now - n->sent_ms > timeout)
            lose(c, n, 0);
        feed(c, n, now);
    }
}

static void loop(client *c)
{
    struct epoll_event events[SOTTO_TRAFFIC_CONNECTIONS];
    double ticked = 0, looked = 0;

    while (!c->exhausted || c->under_way > 0) {
        int count;

        /* Where the next request follows an answer, only what was lost waits to be looked after. */
        if (c->o->rate > 0 || now_ms() - looked >= TICK_MS) {
            look_after(c);
            looked = now_ms();
        }
        count =
            epoll_wait(c->epoll, events, SOTTO_TRAFFIC_CONNECTIONS, c->o->rate > 0 ? 1 : TICK_MS);
        for (int i = 0; i < count; i++)
            on_event(c, events[i].data.ptr, events[i].events);
        if (c->o->tick && now_ms() - ticked >= TICK_MS) {
            ticked = now_ms();
            c->o->tick(c->o->context);
        }
    }
}

static sotto_status set_up(client *c, sotto_err *err)
{
    char id[SOTTO_DAP_ID_TEXT_MAX];

    if (c->o->connections == 0 || c->o->connections > SOTTO_TRAFFIC_CONNECTIONS ||
        c->o->port_count == 0)
        return sotto_fail(err, SOTTO_BUG, "traffic over no connections, or too many");
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (c->epoll < 0)
        return sotto_fail(err, SOTTO_IO, "no epoll");
    sotto_dap_id_encode(id, sotto_bytes_of(c->o->task, sizeof c->o->task));
    if (c->o->path)
        (void)snprintf(c->path, sizeof c->path, "%s", c->o->path);
    else
        (void)snprintf(c->path, sizeof c->path, "/tasks/%s/reports", id);
    for (unsigned i = 0; i < c->o->connections; i++) {
        connection *n = &c->connections[i];

        n->fd = -1;
        n->port = c->o->ports[i % c->o->port_count];
        begin_head(c, n);
        n->answer = sotto_alloc(ANSWER);
        if (!n->answer)
            return sotto_fail(err, SOTTO_NO_MEMORY, "a connection");
    }
    return SOTTO_OK;
}

static void tear_down(client *c)
{
    for (unsigned i = 0; i < c->o->connections && i < SOTTO_TRAFFIC_CONNECTIONS; i++) {
        if (c->connections[i].answer && c->connections[i].fd >= 0)
            (void)close(c->connections[i].fd);
        sotto_release(c->connections[i].answer, c->connections[i].answer ? ANSWER : 0);
    }
    while (c->spare) {
        request *r = c->spare;

        c->spare = r->next;
        sotto_release(r->body.room.data, r->body.room.cap);
        sotto_release(r, sizeof *r);
    }
    if (c->epoll >= 0)
        (void)close(c->epoll);
    sotto_release(c, sizeof *c);
}

static double thread_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

sotto_status sotto_traffic_run(sotto_traffic *out, const sotto_traffic_options *options,
                               sotto_err *err)
{
    client *c = sotto_alloc(sizeof *c);
    double cpu = thread_seconds();
    sotto_status status;

    memset(out, 0, sizeof *out);
    if (!c)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a client");
    c->o = options;
    c->t = out;
    c->waiting_end = &c->waiting;
    c->dice = options->seed;
    status = set_up(c, err);
    c->start_ms = now_ms();
    if (status == SOTTO_OK)
        loop(c);
    out->seconds = (now_ms() - c->start_ms) / 1e3;
    out->cpu_seconds = thread_seconds() - cpu;
    tear_down(c);
    return status;
}
