/* Calls without libcurl, against a peer that answers by a script. */
#define _GNU_SOURCE

#include "base/clock.h"
#include "support/http.h"
#include "support/ports.h"
#include "transport/http_client_internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Answers in their order, one for each request. One that begins with '!' ends its connection; "" is no answer, and an end. */
typedef struct peer {
    const char *const *answers;
    size_t count;
    int listener;
    uint16_t port;
    pthread_t thread;
    atomic_size_t connections, requests, ended;
    char heard[1024]; /* the last request */
} peer;

static bool hear(peer *p, int fd)
{
    size_t len = 0;

    while (len < sizeof p->heard - 1) {
        const ssize_t n = read(fd, p->heard + len, sizeof p->heard - 1 - len);

        if (n <= 0)
            return false;
        len += (size_t)n;
        p->heard[len] = 0;
        if (strstr(p->heard, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void *answer_all(void *context)
{
    peer *p = context;
    size_t next = 0;

    while (next < p->count) {
        const int fd = accept(p->listener, NULL, NULL);
        const int one = 1, none = 0;
        bool open = fd >= 0;

        if (!open)
            break;
        atomic_fetch_add(&p->connections, 1);
        while (open && next < p->count && hear(p, fd)) {
            const char *text = p->answers[next++];

            open = text[0] != 0 && text[0] != '!';
            text += text[0] == '!';
            atomic_fetch_add(&p->requests, 1);
            /* In one segment: all of it is there when the client reads. */
            (void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &one, sizeof one);
            open = (text[0] == 0 || write(fd, text, strlen(text)) > 0) && open;
            (void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &none, sizeof none);
        }
        (void)shutdown(fd, SHUT_RDWR); /* whoever else has it */
        (void)close(fd);
        atomic_fetch_add(&p->ended, 1);
    }
    return NULL;
}

static void open_peer(sotto_test *t, peer *p, const char *const *answers, size_t count)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    memset(p, 0, sizeof *p);
    p->answers = answers;
    p->count = count;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(t, bind(p->listener, (const struct sockaddr *)&at, sizeof at) == 0 &&
                 listen(p->listener, 8) == 0 &&
                 getsockname(p->listener, (struct sockaddr *)&at, &len) == 0);
    p->port = ntohs(at.sin_port);
    CHECK_EQUAL(t, 0, pthread_create(&p->thread, NULL, answer_all, p));
}

static void close_peer(peer *p)
{
    (void)shutdown(p->listener, SHUT_RDWR);
    (void)pthread_join(p->thread, NULL);
    (void)close(p->listener);
}

static sotto_status ask(sotto_test *t, sotto_http_client *client, const peer *p,
                        sotto_http_response *out)
{
    char url[64];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/a/.b?c=d", p->port);
    sotto_err_clear(&t->err);
    return sotto_http_call_wait(client, out,
                                &(sotto_http_call){.url = url, .attempts = 1, .timeout_ms = 2000},
                                &t->arena, &t->err);
}

static void check_body(sotto_test *t, sotto_http_client *client, const peer *p, const char *body)
{
    sotto_http_response r;

    CHECK_OK(t, ask(t, client, p, &r));
    CHECK_EQUAL(t, 1, r.attempts);
    CHECK_EQUAL(t, strlen(body), r.body.len);
    CHECK_BYTES(t, body, r.body.data, r.body.len);
}

#define OPEN_PEER(t, p, answers) open_peer(t, p, answers, sizeof(answers) / sizeof(answers)[0])
#define OPEN_WITH(t, p, client, answers)                                                           \
    OPEN_PEER(t, p, answers);                                                                      \
    CHECK_OK(t, sotto_http_client_open(&(client), &(sotto_http_client_options){0}, &(t)->err))

static void every_way_to_end_a_body_is_read(sotto_test *t)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "!HTTP/1.1 200 OK\r\n\r\nuntil the end",
        "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlast",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    };
    static const char *const bodies[] = {"fine",          "abcde", "",     "ok",
                                         "until the end", "old",   "last", ""};
    char host[64];
    sotto_http_client *client;
    peer p;

    OPEN_WITH(t, &p, client, answers);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        check_body(t, client, &p, bodies[i]);
    (void)snprintf(host, sizeof host, "\r\nHost: 127.0.0.1:%u\r\nAccept: */*\r\n\r\n", p.port);
    CHECK(t, strncmp(p.heard, "GET /a/.b?c=d HTTP/1.1\r\n", 24) == 0 && strstr(p.heard, host));
    /* Five over the first one, which ended with its body; then one each for who keeps none. */
    CHECK_EQUAL(t, 4, atomic_load(&p.connections));
    sotto_http_client_close(client);
    close_peer(&p);
}

/* A kept connection may end while nobody looks, or with the next request: that one goes again, over another. */
static void a_dead_connection_is_replaced(sotto_test *t)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        "",
        "!HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nc",
    };
    sotto_http_client *client;
    peer p;

    OPEN_WITH(t, &p, client, answers);
    check_body(t, client, &p, "a");
    check_body(t, client, &p, "b");
    check_body(t, client, &p, "c");
    CHECK_EQUAL(t, 4, atomic_load(&p.requests));
    sotto_http_client_close(client);
    close_peer(&p);
}

/* A fresh connection had the request: whether it was answered, nobody knows. */
static void a_lost_answer_is_not_asked_for_again(sotto_test *t)
{
    static const char *const answers[] = {
        "", "!HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        "!HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "!HTTP/1.1 100 Continue\r\n\r\n"};
    sotto_http_response r;
    sotto_http_client *client;
    peer p;

    OPEN_WITH(t, &p, client, answers);
    for (size_t i = 1; i <= 3; i++) {
        CHECK_STATUS(t, SOTTO_IO, ask(t, client, &p, &r));
        CHECK(t, strstr(t->err.reason, "the connection ended before its answer"));
        CHECK_EQUAL(t, i, atomic_load(&p.requests));
    }
    check_body(t, client, &p, "a"); /* a kept one had it, too, where it said so */
    CHECK_STATUS(t, SOTTO_IO, ask(t, client, &p, &r));
    CHECK_EQUAL(t, 5, atomic_load(&p.requests));
    sotto_http_client_close(client);
    close_peer(&p);
}

static void what_two_readers_could_read_differently_is_refused(sotto_test *t)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        "HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n",
    };
    sotto_http_response r;
    sotto_http_client *client;
    peer p;

    OPEN_WITH(t, &p, client, answers);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        CHECK_STATUS(t, SOTTO_IO, ask(t, client, &p, &r));
        CHECK_REASON(t, "127.0.0.1: the answer is malformed (attempt 1)");
    }
    sotto_http_client_close(client);
    close_peer(&p);
}

/* Else they would be taken for the answer to the next call. */
static void bytes_behind_an_answer_are_of_no_call(sotto_test *t)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: "
        "4\r\n\r\nevil",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright",
    };
    sotto_http_client *client;
    peer p;

    OPEN_WITH(t, &p, client, answers);
    check_body(t, client, &p, "ok");
    check_body(t, client, &p, "right");
    CHECK_EQUAL(t, 2, atomic_load(&p.connections));
    sotto_http_client_close(client);
    close_peer(&p);
}

typedef struct later {
    sotto_status status;
    char body[8];
    atomic_bool done;
} later;

static void note_answer(void *context, sotto_status status, const sotto_http_response *response,
                        const sotto_err *err)
{
    later *l = context;

    (void)err;
    l->status = status;
    if (response && response->body.len < sizeof l->body)
        memcpy(l->body, response->body.data, response->body.len);
    atomic_store(&l->done, true);
}

/* An answer as long as what is read at once: what is behind it is still in the kernel when the next call takes the connection. */
static void bytes_that_come_late_are_of_no_call(sotto_test *t)
{
    enum { READ = SOTTO_HTTP_MAX_RESPONSE_FIELDS, BODY = 16000 };
    static char longest[READ + 64];
    const char *const answers[] = {longest, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright"};
    static later first, second;
    sotto_http_client *client;
    char url[64];
    peer p;

    size_t len = (size_t)snprintf(longest, sizeof longest,
                                  "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nA: ", BODY);
    while (len < READ - BODY - 4)
        longest[len++] = 'a';
    len += (size_t)snprintf(longest + len, 5, "\r\n\r\n");
    memset(longest + len, 'b', BODY);
    (void)snprintf(longest + READ, 64, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    OPEN_PEER(t, &p, answers);
    CHECK_OK(
        t, sotto_http_client_open(&client, &(sotto_http_client_options){.max_active = 1}, &t->err));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", p.port);
    const sotto_http_call call = {.url = url, .attempts = 1, .timeout_ms = 2000};
    CHECK_OK(t, sotto_http_call_start(client, &call, note_answer, &first, &t->err));
    CHECK_OK(t, sotto_http_call_start(client, &call, note_answer, &second, &t->err));
    for (uint64_t until = 0; !atomic_load(&second.done) && sotto_test_waits(&until, 5);)
        ;
    CHECK(t, first.status == SOTTO_OK && second.status == SOTTO_OK);
    CHECK(t, strcmp(second.body, "right") == 0);
    CHECK_EQUAL(t, 2, atomic_load(&p.connections));
    sotto_http_client_close(client);
    close_peer(&p);
}

/* A peer that sends nothing but 100 (Continue) would never be done. */
static void heads_before_an_answer_are_bounded(sotto_test *t)
{
    static const char head[] = "HTTP/1.1 100\r\n\r\n", last[] = "HTTP/1.1 204\r\n\r\n";
    enum { HEADS = SOTTO_HTTP_MAX_RESPONSE_FIELDS / (sizeof head - 1) };
    static char most[HEADS * (sizeof head - 1) + sizeof last], more[sizeof most + sizeof head];
    const char *const answers[] = {most, more};
    sotto_http_response r;
    sotto_http_client *client;
    peer p;

    for (size_t i = 0; i <= HEADS; i++)
        memcpy(more + i * (sizeof head - 1), head, sizeof head);
    memcpy(most, more, HEADS * (sizeof head - 1));
    memcpy(most + HEADS * (sizeof head - 1), last, sizeof last);
    memcpy(more + (HEADS + 1) * (sizeof head - 1), last, sizeof last);
    OPEN_WITH(t, &p, client, answers);
    CHECK_OK(t, ask(t, client, &p, &r));
    CHECK_EQUAL(t, 204, r.status);
    CHECK_STATUS(t, SOTTO_TOO_LARGE, ask(t, client, &p, &r));
    sotto_http_client_close(client);
    close_peer(&p);
}

/* Nobody accepts, and the kernel's queue is full: the call's own time ends it, before that for connecting. */
static void connecting_is_within_the_time_of_a_call(sotto_test *t)
{
    enum { FILL = 4 };
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t len = sizeof at;
    int fill[FILL];
    sotto_http_response r;
    sotto_http_client *client;

    CHECK(t, bind(listener, (const struct sockaddr *)&at, sizeof at) == 0 &&
                 listen(listener, 0) == 0 &&
                 getsockname(listener, (struct sockaddr *)&at, &len) == 0);
    for (size_t i = 0; i < FILL; i++) {
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(fill[i], (const struct sockaddr *)&at, sizeof at);
    }
    CHECK_OK(t, sotto_http_client_open(&client, &(sotto_http_client_options){.connect_ms = 2500},
                                       &t->err));
    const uint64_t from = sotto_clock_monotonic(&sotto_clock_system);
    char url[64];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(at.sin_port));
    CHECK_STATUS(t, SOTTO_IO,
                 sotto_http_call_wait(
                     client, &r, &(sotto_http_call){.url = url, .attempts = 1, .timeout_ms = 50},
                     &t->arena, &t->err));
    CHECK_REASON(t, "127.0.0.1: timeout (attempt 1)");
    CHECK(t, sotto_clock_monotonic(&sotto_clock_system) - from < 2000000000U);
    sotto_http_client_close(client);
    for (size_t i = 0; i < FILL; i++)
        (void)close(fill[i]);
    (void)close(listener);
}

static void connections_that_are_kept_are_bounded(sotto_test *t)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"};
    sotto_http_client *client;
    peer one, other;

    OPEN_PEER(t, &one, answers);
    OPEN_PEER(t, &other, answers);
    CHECK_OK(
        t, sotto_http_client_open(&client, &(sotto_http_client_options){.max_active = 1}, &t->err));
    check_body(t, client, &one, "a");
    check_body(t, client, &other, "a");
    for (uint64_t until = 0; atomic_load(&one.ended) == 0 && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, 1, atomic_load(&one.ended));
    check_body(t, client, &other, "b");
    CHECK_EQUAL(t, 1, atomic_load(&other.connections));
    sotto_http_client_close(client);
    close_peer(&one);
    close_peer(&other);
}

/* It has the connection for as long as it lives, and epoll goes on with what is not taken from it. */
static void a_child_of_fork_brings_no_connection_back(sotto_test *t)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        "!HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nb",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nc",
    };
    sotto_http_client *client;
    int state;
    peer p;

    OPEN_WITH(t, &p, client, answers);
    check_body(t, client, &p, "a");
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(20); /* where the test itself ends badly */
        for (;;)
            (void)pause();
    }
    CHECK(t, child > 0);
    check_body(t, client, &p, "b");
    for (uint64_t until = 0; atomic_load(&p.ended) == 0 && sotto_test_waits(&until, 5);)
        ;
    check_body(t, client, &p, "c");
    sotto_http_client_close(client);
    (void)kill(child, SIGKILL);
    CHECK(t, waitpid(child, &state, 0) == child);
    close_peer(&p);
}

static void fields_of_the_client_itself_are_left_to_libcurl(sotto_test *t)
{
    static const char *const names[] = {"Content-Type", "Authorization",  "Host",
                                        "ACCEPT",       "content-length", "Transfer-Encoding",
                                        "Connection",   "Expect"};
    const sotto_http_client client = {0};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const sotto_http_field field = {names[i], "x"};

        CHECK(t, sotto_http_direct_takes(
                     &client, &(sotto_http_call){.fields = &field, .field_count = 1}) == (i < 2));
    }
}

static void only_addresses_over_plain_http_need_no_libcurl(sotto_test *t)
{
    static const char *const direct[] = {"http://127.0.0.1/", "http://10.0.0.1:8080/a/b?c=/d",
                                         "http://127.0.0.1:1/.well-known/x"};
    static const char *const others[] = {"https://127.0.0.1/",
                                         "http://localhost/",
                                         "http://[::1]/",
                                         "http://127.0.0.1",
                                         "http://127.0.0.1:0/",
                                         "http://127.0.0.1:65536/",
                                         "http://127.0.0.1:/",
                                         "http://127.1/",
                                         "http://127.0.0.1/a/../b",
                                         "http://127.0.0.1/a/.",
                                         "http://127.0.0.1/a#b",
                                         "http://127.0.0.1/a b",
                                         "http://127.0.0.1/..?a",
                                         "http://127.0.0.1?a",
                                         "http://u@127.0.0.1/",
                                         "http://127.0.0.1:80:80/a",
                                         "http://127.0.0.1:80@10.0.0.1/",
                                         "http://0177.0.0.1/",
                                         "http://0x7f.0.0.1/",
                                         "http://2130706433/",
                                         "http://127.0.0.1\\@10.0.0.1/",
                                         "http://127.0.0.1:+80/",
                                         "HTTP://127.0.0.1/",
                                         "http://127.0.0.1/\xc3"};
    sotto_http_direct_url out;

    for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++)
        CHECK(t, sotto_http_direct_reads(&out, direct[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(t, !sotto_http_direct_reads(&out, others[i]));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_way_to_end_a_body_is_read),
        CASE(a_dead_connection_is_replaced),
        CASE(a_lost_answer_is_not_asked_for_again),
        CASE(what_two_readers_could_read_differently_is_refused),
        CASE(bytes_behind_an_answer_are_of_no_call),
        CASE(bytes_that_come_late_are_of_no_call),
        CASE(heads_before_an_answer_are_bounded),
        CASE(connecting_is_within_the_time_of_a_call),
        CASE(connections_that_are_kept_are_bounded),
        CASE(a_child_of_fork_brings_no_connection_back),
        CASE(fields_of_the_client_itself_are_left_to_libcurl),
        CASE(only_addresses_over_plain_http_need_no_libcurl),
    };

    return RUN_TESTS(argc, argv, cases);
}
