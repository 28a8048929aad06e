/* Calls that succeed, fail, come back, and are given up. */
#define _GNU_SOURCE

#include "support/http.h"
#include "support/ports.h"
#include "transport/http_client.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static sotto_test_http http;
static char url_text[256];

static const char *url(const char *path)
{
    (void)snprintf(url_text, sizeof url_text, "http://127.0.0.1:%u%s", http.port, path);
    return url_text;
}

static sotto_http_client *client_of(sotto_test *t, sotto_http_client_options options)
{
    sotto_http_client *client;

    if (options.backoff_ms == 0)
        options.backoff_ms = 5;
    CHECK_OK(t, sotto_http_client_open(&client, &options, &t->err));
    return client;
}

static sotto_http_response call(sotto_test *t, sotto_http_client *client, sotto_http_call c)
{
    sotto_http_response response = {0};

    CHECK_OK(t, sotto_http_call_wait(client, &response, &c, &t->arena, &t->err));
    return response;
}

static void a_call_brings_back_an_answer(sotto_test *t)
{
    static const char body[] = "some bytes";
    sotto_http_client *client;
    sotto_http_response r;
    sotto_bytes value;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    client = client_of(t, (sotto_http_client_options){0});
    r = call(t, client, (sotto_http_call){.url = url("/ok")});
    CHECK_EQUAL(t, 200, r.status);
    CHECK_EQUAL(t, 4, r.body.len);
    CHECK_BYTES(t, "fine", r.body.data, 4);
    CHECK(t, sotto_http_response_field(&r, "content-length", &value));
    CHECK_BYTES(t, "4", value.data, value.len);
    CHECK(t, !sotto_http_response_field(&r, "location", &value));
    for (int method = SOTTO_HTTP_PUT; method <= SOTTO_HTTP_POST; method++) {
        r = call(t, client,
                 (sotto_http_call){.method = (sotto_http_method)method,
                                   .url = url("/echo"),
                                   .body = sotto_bytes_of(body, sizeof body)});
        CHECK_EQUAL(t, 200, r.status);
        CHECK_EQUAL(t, sizeof body, r.body.len);
        CHECK_BYTES(t, body, r.body.data, sizeof body);
    }
    r = call(t, client, (sotto_http_call){.method = SOTTO_HTTP_DELETE, .url = url("/nowhere")});
    CHECK_EQUAL(t, 404, r.status);
    CHECK_EQUAL(t, 1, r.attempts);
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

static void connections_are_kept(sotto_test *t)
{
    sotto_http_server_counts counts;
    sotto_http_client *client;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    client = client_of(t, (sotto_http_client_options){0});
    for (int i = 0; i < 20; i++)
        CHECK_EQUAL(t, 200, call(t, client, (sotto_http_call){.url = url("/ok")}).status);
    sotto_http_server_count(http.server, &counts);
    CHECK_EQUAL(t, 1, counts.connections_accepted);
    CHECK_EQUAL(t, 20, counts.requests);
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

static void fields_arrive(sotto_test *t)
{
    const sotto_http_field token = {"Authorization", "Bearer abc"};
    const sotto_http_field split = {"X", "a\r\nY: b"};
    sotto_http_client *client;
    sotto_http_response r;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    client = client_of(t, (sotto_http_client_options){0});
    r = call(
        t, client,
        (sotto_http_call){.url = url("/seen/authorization"), .fields = &token, .field_count = 1});
    CHECK_EQUAL(t, 10, r.body.len);
    CHECK_BYTES(t, "Bearer abc", r.body.data, 10);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_http_call_wait(
                     client, &r,
                     &(sotto_http_call){.url = url("/ok"), .fields = &split, .field_count = 1},
                     &t->arena, &t->err));
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

/* Handles and checked URLs are used again. */
static void a_call_has_nothing_of_the_one_before(sotto_test *t)
{
    static const char body[] = "some bytes";
    const sotto_http_field fields[] = {{"Authorization", "Bearer abc"}, {"Content-Type", "a/b"}};
    sotto_http_client *client;
    sotto_http_response r;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    client = client_of(t, (sotto_http_client_options){0});
    for (int method = SOTTO_HTTP_PUT; method <= SOTTO_HTTP_POST; method++) {
        r = call(t, client,
                 (sotto_http_call){.method = (sotto_http_method)method,
                                   .url = url("/echo"),
                                   .fields = fields,
                                   .field_count = 2,
                                   .body = sotto_bytes_of(body, sizeof body)});
        CHECK_EQUAL(t, sizeof body, r.body.len);
        r = call(t, client, (sotto_http_call){.url = url("/seen/authorization")});
        CHECK_EQUAL(t, 0, r.body.len);
        r = call(t, client, (sotto_http_call){.url = url("/seen/content-length")});
        CHECK_EQUAL(t, 0, r.body.len);
        r = call(t, client,
                 (sotto_http_call){.method = (sotto_http_method)method, .url = url("/echo")});
        CHECK_EQUAL(t, 200, r.status);
        CHECK_EQUAL(t, 0, r.body.len);
    }
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_http_call_wait(client, &r, &(sotto_http_call){.url = "http://192.0.2.1/"},
                                      &t->arena, &t->err));
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

typedef struct retry_case {
    const char *path;
    sotto_http_method method;
    bool repeatable;
    unsigned status, attempts;
} retry_case;

static void what_may_be_repeated_is(sotto_test *t)
{
    static const retry_case cases[] = {
        {"/fail/2/503/0", SOTTO_HTTP_GET, false, 200, 3},
        {"/fail/2/500/0", SOTTO_HTTP_PUT, false, 200, 3},
        {"/fail/1/502/0", SOTTO_HTTP_DELETE, false, 200, 2},
        {"/fail/1/504/0", SOTTO_HTTP_POST, true, 200, 2},
        {"/fail/2/503/0", SOTTO_HTTP_POST, false, 503, 1},
        {"/fail/2/429/0", SOTTO_HTTP_POST, false, 200, 3},
        {"/fail/2/501/0", SOTTO_HTTP_GET, false, 501, 1},
        {"/fail/2/400/0", SOTTO_HTTP_GET, false, 400, 1},
        {"/fail/9/503/0", SOTTO_HTTP_GET, false, 503, 5},
    };
    sotto_http_client *client = client_of(t, (sotto_http_client_options){0});

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sotto_http_response r;

        sotto_test_http_open(t, &http, (sotto_http_server_options){0});
        r = call(t, client,
                 (sotto_http_call){.url = url(cases[i].path),
                                   .method = cases[i].method,
                                   .repeatable = cases[i].repeatable});
        CHECK_EQUAL(t, cases[i].status, r.status);
        CHECK_EQUAL(t, cases[i].attempts, r.attempts);
        CHECK_EQUAL(t, cases[i].attempts, atomic_load(&http.bodies));
        sotto_test_http_close(&http);
    }
    sotto_http_client_close(client);
}

static void retry_after_is_honoured(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){.max_backoff_ms = 5000});
    sotto_http_response r;
    uint64_t begin;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    begin = sotto_test_now_ms();
    r = call(t, client, (sotto_http_call){.url = url("/fail/1/503/1")});
    CHECK_EQUAL(t, 200, r.status);
    CHECK(t, sotto_test_now_ms() - begin >= 1000);
    sotto_test_http_close(&http);
    /* Longer than the client is willing to wait: the answer is handed on, with what it asks for. */
    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    r = call(t, client, (sotto_http_call){.url = url("/fail/1/503/60")});
    CHECK_EQUAL(t, 503, r.status);
    CHECK_EQUAL(t, 1, r.attempts);
    CHECK_EQUAL(t, 60, r.retry_after_s);
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

static void waits_grow_and_spread(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){.backoff_ms = 40});
    sotto_http_response r;
    uint64_t begin, took;
    int kept = sotto_test_keep_port(t, &http.port); /* where nobody listens */

    begin = sotto_test_now_ms();
    CHECK_STATUS(
        t, SOTTO_IO,
        sotto_http_call_wait(
            client, &r,
            &(sotto_http_call){.url = url("/ok"), .method = SOTTO_HTTP_POST, .attempts = 4},
            &t->arena, &t->err));
    CHECK_REASON(t, "127.0.0.1");
    CHECK_REASON(t, "attempt 4"); /* it never left, so even a POST is tried again */
    took = sotto_test_now_ms() - begin;
    CHECK(t, took >= 20 + 40 + 80);
    sotto_http_client_close(client);
    (void)close(kept);
}

/* Accepts, reads a little, and hangs up; counts. */
typedef struct rude {
    int listener;
    uint16_t port;
    unsigned times;
    atomic_uint met;
    const char *says; /* may be NULL */
    bool stays;       /* silent, rather than hanging up */
    pthread_t thread;
} rude;

static void *be_rude(void *context)
{
    rude *r = context;
    int fds[16];
    unsigned count = 0;

    for (unsigned i = 0; i < r->times && i < 16; i++) {
        char text[4096];
        const int fd = accept(r->listener, NULL, NULL);

        if (fd < 0)
            break;
        atomic_fetch_add(&r->met, 1);
        (void)!recv(fd, text, sizeof text, 0);
        if (r->says)
            (void)!send(fd, r->says, strlen(r->says), MSG_NOSIGNAL);
        fds[count++] = fd;
        if (!r->stays)
            (void)close(fds[--count]);
    }
    while (r->stays && recv(fds[0], &(char){0}, 1, 0) > 0) {
    }
    while (count > 0)
        (void)close(fds[--count]);
    return NULL;
}

static void rude_open(sotto_test *t, rude *r)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof at;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(t, r->listener >= 0 && bind(r->listener, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(t, listen(r->listener, 16) == 0);
    CHECK(t, getsockname(r->listener, (struct sockaddr *)&at, &len) == 0);
    r->port = ntohs(at.sin_port);
    http.port = r->port;
    CHECK(t, pthread_create(&r->thread, NULL, be_rude, r) == 0);
}

static void rude_close(rude *r)
{
    (void)shutdown(r->listener, SHUT_RDWR);
    (void)pthread_join(r->thread, NULL);
    (void)close(r->listener);
}

static void a_lost_connection_is_tried_again_if_that_is_safe(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){0});
    sotto_http_response response;

    for (int repeatable = 0; repeatable < 2; repeatable++) {
        rude r = {.times = 3};

        rude_open(t, &r);
        CHECK_STATUS(t, SOTTO_IO,
                     sotto_http_call_wait(client, &response,
                                          &(sotto_http_call){.url = url("/"),
                                                             .method = SOTTO_HTTP_POST,
                                                             .repeatable = repeatable,
                                                             .attempts = 3},
                                          &t->arena, &t->err));
        CHECK_EQUAL(t, repeatable ? 3 : 1, atomic_load(&r.met));
        rude_close(&r);
    }
    sotto_http_client_close(client);
}

static void a_silent_peer_is_given_up(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){0});
    rude r = {.times = 1, .stays = true};
    sotto_http_response response;
    const uint64_t begin = sotto_test_now_ms();

    rude_open(t, &r);
    CHECK_STATUS(
        t, SOTTO_IO,
        sotto_http_call_wait(client, &response,
                             &(sotto_http_call){.url = url("/"), .attempts = 1, .timeout_ms = 100},
                             &t->arena, &t->err));
    CHECK(t, sotto_test_now_ms() - begin < 20000); /* else 30 s */
    sotto_http_client_close(client);
    rude_close(&r);
}

static void an_answer_too_large_is_not_read(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){0});
    sotto_http_response r;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    r = call(t, client, (sotto_http_call){.url = url("/big/1000"), .max_response = 1000});
    CHECK_EQUAL(t, 1000, r.body.len);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_http_call_wait(
                     client, &r, &(sotto_http_call){.url = url("/big/1001"), .max_response = 1000},
                     &t->arena, &t->err));
    CHECK_EQUAL(t, 2, atomic_load(&http.bodies)); /* not asked for again */
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

/* Around the lengths at which its memory grows, to the end. */
static void a_long_answer_comes_whole(sotto_test *t)
{
    static const unsigned lengths[] = {4096, 65535, 65536, 65537, 300000, 3000001};
    sotto_http_client *client = client_of(t, (sotto_http_client_options){0});

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char path[32];
        size_t wrong = 0;

        (void)snprintf(path, sizeof path, "/big/%u", lengths[i]);
        const sotto_http_response r =
            call(t, client, (sotto_http_call){.url = url(path), .max_response = lengths[i]});
        CHECK_EQUAL(t, lengths[i], r.body.len);
        for (size_t k = 0; k < r.body.len; k++)
            wrong += r.body.data[k] != 'x';
        CHECK_EQUAL(t, 0, wrong);
    }
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

static void redirects_are_not_followed(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){0});
    rude r = {
        .times = 1,
        .says = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"};
    sotto_http_response response;

    rude_open(t, &r);
    response = call(t, client, (sotto_http_call){.url = url("/")});
    CHECK_EQUAL(t, 302, response.status);
    rude_close(&r);
    sotto_http_client_close(client);
}

static void plain_http_stays_on_loopback(sotto_test *t)
{
    static const struct {
        const char *url;
        sotto_status status;
    } cases[] = {
        {"http://example.org/", SOTTO_DENIED},
        {"http://127.0.0.1.example.org/", SOTTO_DENIED},
        {"http://192.0.2.1/", SOTTO_DENIED},
        {"http://[2001:db8::1]/", SOTTO_DENIED},
        {"http://user:secret@127.0.0.1/", SOTTO_MALFORMED},
        {"ftp://127.0.0.1/", SOTTO_MALFORMED},
        {"file:///etc/passwd", SOTTO_MALFORMED},
        {"", SOTTO_MALFORMED},
    };
    sotto_http_client *client = client_of(t, (sotto_http_client_options){0});
    sotto_http_response r;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STATUS(t, cases[i].status,
                     sotto_http_call_wait(client, &r, &(sotto_http_call){.url = cases[i].url},
                                          &t->arena, &t->err));
        CHECK(t, !strstr(t->err.reason, "secret"));
    }
    sotto_http_client_close(client);
}

typedef struct tally {
    atomic_uint done, ok, stale;
} tally;

static void count_end(void *context, sotto_status status, const sotto_http_response *response,
                      const sotto_err *err)
{
    tally *n = context;

    (void)err;
    atomic_fetch_add(&n->ok, status == SOTTO_OK && response->status == 200);
    atomic_fetch_add(&n->stale, status == SOTTO_STALE);
    atomic_fetch_add(&n->done, 1);
}

static void many_calls_run_at_once(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){.max_active = 16});
    sotto_http_server_counts counts;
    tally n = {0};

    sotto_test_http_open(t, &http, (sotto_http_server_options){.loops = 2});
    for (int i = 0; i < 500; i++)
        CHECK_OK(t, sotto_http_call_start(client, &(sotto_http_call){.url = url("/ok")}, count_end,
                                          &n, &t->err));
    for (uint64_t until = 0; atomic_load(&n.done) < 500 && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, 500, atomic_load(&n.ok));
    sotto_http_server_count(http.server, &counts);
    CHECK(t, counts.connections_accepted <= 16);
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
}

static void closing_ends_every_call(sotto_test *t)
{
    sotto_http_client *client =
        client_of(t, (sotto_http_client_options){.max_active = 4, .backoff_ms = 10000});
    tally n = {0};

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    for (int i = 0; i < 10; i++)
        CHECK_OK(t, sotto_http_call_start(
                        client, &(sotto_http_call){.url = url(i == 0 ? "/fail/9/503/0" : "/hold")},
                        count_end, &n, &t->err));
    sotto_test_http_wait_held(t, &http, 4); /* the failing one sleeps, others wait for their turn */
    sotto_http_client_close(client);
    CHECK_EQUAL(t, 10, atomic_load(&n.done));
    CHECK_EQUAL(t, 10, atomic_load(&n.stale));
    sotto_test_http_close(&http);
}

static void too_many_calls_are_turned_away(sotto_test *t)
{
    sotto_http_client *client = client_of(t, (sotto_http_client_options){.max_waiting = 2});
    tally n = {0};

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    for (int i = 0; i < 2; i++)
        CHECK_OK(t, sotto_http_call_start(client, &(sotto_http_call){.url = url("/hold")},
                                          count_end, &n, &t->err));
    CHECK_STATUS(t, SOTTO_AGAIN,
                 sotto_http_call_start(client, &(sotto_http_call){.url = url("/hold")}, count_end,
                                       &n, &t->err));
    sotto_test_http_wait_held(t, &http, 2);
    sotto_http_client_close(client);
    CHECK_EQUAL(t, 2, atomic_load(&n.done));
    sotto_test_http_close(&http);
}

/* Everything the client logs while a call with a token fails and is tried again. */
static char logged[8192];

static void remember_log(void *context, const sotto_log_event *event)
{
    sotto_buf out = sotto_buf_over(logged + strlen(logged), sizeof logged - strlen(logged) - 1);

    (void)context;
    (void)!sotto_log_format(&out, event, NULL);
}

static void tokens_are_not_logged(sotto_test *t)
{
    static const sotto_log_sink sink = {remember_log, NULL, SOTTO_LOG_DEBUG};
    static const sotto_http_field token = {"Authorization", "Bearer hunter2"};
    sotto_http_client *client = client_of(t, (sotto_http_client_options){.log = &sink});

    sotto_test_http_open(t, &http, (sotto_http_server_options){.log = &sink});
    (void)call(t, client,
               (sotto_http_call){.url = url("/fail/2/503/0"), .fields = &token, .field_count = 1});
    sotto_http_client_close(client);
    sotto_test_http_close(&http);
    /* A helper that is away would fill the log with what each call does about it. */
    CHECK(t, strstr(logged, "debug http.retry") && strstr(logged, "http.listening"));
    CHECK(t, !strstr(logged, "hunter2") && !strstr(logged, "Bearer"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_call_brings_back_an_answer),
        CASE(connections_are_kept),
        CASE(fields_arrive),
        CASE(a_call_has_nothing_of_the_one_before),
        CASE(what_may_be_repeated_is),
        CASE(retry_after_is_honoured),
        CASE(waits_grow_and_spread),
        CASE(a_lost_connection_is_tried_again_if_that_is_safe),
        CASE(a_silent_peer_is_given_up),
        CASE(an_answer_too_large_is_not_read),
        CASE(a_long_answer_comes_whole),
        CASE(redirects_are_not_followed),
        CASE(plain_http_stays_on_loopback),
        CASE(many_calls_run_at_once),
        CASE(closing_ends_every_call),
        CASE(too_many_calls_are_turned_away),
        CASE(tokens_are_not_logged),
    };

    return RUN_TESTS(argc, argv, cases);
}
