#define _GNU_SOURCE

#include "support/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void sotto_test_sleep_ms(unsigned ms)
{
    const struct timespec wait = {ms / 1000, (long)(ms % 1000) * 1000000};

    (void)nanosleep(&wait, NULL);
}

uint64_t sotto_test_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- the server ---------------------------------------------------------------------------------- */

static unsigned long number_in(const sotto_http_request *request, size_t index)
{
    const sotto_bytes text = sotto_http_request_segment(request, index);
    char copy[24] = "";

    memcpy(copy, text.data, text.len < 23 ? text.len : 23);
    return strtoul(copy, NULL, 10);
}

static void say(sotto_http_request *request, unsigned status, sotto_bytes body)
{
    sotto_http_answer(request, &(sotto_http_reply){.status = status, .body = body});
}

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    sotto_test_http *h = context;

    atomic_fetch_add(&h->heads, 1);
    *max_body = 1 << 20;
    if (sotto_http_request_segment_is(request, 0, "limit"))
        *max_body = number_in(request, 1);
    if (sotto_http_request_segment_is(request, 0, "refuse"))
        return sotto_http_refuse(request,
                                 &(sotto_http_problem){.status = 403, .detail = "not here"});
    if (sotto_http_request_segment_is(request, 0, "known"))
        sotto_http_request_vouch(request);
    sotto_http_request_remember(request, h);
    return true;
}

static void on_lost(void *context, sotto_http_request *request)
{
    sotto_test_http *h = context;

    if (sotto_http_request_note(request) == h)
        atomic_fetch_add(&h->lost, 1);
}

static void keep(sotto_test_http *h, sotto_http_request **list, unsigned *count,
                 sotto_http_request *request)
{
    pthread_mutex_lock(&h->lock);
    if (*count == SOTTO_TEST_HTTP_HELD)
        abort();
    list[(*count)++] = request;
    pthread_cond_broadcast(&h->moved);
    pthread_mutex_unlock(&h->lock);
}

static void fail_at_first(sotto_test_http *h, sotto_http_request *request)
{
    char seconds[24];
    const sotto_http_field retry = {"Retry-After", seconds};
    const unsigned long wait = number_in(request, 3);

    (void)snprintf(seconds, sizeof seconds, "%lu", wait);
    if (atomic_fetch_add(&h->failed, 1) >= number_in(request, 1))
        say(request, 200, sotto_bytes_of("at last", 7));
    else
        sotto_http_answer(request, &(sotto_http_reply){.status = (unsigned)number_in(request, 2),
                                                       .fields = &retry,
                                                       .field_count = wait > 0});
}

static void say_seen(sotto_http_request *request)
{
    const sotto_bytes name = sotto_http_request_segment(request, 1);
    char copy[64] = "";
    sotto_bytes value = {0};

    memcpy(copy, name.data, name.len < 63 ? name.len : 63);
    (void)sotto_http_request_field(request, copy, &value);
    say(request, 200, value);
}

static void say_big(sotto_http_request *request)
{
    const size_t len = number_in(request, 1);
    char *bytes = malloc(len + 1);

    if (!bytes)
        abort();
    memset(bytes, 'x', len);
    say(request, 200, sotto_bytes_of(bytes, len));
    free(bytes);
}

static void stall(sotto_http_request *request)
{
    const struct timespec second = {1, 0};

    (void)nanosleep(&second, NULL);
    say(request, 200, sotto_bytes_of("well", 4));
}

static void on_body(void *context, sotto_http_request *request)
{
    static const sotto_http_field broken = {"X", "a\r\nSet-Cookie: b"};
    sotto_test_http *h = context;
    const sotto_bytes name = sotto_http_request_segment(request, 0);
    const char *word = (const char *)name.data;

    atomic_fetch_add(&h->bodies, 1);
    if (name.len == 2 && memcmp(word, "ok", 2) == 0)
        say(request, 200, sotto_bytes_of("fine", 4));
    else if (sotto_http_request_segment_is(request, 0, "echo") ||
             sotto_http_request_segment_is(request, 0, "known") ||
             sotto_http_request_segment_is(request, 0, "limit"))
        say(request, 200, sotto_http_request_body(request));
    else if (sotto_http_request_segment_is(request, 0, "later"))
        keep(h, h->later, &h->later_count, request);
    else if (sotto_http_request_segment_is(request, 0, "stall"))
        stall(request);
    else if (sotto_http_request_segment_is(request, 0, "hold"))
        keep(h, h->held, &h->held_count, request);
    else if (sotto_http_request_segment_is(request, 0, "big"))
        say_big(request);
    else if (sotto_http_request_segment_is(request, 0, "fail"))
        fail_at_first(h, request);
    else if (sotto_http_request_segment_is(request, 0, "seen"))
        say_seen(request);
    else if (sotto_http_request_segment_is(request, 0, "broken"))
        sotto_http_answer(request, &(sotto_http_reply){200, &broken, 1, {NULL, 0}});
    else
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
}

static void *answer_later(void *context)
{
    sotto_test_http *h = context;

    pthread_mutex_lock(&h->lock);
    for (;;) {
        while (h->later_count == 0 && !h->stop)
            pthread_cond_wait(&h->moved, &h->lock);
        if (h->later_count == 0)
            break;
        sotto_http_request *request = h->later[--h->later_count];
        pthread_mutex_unlock(&h->lock);
        say(request, 200, sotto_http_request_body(request));
        pthread_mutex_lock(&h->lock);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

const sotto_http_handler *sotto_test_http_handler(void)
{
    static const sotto_http_handler handler = {.head = on_head, .body = on_body, .lost = on_lost};

    return &handler;
}

void sotto_test_http_open(sotto_test *t, sotto_test_http *h, sotto_http_server_options options)
{
    memset(h, 0, sizeof *h);
    (void)pthread_mutex_init(&h->lock, NULL);
    (void)pthread_cond_init(&h->moved, NULL);
    CHECK_OK(t,
             sotto_http_server_open(&h->server, &options, sotto_test_http_handler(), h, &t->err));
    h->port = sotto_http_server_port(h->server);
    CHECK(t, pthread_create(&h->worker, NULL, answer_later, h) == 0);
}

void sotto_test_http_release(sotto_test_http *h)
{
    pthread_mutex_lock(&h->lock);
    while (h->held_count > 0)
        say(h->held[--h->held_count], 200, sotto_bytes_of("released", 8));
    pthread_mutex_unlock(&h->lock);
}

void sotto_test_http_close(sotto_test_http *h)
{
    sotto_http_server_close(h->server);
    sotto_test_http_release(h);
    pthread_mutex_lock(&h->lock);
    h->stop = true;
    pthread_cond_broadcast(&h->moved);
    pthread_mutex_unlock(&h->lock);
    (void)pthread_join(h->worker, NULL);
    (void)pthread_cond_destroy(&h->moved);
    (void)pthread_mutex_destroy(&h->lock);
}

void sotto_test_http_wait_held(sotto_test *t, sotto_test_http *h, unsigned count)
{
    uint64_t until = 0;
    bool there;

    do {
        pthread_mutex_lock(&h->lock);
        there = h->held_count >= count;
        pthread_mutex_unlock(&h->lock);
    } while (!there && sotto_test_waits(&until, 1));
    CHECK(t, there);
}

/* ---- the raw client ------------------------------------------------------------------------------ */

int sotto_test_dial_from(sotto_test *t, uint16_t port, const char *from)
{
    const struct timeval wait = {sotto_test_rule_is_off() ? 10 : 60, 0};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    struct sockaddr_in here = {.sin_family = AF_INET};

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(t, fd >= 0 && inet_pton(AF_INET, from, &here.sin_addr) == 1);
    CHECK(t, bind(fd, (const struct sockaddr *)&here, sizeof here) == 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    CHECK(t, connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

int sotto_test_dial(sotto_test *t, uint16_t port)
{
    return sotto_test_dial_from(t, port, "127.0.0.1");
}

/* A server that has heard enough may close while we speak: what it said can still be read. */
void sotto_test_send(sotto_test *t, int fd, const void *data, size_t len)
{
    (void)t;
    for (size_t sent = 0; sent < len;) {
        const ssize_t n = send(fd, (const char *)data + sent, len - sent, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

void sotto_test_send_text(sotto_test *t, int fd, const char *text)
{
    sotto_test_send(t, fd, text, strlen(text));
}

static size_t content_length(const char *head)
{
    const char *at = strcasestr(head, "\r\ncontent-length:");

    return at ? strtoul(at + 17, NULL, 10) : 0;
}

static sotto_test_answer hear(int fd, bool body)
{
    sotto_test_answer answer = {0};
    size_t len = 0;
    char c;

    /* Byte by byte: what follows the head must stay in the socket. */
    while (len + 1 < sizeof answer.head && recv(fd, &c, 1, 0) == 1) {
        answer.head[len++] = c;
        if (len >= 4 && memcmp(answer.head + len - 4, "\r\n\r\n", 4) == 0)
            break;
    }
    if (len < 12 || sscanf(answer.head, "HTTP/1.1 %u", &answer.status) != 1)
        return answer;
    const size_t wanted = body ? content_length(answer.head) : 0;
    char buffer[4096];
    while (answer.body_len < wanted) {
        const size_t left = wanted - answer.body_len;
        const ssize_t n = recv(fd, buffer, left < sizeof buffer ? left : sizeof buffer, 0);

        if (n <= 0)
            break;
        if (answer.body_len < sizeof answer.body - 1) {
            size_t room = sizeof answer.body - 1 - answer.body_len;

            memcpy(answer.body + answer.body_len, buffer, (size_t)n < room ? (size_t)n : room);
        }
        answer.body_len += (size_t)n;
    }
    return answer;
}

sotto_test_answer sotto_test_hear(sotto_test *t, int fd)
{
    (void)t;
    return hear(fd, true);
}

sotto_test_answer sotto_test_hear_head(sotto_test *t, int fd)
{
    (void)t;
    return hear(fd, false);
}

bool sotto_test_is_closed(int fd)
{
    char c;
    const ssize_t n = recv(fd, &c, 1, 0);

    return n == 0 || (n < 0 && errno == ECONNRESET);
}

sotto_test_answer sotto_test_ask(sotto_test *t, uint16_t port, const char *text)
{
    const int fd = sotto_test_dial(t, port);
    sotto_test_answer answer;

    sotto_test_send_text(t, fd, text);
    answer = sotto_test_hear(t, fd);
    (void)close(fd);
    return answer;
}
