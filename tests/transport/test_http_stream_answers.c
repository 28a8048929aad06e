/* Answers that are made while they are sent: at the client's pace, by loops and by other threads, for a moment or for hours. */
#define _GNU_SOURCE

#include "stream_server.h"
#include "support/certificate.h"
#include "transport/http_client.h"
#include "transport/http_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

enum { MIB = 1 << 20 };

static stream_server server;

static int ask(sotto_test *t, const char *text)
{
    const int fd = sotto_test_dial(t, server.port);

    sotto_test_send_text(t, fd, text);
    return fd;
}

/* Reads the chunks of an answer whose head was heard. Returns how many bytes of data, each the right one; *ended: with the
 * last chunk. */
static uint64_t hear_chunks(sotto_test *t, int fd, bool *ended)
{
    sotto_http_chunks chunks = {0};
    uint64_t at = 0;
    uint8_t text[4096];
    ssize_t n = 0;

    while (chunks.state < SOTTO_HTTP_CHUNK_DONE) {
        /* Byte by byte outside of data: what follows the answer must stay in the socket. */
        const size_t want = chunks.state == SOTTO_HTTP_CHUNK_DATA && chunks.left < sizeof text
                                ? (size_t)chunks.left
                            : chunks.state == SOTTO_HTTP_CHUNK_DATA ? sizeof text
                                                                    : 1;
        sotto_bytes piece;

        n = recv(fd, text, want, 0);
        if (n <= 0)
            break;
        CHECK_EQUAL(t, n, sotto_http_chunks_next(&chunks, sotto_bytes_of(text, (size_t)n), &piece));
        for (size_t i = 0; i < piece.len; i++)
            if (piece.data[i] != stream_byte(at + i))
                CHECK_EQUAL(t, stream_byte(at + i), piece.data[i]);
        at += piece.len;
    }
    *ended = chunks.state == SOTTO_HTTP_CHUNK_DONE;
    return at;
}

static void an_answer_of_known_length(sotto_test *t)
{
    sotto_test_answer answer;
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.max_bytes_in_flight = MIB});
    fd = ask(t, GET("/made/30000000") GET("/made/3000"));
    answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 200, answer.status);
    CHECK(t, strstr(answer.head, "Content-Length: 30000000\r\n"));
    CHECK_EQUAL(t, 30000000, answer.body_len);
    answer = sotto_test_hear(t, fd);
    CHECK_EQUAL(t, 3000, answer.body_len);
    for (size_t i = 0; i < 3000; i++)
        CHECK_EQUAL(t, stream_byte(i), (uint8_t)answer.body[i]);
    CHECK_EQUAL(t, 2, atomic_load(&server.overs_whole));
    (void)close(fd);
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void an_answer_of_unknown_length(sotto_test *t)
{
    bool ended;
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.max_bytes_in_flight = MIB});
    fd = ask(t, GET("/chunks/10000000") GET("/chunks/0") GET("/chunks/1"));
    for (uint64_t i = 0; i < 3; i++) {
        const sotto_test_answer answer = sotto_test_hear_head(t, fd);

        CHECK_EQUAL(t, 200, answer.status);
        CHECK(t, strstr(answer.head, "Transfer-Encoding: chunked\r\n"));
        CHECK(t, !strstr(answer.head, "Content-Length"));
        CHECK_EQUAL(t, i == 0 ? 10000000 : i - 1, hear_chunks(t, fd, &ended));
        CHECK(t, ended);
    }
    (void)close(fd);
    CHECK_EQUAL(t, 3, atomic_load(&server.overs_whole));
    stream_server_close(&server);
}

static void an_answer_without_a_body_asks_for_none(sotto_test *t)
{
    static const char head[] = "HEAD /made/5 HTTP/1.1\r\nHost: x\r\n\r\n"
                               "HEAD /chunks/5 HTTP/1.1\r\nHost: x\r\n\r\n";
    sotto_test_answer answer;
    char text[4096];
    size_t len = 0;
    ssize_t n;
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fd = ask(t, head);
    CHECK(t, strstr(sotto_test_hear_head(t, fd).head, "Content-Length: 5\r\n"));
    CHECK(t, strstr(sotto_test_hear_head(t, fd).head, "Transfer-Encoding: chunked\r\n"));
    sotto_test_send_text(t, fd, GET("/made/3"));
    CHECK_EQUAL(t, 3, sotto_test_hear(t, fd).body_len);
    (void)close(fd);
    /* HTTP/1.0 has no chunks: the end of the connection is the end. */
    fd = ask(t, "GET /chunks/3000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    answer = sotto_test_hear_head(t, fd);
    CHECK(t, strstr(answer.head, "Connection: close") && !strstr(answer.head, "chunked"));
    while ((n = recv(fd, text + len, sizeof text - len, 0)) > 0)
        len += (size_t)n;
    CHECK_EQUAL(t, 3000, len);
    (void)close(fd);
    CHECK_EQUAL(t, 4, atomic_load(&server.overs));
    stream_server_close(&server);
}

static void an_answer_that_fails_is_cut_off(sotto_test *t)
{
    bool ended;
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fd = ask(t, GET("/breaks/100000"));
    CHECK_EQUAL(t, 200, sotto_test_hear_head(t, fd).status);
    CHECK(t, hear_chunks(t, fd, &ended) <= 100000);
    CHECK(t, !ended);
    (void)close(fd);
    fd = ask(t, GET("/short/1000"));
    CHECK(t, sotto_test_hear(t, fd).body_len < 1001);
    CHECK(t, sotto_test_is_closed(fd));
    (void)close(fd);
    stream_server_wait(t, &server.overs, 2);
    CHECK_EQUAL(t, 0, atomic_load(&server.overs_whole));
    stream_server_close(&server);
}

static void another_thread_writes_at_the_clients_pace(sotto_test *t)
{
    bool ended;
    int fd, small = 64 << 10;
    uint64_t stuck, before;

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fd = sotto_test_dial(t, server.port);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sotto_test_send_text(t, fd, GET("/pipe/50000000") GET("/made/4"));
    CHECK_EQUAL(t, 200, sotto_test_hear_head(t, fd).status);
    stuck = atomic_load(&server.piped);
    do { /* until the writer can't go on */
        before = stuck;
        sotto_test_sleep_ms(50);
        stuck = atomic_load(&server.piped);
    } while (stuck != before);
    CHECK(t, stuck < 50000000);
    CHECK(t, stream_server_counts(&server).bytes_in_flight_now <= 256 << 10);
    CHECK_EQUAL(t, 50000000, hear_chunks(t, fd, &ended));
    CHECK(t, ended);
    CHECK_EQUAL(t, 4, sotto_test_hear(t, fd).body_len);
    (void)close(fd);
    stream_server_wait(t, &server.pipes_ended, 1);
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void a_client_that_goes_away_ends_the_answer(sotto_test *t)
{
    int fd;

    stream_server_open(t, &server, (sotto_http_server_options){.loops = 2});
    fd = ask(t, GET("/chunks/1000000000"));
    CHECK_EQUAL(t, 200, sotto_test_hear_head(t, fd).status);
    (void)close(fd);
    stream_server_wait(t, &server.overs, 1);
    fd = ask(t, GET("/pipe/1000000000"));
    CHECK_EQUAL(t, 200, sotto_test_hear_head(t, fd).status);
    (void)close(fd);
    stream_server_wait(t, &server.pipes_ended, 1);
    fd = ask(t, GET("/events")); /* which is silent meanwhile */
    CHECK_EQUAL(t, 200, sotto_test_hear_head(t, fd).status);
    stream_server_await_events(t, &server);
    (void)close(fd);
    stream_server_wait_quiet(t, &server);
    CHECK_STATUS(t, SOTTO_STALE, stream_server_event(&server, "data: anybody?\n\n"));
    CHECK_EQUAL(t, 0, atomic_load(&server.overs_whole));
    stream_server_close(&server);
}

static void events_are_flushed_and_last(sotto_test *t)
{
    static const char wanted[] = "6\r\none \n\n\r\n6\r\ntwo \n\n\r\n";
    char text[64] = "";
    int fd;

    /* Silence of more than the idle time is no reason to end it. */
    stream_server_open(t, &server,
                       (sotto_http_server_options){
                           .idle_ms = 1000, .head_ms = 1000, .body_ms = 1000, .write_ms = 1000});
    fd = ask(t, GET("/events"));
    CHECK(t, strstr(sotto_test_hear_head(t, fd).head, "text/event-stream"));
    stream_server_await_events(t, &server);
    sotto_test_sleep_ms(1500);
    CHECK_OK(t, stream_server_event(&server, "one \n\n"));
    CHECK_EQUAL(t, 11, recv(fd, text, 11, MSG_WAITALL)); /* it does not wait for another */
    sotto_test_sleep_ms(1500);
    CHECK_OK(t, stream_server_event(&server, "two \n\n"));
    CHECK_EQUAL(t, 11, recv(fd, text + 11, 11, MSG_WAITALL));
    CHECK(t, strcmp(text, wanted) == 0);
    CHECK_EQUAL(t, 0, stream_server_counts(&server).timed_out);
    (void)close(fd);
    stream_server_close(&server);
}

static void a_drain_ends_what_is_endless_and_waits_for_the_rest(sotto_test *t)
{
    char text[6] = "";
    bool ended;
    int events, made, small = 64 << 10;

    stream_server_open(t, &server, (sotto_http_server_options){.loops = 2});
    events = ask(t, GET("/events"));
    CHECK_EQUAL(t, 200, sotto_test_hear_head(t, events).status);
    stream_server_await_events(t, &server);
    made = sotto_test_dial(t, server.port);
    (void)setsockopt(made, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sotto_test_send_text(t, made, GET("/chunks/20000000"));
    CHECK_EQUAL(t, 200, sotto_test_hear_head(t, made).status);
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_http_server_drain(server.server, 200, &t->err));
    CHECK_EQUAL(t, 5, recv(events, text, 5, MSG_WAITALL));
    CHECK(t, strcmp(text, "0\r\n\r\n") == 0);
    CHECK(t, sotto_test_is_closed(events));
    CHECK_STATUS(t, SOTTO_STALE, stream_server_event(&server, "data: late\n\n"));
    CHECK_EQUAL(t, 20000000, hear_chunks(t, made, &ended));
    CHECK(t, ended);
    CHECK_OK(t, sotto_http_server_drain(server.server, 10000, &t->err));
    (void)close(events);
    (void)close(made);
    stream_server_close(&server);
}

static void a_server_that_closes_ends_answers(sotto_test *t)
{
    int fds[3];

    stream_server_open(t, &server, (sotto_http_server_options){0});
    fds[0] = ask(t, GET("/chunks/1000000000"));
    fds[1] = ask(t, GET("/pipe/1000000000"));
    fds[2] = ask(t, GET("/events"));
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(t, 200, sotto_test_hear_head(t, fds[i]).status);
    stream_server_await_events(t, &server);
    stream_server_close(&server);
    CHECK_EQUAL(t, 1, atomic_load(&server.overs));
    CHECK_EQUAL(t, 1, atomic_load(&server.pipes_ended));
    for (int i = 0; i < 3; i++)
        (void)close(fds[i]);
}

static void a_client_that_takes_little_is_cut_and_one_at_a_fair_rate_is_not(sotto_test *t)
{
    const uint64_t begin = sotto_test_now_ms();
    char text[20000];
    int slow, fair;

    stream_server_open(t, &server,
                       (sotto_http_server_options){.write_ms = 1000, .min_rate = 20000});
    slow = ask(t, GET("/chunks/1000000000"));
    fair = ask(t, GET("/chunks/1000000000"));
    /* A few megabytes a second, of a gigabyte; our kernel takes them in one gulp and then none for a while. */
    while (sotto_test_now_ms() - begin < 2500 ||
           (stream_server_counts(&server).timed_out == 0 && sotto_test_now_ms() - begin < 30000)) {
        CHECK(t, recv(fair, text, sizeof text, 0) > 0);
        sotto_test_sleep_ms(2);
    }
    CHECK_EQUAL(t, 1, stream_server_counts(&server).timed_out);
    (void)close(slow);
    (void)close(fair);
    stream_server_wait_quiet(t, &server);
    stream_server_close(&server);
}

static void answers_in_pieces_over_tls(sotto_test *t)
{
    static const char *const routes[] = {"/made/5000000", "/chunks/5000000", "/pipe/5000000"};
    char directory[] = "/tmp/sotto-http-answers-XXXXXX", certificate[96], key[96], url[96];
    sotto_http_client *client;
    sotto_http_response r;

    CHECK(t, mkdtemp(directory) != NULL);
    (void)snprintf(certificate, sizeof certificate, "%s/cert.pem", directory);
    (void)snprintf(key, sizeof key, "%s/key.pem", directory);
    sotto_test_certificate(t, certificate, key, "IP:127.0.0.1");
    stream_server_open(t, &server,
                       (sotto_http_server_options){.certificate = certificate, .private_key = key});
    CHECK_OK(t, sotto_http_client_open(
                    &client, &(sotto_http_client_options){.ca_file = certificate}, &t->err));
    for (int i = 0; i < 3; i++) {
        (void)snprintf(url, sizeof url, "https://127.0.0.1:%u%s", server.port, routes[i]);
        CHECK_OK(t, sotto_http_call_wait(client, &r, &(sotto_http_call){.url = url}, &t->arena,
                                         &t->err));
        CHECK_EQUAL(t, 5000000, r.body.len);
        for (size_t at = 0; at < r.body.len; at++)
            if (r.body.data[at] != stream_byte(at))
                CHECK_EQUAL(t, stream_byte(at), r.body.data[at]);
    }
    sotto_http_client_close(client);
    CHECK_OK(t, sotto_http_server_drain(server.server, 5000, &t->err));
    stream_server_close(&server);
    (void)unlink(certificate);
    (void)unlink(key);
    (void)rmdir(directory);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_answer_of_known_length),
        CASE(an_answer_of_unknown_length),
        CASE(an_answer_without_a_body_asks_for_none),
        CASE(an_answer_that_fails_is_cut_off),
        CASE(another_thread_writes_at_the_clients_pace),
        CASE(a_client_that_goes_away_ends_the_answer),
        CASE(events_are_flushed_and_last),
        CASE(a_drain_ends_what_is_endless_and_waits_for_the_rest),
        CASE(a_server_that_closes_ends_answers),
        CASE(a_client_that_takes_little_is_cut_and_one_at_a_fair_rate_is_not),
        CASE(answers_in_pieces_over_tls),
    };

    return RUN_TESTS(argc, argv, cases);
}
