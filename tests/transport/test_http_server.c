/* What a well-behaved client may expect. */
#define _GNU_SOURCE

#include "support/http.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

enum { SILENT = 300 };

static sotto_test_http http;

static void a_request_is_answered(sotto_test *t)
{
    sotto_test_answer answer;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    answer = sotto_test_ask(t, http.port, GET("/ok"));
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strcmp(answer.body, "fine") == 0);
    CHECK(t, strstr(answer.head, "\r\nDate: ") && strstr(answer.head, " GMT\r\n"));
    CHECK(t, !strstr(answer.head, "Connection"));
    CHECK_EQUAL(t, 404, sotto_test_ask(t, http.port, GET("/nowhere")).status);
    sotto_test_http_close(&http);
}

static void requests_in_a_pipe_are_answered_in_order(sotto_test *t)
{
    char text[4096] = "";
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){.loops = 2});
    for (int i = 0; i < 20; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                       "POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n%02d",
                       i % 2 ? "later" : "echo", i);
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, text);
    for (int i = 0; i < 20; i++) {
        const sotto_test_answer answer = sotto_test_hear(t, fd);
        char wanted[8];

        (void)snprintf(wanted, sizeof wanted, "%02d", i);
        CHECK_EQUAL(t, 200, answer.status);
        CHECK(t, strcmp(answer.body, wanted) == 0);
    }
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void a_body_may_come_in_pieces(sotto_test *t)
{
    static char body[100000];
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(
        t, fd, "POST /limit/100000 HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)('a' + i % 26);
    for (size_t sent = 0, step = 1; sent < sizeof body; sent += step, step = step * 2 + 1) {
        step = step < sizeof body - sent ? step : sizeof body - sent;
        sotto_test_send(t, fd, body + sent, step);
        sotto_test_sleep_ms(1);
    }
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK_EQUAL(t, sizeof body, answer.body_len);
    CHECK_BYTES(t, body, answer.body, sizeof answer.body - 1);
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void a_chunked_body_is_put_together(sotto_test *t)
{
    sotto_test_answer answer;
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(
        t, fd,
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
        "4\r\nWiki\r\n6;a=b\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nX: y\r\n\r\n" GET("/ok"));
    answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strcmp(answer.body, "Wikipedia in \r\n\r\nchunks.") == 0);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void one_who_expects_to_be_asked_is_asked(sotto_test *t)
{
    sotto_test_answer answer;
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(
        t, fd,
        "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 100, answer.status);
    sotto_test_send_text(t, fd, "abc");
    answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strcmp(answer.body, "abc") == 0);
    sotto_test_send_text(
        t, fd,
        "POST /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    CHECK_EQUAL(t, 403, sotto_test_hear(t, fd).status); /* without being asked for the body */
    CHECK(t, sotto_test_is_closed(fd));
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void head_is_get_without_the_body(sotto_test *t)
{
    sotto_test_answer answer;
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, "HEAD /ok HTTP/1.1\r\nHost: x\r\n\r\n" GET("/ok"));
    answer = sotto_test_hear_head(t, fd);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strstr(answer.head, "\r\nContent-Length: 4\r\n"));
    CHECK(t, strcmp(sotto_test_hear(t, fd).body, "fine") == 0);
    (void)close(fd);
    answer = sotto_test_ask(t, http.port, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK_EQUAL(t, 204, answer.status);
    CHECK(t, strstr(answer.head, "\r\nAllow: GET, HEAD, PUT"));
    CHECK(t, !strstr(answer.head, "Content-Length"));
    sotto_test_http_close(&http);
}

static void a_refused_body_does_not_become_a_request(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd,
                         "POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 37\r\n\r\n" GET(
                             "/no") "12345678" GET("/ok"));
    CHECK_EQUAL(t, 403, sotto_test_hear(t, fd).status);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    CHECK_EQUAL(t, 2, atomic_load(&http.heads));
    (void)close(fd);
    /* Too much to throw away: the answer arrives all the same, then the connection ends. */
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd,
                         "POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    static char body[1000000];
    sotto_test_send(t, fd, body, sizeof body);
    const sotto_test_answer answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 403, answer.status);
    CHECK(t, strstr(answer.head, "Connection: close") && strstr(answer.body, "not here"));
    CHECK(t, recv(fd, body, 1, 0) == 0); /* ends, and is not reset */
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void who_asks_to_close_is_closed(sotto_test *t)
{
    static const char *const asks[] = {
        "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n",
        "GET /ok HTTP/1.0\r\n\r\n",
    };

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    for (size_t i = 0; i < 2; i++) {
        const int fd = sotto_test_dial(t, http.port);

        sotto_test_send_text(t, fd, asks[i]);
        const sotto_test_answer answer = sotto_test_hear(t, fd);
        CHECK_EQUAL(t, 200, answer.status);
        CHECK(t, strstr(answer.head, "\r\nConnection: close\r\n"));
        CHECK(t, sotto_test_is_closed(fd));
        (void)close(fd);
    }
    sotto_test_http_close(&http);
}

static void a_client_that_stops_talking_still_gets_its_answer(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, GET("/hold"));
    sotto_test_http_wait_held(t, &http, 1);
    (void)shutdown(fd, SHUT_WR);
    sotto_test_sleep_ms(20);
    sotto_test_http_release(&http);
    CHECK_EQUAL(t, 200, sotto_test_hear(t, fd).status);
    CHECK(t, sotto_test_is_closed(fd));
    (void)close(fd);
    sotto_test_http_close(&http);
}

static void answers_to_clients_that_have_gone_are_harmless(sotto_test *t)
{
    sotto_http_server_counts counts;
    uint64_t until = 0;
    int fds[20];

    sotto_test_http_open(t, &http, (sotto_http_server_options){.loops = 2});
    for (int i = 0; i < 20; i++) {
        const struct linger reset = {1, 0};

        fds[i] = sotto_test_dial(t, http.port);
        sotto_test_send_text(t, fds[i], GET("/hold"));
        (void)setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    }
    sotto_test_http_wait_held(t, &http, 20);
    for (int i = 0; i < 20; i++)
        (void)close(fds[i]);
    do {
        sotto_http_server_count(http.server, &counts);
    } while (counts.connections_now > 0 && sotto_test_waits(&until, 1));
    CHECK_EQUAL(t, 0, counts.connections_now);
    sotto_test_http_release(&http);
    CHECK_EQUAL(t, 200, sotto_test_ask(t, http.port, GET("/ok")).status);
    sotto_test_http_close(&http);
}

static void requests_outlive_their_server(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, GET("/hold"));
    sotto_test_http_wait_held(t, &http, 1);
    sotto_test_http_close(&http); /* answers after it has closed */
    CHECK(t, sotto_test_is_closed(fd));
    (void)close(fd);
}

static void a_request_that_dies_early_is_reported(sotto_test *t)
{
    int fd;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    (void)close(fd);
    for (uint64_t until = 0; atomic_load(&http.lost) == 0 && sotto_test_waits(&until, 1);)
        ;
    CHECK_EQUAL(t, 1, atomic_load(&http.lost));
    CHECK_EQUAL(t, 0, atomic_load(&http.bodies));
    CHECK_EQUAL(t, 413,
                sotto_test_ask(t, http.port,
                               "POST /limit/5 HTTP/1.1\r\nHost: x\r\n"
                               "Content-Length: 6\r\n\r\nabcdef")
                    .status);
    CHECK_EQUAL(t, 2, atomic_load(&http.lost));
    sotto_test_http_close(&http);
}

static void a_field_that_would_start_a_line_is_not_sent(sotto_test *t)
{
    sotto_test_answer answer;

    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    answer = sotto_test_ask(t, http.port, GET("/broken"));
    CHECK_EQUAL(t, 500, answer.status);
    CHECK(t, !strstr(answer.head, "Set-Cookie"));
    sotto_test_http_close(&http);
}

static void fields_and_parameters_are_found(sotto_test *t)
{
    sotto_test_http_open(t, &http, (sotto_http_server_options){0});
    const sotto_test_answer answer = sotto_test_ask(
        t, http.port,
        "GET http://other/seen/x%2Dkey HTTP/1.1\r\nHost: x\r\nX-Key: \t some value \r\n\r\n");
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strcmp(answer.body, "some value") == 0);
    sotto_test_http_close(&http);
}

static void draining_finishes_what_runs_and_accepts_no_more(sotto_test *t)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    int busy, idle, late;

    sotto_test_http_open(t, &http, (sotto_http_server_options){.loops = 2});
    to.sin_port = htons(http.port);
    idle = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, idle, GET("/ok"));
    CHECK_EQUAL(t, 200, sotto_test_hear(t, idle).status);
    busy = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, busy, GET("/hold"));
    sotto_test_http_wait_held(t, &http, 1);
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_http_server_drain(http.server, 50, &t->err));
    CHECK(t, sotto_test_is_closed(idle));
    late = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(t, connect(late, (const struct sockaddr *)&to, sizeof to) != 0);
    (void)close(late);
    sotto_test_http_release(&http);
    const sotto_test_answer answer = sotto_test_hear(t, busy);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strstr(answer.head, "\r\nConnection: close\r\n"));
    CHECK_OK(t, sotto_http_server_drain(http.server, 60000, &t->err));
    (void)close(busy);
    (void)close(idle);
    sotto_test_http_close(&http);
}

/* Asks again and again, for as long as it is answered. */
static void *ask_on(void *context)
{
    const int fd = *(const int *)context;
    static const char text[] = GET("/later");
    char answer[512];

    while (send(fd, text, sizeof text - 1, MSG_NOSIGNAL) > 0 &&
           recv(fd, answer, sizeof answer, 0) > 0) {
    }
    return NULL;
}

/* Connects and says nothing, for as long as somebody listens. */
static void *come_on(void *context)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(http.port)};
    int *fds = context;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (unsigned i = 0; i < SILENT; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fds[i] < 0 || connect(fds[i], (const struct sockaddr *)&to, sizeof to) != 0)
            break;
    }
    return NULL;
}

/* Neither one whose answer was written just before, nor one who was accepted just before: whoever is kept would be waited
 * for as long as an idle client may be. */
static void a_drain_in_the_midst_of_it_leaves_nobody_behind(sotto_test *t)
{
    enum { ASKING = 6, ROUNDS = 20 };

    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_t asking[ASKING], coming;
        int fds[ASKING], silent[SILENT];

        memset(silent, -1, sizeof silent);
        sotto_test_http_open(t, &http, (sotto_http_server_options){.loops = 2});
        for (unsigned i = 0; i < ASKING; i++) {
            fds[i] = sotto_test_dial(t, http.port);
            CHECK(t, pthread_create(&asking[i], NULL, ask_on, &fds[i]) == 0);
        }
        CHECK(t, pthread_create(&coming, NULL, come_on, silent) == 0);
        while (atomic_load(&http.bodies) < 10 * ASKING)
            sotto_test_sleep_ms(1);
        CHECK_OK(t, sotto_http_server_drain(http.server, 60000, &t->err));
        (void)pthread_join(coming, NULL);
        for (unsigned i = 0; i < ASKING; i++) {
            (void)pthread_join(asking[i], NULL);
            (void)close(fds[i]);
        }
        for (unsigned i = 0; i < SILENT && silent[i] >= 0; i++)
            (void)close(silent[i]);
        sotto_test_http_close(&http);
    }
}

/* Its share of those who connect is more than is handed to a loop at once. */
static void nobody_is_turned_away_since_one_loop_is_busy(sotto_test *t)
{
    enum { CLIENTS = 800 };
    static int fds[CLIENTS];
    const struct timespec moment = {0, 1000000};

    sotto_test_http_open(t, &http, (sotto_http_server_options){.loops = 2});
    for (unsigned i = 0; i < 2; i++) /* one a loop */
        fds[i] = sotto_test_dial(t, http.port);
    sotto_test_send_text(t, fds[1], GET("/stall"));
    while (atomic_load(&http.bodies) == 0)
        (void)nanosleep(&moment, NULL);
    for (unsigned i = 2; i < CLIENTS; i++)
        fds[i] = sotto_test_dial(t, http.port);
    for (unsigned i = 0; i < CLIENTS; i++)
        if (i != 1)
            sotto_test_send_text(t, fds[i], GET("/ok"));
    for (unsigned i = 0; i < CLIENTS; i++) {
        CHECK_EQUAL(t, 200, sotto_test_hear(t, fds[i]).status);
        (void)close(fds[i]);
    }
    sotto_test_http_close(&http);
}

static void two_thousand_clients_at_once(sotto_test *t)
{
    enum { CLIENTS = 2000 };
    static int fds[CLIENTS];
    struct rlimit limit;
    unsigned clients = CLIENTS;

    /* Both ends are in this process. */
    CHECK(t, getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 10000 ? limit.rlim_max : 10000;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2 * CLIENTS + 100)
        clients = (unsigned)limit.rlim_cur / 2 - 50;
    sotto_test_http_open(t, &http, (sotto_http_server_options){.loops = 2});
    for (unsigned i = 0; i < clients; i++)
        fds[i] = sotto_test_dial(t, http.port);
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < clients; i++)
            sotto_test_send_text(
                t, fds[i], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        for (unsigned i = 0; i < clients; i++) {
            const sotto_test_answer answer = sotto_test_hear(t, fds[i]);

            CHECK_EQUAL(t, 200, answer.status);
            CHECK_EQUAL(t, 5, answer.body_len);
        }
    }
    for (unsigned i = 0; i < clients; i++)
        (void)close(fds[i]);
    CHECK_OK(t, sotto_http_server_drain(http.server, 60000, &t->err));
    sotto_http_server_counts counts;
    sotto_http_server_count(http.server, &counts);
    CHECK_EQUAL(t, 3 * clients, counts.requests);
    CHECK_EQUAL(t, 0, counts.bytes_in_flight_now);
    sotto_test_http_close(&http);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_request_is_answered),
        CASE(requests_in_a_pipe_are_answered_in_order),
        CASE(a_body_may_come_in_pieces),
        CASE(a_chunked_body_is_put_together),
        CASE(one_who_expects_to_be_asked_is_asked),
        CASE(head_is_get_without_the_body),
        CASE(a_refused_body_does_not_become_a_request),
        CASE(who_asks_to_close_is_closed),
        CASE(a_client_that_stops_talking_still_gets_its_answer),
        CASE(answers_to_clients_that_have_gone_are_harmless),
        CASE(requests_outlive_their_server),
        CASE(a_request_that_dies_early_is_reported),
        CASE(a_field_that_would_start_a_line_is_not_sent),
        CASE(fields_and_parameters_are_found),
        CASE(draining_finishes_what_runs_and_accepts_no_more),
        CASE(a_drain_in_the_midst_of_it_leaves_nobody_behind),
        CASE(nobody_is_turned_away_since_one_loop_is_busy),
        CASE(two_thousand_clients_at_once),
    };

    return RUN_TESTS(argc, argv, cases);
}
