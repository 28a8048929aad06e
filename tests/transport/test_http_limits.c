/* Every limit and every clock of the server, one client at a time that oversteps it. */
#define _GNU_SOURCE

#include "base/alloc.h"
#include "support/http.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static sotto_test_http http;
static char long_text[1 << 20];

static sotto_http_server_counts counts(void)
{
    sotto_http_server_counts now;

    sotto_http_server_count(http.server, &now);
    return now;
}

static void wait_until_quiet(sotto_test *t)
{
    for (uint64_t until = 0; counts().connections_now > 0 && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, 0, counts().connections_now);
    CHECK_EQUAL(t, 0, counts().bytes_in_flight_now);
}

static void heads_are_bounded(sotto_test *t)
{
    size_t len;

    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_head = 1024, .max_fields = 8});
    for (int over = 0; over < 2; over++) {
        len = (size_t)snprintf(long_text, sizeof long_text, "GET /ok HTTP/1.1\r\nHost: x\r\nX: ");
        while (len < 1024 - 4 + (size_t)over)
            long_text[len++] = 'a';
        memcpy(long_text + len, "\r\n\r\n", 5);
        CHECK_EQUAL(t, over ? 431 : 200, sotto_test_ask(t, http.port, long_text).status);
    }
    for (int over = 0; over < 2; over++) {
        len = (size_t)snprintf(long_text, sizeof long_text, "GET /ok HTTP/1.1\r\nHost: x\r\n");
        for (int i = 0; i < 7 + over; i++)
            len += (size_t)snprintf(long_text + len, 64, "X-%d: y\r\n", i);
        memcpy(long_text + len, "\r\n", 3);
        CHECK_EQUAL(t, over ? 431 : 200, sotto_test_ask(t, http.port, long_text).status);
    }
    CHECK_EQUAL(t, 2, counts().malformed);
    CHECK_EQUAL(t, 2, counts().answers[0]);
    CHECK_EQUAL(t, 0, counts().answers[2]); /* what is no head is no request */
    wait_until_quiet(t);
    sotto_test_http_close(&http);
}

static void paths_are_bounded(sotto_test *t)
{
    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    CHECK_EQUAL(t, 404,
                sotto_test_ask(t, http.port, GET("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g")).status);
    CHECK_EQUAL(t, 414,
                sotto_test_ask(t, http.port, GET("/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h")).status);
    sotto_test_http_close(&http);
}

static void a_body_over_its_limit_is_refused_before_it_is_read(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    /* Only the head is sent, and the answer comes. */
    sotto_test_send_text(t, fd, "POST /limit/9 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
    CHECK_EQUAL(t, 413, sotto_test_hear(t, fd).status);
    CHECK(t, sotto_test_is_closed(fd));
    (void)close(fd);
    CHECK_EQUAL(t, 413,
                sotto_test_ask(t, http.port,
                               "POST /limit/9 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
                               "\r\n\r\n9\r\n123456789\r\n1\r\n0\r\n0\r\n\r\n")
                    .status);
    CHECK_EQUAL(t, 200,
                sotto_test_ask(t, http.port,
                               "POST /limit/9 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked"
                               "\r\n\r\n8\r\n12345678\r\n1\r\n0\r\n0\r\n\r\n")
                    .status);
    CHECK_EQUAL(t, 1, atomic_load(&http.bodies));
    CHECK_EQUAL(t, 2, counts().too_large);
    CHECK_EQUAL(t, 1, counts().answers[0]);
    CHECK_EQUAL(t, 2, counts().answers[2]);
    sotto_test_http_close(&http);
}

static void an_announced_body_takes_no_memory(sotto_test *t)
{
    int fds[50];

    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_bytes_in_flight = 2 << 20});
    for (int i = 0; i < 50; i++) {
        fds[i] = sotto_test_dial(t, http.port);
        sotto_test_send_text(
            t, fds[i], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc");
    }
    while (atomic_load(&http.heads) < 50)
        sotto_test_sleep_ms(1);
    CHECK(t, counts().bytes_in_flight_now < 50 * 10000);
    for (int i = 0; i < 50; i++)
        (void)close(fds[i]);
    wait_until_quiet(t);
    sotto_test_http_close(&http);
}

/* Until each of so many clients, which sent all of a body but its last byte, has room for it or was refused. */
static void wait_until_decided(sotto_test *t, unsigned clients, size_t body)
{
    unsigned decided = 0;
    uint64_t until = 0;

    do {
        const sotto_http_server_counts now = counts();

        CHECK(t, now.bytes_in_flight_now <= 1 << 20);
        decided = (unsigned)(now.overloaded + now.bytes_in_flight_now / (body - 1));
    } while (decided < clients && sotto_test_waits(&until, 1));
    CHECK_EQUAL(t, clients, decided);
}

static void bytes_in_flight_are_capped_over_all_connections(sotto_test *t)
{
    enum { CLIENTS = 8, BODY = 300000 };
    int fds[CLIENTS];
    unsigned refused = 0, served = 0;

    /* Three bodies fit; each client sends all of its body but one byte. */
    sotto_test_http_open(
        t, &http, (sotto_http_server_options){.max_bytes_in_flight = 1 << 20, .retry_after_s = 7});
    memset(long_text, 'b', sizeof long_text);
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = sotto_test_dial(t, http.port);
        sotto_test_send_text(t, fds[i],
                             "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n");
        sotto_test_send(t, fds[i], long_text, BODY - 1);
        wait_until_decided(t, i + 1, BODY);
    }
    for (int i = 0; i < CLIENTS; i++) {
        sotto_test_send(t, fds[i], "b", 1);
        const sotto_test_answer answer = sotto_test_hear(t, fds[i]);
        served += answer.status == 200 && answer.body_len == BODY;
        refused += answer.status == 503 && strstr(answer.head, "\r\nRetry-After: 7\r\n");
        (void)close(fds[i]);
    }
    CHECK_EQUAL(t, CLIENTS, served + refused);
    CHECK(t, served >= 1 && served <= 3);
    CHECK_EQUAL(t, refused, counts().overloaded);
    CHECK_EQUAL(t, refused, counts().answers[3]);
    wait_until_quiet(t);
    CHECK_EQUAL(t, 200, sotto_test_ask(t, http.port, GET("/ok")).status);
    sotto_test_http_close(&http);
}

static void bodies_that_grow_together_meet_the_cap(sotto_test *t)
{
    enum { CLIENTS = 6, BODY = 400000 };
    int fds[CLIENTS];
    unsigned refused = 0;

    /* Each alone would fit, and at the time of its head there is room for it. */
    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_bytes_in_flight = 1 << 20});
    memset(long_text, 'b', sizeof long_text);
    for (unsigned i = 0; i < CLIENTS; i++) {
        fds[i] = sotto_test_dial(t, http.port);
        sotto_test_send_text(t, fds[i],
                             "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n");
        while (atomic_load(&http.heads) <= i)
            sotto_test_sleep_ms(1);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        sotto_test_send(t, fds[i], long_text, BODY - 1);
        wait_until_decided(t, i + 1, BODY);
    }
    for (int i = 0; i < CLIENTS; i++) {
        sotto_test_send(t, fds[i], "b", 1);
        refused += sotto_test_hear(t, fds[i]).status == 503;
        (void)close(fds[i]);
    }
    CHECK(t, refused >= CLIENTS - 2);
    wait_until_quiet(t);
    sotto_test_http_close(&http);
}

/* Memory that another body was in, which was not wiped, shows nothing of it. */
static void a_body_in_memory_that_was_kept_is_as_it_was_sent(sotto_test *t)
{
    enum { BODY = 70000, TIMES = 4 };

    sotto_alloc_keep_blocks(16 << 20);
    sotto_release_sealed(memset(sotto_alloc(BODY), 0xee, BODY), BODY);
    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_bytes_in_flight = 4 << 20});
    for (int i = 0; i < TIMES; i++) {
        const int fd = sotto_test_dial(t, http.port);

        for (size_t k = 0; k < BODY; k++)
            long_text[k] = (char)('a' + (k * 7 + (size_t)i) % 23);
        sotto_test_send_text(t, fd,
                             "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n");
        sotto_test_send(t, fd, long_text, BODY);
        const sotto_test_answer answer = sotto_test_hear(t, fd);

        CHECK_EQUAL(t, 200, answer.status);
        CHECK_EQUAL(t, BODY, answer.body_len);
        CHECK(t, memcmp(answer.body, long_text, sizeof answer.body - 1) == 0);
        (void)close(fd);
    }
    wait_until_quiet(t);
    sotto_test_http_close(&http);
    sotto_alloc_keep_blocks(0);
}

static void bodies_that_handlers_hold_count_too(sotto_test *t)
{
    int holding, other;

    sotto_test_http_open(t, &http, (sotto_http_server_options){.max_bytes_in_flight = 100000});
    memset(long_text, 'b', 80000);
    holding = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, holding,
                         "POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 80000\r\n\r\n");
    sotto_test_send(t, holding, long_text, 80000);
    sotto_test_http_wait_held(t, &http, 1);
    other = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, other,
                         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n");
    CHECK_EQUAL(t, 503, sotto_test_hear(t, other).status);
    (void)close(other);
    sotto_test_http_release(&http);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, holding).status);
    (void)close(holding);
    wait_until_quiet(t);
    sotto_test_http_close(&http);
}

static void connections_are_capped(sotto_test *t)
{
    int fds[4];

    sotto_test_http_open(
        t, &http,
        (sotto_http_server_options){.max_connections = 3, .loops = 2, .retry_after_s = 9});
    for (int i = 0; i < 3; i++) {
        fds[i] = sotto_test_dial(t, http.port);
        sotto_test_send_text(t, fds[i], GET("/hold")); /* one that is idle would make room */
    }
    sotto_test_http_wait_held(t, &http, 3);
    fds[3] = sotto_test_dial(t, http.port);
    const sotto_test_answer answer = sotto_test_hear(t, fds[3]);
    CHECK_EQUAL(t, 503, answer.status);
    CHECK(t, strstr(answer.head, "Retry-After: 9\r\n"));
    CHECK(t, sotto_test_is_closed(fds[3]));
    CHECK_EQUAL(t, 1, counts().connections_refused);
    sotto_test_http_release(&http);
    for (int i = 0; i < 4; i++)
        (void)close(fds[i]);
    wait_until_quiet(t);
    CHECK_EQUAL(t, 200, sotto_test_ask(t, http.port, GET("/ok")).status);
    sotto_test_http_close(&http);
}

/* ---- clocks -------------------------------------------------------------------------------------- */

/* Sends the text a byte at a time; returns the answer and how long it took. */
static sotto_test_answer drip(sotto_test *t, const char *head, const char *text, uint64_t *took)
{
    const uint64_t begin = sotto_test_now_ms(); /* not later than the server's clock begins */
    const int fd = sotto_test_dial(t, http.port);
    sotto_test_answer answer;

    sotto_test_send_text(t, fd, head);
    for (; *text && sotto_test_now_ms() - begin < 2000; text++) {
        sotto_test_send(t, fd, text, 1);
        sotto_test_sleep_ms(10);
    }
    answer = sotto_test_hear(t, fd);
    *took = sotto_test_now_ms() - begin;
    (void)close(fd);
    return answer;
}

static void a_slow_head_is_cut(sotto_test *t)
{
    uint64_t took;

    memset(long_text, 'a', 500);
    long_text[500] = 0;
    sotto_test_http_open(t, &http, (sotto_http_server_options){.head_ms = 1000});
    CHECK_EQUAL(t, 408, drip(t, "GET /ok HTTP/1.1\r\nX: ", long_text, &took).status);
    CHECK(t, took >= 1000);
    CHECK_EQUAL(t, 1, counts().timed_out);
    sotto_test_http_close(&http);
}

static void one_who_never_speaks_is_cut(sotto_test *t)
{
    int fd;
    uint64_t begin;

    sotto_test_http_open(t, &http, (sotto_http_server_options){.head_ms = 400, .idle_ms = 5000});
    begin = sotto_test_now_ms();
    fd = sotto_test_dial(t, http.port);
    CHECK(t, sotto_test_is_closed(fd));
    CHECK(t, sotto_test_now_ms() - begin >= 400);
    (void)close(fd);
    /* Between requests there is more time. */
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, GET("/ok"));
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    sotto_test_sleep_ms(800);
    begin = sotto_test_now_ms();
    sotto_test_send_text(t, fd, GET("/ok"));
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    CHECK(t, sotto_test_is_closed(fd));
    CHECK(t, sotto_test_now_ms() - begin >= 5000);
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void a_slow_body_is_cut(sotto_test *t)
{
    uint64_t took;

    memset(long_text, 'a', 500);
    long_text[500] = 0;
    sotto_test_http_open(t, &http, (sotto_http_server_options){.body_ms = 200});
    CHECK_EQUAL(
        t, 408,
        drip(t, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n", long_text, &took)
            .status);
    CHECK(t, took >= 200);
    CHECK_EQUAL(t, 408,
                drip(t,
                     "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "1f4\r\n",
                     long_text, &took)
                    .status);
    CHECK_EQUAL(t, 2, atomic_load(&http.lost));
    CHECK_EQUAL(t, 0, atomic_load(&http.bodies));
    sotto_test_http_close(&http);
}

static void a_large_body_at_a_fair_rate_is_not_cut(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){.body_ms = 2000, .min_rate = 20000});
    fd = sotto_test_dial(t, http.port);
    memset(long_text, 'a', sizeof long_text);
    sotto_test_send_text(t, fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n");
    for (int i = 0; i < 10; i++) {
        sotto_test_send(t, fd, long_text, 20000);
        sotto_test_sleep_ms(250); /* longer than body_ms in all */
    }
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void one_who_does_not_take_the_answer_is_cut(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){.write_ms = 100});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, GET("/big/50000000"));
    for (uint64_t until = 0; counts().timed_out == 0 && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, 1, counts().timed_out);
    (void)close(fd);
    wait_until_quiet(t);
    sotto_test_http_close(&http);
}

static void a_handler_may_take_its_time(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http,
                         (sotto_http_server_options){
                             .head_ms = 1500, .body_ms = 1500, .idle_ms = 1500, .write_ms = 1500});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, GET("/hold"));
    sotto_test_http_wait_held(t, &http, 1);
    sotto_test_sleep_ms(2000);
    sotto_test_http_release(&http);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void a_hundred_slow_clients_leave_room_for_a_quick_one(sotto_test *t)
{
    int fds[100];

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    for (int i = 0; i < 100; i++) {
        fds[i] = sotto_test_dial(t, http.port);
        sotto_test_send_text(t, fds[i], "GET /ok HTTP/1.1\r\nX: ");
    }
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++)
            sotto_test_send_text(t, fds[i], "a");
        CHECK_EQUAL(t, 200, sotto_test_ask(t, http.port, GET("/ok")).status);
    }
    for (int i = 0; i < 100; i++)
        (void)close(fds[i]);
    wait_until_quiet(t);
    sotto_test_http_close(&http);
}

static void memory_that_runs_out_costs_a_request_and_no_more(sotto_test *t)
{
    const sotto_http_handler *handler = sotto_test_http_handler();
    sotto_http_server *server;
    unsigned served = 0, opened = 0;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    for (long n = 0; n < 12; n++) {
        const int fd = sotto_test_dial(t, http.port);

        sotto_alloc_fail_after(n);
        sotto_test_send_text(t, fd,
                             "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
        served += sotto_test_hear(t, fd).status == 200;
        sotto_alloc_fail_after(-1);
        (void)close(fd);
        CHECK_EQUAL(t, 200, sotto_test_ask(t, http.port, GET("/ok")).status);
    }
    CHECK(t, served > 0 && served < 12);
    wait_until_quiet(t);
    sotto_test_http_close(&http);
    for (long n = 0; n < 8; n++) {
        sotto_status status;

        sotto_alloc_fail_after(n);
        status = sotto_http_server_open(&server, &(sotto_http_server_options){.loops = 3}, handler,
                                        NULL, &t->err);
        sotto_alloc_fail_after(-1);
        CHECK(t, status == SOTTO_OK || status == SOTTO_NO_MEMORY);
        opened += status == SOTTO_OK;
        sotto_http_server_close(server);
    }
    CHECK(t, opened > 0 && opened < 8);
}

static void plain_http_is_for_loopback(sotto_test *t)
{
    static const sotto_http_handler none = {0};
    static const char *const others[] = {"0.0.0.0", "::", "192.0.2.1", "127.0.0.1.example.org"};
    sotto_http_server *server;

    CHECK_STATUS(
        t, SOTTO_BUG,
        sotto_http_server_open(&server, &(sotto_http_server_options){0}, &none, NULL, &t->err));
    sotto_test_http_open(t, &http, (sotto_http_server_options){.address = "localhost"});
    sotto_test_http_close(&http);
    sotto_test_http_open(t, &http,
                         (sotto_http_server_options){.address = "0.0.0.0", .plain_anywhere = true});
    CHECK_EQUAL(t, 200, sotto_test_ask(t, http.port, GET("/ok")).status);
    const sotto_http_handler *handler = sotto_test_http_handler();
    for (size_t i = 0; i < 4; i++)
        CHECK_STATUS(t, SOTTO_DENIED,
                     sotto_http_server_open(&server,
                                            &(sotto_http_server_options){.address = others[i]},
                                            handler, NULL, &t->err));
    CHECK_STATUS(t, SOTTO_IO,
                 sotto_http_server_open(&server, &(sotto_http_server_options){.port = http.port},
                                        handler, NULL, &t->err));
    sotto_test_http_close(&http);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(heads_are_bounded),
        CASE(paths_are_bounded),
        CASE(a_body_over_its_limit_is_refused_before_it_is_read),
        CASE(an_announced_body_takes_no_memory),
        CASE(bytes_in_flight_are_capped_over_all_connections),
        CASE(bodies_that_grow_together_meet_the_cap),
        CASE(a_body_in_memory_that_was_kept_is_as_it_was_sent),
        CASE(bodies_that_handlers_hold_count_too),
        CASE(connections_are_capped),
        CASE(a_slow_head_is_cut),
        CASE(one_who_never_speaks_is_cut),
        CASE(a_slow_body_is_cut),
        CASE(a_large_body_at_a_fair_rate_is_not_cut),
        CASE(one_who_does_not_take_the_answer_is_cut),
        CASE(a_handler_may_take_its_time),
        CASE(a_hundred_slow_clients_leave_room_for_a_quick_one),
        CASE(memory_that_runs_out_costs_a_request_and_no_more),
        CASE(plain_http_is_for_loopback),
    };

    return RUN_TESTS(argc, argv, cases);
}
